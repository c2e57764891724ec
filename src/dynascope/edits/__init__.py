"""Reversible changes of a trained model's weights, which have one set of names whatever the file.

`families` has the one table of names, `changes` what can be done to a matrix, `applying` does it.
"""

from dynascope.edits.applying import Kept, apply, kept, truncate
from dynascope.edits.changes import (
    DropDirection,
    DropPart,
    DropTop,
    Edit,
    KeepRandom,
    KeepSmallest,
    ProjectOut,
    Selection,
    Truncate,
)
from dynascope.edits.directions import Directions, directions
from dynascope.edits.families import MATRICES
from dynascope.edits.truncation import kept_rank, truncate_matrix
from dynascope.edits.weight_names import Layout, layout

__all__ = [
    "MATRICES",
    "Directions",
    "DropDirection",
    "DropPart",
    "DropTop",
    "Edit",
    "KeepRandom",
    "KeepSmallest",
    "Kept",
    "Layout",
    "ProjectOut",
    "Selection",
    "Truncate",
    "apply",
    "directions",
    "kept",
    "kept_rank",
    "layout",
    "truncate",
    "truncate_matrix",
]
