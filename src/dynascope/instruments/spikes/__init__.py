"""Spikes of a training log: where they are, and what the log says about their cause."""
