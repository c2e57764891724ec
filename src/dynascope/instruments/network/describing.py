"""A network that somebody brings, widened: its Hessian norm and the drift of its kernel."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from dynascope.core.errors import BadInput, bad
from dynascope.instruments.network.measuring import measure_linearity, train
from dynascope.instruments.network.padded import inputs, pad
from dynascope.models.wiring import Wiring
from dynascope.models.wiring_families import widen
from dynascope.probes.slopes import fit_slope, geometric_mean
from dynascope.runtime.progress import Progress

SAMPLES = 4  # training inputs, with labels +1 and -1
STEPS = 100  # of gradient descent at half the critical rate
MOST_EDGES = 2_000_000


def describe_network(net: Wiring, factors: Sequence[int], seeds: int) -> dict[str, Any]:
    """Width, layers, Hessian norm, and kernel drift by width, with tanh between the layers.

    Args:
        net: The network's graph.
        factors: How many copies to make of every hidden vertex.
        seeds: Random starts.

    Returns:
        Plain data: "layers" (names), "width", "hessian_norm" (of the graph as it is, largest
        over outputs), "kernel_drift" and "hessian_norms" by width, "slope" of the drift.
    """
    _check(net, factors, seeds)
    wide = [widen(net, k) for k in factors]
    sizes = [len(layer) for layer in widen(net, max(factors)).layers]
    norms, drifts = (np.zeros((len(factors), seeds)) for _ in range(2))
    first = np.zeros(seeds)
    with Progress("network", seeds * len(wide)) as bar:
        for j in range(seeds):
            first[j] = _norm(net, sizes, j)
            for i, one in enumerate(wide):
                norms[i, j], drifts[i, j] = _norm(one, sizes, j), _drift(one, sizes, j)
                bar.update(j * len(wide) + i + 1)
    widths = [int(one.width) for one in wide]
    several = len(set(widths)) > 1
    return {
        "layers": [list(layer) for layer in net.layers],
        "width": int(net.width),
        "hessian_norm": geometric_mean(first)[0],
        "kernel_drift": _rows(widths, drifts),
        "hessian_norms": _rows(widths, norms),
        "slope": fit_slope(np.array(widths, float), drifts).value if several else None,
        "hessian_slope": fit_slope(np.array(widths, float), norms).value if several else None,
    }


def _check(net: Wiring, factors: Sequence[int], seeds: int) -> None:
    if seeds < 1:
        raise bad("seeds", seeds, "at least 1")
    if not factors or min(factors) < 1 or len(set(factors)) < len(factors):
        raise bad("widen", list(factors), "different whole numbers of at least 1")
    if len(net.layers) < 3:
        raise BadInput(
            "the network has no hidden vertex: every edge leads from an input to an output, so "
            "it is linear in its weights already; add a vertex between them"
        )
    edges = len(net.edges) * max(factors) ** 2
    if edges > MOST_EDGES:
        raise bad(
            "widen", max(factors), f"a network of at most {MOST_EDGES:,} edges, not {edges:,}"
        )


def _output_indices(net: Wiring) -> list[int]:
    """The numbers of the outputs among all vertices."""
    index = {v: i for i, v in enumerate(chain.from_iterable(net.layers))}
    return [index[v] for v in net.outputs]


def _inputs(count: int, rows: int, seed: int, padded: int) -> np.ndarray:
    """Random directions of length sqrt(count): the length of an input would set every norm."""
    x = inputs(count, rows, seed, padded)
    return x * (count**0.5 / np.linalg.norm(x, axis=1, keepdims=True))


def _norm(net: Wiring, sizes: Sequence[int], seed: int) -> float:
    """Largest Hessian norm over the outputs, at one input."""
    x = _inputs(len(net.inputs), 1, seed, sizes[0])[0]
    each = (pad(net, sizes, watched=[index]) for index in _output_indices(net))
    return max(float(measure_linearity(one, seed, x, [0.0], [False]).norms[0]) for one in each)


def _drift(net: Wiring, sizes: Sequence[int], seed: int) -> float:
    """Largest relative change of the kernel of all outputs in training."""
    network = pad(net, sizes, watched=_output_indices(net))
    x = _inputs(len(net.inputs), SAMPLES, seed, sizes[0])
    y = np.resize([1.0, -1.0], (SAMPLES, len(net.outputs)))
    return float(train(network, seed, x, y, STEPS, STEPS // 10).drift[-1])


def _rows(widths: list[int], values: np.ndarray) -> list[dict[str, float]]:
    rows = []
    for width, row in zip(widths, values, strict=True):
        value, low, high = geometric_mean(row) if (row > 0).all() else (float(row.mean()),) * 3
        rows.append({"width": width, "value": value, "low": low, "high": high})
    return rows
