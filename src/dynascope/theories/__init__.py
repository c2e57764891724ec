"""What mathematics predicts; a sibling of `dynamics` that never imports it.

CamelCase names are theories with `predict`; lower-case functions work on plain arrays.
`base.Theory` is the interface; `one_layer.py` is the file to imitate.
"""

from dynascope.theories.assumptions import check_assumptions, find_constants
from dynascope.theories.base import LinearTheory, Theory, initial_jacobian
from dynascope.theories.entry_flow import convert_time, flow_terms
from dynascope.theories.lemmas import stage_times, verify_lemmas
from dynascope.theories.one_layer import OneLayer
from dynascope.theories.schur import (
    bottleneck_loss,
    naive_times,
    outlook,
    schur_complements,
    schur_times,
)
from dynascope.theories.swing_by_odds import initial_correlation, probability_of_swing_by
from dynascope.theories.symmetric_two_layer import SymmetricTwoLayer

__all__ = [
    "LinearTheory",
    "OneLayer",
    "SymmetricTwoLayer",
    "Theory",
    "bottleneck_loss",
    "check_assumptions",
    "convert_time",
    "find_constants",
    "flow_terms",
    "initial_correlation",
    "initial_jacobian",
    "naive_times",
    "outlook",
    "probability_of_swing_by",
    "schur_complements",
    "schur_times",
    "stage_times",
    "verify_lemmas",
]
