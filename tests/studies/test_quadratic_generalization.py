"""Quadratic generalization: pieces against witnesses, claims on planted curves, check 36."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from dynascope import models, probes
from dynascope.core.errors import BadInput, UnknownName
from dynascope.core.paths import set_path
from dynascope.core.plain import fingerprint
from dynascope.core.randomness import key_for
from dynascope.core.run import Run
from dynascope.dynamics import GradientDescent
from dynascope.engine.record import Evenly
from dynascope.runner import sweep
from dynascope.runner.evaluation import Evaluation
from dynascope.runner.forecast import without_data
from dynascope.store import Store
from dynascope.studies import studies
from dynascope.studies.catapult.quadratic_generalization import claims as claims_module
from dynascope.studies.catapult.quadratic_generalization import runs, sweeps
from dynascope.studies.catapult.quadratic_generalization.progress import best_until
from dynascope.studies.catapult.quadratic_generalization.settings import (
    ACCURACY,
    PANELS,
    Setting,
    changed,
    classes,
    image,
    wide,
)
from dynascope.studies.catapult.quadratic_generalization.starts import (
    Curve,
    groups,
    layout_rate,
    linear_curve,
    start_of,
    wide_kernel,
)
from dynascope.studies.catapult.quadratic_generalization.sweeps import RATE, Sweep, curve_of
from dynascope.studies.judging import judge
from dynascope.studies.nodes import Missing
from dynascope.tasks import LowRank, TwoClasses

STUDY = "quadratic-generalization"
study = studies.get(STUDY)
SMALL = Setting(classes("digits", 32, test=40), wide(64))
PROBES = (probes.Loss(), probes.TestSetLoss(), probes.TestSetAccuracy())


def _sweep(setting, model, rates, steps=40, seeds=1, looks=41):
    return sweep(
        setting.task, model, GradientDescent(1.0), over={RATE: rates}, steps=steps, probes=PROBES,
        record=Evenly(looks), seeds=seeds, progress=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def begin():
    return [start_of(SMALL, seed) for seed in (0, 1)]


@pytest.mark.slow
def test_the_linear_curve_is_that_of_a_trained_linear_model(begin):
    multiples = (0.5, 0.9, 1.3)
    rates = np.array([[r * b.critical for b in begin] for r in multiples])
    found = [
        _sweep(SMALL, models.Linearized(SMALL.model), rates[:, k], seeds=(k,)) for k in range(2)
    ]
    steps = Evenly(41).recorded_at(40, discrete=True)
    assert steps.tolist() == found[0]["step"].values.tolist()
    engine, parts = (
        curve_of(found),
        map(linear_curve, begin, rates.T, [steps] * 2),
    )
    closed = Curve(*(np.stack(part, axis=1) for part in zip(*parts, strict=True)))
    assert np.allclose(engine.best, closed.best, rtol=2e-4)
    assert np.array_equal(engine.trained, closed.trained)
    assert closed.trained.all(axis=1).tolist() == [True, True, False]
    assert np.allclose(engine.accuracy, closed.accuracy, atol=1 / 40 + 1e-9)


@pytest.mark.slow
def test_the_measured_critical_rate_is_the_probes_own(begin):
    network = SMALL.model.build(64, 1)
    x, y = SMALL.task.samples(key_for(1, "data"))
    found = probes.critical_learning_rate(
        network.apply, network.init(key_for(1, "init")), x, y, "mse", "tangent_kernel"
    )
    assert begin[1].critical == pytest.approx(found.value, rel=1e-3)


def _tanh_kernel(x):
    """E[tanh tanh] + S E[tanh' tanh'] by quadrature, u and v normal with covariance S."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    p, q = np.meshgrid(nodes, nodes)
    weight = np.outer(weights, weights) / (2 * np.pi)
    s = x @ x.T / x.shape[1]

    def entry(i, j):
        cosine = np.clip(s[i, j] / np.sqrt(s[i, i] * s[j, j]), -1, 1)
        u = np.tanh(np.sqrt(s[i, i]) * p)
        v = np.tanh(np.sqrt(s[j, j]) * (cosine * p + np.sqrt(1 - cosine**2) * q))
        return np.sum(weight * (u * v + s[i, j] * (1 - u**2) * (1 - v**2)))

    return np.array([[entry(i, j) for j in range(len(x))] for i in range(len(x))])


@pytest.mark.slow
def test_where_there_is_no_closed_form_a_wide_network_is_drawn():
    x = np.random.default_rng(0).normal(size=(4, 12)).astype("float32")
    drawn = wide_kernel(models.MLP(2, 8, "tanh"), x, 0)
    exact = _tanh_kernel(x.astype(float))
    assert np.linalg.norm(drawn - exact) <= 0.05 * np.linalg.norm(exact)
    assert np.linalg.norm(wide_kernel(wide(8), x, 0) - exact) > 0.1 * np.linalg.norm(exact)
    places = models.CNN(2, 8, window=1, shape=(4, 3), activation="tanh")  # a place sees itself
    parts = np.mean([_tanh_kernel(p.astype(float)) for p in np.split(x, 4, axis=1)], axis=0)
    drawn = wide_kernel(places, x, 0)
    assert np.linalg.norm(drawn - parts) <= 0.05 * np.linalg.norm(parts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting, tolerance",
    [
        (Setting(classes("digits", 64), wide(2048)), 0.06),
        (Setting(LowRank("sign", 20, 100, 10, 0.0), wide(2048)), 0.06),
        (Setting(TwoClasses("digits", train=40, scaling="channel"),
                 models.CNN(2, 512, shape=(8, 8, 1), parameterization="ntk")), 0.15),
        (changed(Setting(classes("digits", 64), wide(2048)), "tanh", study.at("smoke").deep), 0.06),
        (Setting(classes("digits", 64), wide(1024, depth=3)), 0.1),
    ],
    ids=["digits", "gaussian", "convolution", "tanh", "deep"],
)  # fmt: skip
def test_rates_are_laid_out_near_the_measured_critical_rate(setting, tolerance):
    assert groups(setting, (0, 1)) == [(0, 1)]
    measured = np.mean([start_of(setting, seed).critical for seed in (0, 1)])
    assert layout_rate(setting, (0, 1)) == pytest.approx(measured, rel=tolerance)


def test_best_values_are_over_training_and_diverged_runs_are_not_trained():
    dims = (RATE, "seed", "step")
    loss = np.array([[[1.0, 0.5, 0.1]], [[1.0, 9.0, np.nan]], [[1.0, 0.2, 2.0]]])
    test = np.array([[[2.0, 1.0, 1.5]], [[2.0, 3.0, np.nan]], [[2.0, 1.2, 4.0]]])
    share = np.array([[[0.5, 0.9, 0.8]], [[0.5, 0.4, np.nan]], [[0.5, 0.6, 0.1]]])
    run = xr.Dataset({
        "loss": (dims, loss), "test_set_loss": (dims, test), "test_set_accuracy": (dims, share),
    })  # fmt: skip
    curve = curve_of([run])
    assert curve.best.ravel().tolist() == [1.0, 2.0, 1.2]
    assert curve.trained.ravel().tolist() == [True, False, False]
    assert curve.accuracy.ravel().tolist() == [0.9, 0.5, 0.6]
    assert np.isnan(curve.drawn()).ravel().tolist() == [False, True, True]


LOOKS = np.linspace(0, 1, 41)
RATIOS = np.array([0.5, 0.9, 1.3, 1.9])


def _found(network, quadratic, linear, trained=(True,) * 4, panel="digits", speed=RATIOS, seeds=6):
    """A made-up panel at 0.5, 0.9, 1.3 and 1.9 times the critical rate, equal seeds.

    Training losses fall at a speed of each rate; the test loss goes with the training loss from
    twice the floor given to the floor, accuracy from 0.5 to the floor.
    """

    def curve(floor, flags):
        floor = np.asarray(floor, float)[:, None, None]
        loss = np.exp(-40 * speed[:, None, None] * LOOKS) + np.zeros((4, seeds, len(LOOKS)))
        test, accuracy = floor * (1 + loss), 0.5 + (floor - 0.5) * (1 - loss)
        return Curve(np.where(np.array(flags)[:, None, None], loss, 1 / loss), test, accuracy)

    ratio = np.repeat(RATIOS[:, None], seeds, axis=1)
    setting = study.at("smoke").setting(panel)
    curves = {
        "network": curve(network, trained),
        "quadratic": curve(quadratic, (True,) * 4),
        "linear": curve(linear, (True, True, False, False)),
    }
    return {panel: Sweep("these", setting, ratio, np.ones(seeds), curves)}


PLANTED = (1, 1, 0.8, 0.8)


def _verdicts(found):
    (panel,) = found
    fine = _found(PLANTED, PLANTED, (1, 1, 1, 1), panel=panel)
    parted = _found(PLANTED, (1, 1.1, 1, 1), (1, 1, 1, 1), panel=panel)
    same = _found(*[(1, 1, 1, 1)] * 3, panel=runs.CONTROL)
    values = {runs.panels: found, runs.planted_panels: fine, runs.parted_panels: parted,
              runs.known_same: same}  # fmt: skip
    for nodes, given in ((runs.sweeps, found), (runs.planted_sweeps, fine)):
        values |= {node: given.get(name, Missing(runs.LEFT_OUT)) for name, node in nodes.items()}
    judged = (judge(claim, study.at("smoke"), values.__getitem__) for claim in study.claims)
    return {claim.id.split("/")[1]: claim for claim in judged}


LINEAR = (1.0, 1.0, 1.5, 2.0)


def test_a_gain_in_the_range_is_found_and_one_beyond_it_is_not():
    claims = _verdicts(_found((1, 1, 0.9, 1.2), (1, 1, 0.95, 1.2), LINEAR))
    for slug in ("gain-digits", "gain-digits-converged"):
        assert claims[slug].verdict == "holds", slug
        assert claims[slug].measured.value == pytest.approx(0.05, abs=1e-5)
    beyond = _verdicts(_found((1, 1, 0.99, 0.5), (1, 1, 0.9, 1.2), LINEAR))["gain-digits"]
    assert beyond.verdict == "fails" and beyond.measured.value == pytest.approx(0.01, abs=1e-5)


def test_a_rate_that_only_learns_faster_gains_nothing_at_equal_training_loss():
    """The confound: test losses are a function of training losses, and larger rates are ahead."""
    slow = RATIOS / 40
    found = _found((1,) * 4, (1,) * 4, (1,) * 4, speed=slow)
    sweep = found["digits"]
    ends = sweep.curves["network"].best.mean(axis=1)
    assert ends[2] < 0.98 * ends[1], "at equal steps it would be a gain"
    claims = _verdicts(found)
    assert claims["gain-digits"].verdict == "fails"
    assert claims["gain-digits"].measured.value == pytest.approx(0, abs=1e-3)
    assert claims["gain-digits-converged"].verdict == "not_applicable"
    # Where nothing is asked about convergence the control shows the confound.
    assert not sweep.curves["linear"].settled
    whole = Curve(*(part[1:2] for part in sweep.curves["linear"]))
    before = Curve(*(part[:1] for part in sweep.curves["linear"]))
    assert (claims_module._gains(before, whole, "loss", False) > 0.02).all()


def test_the_best_values_until_a_level_are_those_before_it():
    loss = np.array([[[1.0, 4.0, 0.1, 0.01]]])
    test, share = np.array([[[3.0, 1.0, 2.0, 0.5]]]), np.array([[[0.5, 0.6, 0.8, 0.9]]])
    best, accuracy = best_until(Curve(loss, test, share), np.array([0.1]))
    assert best[0, 0] == pytest.approx(1.0) and accuracy[0, 0] == pytest.approx(0.8)
    best, accuracy = best_until(Curve(loss, test, share), np.array([0.1**1.5]))
    assert best[0, 0] == pytest.approx(1.0) and accuracy[0, 0] == pytest.approx(0.85)
    best, _ = best_until(Curve(loss, test, share), np.array([-np.inf]))
    assert best[0, 0] == 0.5


def test_the_rate_is_chosen_on_the_other_seeds():
    gains = np.array([[0.5, 0.0, 0.0], [0.1, 0.1, 0.1]])
    # Without the first seed the second rate is better; without another, the first one.
    assert claims_module._chosen_by_others(gains).tolist() == [0.1, 0.0, 0.0]


def test_accuracies_are_compared_in_points():
    found = _found((0.9, 0.9, 0.93, 0.5), (0.9, 0.9, 0.95, 0.5), (0.9,) * 4)["digits"]
    gain = claims_module.gain(found, claims_module.TRAINED, 1.0, 1.5, "accuracy", True)
    assert gain.value == pytest.approx(0.03, abs=1e-4) and gain.low > 0.01


def test_models_that_differ_below_the_critical_rate_are_seen():
    near = _verdicts(_found((1, 1, 0.9, 1.2), (1.01, 1, 0.9, 1.2), LINEAR))["same-below"]
    assert near.verdict == "holds" and near.measured.value == pytest.approx(0.01, abs=1e-3)
    far = _verdicts(_found((1, 1, 0.9, 1.2), (1.2, 1, 0.9, 1.2), LINEAR))["same-below"]
    assert far.verdict == "fails"


def test_a_linear_model_that_trains_past_the_critical_rate_is_seen():
    found = _found((1, 1, 0.9, 1.2), (1, 1, 1, 1), LINEAR)
    assert _verdicts(found)["linear-diverges"].verdict == "holds"
    curve = found["digits"].curves["network"]
    found["digits"].curves["linear"] = curve
    assert _verdicts(found)["linear-diverges"].verdict == "fails"


def test_seeds_without_a_common_rate_below_critical_are_not_compared():
    found = _found((1, 1, 0.9, 1.2), (1, 1, 0.9, 1.2), LINEAR)
    ratio = found["digits"].ratio * np.where(np.arange(6) == 1, 2.5, 1)  # all of its are above
    claims = _verdicts({"digits": found["digits"]._replace(ratio=ratio)})
    for slug in ("same-below", "gain-digits"):
        assert claims[slug].verdict == "not_applicable", slug
    assert "widen the network" in claims["gain-digits"].note


def test_the_table_has_a_row_for_every_rate():
    late = (True, True, True, False)
    note = _verdicts(_found((1, 1, 0.9, 1.2), (1, 1, 0.9, 1.2), LINEAR, late))["gain-digits"].note
    assert "1.30: diverges / 0.900 / 0.900" in note and "1.90: diverges / 1.200 / diverges" in note


def test_planted_runs_gain_past_the_critical_rate_and_diverge_there_if_linear():
    dims = (RATE, "seed", "step")
    empty = {n: (dims, np.ones((2, 2, 11))) for n in ("loss", "test_set_loss", "test_set_accuracy")}
    run = Run(xr.Dataset(empty, {RATE: [1.0, 3.0], "seed": [7, 8], "step": np.arange(11)}), None)
    critical = {7: 2.0, 8: 2.5}
    seen = curve_of([sweeps.planted_run(run, critical, False)])
    assert seen.trained.all() and (seen.best[1] < 0.9 * seen.best[0]).all()
    linear = curve_of([sweeps.planted_run(run, critical, True)])
    assert linear.trained.tolist() == [[True, True], [False, False]]


def test_the_notes_name_the_panels_of_a_task(outcome):
    (said,) = (note for note in outcome.result.notes if "checksum" in note)
    assert said.startswith("digits, digits-tanh: 64 training")


def test_charts_show_three_models_and_the_critical_rate(outcome):
    charts = {c.name: c for c in outcome.charts}
    shown = ["losses", "other-losses", "accuracies", "other-accuracies"]
    assert list(charts) == ["headline", *shown]
    for chart in map(charts.get, shown):
        (panel,) = chart.panels
        labels = [m.label for m in panel.marks]
        assert labels == ["network", "quadratic model", "linear model", "critical rate"]
        network, _, linear, reference = panel.marks
        assert reference.at == 1.0 and max(linear.x) < 1 < max(network.x)
    assert charts["other-losses"].panels[0].title.endswith("tanh")


def _evaluation(tmp_path, settings):
    return Evaluation(study, settings, Store(tmp_path / "home"), progress=False)


def test_a_set_that_is_not_there_is_named_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    values = _evaluation(tmp_path, study.at("laptop"))
    assert set(values.settings.panels) == set(PANELS)
    absent = {n.name: values.absent(n) for n in study.nodes if n.name in PANELS}
    there = {name for name, why in absent.items() if why is None}
    assert there == {"digits", "sign", "product", "digits-tanh"}
    for name, line in (
        ("mnist", "train-images"), ("fsdd", "clone"), ("svhn", ".mat"), ("fsdd-tanh", "clone"),
    ):  # fmt: skip
        assert "is not there" in absent[name].reason and line in absent[name].reason


def _experiments(tmp_path, settings):
    values = _evaluation(tmp_path, settings)
    (node,) = (n for n in study.nodes if n.name == settings.panels[0])
    return values.experiments(node)


@pytest.mark.slow
def test_batches_train_a_linear_model_of_their_own(tmp_path):
    # The panel has no data set that may be missing, so that it can be had everywhere.
    settings = replace(
        study.at("smoke"), panels=("digits",), steps=16, records=5, seeds=1,
        digits=Setting(classes("digits", 32, test=20), wide(32), 8),
    )  # fmt: skip
    plan = _experiments(tmp_path, settings)
    assert list(plan) == ["network", "quadratic", "linear"]
    assert plan["linear"].dynamics.batch_size == 8
    more = _experiments(tmp_path, set_path(settings, "digits.times", 3))
    assert [e.seeds for e in more.values()] == [(100,), (101,), (102,)] * 3


@pytest.mark.slow
def test_seeds_of_a_narrow_network_have_rates_of_their_own(begin, tmp_path):
    assert groups(SMALL, (0, 1)) == [(0,), (1,)]
    for seed, start in enumerate(begin):
        assert layout_rate(SMALL, (seed,)) == pytest.approx(start.critical, rel=1e-4)
    settings = replace(
        study.at("smoke"),
        panels=("digits",),
        digits=SMALL,
        seeds=2,
        first_seed=0,
        steps=4,
        records=3,
    )
    values = _evaluation(tmp_path, settings)
    seen = values.value(runs.sweeps["digits"])
    assert np.allclose(seen.ratio, np.array([[0.5], [0.9], [1.3], [1.9]]), rtol=1e-4)
    (node,) = (n for n in study.nodes if n.name == "digits")
    own = values.value(node)
    assert [r.experiment.seeds for r in own.values()] == [(0,), (1,)] * 2
    second = own["quadratic, seed 1"]["test_set_loss"].values.min(axis=-1)[:, 0]
    assert np.allclose(seen.curves["quadratic"].best[:, 1], second)
    assert seen.curves["linear"].best.shape == (4, 2)


def test_a_panel_is_its_setting_with_one_thing_changed():
    settings = set_path(study.at("laptop"), "deep.train", 7)
    settings = set_path(settings, "deep.times", 3)
    svhn, tanh, deep = (settings.setting(f"svhn{c}") for c in ("", "-tanh", "-deep"))
    assert tanh.task == svhn.task
    assert tanh.model == replace(svhn.model, activation="tanh") != svhn.model
    assert (deep.task, deep.model) == (replace(svhn.task, train=7), settings.deep.model)
    assert deep.times == settings.deep.times != tanh.times == svhn.times
    assert settings.setting("cifar10-deep").batch_size is None
    assert settings.setting("cifar10").batch_size == 32
    assert [svhn.manner(), deep.manner()] == ["convolution", "3 layers"]


def test_settings_of_any_panel_are_set_by_path_and_change_the_fingerprint():
    settings = study.at("laptop")
    prints = {fingerprint(settings)}
    for path, value in (
        ("fsdd.model.width", 32), ("deep.model.width", 32), ("deep.train", 9),
        ("svhn.task.train", 9), ("panels", ["digits-swish"]),
    ):  # fmt: skip
        prints.add(fingerprint(set_path(settings, path, value)))
    assert len(prints) == 6
    assert set_path(settings, "fsdd.model.width", 32).setting("fsdd-swish").width == 32


def test_every_panel_shown_has_its_claim():
    slugs = {claim.id.split("/")[1] for claim in study.claims}
    assert {f"gain-{panel.replace('_', '-')}" for panel in PANELS} <= slugs
    assert {f"accuracy-{panel.replace('_', '-')}-converged" for panel in ACCURACY} <= slugs
    swish = (1, 1, 0.95, 1.2)
    claims = _verdicts(_found((1, 1, 0.9, 1.2), swish, LINEAR, panel="fsdd-swish"))
    assert claims["gain-fsdd-swish"].measured.value == pytest.approx(0.05, abs=1e-5)
    assert claims["same-below-swish"].verdict == "holds"
    assert claims["same-below"].verdict == claims["same-below-tanh"].verdict == "not_applicable"


def test_settings_that_decide_nothing_are_refused():
    with pytest.raises(UnknownName, match="did you mean 'mnist'"):
        replace(study.at("smoke"), panels=("mnits",))
    with pytest.raises(UnknownName, match="panel"):
        replace(study.at("smoke"), panels=("sign-deep",))
    with pytest.raises(BadInput, match="2 for a CNN"):
        Setting(TwoClasses("digits"), models.CNN(3, 4, shape=(8, 8, 1)))
    with pytest.raises(BadInput, match=r"from 0\.8 or below"):
        replace(study.at("smoke"), multiples=(1.2, 1.5))
    with pytest.raises(BadInput, match="times"):
        Setting(TwoClasses("digits"), wide(8), times=0)
    with pytest.raises(BadInput, match="longer"):
        Setting(TwoClasses("digits"), wide(8), longer=0)
    with pytest.raises(BadInput, match="'mse'"):
        Setting(TwoClasses("digits", reduction="half"), wide(8))
    with pytest.raises(BadInput, match="an MLP or a CNN"):
        Setting(TwoClasses("digits"), models.Linear())
    assert image(4, 16).shape == (16, 16, 3)


@pytest.mark.slow
def test_check_36():
    """n = 256, d = 50, m = 2000: agreement below, and the gain at 1.3 times the critical rate."""
    setting = Setting(LowRank("sign", 50, 256, 2000, 0.0), wide(2000))
    begin = start_of(setting, 0)
    rates = tuple(r * begin.critical for r in (0.5, 0.9, 1.3))
    best = {}
    for kind, model in (
        ("network", setting.model),
        ("quadratic", models.Quadratized(setting.model)),
    ):
        run = _sweep(setting, model, rates, steps=120, looks=41)
        best[kind] = curve_of([run]).best[:, 0]
    linear = linear_curve(begin, rates, run["step"].values)
    half = np.array([best["network"][0], best["quadratic"][0], linear.best[0]])
    assert half.max() / half.min() <= 1.03
    assert linear.trained.tolist() == [True, True, False]
    for kind in ("network", "quadratic"):
        assert best[kind][2] <= 0.98 * best[kind][1], kind


def test_a_plan_says_once_for_each_data_set_what_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    lines = without_data(study, study.at("laptop"), Store(tmp_path))
    assert [line.partition(" is not there")[0] for line in lines] == [
        f"data set {name}" for name in ("mnist", "fsdd", "cifar10", "ag_news", "svhn")
    ]
    assert lines[0].endswith("; left out: mnist: rates; mnist: starts; mnist")
