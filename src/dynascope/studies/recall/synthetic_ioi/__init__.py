"""Indirect objects: the name that stood once; without the last MLP it is told more often."""
