"""A sweep as separately compiled groups, and their results as one dataset again.

Axes that change numbers alone stay lanes of one program; axes that change shapes or
switches (a width, an activation) are taken apart, one experiment per value.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from dynascope.core.errors import bad
from dynascope.core.leaves import skeleton
from dynascope.core.paths import set_path
from dynascope.core.plain import Codes
from dynascope.engine import Experiment
from dynascope.engine.dataset import Labeller
from dynascope.engine.experiment import axis_label

Changes = dict[str, Any]


def split(experiment: Experiment) -> list[tuple[Changes, Experiment]]:
    """The experiments to compile, each with the values of the axes that were taken apart.

    Raises `BadInput` where several of them would each keep rows of their own.
    """
    whole = replace(experiment, over=())
    apart = [axis for axis in experiment.over if _changes_shape(whole, *axis)]
    lanes = tuple(axis for axis in experiment.over if axis not in apart)
    groups = []
    for values in itertools.product(*(values for _, values in apart)):
        changes = dict(zip([path for path, _ in apart], values, strict=True))
        group = whole
        for path, value in changes.items():
            group = set_path(group, path, value)
        groups.append((changes, replace(group, over=lanes)))
    if len(groups) > 1 and experiment.record.watches:
        raise bad(
            "record", type(experiment.record).__name__,
            f"a policy that looks at no values: along {apart[0][0]} every value is compiled "
            "apart and would keep other rows", "record=record.Every(10)",
        )  # fmt: skip
    return groups


def _changes_shape(experiment: Experiment, path: str, values: tuple) -> bool:
    codes: Codes = {}
    return len({skeleton(set_path(experiment, path, value), codes) for value in values}) > 1


def _numbered(part: xr.Dataset, ragged: set) -> xr.Dataset:
    """Numbers along axes whose length differs between groups, so that they can be aligned."""
    return part.assign_coords({d: range(part.sizes[d]) for d in ragged if d not in part.coords})


def _join_seeds(parts: list[tuple[Changes, xr.Dataset]]) -> list[tuple[Changes, xr.Dataset]]:
    joined: dict[str, tuple[Changes, list[xr.Dataset]]] = {}
    for changes, part in parts:
        joined.setdefault(repr(changes), (changes, []))[1].append(part)
    return [
        (changes, same[0] if len(same) == 1 else xr.concat(same, "seed", data_vars="minimal"))
        for changes, same in joined.values()
    ]


def _to_one_end(
    experiment: Experiment, parts: list[tuple[Changes, xr.Dataset]]
) -> list[tuple[Changes, xr.Dataset]]:
    """All parts with the steps of the longest: one whose lanes have all stopped ends early.

    All of its lanes stand still, so its later rows are its last one again.
    """
    longest = max((part["step"] for _, part in parts), key=len)
    steps = longest.values
    if all(np.array_equal(part["step"], steps) for _, part in parts):
        return parts
    for _, part in parts:
        same = np.array_equal(part["step"], steps[: part.sizes["step"]])
        if not same or experiment.record.watches:
            raise bad(
                "record", type(experiment.record).__name__, "a policy that keeps the same rows of "
                "all seeds, wherever they run", "record=record.Every(10)",
            )  # fmt: skip
    groups = {repr(changes): group for changes, group in split(experiment)}
    return [(c, _longer(part, longest, groups[repr(c)])) for c, part in parts]


def _longer(part: xr.Dataset, step: xr.DataArray, group: Experiment) -> xr.Dataset:
    """A part to the last of these steps. A schedule's time goes on, a followed rate's does not."""
    rows = np.minimum(np.arange(step.size), part.sizes["step"] - 1)
    longer = part.isel(step=rows).assign_coords(step=step.variable)
    times = Labeller(group, group.grid(), group.recorded_at()).times
    if times is None:
        return longer
    dims, values = times
    return longer.assign_coords(time=(dims, values[..., : step.size], part["time"].attrs))


def _same_axes(parts: list[tuple[Changes, xr.Dataset]]) -> list[tuple[Changes, xr.Dataset]]:
    """A probe's axis that has the probe's name in front in some groups has it in all.

    Two probes may share an axis in those groups alone in which it has one size.
    """
    for name in parts[0][1].data_vars:
        dims = {str(d) for _, part in parts if name in part for d in part[name].dims}
        own = {dim: f"{name}_{dim}" for dim in dims if f"{name}_{dim}" in dims}
        if own:
            parts = [(changes, _with_axes(part, name, own)) for changes, part in parts]
    return parts


def _with_axes(part: xr.Dataset, name: Hashable, names: dict[str, str]) -> xr.Dataset:
    """The part with other names for the axes of one variable."""
    if name not in part:
        return part
    return part.assign({name: part[name].rename({d: n for d, n in names.items()
                                                 if d in part[name].dims})})  # fmt: skip


def merge(experiment: Experiment, parts: list[tuple[Changes, xr.Dataset]]) -> xr.Dataset:
    """The groups' datasets along the axes that were taken apart; smaller arrays end in NaN.

    Parts of the same group that hold different seeds are put together first.
    """
    parts = _same_axes(_join_seeds(_to_one_end(experiment, parts)))
    apart = list(parts[0][0])
    if not apart:
        return parts[0][1]
    ragged = {d for _, p in parts for d in p.dims if p.sizes[d] != parts[0][1].sizes[d]}
    labelled = [
        _numbered(part, ragged).expand_dims({
            path: [axis_label(value)] for path, value in changes.items()
        })
        for changes, part in parts
    ]
    for path in reversed(apart):  # the innermost axis varies fastest
        others = [p for p in apart if p != path]
        bundles: dict[tuple, list[xr.Dataset]] = {}
        for part in labelled:
            bundles.setdefault(
                tuple(part[p].values[0] for p in others if p in part.dims), []
            ).append(part)
        labelled = [
            xr.concat(b, path, join="outer", coords="different", compat="equals")
            for b in bundles.values()
        ]
        apart = others
    axes = [*(path for path, _ in experiment.over), "seed", "step"]
    return labelled[0].transpose(*axes, ...)
