"""Linearity: what a constant tangent kernel predicts."""
