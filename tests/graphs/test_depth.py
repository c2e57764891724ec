from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.graphs.depth import one_depth, several_depths


def test_numpy_numbers_are_numbers():
    assert one_depth(np.int64(4)) == 4
    assert several_depths(np.array([1, 2])) == ([1, 2], False)


@pytest.mark.parametrize("depth", [-1, [], [1, -2], 0.5, "3", None, True])
def test_what_is_no_depth_is_refused(depth):
    with pytest.raises(BadInput, match="depth"):
        several_depths(depth)
