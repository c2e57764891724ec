"""Traces of which the answer is known: planted ones, valleys in closed form, another edge."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from dynascope.core.run import Run
from dynascope.probes.edge import Edge, line_jet
from dynascope.studies.nodes import Node
from dynascope.studies.oscillation.mnist_edge.runs import (
    RATES,
    SETTLED,
    SMALL,
    Settings,
    Trace,
    networks,
    study,
    trace,
    traces,
)

Traces = dict[str, Trace]
PAST = ((10, 14), (21, 60))  # epochs in which Fig. 3.6 has three layers past the edge


def past_as_printed(steps: np.ndarray) -> np.ndarray:
    """Whether Fig. 3.6 has three layers past the edge, by step.

    Example:
        >>> past_as_printed(np.array([5, 12, 17, 30])).tolist()
        [False, True, False, True]
    """
    return np.any([(first <= steps) & (steps <= last) for first, last in PAST], axis=0)


def _planted(
    run: Run, heights: np.ndarray | float, alignment: float, seed: int, dead: float = 1e-3
) -> Trace:
    """A run of networks whose sharpness is so many times 2 / rate, to a percent.

    Every second one is dead, with a sharpness that would spoil the others' if it counted.
    """
    scatter = 1 + 0.01 * np.random.default_rng(seed).uniform(-1, 1, size=(run.sizes["seed"], 1))
    rate = run.experiment.dynamics.learning_rate.rates[-1]
    sharpness = scatter * np.broadcast_to(2 / rate * heights, run.sizes["step"])
    loss = np.full_like(sharpness, 0.01)
    sharpness[1::2], loss[1::2] = dead, 0.25
    parts = [sharpness, *(np.full_like(sharpness, v) for v in (alignment, 0.5, 2.0, 1.0, 1.0))]
    return trace(run.planted(loss=loss, edge_of_stability=np.stack(parts, axis=-1)))


@study.finding(networks["blobs"])
def planted(s: Settings, runs: dict[str, Run]) -> Traces:
    """All cases as the document has them, in every seed within a percent.

    Three layers are past the edge in the epochs of Fig. 3.6, at 1.05 times 2 / rate; the lowered
    rate comes to its own 2 / rate, and the small rate is twice as sharp as the large one.
    """
    found = {}
    for k, (name, run) in enumerate(runs.items()):
        past = np.isin(run["step"].values, (*range(10, 15), *range(21, 61)))
        three = np.where(past, 1.05, 0.8)
        heights: dict[str, np.ndarray | float] = {
            "3 layers": three,
            "small rate": 2 * SMALL / RATES[3],
            "lowered rate": 1.0,
        }
        found[name] = _planted(run, heights.get(name, 1.05), 0.97, k)
    return found


@study.finding(networks["blobs"])
def planted_flat(s: Settings, runs: dict[str, Run]) -> Traces:
    """A lowered rate that stays half as sharp as the small one."""
    heights = {"lowered rate": 0.2, "small rate": 0.4}
    return {name: _planted(runs[name], height, 0.01, 7) for name, height in heights.items()}


@study.finding(networks["blobs"])
def planted_alike(s: Settings, runs: dict[str, Run]) -> dict[str, Traces]:
    """Two rates whose networks are equally sharp, but for dead ones that are far from it."""
    pairs = {"flatter": ("small rate", "3 layers"), "kept-flat": ("small rate", "lowered rate")}
    heights = {name: 4 * run.experiment.dynamics.learning_rate.rates[-1]
               for name, run in runs.items()}  # fmt: skip
    return {
        claim: {sharper: _planted(runs[sharper], heights[sharper], 0.01, 8, dead=80.0),
                flatter: _planted(runs[flatter], heights[flatter], 0.01, 9, dead=8.0)}
        for claim, (sharper, flatter) in pairs.items()
    }  # fmt: skip


@study.compute(each=lambda s: ("stiff", "soft"), reads=("seeds",), seconds=lambda s: 5)
def valleys(s: Settings, kind: str) -> Traces:
    """Valleys f2 x^2 / 2 + f3 x^3 / 6 + f4 x^4 / 24 with random coefficients, through `line_jet`.

    A soft one has 3 f3^2 - f2 f4 > 0 and holds an orbit; a stiff one has it below 0. The step
    begins at 0.3, at a rate past the edge.
    """
    random, jets = np.random.default_rng(4), []
    for _ in range(max(s.seeds, 6)):
        f2, f4 = random.uniform(1.5, 2.5), random.uniform(6.0, 12.0)
        f3 = np.sqrt(f2 * f4 / 3) * random.uniform(*((0.1, 0.5) if kind == "stiff" else (1.3, 1.6)))
        data = tuple(map(jnp.asarray, (f2, f3, f4)))
        jets.append(line_jet(_valley, jnp.array([0.3]), 2.1 / f2, data=data))
    parts = [np.array([[jet[k]] for jet in jets]) for k in range(4)]
    high, aligned = np.full_like(parts[0], 2.1), np.ones_like(parts[0])
    return {"valley": Trace(2.0, np.array([SETTLED]), 0 * high, Edge(high, aligned, *parts))}


def _valley(x: Any, second: Any, third: Any, fourth: Any) -> Any:
    return second * x[0] ** 2 / 2 + third * x[0] ** 3 / 6 + fourth * x[0] ** 4 / 24


def _counted(data: str) -> Node:
    """The small rate's descents as if their edge were so low that every step is past it."""
    return study.finding(traces[data], name=f"every step past the edge on {data}")(
        lambda s, found: {"small rate": found["small rate"]._replace(rate=1e3)}
    )


counted = {data: _counted(data) for data in ("blobs", "mnist")}
