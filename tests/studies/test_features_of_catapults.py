"""Alignment and test loss: measuring functions, the thesis's settings, checks 29, 30, 33, 35."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks
from dynascope.studies import Missing
from dynascope.studies.catapult.agop_multiple.claims import (
    ends_worse,
    gain,
    gain_on_all,
    none_betters,
    none_diverges,
)
from dynascope.studies.catapult.agop_optimizers.runs import OPTIMIZERS, RATES, rule
from dynascope.studies.catapult.feature_tables import correlation, of_row, ordered, planted
from dynascope.studies.study import studies

PRINTED = planted(("2000", "50", "10", "5"), [0.74, 0.71, 0.59, 0.42], [0.81, 0.84, 0.89, 0.95],
                  [0, 0, 250, 4100])  # fmt: skip
TASK = tasks.LowRank("rank-2", 100, 2000, 5000, validation=5000)
MODEL = models.MLP(2, 1024, parameterization="ntk")


def test_orders_are_strict_and_lost_lanes_break_them():
    assert ordered(PRINTED, "alignment", True).value == 1
    assert ordered(PRINTED, "test", False).value == 1 and ordered(PRINTED, "test", True).value == 0
    equal = PRINTED._replace(test=PRINTED.test[[0, 0, 2, 3]])
    assert ordered(equal, "test", False).value == 0
    lost = PRINTED.trained.copy()
    lost[3, :4] = False
    assert ordered(PRINTED._replace(trained=lost), "test", False).value == 0.5
    assert isinstance(of_row(PRINTED, "7", "test"), Missing)


def test_correlations_and_gains():
    assert correlation(PRINTED).value == pytest.approx(1)
    assert correlation(PRINTED._replace(alignment=PRINTED.alignment[::-1])).value == -1
    assert gain(PRINTED, "5", "10", "test", -1.0).value == pytest.approx(0.17, rel=1e-3)
    trained = PRINTED.trained.copy()
    trained[2, :6] = False  # two of eight seeds are left
    spoilt = np.where(trained, PRINTED.test, 9.0)
    found = gain(PRINTED._replace(trained=trained, test=spoilt), "5", "10", "test", -1.0)
    assert found.n == 2 and found.value == pytest.approx(0.17, rel=1e-2), "diverged seeds are out"
    lost = PRINTED._replace(trained=np.zeros_like(PRINTED.trained))
    assert isinstance(gain(lost, "5", "10", "test", -1.0), Missing)
    assert gain_on_all(PRINTED, "5", "test", -1.0).value == pytest.approx(0.17, rel=1e-3)
    assert gain_on_all(PRINTED, "10", "test", -1.0).value == pytest.approx(-0.17, rel=1e-3)
    without_best = PRINTED.trained.copy()
    without_best[3] = False  # batches of 5 diverged: 10 is against 50 now
    found = gain_on_all(PRINTED._replace(trained=without_best), "10", "test", -1.0)
    assert found.value == pytest.approx(0.12, rel=1e-2)
    assert isinstance(gain_on_all(lost, "5", "test", -1.0), Missing)
    assert ends_worse(PRINTED, "test", -1.0).value == 0
    assert ends_worse(PRINTED._replace(test=PRINTED.test[::-1]), "test", -1.0).value == 1
    assert none_betters(PRINTED, "test", -1.0).value == 0, "every row betters the first"
    assert none_betters(PRINTED._replace(test=PRINTED.test[::-1]), "test", -1.0).value == 1
    assert none_diverges(PRINTED).value == 1 and none_diverges(lost).value == 0


def test_settings_are_those_of_the_thesis():
    """CAT-Tab4.1, F4.8, FC.16, FC.17, Tab C.1."""
    batch = studies.get("agop-batch-size")
    for scale in ("laptop", "paper"):
        p = batch.at(scale).rank_2
        assert (p.task, p.model, p.share) == (TASK, MODEL, 0.5)
        assert {2000, 50, 10, 5} <= set(p.batches) and batch.at(scale).seeds == 8
    many = studies.get("agop-multiple").at("laptop")
    assert many.rank_2.task == TASK and many.rank_2.model == MODEL and many.seeds == 8
    assert many.rank_2.rates == (8, 16, 30, 50, 75, 80)
    assert many.rank_2.at == (50, 150, 220, 280, 350, 400)
    assert many.rank_3.rates == (40, 100, 150) and many.rank_3.at == (20, 60, 80)
    assert many.rank_4.rates == (15, 40, 60) and many.rank_4.at == (50, 75, 110)
    assert many.full_rank.rates == (7, 12, 40, 80) and many.full_rank.at == (30, 120, 180, 280)
    assert RATES["rank-2"] == (2, 2, 2, 2, 0.1, 0.01, 0.01) and len(OPTIMIZERS) == 7
    assert rule("SGD+M", 2.0, 100) == dynamics.Momentum(2.0, batch_size=100, order="shuffled")


def test_a_schedule_with_fewer_raises_keeps_its_last_rate():
    raises = studies.get("agop-multiple").at("laptop").rank_3
    assert raises.schedule(0).rates == (2, 2, 2, 2)
    assert raises.schedule(2).rates == (2, 40, 100, 100)


def trained(rate, batch, steps, seeds, looks=100, **options):
    size = {} if batch is None else {"batch_size": batch, "order": "shuffled"}
    kind = dynamics.GradientDescent if batch is None else dynamics.SGD
    counting = options.pop("more", ()) if batch is None else (probes.SupercriticalSteps(),)
    return ds.simulate(
        options.pop("task", TASK), options.pop("model", MODEL), kind(rate, **size), steps=steps,
        seeds=seeds, record=record.Every(looks), progress=False,
        stop=record.Stop("loss", below=1e-3), probes=[
            probes.Loss(), probes.TestSetLoss(), probes.ValidationLoss(), probes.AGOPAlignment(),
            *counting,
        ],
    )  # fmt: skip


def at_best(run, name):
    best = run["validation_loss"].fillna(np.inf).argmin("step")
    return run[name].isel(step=best).values


@pytest.mark.slow
def test_table_4_1_at_full_size():
    """Check 29, three seeds."""
    whole = trained(3.09, None, 12_000, 3, more=(probes.TangentKernelNorm(),))
    found = {2000: whole} | {b: trained(3.09, b, 12_000, 3) for b in (50, 10, 5)}
    align, test = (
        {b: at_best(run, name) for b, run in found.items()}
        for name in ("agop_alignment", "test_set_loss")
    )
    count = {b: at_best(found[b], "supercritical_steps") for b in (50, 10, 5)}
    order = [2000, 50, 10, 5]
    assert (np.diff([align[b].mean() for b in order]) > 0).all()
    assert (np.diff([test[b].mean() for b in order]) < 0).all()
    assert (count[50] == 0).all()
    assert 3.09 * np.nanmax(whole["tangent_kernel_norm"].values) < 2000, "no catapult"
    assert align[2000].mean() == pytest.approx(0.79, abs=0.05)
    assert test[2000].mean() == pytest.approx(0.77, abs=0.09)
    assert align[5].mean() == pytest.approx(0.945, abs=0.03)
    assert test[5].mean() == pytest.approx(0.41, abs=0.07)
    assert align[10].mean() == pytest.approx(0.87, abs=0.05)
    assert test[10].mean() == pytest.approx(0.63, abs=0.09)
    assert (count[5] > 10 * count[10]).all() and (count[10] > 0).all()


@pytest.mark.slow
def test_each_raise_gains_at_full_size():
    """Check 30: the first three raises of Fig. 4.8 a, one seed, 450 steps as in the ledger."""
    raises = studies.get("agop-multiple").at("laptop").rank_2
    runs = [trained(raises.schedule(k), None, 450, 1, looks=10) for k in (0, 1, 2, 3)]
    test, align = ([at_best(r, n)[0] for r in runs] for n in ("test_set_loss", "agop_alignment"))
    assert (np.diff(test) <= -0.05).all() and (np.diff(align) > 0).all()
    assert align[-1] > 0.95


@pytest.mark.slow
def test_a_small_rate_leaves_no_difference_between_batches():
    """Check 33 at the thesis's size, a fortieth of the critical rate: no catapult, within 0.05.

    15,000 steps of 50 samples and as many of 5: both have passed their best validation loss.
    """
    runs = [trained(6.19 / 40, b, 15_000, 1, looks=500) for b in (50, 5)]
    assert all((at_best(r, "supercritical_steps") == 0).all() for r in runs)
    test = [at_best(r, "test_set_loss") for r in runs]
    assert np.abs(test[0] - test[1]).max() <= 0.05


@pytest.mark.slow
def test_a_start_near_zero_aligns():
    """Check 35, second half, at the thesis's size: alignment above 0.97."""
    run = trained(20.0, None, 920, 1, looks=20, model=replace(MODEL, init_scale=0.1))
    assert at_best(run, "agop_alignment")[0] > 0.97
