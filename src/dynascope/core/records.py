"""Plain data that leaves the JAX rooms: measurements, verdicts, study results, the sink.

No jax here and none in what it imports. A trajectory is an `xarray.Dataset`; this file
holds what is not an array, and the protocol through which the engine writes a run while
it is running, so that the engine need not know the store.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from dynascope.core.charts import Chart, chart_from_plain, chart_to_plain

if TYPE_CHECKING:
    import xarray as xr

VerdictWord = Literal["holds", "fails", "undecided", "not_applicable"]


@dataclass(frozen=True)
class Measured:
    """A value, its standard deviation over seeds (or None), and how many seeds."""

    value: float | None
    spread: float | None = None
    n: int = 1

    @property
    def error(self) -> float:
        """Standard error of the value; 0 where nothing was repeated."""
        return 0.0 if self.spread is None or self.n < 1 else self.spread / self.n**0.5


@dataclass(frozen=True)
class Control:
    """The case in which the claim must fail, and what was found there."""

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
    control: Control | None
    note: str = ""


@dataclass(frozen=True)
class Headline:
    """The one curve that a study shows in the terminal, with the words beside it."""

    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    theory: tuple[float, ...] | None
    note: str


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
    headline: Headline | None
    runs: tuple[str, ...]  # ids of the stored runs behind it
    seconds: float
    provenance: dict[str, Any]


def result_to_plain(result: StudyResult) -> dict[str, Any]:
    """The result as nested dictionaries and lists, ready for JSON."""
    plain = {k: v for k, v in result.__dict__.items() if k not in ("claims", "charts", "headline")}
    plain["claims"] = [asdict(c) for c in result.claims]
    plain["charts"] = [chart_to_plain(c) for c in result.charts]
    plain["headline"] = asdict(result.headline) if result.headline else None
    return plain


def result_from_plain(plain: dict[str, Any]) -> StudyResult:
    """The result that `result_to_plain` wrote."""

    def claim(c: dict[str, Any]) -> Claim:
        control = c["control"]
        return Claim(**{
            **c,
            "measured": Measured(**c["measured"]),
            "control": control
            and Control(**{**control, "measured": Measured(**control["measured"])}),
        })

    headline = plain["headline"]
    if headline:
        fields: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in headline.items()
        }
        headline = Headline(**fields)
    return StudyResult(**{
        **plain,
        "notes": tuple(plain["notes"]),
        "runs": tuple(plain["runs"]),
        "claims": tuple(claim(c) for c in plain["claims"]),
        "charts": tuple(chart_from_plain(c) for c in plain["charts"]),
        "headline": headline,
    })


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
