"""Real sets are skipped visibly where they are not there."""

from __future__ import annotations

import pytest

from dynascope.data import there


@pytest.fixture
def real(request):
    """A function that skips the test unless a data set is there."""

    def need(name):
        if not there(name):
            pytest.skip(f"needs {name} in the data folder")

    return need
