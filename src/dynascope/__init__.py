"""dynascope: a laboratory for how neural networks learn.

Packages: `tasks`, `models`, `dynamics`, `probes`, `theories`, `record`, `edits`, `language`,
`studies`, `data`, `graphs`, `instruments`. Verbs: `simulate`, `sweep`, `run`, `load`, `runs`,
`kept_parameters`, `explore`, `load_model`, `watch`. Importing this package is instant; jax is
imported with the first package or verb that needs it.
"""

from __future__ import annotations

import importlib
from typing import Any

from dynascope.runtime.cores import spare_threads

__version__ = "0.2.0"

_PACKAGES = (
    "tasks", "models", "dynamics", "probes", "theories", "edits", "language", "studies", "data",
    "graphs", "instruments",
)  # fmt: skip
_VERBS = {
    "simulate": "dynascope.engine",
    "sweep": "dynascope.runner",
    "run": "dynascope.runner",
    "load": "dynascope.runner",
    "runs": "dynascope.runner",
    "kept_parameters": "dynascope.engine",
    "explore": "dynascope.explorers",
    "load_model": "dynascope.language",
    "watch": "dynascope.watching",
}

spare_threads()

__all__ = [*_PACKAGES, *_VERBS]


def __getattr__(name: str) -> Any:
    """Packages and verbs are imported when they are first used."""
    if name in _PACKAGES:
        return importlib.import_module(f"dynascope.{name}")
    if name == "record":
        return importlib.import_module("dynascope.engine.record")
    if name in _VERBS:
        return getattr(importlib.import_module(_VERBS[name]), name)
    raise AttributeError(f"module 'dynascope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "record", "__version__"])
