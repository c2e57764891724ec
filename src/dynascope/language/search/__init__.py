"""Which truncation helps most? A search over layer, matrix and share, with its controls."""

from dynascope.language.search.grid import KEEPS, KINDS, Grid, joined, measure_grid
from dynascope.language.search.searching import Found, Held, choose, search

__all__ = [
    "KEEPS",
    "KINDS",
    "Found",
    "Grid",
    "Held",
    "choose",
    "joined",
    "measure_grid",
    "search",
]
