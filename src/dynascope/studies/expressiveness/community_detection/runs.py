"""Finding two communities: which fixed operator helps, and whether learning it is better.

chen2025 Fig. 2.4 and Table A.2: graph-augmented MLPs on powers of A, of the GCN operator and of
the Bethe Hessian, a network that learns its own operator, spectral answers on the same test
graphs, and the level of chance.
"""

from dataclasses import dataclass, replace

import jax
import numpy as np

from dynascope.core.leaves import with_leaves
from dynascope.core.randomness import key_for
from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.dynamics import Adam
from dynascope.engine import Experiment
from dynascope.engine.record import At
from dynascope.graphs import Graph, as_graph, communities
from dynascope.graphs.communities import HARDNESSES, chance_overlap, overlap
from dynascope.models import CommunityNetwork, GraphAugmentedMLP, Model
from dynascope.models.graph_augmented import Operator
from dynascope.probes import Overlap
from dynascope.runtime.precision import precision
from dynascope.studies.study import Study
from dynascope.tasks import CommunityDetection

OPERATORS: dict[str, Operator] = {
    "GA-MLP-A": "adjacency", "GA-MLP-H": "bethe", "GA-MLP-GCN": "self_loop",
}  # fmt: skip
TABLE_A_2 = (0.128, 0.164, 0.262, 0.707, 0.563)  # the GCN operator, rank 1 (hardest) to 5
NETWORK = "sGNN"  # mixes I, A and A^2 in every layer
ENOUGH = 2000  # training graphs below which the models are far from their end
SPECTRAL = {"Bethe Hessian": communities.bethe_communities,
            "adjacency": communities.adjacency_communities}  # fmt: skip


@dataclass(frozen=True)
class Settings(Spec, tag="studies.community-detection"):
    """How many graphs, and which models."""

    task: CommunityDetection = CommunityDetection(training_graphs=2000, test_graphs=60)
    powers: int = 120
    width: int = 10
    rate: float = 0.001
    network_layers: int = 30  # 0 leaves the network out
    network_graphs: int = 400
    network_rate: float = 0.002
    seeds: int = 6  # of training and of test graphs
    network_seeds: int = 6


study = Study(
    "community-detection",
    title="Communities: the operator decides what a graph-augmented MLP finds",
    sources=(chen2025("Fig. 2.4, Table A.2, section 2.6"),), settings=Settings,
    scales={
        "smoke": {"task": CommunityDetection(training_graphs=60, test_graphs=10), "powers": 20,
                  "network_layers": 0, "seeds": 3},
        "laptop": {},
        "paper": {"task": CommunityDetection(training_graphs=6000, test_graphs=200),
                  "network_layers": 60, "network_graphs": 6000},
    },
    notes=(
        "Sizes and edge probabilities are not in the thesis; they are those of the authors' "
        "public code: 250 nodes, mean degree 3, five pairs (p, q).",
        "Features are standardised after every application of the operator, without learned "
        "scale; gradients are not clipped.",
        "sGNN's width and its nonlinearity are not given: 10 channels, half of them rectified.",
        "Numbers of Fig. 2.4 are lost with the image; only its order is tested. Every seed has "
        "training and test graphs of its own, the same for all models; what is found is the mean "
        "over a seed's test graphs, and intervals are over seeds.",
    ),
)  # fmt: skip


@study.run
def models(s: Settings) -> dict[str, Experiment]:
    """A graph-augmented MLP on powers of each operator, and the network; hardnesses are lanes."""

    def experiment(model: Model, graphs: int, rate: float, seeds: int) -> Experiment:
        return Experiment(
            replace(s.task, training_graphs=graphs), model, Adam(rate, batch_size=1), (Overlap(),),
            steps=graphs, record=At(()), over=(("task.degrees", HARDNESSES),),
            seeds=tuple(range(seeds)),
        )  # fmt: skip

    plan = {}
    for name, operator in OPERATORS.items():
        model = GraphAugmentedMLP((operator,), (s.powers,), identity=False, width=s.width,
                                  normalise="steps")  # fmt: skip
        plan[name] = experiment(model, s.task.training_graphs, s.rate, s.seeds)
    if s.network_layers:
        network = CommunityNetwork(s.network_layers, s.width)
        plan[NETWORK] = experiment(network, s.network_graphs, s.network_rate, s.network_seeds)
    return plan


def overlaps(s: Settings, runs: dict[str, Run]) -> dict[str, np.ndarray]:
    """By model, (ranks, seeds) what it finds at the end, the mean over a seed's test graphs."""
    return {name: run["overlap"].values[:, :, -1].mean(axis=-1) for name, run in runs.items()}


found = study.finding(models)(overlaps)
found_at_last = study.finding(
    models, name="overlaps after long training",
    only_if=lambda s: None if s.task.training_graphs >= ENOUGH else
    f"needs {ENOUGH} training graphs: use --scale laptop",
)(overlaps)  # fmt: skip


def test_graphs(task: CommunityDetection) -> list[list[Graph]]:
    """By rank, the graphs that the models of seed 0 are tested on."""

    @jax.jit
    def draw(degrees: jax.Array) -> jax.Array:
        drawn = with_leaves(task, {"degrees": degrees})
        seeds = drawn.context(key_for(0, "data"))
        return jax.lax.map(lambda seed: drawn.graph_of(seed).adjacency, seeds)

    with precision("float32"):
        drawn = [np.asarray(draw(np.asarray(d, np.float32))) for d in HARDNESSES]
    return [[as_graph(matrix) for matrix in rank] for rank in drawn]


@study.compute(each=lambda s: tuple(SPECTRAL), reads=("task",),
               seconds=lambda s: 3 + 0.22 * s.task.test_graphs)  # fmt: skip
def spectral(s: Settings, matrix: str) -> np.ndarray:
    """(ranks, test graphs) what the sign of a matrix's second eigenvector finds."""
    find, truth = SPECTRAL[matrix], np.repeat([0, 1], s.task.nodes // 2)
    return np.array([[overlap(find(g), truth) for g in rank] for rank in test_graphs(s.task)])


CONTRASTS = (0.0, 0.25, 0.35, 0.8)  # undetectable up to 0.2, certain at the last


@study.compute(reads=("task",), seconds=lambda s: 4.0)
def clearer(s: Settings) -> np.ndarray:
    """(contrasts, 20) what the Bethe Hessian finds in block models that get ever clearer.

    Each node has 25 neighbours on average, (1 + contrast) / 2 of them in its own community.
    """
    nodes, random = s.task.nodes, np.random.default_rng(0)
    truth = np.repeat([0, 1], nodes // 2)
    own, found = truth[:, None] == truth, []
    for contrast in CONTRASTS:
        chance = 25 / nodes * np.where(own, 1 + contrast, 1 - contrast)
        drawn = (np.triu(random.random((nodes, nodes)) < chance, 1) for _ in range(20))
        graphs = [as_graph((half | half.T).astype(np.float32)) for half in drawn]
        found.append([overlap(communities.bethe_communities(g), truth) for g in graphs])
    return np.array(found)


def _found(coins: np.ndarray) -> np.ndarray:
    """(4, rows / 4) what each row of coins finds."""
    truth = np.repeat([0, 1], coins.shape[1] // 2)
    return np.array([overlap(row, truth) for row in coins]).reshape(4, -1)


@study.finding
def guessed(s: Settings) -> dict[str, np.ndarray]:
    """What coin flips find on the graphs' nodes, in four parts, and on four times as many.

    "exactly" has coins that agree with the truth on B nodes, B at 2,000 even quantiles of the
    binomial.
    """
    from scipy.stats import binom  # slow to load

    nodes, random = s.task.nodes, np.random.default_rng(0)
    right = binom.ppf((np.arange(2000) + 0.5) / 2000, nodes, 0.5)
    truth = np.repeat([0, 1], nodes // 2)
    planted = np.where(np.arange(nodes) < right[:, None], truth, 1 - truth)
    return {
        "coins": _found(random.integers(0, 2, (2000, nodes))),
        "on more nodes": _found(random.integers(0, 2, (500, 4 * nodes))),
        "exactly": _found(planted),
    }


@study.finding
def planted(s: Settings) -> dict[str, np.ndarray]:
    """(ranks, seeds) what guessing and knowing give, and the printed table.

    Each to a thousandth from seed to seed.
    """
    near = 1 + 0.001 * (-1.0) ** np.arange(6)
    rows = {"guesses": [chance_overlap(s.task.nodes)] * 5, "truth": [1.0] * 5,
            "table": TABLE_A_2}  # fmt: skip
    return {name: np.outer(row, near) for name, row in rows.items()}
