"""Swing-by: the output turns to the strongest training cluster before it reaches the target."""
