"""What is to be learned: samples, loss, evaluation points, exact statistics where known.

A task knows nothing of models: it is handed a `predict` function. `base.Task` is the
interface; `identity_mapping.py` is the file to imitate.
"""

from dynascope.tasks.base import Predict, Task
from dynascope.tasks.blobs import Blobs
from dynascope.tasks.community_detection import CommunityDetection
from dynascope.tasks.identity_mapping import IdentityMapping
from dynascope.tasks.low_rank import LowRank
from dynascope.tasks.one_example import OneExample
from dynascope.tasks.samples import ArraySamples, Samples
from dynascope.tasks.sphere import Sphere
from dynascope.tasks.teacher_student import TeacherStudent
from dynascope.tasks.two_classes import TwoClasses
from dynascope.tasks.two_clusters import TwoClusters
from dynascope.tasks.walk_counting import WalkCounting

__all__ = [
    "ArraySamples",
    "Blobs",
    "CommunityDetection",
    "IdentityMapping",
    "LowRank",
    "OneExample",
    "Predict",
    "Samples",
    "Sphere",
    "Task",
    "TeacherStudent",
    "TwoClasses",
    "TwoClusters",
    "WalkCounting",
]
