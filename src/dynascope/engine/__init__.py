"""`simulate`: one compiled loop for every task, model and dynamics.

Seeds and sweep axes are lanes of the same compiled call; Python drives it in chunks, which
is where progress, cancelling, checkpoints and streaming to a sink live. What to measure
(`probes`) is separate from when to look (`record`).
"""

from dynascope.engine.ahead import compiling_ahead
from dynascope.engine.execution import execute, simulate
from dynascope.engine.experiment import Experiment

__all__ = ["Experiment", "compiling_ahead", "execute", "simulate"]
