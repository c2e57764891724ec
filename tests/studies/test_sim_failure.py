"""The sim-failure study at smoke scale: every verdict, every control, the ledger's numbers."""

import numpy as np
import pytest

from dynascope.studies import studies
from dynascope.studies.swing_by.events import times_to_half
from dynascope.studies.swing_by.sim_failure import LAW_MEANS, RANK_ONE
from dynascope.studies.swing_by.starts import signal
from dynascope.tasks import IdentityMapping
from dynascope.theories.schur import outlook

STUDY = "sim-failure"


@pytest.fixture(scope="module")
def study():
    return studies.get("sim-failure").at("smoke")


@pytest.fixture(scope="module")
def runs(outcome, study):
    return dict(zip(study.plan(), outcome.datasets(), strict=True))


HOLDS = (
    "seems-stuck-program", "rests-at-the-false-corner", "delay-not-trap",
    "schur-tells-who-is-late", "schur-tells-when", "theory-over-simulation", "narrow-is-a-trap",
    "missing-rank-is-a-trap", "leaves-from-below", "schur-share-is-the-floor",
)  # fmt: skip
FAILS = ("fails-with-text", "never-grows", "converges-to-non-zero", "printed-recursion-stays")


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


def test_shares_are_those_of_the_ledger(claims):
    # 400 seeds of another program: 90 % with A squared, 0 % with A, 29 % run away.
    assert claims["seems-stuck-program"].measured.value == pytest.approx(0.9, abs=0.06)
    assert claims["fails-with-text"].measured.value == 0
    assert claims["printed-recursion-stays"].measured.value == pytest.approx(0.29, abs=0.13)


def test_agreement_with_the_schur_time_is_nearly_complete(claims):
    assert claims["schur-tells-who-is-late"].measured.value >= 0.97


def test_schur_times_have_the_quantiles_of_the_ledger(runs, study):
    for name, reading, expected in (
        ("program", "code", (96, 132)),
        ("text", "text", (16, 22)),
    ):
        _, schur, _ = times_to_half(runs[name], signal(study.task.as_in(reading)))
        found = np.quantile(2 * schur[:, 0], (0.05, 0.5))
        np.testing.assert_allclose(found, expected, rtol=0.08)


@pytest.mark.parametrize(("width", "left"), [(1, 1.625), (2, 0.5), (3, 0.0)])
def test_narrow_models_keep_exactly_the_loss_of_the_law(runs, width, left):  # M15
    final = runs["narrow"]["test_loss"].isel({"task.means": 1, "step": -1})
    np.testing.assert_allclose(final.sel({"model.width": width}), left, atol=1e-3)


def test_rank_one_start_is_trapped_and_reported_as_rank_deficient(runs):  # M15
    trapped, freed = runs["rank one"]["test_loss"].values[:, 0, -1]
    assert trapped == pytest.approx(1.625, abs=1e-3)
    assert freed < 1e-3
    strengths = signal(IdentityMapping(LAW_MEANS, (0.05,) * 3))
    fates = [o.fate for o in outlook(RANK_ONE, strengths, horizon=1e9)]
    assert fates == ["rank-deficient", "rank-deficient", "in time"]


def test_printed_length_is_a_hundred_in_paper_time(runs, study):
    assert 2 * runs["program"]["time"].values[-1] == pytest.approx(100)
    assert study.notes()[0].endswith("end at 50.")


def test_longer_run_is_the_same_run_continued(runs):
    short, longer = runs["program"], runs["program, run on"]
    both = np.intersect1d(short["step"].values, longer["step"].values)
    assert both.size > 10
    first, second = (r["test_loss"].sel(step=both).values for r in (short, longer))
    np.testing.assert_allclose(first, second, rtol=1e-12, atol=1e-15)


def test_trajectory_chart_is_in_space_with_theory_on_it(outcome):
    pictures = {c.name: c for c in outcome.charts}
    assert list(pictures) == ["trajectory", "late", "traps", "below"]
    space = pictures["trajectory"].panels[0]
    assert all(m.z is not None for m in space.marks)
    assert {"measured", "theory"} <= {m.role for m in space.marks}


def test_headline_rests_at_the_false_corner_and_leaves_it(outcome):
    x, y = np.array(outcome.result.headline.x), np.array(outcome.result.headline.y)
    assert np.interp(10, x, y) == pytest.approx(0.245, rel=0.05)
    assert y[-1] < 0.01
