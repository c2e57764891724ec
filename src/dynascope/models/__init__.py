"""What learns: a spec that builds `init(key) -> params` and `apply(params, x)`.

`base.Model` is the interface; `tied_linear.py` is the file to imitate.
"""

from dynascope.models.base import Model, Network
from dynascope.models.convolution import CNN
from dynascope.models.dag import Dag
from dynascope.models.expansion import Linearized, Quadratized, linearize, quadratize
from dynascope.models.graph_augmented import GraphAugmentedMLP, gfn, sgc, sign
from dynascope.models.linear import Linear
from dynascope.models.message_passing import GIN, CommunityNetwork
from dynascope.models.mlp import MLP
from dynascope.models.neurons import Neurons
from dynascope.models.pair import Pair, from_equinox
from dynascope.models.quadratic import QuadraticModel, TwoLayerReLU
from dynascope.models.tied_linear import TiedLinear
from dynascope.models.wiring import Wiring, wire
from dynascope.models.wiring_families import (
    bypassed,
    densely_connected,
    drop_edges,
    fully_connected,
    narrow_vertices,
    widen,
)

__all__ = [
    "CNN",
    "GIN",
    "MLP",
    "CommunityNetwork",
    "Dag",
    "GraphAugmentedMLP",
    "Linear",
    "Linearized",
    "Model",
    "Network",
    "Neurons",
    "Pair",
    "QuadraticModel",
    "Quadratized",
    "TiedLinear",
    "TwoLayerReLU",
    "Wiring",
    "bypassed",
    "densely_connected",
    "drop_edges",
    "from_equinox",
    "fully_connected",
    "gfn",
    "linearize",
    "narrow_vertices",
    "quadratize",
    "sgc",
    "sign",
    "widen",
    "wire",
]
