"""What a word model says at prompts, whole and with one weight truncated at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from dynascope.core import quantities
from dynascope.core.quantities import Quantity
from dynascope.models.base import Network
from dynascope.models.transformer import named_weights, with_named_weights
from dynascope.probes.base import Probe, Snapshot
from dynascope.probes.recall import cut_name, truncations
from dynascope.tasks.base import Task
from dynascope.tasks.recall.base import RecallSamples
from dynascope.tasks.recall.english import Prompts, TemplateEnglish

PARTS = ("answer", "the", "rank_of_the")


@dataclass(frozen=True)
class Prompted(Probe):
    """Mean probability of the answer and of "the", and the mean rank of "the" (1 is the top).

    Cost: a pass over all prompts for each cut, and an SVD for each weight.

    Args:
        cuts: Weights by name with the share that is kept; the whole model comes first by itself.
    """

    quantity: ClassVar[Quantity] = quantities.PROMPTED

    cuts: tuple[tuple[str, float], ...] = field(default=(), metadata={"static": True})

    def coords(self, task: Task) -> dict[str, Any]:
        """Names of cuts, prompts and parts."""
        cuts = ["whole", *(cut_name(*c) for c in self.cuts)]
        return {"cut": cuts, "prompt": list(Prompts._fields), "said": list(PARTS)}

    def needs(self, task: Task, network: Network) -> str | None:
        """Generated English."""
        return None if isinstance(task, TemplateEnglish) else "TemplateEnglish"

    def measure(self, snapshot: Snapshot) -> jax.Array:
        """(cut, prompt, said)."""
        weights, the = named_weights(snapshot.params), snapshot.task.generic  # type: ignore[attr-defined]

        def said(params: Any, rows: RecallSamples) -> jax.Array:
            logits = snapshot.network.apply(params, rows.asked)[:, 0]  # type: ignore[arg-type]
            p = jax.nn.softmax(logits)
            answer = jnp.take_along_axis(p, rows.answers, axis=1)[:, 0]
            rank = 1 + jnp.sum(logits > logits[:, the, None], axis=1).astype(p.dtype)
            return jnp.stack([answer.mean(), p[:, the].mean(), rank.mean()])

        def every(params: Any) -> jax.Array:
            return jnp.stack([said(params, rows) for rows in snapshot.context])

        found = [every(snapshot.params)[None]]
        for name in dict.fromkeys(name for name, _ in self.cuts):
            keeps = tuple(keep for own, keep in self.cuts if own == name)

            def with_weight(weight: jax.Array, name: str = name) -> jax.Array:
                return every(with_named_weights(snapshot.params, {name: weight}))

            found.append(jax.vmap(with_weight)(truncations(weights[name], keeps)))
        return jnp.concatenate(found)
