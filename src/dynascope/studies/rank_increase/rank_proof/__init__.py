"""The steps of the proof of Theorem 4.1, followed on flows from starts as small as 1e-300."""
