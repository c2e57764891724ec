"""Kept parameters read back from a run, in the form in which the model has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import jax
import numpy as np

from dynascope.core.attributes import as_values
from dynascope.core.errors import bad
from dynascope.core.parts import KEPT
from dynascope.core.paths import set_path
from dynascope.core.plain import from_plain
from dynascope.core.run import Run
from dynascope.dynamics.base import NEVER
from dynascope.engine.experiment import axis_labels
from dynascope.models import Model
from dynascope.tasks import Task

if TYPE_CHECKING:
    import xarray as xr


def kept_parameters(
    run: xr.Dataset | Run,
    step: float | Literal["best"],
    *,
    task: Task | None = None,
    model: Model | None = None,
) -> Any:
    """The parameters that a run kept of one lane, in the form in which the model has them.

    Args:
        run: The lane, such as `run.sel(seed=0)`; a run of one seed is its only lane.
        step: One of the kept steps, for flows a time; or "best".
        task: What the run was made with, where that is code of your own.
        model: The same for the model.

    Returns:
        The model's parameters as numpy arrays, for `model.build(...).apply`; NaN where the lane
        had diverged by then.

    Example:
        >>> import dynascope as ds
        >>> from dynascope import dynamics, models, probes, record, tasks
        >>> run = ds.simulate(
        ...     tasks.IdentityMapping((1.0,), (0.0,)), models.Linear(initial_jacobian=((0.0,),)),
        ...     dynamics.GradientDescent(0.5), steps=2, probes=[probes.Loss()],
        ...     keep=record.Keep(at=(1,)))
        >>> kept_parameters(run, 1)  # 1 - (1 - 0.5)^1
        array([[0.5]], dtype=float32)
    """
    if isinstance(run, Run):
        task, model = task or run.experiment.task, model or run.experiment.model
        run = run.dataset
    values = _lane_values(run, step)
    spec = as_values(run.attrs)["spec"]
    pieces: dict[str, Any] = {"task": task, "model": model}
    pieces = {kind: piece or from_plain(spec[kind]) for kind, piece in pieces.items()}
    for path, swept in from_plain(spec["over"]):
        kind, _, inside = path.partition(".")
        if kind in pieces:
            labels = zip(swept, axis_labels(swept), strict=True)
            [value] = [v for v, label in labels if label == run[path].item()]
            pieces[kind] = set_path(pieces[kind], inside, value)
    task, model = pieces["task"], pieces["model"]
    network = model.build(task.input_size, task.output_size)
    shapes, tree = jax.tree.flatten(jax.eval_shape(network.init, jax.random.key(0)))
    ends = np.cumsum([int(np.prod(s.shape)) for s in shapes])
    parts = np.split(values[: ends[-1]], ends[:-1])  # a wider model beside it leaves NaN behind
    shaped = [part.reshape(s.shape) for part, s in zip(parts, shapes, strict=True)]
    return jax.tree.unflatten(tree, shaped)


def _lane_values(run: xr.Dataset, step: float | str) -> np.ndarray:
    if step == "best":
        if "best_parameters" not in run:
            raise bad("step", step, "a run with keep=record.Keep(best=...)")
        if (run["best_step"] == NEVER).any():
            raise bad("step", step, "a lane whose quantity was ever a number")
        kept = run["best_parameters"]
    else:
        steps = run[KEPT].values.tolist() if KEPT in run.coords else []
        if step not in steps:
            raise bad("step", step, f"one of those kept: {steps or 'none'}")
        kept = run["kept_parameters"].sel({KEPT: step})
    if kept.size > kept.sizes["parameter"]:
        raise bad("run", " x ".join(map(str, kept.dims[:-1])), "one lane", "run.sel(seed=0)")
    return kept.values.ravel()
