"""A study: a figure, table or theorem of a document as settings, nodes, claims and charts.

```python
study = Study("my-study", title="...", sources=(yang2025("Fig. 5"),), settings=Settings,
              scales={"smoke": {"seeds": 8}, "laptop": {}, "paper": {"seeds": 1000}})

@study.run
def reference(s: Settings) -> Experiment: ...

study.claim("falls", "The loss falls to a tenth.", yang2025("Fig. 5"), last_share,
            at_most(0.1, "printed"), on=reference, fails_on=case("rate 0", frozen),
            holds_on=case("a planted fall", planted))

@study.chart(reference, headline=True)
def losses(s: Settings, reference: Run) -> Chart: ...
```

The study only describes. `runner.run` executes what claims and charts ask for.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dynascope.core.choices import SCALES
from dynascope.core.errors import bad, unknown
from dynascope.core.paths import set_path
from dynascope.core.sources import Source
from dynascope.core.spec import Spec, is_ours
from dynascope.studies.comparisons import Bound
from dynascope.studies.finding import Studies
from dynascope.studies.nodes import Case, Computation, Function, Node, RunNode, as_case, reach

studies = Studies("study")


@dataclass(frozen=True)
class ClaimSpec:
    """A claim as declared: words, source, one measuring function, one bound, its cases."""

    id: str
    words: str
    sources: tuple[Source, ...]
    measure: Callable[..., Any]
    bound: Bound | Callable[..., Bound]  # a function gets what the measuring function gets
    on: Case
    fails_on: Case
    holds_on: Case
    note: str | Callable[..., str]
    partner: str | None  # the id of the claim that states the same as printed, or corrected
    exploratory: bool
    measures: str = ""  # what the number is, where the measuring function has no docstring

    @property
    def quantity(self) -> str:
        """What the measured number is: the first sentence of the measuring function's docstring."""
        return self.measures or first_sentence(self.measure)

    @property
    def cases(self) -> tuple[Case, ...]:
        """Everything the claim is put to."""
        return self.on, self.fails_on, self.holds_on


@dataclass(frozen=True)
class ChartSpec:
    """A chart as declared: the nodes it reads and the function that draws it."""

    function: Callable[..., Any]
    inputs: tuple[Node, ...]
    headline: bool


def first_sentence(function: Callable[..., Any]) -> str:
    """The first paragraph of a function's docstring; "" for a lambda or an object without one.

    Example:
        >>> first_sentence(first_sentence)[:41]
        "The first paragraph of a function's docst"
    """
    while isinstance(function, functools.partial):
        function = function.func
    words = (inspect.getdoc(function) or "") if inspect.isfunction(function) else ""
    return " ".join(words.partition("\n\n")[0].split())


class Study:
    """The interface through which a study's parts are declared; see the module docstring.

    Args:
        name: As the command line has it.
        title: What it shows, in one line.
        sources: The places in documents that it covers.
        settings: The class of its settings, a spec tagged `studies.<name>`.
        scales: Per scale, the settings that differ, by path.
        notes: The choices made where text, program and derivation differ; a tuple of
            sentences, or a function of the settings.
    """

    def __init__(
        self,
        name: str,
        *,
        title: str,
        sources: tuple[Source, ...],
        settings: type[Spec],
        scales: Mapping[str, Mapping[str, Any]],
        notes: tuple[str, ...] | Callable[[Any], tuple[str, ...]] = (),
    ) -> None:
        if settings.spec_tag != f"studies.{name}":
            raise bad("settings", settings.spec_tag, f'a class with tag="studies.{name}"')
        if set(scales) != set(SCALES):
            raise bad("scales", sorted(scales), ", ".join(SCALES))
        self.name, self.title, self.sources = name, title, sources
        self.settings, self.scales, self._notes = settings, scales, notes
        self.nodes: list[Function] = []
        self.claims: list[ClaimSpec] = []
        self.charts: list[ChartSpec] = []
        studies.add(name, self, replaces=self._replaces)

    def _replaces(self, other: Study) -> bool:
        """Whether this is another's study declared anew: a notebook's cell, a reloaded module."""
        return not is_ours(self.settings) and self.settings.__module__ == other.settings.__module__

    @property
    def phenomenon(self) -> str:
        """The folder of studies that it belongs to; for others' studies their package."""
        parts = self.settings.__module__.split(".")
        return (parts[2] if is_ours(self.settings) else parts[0]).replace("_", "-")

    def at(self, scale: str) -> Any:
        """The settings of a scale: "smoke", "laptop" or "paper"."""
        if scale not in SCALES:
            raise unknown("scale", scale, SCALES)
        settings: Any = self.settings()
        for path, value in self.scales[scale].items():
            settings = set_path(settings, path, value)
        return settings

    def notes(self, settings: Any) -> tuple[str, ...]:
        """The notes under these settings."""
        return self._notes(settings) if callable(self._notes) else self._notes

    def data(self) -> list[str]:
        """The data sets that some node needs."""
        return sorted({node.data for node in self.nodes if node.data})

    def needed(self) -> list[Node]:
        """The nodes that claims and charts rest on, inputs first."""
        asked = [n for c in self.claims for case in c.cases for n in case.nodes]
        return reach((*asked, *(n for c in self.charts for n in c.inputs)))

    # --- declaring ---------------------------------------------------------------------------

    def run(self, *inputs: Any, **options: Any) -> Any:
        """Declare a run: a function `(settings, *values of inputs)` that gives an experiment.

        Args:
            inputs: Nodes that it reads; or the function itself, for a bare `@study.run`.
            options: `name`, `data`, `only_if` and `seconds` of `RunNode`.

        Returns:
            The node, or a decorator that gives it.
        """
        return self._declare(RunNode, inputs, options)

    def compute(self, *inputs: Any, **options: Any) -> Any:
        """Declare a computation: a function `(settings, *values of inputs[, item])`.

        Its annotated return type says how the value is stored: numbers, text, arrays, datasets,
        and tuples, lists, dictionaries, named tuples and dataclasses of these.

        Args:
            inputs: Nodes that it reads; or the function itself, for a bare `@study.compute`.
            options: `name`, `data`, `only_if`, `each`, `reads` and `seconds` of `Computation`.

        Returns:
            The node, or a decorator that gives it.
        """
        return self._declare(Computation, inputs, options)

    def finding(self, *inputs: Any, **options: Any) -> Any:
        """Declare a finding: a function `(settings, *values of inputs)`, worked out once."""
        return self._declare(Function, inputs, options)

    def _declare(self, kind: type[Function], inputs: tuple, options: dict[str, Any]) -> Any:
        if len(inputs) == 1 and not isinstance(inputs[0], Node) and callable(inputs[0]):
            return self._add(kind, inputs[0], (), options)
        return lambda function: self._add(kind, function, inputs, options)

    def _add(self, kind: type[Function], function: Callable, inputs: tuple, options: dict) -> Node:
        name = options.pop("name", function.__name__.strip("_").replace("_", " "))
        if any(node.name == name for node in self.nodes):
            raise ValueError(f"{self.name} has two nodes called {name!r}; give one a name=")
        node = kind(name, inputs, function=function, **options)
        self.nodes.append(node)
        return node

    def claim(
        self,
        slug: str,
        words: str,
        source: Source | tuple[Source, ...],
        measure: Callable[..., Any],
        bound: Bound | Callable[..., Bound],
        *,
        on: Node | tuple | Case,
        fails_on: Case,
        holds_on: Case,
        note: str | Callable[..., str] = "",
        partner: str | None = None,
        exploratory: bool = False,
        measures: str = "",
    ) -> None:
        """Declare a claim.

        Args:
            slug: The last part of its id, such as "second-descent".
            words: The statement in one sentence of our own that can be read alone.
            source: Where it stands.
            measure: Gives a `Measured` (or `Missing`) from a case's arguments and options.
            bound: What is expected, or a function of the own case that gives it.
            on: The claim's own case.
            fails_on: A case in which the claim must fail.
            holds_on: A case in which it must hold: the phenomenon is certain, or planted.
            note: What else the reader should know, or a function of the own case.
            partner: Slug of the claim that states the same as printed, or corrected.
            exploratory: Whether it is a reading of ours that no document states.
            measures: What the number is, in words, where the measuring function is a lambda; else
                the first sentence of its docstring says it.
        """
        id_ = f"{self.name}/{slug}"
        if any(c.id == id_ for c in self.claims):
            raise ValueError(f"claim {id_!r} is declared twice")
        sources = source if isinstance(source, tuple) else (source,)
        full = f"{self.name}/{partner}" if partner else None
        self.claims.append(
            ClaimSpec(
                id_, words, sources, measure, bound, as_case(on), fails_on, holds_on, note, full,
                exploratory, measures,
            )
        )  # fmt: skip

    def chart(self, *inputs: Any, headline: bool = False) -> Any:
        """Declare a chart: a function `(settings, *values of inputs)` that gives a `Chart`.

        Args:
            inputs: Nodes that it reads.
            headline: Whether it is the study's signature picture, which the terminal shows.

        Returns:
            A decorator that gives the function back.
        """

        def add(function: Callable) -> Callable:
            self.charts.append(ChartSpec(function, inputs, headline))
            return function

        return add
