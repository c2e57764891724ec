"""Discs of two colours and sizes: which concept a diffusion model learns first."""
