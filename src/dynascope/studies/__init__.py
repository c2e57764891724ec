"""Figures, tables and theorems of the documents as studies.

One folder per phenomenon, in it one folder per study; what several studies of a phenomenon
share lies beside them. Every study folder is imported here, so that a new folder is a new
study. `swing_by/swing_by` is the one to imitate. Installed packages add studies of their own
through the entry point `dynascope.studies`.
"""

from __future__ import annotations

import importlib
import pkgutil

from dynascope.studies.comparisons import at_least, at_most, between, in_all_seeds, near
from dynascope.studies.elsewhere import load_installed
from dynascope.studies.headlines import headline_chart
from dynascope.studies.measures import average, average_share, estimate, exact, median, minus, share
from dynascope.studies.nodes import SETTINGS, Missing, case, together
from dynascope.studies.study import Study, studies

for _phenomenon in pkgutil.iter_modules(__path__, f"{__name__}."):
    if _phenomenon.ispkg:
        for _module in pkgutil.walk_packages(
            importlib.import_module(_phenomenon.name).__path__, f"{_phenomenon.name}."
        ):
            if _module.ispkg or _module.name.count(".") > 3:
                importlib.import_module(_module.name)
load_installed()

__all__ = [
    "SETTINGS",
    "Missing",
    "Study",
    "at_least",
    "at_most",
    "average",
    "average_share",
    "between",
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
