"""Every test has a results folder of its own, and finds the real data sets if they are near."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

NEAR = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(autouse=True, scope="session")
def _places(tmp_path_factory):
    """A results folder for the session (compiled programs are shared), and the data folder."""
    os.environ["DYNASCOPE_HOME"] = str(tmp_path_factory.mktemp("home"))
    if NEAR.is_dir():
        os.environ.setdefault("DYNASCOPE_DATA", str(NEAR))
    yield


@pytest.fixture(autouse=True)
def _same_configuration():
    """No call of ours may change the caller's jax configuration."""
    import jax

    names = ("jax_enable_x64", "jax_numpy_dtype_promotion", "jax_compilation_cache_dir")
    before = {name: getattr(jax.config, name) for name in names}
    yield
    assert {name: getattr(jax.config, name) for name in names} == before
