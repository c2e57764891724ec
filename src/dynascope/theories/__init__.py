"""What mathematics predicts; a sibling of `dynamics` that never imports it.

CamelCase names are theories with `predict`; lower-case functions work on plain arrays.
`base.Theory` is the interface; `one_layer.py` is the file to imitate.
"""

from dynascope.theories.base import LinearTheory, Theory
from dynascope.theories.one_layer import OneLayer
from dynascope.theories.symmetric_two_layer import SymmetricTwoLayer

__all__ = ["LinearTheory", "OneLayer", "SymmetricTwoLayer", "Theory"]
