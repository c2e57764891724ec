"""`dynascope graph`: what message passing and precomputed features can tell apart on a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit, say, table

FAMILIES = ("wl", "adjacency", "normalized", "self_loop", "power", "triangle", "bethe", "ppr",
            "injective")  # fmt: skip
PLAIN = ("nodes", "edges", "self_loops", "repeated_edges", "classes", "witnesses", "class_floor")


def graph(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Edge list (.txt, .csv), sparse .npz, GraphML, Planetoid ind.*.graph, TU folder.",
        ),
    ],
    depth: Annotated[int, typer.Option(metavar="K", help="The largest depth.")] = 5,
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"One of {', '.join(FAMILIES)}; may be repeated.  [wl, adjacency]",
            autocompletion=lambda: list(FAMILIES),
        ),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="One value per node (.txt, .csv, .npy): class floors."),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Initial colours, one line per node; all alike if none."),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(metavar="N", help="For edge lists: the nodes are 0 to N-1.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say which nodes of a graph a family of models can tell apart.

    Nothing is trained.

    Classes of nodes per depth, a pair of nodes that one family merges and another splits, and
    for a target the part of its variance (or the error rate) that no training can remove.
    Targets and features stand in the order of the nodes: ascending ids, and as in the file where
    nodes have names.

    \b
    Examples
      dynascope graph edges.txt --depth 3 --family wl --family self_loop
      dynascope graph edges.txt --target labels.txt --features colours.txt
    """  # noqa: D301
    from dynascope import graphs
    from dynascope.instruments.graph import describe_graph

    loaded = graphs.load(file, nodes)
    found = describe_graph(
        loaded,
        depth,
        family or ("wl", "adjacency"),
        None if target is None else graphs.read_values(target, loaded.nodes),
        None if features is None else graphs.read_values(features, loaded.nodes),
    )
    for note in found["notes"]:
        say(note)
    if as_json:
        emit({name: found[name] for name in PLAIN})
    else:
        _show(found)


def _show(found: dict[str, Any]) -> None:
    print(f"{found['nodes']} nodes, {found['edges']} edges, {found['self_loops']} self-loops\n")
    _per_depth("classes of nodes", found["classes"])
    if found["class_floor"]:
        print()
        _per_depth("class floor", found["class_floor"])
    print()
    if not found["witnesses"]:
        print("no two nodes that one family merges and another splits")
        return
    rows = [
        (str(w["depth"]), w["merged_by"], w["split_by"], " and ".join(map(str, w["nodes"])))
        for w in found["witnesses"]
    ]
    table(("depth", "merged by", "split by", "nodes"), rows)


def _per_depth(title: str, values: dict[str, list[Any]]) -> None:
    depth = len(next(iter(values.values())))
    columns = (title, *(f"depth {k}" for k in range(1, depth + 1)))
    table(columns, [(name, *(f"{v:.4g}" if isinstance(v, float) else str(v) for v in row))
                    for name, row in values.items()])  # fmt: skip
