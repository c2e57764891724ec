"""`quadratic-multi`: starts against the engine and a dense kernel, measures on planted sweeps."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, tasks
from dynascope.core.encoding import decode, encode
from dynascope.core.errors import BadInput
from dynascope.core.randomness import key_for
from dynascope.core.run import Run
from dynascope.engine import execute
from dynascope.runtime.precision import precision
from dynascope.studies import studies
from dynascope.studies.catapult.quadratic_general.networks import TrainingOutput
from dynascope.studies.catapult.quadratic_multi import equations, regimes, runs
from dynascope.studies.catapult.quadratic_multi.direction_kernel import DirectionKernel
from dynascope.studies.catapult.quadratic_multi.runs import Sweep
from dynascope.studies.catapult.quadratic_multi.starts import (
    Start,
    dense_kernel,
    seeds_with_a_gap,
    start_of,
)
from dynascope.studies.nodes import Missing

TASK = tasks.TwoClusters(count=12)


def test_the_seeds_that_are_shown_have_a_gap_and_the_critical_rates_of_the_figure():
    settings = studies.get("quadratic-multi").at("smoke")
    chosen = seeds_with_a_gap(settings.task, settings.width, settings.starts)
    assert len(chosen) == settings.starts
    for start in chosen:
        first, second = start.critical
        assert 1.05 <= second / first <= 1.5 and 0.3 <= first <= 0.5
        below, middle, above, past = start.rates
        assert below < first < middle < second < above < 2 * first < past
    assert decode(encode(chosen), tuple[Start, ...])[1].rates == pytest.approx(chosen[1].rates)


def test_the_kernel_of_a_start_is_that_of_its_gradients():
    """J J^T of the network, formed densely."""
    start = start_of(TASK, 30, 1)
    with precision("float64"):
        network = models.TwoLayerReLU(30).build(1, 1)
        params = network.init(key_for(1, "init"))
        gradients = jax.jacobian(lambda p: network.apply(p, start.x[:, None])[:, 0])(params)
        rows = np.concatenate(
            [np.asarray(g).reshape(12, -1) for g in jax.tree.leaves(gradients)], 1
        )
    assert np.allclose(rows @ rows.T, start.kernel, rtol=1e-12, atol=1e-12)
    assert np.allclose(rows @ rows.T, dense_kernel(TASK, 30, 1), rtol=1e-12, atol=1e-12)
    for direction, critical in zip(start.directions, start.critical, strict=True):
        value = direction.unit @ start.kernel @ direction.unit
        assert 12 / value == pytest.approx(critical)


@pytest.mark.slow
def test_the_start_is_that_of_the_engine():
    start = start_of(TASK, 50, 3)
    run = ds.simulate(
        TASK, models.TwoLayerReLU(50), dynamics.GradientDescent(0.1), steps=1,
        probes=[TrainingOutput(), DirectionKernel()], seeds=[3], dtype="float64", progress=False,
    ).isel(seed=0, step=0)  # fmt: skip
    assert np.allclose(run["training_output"], start.outputs, rtol=1e-12)
    value = run["direction_kernel"].sel(number="value")
    for direction, kernel in zip(start.found, start.kernels, strict=True):
        assert float(value.sel(direction=direction.name)) == pytest.approx(kernel, rel=1e-12)
    assert abs(float(value.sel(direction="outside"))) < 1e-12 * max(start.kernels)


@pytest.mark.slow
def test_inputs_of_one_sign_have_one_direction_and_no_nan():
    model = models.TwoLayerReLU(20)
    with pytest.raises(BadInput, match="one dimension"):
        ds.simulate(
            tasks.OneExample(dimension=2), model, dynamics.GradientDescent(0.1), steps=1,
            probes=[DirectionKernel()],
        )  # fmt: skip
    one = tasks.OneExample(dimension=1)
    run = ds.simulate(
        one, model, dynamics.GradientDescent(0.1), steps=1, probes=[DirectionKernel()],
        dtype="float64", progress=False,
    )  # fmt: skip
    values = run["direction_kernel"].sel(number="value").values[0, 0]
    assert np.isfinite(values).all() and np.sum(values > 1e-9) == 1


@pytest.mark.slow
def test_the_regimes_at_the_width_of_the_figure_are_the_known_ones():
    """Width 5000: each bound in each seed, the network's second apart."""
    settings = runs.Settings(starts=2)
    assert (settings.width, settings.task.count) == (5000, 128)
    starts = seeds_with_a_gap(settings.task, settings.width, settings.starts)
    experiments = runs.descents.function(settings, starts)
    found = {name: Run(execute(e, progress=False), e) for name, e in experiments.items()}
    for model, sweeps in runs.sweeps.function(settings, starts, found).items():
        for sweep in sweeps:
            first, second = sweep.start.critical
            assert 0.3 <= first <= 0.5 and second >= 1.05 * first
            ratio = sweep.kernels / sweep.kernels[..., :1]  # (direction, rate, step)
            assert np.abs(ratio[:, runs.BELOW] - 1).max() <= 0.01
            assert ratio[0, runs.BETWEEN, -1] <= 0.97
            if model == "quadratic model":  # a network's gates move the second as well
                assert np.abs(ratio[1, runs.BETWEEN] - 1).max() <= 0.01
            assert (ratio[:, runs.ABOVE, -1] <= 0.8).all()
            assert sweep.diverged.tolist() == [False, False, False, True]


def planted(falls: tuple[float, float], steps: int = 45, width: int = 30) -> Sweep:
    """A sweep along the exact maps, its eigenvalues replaced by lines that fall so much."""
    (start,) = seeds_with_a_gap(TASK, width, 1)
    outside = start.outputs - start.y
    for d in start.found:
        outside = outside - (outside @ d.unit) * d.unit
    outputs = np.empty((4, steps + 1, 12))
    for rate in range(4):
        paths = [m.trajectory(steps).residual for m in start.maps(rate, width)]
        outputs[rate] = start.y + outside + np.array(paths).T @ [d.unit for d in start.directions]
    fall = 1 - np.multiply.outer(falls, np.linspace(0, 1, steps + 1))
    kernels = np.sort(start.kernels)[::-1, None] * fall
    kernels = np.repeat(kernels[:, None], 4, axis=1)
    none = np.zeros((4, steps + 1))
    return Sweep(start, width, none, kernels, 0 * kernels, none, outputs, np.arange(4) == 3)


def test_planted_eigenvalues_fall_as_far_as_they_were_made_to():
    sweeps = [planted((0.6, 0.1)), planted((0.5, -0.2)), planted((0.04, 0.005))]
    assert regimes.both_fall([*sweeps, planted((0.3, 0.3))], 0).value == pytest.approx(1 / 4)
    assert regimes.first_falls_most(sweeps, 0).value == pytest.approx(2 / 3)
    assert [regimes.share_diverged(sweeps, rate).value for rate in range(4)] == [0, 0, 0, 1]
    wide = [sweep._replace(width=5000) for sweep in sweeps]
    assert regimes.first_falls(wide, 0).value == pytest.approx(1 / 3)
    assert regimes.stand([*wide, planted((0.009, 0.0), width=5000)], 0).value == 1 / 4
    assert isinstance(regimes.stand(sweeps, 0), Missing)


def test_the_rate_is_above_the_critical_one_until_the_kernel_has_fallen():
    """Between and above both the first has v of at least 2; a tenth of it is below 2."""
    fell, at = [planted((0.9, 0.9))], regimes.CATAPULTED
    assert regimes.above_critical(fell, 0, at, True).value == 1
    assert regimes.above_critical(fell, -1, at, True).value == 0
    assert regimes.above_critical(fell, -1, at, False).value == 1
    assert regimes.above_critical(fell, 0, ((0, 0), (0, 1)), True).value == 0


def exact(steps: int = 45, width: int = 30) -> Sweep:
    """The sweep of `planted` with the eigenvalues that the exact maps give."""
    sweep = planted((0.0, 0.0), steps, width)
    kernels = [[m.trajectory(steps).kernel for m in sweep.start.maps(k, width)] for k in range(4)]
    return sweep._replace(kernels=np.swapaxes(np.array(kernels), 0, 1))


def test_the_matrix_equations_are_the_two_maps_side_by_side():
    """Two derivations of one descent: matrices over all samples, and two numbers a direction."""
    sweep = exact(width=2000)
    assert equations.keeps_matrices([sweep], True).value == 1
    assert equations.keeps_matrices([sweep], False).value == 0
    assert equations.keeps_reduction([sweep], 1).value == 1
    assert equations.keeps_loss([sweep], False).value == 1
    assert equations.keeps_loss([sweep], True).value == 0
    wrong = sweep._replace(kernels=(1 + 1e-8) * sweep.kernels)
    assert equations.keeps_matrices([sweep, wrong], True).value == 0.5
    assert equations.keeps_reduction([wrong, sweep], 1).value == 0.5


def test_a_constant_kernel_is_right_only_for_one_that_stands():
    sweeps = [planted((0.9, 0.0)), planted((0.01, 0.0))]
    assert equations.keeps_law(sweeps, "constant").value == 0.5
    assert equations.keeps_law(sweeps, "printed").value == 0


def test_growth_by_a_law_is_told_from_growth_by_another():
    """Check of the planted inputs: each passes its own law and not the other."""
    sweep = exact(width=2000)
    kernels = np.where(np.arange(46) < 8, sweep.kernels, np.nan)
    planted_growth = runs.planted_growth.function(None, [sweep._replace(kernels=kernels)])
    assert equations.grows_by(planted_growth["printed"], True, False).value == 1
    assert equations.grows_by(planted_growth["printed"], False, False).value == 0
    assert equations.grows_by(planted_growth["corrected"], False, False).value == 1


def test_numbers_after_a_divergence_are_not_counted():
    shares = np.array([[1.0, np.nan], [0.5, 0.2]])
    assert equations.within(shares, 0.5).value == 0.5


def test_peaks_in_proportion_to_the_width_are_told_from_others():
    widths = runs.WIDTHS
    assert regimes.in_proportion(np.array([widths, widths**0.5, widths])).value == 2 / 3
    assert regimes.in_proportion(widths[None], widths[None] ** 0.5).value == 0
