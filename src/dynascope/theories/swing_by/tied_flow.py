"""The symmetric two-layer model f(x) = U U^T x, moved exactly: the flow of U, and descent on U.

U is moved and W = U U^T is read off, never the other way round: W stays positive
semidefinite by construction, while the printed recursion on W leaves that cone and then
runs away. `printed_recursion` keeps that recursion as a witness only.

Rates are per PAPER time (see `entry_flow`): U' = [A (I - W) + (I - W) A] U / 2, half the
true gradient flow. The flow is solved by scipy, on purpose not by the solver of the engine:
a theory that is drawn over a simulation should not share its mistakes. Results are numpy.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from dynascope.core.errors import bad
from dynascope.runtime.compilation_cache import compilation_cache
from dynascope.runtime.progress import Progress
from dynascope.theories.swing_by.entry_flow import jacobian_velocity

_MOST_EVALUATIONS = 10_000_000
_TOLD = 500  # evaluations between two words to whoever listens to progress
_RAN_AWAY = 1e6


@contextlib.contextmanager
def _float64() -> Iterator[None]:
    """Float64 and standard promotion around one call, not process-wide."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), compilation_cache():
        yield


def tied_flow(
    weights: ArrayLike,
    signal: ArrayLike,
    times: ArrayLike,
    rtol: float = 1e-13,
    atol: float | None = None,
) -> np.ndarray:
    """Integrate U to given paper times with an adaptive eighth-order method.

    Args:
        weights: U(0), (..., d, width); leading axes are lanes (seeds, sweeps).
        signal: Signal strengths a, (d,), or second-moment matrices A, (..., d, d), whose
            leading axes broadcast against the lanes (for rotated data, or one A per lane).
        times: Paper times, increasing and not negative, (time,).
        rtol: Relative tolerance of one step, at least 3e-14; between steps scipy interpolates,
            which at 1e-13 leaves W good to about 1e-10.
        atol: Absolute tolerance; None takes 1e-3 rtol times the largest entry of each U(0),
            so that initialisations of 1e-40 are followed as faithfully as those of 1e-1.

    Returns:
        U, (..., time, d, width). All lanes share their steps; times that could not be reached
        in ten million evaluations are NaN.

    Example:
        >>> u = tied_flow([[0.1]], [1.0], [0.0, 2.0])  # one entry: logistic growth of u^2
        >>> bool(abs(u[1, 0, 0] ** 2 - 1 / (1 + 99 * np.exp(-4.0))) < 1e-9)
        True
    """
    u, a, t = _checked(weights, signal, times)
    lanes = np.broadcast_shapes(u.shape[:-2], a.shape[:-2] if a.ndim > 1 else ())
    shape = u.shape[-2:]
    u = np.broadcast_to(u, lanes + shape).reshape(-1, *shape)
    if a.ndim > 1:
        a = np.broadcast_to(a, (*lanes, shape[0], shape[0])).reshape(-1, shape[0], shape[0])
    if t[-1] == 0 or not len(u):
        path = np.broadcast_to(u[:, None], (len(u), len(t), *shape)).copy()
    else:
        scale = np.abs(u).max(axis=(1, 2), initial=0.0)
        small = 1e-3 * rtol * scale if atol is None else np.full(len(u), atol)
        small = np.where(small > 0, small, np.finfo(float).tiny)  # U(0) = 0 stays where it is
        path = _solve(u, a, t, rtol, small)
    path = np.where(np.isfinite(path), path, np.nan)
    return path.reshape(*lanes, len(t), *shape)


def _checked(
    weights: ArrayLike, signal: ArrayLike, times: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    u, a, t = (np.asarray(x, float) for x in (weights, signal, times))
    if u.ndim < 2 or not np.isfinite(u).all():
        raise bad("weights", np.shape(u), "finite matrices of shape (..., d, width)")
    if a.shape[-1:] != (u.shape[-2],) or (a.ndim > 1 and a.shape[-2] != a.shape[-1]):
        raise bad("signal", a.shape, f"({u.shape[-2]},) or (..., {u.shape[-2]}, {u.shape[-2]})")
    if not np.isfinite(a).all():
        raise bad("signal", a.tolist(), "finite numbers")
    if t.ndim != 1 or not t.size or not np.isfinite(t).all() or (np.diff(t) < 0).any() or t[0] < 0:
        raise bad("times", t.tolist(), "increasing times, none negative")
    return u, a, t


class _TooLong(Exception):
    """More evaluations than anybody waits for."""


def _solve(
    u: np.ndarray, a: np.ndarray, times: np.ndarray, rtol: float, atol: np.ndarray
) -> np.ndarray:
    """All lanes (lane, d, width) as one system of scipy's; (lane, time, d, width)."""
    spent, bar = itertools.count(), Progress("theory", float(times[-1]), enabled=False)

    def slope(now: float, y: np.ndarray) -> np.ndarray:
        number = next(spent)
        if number >= _MOST_EVALUATIONS:
            raise _TooLong
        if number % _TOLD == 0:
            bar.update(now)
        return weights_velocity(y.reshape(u.shape), a).ravel()

    # A first step in units of the fastest rate: rescaled systems take exactly rescaled steps.
    fastest = np.abs(a).max() if a.ndim == 1 else np.abs(a).sum(axis=-1).max()
    first = min(0.01 / fastest, times[-1]) if fastest > 0 else times[-1]
    # Scipy takes the mean of squared errors over all lanes, where one may hold all of it.
    share = len(u) ** -0.5
    small = share * np.broadcast_to(atol[:, None, None], u.shape).ravel()
    path = np.full((len(times), *u.shape), np.nan)
    with np.errstate(all="ignore"), contextlib.suppress(_TooLong):
        solution = solve_ivp(
            slope, (0.0, times[-1]), u.ravel(), "DOP853", times, first_step=first,
            rtol=max(share * rtol, 3e-14), atol=small,
        )  # fmt: skip
        path[: solution.y.shape[1]] = solution.y.T.reshape(-1, *u.shape)
    return np.moveaxis(path, 0, 1)


def weights_velocity(weights: Any, signal: Any) -> Any:
    """U' in paper time; only thin products, so a narrow U is cheap. Numpy or jax.

    Args:
        weights: U, (..., d, width).
        signal: a, (d,), or A, (..., d, d).

    Returns:
        [A (I - W) + (I - W) A] U / 2 = A U - [A U (U^T U) + U (U^T A U)] / 2.
    """
    pulled = signal[:, None] * weights if signal.ndim == 1 else signal @ weights
    turned = weights.swapaxes(-1, -2)
    return pulled - (pulled @ (turned @ weights) + weights @ (turned @ pulled)) / 2


def tied_descent(
    weights: ArrayLike, signal: ArrayLike, learning_rate: float, steps: int
) -> np.ndarray:
    """Gradient descent on U, step by step, with `learning_rate` in units of paper time.

    That is gradient descent on the loss (4.1) at half the learning rate, the discrete rule
    that the lemmas of appendix D speak about. After each step U is turned on the right until
    it is triangular from the strongest direction down. This leaves W as it is, but computes a
    minor entry as one product, not as the difference of two large ones: without it W is only
    good to 1e-16 times the product of the two row norms, and starts of 1e-82 show
    off-diagonal entries that are round-off alone.

    Args:
        weights: U(0), (..., d, width).
        signal: Signal strengths a, (d,).
        learning_rate: eta.
        steps: How many.

    Returns:
        W, (..., steps + 1, d, d), from W(0) on.
    """
    u, a, _ = _checked(weights, signal, [0.0])
    order = np.argsort(-a, kind="stable")
    with _float64():
        path = np.asarray(_descend(u[..., order, :], a[order], learning_rate, steps))
    back = np.argsort(order)
    return np.moveaxis(path, 0, -3)[..., back[:, None], back]


@partial(jax.jit, static_argnames="steps")
def _descend(u: jax.Array, a: jax.Array, learning_rate: float, steps: int) -> jax.Array:
    def triangular(y: jax.Array) -> jax.Array:
        return jnp.linalg.qr(y.mT, mode="r").mT

    def step(y: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        return triangular(y + learning_rate * weights_velocity(y, a)), y @ y.mT

    return jax.lax.scan(step, triangular(u), length=steps + 1)[1]


def read_jacobian(weights: np.ndarray) -> np.ndarray:
    """W = U U^T for every U, (..., d, d)."""
    return weights @ np.swapaxes(weights, -1, -2)


class PrintedPath(NamedTuple):
    """W of the printed recursion, (..., steps + 1, d, d), and the step it ran away at, or -1."""

    jacobian: np.ndarray
    ran_away: np.ndarray


def printed_recursion(
    jacobian: ArrayLike, signal: ArrayLike, learning_rate: float, steps: int
) -> PrintedPath:
    """Iterate (D.2) on W itself, as printed; a witness that this diverges, not a method.

    The rule drops the term of second order in the learning rate that keeps W positive
    semidefinite. Once an eigenvalue is negative nothing brings it back.

    Args:
        jacobian: W(0), (..., d, d).
        signal: Signal strengths a, (d,).
        learning_rate: eta, in paper time.
        steps: How many.

    Returns:
        The path, frozen where an entry is not finite or above 1e6, and the step of that.
    """
    now, a = np.asarray(jacobian, float).copy(), np.asarray(signal, float)
    path = [now]
    ran_away = np.full(now.shape[:-2], -1)
    for step in range(1, steps + 1):
        with np.errstate(all="ignore"):
            after = now + learning_rate * jacobian_velocity(now, a)
        alive = (ran_away < 0)[..., None, None]
        now = np.where(alive, after, now)
        out = ~(np.abs(now) <= _RAN_AWAY).all(axis=(-1, -2))
        ran_away = np.where((ran_away < 0) & out, step, ran_away)
        path.append(now)
    return PrintedPath(np.moveaxis(np.stack(path), 0, -3), ran_away)
