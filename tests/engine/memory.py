"""A sink in memory, and what it means that two runs are the same."""

from __future__ import annotations

import numpy as np

from dynascope.core.parts import join_parts
from dynascope.core.records import Saved


class Memory:
    """A sink that keeps everything in memory, and can stop the run after some appends."""

    def __init__(self, stop_after=None):
        self.parts, self.checkpoint, self.attrs, self.stop_after = [], None, None, stop_after

    def resume(self):
        if not self.parts:
            return None
        return Saved(join_parts(self.parts), self.checkpoint)

    def append(self, part, checkpoint):
        self.parts.append(part)
        self.checkpoint = checkpoint
        if self.stop_after is not None and len(self.parts) >= self.stop_after:
            self.stop_after = None
            raise KeyboardInterrupt

    def finish(self, attrs):
        self.attrs = attrs


def same(one, other):
    assert set(one.data_vars) == set(other.data_vars)
    for name in one.variables:
        mine, others = one[name].values, other[name].values
        assert np.array_equal(mine, others, equal_nan=mine.dtype.kind == "f"), name
