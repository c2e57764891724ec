"""Variational diffusion in continuous time: noise levels, the bound on the likelihood, sampling."""

from dynascope.numerics.diffusion.bound import Parts, antithetic_times, bound_parts
from dynascope.numerics.diffusion.levels import alpha, sigma
from dynascope.numerics.diffusion.sampling import ancestral

__all__ = ["Parts", "alpha", "ancestral", "antithetic_times", "bound_parts", "sigma"]
