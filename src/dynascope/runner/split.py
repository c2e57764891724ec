"""A sweep as separately compiled groups, and their results as one dataset again.

Axes that change numbers alone stay lanes of one program; axes that change shapes or
switches (a width, an activation) are taken apart, one experiment per value.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import xarray as xr

from dynascope.core.leaves import skeleton
from dynascope.core.paths import set_path
from dynascope.core.plain import Codes
from dynascope.engine import Experiment
from dynascope.engine.experiment import axis_label

Changes = dict[str, Any]


def split(experiment: Experiment) -> list[tuple[Changes, Experiment]]:
    """The experiments to compile, each with the values of the axes that were taken apart."""
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


def merge(experiment: Experiment, parts: list[tuple[Changes, xr.Dataset]]) -> xr.Dataset:
    """The groups' datasets along the axes that were taken apart; smaller arrays end in NaN.

    Parts of the same group that hold different seeds are put together first.
    """
    parts = _join_seeds(parts)
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
        labelled = [xr.concat(b, path, join="outer") for b in bundles.values()]
        apart = others
    axes = [*(path for path, _ in experiment.over), "seed", "step"]
    return labelled[0].transpose(*axes, ...)
