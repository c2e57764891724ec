"""How the transformers of chen2025 section 4.4 are trained, and which cuts are looked at."""

from __future__ import annotations

from typing import Any

import jax
import optax

from dynascope.dynamics import Optax
from dynascope.engine import Experiment
from dynascope.engine.record import At, Keep
from dynascope.models import Transformer
from dynascope.probes import NoiseMargin, RecallAttention, Recalled
from dynascope.tasks import Recall

DECAY, MOMENTUM = 1e-4, 0.9  # of the authors' program; the text names neither
KEEPS = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5)  # shares of singular values


def learned(params: Any) -> Any:
    """Which arrays learn: those of the blocks."""
    return jax.tree_util.tree_map_with_path(lambda path, _: path[0].key == "blocks", params)


def descent(rate: Any) -> optax.GradientTransformation:
    """PyTorch's SGD with momentum and weight decay; what is frozen does not decay."""
    return optax.chain(
        optax.add_decayed_weights(DECAY, mask=learned),
        optax.trace(MOMENTUM),
        optax.scale_by_learning_rate(rate),
    )


def cuts_of(model: Transformer, keeps: tuple[float, ...] = KEEPS) -> tuple[tuple[str, float], ...]:
    """Every kept share of the last feed-forward part, and both parts dropped."""
    last = model.depth - 1
    names = [_first_weight(model, block) for block in (0, last)]
    found = [(names[1], keep) for keep in keeps] if names[1] else []
    return (*found, (names[0], 0.0)) if names[0] else tuple(found)


def _first_weight(model: Transformer, block: int) -> str | None:
    """The input matrix of a feed-forward part, or its only one."""
    kind = model.mixer_of(block).kind
    where = {"mlp": "in", "gated": "in", "linear": "out", "none": None}[kind]
    return None if where is None else f"blocks.{block}.feed_forward.{where}"


def trained(
    task: Recall, model: Transformer, rate: float, batch: int, steps: int, seeds: range,
    cuts: tuple[tuple[str, float], ...] | None = None, looks: int = 12,
) -> Experiment:  # fmt: skip
    """Fresh rows every step; looks at the first steps and then at even distances.

    Without `looks`, at the start and the end alone.
    """
    early = {i for i in (0, 1, 2, 3, 4, 5, 7, 10) if i < steps}
    seen = {*early, *range(0, steps, max(1, steps // looks))} if looks else set()
    at = tuple(float(i) for i in sorted(seen))
    probes: tuple = (Recalled(cuts_of(model) if cuts is None else cuts),)
    if hasattr(task, "triggers"):
        probes = (*probes, RecallAttention(model), NoiseMargin(model))
    return Experiment(
        task, model, Optax(descent, rate, batch_size=batch, order="fresh"), probes, steps=steps,
        record=At(at), seeds=tuple(seeds), keep=Keep(at=(steps,)),
    )  # fmt: skip
