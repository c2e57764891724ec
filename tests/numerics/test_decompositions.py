"""Decompositions: the values of jax's own for any batch, and never a batch for LAPACK."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dynascope
from dynascope.numerics import decompositions as ours

SOURCE = Path(dynascope.__file__).parent
# One call at a time, which nothing else can meet: a theory alone, a Hessian alone, a user's rows.
ALONE = {"theories/swing_by/tied_flow.py", "studies/catapult/catapult_gd/runs.py",
         "watching/jax_point.py"}  # fmt: skip
NAMES = ("eigh", "eigvalsh", "qr", "triangle", "svd", "singular_values")
THEIRS = {
    "eigh": jnp.linalg.eigh, "eigvalsh": jnp.linalg.eigvalsh, "qr": jnp.linalg.qr,
    "triangle": lambda m: jnp.linalg.qr(m, mode="r"),
    "svd": lambda m: jnp.linalg.svd(m, full_matrices=False),
    "singular_values": lambda m: jnp.linalg.svd(m, compute_uv=False),
}  # fmt: skip


def matrices(name: str, shape: tuple[int, ...]) -> jax.Array:
    drawn = jax.random.normal(jax.random.key(3), shape)
    return drawn + drawn.swapaxes(-1, -2) if name.startswith("eig") else drawn


def batches(function, *arguments) -> list[str]:
    """The decompositions of a program whose operand has more than two axes."""

    def walk(jaxpr) -> list[str]:
        found = []
        for equation in jaxpr.eqns:
            if equation.primitive.name in {"eigh", "svd", "qr"}:
                found += [equation.primitive.name] * (equation.invars[0].aval.ndim > 2)
            for inner in equation.params.values():
                found += walk(getattr(inner, "jaxpr", inner)) if hasattr(inner, "eqns") else []
        return found

    return walk(jax.make_jaxpr(function)(*arguments).jaxpr)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axes", [(), (5,), (2, 3)])
def test_values_are_those_of_jax(name, axes):
    some = matrices(name, (*axes, 4, 4))
    found, expected = getattr(ours, name)(some), THEIRS[name](some)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_lanes_are_decomposed_one_after_the_other(name):
    """jax's own are batched, so this can fail."""
    some = matrices(name, (3, 2, 4, 4))
    assert batches(jax.vmap(THEIRS[name]), some)
    assert not batches(jax.vmap(jax.vmap(getattr(ours, name))), some)
    assert not batches(jax.vmap(getattr(ours, name)), some)
    lanes, whole = jax.vmap(getattr(ours, name))(some), getattr(ours, name)(some)
    for a, b in zip(jax.tree.leaves(lanes), jax.tree.leaves(whole), strict=True):
        np.testing.assert_array_equal(a, b)  # the same calls on the same matrices


def test_no_other_file_decomposes_what_lanes_could_batch():
    """A call of jax's own becomes a batch under vmap, and two of these can wait for each other."""
    calls = re.compile(r"jnp\.linalg\.(eigh?|eigvalsh?|qr|svd|svdvals|cholesky|inv|solve|det)\(")
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py") if calls.search(path.read_text("utf-8"))
    }  # fmt: skip
    assert found == {*ALONE, "numerics/decompositions.py"}
