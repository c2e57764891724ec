"""The jacobian-stages study at smoke scale: known numbers, closed forms, planted paths."""

import numpy as np
import pytest
import xarray as xr

from dynascope.core.run import Run
from dynascope.runner.evaluation import Evaluation
from dynascope.studies import studies
from dynascope.studies.nodes import Missing
from dynascope.studies.swing_by.events import times_to_half
from dynascope.studies.swing_by.jacobian_stages import claims as measure
from dynascope.studies.swing_by.jacobian_stages import (
    learning_times,
    peaks,
    random_starts,
    runs,
    theorem,
)
from dynascope.studies.swing_by.starts import correlated, signal

STUDY = "jacobian-stages"


@pytest.fixture(scope="module")
def value(outcome):
    study = studies.get(STUDY)
    return Evaluation(study, study.at("smoke"), outcome.store, progress=False).value


@pytest.fixture(scope="module")
def lemmas(value):
    return value(theorem.lemmas)


def planted(path: np.ndarray, times: np.ndarray) -> Run:
    """A run of one seed with this path of W, (step, 2, 2)."""
    dims = ("seed", "step", "output", "input")
    return Run(xr.Dataset({"input_jacobian": (dims, path[None])}, {"time": ("step", times)}), None)


def test_weak_entry_dips_as_deep_as_the_ledger_says(value):  # M31
    paths = value(runs.paths)
    assert measure.deepest_dip(paths["0.9"][0], 0) == pytest.approx(0.07, abs=0.01)
    assert measure.deepest_dip(paths["0.99"][0], 0) == pytest.approx(0.71, abs=0.01)


def test_figures_5_8_and_9_are_blocked_by_their_signals(value, claims):  # M18
    text = value(theorem.text)
    assert [n for n, c in text.items() if c.blocked_by == "D.5"] == ["Fig. 5", "Fig. 8", "Fig. 9"]
    assert text["Fig. 2"].log10_omega == pytest.approx(-82, abs=1)
    assert text["Fig. 10"].log10_omega == pytest.approx(-115.6, abs=0.1)
    assert claims["theorem-covers-figures"].measured.value == 3
    assert theorem.blocked(value(theorem.program)) == ["Fig. 9"]


def test_gaps_of_the_figures_are_those_of_their_captions(value):
    gaps = {n: c.gap for n, c in value(theorem.text).items()}
    assert gaps["Fig. 5"] == pytest.approx(-0.38, abs=0.005)
    assert gaps["Fig. 8"] == pytest.approx(-0.64, abs=0.005)
    a = signal(theorem.FIGURES["Fig. 9"])
    assert gaps["Fig. 9"] == pytest.approx(a[3] - 3 * a[2])


def test_lemma_starts_satisfy_the_assumptions_literally_where_said(lemmas):
    allowed = {name for name, run in lemmas.items() if run.allowed}
    assert allowed == {"correlated", "rank one", "nearly rank one", "opposed"}


def test_lemmas_hold_on_the_correlated_start_alone(lemmas):  # M19
    broken = {n: {c.name for c in r.checks.values() if c.violations} for n, r in lemmas.items()}
    assert broken["correlated"] == {"Cor D.1"}
    assert "D.3" in broken["rank one"] and "D.3" in broken["nearly rank one"]


def test_noise_exceeds_the_printed_bound_and_not_the_one_with_p_squared(lemmas):
    run = lemmas["correlated"]
    printed, squared = (theorem.decades(run, n).value for n in ("Cor D.1", "Cor D.1 with P^2"))
    assert printed < 0 < squared
    # The two bounds differ by P.
    assert squared - printed == pytest.approx(np.log10(run.constants.P), rel=1e-9)


def test_largest_minor_entry_of_the_lemma_run_scales_as_predicted(lemmas):
    # |w12| grows like exp((a1 + a2) t) while w22 grows from 2 omega to 0.8 like exp(2 a2 t).
    omega = lemmas["correlated"].constants.omega
    growth = np.log10(1 / (2 * omega)) * (0.25 + 1) / 2
    predicted = np.log10(omega) + growth
    assert np.log10(lemmas["correlated"].largest_minor) == pytest.approx(predicted, abs=0.5)


def test_terms_are_recorded_by_the_probes_and_noise_of_w12_is_zero(value):
    reference = value(measure.reference)
    assert not reference["noise"].values[..., 0, 1].any()  # M7: exactly, for d = 2
    assert reference["noise"].values[..., 0, 0].max() > 0.01


def test_peak_identity_holds_where_an_independent_program_finds_the_peak(value):  # M7, M8
    reference = value(measure.reference)
    w, t = reference["input_jacobian"].values[0], 2 * reference["time"].values
    place = np.abs(w[:, 0, 1]).argmax()
    assert w[place, 0, 1] == pytest.approx(0.1015, abs=0.0005)
    assert t[place] == pytest.approx(1.45, abs=0.02)
    a1, a2 = 0.5025, 2.0025
    left = w[place, 0, 0] * (3 * a1 + a2) + w[place, 1, 1] * (3 * a2 + a1)
    assert left == pytest.approx(2 * (a1 + a2), rel=0.01)


def test_naive_estimate_is_at_least_eight_percent_off_for_the_weakest(value):  # M14
    for errors in value(learning_times.law_errors)["naive"].values():
        assert min(np.median(e[:, 0]) for e in errors.values()) >= 0.08


def test_schur_law_is_as_good_as_the_ledger_says(value):  # M14
    for scale, most in ((0.02, 0.01), (0.1, 0.06)):
        errors = value(learning_times.law_errors)["schur"][scale]
        assert max(np.median(e, axis=0).max() for e in errors.values()) <= most


def test_times_to_half_of_uncoupled_entries_are_those_of_the_logistic_curve():
    a, start = np.array([0.5, 2.0]), np.array([0.01, 0.02])
    t = np.linspace(0, 8, 4001)
    major = 1 / (1 + (1 / start - 1) * np.exp(-4 * np.outer(t, a)))
    path = planted(major[..., None] * np.eye(2), t).dataset
    measured, schur, naive = times_to_half(path, a)
    np.testing.assert_allclose(measured, schur, rtol=1e-4)
    np.testing.assert_allclose(naive, np.log(1 / start)[None] / (4 * a))


def test_the_runs_of_a_sweep_carry_their_own_experiments(value):
    by = value(runs.by)
    assert {m: run.experiment.task.means for m, run in by["mean"].items()} == {
        m: (1.0, m) for m in runs.STRONG_MEANS
    }
    for size, run in by["size"].items():
        assert run.experiment.model.initial_jacobian == correlated(size, 0.98)
        np.testing.assert_allclose(run["input_jacobian"].values[0, 0, 0, 0], size)


def test_events_of_random_starts_are_in_order_where_the_loss_rises(value):
    found = value(random_starts.events)
    rises = np.isfinite(found["rise start"])
    assert 0.15 < rises.mean() < 0.5  # known: 36 %
    assert (found["rise start"][rises] < found["rise end"][rises]).all()
    assert (found["half 22"] < found["half 11"]).all()


def test_rises_are_counted_between_events():
    events = {
        "rise start": np.array([1.0, np.nan, 3.0, 2.0]),
        "rise end": np.array([2.0, np.nan, 9.0, 4.0]),
        "a": np.zeros(4), "b": np.full(4, 5.0),
    }  # fmt: skip
    assert measure.rises_within(events, "a", "b").value == pytest.approx(2 / 3)
    events["rise start"] = np.full(4, np.nan)
    assert isinstance(measure.rises_within(events, "a", "b"), Missing)


def test_the_peak_is_where_the_minor_entry_is_largest_in_size():
    path = np.zeros((4, 2, 2))
    path[2, 0, 1], path[3, 0, 1] = -3.0, 2.0
    path[:, 1, 1] = [0.1, 0.2, 0.3, 0.4]
    run = planted(path, np.arange(4.0))
    assert peaks.at_peak(run)[1, 1] == 0.3
    assert peaks.at_peak(run, 0.5)[1, 1] == 0.2


def test_dips_are_shares_of_the_largest_value_so_far():
    path = np.array([1.0, 4.0, 3.0, 5.0])[:, None, None] * np.eye(2)
    path[2, 1, 1] = 4.0
    assert measure.deepest_dip(path, 0) == pytest.approx(0.25)
    assert measure.deepest_dip(path, 1) == 0
    assert measure.never_dips([path, path], 0).value == 0
    assert measure.never_dips([path, path], 1).value == 1


def test_the_loss_without_a_kind_of_entries_is_told_from_the_loss(value):
    run = value(random_starts.planted_loss)
    assert measure.carried_without(run, "irrelevant").value == 1
    assert measure.carried_without(run, "major").value == 0


def test_charts_lay_theory_on_what_was_measured(outcome):
    pictures = {c.name: c for c in outcome.charts}
    for name in ("stages", "terms"):
        for panel in pictures[name].panels:
            roles = {m.role for m in panel.marks if hasattr(m, "role")}
            assert {"measured", "theory"} <= roles


def test_headline_dips(outcome):
    measured, theory = outcome.charts[0].panels[0].marks
    y = np.array(measured.y)
    assert (y - np.minimum.accumulate(y[::-1])[::-1]).max() > 0.001
    np.testing.assert_allclose(theory.y, y, rtol=0.01)
