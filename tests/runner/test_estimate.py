"""The plan of a run is what the run then does; its cost follows the work."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pytest

from dynascope import dynamics, models, tasks
from dynascope.runner import assemble, run_experiment, work
from dynascope.runner.estimate import PROGRAM, RULE, estimate
from dynascope.runner.work import Work, count, trace
from dynascope.store import Store

SMALL = {
    "over": {"model.init_scale": [0.1, 0.2], "model.width": [1, 2]},
    "steps": 30,
    "seeds": 3,
    "probes": ("Loss", "TestLoss", "OutputAt", "InputJacobian"),
}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_lanes_looks_and_bytes_are_those_of_the_run(store):
    experiment = assemble(changes={"record.points": 4}, **SMALL)
    (found,) = estimate({"it": experiment}, store)
    run = run_experiment(experiment, progress=False)
    measured = [v for v in run.data_vars.values() if "step" in v.dims]
    assert found.bytes == sum(v.nbytes for v in measured)
    assert found.rows == run.sizes["step"] and found.lanes == 2 * 2 * 3
    assert (found.label, found.programs, found.steps, found.time) == ("it", 2, 30, None)
    assert found.basis == RULE


def test_what_is_stored_costs_nothing_unless_it_is_computed_again(store):
    experiment = assemble(changes={"record.points": 4}, **{**SMALL, "over": {}})
    run_experiment(experiment, store=store, progress=False)
    (entry,) = store.runs()
    (stored,), (again,) = (estimate({"": experiment}, store, again) for again in (False, True))
    assert (stored.seconds, stored.basis) == (0.0, f"stored as {entry.id}")
    assert (again.seconds, again.basis) == (entry.seconds, f"record {entry.id}")


def test_a_program_is_compiled_once_and_time_grows_with_the_steps(store):
    short = assemble(steps=10_000)
    plans = estimate({"a": short, "b": short, "c": replace(short, steps=30_000)}, store)
    first, second, longer = (e.seconds for e in plans)
    assert first - second == pytest.approx(PROGRAM)
    assert longer / second == pytest.approx(3, rel=0.1)  # measurements cost the same


def test_the_speed_of_products_is_that_of_the_fastest_of_four(monkeypatch):
    ends = iter((0, 5, 5, 5.25, 6, 6.125, 7, 7.5))  # the first compiles
    monkeypatch.setattr(work, "time", SimpleNamespace(perf_counter=lambda: next(ends)))
    assert work.product_speed.__wrapped__() == 2 * 512**3 / 0.125
    assert list(ends) == []


def test_more_seeds_and_larger_networks_cost_more(store, monkeypatch):
    monkeypatch.setattr(work, "product_speed", lambda: 4e10)  # the same ratios on every machine

    def cost(**rest):
        names, changes = {"model": "MLP"}, {"model.activation": "linear", **rest.pop("changes", {})}
        return estimate({"": assemble(names, changes, **rest)}, store)[0].seconds - PROGRAM

    assert cost(seeds=64) > 1.5 * cost(seeds=16)
    deep = {"model.depth": 4}
    narrow, wide = (cost(changes={**deep, "model.width": n}) for n in (64, 512))
    assert 8 < wide / narrow < 64  # between the number of rows and the number of weights


def counted(function, *arguments) -> dict[int, Work]:
    found: dict[int, Work] = {}
    count(jax.make_jaxpr(function)(*arguments).jaxpr, 0, found)
    return found


def test_a_product_has_two_operations_per_term():
    product = counted(jnp.dot, jnp.ones((3, 5)), jnp.ones((5, 7)))[0]
    assert product == Work(operations=1, products=1, flops=2 * 3 * 5 * 7, elements=0)
    sine = counted(jnp.sin, jnp.ones((3, 5)))[0]
    assert sine == Work(operations=1, products=0, flops=0, elements=15)


def test_work_is_told_apart_by_the_loops_around_it():
    def nested(x):
        inner = lambda _, y: jnp.sin(y)  # noqa: E731
        return jax.lax.fori_loop(0, x.astype(int), lambda _, y: y + jax.lax.fori_loop(
            0, x.astype(int), inner, y), x)  # fmt: skip

    found = counted(nested, jnp.ones(()))
    assert set(found) == {0, 1, 2}


def test_the_gradient_of_a_linear_model_needs_the_products_it_needs():
    """L = 1/2 |(W - I) sqrt(a)|^2 needs no product of matrices at all."""
    from dynascope.engine.experiment import Setup

    setup = Setup(tasks.IdentityMapping(), models.Linear(), dynamics.GradientDescent(0.1), ())
    step, _, row_bytes, mapped = trace(setup, "float32")
    assert step.operations > 0 and row_bytes == 0 and mapped is False
    assert step.flops < 100
    wide = replace(setup, model=models.MLP(2, 64, "linear", bias=False))
    step, _, _, mapped = trace(wide, "float32")
    assert mapped is True
    # W2 W1 forward, and two products of the same size for its gradient.
    assert step.flops == 3 * 2 * 2 * 64 * 2


def test_convolutions_and_loops_of_known_length_are_counted():
    """2 x outputs x window: 4 x 8 x 8 x 5 outputs of 3 x 3 x 2 numbers; ten times in a loop."""
    x, w = jnp.ones((4, 8, 8, 2)), jnp.ones((3, 3, 2, 5))

    def once(x, w):
        form = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=form)

    def ten(x, w):
        return jax.lax.scan(lambda c, _: (c, once(x, w).sum()), 0.0, None, length=10)

    for function, times in ((once, 1), (ten, 10)):
        found: dict[int, Work] = {}
        count(jax.make_jaxpr(function)(x, w).jaxpr, 1, found)
        assert found[1].flops == times * 2 * (4 * 8 * 8 * 5) * (3 * 3 * 2)
