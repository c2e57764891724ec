"""Swing-by at the means of the captions, under rotation, and with more concepts."""
