"""The rows of a watched run in memory: a few numbers every step, measurements now and then."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

# Where what is measured here has a unit and a meaning beside the shared vocabulary.
MEANINGS = {
    "loss": "Loss of the step, as the loop reported it.",
    "learning_rate": "Learning rate of the step, of the first group of parameters.",
    "gradient_norm": "Length of the loss's gradient on the step's batch.",
    "sharpness": "Largest eigenvalue of the Hessian of the loss on the step's batch.",
    "scaled_sharpness": "The same of D^(1/2) H D^(1/2), D the rule's scaling of the gradient.",
    "critical_learning_rate": "Learning rate at which a step of this rule overshoots.",
    "rate_over_critical": "Learning rate over the critical one.",
    "update_stable_rank": "Squared singular values of a weight's change over the largest.",
    "tangent_kernel_spectrum": "Largest eigenvalues of the tangent kernel of the batch's outputs, "
    "of its first samples, 16 unless asked.",
    "tangent_kernel_norm": "Largest eigenvalue of the tangent kernel of the batch's outputs, of "
    "its first samples, 16 unless asked.",
    "top_space_share": "Share of dL/df in the top eigenspace of that tangent kernel.",
    "kernel_drift": "Change of the tangent kernel on samples of the first batch, relative to the "
    "start.",
    "agop_alignment": "Cosine of the gradient outer product on those samples with a target or its "
    "first value.",
}
# Beside every eigenvalue; a value that has not converged is a lower bound.
CERTIFICATES = {
    "residual": "|A v - value v| / |value| of the eigenvalue.",
    "products": "Products that the eigenvalue took; of the whole spectrum, for a kernel.",
    "converged": "1 where the residual is small enough, 0 where products ran out.",
}


class Rows:
    """Columns that grow: dense ones for every step, sparse ones for measured steps.

    Args:
        measured: Measured variables with their axes beside `step`.
        coords: Labels of those axes.
    """

    def __init__(self, measured: dict[str, tuple[str, ...]], coords: dict[str, list[Any]]) -> None:
        self._axes, self._coords = measured, coords
        self._steps = array("q")
        self._dense: dict[str, array] = {}
        self._measured: list[tuple[int, dict[str, Any]]] = []

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def columns(self) -> tuple[str, ...]:
        """What there is so far: a metric adds one, and so do weights that come with the calls."""
        return (*self._dense, *map(str, self._coords.get("weight", ())))

    def add(self, step: int, numbers: dict[str, float], measured: dict[str, Any] | None) -> None:
        """One step more."""
        for name in numbers:
            if name not in self._dense:
                self._dense[name] = array("d", [np.nan] * len(self._steps))
        for name, column in self._dense.items():
            column.append(numbers.get(name, np.nan))
        if measured is not None:
            self._measured.append((len(self._steps), measured))
        self._steps.append(step)

    def dataset(self, start: int = 0, stop: int | None = None) -> xr.Dataset:
        """Rows from `start` on as labelled arrays; NaN where nothing was measured."""
        import xarray as xr

        stop = len(self._steps) if stop is None else stop
        found: dict[str, Any] = {
            name: ("step", np.array(column[start:stop])) for name, column in self._dense.items()
        }
        for name, axes in self._axes.items():
            shape = tuple(len(self._coords[axis]) for axis in axes)
            values = np.full((stop - start, *shape), np.nan)
            for row, measured in reversed(self._measured):
                if row < start:
                    break
                if row < stop and name in measured:
                    values[row - start] = measured[name]
            found[name] = (("step", *axes), values)
        used = {axis for axes in self._axes.values() for axis in axes}
        coords = {"step": np.array(self._steps[start:stop], np.int64)}
        coords |= {axis: np.array(self._coords[axis]) for axis in sorted(used)}
        data = xr.Dataset(found, coords=coords)
        for name in MEANINGS.keys() & found.keys():
            data[name].attrs["long_name"] = MEANINGS[name]
        for name in found:
            if (ending := name.rpartition("_")[2]) in CERTIFICATES and name in self._axes:
                data[name].attrs["long_name"] = CERTIFICATES[ending]
        return data
