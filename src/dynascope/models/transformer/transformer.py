"""The transformer: tokens, blocks of attention and feed-forward, and what is read off at the end.

Example 3.2 of boix2023 is `Transformer(norm="none", bias=False, scaled=False)`: Z is replaced by
Z + sum over heads of attn(Z), then by Z + act(Z W_A) W_B^T, block by block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.core.spec import later_field, static_field
from dynascope.models.activations import Activation
from dynascope.models.base import Model, Network
from dynascope.models.transformer.attention import Attention, asking
from dynascope.models.transformer.drawing import Start, drawn, factors_apart
from dynascope.models.transformer.feed_forward import FeedForward, Kind
from dynascope.models.transformer.norms import Norm, norm_entries, normed
from dynascope.models.transformer.token_maps import Patches, TokenMap, Words
from dynascope.tasks.recall.base import Asked

Params = dict[str, Any]


@dataclass(frozen=True)
class Transformer(Model):
    """Attention and feed-forward in turn, over the tokens of a sample.

    Args:
        tokens: What makes tokens of a sample: `Patches` of a picture or `Words` of a text.
        depth: Number of blocks.
        width: Size of a token.
        heads: Attention heads of a block.
        head_size: Size of a head's queries, keys and values; None is width / heads.
        groups: Heads that share keys and values form a group; None is a group for each head.
        feed_forward: "mlp", "gated", "linear" or "none".
        hidden: Size between the two maps of "mlp" and "gated"; None is 4 width.
        activation: Of the feed-forward part.
        norm: "layer", "rms" or "none".
        norm_place: "pre" norms what a part reads, and the end; "post" what a part leaves.
        parallel: Whether both parts of a block read the same, as in GPT-NeoX.
        bias: Whether the maps have offsets, other than queries, keys and values.
        qkv_bias: Whether these have.
        scaled: Whether scores are over sqrt(head_size); boix2023 (1) has no such factor.
        causal: Whether a token sees only itself and those before it.
        positions: "learned" vectors for each place, "rotary", or "none".
        read: "class_token" (one more token, put first), "mean" or "last" give one output a
            sample; "every" gives one for each token.
        tied: Whether the output map is the table of words.
        start: "pytorch", "gpt2" or "ntk"; see `drawing.Start`.
        init_scale: Factor on the start of all layers but the token map, boix2023 Fig. 6; places
            and class token belong to the token map, and norms start at 1.
        rotary_base: Of the angles of rotary positions.
        rotary_share: Which part of a head is turned by them.
        epsilon: Added to the variance by norms.
        rotary_factors: On the angle of every pair, for models stretched to longer texts.
        feed_forwards: Kinds block by block, where they differ; instead of `feed_forward`.
        identity_query: One head as wide as the tokens, which are themselves the queries.
        frozen: Groups of arrays that do not learn, such as "tokens", "positions", "output".

    Example:
        >>> network = Transformer(Patches((8, 8, 1), 4), depth=2, width=16, heads=2).build(64, 10)
        >>> params = jax.eval_shape(network.init, jax.random.key(0))  # nothing is computed
        >>> params["blocks"][0]["attention"]["query"].shape  # (width, head, head_size)
        (16, 2, 8)
        >>> jax.eval_shape(network.apply, params, jnp.zeros((5, 64))).shape
        (5, 10)
    """

    tokens: TokenMap = Patches()
    depth: int = 2
    width: int = 32
    heads: int = 4
    head_size: int | None = None
    groups: int | None = None
    feed_forward: Kind = "mlp"
    hidden: int | None = None
    activation: Activation = "gelu"
    norm: Norm = "layer"
    norm_place: Literal["pre", "post"] = "pre"
    parallel: bool = False
    bias: bool = True
    qkv_bias: bool = False
    scaled: bool = True
    causal: bool = False
    positions: Literal["learned", "rotary", "none"] = "learned"
    read: Literal["class_token", "mean", "last", "every"] = "mean"
    tied: bool = False
    start: Literal["pytorch", "gpt2", "ntk"] = "pytorch"
    init_scale: float = 1.0
    rotary_base: float = static_field(10000.0)
    rotary_share: float = static_field(1.0)
    epsilon: float = static_field(1e-5)
    rotary_factors: tuple[float, ...] = later_field(())
    feed_forwards: tuple[Kind, ...] = later_field(())
    identity_query: bool = later_field(False)
    frozen: tuple[str, ...] = later_field(())

    def check(self) -> None:
        """Raise for sizes that make no transformer, and for parts that exclude each other."""
        for name in ("depth", "width", "heads"):
            if getattr(self, name) < 1:
                raise bad(name, getattr(self, name), "a whole number of at least 1")
        for name in ("head_size", "groups", "hidden"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise bad(name, value, "a whole number of at least 1, or None")
        if self.head_size is None and self.width % self.heads:
            raise bad("width", self.width, f"a multiple of heads, {self.heads}, or give head_size")
        if self.groups is not None and self.heads % self.groups:
            raise bad("groups", self.groups, f"a divisor of heads, {self.heads}")
        if self.init_scale < 0:
            raise bad("init_scale", self.init_scale, "a number of at least 0")
        if self.parallel and self.norm_place == "post":
            raise bad("parallel", True, 'norm_place="pre"')
        if self.tied and not isinstance(self.tokens, Words):
            raise bad("tied", True, "a table of words to tie the output to: tokens=Words()")
        self._check_parts()
        if self.read == "class_token" and self.causal:
            raise bad("read", self.read, '"last" for a causal model: the first token sees nothing')

    def _check_parts(self) -> None:
        """Raise for kinds that are not one a block, and for names that are not there."""
        if self.feed_forwards and len(self.feed_forwards) != self.depth:
            raise bad("feed_forwards", self.feed_forwards, f"one kind for each of {self.depth}")
        unknown = set(self.frozen) - {"tokens", "positions", "output", "class_token"}
        if unknown:
            raise bad("frozen", sorted(unknown)[0], "tokens, positions, output or class_token")
        whole = self.heads == 1 and self.head_size in (None, self.width)
        plain = not (self.bias or self.qkv_bias) and self.positions != "rotary"
        if self.identity_query and not (whole and plain):
            raise bad("identity_query", True, "heads=1, bias=False and no rotary positions")

    @property
    def attention(self) -> Attention:
        """The attention of every block."""
        size = self.head_size or self.width // self.heads
        turned = (self.rotary_base, self.rotary_share, self.rotary_factors)
        rotary = turned if self.positions == "rotary" else None
        return Attention(
            self.width, self.heads, size, self.groups or self.heads, self.qkv_bias, self.bias,
            self.scaled, self.causal, rotary, self.identity_query,
        )  # fmt: skip

    @property
    def mixer(self) -> FeedForward:
        """The feed-forward part of every block, where they are alike."""
        hidden = self.hidden or 4 * self.width
        return FeedForward(self.feed_forward, self.width, hidden, self.activation, self.bias)

    def mixer_of(self, block: int) -> FeedForward:
        """The feed-forward part of one block."""
        kinds = self.feed_forwards
        return self.mixer._replace(kind=kinds[block]) if kinds else self.mixer

    def accepts(self, kind: str) -> bool:
        """Tokens where the token map is a table of words, else pictures as vectors."""
        words = isinstance(self.tokens, Words)
        return kind in ("tokens", "asked tokens") if words else kind == "vectors"

    def build(self, input_size: int, output_size: int) -> Network:
        """The pure functions for a task's sizes."""
        entries = self._entries(input_size, output_size)
        if self.start != "ntk":
            return Network(lambda key: drawn(key, entries), self.apply)
        plain, factors = factors_apart(entries)

        def scaled(params: Params, x: jax.Array | Asked) -> jax.Array:
            return self.apply(jax.tree.map(lambda f, p: f * p, factors, params), x)

        return Network(lambda key: drawn(key, plain), scaled)

    def _entries(self, input_size: int, output_size: int) -> Params:
        """Names, shapes and laws of all arrays."""
        first, other = Start(self.start, self.depth), Start(self.start, self.depth, self.init_scale)
        count = self.tokens.count(input_size) + (self.read == "class_token")
        norm = norm_entries(self.norm, self.width)
        found: Params = {
            "tokens": self.tokens.entries(input_size, self.width, first),
            "blocks": [
                {
                    "attention_norm": norm,
                    "attention": self.attention.entries(other),
                    "feed_forward_norm": norm,
                    "feed_forward": self.mixer_of(block).entries(other),
                }
                for block in range(self.depth)
            ],
        }
        if self.positions == "learned":
            found["positions"] = first.table((count, self.width))
        if self.read == "class_token":
            found["class_token"] = first.table((self.width,))
        if self.norm_place == "pre":
            found["last_norm"] = norm
        if not self.tied:
            found["output"] = {"weight": other.weight((self.width, output_size), self.width)}
            if self.bias:
                found["output"]["bias"] = other.offset((output_size,), self.width)
        return found

    def apply(self, params: Params, x: jax.Array | Asked) -> jax.Array:
        """The output at x: (..., output), or (..., token, output) with read="every".

        Of `Asked` rows, the output at the asked places alone, (..., places, output); the last
        block is then worked out for these.
        """
        params = {**params, **{k: jax.lax.stop_gradient(params[k]) for k in self.frozen}}
        tokens, at = (x.tokens, x.places) if isinstance(x, Asked) else (x, None)
        z = self.embed(params, tokens)
        for number, block in enumerate(params["blocks"]):
            z = self.block(block, z, number, at if number == self.depth - 1 else None)
        return self.output(params, z)

    def embed(self, params: Params, x: jax.Array) -> jax.Array:
        """The tokens that the first block reads, (..., token, width)."""
        z = self.tokens.tokens(params["tokens"], x)
        if self.read == "class_token":
            first = jnp.broadcast_to(params["class_token"], (*z.shape[:-2], 1, self.width))
            z = jnp.concatenate([first, z], axis=-2)
        if self.positions == "learned":
            z = z + params["positions"][: z.shape[-2]]
        return z

    def block(
        self, weights: Params, z: jax.Array, number: int = 0, at: jax.Array | None = None
    ) -> jax.Array:
        """Block `number`, with both residual sums; at some places alone if they are given."""
        norm, pre = self._norm, self.norm_place == "pre"
        first, second = weights["attention_norm"], weights["feed_forward_norm"]
        added = self.attention(weights["attention"], norm(first, z) if pre else z, at)
        z = asking(z, at)
        middle = z + added if pre else norm(first, z + added)
        read = z if self.parallel else middle
        added = self.mixer_of(number)(weights["feed_forward"], norm(second, read) if pre else read)
        return middle + added if pre else norm(second, middle + added)

    def output(self, params: Params, z: jax.Array) -> jax.Array:
        """What is read off the last block's tokens."""
        if self.norm_place == "pre":
            z = self._norm(params["last_norm"], z)
        if self.read != "every":
            z = {"class_token": z[..., 0, :], "last": z[..., -1, :], "mean": z.mean(-2)}[self.read]
        if self.tied:
            return z @ params["tokens"]["weight"].T
        y = z @ params["output"]["weight"]
        return y + params["output"]["bias"] if self.bias else y

    def _norm(self, weights: Params, z: jax.Array) -> jax.Array:
        return normed(self.norm, weights, z, self.epsilon)
