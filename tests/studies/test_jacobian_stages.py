"""The jacobian-stages study at smoke scale: every verdict, every control, the ledger's numbers."""

import numpy as np
import pytest

from dynascope.studies import studies
from dynascope.studies.swing_by.events import double_events, peaks, times_to_half
from dynascope.studies.swing_by.starts import signal
from dynascope.studies.swing_by.theorem import FIGURES, figure_constants, lemma_runs

STUDY = "jacobian-stages"


@pytest.fixture(scope="module")
def runs(outcome):
    return dict(zip(studies.get("jacobian-stages").at("smoke").plan(), outcome.datasets()))


@pytest.fixture(scope="module")
def lemmas():
    return lemma_runs()


HOLDS = (
    "entry-kinds", "irrelevant-entries", "order-of-growth", "minor-entry-peaks-and-falls",
    "loss-follows-entries", "strongest-never-dips", "three-terms", "theory-over-simulation",
    "peak-identity", "suppression-threshold", "swing-by-fades-with-the-start", "lemmas-hold",
    "noise-corollary-squared", "schur-law", "schur-law-larger-starts",
)  # fmt: skip
FAILS = (
    "each-entry-in-two-groups", "majors-never-dip", "suppression-needs-a-factor-3",
    "theorem-covers-figures", "theorem-at-ordinary-starts", "theorem-at-printed-rate",
    "assumptions-suffice", "noise-corollary",
)  # fmt: skip


def test_every_claim_is_asserted_below(claims):
    assert set(claims) == {*HOLDS, *FAILS}


@pytest.mark.parametrize("name", HOLDS)
def test_claim_holds_and_its_control_fails(claims, name):
    assert claims[name].verdict == "holds"
    assert claims[name].control.verdict == "fails"


@pytest.mark.parametrize("name", FAILS)
def test_printed_claim_fails_and_its_control_too(claims, name):
    assert claims[name].verdict == "fails"
    assert claims[name].control.verdict == "fails"


def test_weak_entry_dips_as_deep_as_the_ledger_says(claims):  # M31
    assert claims["majors-never-dip"].measured.value == pytest.approx(0.07, abs=0.01)
    assert claims["majors-never-dip"].control.measured.value == pytest.approx(0.71, abs=0.01)


def test_figures_5_8_and_9_are_blocked_by_their_signals(claims):  # M18
    text = figure_constants()
    assert [n for n, c in text.items() if c.blocked_by == "D.5"] == ["Fig. 5", "Fig. 8", "Fig. 9"]
    assert text["Fig. 2"].log10_omega == pytest.approx(-82, abs=1)
    assert text["Fig. 10"].log10_omega == pytest.approx(-115.6, abs=0.1)
    assert claims["theorem-covers-figures"].measured.value == 3
    squared = figure_constants(squared=True)
    assert [n for n, c in squared.items() if not c.feasible] == ["Fig. 9"]


def test_gaps_of_the_figures_are_those_of_their_captions():
    gaps = {n: c.gap for n, c in figure_constants().items()}
    assert gaps["Fig. 5"] == pytest.approx(-0.38, abs=0.005)
    assert gaps["Fig. 8"] == pytest.approx(-0.64, abs=0.005)
    a = signal(FIGURES["Fig. 9"])
    assert gaps["Fig. 9"] == pytest.approx(a[3] - 3 * a[2])


def test_all_three_lemma_starts_satisfy_the_assumptions_literally(lemmas):
    assert all(r.allowed for r in lemmas.values())


def test_lemmas_hold_on_the_correlated_start_alone(lemmas):  # M19
    assert lemmas["correlated"].violations() == 0
    assert lemmas["rank one"].checks["D.3"].violations > 0
    assert lemmas["nearly rank one"].checks["D.3"].violations > 0


def test_noise_exceeds_the_printed_bound_and_not_the_one_with_p_squared(lemmas):
    run_ = lemmas["correlated"]
    assert run_.decades("Cor D.1") < 0 < run_.decades("Cor D.1 with P^2")
    # The two bounds differ by P.
    apart = run_.decades("Cor D.1 with P^2") - run_.decades("Cor D.1")
    assert apart == pytest.approx(np.log10(run_.constants.P), rel=1e-9)


def test_largest_minor_entry_of_the_lemma_run_scales_as_predicted(lemmas):
    # |w12| grows like exp((a1 + a2) t) while w22 grows from 2 omega to 0.8 like exp(2 a2 t).
    omega = lemmas["correlated"].constants.omega
    growth = np.log10(1 / (2 * omega)) * (0.25 + 1) / 2
    predicted = np.log10(omega) + growth
    assert np.log10(lemmas["correlated"].largest_minor()) == pytest.approx(predicted, abs=0.5)


def test_terms_are_recorded_by_the_probes_and_noise_of_w12_is_zero(runs):
    reference = runs["reference"]
    assert {"growth", "suppression", "noise"} <= set(reference.data_vars)
    assert not reference["noise"].values[..., 0, 1].any()  # M7: exactly, for d = 2
    assert reference["noise"].values[..., 0, 0].max() > 0.01


def test_peak_identity_holds_where_an_independent_program_finds_the_peak(runs):  # M7, M8
    w = runs["reference"]["input_jacobian"].values[0]
    t = 2 * runs["reference"]["time"].values
    place = np.abs(w[:, 0, 1]).argmax()
    assert w[place, 0, 1] == pytest.approx(0.1015, abs=0.0005)
    assert t[place] == pytest.approx(1.45, abs=0.02)
    a1, a2 = 0.5025, 2.0025
    left = w[place, 0, 0] * (3 * a1 + a2) + w[place, 1, 1] * (3 * a2 + a1)
    assert left == pytest.approx(2 * (a1 + a2), rel=0.01)


def test_naive_estimate_is_at_least_eight_percent_off_for_the_weakest(claims):  # M14
    for name in ("schur-law", "schur-law-larger-starts"):
        assert claims[name].control.measured.value >= 0.08


def test_times_to_half_of_uncoupled_entries_are_those_of_the_logistic_curve(runs):
    a, start = np.array([0.5, 2.0]), np.array([0.01, 0.02])
    t = np.linspace(0, 8, 4001)
    major = 1 / (1 + (1 / start - 1) * np.exp(-4 * np.outer(t, a)))
    path = major[..., None] * np.eye(2)
    planted = runs["reference"].isel(step=slice(0, 4001))
    planted = planted.assign(input_jacobian=(planted["input_jacobian"].dims, path[None]))
    measured, schur, naive = times_to_half(planted.assign_coords(time=("step", t)), a)
    np.testing.assert_allclose(measured, schur, rtol=1e-4)
    np.testing.assert_allclose(naive, np.log(1 / start)[None] / (4 * a))


def test_events_of_random_starts_are_in_order_where_the_loss_rises(runs):
    found = double_events(runs["random"])
    rises = np.isfinite(found["rise start"])
    assert 0.15 < rises.mean() < 0.5  # the ledger has 36 %
    assert (found["rise start"][rises] < found["rise end"][rises]).all()
    assert (found["half 22"] < found["half 11"]).all()


def test_peaks_are_taken_entry_by_entry():
    path = np.zeros((2, 3, 2, 2))
    path[0, 1, 0, 1], path[1, 2, 0, 1] = -3.0, 2.0
    path[:, :, 1, 1] = [0.1, 0.2, 0.3]
    assert peaks(path)[:, 1, 1].tolist() == [0.2, 0.3]


def test_charts_tell_stages_terms_dips_regime_law_and_kinds(outcome):
    pictures = {c.name: c for c in outcome.charts}
    assert list(pictures) == ["stages", "terms", "dips", "regime", "law", "kinds"]
    for name in ("stages", "terms"):
        for panel in pictures[name].panels:
            roles = {m.role for m in panel.marks if hasattr(m, "role")}
            assert {"measured", "theory"} <= roles


def test_headline_dips(outcome):
    y = np.array(outcome.result.headline.y)
    assert (y - np.minimum.accumulate(y[::-1])[::-1]).max() > 0.001
    np.testing.assert_allclose(outcome.result.headline.theory, y, rtol=0.01)
