"""Recall from the context: the answer stood before, after the same trigger, now and then as noise.

`noisy_recall.py` is the task of chen2025 section 4.4, `synthetic_ioi.py` that of its app. C.8,
`english.py` generated English with names, facts and prepositions; `base.py` has what they share.
"""

from dynascope.tasks.recall.base import Asked, Recall, RecallSamples
from dynascope.tasks.recall.english import TemplateEnglish
from dynascope.tasks.recall.noisy_recall import NoisyRecall, recall_of_program
from dynascope.tasks.recall.synthetic_ioi import SyntheticIOI

__all__ = [
    "Asked",
    "NoisyRecall",
    "Recall",
    "RecallSamples",
    "SyntheticIOI",
    "TemplateEnglish",
    "recall_of_program",
]
