"""General quadratic models and wide networks: the same catapult without the two-number map."""
