"""How parameters move: gradient descent, its optax relatives, and gradient flow.

`base.Dynamics` is the interface; `gradient_descent.py` is the file to imitate.
"""

from dynascope.dynamics.adamw import AdamW
from dynascope.dynamics.adaptive_rules import Adadelta, Adagrad, RMSprop
from dynascope.dynamics.base import Descent, Dynamics
from dynascope.dynamics.catapult_schedule import CatapultSchedule
from dynascope.dynamics.following import Following, Multiple
from dynascope.dynamics.gradient_descent import SGD, GradientDescent, Momentum
from dynascope.dynamics.gradient_flow import GradientFlow
from dynascope.dynamics.optax_rules import Adam, Optax
from dynascope.dynamics.rescaled_flow import RescaledFlow
from dynascope.dynamics.schedules import Cosine, Cyclical, Piecewise, Schedule, Warmup

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "CatapultSchedule",
    "Cosine",
    "Cyclical",
    "Descent",
    "Dynamics",
    "Following",
    "GradientDescent",
    "GradientFlow",
    "Momentum",
    "Multiple",
    "Optax",
    "Piecewise",
    "RMSprop",
    "RescaledFlow",
    "Schedule",
    "Warmup",
]
