"""The one loader: where data sets lie, how they are read, what to do if one is missing.

`load(name)` gives arrays; `graph_file(name)` and `find(name)` give paths for other packages.
"""

from dynascope.data.checkpoints import Checkpoint, read_checkpoint
from dynascope.data.folder import find, folder, present
from dynascope.data.graph_sets import graph_file
from dynascope.data.loading import absence, load, there
from dynascope.data.models import MODELS, find_model
from dynascope.data.questions import Question, load_questions
from dynascope.data.record import DataSet
from dynascope.data.scaling import SCALINGS, calibrate_scale, pooled, scaled
from dynascope.data.subsets import PAIRS, class_arrays, two_class_arrays, two_classes
from dynascope.data.texts import Text, load_text

__all__ = [
    "MODELS",
    "PAIRS",
    "SCALINGS",
    "Checkpoint",
    "DataSet",
    "Question",
    "Text",
    "absence",
    "calibrate_scale",
    "class_arrays",
    "find",
    "find_model",
    "folder",
    "graph_file",
    "load",
    "load_questions",
    "load_text",
    "pooled",
    "present",
    "read_checkpoint",
    "scaled",
    "there",
    "two_class_arrays",
    "two_classes",
]
