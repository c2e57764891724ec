"""A training run that is over, looked at through the checkpoints it left."""

from __future__ import annotations

import copy
import glob
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dynascope.core.errors import BadInput, bad, unknown
from dynascope.data.checkpoints import read_checkpoint
from dynascope.watching.measurements import KERNEL_COUNT, Now, UpdateRanks, preset
from dynascope.watching.rows import Rows
from dynascope.watching.rules import UpdateRule
from dynascope.watching.torch_point import TorchModel

if TYPE_CHECKING:
    import torch
    import xarray as xr


TOLERANCE = 1e-3  # of a residual: no loop waits for it


def checkpoints(
    pattern: str,
    model: torch.nn.Module,
    loss: Callable | None = None,
    batch: Any = None,
    learning_rate: float = np.nan,
    rule: UpdateRule | None = None,
    detail: str = "standard",
) -> xr.Dataset:
    """Measure the same model at every checkpoint of a run.

    Args:
        pattern: Files, such as "run/*.safetensors". The last whole number in a name is its step.
        model: A torch model of that shape; it is copied, not changed.
        loss: `loss(outputs, targets)`; None for models that return their own.
        batch: What to measure curvature on; without it only ranks of changes are measured.
        learning_rate: Of the run, for the rate over the critical one.
        rule: The update rule; plain descent by default.
        detail: A preset: "light", "standard" or "full".

    Returns:
        The record, as that of a watched loop; `loss` is that of the batch.
    """
    files = sorted(glob.glob(pattern), key=lambda path: (_step(path, 0), path))
    if not files:
        raise bad("pattern", pattern, "files that exist", "put it in quotes: 'run/*.safetensors'")
    steps = [_step(path, i) for i, path in enumerate(files)]
    if len(set(steps)) < len(steps):
        raise bad("pattern", pattern, "names that end in different numbers of steps")
    watched = TorchModel(copy.deepcopy(model), loss)
    _load(watched.module, files[0])
    found = (
        preset(detail, watched, TOLERANCE)
        if batch is not None
        else [UpdateRanks(watched.weights())]
    )
    weights = next((m.weights for m in found if isinstance(m, UpdateRanks)), [])
    axes = {name: dims for m in found for name, dims in m.names.items()}
    rows = Rows(axes, {"rank": list(range(1, KERNEL_COUNT + 1)), "weight": weights})
    for path, step in zip(files, steps, strict=True):
        _load(watched.module, path)
        row, value = {}, np.nan
        if batch is None:
            now = Now(watched, None, None, None, rule or UpdateRule(), learning_rate)
            row = found[0].measure(now)
        else:
            with watched.at(batch) as point:
                value = point.loss
                now = Now(watched, point, batch, None, rule or UpdateRule(), learning_rate)
                for measurement in found:
                    row |= measurement.measure(now)
        rows.add(step, {"loss": value, "learning_rate": learning_rate}, row)
    data = rows.dataset()
    said = (rule or UpdateRule()).words()
    data.attrs.update(
        critical_rate_of=said, schedule=f"{len(files)} checkpoints", errors=[], notes=[]
    )
    return data


def _step(path: str, otherwise: int) -> int:
    numbers = re.findall(r"\d+", Path(path).stem)
    return int(numbers[-1]) if numbers else otherwise


def _load(module: torch.nn.Module, path: str) -> None:
    """Put the weights of a file into the module; every parameter must be there."""
    import torch

    found = read_checkpoint(Path(path))
    for name, parameter in module.named_parameters():
        if name not in found:
            raise BadInput(f"{path}: {unknown('weight', name, found)}")
        values = torch.as_tensor(np.asarray(found[name], np.float32))
        if values.shape != parameter.shape:
            raise bad(f"{path}: {name}", tuple(values.shape), f"shape {tuple(parameter.shape)}")
        with torch.no_grad():
            parameter.copy_(values)
