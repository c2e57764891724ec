"""Catapults on several examples: one per eigendirection of the tangent kernel."""
