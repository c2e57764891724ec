"""The tangent kernel along descent, gradients at random starts, and draws for the lemmas.

zhu2024 section 2.4, (2.16), Prop. 2.4.4 and the lemmas of appendix A behind Theorem 2.3.6.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from dynascope.core.sources import zhu2024
from dynascope.core.spec import Spec
from dynascope.instruments.network.measuring import Training, train
from dynascope.instruments.network.padded import inputs, pad
from dynascope.models.wiring_families import fully_connected
from dynascope.studies.linearity.architectures import ARCHITECTURES
from dynascope.studies.linearity.polyak import draws
from dynascope.studies.linearity.polyak.draws import Blocks, Exceeded, GradientNorms
from dynascope.studies.linearity.polyak.orders import Orders, orders
from dynascope.studies.study import Study

SAMPLES = 6
DEPTHS = (2, 3, 4, 5)
RECORDS = 20
REPEATED = "repeated input"  # one input occurs twice, with two labels


@dataclass(frozen=True)
class Settings(Spec, tag="studies.polyak"):
    """Widths and seeds of the networks, and how much is drawn."""

    widths: tuple[int, ...] = (16, 32, 64, 128, 256)
    seeds: int = 8
    inputs: int = 10
    order_widths: tuple[int, ...] = (16, 32, 64, 128, 256)
    order_seeds: int = 40
    steps: int = 200
    draws: int = 10_000
    lemma_draws: int = 1_000_000
    seed: int = 0

    @property
    def recorded(self) -> np.ndarray:
        """The steps at which the kernel is recorded."""
        return np.arange(RECORDS + 1) * (self.steps // RECORDS)


study = Study(
    "polyak",
    title="The PL* condition holds at the start and wide networks keep it",
    sources=(zhu2024("section 2.4, Props. 2.4.4, A.9.1, Lemmas A.2.1, A.2.2, A.9.2, A.11.1-10"),),
    settings=Settings,
    scales={
        "smoke": {"widths": (16, 48, 128), "seeds": 6, "draws": 2000, "lemma_draws": 100_000,
                  "order_widths": (16, 48, 128), "order_seeds": 24},
        "laptop": {},
        "paper": {"widths": (16, 64, 256, 1024), "seeds": 20, "draws": 20_000,
                  "lemma_draws": 10_000_000, "order_widths": (16, 64, 256, 1024)},
    },
    notes=lambda s: (
        f"Three layers, tanh, {SAMPLES} standard normal inputs of {s.inputs} numbers, "
        "labels +1 and -1, half the sum of squares, half the critical rate of the first "
        "kernel.",
        "The last step of Prop. 2.4.4 takes the mean of a norm to be at least the root of the "
        "mean of its square; Jensen's inequality says the opposite. What is proved is about "
        "the squared norm. The activation must be homogeneous for positive factors only, and "
        "r at least 1.",
        "Lemma A.11.8 prints R nu where its proof has R sqrt(nu).",
        "Lemma A.11.7 leaves its constant c open; 1/2 follows from the Lipschitz constant |B|. "
        "Lemmas A.11.5 and A.11.6 leave C open; sqrt(2) is tried.",
        "Orders in the width are measured on three layers with softplus, whose neurons are not "
        "bounded, at the point of the ball of radius 3 where the second layer is largest. "
        "Logarithms may add 0.2 to a slope, as they do in Theorem 2.3.6.",
    ),
)  # fmt: skip


def networks(s: Settings) -> list[tuple[str, int, int]]:
    """Name, width and seed; two of them only at the largest width."""
    widths = {"fully connected": s.widths, "narrow layer": s.widths,
              REPEATED: s.widths[-1:], "tanh output": s.widths[-1:]}  # fmt: skip
    return [(name, m, seed) for name in widths for m in widths[name] for seed in range(s.seeds)]


@study.compute(
    each=networks, reads=("widths", "seeds", "inputs", "steps", "seed"),
    # Measured: all widths are padded to the largest, and compiled once.
    seconds=lambda s: 6.0 + len(networks(s)) * (0.02 + 3e-8 * s.steps * 2 * s.widths[-1] ** 2),
)  # fmt: skip
def training(s: Settings, item: tuple[str, int, int]) -> Training:
    """Descent with its kernels; tanh on the output has labels +1/2 and -1/2."""
    name, width, seed = item
    x = inputs(s.inputs, SAMPLES, s.seed, s.inputs)
    y = np.resize([1.0, -1.0], (SAMPLES, 1)) / (2 if name == "tanh output" else 1)
    if name == REPEATED:
        name, x = "fully connected", np.concatenate([x[:1], x[:-1]])
    drawn = ARCHITECTURES[name](s.inputs, width, seed)
    network = pad(drawn.net, (s.inputs, *[s.widths[-1]] * 3, 1), bend=drawn.bend)
    return train(network, seed, x, y, s.steps, s.steps // RECORDS)


Trained = dict[int, list[Training]]  # by width: all seeds


@study.finding(training)
def trained(s: Settings, training: dict[tuple[str, int, int], Training]) -> dict[str, Trained]:
    """All seeds by network and width, the widest last."""
    found: dict[str, Trained] = {}
    for (name, width, _), run in training.items():
        found.setdefault(name, {}).setdefault(width, []).append(run)
    return found


@study.compute(each=lambda s: DEPTHS, reads=("draws", "seed"), seconds=lambda s: 7e-4 * s.draws)
def gradients(s: Settings, depth: int) -> GradientNorms:
    """Gradients of networks of a depth at random starts and inputs."""
    return draws.gradient_norms(depth, s.draws, s.seed + depth)


SIZES = {"small": 0.1, "usual": 1.0, "large": 3.0}  # of the weights of two layers


@study.compute(each=lambda s: tuple(SIZES), reads=("draws", "seed"),
               seconds=lambda s: 9e-5 * s.draws)  # fmt: skip
def two_layers(s: Settings, size: str) -> dict[int, GradientNorms]:
    """Other networks of two layers, whose weights are a tenth, once or thrice as large."""
    return {2: draws.gradient_norms(2, s.draws, s.seed, scale=SIZES[size])}


@study.finding
def planted(s: Settings) -> dict[str, Trained]:
    """Descents on linear models, eight a width: the kernel and the residual are known.

    "linear": a constant kernel with eigenvalues 0.1 and 1, the loss as descent has it.
    "stuck": the same kernel, a loss that stays at 1.
    "moved": lambda_min moves by width^-1/2. "falling": lambda_min falls to a tenth.
    """
    steps = s.recorded
    mu, tilt = 0.1, np.random.default_rng(0).uniform(0.3, 1.2, (3, 8))  # of the residual
    found: dict[str, Trained] = {"linear": {}, "stuck": {}, "moved": {}, "falling": {}}
    for width, angles in zip((16, 64, 256), tilt, strict=True):
        kernels = np.broadcast_to(np.diag([mu, 1.0]), (len(steps), 2, 2))
        moved = kernels + np.diag([width**-0.5, 0.0]) * (steps > 0)[:, None, None]
        falling = kernels - np.diag([0.9 * mu, 0.0]) * (steps / steps[-1])[:, None, None]
        rows: dict[str, list[Training]] = {name: [] for name in found}
        for angle in angles:
            slow, fast = np.cos(angle) * (1 - mu) ** steps, np.sin(angle) * 0.0**steps
            loss, slope = (slow**2 + fast**2) / 2, mu * slow**2 + fast**2
            still = np.zeros(len(steps))
            rows["linear"].append(Training(kernels, loss, slope, still))
            rows["stuck"].append(Training(kernels, np.ones(len(steps)), slope, still))
            rows["moved"].append(Training(moved, loss, slope, still))
            rows["falling"].append(Training(falling, loss, slope, still))
        for name, row in rows.items():
            found[name][width] = row
    return found


@study.finding(trained)
def wide_and_narrow(s: Settings, trained: dict[str, Trained]) -> Trained:
    """Fully connected networks and those with a narrow layer, together."""
    first, second = trained["fully connected"], trained["narrow layer"]
    return {width: [*first[width], *second[width]] for width in first}


# --- lemmas -----------------------------------------------------------------------------------

Drawn = dict[str, Exceeded]  # the limit of the lemma, and others


@study.compute(
    each=lambda s: ("inner product", "image", "series", "columns"), reads=("lemma_draws", "seed"),
    seconds=lambda s: 4e-5 * s.lemma_draws,
)  # fmt: skip
def drawn(s: Settings, lemma: str) -> dict[str, Drawn]:
    """How often each bound was exceeded, with an adversary and without one.

    Each at a t that allows one to forty draws in a hundred; the adversary has R = 3, 10 or 40.
    For the series "large" has matrices with nu above 1.
    """
    n, seed = s.lemma_draws, s.seed
    if lemma == "series":
        return {
            "moved": draws.matrix_series(10.0, 3.6, n, seed),
            "still": draws.matrix_series(0.0, 3.6, n // 10, seed),
            "large": draws.matrix_series(10.0, 3.6, n // 10, seed, scale=20.0),
        }
    exceeded, t, radius = {
        "inner product": (draws.inner_product, 2.5, 3.0),
        "image": (draws.image_norm, 3.0, 3.0),
        "columns": (draws.random_columns, 1.3, 40.0),
    }[lemma]
    n = n // 20 if lemma == "columns" else n  # 40 columns each
    found = {"moved": exceeded(radius, t, n, seed), "still": exceeded(0.0, t, n // 10, seed)}
    if lemma == "columns":
        found["one column"] = draws.random_columns(0.0, t, n // 10, seed, columns=1)
    return found


@study.finding
def blocks(s: Settings) -> dict[str, Blocks]:
    """Matrices in blocks, and matrices with one block that is not 0."""
    return {"full": draws.block_norms(1000, 0), "alone": draws.block_norms(1000, 1, alone=True)}


OrderTable = dict[str, np.ndarray]  # by quantity, (widths, seeds)


DIVIDED = {"by the root": 0.5, "not": 0.0, "whole": 1.0}  # by which power of the in-degree


@study.compute(
    each=lambda s: list(product(DIVIDED, s.order_widths)), reads=("order_widths", "order_seeds"),
    seconds=lambda s: 3e-8 * s.order_seeds * sum(m**3 for m in s.order_widths),
)  # fmt: skip
def order_of(s: Settings, item: tuple[str, int]) -> list[Orders]:
    """What the lemmas bound, start by start, for products divided as (2.2) has it, and others."""
    divided, width = item
    return [orders(width, seed, DIVIDED[divided]) for seed in range(s.order_seeds)]


@study.finding(order_of)
def order_tables(s: Settings, found: dict[tuple[str, int], list[Orders]]) -> dict[str, OrderTable]:
    """The same by quantity."""
    tables = {}
    for divided in DIVIDED:
        rows = np.array([found[divided, width] for width in s.order_widths])
        tables[divided] = {name: rows[..., k] for k, name in enumerate(Orders._fields)}
    return tables


@study.finding
def weights_seen(s: Settings) -> dict[str, dict[int, int]]:
    """By m, how many weights of the first layer the output depends on at most, counted on edges.

    In-degrees are at most m^2 in "mixed" networks, m in "fully connected" ones; 2^m otherwise.
    """
    first = {"fully connected": lambda m: m, "mixed": lambda m: m**2, "exponential": lambda m: 2**m}
    found: dict[str, dict[int, int]] = {name: {} for name in first}
    for (name, vertices), m in product(first.items(), (4, 8, 12)):
        masks = fully_connected((s.inputs, vertices(m), m, 1)).masks
        reached = np.zeros(masks[-1].shape[1] + 1, bool)
        reached[-1] = True  # the output; from there down, layer by layer
        for mask in masks[::-1]:
            before = mask.shape[1]
            layer = mask[reached[before : before + len(mask)]]
            reached[:before] |= layer.any(axis=0)
        found[name][m] = int(layer.sum())
    return found
