"""Two records side by side: what differs between them, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import xarray as xr

from dynascope.core.errors import bad
from dynascope.core.records import Claim, StudyResult
from dynascope.report.settings import setting_rows
from dynascope.report.words import measured_words
from dynascope.runner.summary import summarise
from dynascope.store import Store, index

T = TypeVar("T")
Both = dict[str, tuple[T | None, T | None]]  # by name; None where one has no such thing


@dataclass(frozen=True)
class Comparison:
    """Two studies or two runs; what is the same in both is only counted."""

    records: tuple[str, ...]
    heads: tuple[str, ...]  # ids with labels
    contents: tuple[Any, ...]
    settings: Both[str]  # by path
    claims: Both[Claim]  # of studies: another verdict or another number
    values: Both[str]  # of runs: final values
    same: int  # claims or final values


def compare(names: Sequence[str], store: Store, load: Callable[[str], Any]) -> Comparison:
    """What differs between two records of one kind.

    Args:
        names: Their ids, or unique beginnings of them.
        store: Where they are.
        load: Gives the content of a record by its id.

    Returns:
        The comparison.
    """
    if len(names) != 2:
        raise bad("records", f"{len(names)} of them", "two: mark two records of one kind")
    ids = tuple(index.resolve(store.records, name) for name in names)
    manifests = [store.manifest(id_) for id_ in ids]
    kinds = [m["kind"] for m in manifests]
    if kinds[0] != kinds[1] or "computation" in kinds:
        raise bad("records", " and ".join(kinds), "two studies or two runs")
    contents = one, other = load(ids[0]), load(ids[1])
    claims, values = _beside(_claims(one), _claims(other)), _beside(_values(one), _values(other))
    different = {k: v for k, v in claims.items() if _said(v[0]) != _said(v[1])}
    changed = _different(values)
    return Comparison(
        ids,
        tuple(f"{id_} ({m['label']})" for id_, m in zip(ids, manifests, strict=True)),
        contents,
        _different(_beside(*(dict(setting_rows(m["spec"])) for m in manifests))),
        different,
        changed,
        len(claims) + len(values) - len(different) - len(changed),
    )


def _beside(one: dict[str, T], other: dict[str, T]) -> Both[T]:
    return {k: (one.get(k), other.get(k)) for k in dict.fromkeys([*one, *other])}


def _different(both: Both[str]) -> Both[str]:
    return {k: v for k, v in both.items() if v[0] != v[1]}


def _claims(content: Any) -> dict[str, Claim]:
    return {c.id: c for c in content.claims} if isinstance(content, StudyResult) else {}


def _said(claim: Claim | None) -> tuple[str, str] | None:
    return (claim.verdict, measured_words(claim.measured)) if claim else None


def _values(content: Any) -> dict[str, str]:
    """Final values of a run; a watched one has none that are known to be of seeds."""
    found: dict[str, str] = {}
    if not isinstance(content, xr.Dataset) or "diverged" not in content:
        return found
    for point in summarise(content):
        at = ", ".join(f"{path} {value}" for path, value in point.at.items())
        for name, measured in point.final.items():
            found[f"{name} at {at}" if at else name] = measured_words(measured)
    return found
