"""Many runs: `sweep` over grids, and the runner that executes, stores and reports studies."""

from dynascope.sweeps.pieces import assemble, catalogue
from dynascope.sweeps.reporting import forget, write_figures, write_report
from dynascope.sweeps.run import Outcome, configure, load, run, runs, stored
from dynascope.sweeps.sweep import run_experiment, sweep

__all__ = [
    "Outcome",
    "assemble",
    "catalogue",
    "configure",
    "forget",
    "load",
    "run",
    "run_experiment",
    "runs",
    "stored",
    "sweep",
    "write_figures",
    "write_report",
]
