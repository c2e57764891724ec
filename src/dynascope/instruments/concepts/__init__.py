"""A linear model learns concepts apart and is tested on them together: run, theory, drawing."""
