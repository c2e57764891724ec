"""Gradient descent on a function of one number: its orbits and its bifurcation diagram."""
