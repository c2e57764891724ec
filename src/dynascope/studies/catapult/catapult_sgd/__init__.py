"""Spikes in the loss of SGD lie in the kernel's top direction, and after each its norm is lower."""
