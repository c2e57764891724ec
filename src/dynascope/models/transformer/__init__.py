"""One transformer: pictures and texts, encoders and decoders, with parts that can be exchanged.

`transformer.py` has the model and its settings, the other files one part each. Every weight has
a name (`naming.py`), and every head its four maps (`heads.py`).
"""

from dynascope.models.transformer.constructed import constructed
from dynascope.models.transformer.heads import HeadMaps, head_maps
from dynascope.models.transformer.naming import named_weights, with_named_weights
from dynascope.models.transformer.presets import gpt, recall_transformer, vit
from dynascope.models.transformer.token_maps import Patches, TokenMap, Words
from dynascope.models.transformer.transformer import Transformer

__all__ = [
    "HeadMaps",
    "Patches",
    "TokenMap",
    "Transformer",
    "Words",
    "constructed",
    "gpt",
    "head_maps",
    "named_weights",
    "recall_transformer",
    "vit",
    "with_named_weights",
]
