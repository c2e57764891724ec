"""What a series of checkpoints says, as plain data: stable ranks by layer, and a LoRA rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.core.errors import bad
from dynascope.instruments.ranks.measuring import RankSeries
from dynascope.probes.product_spectra import stable_rank
from dynascope.runtime.precision import precision

PRODUCTS = ("kq", "vo")


def describe_ranks(series: RankSeries, energy: float = 0.9) -> dict[str, Any]:
    """Stable ranks of every layer, mean and spread over its heads, and a suggestion.

    Args:
        series: From `measure_ranks`.
        energy: Share of the squared change that a LoRA should hold.

    Returns:
        `family`, `layers`, `heads`, `groups`, `checkpoints`, `start` and `change` (by product, and
        by checkpoint for `change`: one entry per layer with `mean`, `spread` and how many heads
        `changed`), `lora`, `notes`.
    """
    if not 0 < energy < 1:
        raise bad("energy", energy, "a share above 0 and below 1")
    change = {p: [_by_layer(spectra) for spectra in series.change[p]] for p in PRODUCTS}
    still = sum(
        s.size - np.count_nonzero(s) for s in (v[-1][..., 0] for v in series.change.values())
    )
    notes = [series.note] if series.note else []
    if series.groups < series.heads:
        notes.append(f"{series.heads} query heads share {series.groups} key and value heads: "
                     "one product for each query head")  # fmt: skip
    if still:
        notes.append(f"{still} products have not changed at all: their stable rank is undefined")
    return {
        "family": series.family,
        "layers": series.layers,
        "heads": series.heads,
        "groups": series.groups,
        "checkpoints": list(series.names),
        "start": {p: _by_layer(series.start[p]) for p in PRODUCTS},
        "change": change,
        "lora": suggest_lora(series.energy, energy),
        "notes": notes,
    }


def _by_layer(spectra: np.ndarray) -> list[dict[str, Any]]:
    """Stable ranks (layer, head) as mean and spread over those heads that have one."""
    with precision("float64"):
        ranks = np.asarray(stable_rank(spectra))
    found = []
    for row in ranks:
        own = row[np.isfinite(row)]
        mean, spread = (float(own.mean()), float(own.std())) if own.size else (None, None)
        found.append({"mean": mean, "spread": spread, "changed": int(own.size)})
    return found


def suggest_lora(squares: dict[str, np.ndarray], energy: float) -> dict[str, Any]:
    """The rank at which a LoRA of each attention matrix would hold a share of its squared change.

    Args:
        squares: By matrix, squared singular values (layer, rank) of its change.
        energy: The share.

    Returns:
        `energy`, `rank` (enough for every matrix), `median` over the matrices, and the largest
        rank of each matrix by name. Read off the change; nothing is trained.

    Example:
        >>> suggest_lora({"q": np.array([[90.0, 9.0, 1.0]])}, 0.95)["rank"]
        2
    """
    ranks = {name: [_enough(row, energy) for row in rows] for name, rows in squares.items()}
    every = [rank for row in ranks.values() for rank in row]
    return {
        "energy": energy,
        "rank": max(every),
        "median": float(np.median(every)),
        "by_matrix": {name: max(row) for name, row in ranks.items()},
    }


def _enough(squares: np.ndarray, energy: float) -> int:
    """How many of the largest make up the share; none where nothing has changed."""
    total = squares.sum()
    return int(np.searchsorted(np.cumsum(squares), energy * total) + 1) if total > 0 else 0
