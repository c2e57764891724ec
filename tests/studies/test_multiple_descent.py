"""The multiple-descent study at smoke scale: known numbers, planted events."""

import numpy as np
import pytest

from dynascope.probes.curves import count_descents, descents
from dynascope.runner.evaluation import Evaluation
from dynascope.studies import studies
from dynascope.studies.nodes import Missing
from dynascope.studies.swing_by.multiple_descent import claims as measure
from dynascope.studies.swing_by.multiple_descent import runs
from dynascope.studies.swing_by.multiple_descent.starts import MANY_DESCENTS, gram
from dynascope.studies.swing_by.starts import signal
from dynascope.theories.swing_by.tied_flow import printed_recursion, read_jacobian, tied_descent

STUDY = "multiple-descent"

# (value, paper time) of every turn, from an independent program (numpy, descent on U).
TURNS = {
    "triple, text": [(0.392, 2.45), (0.6815, 4.13), (0.0657, 7.26), (0.2308, 12.32)],
    "triple, program": [(1.1399, 1.33), (1.3431, 2.62), (0.3031, 7.28), (0.4817, 21.6)],
    "quadruple, text": [(0.9966, 1.76), (1.0361, 2.16), (0.9889, 2.81), (1.0379, 3.80),
                        (0.1488, 8.15), (0.2932, 14.37)],
    "quadruple, program": [(2.293, 0.87), (2.4883, 1.28), (1.4584, 2.72), (1.5712, 6.48),
                           (0.3666, 18.45), (0.48, 39.85)],
}  # fmt: skip


@pytest.fixture(scope="module")
def settings():
    return studies.get(STUDY).at("smoke")


@pytest.fixture(scope="module")
def references(outcome, settings):
    values = Evaluation(studies.get(STUDY), settings, outcome.store, progress=False)
    return values.value(runs.references)


def test_counts_are_those_of_the_figures(claims):
    names = ("triple", "triple-program", "quadruple", "quadruple-program")
    assert [claims[n].measured.value for n in names] == [3, 3, 4, 4]


def test_all_four_starts_run_away_in_the_printed_recursion(claims):
    assert claims["printed-recursion-stays"].measured.value == 4


@pytest.mark.parametrize("name", TURNS)
def test_extremes_of_the_flow_are_those_of_an_independent_program(outcome, name):  # M9, M10
    word, reading = name.split(", ")
    picture = next(c for c in outcome.charts if c.name == word)
    panel = picture.panels[0 if reading == "text" else 2]
    drawn = next(m for m in panel.marks if m.label == "extremes")
    values, times = np.array(TURNS[name]).T
    np.testing.assert_allclose(drawn.y, values, rtol=0.01)
    np.testing.assert_allclose(2 * np.array(drawn.x), times, atol=0.05, rtol=0.005)


def test_reference_turns_are_within_three_percent_at_the_printed_rate(references):
    for name, expected in TURNS.items():
        found = measure.turns(references[name]).turns[1:-1]
        np.testing.assert_allclose([t.value for t in found], [v for v, _ in expected], rtol=0.03)


def test_printed_recursion_from_the_triple_start_is_gone_before_paper_time_seven(settings):
    # M16: the same start and rate keep U finite and W in the cone.
    weights, a = MANY_DESCENTS["triple, text"], signal(settings.triple)
    gone = printed_recursion(gram(weights), a, 0.01, 700)
    assert 0 < gone.ran_away < 700
    assert np.linalg.eigvalsh(tied_descent(weights, a, 0.01, 4000)).min() >= -1e-12


def test_the_uncorrelated_control_start_has_no_minor_entries(settings):
    experiment = runs.uncorrelated.function(settings)["triple, text"]
    start = np.array(experiment.model.initial_jacobian)
    assert not start[~np.eye(3, dtype=bool)].any()
    np.testing.assert_allclose(
        np.diagonal(start), np.diagonal(read_jacobian(np.array(MANY_DESCENTS["triple, text"])))
    )


def test_headline_shows_three_descents_with_the_theory_over_them(outcome):
    measured, theory = outcome.charts[0].panels[0].marks
    assert descents(np.array(measured.y)).n_descents == 3
    np.testing.assert_allclose(theory.y, measured.y, atol=0.01 * measured.y[0])


def test_fall_times_are_those_of_a_planted_pulse():
    t = np.linspace(0, 4, 401)
    pulse = -3 * np.exp(-((t - 1) ** 2))
    assert runs.fall_times(pulse[None], t)[0] == pytest.approx(1 + np.log(2) ** 0.5, abs=1e-4)
    assert np.isinf(runs.fall_times(t[None], t)[0])


def test_events_come_in_order_from_the_reference_start(references):
    events = runs.triple_events(references["triple, text"])
    order = ("half 33", "fallen 23", "half 22", "fallen 12", "half 11")
    times = [events[name][0] for name in order]
    assert times == sorted(times)


def test_without_a_triple_descent_nothing_is_measured():
    assert isinstance(measure.of_triples(np.zeros(0, bool)), Missing)
    assert measure.of_triples(np.array([True, False])).value == 0.5


def test_turns_are_told_in_words(claims):
    assert "at 1.2" in claims["triple"].note  # M9: the first minimum at paper time 2.45


def test_a_path_runs_away_if_any_entry_does():
    path = np.stack([np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]])])
    assert not measure.runs_away(path)
    assert measure.runs_away(6 * path) and measure.runs_away(np.where(path == 2, np.nan, path))


@pytest.mark.parametrize("times", [1, 3, 4])
def test_planted_losses_fall_as_often_as_said(references, times):
    planted = runs.with_descents(references["triple, text"], times)
    assert measure.turns(planted).n_descents == times


def test_uniform_draws_of_the_independent_program_descend_as_often():
    # Known histogram for A and the caption's clusters: 21, 66 and 13 %.
    a, means = np.array([1, 2.25, 4.84]) / 3 + 0.0025, np.array([1, 1.5, 2.2])
    u = np.random.default_rng(1).uniform(0, 0.1, (300, 3, 3))
    losses = []
    for step in range(4000):
        error = np.eye(3) - u @ np.swapaxes(u, 1, 2)
        if step % 10 == 0:
            losses.append(((error @ means) ** 2).sum(axis=-1) / 2)
        u = u + 0.005 * (a[:, None] * error + error * a) @ u
    shares = np.bincount(count_descents(np.array(losses).T), minlength=4)[1:] / 300
    np.testing.assert_allclose(shares, [0.21, 0.66, 0.13], atol=0.06)
