"""How fast the number of rooted trees grows, and how many of them a family can tell apart.

chen2025 Props. 2.3, 2.4, 2.6, 2.7, A.2, A.3, Cor. 2.5 and Lemmas A.6 to A.8. All counts are exact
whole numbers of any length; nothing is trained.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np

from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.graphs import Graph, from_edges, partitions, tree_counts, union
from dynascope.graphs.trees import full_tree, walk_counting_family
from dynascope.graphs.walks import count_non_backtracking_walks, count_walks
from dynascope.studies.study import Study

Count = Callable[[int, int], int]  # (branching, depth) -> how many
Fewest = dict[tuple[int, int], int]  # (branching, depth) -> the smallest number of trees
Members = Iterable[tuple[Graph, np.ndarray]]  # trees with the colours of their nodes
PATTERN = (0, 1, 0)
BALANCED = ((3, 2), (4, 2), (3, 3))  # (branching, depth) with every tuple of Lemma A.7 counted
FIXED = ("adjacency", "normalized", "self_loop", "bethe", "ppr")  # operators on the topology


@dataclass(frozen=True)
class Settings(Spec, tag="studies.tree-counting"):
    """Which trees are compared."""

    depth: int = 8  # of the growth comparison
    branching: int = 3


study = Study(
    "tree-counting", title="Trees outgrow precomputed features doubly exponentially",
    sources=(chen2025("Props. 2.3, 2.4, 2.6, 2.7, A.2, A.3, Cor. 2.5, Lemmas A.6, A.7, A.8"),),
    settings=Settings, scales={"smoke": {}, "laptop": {}, "paper": {}},
    notes=(
        "Lemma A.6 is empty for two children (its bound is 1); three and four are counted.",
        "Lemma A.7's proof counts one tree of depth 1 where its definition has none; the "
        "bound stands.",
        "Prop. 2.4 prints C(m^k + N - 1, N); C(m^k + N, N) is what its argument gives.",
        "Cor. 2.5: what a family tells apart it shatters, if its last part is universal, so that "
        "its VC dimension is its number of classes.",
        "Props. A.2 and A.3 speak of all equivariant operators, also those that are not linear "
        "in the features. Rounds of message passing are such an operator, and so is the count "
        "of walks itself. Their proof exchanges two nodes of a level without what hangs below "
        "them, which changes A. For linear operators they say what Props. 2.6 and 2.7 say.",
    ),
)  # fmt: skip


@study.finding
def counts(s: Settings) -> dict[str, Count]:
    """Numbers of trees and of classes by branching and depth, and planted ones."""
    return {
        "aggregation trees": tree_counts.count_aggregation_trees,
        "least aggregation trees": tree_counts.aggregation_tree_bound,
        "full trees": tree_counts.count_full_trees,
        "classes": tree_counts.count_level_classes,
        "most classes": tree_counts.feature_class_bound,
        "2^(3^K)": lambda m, k: 2 ** (3**k),
        "4^(2^K)": lambda m, k: 4 ** (2**k),
        "2^(K^3)": lambda m, k: 2 ** (k**3),
        "two": lambda m, k: 2,
    }


@study.finding
def fewest(s: Settings) -> dict[str, Fewest]:
    """Trees with equal zeros per level: fewest in and out of Lemma A.7's range, and most."""
    found: dict[str, Fewest] = {"balanced": {}, "outside": {}, "largest class": {}}
    for m, depth in BALANCED:
        trees = tree_counts.trees_by_level_zeros(m, depth)
        inside = set(tree_counts.balanced_level_zeros(m, depth))
        found["balanced"][m, depth] = min(trees[q] for q in inside)
        found["outside"][m, depth] = min(n for q, n in trees.items() if q not in inside)
        found["largest class"][m, depth] = max(trees.values())
    return found


Choice = tuple[int, tuple[int, ...], tuple[int, ...]]  # zeros in all, of the small paths, room


def choices(m: int, depth: int, zeros: Iterable[int]) -> list[Choice]:
    """Every choice of Lemma A.8: q_K, one or two zeros under each of the paths with fewest nodes.

    The last part is the room that the other paths leave: for each of them m W - 1.
    """
    found = []
    for sizes in path_sizes(m, depth - 1):
        ordered = sorted(sizes)
        small, large = ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :]
        room = tuple(m * w - 1 for w in large)
        found += [(q, own, room) for q in zeros for own in product((1, 2), repeat=len(small))]
    return found


def path_sizes(m: int, depth: int) -> list[tuple[int, ...]]:
    """Numbers of nodes under every path of zeros and ones, each of which occurs, by tree.

    Example:
        >>> path_sizes(3, 1)
        [(1, 2), (2, 1)]
    """
    sizes: list[tuple[int, ...]] = [(1,)]
    for _ in range(depth):
        split = [[[(z, m * w - z) for z in range(1, m * w)] for w in tree] for tree in sizes]
        sizes = [sum(pairs, ()) for options in split for pairs in product(*options)]
    return sizes


@study.finding
def completions(s: Settings) -> dict[str, list[Choice]]:
    """The choices of Lemma A.8 for three children and depths 2 and 3: in its range, above, at 2^K.

    With 2^K zeros the other paths need two or three each, and have room for more.
    """
    found: dict[str, list[Choice]] = {"range": [], "above": [], "2^K": []}
    for m, depth in ((3, 2), (3, 3)):
        low, high = 2**depth - 2 ** (depth - 2), m**depth // 2
        found["range"] += choices(m, depth, range(low, high + 1))
        found["above"] += choices(m, depth, range(high + 1, m**depth + 1))
        found["2^K"] += choices(m, depth, (2**depth,))
    return found


def _root_classes(members: Members, depth: int, families: Iterable[str]) -> dict[str, np.ndarray]:
    """By family, (trees,) the class of each tree's root."""
    trees, colours = zip(*members)
    every, features = union(trees), np.concatenate(colours)
    roots = np.searchsorted(every.part, np.arange(len(trees)))
    rows = {f: partitions(every, depth, f, features=features, include_identity=True)
            for f in families}  # fmt: skip
    return {family: found[-1][roots] for family, found in rows.items()}


def _roots(tree: Graph, number: int) -> Members:
    """Copies of a tree whose roots carry a feature each: every family tells them apart."""
    return [(tree, np.concatenate([[k], np.zeros(tree.nodes - 1, int)])) for k in range(number)]


@study.compute(seconds=lambda s: 0.1)
def binary_trees(s: Settings) -> dict[str, np.ndarray]:
    """Classes at the root of all 2^7 labelled binary trees of depth 2, and of 30 roots."""
    tree = full_tree(2, 2)
    members = [(tree, np.array(bits)) for bits in product((0, 1), repeat=tree.nodes)]
    found = _root_classes(members, 2, ("wl", "adjacency"))
    return found | {"roots": _root_classes(_roots(tree, 30), 2, ("adjacency",))["adjacency"]}


@study.compute(seconds=lambda s: 0.2)
def ternary_trees(s: Settings) -> dict[str, np.ndarray]:
    """Classes at the root of all 240 full ternary trees of depth 2, no two of them isomorphic."""
    tree, small = full_tree(3, 2), [(c, z) for c in (0, 1) for z in range(4)]
    members = []
    for root, three in product((0, 1), combinations_with_replacement(small, 3)):
        leaves = [x for _, zeros in three for x in [0] * zeros + [1] * (3 - zeros)]
        members.append((tree, np.array([root, *(colour for colour, _ in three), *leaves])))
    found = _root_classes(members, 2, ("wl", *FIXED))
    return found | {"roots": _root_classes(_roots(tree, len(members)), 2, ("wl",))["wl"]}


def _walk_classes(members: Members) -> dict[str, np.ndarray]:
    return _root_classes(members, len(PATTERN), ("wl", *FIXED))


@study.compute(seconds=lambda s: 0.2)
def walk_classes(s: Settings) -> dict[str, dict[str, np.ndarray]]:
    """Classes at the root of the trees of Prop. 2.7, of as many copies of the first, and of roots.

    "one" is a class that all are put into, whatever a family says.
    """
    members = list(walk_counting_family(s.branching, PATTERN))
    copies = [members[0]] * len(members)
    roots = _roots(members[0][0], len(members))
    found, same, apart = (_walk_classes(trees) for trees in (members, copies, roots))
    return {
        "operators": {f: found[f] for f in FIXED},
        "rounds": {"wl": found["wl"]},
        "copies": {f: same[f] for f in FIXED},
        "roots": apart,
        "one": {"planted": np.zeros(len(members), int)},
    }


def _with_walks(number: int) -> tuple[Graph, np.ndarray]:
    """A root, below it a 0, below that a 1 with so many 0: as many walks 0, 1, 0 go on to them."""
    parents = np.array([0, 1, *[2] * number])
    edges = np.stack([parents, np.arange(1, number + 3)], 1)
    return from_edges(edges), np.array([2, 0, 1, *[0] * number])


@study.compute(seconds=lambda s: 0.1)
def walks(s: Settings) -> dict[str, np.ndarray]:
    """Numbers of walks of the pattern's colours in those trees, all and without turning back.

    Those counted in planted trees are 0..m^(k-1): the walk that turns back is one more.
    """
    members = list(walk_counting_family(s.branching, PATTERN))
    numbers = range(len(members))
    none = (full_tree(1, 1), np.zeros(2, int))
    planted = [_with_walks(n) for n in numbers]

    def counted(count: Callable[..., np.ndarray], trees: Members) -> np.ndarray:
        return np.array([int(count(tree, colours, PATTERN)[0]) for tree, colours in trees])

    return {
        "all": counted(count_walks, members),
        "forward": counted(count_non_backtracking_walks, members),
        "all, planted": counted(count_walks, [none, *planted[:-1]]),
        "forward, planted": counted(count_non_backtracking_walks, planted),
        "numbers": np.array(numbers),
    }
