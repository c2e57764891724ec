"""Concept learning in conditional diffusion models: yang2025 section 5, yang2024 Fig. 5."""
