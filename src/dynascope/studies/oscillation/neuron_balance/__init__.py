"""Sixteen ReLU neurons that copy sixteen: past the edge they go to the flattest copy."""
