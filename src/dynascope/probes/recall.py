"""What a transformer recalls with parts truncated, where it looks, and what its last MLP says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from dynascope.core import quantities
from dynascope.core.errors import bad
from dynascope.core.quantities import Quantity
from dynascope.edits.truncation import kept_rank
from dynascope.models.base import Network
from dynascope.models.transformer import Transformer, named_weights, with_named_weights
from dynascope.numerics.decompositions import svd
from dynascope.probes.base import Probe, Snapshot
from dynascope.tasks.base import Task
from dynascope.tasks.recall.base import READOUT, Recall

Cut = tuple[str, float]  # a weight by name, and the share of its singular values that is kept
PARTS = ("previous", "answers", "noise", "per_answer", "per_noise")


@dataclass(frozen=True)
class Recalled(Probe):
    """What a model says on rows without noise: whole, and with one weight truncated at a time.

    Parts: probability of the answer and of the noise token, cross-entropy, share of places at
    which the noise token is on top, accuracy. Cost: an SVD for each weight, and the
    passes through what lies behind it for each cut.

    Args:
        cuts: Weights by name with the share that is kept; 0 drops a feed-forward part without
            offsets. The whole model comes first by itself.
    """

    quantity: ClassVar[Quantity] = quantities.RECALL

    cuts: tuple[tuple[str, float], ...] = field(default=(), metadata={"static": True})

    def coords(self, task: Task) -> dict[str, Any]:
        """Names of cuts and parts."""
        return {"cut": ["whole", *(cut_name(*c) for c in self.cuts)], "readout": list(READOUT)}

    def needs(self, task: Task, network: Network) -> str | None:
        """A task of recall, and weights of these names."""
        if not isinstance(task, Recall):
            return "a task of recall, such as NoisyRecall"
        known = named_weights(jax.eval_shape(network.init, jax.random.key(0)))
        missing = [name for name, _ in self.cuts if name not in known]
        return f"a model with a weight {missing[0]}" if missing else None

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(cut, readout)."""
        task, test = snapshot.task, snapshot.context
        assert isinstance(task, Recall)
        weights = named_weights(snapshot.params)

        def readout(params: Any) -> jax.Array:
            return task.readout(snapshot.network.apply(params, test.asked), test)

        if not self.cuts:
            return readout(snapshot.params)[None]
        found: dict[Cut, jax.Array] = {}
        for name in dict.fromkeys(name for name, _ in self.cuts):
            keeps = [keep for own, keep in self.cuts if own == name]

            def with_weight(weight: jax.Array, name: str = name) -> jax.Array:
                return readout(with_named_weights(snapshot.params, {name: weight}))

            # One program for all cuts of a weight: what lies before it is worked out once.
            rows = jax.vmap(with_weight)(truncations(weights[name], (1.0, *keeps)))
            found |= {("whole", 1.0): rows[0]}
            found |= {(name, keep): row for keep, row in zip(keeps, rows[1:], strict=True)}
        return jnp.stack([found["whole", 1.0], *(found[cut] for cut in self.cuts)])


def truncations(weight: jax.Array, keeps: tuple[float, ...]) -> jax.Array:
    """A weight cut to several shares of its singular values, (share, ...), by one SVD.

    A head's map has an axis of length one, and is cut as a matrix. `truncate_matrix` is its twin.
    """
    matrix = weight.reshape(-1, weight.shape[-1])
    u, s, vt = svd(matrix)
    ranks = jnp.asarray([kept_rank(matrix.shape, keep) for keep in keeps])
    kept = jnp.where(jnp.arange(len(s)) < ranks[:, None], s, 0.0)  # (share, rank)
    cut = (u * kept[:, None, :]) @ vt
    whole = (ranks == len(s))[:, None, None]
    return jnp.where(whole, matrix, cut).reshape(len(keeps), *weight.shape)


def cut_name(weight: str, keep: float) -> str:
    """How a cut is called in a run.

    Example:
        >>> cut_name("blocks.1.feed_forward.in", 0.05)
        'blocks.1.feed_forward.in 0.05'
    """
    return f"{weight} {keep:g}"


@dataclass(frozen=True)
class _OfTransformer(Probe):
    """A probe that takes a two-block transformer apart; it is given the model itself."""

    model: Transformer = Transformer()

    def check(self) -> None:
        """Raise for models with less than two blocks."""
        if self.model.depth < 2 or not self.model.identity_query:
            raise bad("model", self.model.depth, "a recall_transformer of two blocks or more")

    def needs(self, task: Task, network: Network) -> str | None:
        """A noisy recall task."""
        ours = isinstance(task, Recall) and hasattr(task, "triggers")
        return None if ours else "NoisyRecall"


@dataclass(frozen=True)
class RecallAttention(_OfTransformer):
    """Where the first and the last block look, on noisy rows.

    Parts: mean weight of the first block on the previous token; at the asked places, mean total
    weight of the last block on answers that follow the trigger and on noise that does; the same
    a position. Cost: a forward pass with all patterns.
    """

    quantity: ClassVar[Quantity] = quantities.RECALL_ATTENTION

    def coords(self, task: Task) -> dict[str, Any]:
        """Names of the parts."""
        return {"attention_part": list(PARTS)}

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(part,)."""
        samples, task = snapshot.samples, snapshot.task
        first, last = patterns(self.model, snapshot.params, samples.asked)
        tokens = samples.tokens
        before = jnp.concatenate([jnp.full_like(tokens[:, :1], -1), tokens[:, :-1]], axis=1)
        here = jnp.take_along_axis(tokens, samples.places, axis=1)  # the trigger that is asked
        after = before[:, None, :] == here[..., None]  # (rows, places, positions)
        seen = jnp.arange(tokens.shape[1]) <= samples.places[..., None]
        noise = after & seen & (tokens == task.generic)[:, None]  # type: ignore[attr-defined]
        # Where the answer is the noise token itself the two cannot be told apart.
        apart = (samples.answers != task.generic)[..., None]  # type: ignore[attr-defined]
        right = after & seen & (tokens[:, None] == samples.answers[..., None]) & apart
        noise = noise & apart
        form = last.dtype
        weights = samples.weights * apart[..., 0].astype(form)

        def total(mask: jax.Array) -> jax.Array:
            return jnp.sum(last * mask.astype(form), -1)

        def mean(values: jax.Array, weights: jax.Array) -> jax.Array:
            return jnp.sum(values * weights) / jnp.maximum(jnp.sum(weights), 1e-9)

        counts = [jnp.sum(mask, -1).astype(form) for mask in (right, noise)]
        both = weights * ((counts[0] > 0) & (counts[1] > 0)).astype(form)
        each = [mean(total(m) / jnp.maximum(c, 1.0), both)
                for m, c in zip((right, noise), counts, strict=True)]  # fmt: skip
        previous = jnp.mean(jnp.diagonal(first, -1, -2, -1))
        return jnp.stack([
            previous,
            mean(total(right), weights),
            mean(total(noise), weights),
            *each,
        ])


def patterns(model: Transformer, params: Any, asked: Any) -> tuple[jax.Array, jax.Array]:
    """Attention of the first block, (rows, T, T), and of the last at the asked places."""
    z = model.embed(params, asked.tokens)
    first = model.attention.pattern(params["blocks"][0]["attention"], z)
    for number, block in enumerate(params["blocks"][:-1]):
        z = model.block(block, z, number)
    return first, model.attention.pattern(params["blocks"][-1]["attention"], z, asked.places)


@dataclass(frozen=True)
class NoiseMargin(_OfTransformer):
    """[W_U F(W_E(q))] at the noise token less the largest of all others; F is the last MLP.

    chen2025 Fig. 4.3. Nan where the last block has no feed-forward part.
    """

    quantity: ClassVar[Quantity] = quantities.NOISE_MARGIN
    undefined = "NaN where the last block has no feed-forward part"

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """One number, the mean over triggers."""
        task, logits = snapshot.task, memory(self.model, snapshot.params)
        generic = task.generic  # type: ignore[attr-defined]
        others = logits.at[:, generic].set(-jnp.inf).max(axis=1)
        margins = (logits[:, generic] - others)[jnp.asarray(task.triggers)]  # type: ignore[attr-defined]
        kind = self.model.mixer_of(self.model.depth - 1).kind
        return jnp.mean(margins) if kind != "none" else jnp.full((), jnp.nan, logits.dtype)


def memory(model: Transformer, params: Any) -> jax.Array:
    """<F(W_E(i)), W_U(j)> of the last feed-forward part, (i, j): Fig. 4.6, middle."""
    last = model.depth - 1
    written = model.mixer_of(last)(
        params["blocks"][last]["feed_forward"], params["tokens"]["weight"]
    )
    return written @ params["output"]["weight"]
