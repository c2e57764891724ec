"""The Planetoid files `ind.*.graph`: a pickled dictionary of neighbour lists, read safely.

Unpickling runs whatever the file names, so only plain containers may be built, and the result
must be whole numbers in lists and nothing else.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from dynascope.core.errors import BadInput, bad
from dynascope.graphs.edge_lists import first_line
from dynascope.graphs.graph import Graph, from_edges, renumber

ALLOWED = {
    ("collections", "defaultdict"),
    ("collections", "OrderedDict"),
    *((module, name) for module in ("builtins", "__builtin__")
      for name in ("dict", "list", "tuple", "set", "frozenset", "int")),
}  # fmt: skip


class _ContainersOnly(pickle.Unpickler):
    """Builds containers and numbers; refuses every other name before it is imported."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise bad("pickle", f"{module}.{name}", "nothing but containers and numbers",
                      "the file is refused; use an edge list instead")  # fmt: skip
        return super().find_class(module, name)


def read_planetoid(path: Path) -> Graph:
    """Read a pickled dictionary node -> list of neighbours, all of them whole numbers >= 0.

    Args:
        path: The file; self-loops are kept, repeated neighbours collapsed.

    Returns:
        The graph; ids that are not 0..n-1 are kept as names.
    """
    lists = _neighbour_lists(_unpickle(path))
    lengths = [len(neighbours) for neighbours in lists.values()]
    ends = np.fromiter((j for row in lists.values() for j in row), np.int64, sum(lengths))
    nodes = np.fromiter(lists, np.int64, len(lists))
    names, numbers = renumber(np.concatenate([nodes, ends]))
    count = int(numbers.max(initial=-1)) + 1
    pairs = np.column_stack([np.repeat(numbers[: len(nodes)], lengths), numbers[len(nodes) :]])
    return from_edges(pairs, count, arcs=True, names=names)


def _unpickle(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            return _ContainersOnly(file, encoding="latin1").load()  # the files are Python 2's
    except BadInput:
        raise
    except OSError as error:
        raise bad("file", str(path), "a file that can be read", error.strerror or "") from None
    except Exception as error:  # a damaged pickle can raise nearly anything
        wanted = "a pickled dictionary of neighbour lists"
        raise bad("pickle", path.name, wanted, first_line(error)) from None


def _neighbour_lists(content: Any) -> dict[int, Any]:
    wanted = "a dictionary from whole numbers >= 0 to lists of them"
    if not isinstance(content, dict):
        raise bad("pickle", type(content).__name__, wanted)
    for node, neighbours in content.items():
        if not _is_id(node) or not isinstance(neighbours, list | tuple | set | frozenset):
            raise bad("pickle", node, wanted)
        for neighbour in neighbours:
            if not _is_id(neighbour):
                raise bad("pickle", neighbour, f"a whole number >= 0 as neighbour of {node}")
    return content


def _is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**62
