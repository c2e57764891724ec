"""The swing-by: linear models on the identity mapping task."""
