"""What is to be learned: samples, loss, evaluation points, exact statistics where known.

A task knows nothing of models: it is handed a `predict` function. `base.Task` is the
interface; `identity_mapping.py` is the file to imitate.
"""

from dynascope.tasks.attention_teacher import AttentionTeacher, LowRankAttentionTeacher
from dynascope.tasks.base import Predict, Task
from dynascope.tasks.blobs import Blobs
from dynascope.tasks.classes import ArrayClasses, Classes, cross_entropy
from dynascope.tasks.community_detection import CommunityDetection
from dynascope.tasks.diffusion import Circles, DiffusionTask, VectorDiffusion
from dynascope.tasks.identity_mapping import IdentityMapping
from dynascope.tasks.low_rank import LowRank
from dynascope.tasks.noisy_labels import NoisyLabels
from dynascope.tasks.one_example import OneExample
from dynascope.tasks.one_hot import OneHot
from dynascope.tasks.pictures import Pictures
from dynascope.tasks.recall import (
    Asked,
    NoisyRecall,
    Recall,
    SyntheticIOI,
    TemplateEnglish,
    recall_of_program,
)
from dynascope.tasks.samples import ArraySamples, Samples
from dynascope.tasks.sphere import Sphere
from dynascope.tasks.synthetic_pictures import SyntheticPictures
from dynascope.tasks.teacher_student import TeacherStudent
from dynascope.tasks.text import NextLetter
from dynascope.tasks.two_classes import TwoClasses
from dynascope.tasks.two_clusters import TwoClusters
from dynascope.tasks.walk_counting import WalkCounting

__all__ = [
    "ArrayClasses",
    "ArraySamples",
    "Asked",
    "AttentionTeacher",
    "Blobs",
    "Circles",
    "Classes",
    "CommunityDetection",
    "DiffusionTask",
    "IdentityMapping",
    "LowRank",
    "LowRankAttentionTeacher",
    "NextLetter",
    "NoisyLabels",
    "NoisyRecall",
    "OneExample",
    "OneHot",
    "Pictures",
    "Predict",
    "Recall",
    "Samples",
    "Sphere",
    "SyntheticIOI",
    "SyntheticPictures",
    "Task",
    "TeacherStudent",
    "TemplateEnglish",
    "TwoClasses",
    "TwoClusters",
    "VectorDiffusion",
    "WalkCounting",
    "cross_entropy",
    "recall_of_program",
]
