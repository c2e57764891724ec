"""A run comes in parts that follow each other along `step`; this makes one dataset of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

STEP = "step"
KEPT = "kept"  # the points at which parameters were kept
GROWING = (STEP, KEPT)  # what becomes longer from part to part; a variable has one of them at most


def join_parts(parts: Sequence[xr.Dataset]) -> xr.Dataset:
    """The parts behind each other along `step` or `kept`; what has neither is the last part's.

    Example:
        >>> import xarray as xr
        >>> first, second = (xr.Dataset({"loss": ("step", [v])}) for v in (2.0, 1.0))
        >>> join_parts([first, second])["loss"].values.tolist()
        [2.0, 1.0]
    """
    import numpy as np
    import xarray as xr

    last = parts[-1]
    if len(parts) == 1:
        return last

    def whole(name: Any) -> tuple:
        dims = last[name].dims
        along = [dims.index(d) for d in GROWING if d in dims]
        if not along:
            return dims, last[name].values, last[name].attrs
        [axis] = along
        values = np.concatenate([p[name].values for p in parts], axis=axis)
        return dims, values, last[name].attrs

    return xr.Dataset(
        {name: whole(name) for name in last.data_vars},
        coords={name: whole(name) for name in last.coords},
    )
