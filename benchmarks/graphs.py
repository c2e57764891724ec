"""How fast exact colour refinement is: a cost curve, the stated size, and networkx beside it.

Run with `python benchmarks/graphs.py`. Random graphs with five edges per node; five rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from dynascope.graphs import Graph, as_graph, count_classes, from_edges, refine

ROUNDS = 5
SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
REPEATS = 3
SECONDS_ALLOWED = 10.0
RATIO_WANTED = 20.0


def random_graph(nodes: int) -> Graph:
    return from_edges(np.random.default_rng(0).integers(0, nodes, (5 * nodes, 2)), nodes)


def seconds(work: Callable[[], Any]) -> float:
    """The quickest of a few runs, which the machine's other work disturbs least."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def cost_curve() -> float:
    """Print seconds per size, and return those of the largest."""
    print(
        f"{'nodes':>10} {'edges':>10} {'refine s':>10} {'ns / edge':>10} {'powers s':>10}  classes"
    )
    edges, spent = [], []
    for nodes in SIZES:
        graph = random_graph(nodes)
        refining = seconds(lambda graph=graph: refine(graph, ROUNDS))
        powers = seconds(lambda graph=graph: count_classes(graph, ROUNDS, "adjacency"))
        classes = [int(row.max()) + 1 for row in refine(graph, ROUNDS)]
        edges.append(graph.edges)
        spent.append(refining)
        print(f"{nodes:>10,} {graph.edges:>10,} {refining:>10.3f}", end=" ")
        print(f"{1e9 * refining / graph.edges:>10.0f} {powers:>10.3f}  {classes}")
    slope = np.polyfit(np.log(edges), np.log(spent), 1)[0]
    print(f"cost grows like edges^{slope:.2f} (1 is linear)")
    return spent[-1]


def against_networkx(nodes: int = 20_000) -> float:
    """Print and return how many times as long networkx takes on the same graph."""
    source = nx.gnm_random_graph(nodes, 5 * nodes, seed=0)
    nx.set_node_attributes(source, "same", "colour")
    graph = as_graph(source)
    ours = seconds(lambda: refine(graph, ROUNDS))
    hashes = nx.weisfeiler_lehman_subgraph_hashes
    theirs = seconds(lambda: hashes(source, node_attr="colour", iterations=ROUNDS))
    print(f"networkx on {nodes:,} nodes: {theirs:.2f} s, dynascope {ours:.4f} s")
    return theirs / ours


def main() -> None:
    last = cost_curve()
    print(f"largest: {last:.2f} s, allowed {SECONDS_ALLOWED:g} s")
    ratio = against_networkx()
    print(f"ratio: {ratio:.0f}x, wanted at least {RATIO_WANTED:g}x")
    raise SystemExit(last > SECONDS_ALLOWED or ratio < RATIO_WANTED)


if __name__ == "__main__":
    main()
