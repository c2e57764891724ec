"""No number that is not finite leaves the engine unmarked, over random specs."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope import dynamics, models, probes, simulate, tasks
from dynascope.dynamics.base import NEVER

TASK = tasks.IdentityMapping((1.0, 2.0), (0.1, 0.1))
RULES = (dynamics.GradientDescent, dynamics.Adam)
MEASURED = (probes.Loss, probes.TestLoss, probes.Sharpness, probes.OutputAt, probes.InputJacobian,
            probes.HessianTrace)  # fmt: skip


def unmarked(run, measured) -> list[str]:
    """Variables with a number that is not finite where the lane is not marked by then."""
    steps, at = run["step"].values, run["diverged_step"].values
    found = []
    for probe in measured:
        values = run[probe.stored_as].transpose("seed", "step", ...).values
        odd = ~np.isfinite(values.reshape(*values.shape[:2], -1)).all(axis=-1)
        marked = (at != NEVER)[:, None] & (steps[None] >= at[:, None])
        if (odd & ~marked).any() and not probe.undefined:
            found.append(probe.stored_as)
        if probe.undefined and (odd & ~marked).all():
            found.append(f"{probe.stored_as} has no number at all")
    return found


EVERY = [
    # Every probe with one rule, every rule with one probe; the others compile for seconds too.
    pytest.param(
        rule, probe, marks=() if rule is RULES[0] or probe is MEASURED[0] else pytest.mark.slow
    )
    for probe in MEASURED
    for rule in RULES
]


@pytest.mark.parametrize(("rule", "probe"), EVERY)
@pytest.mark.parametrize("rate", [1e30])
def test_one_step_beyond_all_numbers_is_marked(rule, probe, rate):
    run = simulate(TASK, models.TiedLinear(2, 0.5), rule(rate), steps=3, probes=[probe()],
                   seeds=2, progress=False)  # fmt: skip
    assert run["diverged"].values.all() and (run["diverged_step"].values <= 1).all()
    assert unmarked(run, [probe()]) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_over_random_specs(seed):
    draw = np.random.default_rng(seed)
    rule = RULES[draw.integers(2)](float(10.0 ** draw.uniform(-3, 32)))
    depth, act = int(draw.integers(1, 4)), ["linear", "relu", "tanh"][draw.integers(3)]
    model = [models.TiedLinear(3, float(10 ** draw.uniform(-2, 15))),
             models.MLP(width=4, depth=depth, activation=act)][draw.integers(2)]  # fmt: skip
    task = TASK if isinstance(model, models.TiedLinear) else tasks.Blobs()
    able = [p() for p in MEASURED if p is probes.Loss or task is TASK or p is probes.Sharpness]
    measured = [p for p in able if draw.random() < 0.6] or [probes.Sharpness()]
    run = simulate(task, model, rule, steps=6, probes=measured, seeds=2, progress=False)
    assert unmarked(run, measured) == [], (rule, model, measured)


@pytest.mark.slow
def test_what_has_no_value_before_the_first_step_says_so():
    measured = [probes.BatchCriticalRate(), probes.BatchLosses()]
    run = simulate(tasks.OneHot(), models.MLP(width=4), dynamics.GradientDescent(0.01), steps=2,
                   probes=measured, progress=False)  # fmt: skip
    assert np.isnan(run["batch_critical_rate"].values[:, 0]).all()
    assert not run["diverged"].values.any() and unmarked(run, measured) == []
