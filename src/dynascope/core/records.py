"""Plain data that leaves the JAX packages: measurements, verdicts, study results, the sink.

No jax here and none in what it imports. A trajectory is an `xarray.Dataset`; this file
holds what is not an array, and the protocol through which the engine writes a run while
it is running, so that the engine need not know the store.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from dynascope.core.charts import Chart, Line, Panel, chart_from_plain, chart_to_plain
from dynascope.core.typed import check_fields, check_type

if TYPE_CHECKING:
    import xarray as xr

VerdictWord = Literal["holds", "fails", "undecided", "not_applicable"]
Origin = Literal["printed", "derived", "ours"]  # where a bound comes from


Kind = Literal["exact", "mean", "share"]  # "exact": nothing random enters


@dataclass(frozen=True)
class Measured:
    """A value, its standard deviation over seeds (or None), how many, and its 95 % interval.

    Without an interval (one seed, or nothing measured) it decides nothing.
    """

    value: float | None
    spread: float | None = None
    n: int = 1
    low: float | None = None
    high: float | None = None
    kind: Kind = "mean"


@dataclass(frozen=True)
class Control:
    """A case in which the claim must fail, or must hold, and what was found there."""

    statement: str
    measured: Measured
    verdict: VerdictWord


@dataclass(frozen=True)
class Claim:
    """A judged claim: what was said, where, what was measured, and the verdict.

    `expected` is `{"value": v}`, `{"low": a, "high": b}` (either may be None) or a text.
    """

    id: str
    statement: str
    source: str
    measured: Measured
    expected: dict[str, float | None] | str
    verdict: VerdictWord
    control: Control | None  # where it must fail
    note: str = ""
    positive: Control | None = None  # where it must hold
    origin: Origin | None = None  # of the bound
    partner: str | None = None  # the id of the claim that states the same as printed, or corrected
    exploratory: bool = False
    seeds_needed: int | None = None  # about as many would decide what is undecided
    quantity: str = ""  # what the measured number is, in words


@dataclass(frozen=True)
class StudyResult:
    """Everything a study found, as plain data."""

    study: str
    title: str
    source: str
    scale: str
    fingerprint: str
    settings: dict[str, Any]
    notes: tuple[str, ...]  # the choices made where text, program and derivation differ
    claims: tuple[Claim, ...]
    charts: tuple[Chart, ...]
    headline: str | None  # the name of the first chart if the terminal shows it
    runs: tuple[str, ...]  # ids of the stored runs behind it
    seconds: float
    provenance: dict[str, Any]

    def __repr__(self) -> str:
        kinds = f"{len(self.claims)} claims, {len(self.charts)} charts, {len(self.runs)} runs"
        return f"StudyResult({self.study!r}, scale {self.scale!r}: {kinds})"


def result_to_plain(result: StudyResult) -> dict[str, Any]:
    """The result as nested dictionaries and lists, ready for JSON."""
    plain = {k: v for k, v in result.__dict__.items() if k not in ("claims", "charts")}
    plain["claims"] = [asdict(c) for c in result.claims]
    plain["charts"] = [chart_to_plain(c) for c in result.charts]
    return plain


def result_from_plain(plain: dict[str, Any]) -> StudyResult:
    """The result that `result_to_plain` wrote, of this or an earlier version.

    A field that is not what its annotation says is a `WrongType`.
    """
    check_fields(plain, StudyResult, "study", but=("charts", "headline"))

    def control(c: dict[str, Any] | None) -> Control | None:
        return c and Control(**{**c, "measured": Measured(**c["measured"])})  # type: ignore[return-value]

    def claim(c: dict[str, Any]) -> Claim:
        controls = {name: control(c.get(name)) for name in ("control", "positive")}
        return Claim(**{**c, "measured": Measured(**c["measured"]), **controls})

    charts = tuple(chart_from_plain(c) for c in plain["charts"])
    headline = plain["headline"]
    if isinstance(headline, dict):  # version 0.1 kept a curve apart from the charts
        charts, headline = (_curve(headline), *charts), "headline"
    check_type(headline, str | None, "study.headline")
    return StudyResult(**{
        **plain,
        "notes": tuple(plain["notes"]),
        "runs": tuple(plain["runs"]),
        "claims": tuple(claim(c) for c in plain["claims"]),
        "charts": charts,
        "headline": headline,
    })


def _curve(old: dict[str, Any]) -> Chart:
    """The headline of a record of version 0.1 as a chart."""
    marks = [Line(old["x"], old["y"], "measured", "measured", 0)]
    if old["theory"] is not None:
        marks.append(Line(old["x"], old["theory"], "theory", "theory", 0))
    panel = Panel(tuple(marks), "", old["x_label"], old["y_label"])
    return Chart("headline", old["title"], old["note"], (panel,))


@dataclass(frozen=True)
class Saved:
    """What a sink still holds of an unfinished run: the rows so far and the state to go on from."""

    part: xr.Dataset
    checkpoint: bytes


class Sink(Protocol):
    """Where the engine writes a run while it is running; the store implements it.

    Rows come as labelled parts that follow each other along `step`. `append` must be
    atomic: after a kill, `resume` returns the rows and the checkpoint of the last append
    that finished, both or neither.
    """

    def resume(self) -> Saved | None:
        """The unfinished run, or None to start from the beginning."""
        ...

    def append(self, part: xr.Dataset, checkpoint: bytes) -> None:
        """Add the rows of `part` after those already there, with the state after them."""
        ...

    def finish(self, attrs: dict[str, Any]) -> None:
        """Set the attributes and end the run; `attrs["outcome"]` says how it ended."""
        ...
