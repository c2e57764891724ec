"""Many runs: `sweep` over grids, and the runner that executes, stores and reports studies."""

from dynascope.runner.comparing import Comparison, compare
from dynascope.runner.entries import document_entries, study_entries, study_entry
from dynascope.runner.last_verdicts import claim_rows, of_document
from dynascope.runner.outcome import Outcome
from dynascope.runner.pieces import assemble, catalogue
from dynascope.runner.reporting import forget, write_figures, write_report
from dynascope.runner.request import configure
from dynascope.runner.run import load, run, runs
from dynascope.runner.sweep import recorded_run, run_experiment, sweep

__all__ = [
    "Comparison",
    "Outcome",
    "assemble",
    "catalogue",
    "claim_rows",
    "compare",
    "configure",
    "document_entries",
    "forget",
    "load",
    "of_document",
    "recorded_run",
    "run",
    "run_experiment",
    "runs",
    "study_entries",
    "study_entry",
    "sweep",
    "write_figures",
    "write_report",
]
