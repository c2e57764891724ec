"""How much polish draws get."""

import jax
import pytest

from dynascope.runtime.quick_compile import FEW, LITTLE, SOME, quick_compile_options


def given(function):
    return quick_compile_options(jax.make_jaxpr(function)(jax.random.key(0)).jaxpr)


def test_few_uniform_draws_get_little_wherever_they_stand():
    nested = jax.jit(lambda key: jax.random.uniform(key, (FEW - 1,)))
    assert given(lambda key: nested(key).sum() + jax.random.uniform(key)) == LITTLE
    assert given(lambda key: nested(key).sum() + jax.random.uniform(key, (2,))) == SOME
    assert given(lambda key: jax.random.key_data(key)) == LITTLE


@pytest.mark.parametrize("nested", [False, True])
def test_normal_draws_and_draws_in_a_loop_get_more(nested):
    looped = lambda key: jax.lax.fori_loop(  # noqa: E731
        0, 3, lambda i, x: x + jax.random.uniform(jax.random.fold_in(key, i)), 0.0
    )
    for function in (looped, lambda key: jax.random.normal(key, (2,))):
        assert given(jax.jit(function) if nested else function) == SOME
