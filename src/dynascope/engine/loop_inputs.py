"""What the compiled loop is given of an experiment: its lanes, and when they are measured."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.engine.experiment import Experiment
from dynascope.engine.lanes import Lanes, stack

MOST_ROWS = 256  # measurements between two visits to Python


class LoopInputs(NamedTuple):
    """The lanes of an experiment, and the steps at which the probes measure them."""

    lanes: Lanes
    record_steps: np.ndarray  # for flows the numbers 0, 1, ... of the recorded times
    times: np.ndarray  # the recorded times of a flow; zeros otherwise
    dtype: str
    kept_at: np.ndarray  # steps at which parameters are kept

    @property
    def most_rows(self) -> int:
        """Measurements between two visits to Python where memory allows.

        A power of two, so that runs of different length share a program.
        """
        return 1 << (min(len(self.record_steps), MOST_ROWS) - 1).bit_length()

    @property
    def signature(self) -> tuple:
        """The same for two inputs exactly when one compiled program serves both."""
        lanes = self.lanes
        return lanes.skeleton, lanes.batched, len(lanes.seeds), self.dtype, self.most_rows

    @property
    def unknown(self) -> bool:
        """Whether some of the code cannot be known, so that nothing of it may be used again."""
        return any(code.unknown for code in self.lanes.codes)


def loop_inputs(experiment: Experiment) -> LoopInputs:
    """The inputs of an experiment whose grid shares one program."""
    lanes = stack(experiment.grid(), experiment.seeds)
    recorded = experiment.recorded_at()
    if experiment.dynamics.continuous:
        steps, times = np.arange(len(recorded)), recorded
    else:
        steps, times = recorded, np.zeros(len(recorded))
    return LoopInputs(lanes, steps, times, experiment.dtype, experiment.kept_at())
