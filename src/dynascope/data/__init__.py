"""The one loader: where data sets lie, how they are read, what to do if one is missing.

`load(name)` gives arrays; `find(name)` gives a path, for readers of other rooms.
"""

from dynascope.data.folder import find, folder, present
from dynascope.data.loading import absence, load, there
from dynascope.data.record import DataSet
from dynascope.data.scaling import SCALINGS, calibrate_scale, pooled, scaled
from dynascope.data.subsets import PAIRS, two_class_arrays, two_classes

__all__ = [
    "PAIRS",
    "SCALINGS",
    "DataSet",
    "absence",
    "calibrate_scale",
    "find",
    "folder",
    "load",
    "pooled",
    "present",
    "scaled",
    "there",
    "two_class_arrays",
    "two_classes",
]
