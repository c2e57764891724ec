"""Many runs: `sweep` over grids, and the runner that executes, stores and reports studies."""

from dynascope.sweeps.run import Outcome, configure, load, run, runs, write_report
from dynascope.sweeps.sweep import run_experiment, sweep

__all__ = [
    "Outcome",
    "configure",
    "load",
    "run",
    "run_experiment",
    "runs",
    "sweep",
    "write_report",
]
