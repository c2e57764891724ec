"""Which versions of the libraries made a number."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

import dynascope

LIBRARIES = ("jax", "jaxlib", "numpy", "equinox", "optax", "diffrax")


@cache
def versions() -> dict[str, str]:
    """Versions of everything that decides a run's bits; imports none of it.

    Example:
        >>> list(versions())[:3]
        ['dynascope', 'python', 'jax']
    """
    found = {name: metadata.version(name) for name in LIBRARIES}
    return {"dynascope": dynascope.__version__, "python": platform.python_version(), **found}
