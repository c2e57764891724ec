"""What is observed on a snapshot or on a recorded curve; never moves parameters.

CamelCase names are probes for `simulate`; lower-case functions work on plain arrays.
`base.Probe` is the interface; `outputs.py` is the file to imitate.
"""

from dynascope.probes.base import Probe, Snapshot
from dynascope.probes.certificates import Certified
from dynascope.probes.critical_rates import CriticalLearningRate, critical_learning_rate
from dynascope.probes.curvature import Sharpness, hessian_top, output_hessian_norm, sharpness
from dynascope.probes.curves import bump, count_descents, descents, terminal_rate
from dynascope.probes.edge import EdgeOfStability, edge_of_stability, line_jet
from dynascope.probes.entries import entry_kinds
from dynascope.probes.false_positives import false_positive_rate
from dynascope.probes.flow_terms import Growth, Noise, Suppression
from dynascope.probes.graph_learning import HeldOutError, Overlap
from dynascope.probes.kernels import (
    TangentKernel,
    TangentKernelNorm,
    TangentKernelSpectrum,
    tangent_kernel,
    tangent_kernel_top,
)
from dynascope.probes.lattice import order_violations
from dynascope.probes.losses import LatticeLoss, Loss, TestLoss
from dynascope.probes.neurons import NeuronWeights
from dynascope.probes.orbits import lyapunov, period
from dynascope.probes.outputs import InputJacobian, OutputAt
from dynascope.probes.test_sets import TestSetAccuracy, TestSetLoss
from dynascope.probes.trajectories import half_times, learning_order, swing_by

__all__ = [
    "Certified",
    "CriticalLearningRate",
    "EdgeOfStability",
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
    "Sharpness",
    "Snapshot",
    "Suppression",
    "TangentKernel",
    "TangentKernelNorm",
    "TangentKernelSpectrum",
    "TestLoss",
    "TestSetAccuracy",
    "TestSetLoss",
    "bump",
    "count_descents",
    "critical_learning_rate",
    "descents",
    "edge_of_stability",
    "entry_kinds",
    "false_positive_rate",
    "half_times",
    "hessian_top",
    "learning_order",
    "line_jet",
    "lyapunov",
    "order_violations",
    "output_hessian_norm",
    "period",
    "sharpness",
    "swing_by",
    "tangent_kernel",
    "tangent_kernel_top",
    "terminal_rate",
]
