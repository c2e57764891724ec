"""How linear a network on a graph is, and becomes as it widens."""
