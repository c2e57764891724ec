"""The persistent cache of compiled programs, around our own calls."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import jax

from dynascope.runtime.home import compiled_folder

_SETTINGS = {
    "jax_compilation_cache_dir": None,
    "jax_persistent_cache_min_compile_time_secs": 0.1,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}


@contextmanager
def compilation_cache() -> Iterator[None]:
    """Keep compiled programs in the results folder; the caller's own settings win and return."""
    if getattr(jax.config, "jax_compilation_cache_dir", None):
        yield
        return
    folder = compiled_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        usable = os.access(folder, os.W_OK)
    except OSError:  # a run must not fail because nothing can be cached
        usable = False
    if not usable:
        yield
        return
    from jax.experimental.compilation_cache import compilation_cache as cache

    before = {name: getattr(jax.config, name) for name in _SETTINGS}
    try:
        cache.reset_cache()
        for name, value in _SETTINGS.items():
            jax.config.update(name, value if value is not None else str(folder))
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        cache.reset_cache()
