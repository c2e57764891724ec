"""What one lane keeps between two calls of the loop."""

from __future__ import annotations

from typing import Any, NamedTuple

from dynascope.dynamics.base import State
from dynascope.engine.following import Rate
from dynascope.engine.keeping import Best
from dynascope.engine.objective import Data
from dynascope.engine.stopping import Stopping


class Lane(NamedTuple):
    """The state of a lane; what an experiment does not ask for is None."""

    state: State
    data: Data | None  # None where all lanes share theirs
    memory: dict[str, Any]  # of every probe, by the name that it stores under
    rate: Rate | None  # of a learning rate that follows a measurement
    stopping: Stopping | None  # where there are rules
    best: Best | None  # where it is kept


def data_of(lane: Lane, shared: Data | None) -> Data:
    """The lane's own data, or what all lanes share."""
    own = lane.data if lane.data is not None else shared
    assert own is not None
    return own
