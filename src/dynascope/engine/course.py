"""The course of an experiment: its lanes, and the places at which they are looked at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dynascope.engine.experiment import Experiment
from dynascope.engine.lanes import Lanes, stack

MOST_ROWS = 256  # places between two visits to Python


class Course(NamedTuple):
    """What the compiled loop is given of an experiment."""

    lanes: Lanes
    places: np.ndarray  # steps, or for flows the numbers 0, 1, ... of the recorded times
    times: np.ndarray  # time of every place, used by flows
    dtype: str

    @property
    def most_rows(self) -> int:
        """Places between two visits to Python where memory allows.

        A power of two, so that runs of different length share a program.
        """
        return 1 << (min(len(self.places), MOST_ROWS) - 1).bit_length()

    @property
    def signature(self) -> tuple:
        """The same for two courses exactly when one compiled program serves both."""
        lanes = self.lanes
        return lanes.skeleton, lanes.batched, len(lanes.seeds), self.dtype, self.most_rows


def course(experiment: Experiment) -> Course:
    """The course of an experiment whose grid shares one program."""
    lanes = stack(experiment.grid(), experiment.seeds)
    places = experiment.places()
    if experiment.dynamics.continuous:
        return Course(lanes, np.arange(len(places)), places, experiment.dtype)
    return Course(lanes, places, np.zeros(len(places)), experiment.dtype)
