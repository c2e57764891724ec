"""What is observed on a snapshot or on a recorded curve; never moves parameters.

CamelCase names are probes for `simulate`; lower-case functions work on plain arrays.
`base.Probe` is the interface; `outputs.py` is the file to imitate.
"""

from dynascope.probes.base import Probe, Snapshot, Step, StepProbe
from dynascope.probes.batch_steps import BatchCriticalRate, BatchLosses, SupercriticalSteps
from dynascope.probes.catapults import catapults, count_supercritical, match_rate
from dynascope.probes.critical_rates import CriticalLearningRate, critical_learning_rate
from dynascope.probes.curvature import Sharpness, hessian_top, output_hessian_norm, sharpness
from dynascope.probes.curves import bump, descents, terminal_rate
from dynascope.probes.edge import EdgeOfStability, edge_of_stability, line_jet
from dynascope.probes.eigenspaces import (
    KernelAlignment,
    KernelSplit,
    ResidualSplit,
    eigenspace_split,
    kernel_alignment,
)
from dynascope.probes.features import (
    AGOP,
    AGOPAlignment,
    AGOPSpectrum,
    agop,
    agop_alignment,
    agop_correlation,
)
from dynascope.probes.flow_terms import Growth, Noise, Suppression
from dynascope.probes.generation import BoundParts, Generated
from dynascope.probes.graph_learning import HeldOutError, Overlap
from dynascope.probes.head_ranks import ProductSpectrum, StableRank
from dynascope.probes.kernels import (
    TangentKernel,
    TangentKernelNorm,
    TangentKernelSpectrum,
    tangent_kernel,
    tangent_kernel_top,
)
from dynascope.probes.losses import LatticeLoss, Loss, TestLoss
from dynascope.probes.memory_ranks import TruncatedLoss
from dynascope.probes.neurons import NeuronWeights
from dynascope.probes.orbits import lyapunov, period
from dynascope.probes.outputs import InputJacobian, OutputAt
from dynascope.probes.product_spectra import (
    difference_spectrum,
    normalized,
    product_spectrum,
    stable_rank,
)
from dynascope.probes.products import HeadSpectra, Products
from dynascope.probes.prompts import Prompted
from dynascope.probes.recall import NoiseMargin, RecallAttention, Recalled
from dynascope.probes.spectral_density import HessianTrace, hessian_density
from dynascope.probes.test_sets import TestSetAccuracy, TestSetLoss, ValidationLoss
from dynascope.probes.trajectories import half_times, swing_by

__all__ = [
    "AGOP",
    "AGOPAlignment",
    "AGOPSpectrum",
    "BatchCriticalRate",
    "BatchLosses",
    "BoundParts",
    "CriticalLearningRate",
    "EdgeOfStability",
    "Generated",
    "Growth",
    "HeadSpectra",
    "HeldOutError",
    "HessianTrace",
    "InputJacobian",
    "KernelAlignment",
    "KernelSplit",
    "LatticeLoss",
    "Loss",
    "NeuronWeights",
    "Noise",
    "NoiseMargin",
    "OutputAt",
    "Overlap",
    "Probe",
    "ProductSpectrum",
    "Products",
    "Prompted",
    "RecallAttention",
    "Recalled",
    "ResidualSplit",
    "Sharpness",
    "Snapshot",
    "StableRank",
    "Step",
    "StepProbe",
    "SupercriticalSteps",
    "Suppression",
    "TangentKernel",
    "TangentKernelNorm",
    "TangentKernelSpectrum",
    "TestLoss",
    "TestSetAccuracy",
    "TestSetLoss",
    "TruncatedLoss",
    "ValidationLoss",
    "agop",
    "agop_alignment",
    "agop_correlation",
    "bump",
    "catapults",
    "count_supercritical",
    "critical_learning_rate",
    "descents",
    "difference_spectrum",
    "edge_of_stability",
    "eigenspace_split",
    "half_times",
    "hessian_density",
    "hessian_top",
    "kernel_alignment",
    "line_jet",
    "lyapunov",
    "match_rate",
    "normalized",
    "output_hessian_norm",
    "period",
    "product_spectrum",
    "sharpness",
    "stable_rank",
    "swing_by",
    "tangent_kernel",
    "tangent_kernel_top",
    "terminal_rate",
]
