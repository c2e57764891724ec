"""What is observed on a snapshot or on a recorded curve; never moves parameters.

CamelCase names are probes for `simulate`; lower-case functions work on plain arrays.
`base.Probe` is the interface; `outputs.py` is the file to imitate.
"""

from dynascope.probes.base import Probe, Snapshot
from dynascope.probes.flow_terms import Growth, Noise, Suppression
from dynascope.probes.losses import LatticeLoss, Loss, TestLoss
from dynascope.probes.outputs import InputJacobian, OutputAt

__all__ = [
    "Growth",
    "InputJacobian",
    "LatticeLoss",
    "Loss",
    "Noise",
    "OutputAt",
    "Probe",
    "Snapshot",
    "Suppression",
    "TestLoss",
]
