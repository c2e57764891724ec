"""A watched run as an outcome, for reports and figures: what `runner.reporting` is for studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dynascope.core.attributes import as_values
from dynascope.core.records import StudyResult
from dynascope.runner.outcome import Outcome
from dynascope.runner.pictures import unclaimed
from dynascope.runner.remake import WATCHED, is_watched
from dynascope.runner.reporting import read_outcome
from dynascope.store import Store, files, index
from dynascope.watching.diagnosis import diagnose
from dynascope.watching.drawing import charts

if TYPE_CHECKING:
    import xarray as xr

    from dynascope.watching.diagnosis import Finding


def read_any(record: str, store: Store) -> tuple[Outcome, str]:
    """A stored study, run, sweep or watched run as an outcome, and how to make it again."""
    name = index.resolve(store.records, record)
    manifest = store.manifest(name)
    if not is_watched(manifest):
        return read_outcome(name, store)
    content: Any = store.load(name)
    with files.trusting_nothing(store.records / name, "what it holds"):
        result = watched_result(content, name, manifest)
    return Outcome(result, name, True, store), WATCHED


def watched_result(record: xr.Dataset, name: str, manifest: dict[str, Any]) -> StudyResult:
    """A watched run in the form of a study without claims: charts, and the diagnosis as notes."""
    found = diagnose(record)
    attrs = as_values(record.attrs)
    about = attrs | {key: manifest[key] for key in ("fingerprint", "spec", "seconds")}
    notes = (*map(said, found), *_caveats(attrs))
    return unclaimed(
        str(manifest["label"]), "a watched training run", f"{record.sizes['step']} steps",
        charts(record, found), name, about, notes,
    )  # fmt: skip


def said(finding: Finding) -> str:
    """A finding as a paragraph: what, where, from which threshold on, and what one could try."""
    first, last = finding.steps
    text = f"{finding.kind.capitalize()} (steps {first} to {last}): {finding.sentence}"
    if finding.threshold:
        text += f" Said from: {finding.threshold}."
    if finding.suggestion:
        text += f" A suggestion: {finding.suggestion}"
    if finding.study:
        text += f" The mechanism: dynascope run {finding.study}."
    return text


def _caveats(attrs: dict[str, Any]) -> list[str]:
    critical, schedule = attrs.get("critical_rate_of"), attrs.get("schedule")
    lines = [f"Critical rate: {critical}."] if critical else []
    lines += [f"Schedule: {schedule}."] if schedule else []
    lines += [str(note) for note in attrs.get("notes") or ()]
    return lines + [f"Not measured: {error}" for error in (attrs.get("errors") or ())[:5]]
