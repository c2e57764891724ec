"""Gradual rank increase: one entry of the products is learned after the other (boix2023)."""
