"""Figures, tables and theorems of the documents as plans, claims and charts.

One folder per phenomenon; every module in it is imported here, so that a new file is a new
study. `base.Study` is the interface; `swing_by/swing_by.py` is the file to imitate.
"""

import importlib
import pkgutil

from dynascope.studies.base import Study, studies

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

__all__ = ["Study", "studies"]
