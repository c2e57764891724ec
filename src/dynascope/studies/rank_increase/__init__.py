"""Gradual rank increase: weights change by matrices of low rank, one direction after the other."""
