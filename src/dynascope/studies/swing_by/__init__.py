"""Concept learning and swing-by in the structured identity mapping (yang2024, yang2025)."""
