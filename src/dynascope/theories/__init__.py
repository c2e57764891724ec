"""What mathematics predicts; a sibling of `dynamics` that never imports it.

CamelCase names are theories with `predict`, but for `QuadraticMap`, a system of its own that is
followed exactly; lower-case functions work on plain arrays.
`base.Theory` is the interface; `one_layer.py` is the file to imitate.
"""

from dynascope.theories.assumptions import check_assumptions, find_constants
from dynascope.theories.base import LinearTheory, Theory, initial_jacobian
from dynascope.theories.doubling import period_doublings, predict
from dynascope.theories.entry_flow import convert_time, flow_terms
from dynascope.theories.factorization import orbit_multipliers
from dynascope.theories.factorization_stability import factorization_verdict
from dynascope.theories.fitting import composition, fit_condition
from dynascope.theories.infinite_width import infinite_width_kernel
from dynascope.theories.lemmas import stage_times, verify_lemmas
from dynascope.theories.linear_dynamics import LinearDescent, linear_descent
from dynascope.theories.neuron import neuron_gradient, neuron_loss, reduced_step
from dynascope.theories.one_dimension import flip
from dynascope.theories.one_layer import OneLayer
from dynascope.theories.quadratic_map import QuadraticMap
from dynascope.theories.quadratic_phases import phase_diagram
from dynascope.theories.quartic import quartic_orbit
from dynascope.theories.schur import (
    bottleneck_loss,
    naive_times,
    outlook,
    schur_complements,
    schur_times,
)
from dynascope.theories.start_odds import swing_by_share
from dynascope.theories.swing_by_odds import initial_correlation, probability_of_swing_by
from dynascope.theories.symmetric_two_layer import SymmetricTwoLayer

__all__ = [
    "LinearDescent",
    "LinearTheory",
    "OneLayer",
    "QuadraticMap",
    "SymmetricTwoLayer",
    "Theory",
    "bottleneck_loss",
    "check_assumptions",
    "composition",
    "convert_time",
    "factorization_verdict",
    "find_constants",
    "fit_condition",
    "flip",
    "flow_terms",
    "infinite_width_kernel",
    "initial_correlation",
    "initial_jacobian",
    "linear_descent",
    "naive_times",
    "neuron_gradient",
    "neuron_loss",
    "orbit_multipliers",
    "outlook",
    "period_doublings",
    "phase_diagram",
    "predict",
    "probability_of_swing_by",
    "quartic_orbit",
    "reduced_step",
    "schur_complements",
    "schur_times",
    "stage_times",
    "swing_by_share",
    "verify_lemmas",
]
