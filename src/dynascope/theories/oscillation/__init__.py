"""Oscillation: gradient descent past the edge of stability."""
