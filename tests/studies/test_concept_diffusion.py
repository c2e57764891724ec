"""concept-diffusion and vector-diffusion: detectors on planted paths, sheets, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.charts import PictureGrid
from dynascope.core.errors import BadInput
from dynascope.core.paths import set_path
from dynascope.studies.diffusion.concept_diffusion.runs import means_of
from dynascope.studies.diffusion.concept_paths import (
    Paths,
    arrivals,
    bends,
    crossings,
    errors,
    flip,
    log_ratios,
    order,
    planted,
    planted_curve,
    rises,
    second_descent,
    slow_down,
    speeds,
    transient_bend,
    unreadable_ends,
)
from dynascope.studies.study import studies

STUDY = "concept-diffusion"


def test_half_times_are_the_planted_ones():
    paths = planted((0.2, 0.6))
    found = crossings(paths)
    factors = 1 + 0.01 * np.arange(12)
    assert np.allclose(found[:, 0], 200 * factors, rtol=0.03)
    assert np.allclose(found[:, 1], 600 * factors, rtol=0.03)
    assert np.allclose(log_ratios(paths), np.log(3), atol=0.05)
    assert order(paths).value == pytest.approx(np.log(3), abs=0.05)
    assert flip(planted((0.6, 0.2)), paths).value == pytest.approx(2 * np.log(3), abs=0.1)


def test_a_concept_that_is_never_learned_counts_with_the_last_readable_step():
    short = planted((0.1, 0.6))
    readable = np.where(np.arange(60) < 30, 1.0, 0.0) * np.ones((12, 1))
    expected = np.log(short.steps[29] / crossings(short)[:, 0])
    assert np.allclose(log_ratios(short._replace(readable=readable)), expected)
    assert np.allclose(log_ratios(planted((0.2, 9.0)))[0], np.log(5), atol=0.05)
    assert np.isnan(log_ratios(planted((9.0, 9.0)))).all()
    assert order(planted((9.0, 9.0))).value is None


def test_what_is_read_before_pictures_are_readable_does_not_count():
    """An untrained network's pictures read as blue; the gate leaves them out."""
    paths = planted((0.6, 0.3))
    early = paths.concepts.copy()
    early[:, :10, 0] = 1.0
    readable = np.ones_like(paths.readable)
    readable[:, :10] = 0.1
    gated = paths._replace(concepts=early, readable=readable)
    assert np.allclose(crossings(gated), crossings(paths), rtol=0.02)


def test_bend_error_and_its_rise():
    assert bends(planted((0.3, 0.3))).max() < 1e-9
    assert bends(planted((0.2, 0.6))).min() > 0.6
    assert bends(planted((0.6, 0.2))).max() < 0.1
    assert rises(planted((0.2, 0.6))).max() < 1e-9
    swing = rises(planted((0.3, 0.35), dip=0.8))
    assert swing.min() > 0.15
    assert np.allclose(errors(planted((9.0, 9.0)))[:, 0], 1.0, atol=1e-3)
    assert arrivals(planted((0.2, 0.3))).value > 0.95


def test_speed_is_the_slope_and_its_decay_the_rate():
    """Both coordinates at (1 - e^-5t) / (1 - e^-5): log speed falls by 5 over the run."""
    assert slow_down(planted_curve(5.0)).value == pytest.approx(-5, abs=0.3)
    steady = planted_curve(0.0)
    inner = speeds(steady)[0, 5:-5]
    assert np.allclose(inner, 2**0.5 / 1000, rtol=1e-6)
    assert slow_down(steady).high > -1


def test_means_leave_out_what_cannot_be_read():
    values = np.array([[[1, 0, 1], [1, 1, 1], [0, 0, 0]]], bool)
    readable = np.array([[[1, 1, 0], [0, 0, 0], [1, 0, 0]]], bool)
    assert np.array_equal(means_of(values, readable), [[0.5, np.nan, 0.0]], equal_nan=True)


def test_a_network_whose_last_pictures_cannot_be_read_has_an_order_and_no_end():
    good = planted((0.2, 0.6))
    concepts, readable = good.concepts.copy(), good.readable.copy()
    concepts[0, -3:], readable[0, -3:] = np.nan, 0.0
    cut = Paths(good.steps, concepts, readable)
    assert np.allclose(log_ratios(cut), log_ratios(good))
    for measure in (bends, rises):
        assert np.isnan(measure(cut)[0]) and np.allclose(measure(cut)[1:], measure(good)[1:])
    for measure in (transient_bend, second_descent):
        rest = measure(good._replace(concepts=good.concepts[1:], readable=good.readable[1:]))
        assert measure(cut).value == pytest.approx(rest.value, abs=1e-12)
        assert measure(cut).n == rest.n == len(concepts) - 1
    assert unreadable_ends(cut).endswith(f"1 of {len(concepts)} seeds.") and not unreadable_ends(
        good
    )
    assert arrivals(cut).value is None or np.isnan(arrivals(cut).value)


def test_a_concept_that_is_there_for_a_moment_is_not_learned():
    late = planted((0.3, 0.6))
    concepts = late.concepts.copy()
    concepts[:, 2:4, 1] = 1.0  # two checkpoints of sixty
    assert np.allclose(crossings(late._replace(concepts=concepts)), crossings(late), rtol=0.02)


def test_a_checkpoint_without_readable_pictures_has_no_weight():
    good = planted((0.2, 0.6))
    concepts, readable = good.concepts.copy(), good.readable.copy()
    concepts[:, 30], readable[:, 30] = np.nan, 0.0
    ratios = log_ratios(good._replace(concepts=concepts, readable=readable))
    assert np.allclose(ratios, log_ratios(good), atol=0.01)


def test_what_was_learned_before_anything_could_be_read_has_no_order():
    """Two coordinates above the level from the first readable checkpoint on tell nothing."""
    paths = planted((0.2, 0.3))
    readable = np.where(np.arange(60) < 40, 0.0, 1.0) * np.ones((12, 1))
    late = paths._replace(readable=readable)
    assert np.isnan(log_ratios(late)).all() and order(late).value is None


def test_when_a_concept_counts_as_learned_moves_its_step():
    """t^4 / (t^4 + half^4) passes three quarters at 3^(1/4) of its half-time."""
    found = crossings(planted((0.2, 0.6))._replace(learned=0.75))
    assert np.allclose(found / crossings(planted((0.2, 0.6))), 3**0.25, rtol=0.03)


def test_one_readable_checkpoint_is_no_lasting_one():
    """What stands before the first readable checkpoint in its place does not count."""
    late = planted((0.3, 0.6))
    concepts, readable = late.concepts.copy(), late.readable.copy()
    readable[:, :10], concepts[:, 10, 1] = 0.0, 1.0  # the first that can be read, and only it
    odd = late._replace(concepts=concepts, readable=readable)
    assert (odd.smooth()[:, 10, 1] > 0.5).all()
    assert np.allclose(crossings(odd), crossings(late), rtol=0.02)


def test_paths_of_one_readable_checkpoint_do_not_break():
    paths = Paths(np.arange(1.0, 5), np.zeros((1, 4, 2)), np.zeros((1, 4)))
    assert np.isinf(crossings(paths)).all()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("colours", (0.0, 0.5), "order is undefined"),
        ("colours", (0.5, 0.2), "the weakest first"),
        ("sampling_steps", 0, None),
        ("task.colour", 0.0, "order is undefined"),
        ("checkpoints", 2, "at least 4"),
    ],
)
def test_settings_without_an_order_are_refused(path, value, words):
    study = studies.get(STUDY)
    if words is None:  # refused where the experiment is made
        settings = set_path(study.at("smoke"), path, value)
        node = next(n for n in study.nodes if n.name == "trained")
        with pytest.raises(BadInput, match="sampling_steps: got 0"):
            node.function(settings)
        return
    with pytest.raises(BadInput, match=words):
        set_path(study.at("smoke"), path, value)


def test_a_side_that_the_network_cannot_halve_is_refused():
    study = studies.get(STUDY)
    settings = set_path(study.at("laptop"), "task.side", 20)
    node = next(n for n in study.nodes if n.name == "trained")
    with pytest.raises(BadInput, match="a multiple of 8: the U-Net halves it 3 times"):
        node.function(settings)


def test_paper_scale_is_the_printed_setting():
    s = studies.get(STUDY).at("paper")
    assert (s.task.side, s.model.channels, s.steps, s.batch_size) == (
        32, (64, 128, 256), 20_000, 128,
    )  # fmt: skip
    at = s.saved_at(s.steps).at
    assert len(at) == 60 and at[0] == 500 and at[-1] == 20_000
    roots = np.diff(np.sqrt(at))
    assert np.allclose(roots, roots.mean(), rtol=0.01)
    assert len(s.colours) == 7 and s.task.middle == 0.5


@pytest.mark.slow
def test_sheets_hold_pictures_of_training(outcome):
    sheets = [c for c in outcome.charts if c.name.startswith("sheet-")]
    assert {c.name for c in sheets} == {"sheet-weak", "sheet-strong"}
    for chart in sheets:
        (grid,) = chart.panels[0].marks
        assert isinstance(grid, PictureGrid)
        shown = grid.array()
        assert shown.shape[:2] == (4, 5) and shown.std() > 1


@pytest.mark.slow
def test_smoke_scale_reads_pictures_and_judges_no_training(claims):
    assert claims["pixels-tell-the-concepts"].measured.value > 0.99
    others = [c for name, c in claims.items() if name != "pixels-tell-the-concepts"]
    assert all("stop before anything is learned" in c.note for c in others)
