"""A linear memory with noisy labels: where the noise sits in its spectrum."""
