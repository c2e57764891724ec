"""Explorers: small experiments with sliders, declared as data beside the phenomena they show.

One file per explorer; every file here is imported, so that a new file is a new explorer. What it
computes and draws comes from `theories` and `instruments`; `pieces` has what these may not hold.
`balance.py` is the one to imitate. The page, `dynascope.explore` and the static gallery use the
same objects.
"""

from __future__ import annotations

import importlib
import pkgutil

from dynascope.explorers.budget import BUDGET, Work
from dynascope.explorers.explorer import (
    Choice,
    Click,
    Drag,
    Explored,
    Explorer,
    Slider,
    Words,
    explore,
    explorers,
)

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

__all__ = [
    "BUDGET",
    "Choice",
    "Click",
    "Drag",
    "Explored",
    "Explorer",
    "Slider",
    "Words",
    "Work",
    "explore",
    "explorers",
]
