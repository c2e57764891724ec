"""`simulate`: one compiled loop for every task, model and dynamics.

Seeds and sweep axes are lanes of the same compiled call; Python drives it in chunks, which
is where progress, cancelling, checkpoints and streaming to a sink live. What to measure
(`probes`) is separate from when to look (`record`).
"""

from dynascope.engine.experiment import Experiment
from dynascope.engine.simulate import execute, simulate

__all__ = ["Experiment", "execute", "simulate"]
