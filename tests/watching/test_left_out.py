"""Without torch the other files of this folder are left out: that is shown as a skip."""

import pytest

from .conftest import collect_ignore


def test_files_that_need_torch_are_looked_at():
    pytest.importorskip("torch", reason="the tests of watching torch run in make test-all")
    assert collect_ignore == []
