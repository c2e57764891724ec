"""Labelled arrays as bytes: a Zarr group in one zip file per part.

One file per part has one checksum and arrives in one move, and a thousand records are a
few thousand files. Other programs read it with zarr's `ZipStore`.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dynascope.core.errors import BadInput, bad
from dynascope.core.parts import GROWING
from dynascope.store.archives import zarr_files
from dynascope.store.manifest import to_json

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

_TEXT = "UT"  # numpy's kinds of text; object arrays of text are the third
_NUMBERS = "?bhilqBHILQefdFD"  # bool, whole numbers, floats and complex numbers Zarr has names for
_ONE_CHUNK = 32 << 20  # bytes; larger arrays are left to Zarr's own choice of chunks


def pack(part: xr.Dataset) -> bytes:
    """The variables, coordinates and their attributes as a zipped Zarr group.

    The dataset's own attributes belong to the manifest and are left out.
    """
    import zarr
    from zarr.storage import MemoryStore

    files: dict[str, Any] = {}
    index = {
        str(name): {
            "coord": name in part.coords,
            "dtype": _dtype_text(part[name].dtype),
            "attrs": json.loads(to_json(part[name].attrs, f"attributes of {name}")),
        }
        for name in part.variables
    }
    beside = [n for n in map(str, part.coords) if n not in part.dims and " " not in n]
    attributes = {"dynascope": index, "coordinates": " ".join(beside)}  # xarray reads the latter
    group = zarr.create_group(MemoryStore(files), attributes=attributes)
    for name, variable in part.variables.items():
        _write_array(group, str(name), variable)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for key in sorted(files):  # fixed order and dates: equal content, equal bytes
            archive.writestr(zipfile.ZipInfo(key), files[key].to_bytes())
    return packed.getvalue()


def unpack(data: bytes) -> xr.Dataset:
    """The dataset that `pack` wrote, without the dataset's own attributes."""
    import xarray as xr
    import zarr
    from zarr.buffer.cpu import Buffer
    from zarr.storage import MemoryStore

    files: dict[str, Any] = {k: Buffer.from_bytes(v) for k, v in zarr_files(data).items()}
    group: Any = zarr.open_group(MemoryStore(files), mode="r", zarr_format=3)
    variables: dict[bool, dict[str, Any]] = {True: {}, False: {}}
    for name, about in group.attrs["dynascope"].items():
        array = group[_node(name)]
        values = _read_values(array, about["dtype"])
        dims = array.metadata.dimension_names or ()  # none are written for a single number
        variables[about["coord"]][name] = (dims, values, about["attrs"])
    return xr.Dataset(variables[False], coords=variables[True])


def layout(part: xr.Dataset) -> dict[str, Any]:
    """Dims, shape (with 0 rows along `step` and `kept`) and dtype of every variable, as plain data.

    Parts of one record share it; text may grow longer from part to part.
    """
    return {
        str(name): {
            "dims": list(map(str, v.dims)),
            "shape": [0 if d in GROWING else n for d, n in v.sizes.items()],
            "dtype": "text" if v.dtype.kind in _TEXT else _dtype_text(v.dtype),
        }
        for name, v in part.variables.items()
    }


def check_layout(known: dict[str, Any], part: xr.Dataset) -> dict[str, Any]:
    """The part's layout; `BadInput` if it does not continue the known one."""
    found = layout(part)
    for name in dict.fromkeys([*known, *found]):
        if known and known.get(name) != found.get(name):
            raise bad(f"part[{name!r}]", found.get(name), f"{known.get(name)} as in earlier parts")
    return found


def _write_array(group: Any, name: str, variable: xr.Variable) -> None:
    import numpy as np
    from zarr.codecs import BloscCodec

    values = np.asarray(variable.values)
    text = values.dtype.kind in _TEXT or values.dtype == object
    if values.dtype == object and not all(isinstance(v, str) for v in values.flat):
        raise bad(name, values, "numbers or text")
    if not text and values.dtype.char not in _NUMBERS:
        raise BadInput(f"{name}: got values of type {values.dtype}, expected numbers or text")
    array = group.create_array(
        _node(name),
        shape=values.shape,
        dtype=str if text else values.dtype.newbyteorder("="),
        chunks=tuple(max(1, n) for n in values.shape) if values.nbytes <= _ONE_CHUNK else "auto",
        compressors="auto" if text else BloscCodec(cname="zstd", clevel=1, shuffle="shuffle"),
        dimension_names=list(map(str, variable.dims)),
        config={"write_empty_chunks": True},  # a chunk that is not there is never a value
    )
    array[...] = values.astype(object) if text else values


def _read_values(array: Any, dtype: str) -> np.ndarray:
    import numpy as np

    values = np.asarray(array[...])
    return values.astype(np.dtypes.StringDType() if dtype == "T" else np.dtype(dtype), copy=False)


def _dtype_text(dtype: np.dtype) -> str:
    return dtype.kind if dtype.kind in "TO" else dtype.str


def _node(name: str) -> str:
    """A Zarr node's name: readable names stay, slashes and lone dots are escaped.

    Example:
        >>> _node("task.means[0]"), _node("a/b"), _node("..")
        ('task.means[0]', 'a%2Fb', '%2E%2E')
    """
    return quote(name, safe="[]() ,=") if name.strip(".") else name.replace(".", "%2E")
