"""Importing this imports every study: ours, and those of installed packages."""

from __future__ import annotations

from dynascope.studies.elsewhere import load_installed
from dynascope.studies.finding import import_study, study_folders

for _folder in study_folders():
    import_study(_folder.name)
load_installed()
