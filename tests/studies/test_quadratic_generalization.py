"""Quadratic generalization: its pieces against witnesses, its claims, check 36."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from dynascope import models, probes
from dynascope.core.errors import BadInput, UnknownName
from dynascope.core.randomness import key_for
from dynascope.core.spec import fingerprint, set_path
from dynascope.dynamics import GradientDescent
from dynascope.engine.record import Evenly
from dynascope.studies import studies
from dynascope.studies.catapult.generalization_runs import (
    RATE,
    Curve,
    Panel,
    laid_out,
    linear_curve,
    rates_of,
    starts,
    trained_curve,
    wide_kernel,
)
from dynascope.studies.catapult.generalization_settings import (
    PANELS,
    Setting,
    classes,
    image,
    wide,
    with_activation,
)
from dynascope.sweeps import sweep
from dynascope.tasks import LowRank, TwoClasses

STUDY = "quadratic-generalization"
QuadraticGeneralization = studies.get(STUDY)
SMALL = Setting(classes("digits", 32, test=40), wide(64))
PROBES = (probes.Loss(), probes.TestSetLoss(), probes.TestSetAccuracy())


def _sweep(setting, model, rates, steps=40, seeds=1, looks=41):
    return sweep(
        setting.task, model, GradientDescent(1.0), over={RATE: rates}, steps=steps, probes=PROBES,
        record=Evenly(looks), seeds=seeds, progress=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def begin():
    return starts(SMALL, (0, 1))


def test_the_linear_curve_is_that_of_a_trained_linear_model(begin):
    multiples = (0.5, 0.9, 1.3)
    rates = np.array([[r * b.critical for b in begin] for r in multiples])
    runs = [
        _sweep(SMALL, models.Linearized(SMALL.model), rates[:, k], seeds=(k,)) for k in range(2)
    ]
    assert np.allclose(rates_of(runs), rates)
    engine, closed = trained_curve(runs), linear_curve(begin, rates, runs[0]["step"].values)
    assert np.allclose(engine.best, closed.best, rtol=2e-4)
    assert np.array_equal(engine.trained, closed.trained)
    assert closed.trained.all(axis=1).tolist() == [True, True, False]
    assert np.allclose(engine.accuracy, closed.accuracy, atol=1 / 40 + 1e-9)


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
        (with_activation(Setting(classes("digits", 64), wide(2048)), "tanh"), 0.06),
        (Setting(classes("digits", 64), wide(1024, depth=3)), 0.1),
    ],
    ids=["digits", "gaussian", "convolution", "tanh", "deep"],
)  # fmt: skip
def test_rates_are_laid_out_near_the_measured_critical_rate(setting, tolerance):
    (rate,) = laid_out(setting, (1.0,), (0, 1))[0, 1]
    measured = np.mean([s.critical for s in starts(setting, (0, 1))])
    assert rate == pytest.approx(measured, rel=tolerance)


def test_best_values_are_over_training_and_diverged_runs_are_not_trained():
    dims = (RATE, "seed", "step")
    loss = np.array([[[1.0, 0.5, 0.1]], [[1.0, 9.0, np.nan]], [[1.0, 0.2, 2.0]]])
    test = np.array([[[2.0, 1.0, 1.5]], [[2.0, 3.0, np.nan]], [[2.0, 1.2, 4.0]]])
    share = np.array([[[0.5, 0.9, 0.8]], [[0.5, 0.4, np.nan]], [[0.5, 0.6, 0.1]]])
    run = xr.Dataset({
        "loss": (dims, loss), "test_set_loss": (dims, test), "test_set_accuracy": (dims, share),
    })  # fmt: skip
    curve = trained_curve([run])
    assert curve.best.ravel().tolist() == [1.0, 2.0, 1.2]
    assert curve.trained.ravel().tolist() == [True, False, False]
    assert curve.accuracy.ravel().tolist() == [0.9, 0.5, 0.6]
    assert np.isnan(curve.settled()).ravel().tolist() == [False, True, True]


def _found(network, quadratic, linear, trained=(True,) * 4, panel="digits"):
    """A made-up panel at 0.5, 0.9, 1.3 and 1.9 times the critical rate, two equal seeds."""

    def curve(best, flags):
        both = np.repeat(np.asarray(best, float)[:, None], 2, axis=1)
        return Curve(both, both, np.repeat(np.asarray(flags)[:, None], 2, axis=1))

    ratio = np.repeat(np.array([[0.5], [0.9], [1.3], [1.9]]), 2, axis=1)
    setting = QuadraticGeneralization.at("smoke").setting(panel)
    curves = {
        "network": curve(network, trained),
        "quadratic": curve(quadratic, (True,) * 4),
        "linear": curve(linear, (True, True, False, False)),
    }
    return {panel: Panel("these", setting, ratio, np.ones(2), curves)}


def _verdicts(found):
    claims = QuadraticGeneralization.at("smoke").judge(found)
    return {c.id.split("/")[1]: c for c in claims}


LINEAR = (1.0, 1.0, 1.5, 2.0)


def test_a_gain_in_the_range_is_found_and_one_beyond_it_is_not():
    good = _verdicts(_found((1, 1, 0.9, 1.2), (1, 1, 0.95, 1.2), LINEAR))["gain-digits"]
    assert good.verdict == "holds" and good.measured.value == pytest.approx(0.05)
    beyond = _verdicts(_found((1, 1, 0.99, 0.5), (1, 1, 0.9, 1.2), LINEAR))["gain-digits"]
    assert beyond.verdict == "fails" and beyond.measured.value == pytest.approx(0.01)


def test_a_gain_that_the_linear_model_shows_too_decides_nothing():
    found = _found((1, 1, 0.9, 1.2), (1, 1, 0.9, 1.2), (1.0, 1.0, 0.5, 2.0))
    assert _verdicts(found)["gain-digits"].verdict == "undecided"


def test_the_printed_statement_fails_by_one_rate_and_ignores_diverged_ones():
    slug = "everywhere-past-critical"
    fails = _verdicts(_found((1, 1, 0.9, 1.2), (1, 1, 0.9, 0.9), LINEAR))[slug]
    assert fails.verdict == "fails" and "network at 1.90 times" in fails.note
    fails = _verdicts(_found((1, 1, 0.9, 0.9), (1, 1, 1.3, 0.9), LINEAR))[slug]
    assert fails.verdict == "fails" and "quadratic model at 1.30 times" in fails.note
    late = (True, True, True, False)
    found = _found((1, 1, 0.9, 1.2), (1, 1, 0.9, 0.9), LINEAR, trained=late)
    assert _verdicts(found)[slug].verdict == "holds"


def test_models_that_differ_below_the_critical_rate_are_seen():
    width = QuadraticGeneralization.at("smoke").digits.width
    near = _verdicts(_found((1, 1, 0.9, 1.2), (1.01, 1, 0.9, 1.2), LINEAR))["same-below"]
    assert near.verdict == "holds"
    assert near.measured.value == pytest.approx(0.01 * (width / 2000) ** 0.5)
    far = _verdicts(_found((1, 1, 0.9, 1.2), (1.2, 1, 0.9, 1.2), LINEAR))["same-below"]
    assert far.verdict == "fails"


def test_a_linear_model_that_trains_past_the_critical_rate_is_seen():
    found = _found((1, 1, 0.9, 1.2), (1, 1, 1, 1), LINEAR)
    assert _verdicts(found)["linear-diverges"].verdict == "holds"
    curve = found["digits"].curves["linear"]
    found["digits"].curves["linear"] = curve._replace(trained=np.ones((4, 2), bool))
    assert _verdicts(found)["linear-diverges"].verdict == "fails"


def test_seeds_without_a_common_rate_below_critical_are_not_compared():
    found = _found((1, 1, 0.9, 1.2), (1, 1, 0.9, 1.2), LINEAR)
    ratio = found["digits"].ratio * np.array([1.0, 2.5])  # the second seed's are all above
    claims = _verdicts({"digits": found["digits"]._replace(ratio=ratio)})
    for slug in ("same-below", "everywhere-past-critical", "gain-digits"):
        assert claims[slug].verdict == "not_applicable", slug
    assert "widen the network" in claims["gain-digits"].note


def test_the_table_has_a_row_for_every_rate():
    note = _verdicts(_found((1, 1, 0.9, 1.2), (1, 1, 0.9, 1.2), LINEAR))["gain-digits"].note
    assert "0.50: 1.000 / 1.000 / 1.000; 0.90" in note and "1.30: diverges / 0.900 / 0.900" in note


def test_smoke_decides_its_claims_on_the_built_in_digits(claims, outcome):
    held = ("same-below", "same-below-tanh", "linear-diverges", "gain-digits", "gain-digits-tanh")
    for slug in held:
        assert claims[slug].verdict == "holds", claims[slug]
        assert claims[slug].control.verdict == "fails"
    assert claims["gain-mnist"].verdict == claims["same-below-deep"].verdict == "not_applicable"
    (said,) = (note for note in outcome.result.notes if "checksum" in note)
    assert said.startswith("digits, digits-tanh: 64 training")


def test_charts_show_three_models_and_the_critical_rate(outcome):
    charts = {c.name: c for c in outcome.charts}
    assert list(charts) == ["losses", "other-losses", "accuracies", "other-accuracies"]
    for chart in charts.values():
        (panel,) = chart.panels
        labels = [m.label for m in panel.marks]
        assert labels == ["network", "quadratic model", "linear model", "critical rate"]
        network, _, linear, reference = panel.marks
        assert reference.at == 1.0 and max(linear.x) < 1 < max(network.x)
    assert charts["other-losses"].panels[0].title.endswith("tanh")


def test_a_set_that_is_not_there_is_named_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    study = QuadraticGeneralization.at("laptop")
    assert set(study.panels) == {"digits", "sign", "product", "digits-tanh"}
    found = _found((1, 1, 0.9, 1.2), (1, 1, 0.9, 1.2), LINEAR)
    claims = {c.id.split("/")[1]: c for c in study.judge(found)}
    for slug, line in (
        ("gain-mnist", "train-images"),
        ("gain-fsdd", "clone"),
        ("gain-svhn", ".mat"),
        ("gain-fsdd-tanh", "clone"),
    ):
        assert claims[slug].verdict == "not_applicable"
        assert "is not there" in claims[slug].note and line in claims[slug].note


def test_batches_train_a_linear_model_of_their_own():
    study = replace(
        QuadraticGeneralization.at("smoke"), panels=("cifar10",), steps=16, looks=5, seeds=1,
        cifar10=Setting(classes("digits", 32, test=20), wide(32), 8),
    )  # fmt: skip
    plan = study.plan()
    assert list(plan) == ["cifar10: network", "cifar10: quadratic", "cifar10: linear"]
    assert plan["cifar10: linear"].dynamics.batch_size == 8
    more = set_path(study, "cifar10.times", 3).plan()
    assert [e.seeds for e in more.values()] == [(10,), (11,), (12,)] * 3


def test_seeds_of_a_narrow_network_have_rates_of_their_own(begin):
    groups = laid_out(SMALL, (0.5, 2.0), (0, 1))
    assert list(groups) == [(0,), (1,)]
    for seed, start in enumerate(begin):
        assert groups[seed,] == pytest.approx((0.5 * start.critical, 2 * start.critical), rel=1e-4)
    study = replace(
        QuadraticGeneralization.at("smoke"), panels=("digits",), digits=SMALL, seeds=2,
        first_seed=0, steps=20, looks=3,
    )  # fmt: skip
    plan = study.plan()
    assert [e.seeds for e in plan.values()] == [(0,), (1,)] * 2
    names, dims = ("loss", "test_set_loss", "test_set_accuracy"), (RATE, "seed", "step")

    def marked(experiment):  # a run that shows its seed
        blank = np.full((4, 1, 3), float(experiment.seeds[0]))
        coords = {RATE: list(experiment.over[0][1]), "seed": [0], "step": [0, 10, 20]}
        return xr.Dataset({name: (dims, blank) for name in names}, coords)

    panel = study.analyse({label: marked(e) for label, e in plan.items()})["digits"]
    assert np.allclose(panel.ratio, np.array([[0.5], [0.9], [1.3], [1.9]]), rtol=1e-4)
    assert panel.curves["quadratic"].best.tolist() == [[0.0, 1.0]] * 4


def test_a_panel_is_its_setting_with_one_thing_changed():
    study = set_path(QuadraticGeneralization.at("laptop"), "deep.train", 7)
    study = set_path(study, "deep.times", 3)
    svhn, tanh, deep = (study.setting(f"svhn{c}") for c in ("", "-tanh", "-deep"))
    assert tanh.task == svhn.task
    assert tanh.model == replace(svhn.model, activation="tanh") != svhn.model
    assert (deep.task, deep.model) == (replace(svhn.task, train=7), study.deep.model)
    assert deep.times == study.deep.times != tanh.times == svhn.times
    assert study.setting("cifar10-deep").batch_size is None != study.setting("cifar10").batch_size
    assert [svhn.manner(), deep.manner()] == ["convolution", "3 layers"]


def test_settings_of_any_panel_are_set_by_path_and_change_the_fingerprint():
    study = QuadraticGeneralization.at("laptop")
    prints = {fingerprint(study)}
    for path, value in (
        ("fsdd.model.width", 32), ("deep.model.width", 32), ("deep.train", 9),
        ("svhn.task.train", 9), ("panels", ["digits-swish"]),
    ):  # fmt: skip
        prints.add(fingerprint(set_path(study, path, value)))
    assert len(prints) == 6
    assert set_path(study, "fsdd.model.width", 32).setting("fsdd-swish").width == 32


def test_every_panel_shown_has_its_claim():
    slugs = {s.slug for s in QuadraticGeneralization.claims()}
    assert {f"gain-{panel.replace('_', '-')}" for panel in PANELS} <= slugs
    swish = (1, 1, 0.95, 1.2)
    claims = _verdicts(_found((1, 1, 0.9, 1.2), swish, LINEAR, panel="fsdd-swish"))
    assert claims["gain-fsdd-swish"].measured.value == pytest.approx(0.05)
    assert claims["same-below-swish"].verdict == "holds"
    assert claims["same-below"].verdict == claims["same-below-tanh"].verdict == "not_applicable"


def test_settings_that_decide_nothing_are_refused():
    with pytest.raises(UnknownName, match="did you mean 'mnist'"):
        replace(QuadraticGeneralization.at("smoke"), panels=("mnits",))
    with pytest.raises(UnknownName, match="panel"):
        replace(QuadraticGeneralization.at("smoke"), panels=("sign-deep",))
    with pytest.raises(BadInput, match="2 for a CNN"):
        Setting(TwoClasses("digits"), models.CNN(3, 4, shape=(8, 8, 1)))
    with pytest.raises(BadInput, match=r"from 0\.8 or below"):
        replace(QuadraticGeneralization.at("smoke"), multiples=(1.2, 1.5))
    with pytest.raises(BadInput, match="times"):
        Setting(TwoClasses("digits"), wide(8), times=0)
    with pytest.raises(BadInput, match="'mse'"):
        Setting(TwoClasses("digits", reduction="half"), wide(8))
    with pytest.raises(BadInput, match="an MLP or a CNN"):
        Setting(TwoClasses("digits"), models.Linear())
    assert image(4, 16).shape == (16, 16, 3)


@pytest.mark.slow
def test_check_36():
    """n = 256, d = 50, m = 2000: agreement below, and the gain at 1.3 times the critical rate."""
    setting = Setting(LowRank("sign", 50, 256, 2000, 0.0), wide(2000))
    begin = starts(setting, (0,))
    rates = tuple(r * begin[0].critical for r in (0.5, 0.9, 1.3))
    best = {}
    for kind, model in (
        ("network", setting.model),
        ("quadratic", models.Quadratized(setting.model)),
    ):
        run = _sweep(setting, model, rates, steps=120, looks=41)
        best[kind] = trained_curve([run]).best[:, 0]
    linear = linear_curve(begin, np.array(rates)[:, None], run["step"].values)
    half = np.array([best["network"][0], best["quadratic"][0], linear.best[0, 0]])
    assert half.max() / half.min() <= 1.03
    assert linear.trained[:, 0].tolist() == [True, True, False]
    for kind in ("network", "quadratic"):
        assert best[kind][2] <= 0.98 * best[kind][1], kind
