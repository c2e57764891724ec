"""What is observed on a snapshot or on a recorded curve; never moves parameters.

CamelCase names are probes for `simulate`; lower-case functions work on plain arrays.
`base.Probe` is the interface; `outputs.py` is the file to imitate.
"""

from dynascope.probes.base import Probe, Snapshot
from dynascope.probes.curves import bump, count_descents, descents, terminal_rate
from dynascope.probes.entries import entry_kinds
from dynascope.probes.false_positives import false_positive_rate
from dynascope.probes.flow_terms import Growth, Noise, Suppression
from dynascope.probes.graph_learning import HeldOutError, Overlap
from dynascope.probes.lattice import order_violations
from dynascope.probes.losses import LatticeLoss, Loss, TestLoss
from dynascope.probes.neurons import NeuronWeights
from dynascope.probes.orbits import lyapunov, period
from dynascope.probes.outputs import InputJacobian, OutputAt
from dynascope.probes.test_sets import TestSetAccuracy, TestSetLoss
from dynascope.probes.trajectories import half_times, learning_order, swing_by

__all__ = [
    "Growth",
    "HeldOutError",
    "InputJacobian",
    "LatticeLoss",
    "Loss",
    "NeuronWeights",
    "Noise",
    "OutputAt",
    "Overlap",
    "Probe",
    "Snapshot",
    "Suppression",
    "TestLoss",
    "TestSetAccuracy",
    "TestSetLoss",
    "bump",
    "count_descents",
    "descents",
    "entry_kinds",
    "false_positive_rate",
    "half_times",
    "learning_order",
    "lyapunov",
    "order_violations",
    "period",
    "swing_by",
    "terminal_rate",
]
