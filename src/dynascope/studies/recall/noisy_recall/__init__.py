"""A two-layer transformer keeps the noise in its last MLP and finds the answer by attention."""
