"""The Study interface: a figure, table or theorem of a document as plan, claims and charts.

A study is a frozen spec: its fields are its settings, which `--set` changes by path. It
only describes; the runner in `sweeps` executes the plan, and hands the runs back to
`analyse`, whose findings every claim and chart reads.

To add one: a file in `studies/<phenomenon>/` with a class that derives from `Study`; give
`name`, `title`, `source`, `scales`; write `plan` and `analyse`; mark methods with `@claim`
and `@chart`. Every claim carries a control in which it must fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.errors import unknown
from dynascope.core.records import Claim, Headline
from dynascope.core.registry import Registry
from dynascope.core.spec import Spec
from dynascope.engine import Experiment
from dynascope.studies.comparisons import Evidence

SCALES = ("smoke", "laptop", "paper")
studies: Registry[type[Study]] = Registry("study")


@dataclass(frozen=True)
class Study(Spec):
    """A figure, table or theorem: what to run, what to claim, what to draw."""

    name: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    scales: ClassVar[dict[str, dict[str, Any]]]  # per scale, the settings that differ
    needs_runs: ClassVar[bool] = True  # False: the plan is empty, `analyse` computes it all

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" in cls.__dict__:
            studies.add(cls.name, cls)

    @classmethod
    def at(cls, scale: str) -> Study:
        """The study with the settings of a scale: "smoke", "laptop" or "paper"."""
        if scale not in SCALES:
            raise unknown("scale", scale, SCALES)
        return replace(cls(), **cls.scales[scale])

    def plan(self) -> dict[str, Experiment]:
        """The experiments to run, by a short name; none where `needs_runs` is False."""
        if self.needs_runs:
            raise NotImplementedError
        return {}

    def analyse(self, runs: dict[str, xr.Dataset]) -> Any:
        """Everything that more than one claim or chart needs, worked out once."""
        return runs

    def notes(self) -> tuple[str, ...]:
        """The choices made where text, program and derivation differ."""
        return ()

    def headline(self, found: Any) -> Headline | None:
        """The one curve for the terminal."""
        return None

    @classmethod
    def claims(cls) -> list[Statement]:
        """Every claim as declared, in the order of the file."""
        return [f.statement for f in _marked(cls, "statement")]

    def judge(self, found: Any) -> list[Claim]:
        """Every claim with its verdict."""
        judged = []
        for method in _marked(type(self), "statement"):
            said = method.statement
            evidence: Evidence = method(self, found)
            judged.append(evidence.claim(f"{self.name}/{said.slug}", said.words, said.source))
        return judged

    def draw(self, found: Any) -> list[Chart]:
        """Every chart."""
        return [method(self, found) for method in _marked(type(self), "is_chart")]


@dataclass(frozen=True)
class Statement:
    """A claim before it is judged."""

    slug: str
    words: str
    source: str


def claim(slug: str, words: str, source: str) -> Callable[[Callable], Callable]:
    """Mark a method `(self, found) -> Evidence` as a claim.

    Args:
        slug: The last part of the claim's id, such as "second-descent".
        words: The statement, in one sentence of our own.
        source: Document and section, such as "001 Fig. 5".

    Returns:
        A decorator.
    """

    def mark(method: Callable) -> Callable:
        method.statement = Statement(slug, words, source)  # type: ignore[attr-defined]
        return method

    return mark


def chart(method: Callable) -> Callable:
    """Mark a method `(self, found) -> Chart` as a chart of the study."""
    method.is_chart = True  # type: ignore[attr-defined]
    return method


def _marked(cls: type, mark: str) -> list[Any]:
    return [f for f in vars(cls).values() if hasattr(f, mark)]
