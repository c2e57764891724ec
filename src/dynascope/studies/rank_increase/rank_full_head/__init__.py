"""A full attention head from a small start: singular values appear one after the other."""
