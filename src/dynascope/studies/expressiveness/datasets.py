"""The data sets of chapter 2: where they lie, and what to say if they do not."""

from __future__ import annotations

from collections.abc import Iterable

from dynascope import data
from dynascope.data.folder import missing
from dynascope.graphs import Graph, load
from dynascope.studies.comparisons import Evidence, not_applicable

# First the official file, then the same data as plain arrays.
FILES: dict[str, tuple[str, ...]] = {
    "cora": ("planetoid/ind.cora.graph",),
    "citeseer": ("planetoid/ind.citeseer.graph",),
    "pubmed": ("planetoid/ind.pubmed.graph",),
    "imdb-binary": ("tu_graphs/IMDB-BINARY", "tu_graphs/IMDBBINARY.npz"),
    "imdb-multi": ("tu_graphs/IMDB-MULTI", "tu_graphs/IMDBMULTI.npz"),
    "reddit-binary": ("tu_graphs/REDDIT-BINARY",),
    "reddit-multi-5k": ("tu_graphs/REDDIT-MULTI-5K",),
    "collab": ("tu_graphs/COLLAB",),
}


def available(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the data sets that lie in the data folder."""
    return tuple(name for name in names if any(map(data.present, FILES[name])))


def read(name: str) -> Graph:
    """The graph, or the union of graphs, of a data set."""
    there = [file for file in FILES[name] if data.present(file)]
    return load(data.find((*there, FILES[name][0])[0]))


def absent(name: str) -> Evidence:
    """A claim about a data set that is not there: what to do, in one line."""
    return not_applicable(missing(FILES[name][0]))
