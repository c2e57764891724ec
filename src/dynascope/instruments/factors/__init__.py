"""Gradient descent on (x y - 1)^2 / 2, two factors of one number: its path and how it is drawn."""
