"""Wirings in text: one edge per line, the vertex that feeds and the one that is fed."""

from __future__ import annotations

from pathlib import Path

from dynascope.core.errors import bad
from dynascope.graphs.edge_lists import at_line, content_lines
from dynascope.models.wiring import Edge, Wiring, wire


def read_wiring(path: Path) -> Wiring:
    """Read a directed acyclic graph; names are any text without spaces and commas.

    Args:
        path: Lines of two names, apart by spaces, tabs, a comma or an arrow ->; lines that
            begin with # or % are comments.

    Returns:
        The vertices in layers. The error of a bad line gives its number.
    """
    seen: dict[Edge, int] = {}
    for number, line in content_lines(path):
        names = line.replace("->", " ").replace(",", " ").split()
        if len(names) != 2:
            raise at_line(
                path, number, line, "two names: the vertex that feeds, the one that is fed"
            )
        edge = (names[0], names[1])
        if edge in seen:
            raise at_line(path, number, line, f"every edge once; it stands in line {seen[edge]}")
        seen[edge] = number
    if not seen:
        raise bad("network", path.name, "a file with at least one edge")
    return wire(list(seen))
