"""Stages of the Jacobian: which entries grow, which are suppressed, when, and what is proved."""
