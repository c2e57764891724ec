"""What mathematics predicts; a sibling of `dynamics` that never imports it.

CamelCase names are theories with `predict`, but for `QuadraticMap`, a system of its own that is
followed exactly; lower-case functions work on plain arrays.
`base.Theory` is the interface; `swing_by/one_layer.py` is the file to imitate.
"""

from dynascope.theories.base import Theory, initial_jacobian
from dynascope.theories.catapult.phases import phase_diagram
from dynascope.theories.catapult.quadratic_map import QuadraticMap
from dynascope.theories.linearity.infinite_width import infinite_width_kernel
from dynascope.theories.linearity.linear_dynamics import linear_descent
from dynascope.theories.oscillation.doubling import period_doublings, predict
from dynascope.theories.oscillation.factorization import orbit_multipliers
from dynascope.theories.oscillation.factorization_stability import factorization_verdict
from dynascope.theories.oscillation.fitting import composition, fit_condition
from dynascope.theories.oscillation.one_dimension import flip
from dynascope.theories.oscillation.quartic import quartic_orbit
from dynascope.theories.rank_increase.diagonal_linear import diagonal_half_times
from dynascope.theories.rank_increase.experiments import ProductProblem, product_problem
from dynascope.theories.rank_increase.stages import Stages, incremental_stages
from dynascope.theories.recall.associative_memory import associative_memory
from dynascope.theories.recall.truncation import truncation
from dynascope.theories.swing_by.one_layer import OneLayer
from dynascope.theories.swing_by.schur import (
    outlook,
)
from dynascope.theories.swing_by.start_odds import swing_by_share
from dynascope.theories.swing_by.symmetric_two_layer import SymmetricTwoLayer
from dynascope.theories.swing_by.width_odds import probability_of_swing_by

__all__ = [
    "OneLayer",
    "ProductProblem",
    "QuadraticMap",
    "Stages",
    "SymmetricTwoLayer",
    "Theory",
    "associative_memory",
    "composition",
    "diagonal_half_times",
    "factorization_verdict",
    "fit_condition",
    "flip",
    "incremental_stages",
    "infinite_width_kernel",
    "initial_jacobian",
    "linear_descent",
    "orbit_multipliers",
    "outlook",
    "period_doublings",
    "phase_diagram",
    "predict",
    "probability_of_swing_by",
    "product_problem",
    "quartic_orbit",
    "swing_by_share",
    "truncation",
]
