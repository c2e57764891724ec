"""What learns: a spec that builds `init(key) -> params` and `apply(params, x)`.

`base.Model` is the interface; `tied_linear.py` is the file to imitate.
"""

from dynascope.models.associative_memory import AssociativeMemory
from dynascope.models.attention_head import AttentionHead
from dynascope.models.base import Model, Network
from dynascope.models.continued import Continued, continued
from dynascope.models.convolution import CNN
from dynascope.models.dag import Dag
from dynascope.models.denoisers import ConditionalMLP, NoiseLevels, PictureClassifier, UNet
from dynascope.models.diagonal import DiagonalAttention, DiagonalLinear, DiagonalTransformer
from dynascope.models.expansion import Linearized, Quadratized, linearize, quadratize
from dynascope.models.function_model import FunctionModel, from_equinox
from dynascope.models.graph_augmented import GraphAugmentedMLP, gfn, sgc, sign
from dynascope.models.linear import Linear
from dynascope.models.message_passing import GIN, CommunityNetwork
from dynascope.models.mlp import MLP
from dynascope.models.neurons import Neurons
from dynascope.models.quadratic import QuadraticModel, TwoLayerReLU
from dynascope.models.recall_layer import RecallLayer
from dynascope.models.residual import Myrtle, WideResNet
from dynascope.models.tied_linear import TiedLinear
from dynascope.models.transformer import (
    Patches,
    Transformer,
    Words,
    gpt,
    recall_transformer,
    vit,
)
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
    "AssociativeMemory",
    "AttentionHead",
    "CommunityNetwork",
    "ConditionalMLP",
    "Continued",
    "Dag",
    "DiagonalAttention",
    "DiagonalLinear",
    "DiagonalTransformer",
    "FunctionModel",
    "GraphAugmentedMLP",
    "Linear",
    "Linearized",
    "Model",
    "Myrtle",
    "Network",
    "Neurons",
    "NoiseLevels",
    "Patches",
    "PictureClassifier",
    "QuadraticModel",
    "Quadratized",
    "RecallLayer",
    "TiedLinear",
    "Transformer",
    "TwoLayerReLU",
    "UNet",
    "WideResNet",
    "Wiring",
    "Words",
    "bypassed",
    "continued",
    "densely_connected",
    "drop_edges",
    "from_equinox",
    "fully_connected",
    "gfn",
    "gpt",
    "linearize",
    "narrow_vertices",
    "quadratize",
    "recall_transformer",
    "sgc",
    "sign",
    "vit",
    "widen",
    "wire",
]
