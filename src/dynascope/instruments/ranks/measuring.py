"""Spectra of what changed between the first and the later checkpoints of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynascope.core.errors import bad
from dynascope.data.checkpoints import Checkpoint, read_checkpoint
from dynascope.edits.weight_names import Layout, layout
from dynascope.models.transformer.heads import HeadMaps
from dynascope.probes.product_spectra import difference_spectrum, product_spectrum
from dynascope.runtime.precision import precision
from dynascope.runtime.progress import Progress

ATTENTION = ("q", "k", "v", "o")


@dataclass(frozen=True, eq=False)
class RankSeries:
    """Singular values by product ("kq", "vo"), of every head, the largest first."""

    names: tuple[str, ...]  # of the later checkpoints
    family: str
    note: str
    heads: int
    groups: int
    start: dict[str, np.ndarray]  # (layer, head, d_h): of the first checkpoint's own products
    change: dict[str, np.ndarray]  # (checkpoint, layer, head, 2 d_h): of the products' change
    energy: dict[str, np.ndarray]  # by matrix: squared singular values of the last change,
    # (layer, rank); of whole matrices, all heads together

    @property
    def layers(self) -> int:
        """How many layers there are."""
        return len(self.start["kq"])


def measure_ranks(paths: Sequence[str | Path], heads: int | None = None) -> RankSeries:
    """Read checkpoints of one model and decompose what changed since the first.

    Args:
        paths: Two or more, the earliest first; see `data.read_checkpoint`.
        heads: Number of attention heads, where the files do not tell it.

    Returns:
        Spectra in float64.
    """
    if len(paths) < 2:
        raise bad("checkpoints", len(paths), "at least two: before and after")
    read = [read_checkpoint(path) for path in paths]
    found = [layout(checkpoint, checkpoint.config, heads) for checkpoint in read]
    first, later = found[0], found[1:]
    _check_layouts(read, found)
    start: dict[str, list] = {"kq": [], "vo": []}
    change: dict[str, list] = {"kq": [], "vo": []}
    energy: dict[str, list] = {name: [] for name in ATTENTION}
    with precision("float64"), Progress("rank", first.layers) as bar:
        for layer in range(first.layers):
            before, after = _maps(first, layer), [_maps(one, layer) for one in later]
            for name, (left, right) in _products(before):
                start[name].append(np.asarray(product_spectrum(left, right)))
            for name, pair in _products(before):
                now = [dict(_products(one))[name] for one in after]
                spectra = [np.asarray(difference_spectrum(*new, *pair)) for new in now]
                change[name].append(spectra)
            for name in ATTENTION:
                moved = later[-1].matrix(layer, name) - first.matrix(layer, name)
                energy[name].append(_squares(moved))
            bar.update(layer + 1, f"layer {layer}")
    changes = {name: np.array(values).swapaxes(0, 1) for name, values in change.items()}
    _check_change(paths, changes)
    return RankSeries(
        _short(paths[1:]), first.family, first.note, first.heads, first.groups,
        {name: np.array(values) for name, values in start.items()}, changes,
        {name: np.array(values) for name, values in energy.items()},
    )  # fmt: skip


def _maps(one: Layout, layer: int) -> HeadMaps:
    maps = HeadMaps(*(np.asarray(m, np.float64) for m in one.head_maps(layer)))
    for name, values in zip("kqvo", maps, strict=True):
        if not np.isfinite(values).all():
            raise bad(one.tensor(layer, name), "numbers that are not finite", "finite weights")
    return maps


def _products(maps: HeadMaps) -> Iterable[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    return (("kq", (maps.key, maps.query)), ("vo", (maps.value, maps.output)))


def _squares(moved: np.ndarray) -> np.ndarray:
    """Squared singular values, the largest first, from the smaller Gram matrix."""
    tall = np.asarray(moved if moved.shape[0] >= moved.shape[1] else moved.T, np.float64)
    return np.linalg.eigvalsh(tall.T @ tall)[::-1].clip(0)


def _check_layouts(read: list[Checkpoint], found: list[Layout]) -> None:
    """Raise where a later checkpoint is of another model."""
    first = found[0]
    for checkpoint, one in zip(read[1:], found[1:], strict=True):
        for what in ("family", "layers", "heads", "groups"):
            got, want = getattr(one, what), getattr(first, what)
            if got != want:
                raise bad(f"{what} of {checkpoint.source}", got, f"{want}, as {read[0].source} has")
        for layer in range(first.layers):
            for name in ATTENTION:
                got, want = (x.matrix(layer, name).shape for x in (one, first))
                if got != want:
                    tensor = one.tensor(layer, name)
                    raise bad(f"{tensor} of {checkpoint.source}", got, f"{want}, as the first has")


def _check_change(paths: Sequence[str | Path], change: dict[str, np.ndarray]) -> None:
    for number, path in enumerate(paths[1:]):
        parts = [values[number] for values in change.values()]
        if not any(part.any() for part in parts):
            same = "no head's product has changed, and zero has no stable rank"
            raise bad(str(path), "no difference", f"weights other than those of {paths[0]}", same)


def _short(paths: Sequence[str | Path]) -> tuple[str, ...]:
    """Names that tell the checkpoints apart: file names, or whole paths where these repeat."""
    names = [Path(path).name for path in paths]
    return tuple(names if len(set(names)) == len(names) else map(str, paths))
