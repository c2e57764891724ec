"""A run with what it is: the dataset, the experiment behind it, and the record that holds it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Run:
    """What a study's nodes, theories and reports are given of an experiment.

    Example:
        >>> import xarray as xr
        >>> losses = xr.Dataset({"loss": (("seed", "step"), [[2.0, 1.0], [4.0, 3.0]])})
        >>> Run(losses, experiment=None).isel(seed=1)["loss"].values.tolist()
        [4.0, 3.0]
    """

    dataset: xr.Dataset
    experiment: Any  # an `engine.Experiment`
    record: str | None = None  # the id of the stored run

    def __getitem__(self, name: str) -> xr.DataArray:
        """A measured quantity or a coordinate."""
        return self.dataset[name]

    def __contains__(self, name: str) -> bool:
        return name in self.dataset

    @property
    def sizes(self) -> Any:
        """The length of every dimension."""
        return self.dataset.sizes

    def isel(self, **indexers: Any) -> Run:
        """The part of the run at some positions."""
        return replace(self, dataset=self.dataset.isel(indexers))

    def sel(self, **indexers: Any) -> Run:
        """The part of the run at some labels."""
        return replace(self, dataset=self.dataset.sel(indexers))

    def planted(self, **values: Any) -> Run:
        """The run with other values in place of measured ones: an input whose answer is known.

        Example:
            >>> import xarray as xr
            >>> run = Run(xr.Dataset({"loss": (("seed", "step"), [[2.0, 1.0]])}), experiment=None)
            >>> run.planted(loss=[[1.0, 3.0]])["loss"].values.tolist()
            [[1.0, 3.0]]
        """
        arrays = {name: (self.dataset[name].dims, value) for name, value in values.items()}
        return replace(self, dataset=self.dataset.assign(arrays), record=None)
