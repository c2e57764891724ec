from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def data_file() -> Callable[[str], Path]:
    """A file of the data folder; the test is skipped, and says why, if it is not there."""

    def find(name: str) -> Path:
        folder = os.environ.get("DYNASCOPE_DATA")
        if not folder:
            pytest.skip("set DYNASCOPE_DATA to the folder with the data sets")
        path = Path(folder) / name
        if not path.exists():
            pytest.skip(f"{name} is not in DYNASCOPE_DATA")
        return path

    return find
