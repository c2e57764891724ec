"""Transformers of the documents at their sizes; `dataclasses.replace` makes others."""

from __future__ import annotations

from dynascope.models.transformer.feed_forward import Kind
from dynascope.models.transformer.token_maps import Patches, Words
from dynascope.models.transformer.transformer import Transformer


def vit() -> Transformer:
    """The vision transformer for CIFAR, boix2023 section 5 and app. B.

    Six layers, eight heads of size 128, width 512, hidden size 512, patches of side 4, layer
    norm, GeLU. The paper leaves open where norms stand, how the output is read and how weights
    start: norms come first, a class token is read, PyTorch's start, no offsets of queries, keys
    and values, as in the program that such networks are usually taken from.

    Example:
        >>> vit().attention.heads * vit().attention.head_size
        1024
    """
    return Transformer(
        Patches((32, 32, 3), 4), depth=6, width=512, heads=8, head_size=128, hidden=512,
        read="class_token",
    )  # fmt: skip


def gpt() -> Transformer:
    """GPT-2 small: 12 layers, 12 heads of size 64, width 768; output tied to the words."""
    return Transformer(
        Words(1024), depth=12, width=768, heads=12, activation="gelu_tanh", qkv_bias=True,
        causal=True, read="every", tied=True, start="gpt2",
    )  # fmt: skip


def recall_transformer(
    length: int = 256, width: int = 256, feed_forwards: tuple[Kind, ...] = ("mlp", "mlp")
) -> Transformer:
    """Eq. 4.1 of chen2025: one causal head a block, no norms, no offsets, fixed embeddings.

    What the text leaves open is as in the authors' program: scores over sqrt(width), queries
    that are the tokens themselves, values through W_O W_V, a hidden size of 4 width, words and
    places drawn from the normal distribution, all else from PyTorch's start.

    Args:
        length: The longest row.
        width: d.
        feed_forwards: "mlp", "linear" or "none" for each block; their number is the depth.

    Returns:
        The transformer.

    Example:
        >>> recall_transformer(16, 8, ("mlp", "none")).depth
        2
    """
    return Transformer(
        Words(length), depth=len(feed_forwards), width=width, heads=1, activation="relu",
        norm="none", bias=False, causal=True, read="every", identity_query=True,
        feed_forwards=feed_forwards, frozen=("tokens", "positions", "output"),
    )  # fmt: skip
