"""Tasks for conditional diffusion models: vectors on a grid, and pictures of discs."""

from dynascope.tasks.diffusion.base import Conditioned, Denoises, DiffusionTask, Noised
from dynascope.tasks.diffusion.circles import Circles
from dynascope.tasks.diffusion.vectors import VectorDiffusion

__all__ = ["Circles", "Conditioned", "Denoises", "DiffusionTask", "Noised", "VectorDiffusion"]
