"""The entry-wise flow of the symmetric two-layer model, (4.3) and (D.2)-(D.6).

With W = U U^T and A = diag(a), the printed flow of the Jacobian is

    dW/dt = W A + A W - (A W^2 + W^2 A + 2 W A W) / 2,

and entry by entry it is growth - suppression - noise. Differentiating the loss gives
exactly twice this right-hand side: the printed derivation drops a factor 2, so paper time
runs twice as fast as true gradient-flow time. Every rate here is per unit of PAPER time;
`convert_time` changes the clock.

`flow_terms` and `jacobian_velocity` take numpy or jax arrays with any leading axes and
return the same kind. Use them on a path of U; never iterate W itself (see `tied_flow`).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from dynascope.core.errors import bad, unknown

Clock = Literal["paper", "true", "step"]
Reduction = Literal["eq2.1", "mean"]


class FlowTerms(NamedTuple):
    """Growth, suppression and noise of every entry, each (..., d, d), per paper time."""

    growth: Any
    suppression: Any
    noise: Any


def flow_terms(jacobian: Any, signal: Any) -> FlowTerms:
    """Split the flow of every Jacobian entry into growth, suppression and noise.

    Args:
        jacobian: W, symmetric, (..., d, d); numpy or jax.
        signal: Signal strengths a, (d,); same kind.

    Returns:
        G_ij = w_ij (a_i + a_j); S_ij = w_ij [w_ii (3 a_i + a_j) + w_jj (3 a_j + a_i)] / 2
        (the second product only off the diagonal); N_ij = sum over k other than i and j of
        w_ki w_kj (a_i + a_j + 2 a_k) / 2. All three include the half.

    Example:
        >>> terms = flow_terms(np.array([[0.5, 0.1], [0.1, 0.2]]), np.array([1.0, 3.0]))
        >>> [round(float(t[0, 1]), 3) for t in terms]
        [0.4, 0.25, 0.0]
    """
    xp = jacobian.__array_namespace__()
    eye = xp.eye(jacobian.shape[-1], dtype=jacobian.dtype)
    pair = signal[:, None] + signal[None, :]
    lean = 3 * signal[:, None] + signal[None, :]  # 3 a_i + a_j
    diagonal = xp.linalg.diagonal(jacobian)
    own = diagonal[..., :, None] * lean
    other = diagonal[..., None, :] * lean.T * (1 - eye)
    # With the diagonal taken out, k = i and k = j drop from the sum exactly.
    rest = jacobian * (1 - eye)
    turned = xp.swapaxes(rest, -1, -2)
    noise = (turned @ rest) * pair / 2 + turned @ (signal[:, None] * rest)
    return FlowTerms(jacobian * pair, jacobian * (own + other) / 2, noise)


def jacobian_velocity(jacobian: Any, signal: Any) -> Any:
    """The right-hand side of (D.2) in matrix form, per paper time, (..., d, d).

    Example:
        >>> jacobian_velocity(np.array([[0.25]]), np.array([2.0])).tolist()  # 2 a w (1 - w)
        [[0.75]]
    """
    left = signal[:, None] * jacobian  # A W
    right = jacobian * signal  # W A
    return right + left - (left @ jacobian + jacobian @ right + 2 * (right @ jacobian)) / 2


def peak_identity(jacobian: np.ndarray, signal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both sides of the identity that holds exactly where |w_12| peaks, for d = 2.

    Args:
        jacobian: W, (..., 2, 2).
        signal: a, (2,).

    Returns:
        w_11 (3 a_1 + a_2) + w_22 (3 a_2 + a_1), and 2 (a_1 + a_2). While the left side is the
        smaller one |w_12| grows; while it is the larger one |w_12| shrinks.
    """
    if np.shape(jacobian)[-2:] != (2, 2) or np.shape(signal) != (2,):
        raise bad("jacobian", np.shape(jacobian), "a path of 2x2 matrices and two strengths")
    first, second = signal
    left = jacobian[..., 0, 0] * (3 * first + second) + jacobian[..., 1, 1] * (3 * second + first)
    return left, np.full_like(left, 2 * (first + second))


def suppression_threshold(strong: ArrayLike, weak: ArrayLike) -> np.ndarray:
    """Value of the strong major entry at which it starts to push its minor entry down.

    Below 1 whenever strong > weak, so suppression always comes; 0.8 means strong = 3 weak.

    Example:
        >>> float(suppression_threshold(3.0, 1.0))
        0.8
    """
    strong, weak = np.asarray(strong, float), np.asarray(weak, float)
    return 2 * (strong + weak) / (3 * strong + weak)


def convert_time(
    value: Any,
    from_: Clock,
    to: Clock,
    learning_rate: float | None = None,
    dimension: int | None = None,
    reduction: Reduction = "eq2.1",
) -> Any:
    """Change the clock of a time: paper time, true gradient-flow time, or training step.

    Args:
        value: Time or times on the clock `from_`.
        from_: "paper" (4.3), "true" (flow of the loss (2.1)), or "step".
        to: The clock wanted.
        learning_rate: Needed where a step is involved.
        dimension: d; needed where a step of a mean-reduced loss is involved.
        reduction: "eq2.1" is half the squared error; "mean" averages the squared error over
            coordinates too and has no half, so its gradient is 2/d times that of (2.1).

    Returns:
        The same time on the other clock.

    Example:
        >>> convert_time(1.0, "true", "paper")
        2.0
        >>> convert_time(4720, "step", "true", learning_rate=0.1, dimension=64, reduction="mean")
        14.75
    """
    step = learning_rate, dimension, reduction
    return value * (_true_time(from_, *step) / _true_time(to, *step))


def _true_time(
    clock: str, learning_rate: float | None, dimension: int | None, reduction: str
) -> float:
    """True time of one unit of the clock."""
    if clock not in get_args(Clock):
        raise unknown("clock", clock, get_args(Clock))
    if clock != "step":
        return 0.5 if clock == "paper" else 1.0
    if learning_rate is None or not learning_rate > 0:
        raise bad("learning_rate", learning_rate, "a positive rate, since a step is involved")
    if reduction not in get_args(Reduction):
        raise unknown("reduction", reduction, get_args(Reduction))
    if reduction == "eq2.1":
        return learning_rate
    if dimension is None or dimension < 1:
        raise bad("dimension", dimension, "the dimension, since the loss is averaged over it")
    return learning_rate * 2 / dimension
