"""Attention learns to avoid the noise, if the trigger itself is never the answer."""
