"""Two layers with several outputs: the norm of their Hessian as a tensor, in closed form.

zhu2024 (A.3): sup over unit s of |sum_k s_k H_k|. The second derivatives of sum_k s_k f_k tie
each hidden neuron's own weights alone: a on u_i with itself, b between u_i and its outputs.
"""

from typing import NamedTuple

import numpy as np


class Norms(NamedTuple):
    """Of one network."""

    tensor: float  # of all outputs together
    largest: float  # of a single output


def hessian_norms(width: int, outputs: int, seed: int, inputs: int = 10) -> Norms:
    """tanh, products over sqrt(in-degree), a normal input.

    For one output the norm is max_i |a_i| / 2 + sqrt(a_i^2 / 4 + b_i^2) with
    a_i = v_i tanh''(z_i) |x|^2 / (d sqrt(m)) and b_i = tanh'(z_i) |x| / sqrt(m d). With several,
    v_i is replaced by v_i . s, which is |v_i| for the worst s, and b_i stays, for |s| = 1.
    """
    rng = np.random.default_rng(seed)
    x, u = rng.normal(size=inputs), rng.normal(size=(width, inputs))
    v = rng.normal(size=(outputs, width))
    size, t = np.linalg.norm(x) / inputs**0.5, np.tanh(u @ x / inputs**0.5)
    b = (1 - t**2) * size / width**0.5
    bend = np.abs(2 * t * (1 - t**2)) * size**2 / width**0.5

    def norm(weight: np.ndarray) -> float:
        a = weight * bend
        return float((a / 2 + np.sqrt(a**2 / 4 + b**2)).max())

    return Norms(norm(np.linalg.norm(v, axis=0)), max(norm(np.abs(row)) for row in v))
