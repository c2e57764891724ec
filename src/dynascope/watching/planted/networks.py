"""Many small networks trained at once, each with the record that a watch would have made.

Full-batch descent on f(x) = s B^T act(A x) with derivatives written out by hand and dense
eigenvalues: neither our solvers nor an automatic derivative enter the records that judge our rules.
Arrays have the seeds first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Recipe:
    """How a family of runs is trained."""

    width: int = 8
    inputs: int = 4
    outputs: int = 1
    samples: int = 12
    steps: int = 600
    every: int = 10
    linear: bool = False
    start: float = 1.0  # scale of both layers
    scale: float = 1.0  # of the output, with the rate divided by its square
    strengths: tuple[float, ...] = ()  # targets are these multiples of single inputs


class Data(NamedTuple):
    """Inputs (seed, sample, input) and targets (seed, sample, output)."""

    x: np.ndarray
    y: np.ndarray


class Weights(NamedTuple):
    """First layer (seed, input, unit) and second (seed, unit, output)."""

    a: np.ndarray
    b: np.ndarray


def runs(
    recipe: Recipe,
    seeds: Sequence[int] | np.ndarray,
    rate_over_critical: np.ndarray | None = None,
    rates: np.ndarray | None = None,
) -> list[xr.Dataset]:
    """One record per seed.

    Args:
        recipe: The family.
        seeds: Whole numbers; a seed's run does not depend on the others.
        rate_over_critical: The rate of each, as a multiple of the critical one at the start.
        rates: Or the rates themselves.

    Returns:
        Records with loss, rates, sharpness, norm and drift of the tangent kernel, and the stable
        ranks of the weights' changes.
    """
    drawn = [_draw(recipe, int(seed)) for seed in seeds]
    start = Weights(*(np.stack([w[i] for w, _ in drawn]) for i in (0, 1)))
    data = Data(*(np.stack([d[i] for _, d in drawn]) for i in (0, 1)))
    shift = _network(recipe, start, data.x) if recipe.scale != 1 else 0.0
    if rates is None:
        rates = np.asarray(rate_over_critical) * 2 / sharpness(recipe, start, data, shift)
    weights, losses = start, []
    rows: dict[str, list[np.ndarray]] = {}
    first = kernel(recipe, start, data)
    with np.errstate(all="ignore"):  # a run that diverges shows it in its numbers
        for step in range(recipe.steps):
            if step % recipe.every == 0:
                for name, values in _measured(recipe, weights, start, data, shift, first).items():
                    rows.setdefault(name, []).append(values)
            loss, slope = _gradient(recipe, weights, data, shift)
            losses.append(loss)
            move = rates[:, None, None]
            weights = Weights(weights.a - move * slope.a, weights.b - move * slope.b)
    table = {name: np.stack(values, 1) for name, values in rows.items()}
    loss = np.stack(losses, 1)
    return [
        record(loss[i], float(rates[i]), recipe.every, {name: v[i] for name, v in table.items()})
        for i in range(len(drawn))
    ]


def _draw(recipe: Recipe, seed: int) -> tuple[Weights, Data]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((recipe.samples, recipe.inputs))
    a = recipe.start * rng.standard_normal((recipe.inputs, recipe.width)) / recipe.inputs**0.5
    b = recipe.start * rng.standard_normal((recipe.width, recipe.outputs)) / recipe.width**0.5
    if recipe.strengths:
        y = x[:, : recipe.outputs] * np.array(recipe.strengths)
    else:
        y = rng.standard_normal((recipe.samples, recipe.outputs))
    return Weights(a, b), Data(x, y)


def _network(recipe: Recipe, w: Weights, x: np.ndarray) -> np.ndarray:
    hidden = x @ w.a
    return recipe.scale * (hidden if recipe.linear else np.tanh(hidden)) @ w.b


def _slopes(recipe: Recipe, w: Weights, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The activations, their first and their second derivatives, (seed, sample, unit)."""
    z = x @ w.a
    if recipe.linear:
        return z, np.ones_like(z), np.zeros_like(z)
    t = np.tanh(z)
    return t, 1 - t**2, -2 * t * (1 - t**2)


def _gradient(recipe: Recipe, w: Weights, data: Data, shift: object) -> tuple[np.ndarray, Weights]:
    """Loss and its gradient, for every seed."""
    h, h1, _ = _slopes(recipe, w, data.x)
    rest = recipe.scale * h @ w.b - shift - data.y
    pull = 2 * recipe.scale * rest / rest[0].size
    back = np.einsum("sno,sko,snk->snk", pull, w.b, h1)
    slope = Weights(np.einsum("sni,snk->sik", data.x, back), np.einsum("snk,sno->sko", h, pull))
    return (rest**2).mean((1, 2)), slope


def _jacobian(recipe: Recipe, w: Weights, data: Data) -> np.ndarray:
    """Of all outputs by all weights, (seed, sample x output, weight): first layer, then second."""
    h, h1, _ = _slopes(recipe, w, data.x)
    seeds, samples, _ = data.x.shape
    by_a = np.einsum("sko,snk,sni->snoik", w.b, h1, data.x)
    by_b = np.einsum("snk,op->snokp", h, np.eye(recipe.outputs))
    rows = samples * recipe.outputs
    parts = (by_a.reshape(seeds, rows, -1), by_b.reshape(seeds, rows, -1))
    return recipe.scale * np.concatenate(parts, 2)


def hessian(recipe: Recipe, w: Weights, data: Data, shift: object = 0.0) -> np.ndarray:
    """Of the mean squared error, (seed, weight, weight)."""
    h, h1, h2 = _slopes(recipe, w, data.x)
    rest = recipe.scale * h @ w.b - shift - data.y
    jacobian = _jacobian(recipe, w, data)
    found = np.einsum("srw,srv->swv", jacobian, jacobian, optimize=True)
    shape = (recipe.inputs, recipe.width)
    first = recipe.inputs * recipe.width
    bend = np.einsum("sno,sko,snk->snk", rest, w.b, h2)
    same = np.einsum("snk,sni,snj->sijk", bend, data.x, data.x)
    mixed = np.einsum("sno,snk,sni->siko", rest, h1, data.x)
    for k in range(recipe.width):
        own = np.ravel_multi_index((np.arange(recipe.inputs), k), shape)
        found[:, own[:, None], own[None, :]] += recipe.scale * same[:, :, :, k]
        for o in range(recipe.outputs):
            other = first + k * recipe.outputs + o
            found[:, own, other] += recipe.scale * mixed[:, :, k, o]
            found[:, other, own] += recipe.scale * mixed[:, :, k, o]
    return 2 * found / rest[0].size


def sharpness(recipe: Recipe, w: Weights, data: Data, shift: object = 0.0) -> np.ndarray:
    """Largest eigenvalue of the Hessian, for every seed; NaN where the run has diverged."""
    return _largest(hessian(recipe, w, data, shift))


def kernel(recipe: Recipe, w: Weights, data: Data) -> np.ndarray:
    """The tangent kernel, (seed, sample x output, sample x output)."""
    jacobian = _jacobian(recipe, w, data)
    return np.einsum("srw,stw->srt", jacobian, jacobian, optimize=True)


def _largest(matrices: np.ndarray) -> np.ndarray:
    fine = np.isfinite(matrices).all((1, 2))
    found = np.full(len(matrices), np.nan)
    found[fine] = np.linalg.eigvalsh(matrices[fine])[:, -1]
    return found


def _measured(
    recipe: Recipe, w: Weights, start: Weights, data: Data, shift: object, first: np.ndarray
) -> dict[str, np.ndarray]:
    now = kernel(recipe, w, data)
    size = np.linalg.norm(first, axis=(1, 2))
    ranks = [_stable_rank(p - q) for p, q in zip(w, start, strict=True)]
    return {
        "sharpness": sharpness(recipe, w, data, shift),
        "tangent_kernel_norm": _largest(now),
        "kernel_drift": np.linalg.norm(now - first, axis=(1, 2)) / size,
        "update_stable_rank": np.stack(ranks, 1),
    }


def _stable_rank(change: np.ndarray) -> np.ndarray:
    largest = _largest(np.einsum("sij,sik->sjk", change, change))
    return np.where(largest > 0, (change**2).sum((1, 2)) / largest, np.nan)


def record(
    loss: np.ndarray, rate: float, every: int, measured: dict[str, np.ndarray]
) -> xr.Dataset:
    """The record of one run: a loss every step, measurements every few steps."""
    import xarray as xr

    steps = len(loss)

    def sparse(values: np.ndarray) -> np.ndarray:
        full = np.full((steps, *values.shape[1:]), np.nan)
        full[::every] = values
        return full

    found = {
        "loss": ("step", loss),
        "learning_rate": ("step", np.full(steps, rate)),
        **{
            name: (("step", *(("weight",) if values.ndim > 1 else ())), sparse(values))
            for name, values in measured.items()
        },
    }
    if "sharpness" in measured:
        found["rate_over_critical"] = ("step", sparse(rate * measured["sharpness"] / 2))
        with np.errstate(divide="ignore"):
            found["critical_learning_rate"] = ("step", sparse(2 / measured["sharpness"]))
    return xr.Dataset(found, coords={"step": np.arange(steps)})
