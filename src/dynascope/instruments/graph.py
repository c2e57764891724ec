"""Everything about one graph in one plain object: what each family tells apart, and the price."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, permutations
from typing import Any

from dynascope.graphs.classes import witness
from dynascope.graphs.conversion import as_graph
from dynascope.graphs.depth import one_depth
from dynascope.graphs.family import Level, levels
from dynascope.graphs.family import families as known_families
from dynascope.graphs.floor import check_target, floor_of
from dynascope.graphs.graph import Graph
from dynascope.runtime.memory import refuse_above
from dynascope.runtime.progress import Progress

BYTES_A_NODE, BYTES_A_LEVEL = 150, 8  # of a node; and of its class at each depth of each family


def describe_graph(
    graph: Any,
    depth: int = 5,
    families: str | Sequence[str] = ("wl", "adjacency"),
    target: Any = None,
    features: Any = None,
    *,
    include_identity: bool = False,
) -> dict[str, Any]:
    """Classes per depth, witnesses and class floors, ready for JSON.

    Args:
        graph: A `Graph`, networkx graph or sparse matrix.
        depth: The largest depth; lists run over 1..depth.
        families: Names of known families, or one name.
        target: One value per node, or None for no floors.
        features: Initial colours or a table of numbers; None for all alike.
        include_identity: Let graph-augmented models see the features themselves too.

    Returns:
        `nodes`, `edges`, `self_loops`, `repeated_edges`; `classes` and `class_floor` with a
        list for each family; `witnesses`, for each depth and each two families a pair of
        nodes that one merges and the other splits, if there is one; `notes`, one line each.

    Example:
        >>> import networkx as nx
        >>> describe_graph(nx.path_graph(6), 2)["classes"]
        {'wl': [2, 3], 'adjacency': [2, 3]}
    """
    graph = as_graph(graph)
    depth = one_depth(depth, least=1)
    names = [families] if isinstance(families, str) else list(dict.fromkeys(families))
    for name in names:  # complain before the first family is computed
        known_families.get(name)
    values = None if target is None else check_target(target, graph.nodes)
    needed = graph.nodes * (BYTES_A_NODE + BYTES_A_LEVEL * depth * len(names))
    refuse_above(needed, f"a description of {graph.nodes:,} nodes at depth {depth}", "the depth")
    found = _levels(graph, names, depth, features, include_identity)
    return {
        "nodes": graph.nodes,
        "edges": graph.edges,
        "self_loops": graph.self_loops,
        "repeated_edges": graph.repeated_edges,
        "classes": {n: [int(x.colours.max()) + 1 for x in found[n]] for n in names},
        "witnesses": _witnesses(graph, found, depth),
        "class_floor": {}
        if values is None
        else {n: [floor_of(x.colours, values) for x in found[n]] for n in names},
        "notes": [*graph.notes, *_tolerances(found)],
    }


def _levels(
    graph: Graph, names: list[str], depth: int, features: Any, include_identity: bool
) -> dict[str, list[Level]]:
    """Every family's levels from depth 1 on, with progress: exact arithmetic may take minutes."""
    found: dict[str, list[Level]] = {name: [] for name in names}
    with Progress("graph", len(names) * depth) as bar:
        for i, name in enumerate(names):
            stream = islice(levels(graph, name, features, include_identity), 1, depth + 1)
            for k, level in enumerate(stream, 1):
                found[name].append(level)
                bar.update(i * depth + k, f"{name}, depth {k}")
    return found


def _witnesses(graph: Graph, found: dict[str, list[Level]], depth: int) -> list[dict[str, Any]]:
    result = []
    for k in range(depth):
        for merged, split in permutations(found, 2):
            pair = witness(found[merged][k].colours, found[split][k].colours)
            if pair is not None:
                nodes = [_plain(graph.name(node)) for node in pair]
                entry = {"depth": k + 1, "merged_by": merged, "split_by": split, "nodes": nodes}
                result.append(entry)
    return result


def _plain(name: Any) -> int | str:
    return name if isinstance(name, int | str) else str(name)


def _tolerances(found: dict[str, list[Level]]) -> list[str]:
    largest = {name: max(level.tolerance for level in found[name]) for name in found}
    return [
        f"{name}: values equal to within {t:.1e} of the largest one count as equal"
        for name, t in largest.items()
        if t > 0
    ]
