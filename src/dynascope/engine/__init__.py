"""`simulate`: one compiled loop for every task, model and dynamics.

Seeds and sweep axes are lanes of the same compiled call; Python drives it in chunks, which
is where progress, cancelling, checkpoints and streaming to a sink live. What to measure
(`probes`) is separate from when to look (`record`).
"""

from dynascope.engine.compilation import compiling_ahead
from dynascope.engine.drive import refuse_too_large
from dynascope.engine.execution import execute, simulate
from dynascope.engine.experiment import Experiment
from dynascope.engine.keeping import Keep
from dynascope.engine.kept import kept_parameters
from dynascope.engine.stopping import Stop

__all__ = [
    "Experiment",
    "Keep",
    "Stop",
    "compiling_ahead",
    "execute",
    "kept_parameters",
    "refuse_too_large",
    "simulate",
]
