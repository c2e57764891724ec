"""dynascope: a laboratory for how neural networks learn.

Rooms: `tasks`, `models`, `dynamics`, `probes`, `theories`, `record`, `studies`. Verbs:
`simulate`, `sweep`, `run`, `load`, `runs`. Importing this package is instant; jax is
imported with the first room or verb that needs it.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_ROOMS = ("tasks", "models", "dynamics", "probes", "theories", "studies")
_VERBS = {
    "simulate": "dynascope.engine",
    "sweep": "dynascope.sweeps",
    "run": "dynascope.sweeps",
    "load": "dynascope.sweeps",
    "runs": "dynascope.sweeps",
}

__all__ = [*_ROOMS, *_VERBS]


def __getattr__(name: str) -> Any:
    """Rooms and verbs are imported when they are first used."""
    if name in _ROOMS:
        return importlib.import_module(f"dynascope.{name}")
    if name == "record":
        return importlib.import_module("dynascope.engine.record")
    if name in _VERBS:
        return getattr(importlib.import_module(_VERBS[name]), name)
    raise AttributeError(f"module 'dynascope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "record", "__version__"])
