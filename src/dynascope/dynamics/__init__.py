"""How parameters move: gradient descent, its optax relatives, and gradient flow.

`base.Dynamics` is the interface; `gradient_descent.py` is the file to imitate.
"""

from dynascope.dynamics.base import Descent, Dynamics
from dynascope.dynamics.gradient_descent import SGD, GradientDescent, Momentum
from dynascope.dynamics.gradient_flow import GradientFlow
from dynascope.dynamics.optax_rules import Adam, Optax
from dynascope.dynamics.schedules import Cosine, Piecewise, Schedule

__all__ = [
    "SGD",
    "Adam",
    "Cosine",
    "Descent",
    "Dynamics",
    "GradientDescent",
    "GradientFlow",
    "Momentum",
    "Optax",
    "Piecewise",
    "Schedule",
]
