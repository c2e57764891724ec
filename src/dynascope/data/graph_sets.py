"""The graph data sets that are known by name: which files of the data folder hold them."""

from __future__ import annotations

from pathlib import Path

from dynascope.core.errors import unknown
from dynascope.data.folder import find, present

# First the official file, then the same data as plain arrays.
GRAPH_SETS: dict[str, tuple[str, ...]] = {
    "cora": ("planetoid/ind.cora.graph",),
    "citeseer": ("planetoid/ind.citeseer.graph",),
    "pubmed": ("planetoid/ind.pubmed.graph",),
    "imdb-binary": ("tu_graphs/IMDB-BINARY", "tu_graphs/IMDBBINARY.npz"),
    "imdb-multi": ("tu_graphs/IMDB-MULTI", "tu_graphs/IMDBMULTI.npz"),
    "reddit-binary": ("tu_graphs/REDDIT-BINARY",),
    "reddit-multi-5k": ("tu_graphs/REDDIT-MULTI-5K",),
    "collab": ("tu_graphs/COLLAB",),
}


def graph_file(name: str) -> Path:
    """The file or folder of a graph data set, for `dynascope.graphs.load`.

    Args:
        name: A name of `GRAPH_SETS`.

    Returns:
        The path; it exists, else `MissingData` says in one line what to do.

    Example:
        >>> graph_file("core")
        Traceback (most recent call last):
        dynascope.core.errors.UnknownName: unknown graph data set 'core'; did you mean 'cora'? ...
    """
    if name not in GRAPH_SETS:
        raise unknown("graph data set", name, GRAPH_SETS)
    files = GRAPH_SETS[name]
    return find(next(filter(present, files), files[0]))
