"""`dynascope doctor`: what this installation has and where it keeps things."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from dynascope.cli import options
from dynascope.cli.talk import emit, table

LIBRARIES = ("jax", "jaxlib", "equinox", "optax", "diffrax", "numpy", "scipy", "xarray", "zarr",
             "matplotlib", "plotly", "typer", "rich")  # fmt: skip
EXTRAS = ("torch", "ray", "pyarrow", "netCDF4")


def doctor(as_json: options.Json = False) -> None:
    """Show versions, devices, folders, and whether they can be used."""
    found = {**_software(), **_numbers(), **_folders()}
    if as_json:
        emit(found)
        return
    rows = []
    for name, value in found.items():
        parts = value.items() if isinstance(value, dict) else [("", value)]
        rows += [(f"{name} {part}".strip().replace("_", " "), _text(name, v)) for part, v in parts]
    table(("what", "found"), rows)


def _text(name: str, value: Any) -> str:
    from dynascope.report.words import size

    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "not installed"}[value]
    return size(value) if name in ("sizes", "free") else str(value)


def _software() -> dict[str, Any]:
    from dynascope import __version__

    return {
        "dynascope": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "versions": {name: _version(name) for name in LIBRARIES},
        "extras": {name: _version(name) for name in EXTRAS},
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _numbers() -> dict[str, Any]:
    """What jax runs on, and whether float64 is there where a spec asks for it."""
    import jax
    import jax.numpy as jnp

    from dynascope.runtime.precision import precision

    with precision("float64"):
        exact = jnp.zeros(()).dtype == jnp.float64
    devices = [f"{d.platform} {d.device_kind}" for d in jax.local_devices()]
    return {
        "devices": ", ".join(devices),
        "float64": bool(exact),
        "x64_by_default": bool(getattr(jax.config, "jax_enable_x64")),  # noqa: B009  jax makes it at run time,
    }


def _folders() -> dict[str, Any]:
    from dynascope.data import folder
    from dynascope.store import Store

    store, data = Store(), folder()
    entries = store.runs()
    return {
        "results_folder": str(store.home),
        "writable": _refusal(store.home) or True,
        "records": len(entries),
        "damaged": sum(1 for e in entries if e.damaged),
        "sizes": {**store.sizes(), "reports": _size(store.home / "reports")},
        "free": shutil.disk_usage(_existing(store.home)).free,
        "data_folder": f"{data}" if data.is_dir() else f"{data} (not there)",
    }


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(p for p in (folder, *folder.parents) if p.is_dir())


def _refusal(folder: Path) -> str | None:
    """Why nothing can be written to a folder (or where it would be made), or None."""
    try:
        with tempfile.TemporaryFile(dir=_existing(folder)):
            pass
        if folder.exists() and not folder.is_dir():
            return "no: it is a file"
        if any(p.exists() and not p.is_dir() for p in folder.parents):
            return "no: it is below a file"
    except OSError as error:
        return f"no: {error.strerror}"
    return None


def _size(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
