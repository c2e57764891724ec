"""The identity mapping task as a diffusion model on vectors."""
