import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.theories.swing_by import stages


def test_crossing_is_linear_between_samples_and_knows_never_and_at_once():
    times = np.array([0.0, 1.0, 2.0, 4.0])
    curves = np.array([[0.0, 0.6, 0.0], [0.2, 0.7, 0.1], [0.4, 0.2, 0.2], [0.8, 0.1, 0.3]])
    found = stages.crossing_times(curves, times, 0.5)
    assert found == pytest.approx([2.5, 0.0, np.inf])
    with pytest.raises(BadInput, match="times"):
        stages.crossing_times(curves, times[:2], 0.5)


def test_majors_cross_in_the_order_of_their_strength(triple):  # S1
    found = stages.half_crossings(triple.path, triple.times)
    assert found == pytest.approx([15.43, 6.23, 2.05], abs=0.01)


def test_minors_peak_before_their_stronger_major_is_done(triple):  # S2
    peaks = triple.times[np.abs(triple.path).argmax(axis=0)]
    done = stages.growth_stops(triple.path, triple.times)
    assert np.array_equal(peaks, peaks.T)
    assert peaks[0, 2] < done[2] and peaks[1, 2] < done[2] and peaks[0, 1] < done[1]
    after = (triple.times > done[2]) & (triple.times < 20)  # then it is round-off
    assert (np.diff(np.abs(triple.path[after, 1, 2])) <= 0).all()


def test_strongest_major_never_falls_and_weaker_ones_do(plane):  # S4, M31
    assert stages.largest_dips(plane["swing-by"].path)[1] < 1e-10
    assert stages.largest_dips(plane["swing-by"].path)[0] == pytest.approx(0.07, abs=0.01)
    assert stages.largest_dips(plane["tight"].path)[0] == pytest.approx(0.71, abs=0.02)


def test_share_of_the_start_that_survives(plane):
    shares = stages.smallest_shares(plane["rank one"].path)
    assert shares[1] == 1 and shares[0] < 1e-6
    assert stages.smallest_shares(plane["diagonal"].path) == pytest.approx([1, 1])


def test_lanes_come_out_as_lanes(plane):
    both = np.stack([plane["swing-by"].path, plane["larger"].path])
    times = plane["swing-by"].times
    alone = stages.growth_intervals(plane["larger"].path, times)
    assert np.array_equal(stages.growth_intervals(both, times)[1], alone)
    assert alone.shape == (2, 2) and (alone[:, 0] < alone[:, 1]).all()
    assert stages.largest_dips(both).shape == (2, 2)


def test_brackets_follow_the_story(plane):  # S3
    system = plane["swing-by"]
    found = stages.stage_brackets(system.path, system.times, system.signal, loss_peak=3.31)
    names = [stage.name for stage in found]
    assert names == ["initial growth", "growth 1", "first suppression", "growth 2"]
    by_name = {stage.name: stage for stage in found}
    assert by_name["initial growth"].end == pytest.approx(1.45, abs=0.02)
    assert by_name["first suppression"].end == 3.31
    assert by_name["growth 1"].end < by_name["growth 2"].end
    without = stages.stage_brackets(system.path, system.times, system.signal)
    second = next(stage for stage in without if stage.name == "growth 2")
    assert any(s.name == "first suppression" and s.end == second.start for s in without)


def test_growth_that_never_starts_has_no_bracket(plane):
    system = plane["rank one"]
    names = [s.name for s in stages.stage_brackets(system.path, system.times, system.signal)]
    assert "growth 1" in names and "growth 2" not in names
