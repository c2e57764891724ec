"""Community detection: which operator helps a graph-augmented MLP."""
