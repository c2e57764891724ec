"""A run of a linear model on concepts, and what a theory of its matrix predicts from its start."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import xarray as xr

from dynascope.dynamics import Dynamics
from dynascope.engine import simulate
from dynascope.engine.record import Evenly
from dynascope.models import Model
from dynascope.probes import InputJacobian, OutputAt, Probe
from dynascope.runtime.precision import precision
from dynascope.tasks import IdentityMapping
from dynascope.theories.swing_by.closed_form import flow_decay, one_layer_jacobian
from dynascope.theories.swing_by.tied_flow import read_jacobian, tied_flow

POINTS = 241  # of the run that are recorded
DRAWN = 1e-8  # error of the theory's solver: a drawing shows no more
Theory = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def one_layer_flow(start: np.ndarray, signal: np.ndarray, times: np.ndarray) -> np.ndarray:
    """W of a model of one layer under gradient flow, (time, d, d); see `followed`.

    Example:
        >>> one_layer_flow(np.zeros((1, 1)), np.array([1.0]), np.array([0.0, np.log(4)])).ravel()
        array([0.  , 0.75])
    """
    return one_layer_jacobian(flow_decay(signal, times), start)


def two_layer_flow(start: np.ndarray, signal: np.ndarray, times: np.ndarray) -> np.ndarray:
    """W = U U^T of the symmetric model under gradient flow, (time, d, d); see `followed`.

    The flow depends on U(0) through W(0) alone: any root of it will do.

    Example:
        >>> grown = two_layer_flow(np.array([[0.01]]), np.array([1.0]), np.array([0.0, 1.0]))
        >>> bool(abs(grown[1, 0, 0] - 1 / (1 + 99 * np.exp(-4.0))) < 1e-6)  # logistic growth
        True
    """
    values, vectors = np.linalg.eigh(start.astype(float))
    root = vectors * np.sqrt(np.clip(values, 0, None))
    return read_jacobian(tied_flow(root, signal, 2 * times, rtol=DRAWN))


def followed(
    task: IdentityMapping, model: Model, dynamics: Dynamics, steps: int, seed: int,
    theory: Theory, probes: tuple[Probe, ...] = (),
) -> xr.Dataset:  # fmt: skip
    """A run, with the theory's output and test loss from the run's own start at the run's times.

    Args:
        task: Concepts.
        model: A linear one.
        dynamics: How it moves.
        steps: How long.
        seed: Of its start.
        theory: Gives W by time from W(0), the signals and times of gradient flow.
        probes: What to measure beside the output and W.

    Returns:
        What was measured, and `theory_output` and `theory_test_loss`; all over `step`.

    Example:
        >>> from dynascope.dynamics import GradientDescent
        >>> from dynascope.models import Linear
        >>> task = IdentityMapping(means=(1.0, 2.0), scales=(0.1, 0.1), dimension=2)
        >>> run = followed(task, Linear(0.1), GradientDescent(0.01), 500, 0, one_layer_flow)
        >>> bool(abs(run["theory_output"] - run["output_at"]).max() < 0.01)
        True
    """
    run = simulate(
        task, model, dynamics, steps=steps, record=Evenly(POINTS), seeds=[seed], progress=False,
        probes=[*probes, OutputAt(task.test_point), InputJacobian()],
    ).isel(seed=0)  # fmt: skip
    signal, goal = rates(task), target(task)
    w = theory(run["input_jacobian"].values[0], signal, run["time"].values)
    lost = 0.5 * np.sum(((w - np.eye(len(goal))) @ goal) ** 2, axis=-1)
    predicted = {
        "theory_output": (("step", "output"), w @ goal),
        "theory_test_loss": ("step", lost),
    }
    return run.merge(xr.Dataset(predicted))


def rates(task: IdentityMapping) -> np.ndarray:
    """How fast one layer learns each concept: sigma_k^2 + mu_k^2 / K.

    Example:
        >>> task = IdentityMapping(means=(1.0, 2.0), scales=(0.0, 1.0), dimension=2)
        >>> rates(task).tolist()
        [0.5, 3.0]
    """
    with precision("float64"):
        return np.asarray(task.moments()) * task.gradient_factor


def target(task: IdentityMapping) -> np.ndarray:
    """The test point, at which all concepts come together.

    Example:
        >>> target(IdentityMapping(means=(1.0, 2.0), scales=(0.1, 0.1), dimension=3)).tolist()
        [1.0, 2.0, 0.0]
    """
    with precision("float64"):
        return np.asarray(task.test_input())
