"""Hessian norm, distance to the linear model and kernel drift over width, by architecture.

zhu2024 Theorems 2.3.6 and 2.3.8, Corollaries 2.3.7 and A.3.1, Figs. 2.2 and 2.3, Theorems A.4.1
and A.5.1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from dynascope.core.sources import zhu2024
from dynascope.core.spec import Spec
from dynascope.instruments.network.measuring import Training
from dynascope.instruments.network.padded import pad
from dynascope.models.wiring_families import fully_connected
from dynascope.studies.linearity.architectures import ARCHITECTURES
from dynascope.studies.linearity.linearity_width import family, images
from dynascope.studies.linearity.linearity_width.family import (
    GRID,
    HIDDEN,
    RADII,
    Curve,
    Effort,
    Family,
    Seen,
)
from dynascope.studies.linearity.linearity_width.several_outputs import hessian_norms
from dynascope.studies.nodes import Node
from dynascope.studies.study import Study

CURVES = 2  # seeds of the gap's curve
AROUND = ("fully connected", "narrow layer")  # looked at away from the start too
TRAINED = ("dropped", "two layers", "narrow layer", "mixed", "convolutional", HIDDEN)  # always


@dataclass(frozen=True)
class Settings(Spec, tag="studies.linearity-width"):
    """Widths and seeds by architecture, and how long they are trained."""

    widths: tuple[int, ...] = (16, 40, 100, 256)
    mixed_widths: tuple[int, ...] = (8, 16, 30)  # their squares are in-degrees too
    two_layer_widths: tuple[int, ...] = (64, 256, 1024, 4096)  # () for those of the others
    channels: tuple[int, ...] = (16, 48, 128)  # of the convolutional network
    seeds: int = 16
    noisy_seeds: int = 48  # of the network with tanh on the output
    inputs: int = 10
    many_inputs: int = 300  # of the network whose inputs hide its width
    steps: int = 300
    image_widths: tuple[int, ...] = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # of Fig. 2.2
    image_seeds: int = 5
    image_steps: int = 100
    output_widths: tuple[int, ...] = (16, 64, 256, 1024)  # of the networks with several outputs
    output_seeds: int = 100
    train_all: bool = True  # or only the networks that a claim about training needs
    padding: tuple[int, ...] = ()  # sizes that every network is padded to; () for none


study = Study(
    "linearity-width",
    title="Networks become linear as they widen, unless a layer stays narrow",
    sources=(zhu2024("Thm. 2.3.6, 2.3.8, Cor. 2.3.7, A.3.1, Figs. 2.2, 2.3"),),
    settings=Settings,
    scales={
        "smoke": {
            "widths": (8, 24, 64), "mixed_widths": (), "channels": (), "seeds": 6, "steps": 120,
            "two_layer_widths": (), "noisy_seeds": 6,
            "padding": (80, 64, 64, 64, 1), "many_inputs": 80, "train_all": False,
            "image_widths": (), "output_widths": (16, 64, 256), "output_seeds": 30,
        },
        "laptop": {},
        "paper": {
            "widths": (16, 32, 64, 128, 256, 512, 1024, 2048, 4096), "seeds": 5,
            "mixed_widths": (8, 16, 32, 64), "channels": (16, 32, 64, 128, 256, 512),
            "many_inputs": 3072, "image_widths": tuple(2**k for k in range(1, 13)),
        },
    },
    notes=lambda s: (
        "All networks have tanh, as the theorem needs two derivatives; inputs are standard "
        f"normal, {s.inputs} of them; products are over sqrt(in-degree after dropping).",
        "Slopes are those of the geometric mean over seeds against the smallest in-degree "
        "from the second layer on; where a few narrow vertices make that 1, against m.",
        "Fig. 2.2 trains on 10 pictures of 3072 numbers and does not give rate, steps, scaling or "
        "activation. Here every channel has mean 0 and deviation 1, labels are +1 and -1, and "
        "descent has half the critical rate. A DenseNet concatenates its inputs, which makes "
        "every in-degree 1536 or so, whatever m is: the kernel then hardly moves, and moves more "
        "the larger m is. The same network is run with inputs that feed the first layer alone.",
        "A rate of 1/sqrt(m) is that of the Hessian norm, which bounds the change of the kernel; "
        "the change itself falls like 1/m in the end.",
        "With tanh on the output the labels +1 and -1 are reached only in the limit, where the "
        "kernel vanishes: its relative change is then about 1 at every width.",
        "A pre-activation of the second layer is a two-layer network by itself.",
        "The printed dropping rule keeps an edge with the probability of dropping it; at 1/2 "
        "both are the same.",
    ),
)  # fmt: skip

# Settings that decide about one architecture alone.
OWN = {"tanh output": "noisy_seeds", "two layers": "two_layer_widths", HIDDEN: "many_inputs",
       "mixed": "mixed_widths", "convolutional": "channels"}  # fmt: skip


def effort(s: Settings, name: str) -> Effort:
    """What these settings measure of an architecture; of one that has no widths, nothing."""
    steps = s.steps if name in TRAINED or s.train_all else 0
    places = len(RADII) if name in AROUND else 0 if name == HIDDEN else 1
    found = Effort(s.widths, s.seeds, s.inputs, s.padding, steps, places)
    own = getattr(s, OWN.get(name, "seeds"))
    if name in ("mixed", "convolutional") or (name == "two layers" and own):
        return found._replace(widths=own, padding=())
    if name == "tanh output":
        # Its norm follows the random output, so that seeds differ more than widths do.
        return found._replace(seeds=own)
    return found._replace(size=own) if name == HIDDEN else found


# The first of each shape: the others find it compiled.
FIRST = ("fully connected", "two layers", "narrow layer", "mixed", "convolutional", HIDDEN)


def _seconds(name: str, effort: Effort) -> float:
    """Measured: 8 to compile a shape, then 3e-8 a weight and step, a place counting 100 steps."""
    power = {"two layers": 1, "mixed": 3}.get(name, 2)
    weights = sum(max((m, *effort.padding[1:])) ** power for m in effort.widths)
    each = 0.02 * len(effort.widths) + 3e-8 * weights * (effort.steps + 100 * effort.places)
    shapes = name == "fully connected" if effort.padding else (name in FIRST) * len(effort.widths)
    return effort.seeds * each + 8.0 * shapes


# Why an architecture is left out without widths.
LEFT_OUT = {
    "mixed": "in-degrees that are squares need widths beyond this scale",
    "convolutional": "convolutions are compiled by themselves, at larger scales",
}


def _declare(name: str) -> Node:
    """The computation of one architecture, start by start, and the family that it gives."""
    reads = ("widths", "seeds", "inputs", "steps", "train_all", "padding", OWN.get(name, "seeds"))

    @study.compute(
        name=name, reads=reads, seconds=lambda s: _seconds(name, effort(s, name)),
        each=lambda s: list(product(effort(s, name).widths, range(effort(s, name).seeds))),
        only_if=lambda s: None if effort(s, name).widths else LEFT_OUT[name],
    )  # fmt: skip
    def one(s: Settings, item: tuple[int, int]) -> Seen:
        return family.measure(name, effort(s, name), *item)

    return study.finding(one, name=f"{name}, by width")(lambda s, seen: family.collect(seen))


families = {name: _declare(name) for name in (*ARCHITECTURES, "convolutional", HIDDEN)}


@study.compute(
    each=lambda s: list(product(s.widths, range(CURVES))), reads=("widths", "inputs", "padding"),
    seconds=lambda s: CURVES * sum(0.02 + 3e-5 * max((m, *s.padding[1:])) ** 2 for m in s.widths),
)  # fmt: skip
def curves(s: Settings, item: tuple[int, int]) -> Curve:
    """The distance to the linear model of a fully connected network, and its bound, Cor. 2.3.7."""
    m, seed = item
    network = pad(fully_connected((s.inputs, m, m, 1)), s.padding or None)
    return family.gap_curve(network, s.inputs, s.padding, seed)


@study.compute(each=lambda s: tuple(range(8)), reads=("inputs", "padding"),
               seconds=lambda s: 2.0)  # fmt: skip
def steep_curves(s: Settings, seed: int) -> Curve:
    """The same of a function whose Hessian norm grows like R^10."""
    network = family.TwelfthPowers(np.full(5, 0.01))
    return family.gap_curve(network, s.inputs, s.padding, seed)


@study.finding(curves)
def other_curves(s: Settings, curves: dict[tuple[int, int], Curve]) -> dict[str, dict]:
    """Gaps of the narrowest networks under the bound of the widest; and 1 - cos under R^2 / 2."""
    grid, narrow, wide = np.array(GRID), s.widths[0], s.widths[-1]
    mixed = {(narrow, k): Curve(curves[narrow, k].gaps, curves[wide, k].bounds)
             for k in range(CURVES)}  # fmt: skip
    planted = Curve(1 - np.cos(grid), grid**2 / 2)
    return {"mixed": mixed, "planted": {(narrow, k): planted for k in range(8)}}


def _planted(norms: float, gaps: float, drift: float) -> Family:
    """Networks whose numbers are powers of m, to one percent from seed to seed.

    The change of the kernel is read from two kernels, as that of a run is.
    """
    seen = {}
    for m, seed in product((4, 16, 64, 256), range(8)):
        near = 1 + 0.01 * (-1) ** seed
        first, second = (np.full(len(RADII), near * float(m) ** p) for p in (norms, gaps))
        kernels = np.multiply.outer([1.0, 1 + near * m**drift], np.eye(2))
        change = Training(kernels, np.ones(2), np.ones(2), np.ones(2)).drift[-1]
        seen[m, seed] = Seen(m, first, second, float(change), 0.0, True)
    return family.collect(seen)


@study.finding
def planted(s: Settings) -> dict[str, Family]:
    """Powers of m that are known: -1/2, -1 and 0; and norms that are 0."""
    powers = {
        "-1/2": (-0.5,) * 3,
        "-1": (-1.0,) * 3,
        "0": (0.0,) * 3,
        "linear": (-np.inf, 0.0, 0.0),
    }
    return {name: _planted(*own) for name, own in powers.items()}


def _on_pictures(reading: str) -> Node:
    """The network of Fig. 2.2 on ten pictures, run by run, and the family that it gives."""

    @study.compute(
        name=f"pictures, {reading}", data=images.DATA,
        reads=("image_widths", "image_seeds", "image_steps"),
        each=lambda s: list(product(s.image_widths, range(s.image_seeds))),
        seconds=lambda s: sum(4 + s.image_seeds * s.image_steps * 1.5e-5 * m
                              for m in s.image_widths),
        only_if=lambda s: None if s.image_widths else
        "a shape for every width takes minutes to compile: use --scale laptop",
    )  # fmt: skip
    def one(s: Settings, item: tuple[int, int]) -> Seen:
        return images.drift_on_pictures(*item, s.image_steps, reading == images.READINGS[0])

    return study.finding(one, name=f"pictures, {reading}, by m")(
        lambda s, seen: family.collect(seen)
    )


on_pictures = {reading: _on_pictures(reading) for reading in images.READINGS}
OUTPUTS = {"one": 1, "three": 3, "as many as m": None}


@study.compute(
    each=lambda s: tuple(OUTPUTS), reads=("output_widths", "output_seeds"),
    seconds=lambda s: 1e-6 * s.output_seeds * max(s.output_widths) ** 2,
)  # fmt: skip
def several_outputs(s: Settings, outputs: str) -> dict[str, np.ndarray]:
    """(widths, seeds) norms of the Hessian of all outputs together, and of the largest alone."""
    starts = [[hessian_norms(m, OUTPUTS[outputs] or m, seed) for seed in range(s.output_seeds)]
              for m in s.output_widths]  # fmt: skip
    tensor, largest = np.moveaxis(np.array(starts), -1, 0)
    return {"tensor": tensor, "largest": largest}


@study.finding
def output_table(s: Settings) -> dict[str, np.ndarray]:
    """Planted norms that fall like 1/sqrt(width), of which the whole is twice the largest."""
    falling = np.array(s.output_widths, float)[:, None] ** -0.5 * np.ones(s.output_seeds)
    return {"tensor": 2 * falling, "largest": falling}


@study.finding(curves, steep_curves)
def by_distance(
    s: Settings, curves: dict[tuple[int, int], Curve], steep: dict[int, Curve]
) -> dict[str, np.ndarray]:
    """(distances, starts) largest Hessian norm up to the distances 1 to 4, as the bounds have it.

    Planted: norms that grow like the distance.
    """
    grid = np.array(GRID)
    far = grid >= 1

    def norms(found: Iterable[Curve]) -> np.ndarray:
        return np.array([2 * c.bounds[far] / grid[far] ** 2 for c in found]).T

    return {"networks": norms(curves.values()), "twelfth powers": norms(steep.values()),
            "R": grid[far, None] * np.ones(8)}  # fmt: skip
