"""What is to be learned: samples, loss, evaluation points, exact statistics where known.

A task knows nothing of models: it is handed a `predict` function. `base.Task` is the
interface; `identity_mapping.py` is the file to imitate.
"""

from dynascope.tasks.base import Predict, Task
from dynascope.tasks.identity_mapping import IdentityMapping

__all__ = ["IdentityMapping", "Predict", "Task"]
