"""Smaller batches of SGD have more catapults, better aligned features and lower test loss."""
