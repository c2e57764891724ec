"""The catapult of one training example: a quadratic model as a map of two numbers."""
