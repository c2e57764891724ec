"""Trained without noise first, attention unlearns the noise token when noise comes in."""
