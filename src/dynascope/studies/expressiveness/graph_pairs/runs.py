"""Pairs of graphs that one family of models tells apart and another does not.

chen2025 Props. 2.1, 2.2 and A.1, Figs. 2.1 and 2.3, Lemmas A.4, A.5 and A.9, and the remark on the
hexagon, which is wrong as printed. All comparisons are exact; nothing is trained.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any

import numpy as np

from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.graphs import distinguish, families, from_edges, operators, partitions, union
from dynascope.graphs.injective import injective_exponent
from dynascope.graphs.pairs import BRANCHES, FOURTEEN, HEXAGON, GraphPair, circulant, hard_pairs
from dynascope.studies.study import Study

NODES, PAIRS = 24, 100  # pairs of random graphs with the same degrees
GRAPHS = 20  # random graphs of each size for Lemma A.5
SIZES = {n: int(3 * np.log2(n)) for n in (50, 200, 1000)}  # n -> how many degrees are distinct
SAME_TREE, OTHER_CHILDREN = "one tree twice", "trees whose roots have other children"
LARGEST = 6  # numbers 1..6 of which all multisets are tried
RENUMBERED, STAR, CYCLE = "a graph renumbered", "a star and a path", "a cycle and a path"
Told = dict[str, dict[str, float]]  # pair -> family -> first depth that tells, or infinity


@dataclass(frozen=True)
class Settings(Spec, tag="studies.graph-pairs"):
    """How many powers of an operator are compared."""

    powers: int = 60


study = Study(
    "graph-pairs", title="Pairs of graphs that are hard for one family and easy for another",
    sources=(chen2025("Props. 2.1, 2.2, A.1, Figs. 2.1, 2.3, Lemmas A.4, A.5, A.9, section 2.3"),),
    settings=Settings, scales={"smoke": {}, "laptop": {}, "paper": {}},
    notes=(
        "The edges of the 14-node pair follow from the sums in the proof of Lemma A.9; the "
        "figure is an image.",
        "Prop. 2.2 prints the failing fraction as 1 - o(1); o(1) is meant.",
        "Nodes carry no features, except in Fig. 2.3.",
    ),
)  # fmt: skip


@study.finding
def pairs(s: Settings) -> dict[str, GraphPair]:
    """The pairs of the thesis, and pairs of which it is certain who tells them apart."""
    order = np.random.default_rng(0).permutation(14)
    first = FOURTEEN.first
    moved = from_edges(order[np.stack(first.adjacency.nonzero(), axis=1)], 14)
    star, line = (from_edges([(i * step, i + 1) for i in range(7)]) for step in (0, 1))
    ring, long = circulant(8, 1), circulant(14, 1)
    planted = (
        GraphPair(RENUMBERED, first, moved, "alike for everyone"),
        GraphPair(STAR, star, line, "apart for all who see degrees"),
        GraphPair(CYCLE, ring, line, "apart for all who see degrees"),
        GraphPair("the first graph twice", first, first, "alike at every node"),
        GraphPair("a cycle twice", ring, ring, "alike, and so are all its nodes"),
        GraphPair("a longer cycle twice", long, long, "alike, and so are all its nodes"),
        GraphPair("the hexagon twice", HEXAGON.first, HEXAGON.first, "alike for everyone"),
        GraphPair(
            "a hexagon with chords", HEXAGON.first, circulant(6, 1, 2), "apart by the degree"
        ),
    )
    return {pair.name: pair for pair in (*hard_pairs, *planted)}


@study.finding(pairs)
def told(s: Settings, pairs: dict[str, GraphPair]) -> Told:
    """What tells the graphs of a pair apart as wholes."""
    found: Told = {}
    for name in (*hard_pairs.names(), RENUMBERED, STAR, CYCLE):
        found[name] = {f: _depth(pairs[name], f) for f in families.names()}
    return found


def _depth(pair: GraphPair, family: str) -> float:
    """The first depth at which the graphs of a pair differ as wholes; infinity for none."""
    depth = distinguish(pair.first, pair.second, family, features=pair.features).depth
    return inf if depth is None else depth


@study.finding
def roots_told(s: Settings) -> Told:
    """What tells the roots of two trees apart: those of Fig. 2.3, and two with a known answer."""
    assert BRANCHES.features is not None
    first, second = BRANCHES.features
    others = np.array([0, 1, 1, *first[3:]])
    colours = {BRANCHES.name: second, SAME_TREE: first, OTHER_CHILDREN: others}
    names = families.names()
    return {k: {f: _roots_told(f, first, other) for f in names} for k, other in colours.items()}


def _roots_told(family: str, first: np.ndarray, second: np.ndarray, depth: int = 6) -> float:
    """The first depth at which the roots of two coloured trees differ; infinity for none."""
    both, features = union([BRANCHES.first, BRANCHES.second]), np.concatenate([first, second])
    rows = partitions(both, depth, family, features=features, include_identity=True)
    return next((k for k, row in enumerate(rows) if row[0] != row[BRANCHES.first.nodes]), inf)


@study.finding
def terms(s: Settings) -> dict[str, list[Fraction]]:
    """The numbers u^-alpha, u = 1..n, of Lemma A.4; with alpha = 1; digits in base n + 1."""
    numbers, alpha = range(1, LARGEST + 1), injective_exponent(LARGEST)
    return {
        "lemma": [Fraction(1, u**alpha) for u in numbers],
        "alpha = 1": [Fraction(1, u) for u in numbers],
        "digits": [Fraction(1, (LARGEST + 1) ** u) for u in numbers],
    }


ON_HEXAGON: dict[str, Callable[[Any], Any]] = {
    "min(A^2, 1)": operators.power_graph,
    "min((I + A)^2, 1)": lambda graph: operators.power_graph(graph, closed=True),
    "A ∘ A^2": operators.triangle,
}


@study.finding(pairs)
def row_sums(s: Settings, pairs: dict[str, GraphPair]) -> dict[tuple[str, str], np.ndarray]:
    """By operator and pair, (2, 6) the row sums of both graphs in order."""
    found = {}
    names = (HEXAGON.name, "the hexagon twice", "a hexagon with chords")
    for (operator, build), name in product(ON_HEXAGON.items(), names):
        sums = build(union([pairs[name].first, pairs[name].second])).sum(axis=1)
        found[operator, name] = np.sort(np.asarray(sums).reshape(2, 6))
    return found


@study.finding
def permuted(s: Settings) -> dict[str, np.ndarray]:
    """(permutations, operators) relative difference of permuting first and permuting last.

    Of entry-wise functions and products of A; of a matrix that depends on the numbering; of I.
    """
    rng, graphs = np.random.default_rng(0), []
    for _ in range(PAIRS):
        upper = np.triu(rng.random((NODES, NODES)) < 0.3, 1)
        graphs.append(((upper + upper.T).astype(float), rng.permutation(NODES)))
    kinds: dict[str, list[Callable[[np.ndarray], np.ndarray]]] = {
        "products": [lambda a: a, lambda a: a @ a @ a, lambda a: np.minimum(a @ a, 1),
                     lambda a: a * (a @ a), lambda a: np.exp(-a) @ np.sqrt(a @ a)],
        "numbering": [np.triu],
        "identity": [lambda a: np.eye(len(a))],
    }  # fmt: skip

    def gap(m: Callable, a: np.ndarray, order: np.ndarray) -> float:
        first, last = m(a[np.ix_(order, order)]), m(a)[np.ix_(order, order)]
        return float(np.linalg.norm(first - last) / np.linalg.norm(last))

    return {k: np.array([[gap(m, *g) for m in maps] for g in graphs]) for k, maps in kinds.items()}


@study.compute(reads=(), seconds=lambda s: 1.5)
def random_pairs(s: Settings) -> dict[str, np.ndarray]:
    """Which pairs of random graphs with equal degrees are told, and which by the degrees alone.

    "an edge more" are pairs whose degrees differ: D alone tells them.
    """
    pairs = [_same_degrees(seed) for seed in range(PAIRS)]
    injective = [bool(distinguish(a, b, "injective", 1)) for a, b in pairs]
    ordered = [[sorted(d for _, d in graph.degree) for graph in pair] for pair in pairs]
    more = [bool(distinguish(a, _one_edge_more(a), "injective", 1)) for a, _ in pairs]
    return {"injective": np.array(injective), "degrees": np.array([a != b for a, b in ordered]),
            "an edge more": np.array(more)}  # fmt: skip


def _one_edge_more(graph: Any) -> Any:
    import networkx as nx

    more = graph.copy()
    more.add_edge(*next(nx.non_edges(graph)))
    return more


def _same_degrees(seed: int, attempt: int = 0) -> tuple:
    """Two random graphs with the same degree at every node, not isomorphic."""
    import networkx as nx

    first = nx.gnp_random_graph(NODES, 0.5, seed=seed)
    second = nx.double_edge_swap(first.copy(), 60, 10_000, seed=1000 * attempt + seed)
    alike = nx.is_isomorphic(first, second)
    return _same_degrees(seed, attempt + 1) if alike else (first, second)


@study.finding
def degrees(s: Settings) -> dict[int, np.ndarray]:
    """By size n, (graphs, n) the degrees of random graphs, highest first."""
    found = {}
    for n in SIZES:
        rng = np.random.default_rng(n)
        upper = [np.triu(rng.random((n, n)) < 0.5, 1) for _ in range(GRAPHS)]
        found[n] = np.array([np.sort((u + u.T).sum(axis=1))[::-1] for u in upper])
    return found


@study.finding(degrees)
def planted_degrees(s: Settings, degrees: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Degrees of which no two are equal."""
    return {n: np.broadcast_to(np.arange(n)[::-1], d.shape) for n, d in degrees.items()}
