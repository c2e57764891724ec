"""How a series of checkpoints changed: spectra and stable ranks of every head's two products."""
