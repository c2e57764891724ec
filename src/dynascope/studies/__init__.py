"""Figures, tables and theorems of the documents as studies.

One folder per phenomenon, in it one folder per study; what several studies of a phenomenon
share lies beside them. A study lies in the folder of its name and is imported when it is asked
for (`finding.py`), so that a new folder is a new study. `swing_by/swing_by` is the one to imitate.
Installed packages add studies of their own through the entry point `dynascope.studies`.
"""

from __future__ import annotations

from dynascope.studies.comparisons import at_least, at_most, between, in_all_seeds, near
from dynascope.studies.finding import bibliography
from dynascope.studies.headlines import headline_chart
from dynascope.studies.measures import average, average_share, estimate, exact, median, minus, share
from dynascope.studies.nodes import SETTINGS, Missing, case, together
from dynascope.studies.study import Study, studies

__all__ = [
    "SETTINGS",
    "Missing",
    "Study",
    "at_least",
    "at_most",
    "average",
    "average_share",
    "between",
    "bibliography",
    "case",
    "estimate",
    "exact",
    "headline_chart",
    "in_all_seeds",
    "median",
    "minus",
    "near",
    "share",
    "studies",
    "together",
]
