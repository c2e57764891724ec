"""What truncating a matrix does to a language model, and who writes its generic token."""
