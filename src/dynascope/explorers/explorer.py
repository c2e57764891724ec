"""An explorer: settings, what can be moved in them, and one function that gives data and chart.

```python
@explorer("A parabola", about="...", moves=(Slider("learning_rate", "learning rate", 0.1, 2.2),),
          studies=("quartic-orbits",), work=lambda s: Work(s.steps), cut="steps")
def some_parabola(s: Settings) -> Explored: ...
```

What the function says already is not said again: `dynascope.explore` calls it "some-parabola", its
settings are of the class of its argument, its phenomenon is that of its studies. What it computes
and draws with is in `instruments` and `theories`; the file of an explorer declares.

The function gets checked settings and must answer within a fraction of a second: numbers of the
settings are arguments of compiled programs, never new programs. Where it takes longer, it tells
a `Progress` between its pieces: there a page may interrupt what nobody waits for any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, get_type_hints

import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.errors import BadInput, unknown
from dynascope.core.paths import get_path, set_path
from dynascope.core.registry import Registry
from dynascope.core.spec import Spec
from dynascope.explorers.budget import Work, fitted
from dynascope.explorers.moves import Choice, Click, Drag, Move, Slider, Words, name_of
from dynascope.studies.study import studies as known_studies


@dataclass(frozen=True)
class Explored:
    """What an explorer shows at some settings."""

    dataset: xr.Dataset
    chart: Chart
    numbers: tuple[str, ...]  # what the chart shows, in sentences with numbers
    cut: str = ""  # what was left out to answer in time, in one sentence

    def _repr_html_(self) -> str:
        """In a notebook: the chart."""
        return self.chart._repr_html_()


@dataclass(frozen=True)
class Explorer:
    """See the module docstring."""

    name: str
    title: str
    about: str
    moves: tuple[Move, ...]
    studies: tuple[str, ...]
    work: Callable[[Any], Work]
    cut: str
    settings: type[Spec]
    function: Callable[[Any], Explored]

    @property
    def phenomenon(self) -> str:
        """That of its studies."""
        return known_studies.get(self.studies[0]).phenomenon

    def named(self) -> dict[str, tuple[str, Slider | Choice | Words | Drag]]:
        """Path and move of every name that `explore` takes."""
        return dict(self._named())

    def _named(self) -> Iterator[tuple[str, tuple[str, Slider | Choice | Words | Drag]]]:
        for move in self.moves:
            if isinstance(move, Drag):
                yield from ((name_of(path), (path, move)) for path in (move.x, move.y))
            elif not isinstance(move, Click):
                yield name_of(move.path), (move.path, move)

    def values(self, settings: Any = None) -> dict[str, Any]:
        """The value of every name, by default those of the untouched settings."""
        spec = self.settings() if settings is None else settings
        return {name: get_path(spec, path) for name, (path, _) in self._named()}

    def at(self, **values: Any) -> Any:
        """The settings with some values, each checked."""
        settings, known = self.settings(), self.named()
        for name, value in values.items():
            if name not in known:
                raise unknown(f"slider of {self.name}", name, known)
            path, move = known[name]
            settings = set_path(settings, path, move.check(value))
        return settings

    def __call__(self, **values: Any) -> Explored:
        """What it shows at some values."""
        return self.function(self.at(**values))

    def within(self, budget: int, values: dict[str, Any]) -> tuple[Explored, Work]:
        """What it shows with at most so much work, and the work it took; `cut` says what is cut."""
        asked = self.at(**values)
        settings, line = fitted(asked, self.work(asked), self.cut, budget)
        found = self.function(settings)
        return replace(found, cut=f"{line} {found.cut}".strip()), self.work(settings)


explorers: Registry[Explorer] = Registry("explorer")


def explorer(
    title: str,
    *,
    about: str,
    moves: tuple[Move, ...],
    studies: tuple[str, ...],
    work: Callable[[Any], Work],
    cut: str = "",
) -> Callable[[Callable[[Any], Explored]], Explorer]:
    """Declare an explorer; see the module docstring.

    Args:
        title: What it shows, in one line.
        about: What to move and what to look for, in a few sentences.
        moves: What can be moved.
        studies: Names of the studies that measure what it shows, of one phenomenon.
        work: Steps x lanes x size of a picture at some settings.
        cut: Path of the setting that is cut where that is too much; without one it is refused.

    Returns:
        A decorator that gives the explorer.
    """

    def declare(function: Callable[[Any], Explored]) -> Explorer:
        name, settings = function.__name__.replace("_", "-"), get_type_hints(function)["s"]
        made = Explorer(name, title, about, moves, studies, work, cut, settings, function)
        for path, move in made.named().values():
            if not (isinstance(move, Drag) or get_path(settings(), path) is not None):
                raise BadInput(f"explorer {name}: {path} has no value to begin with")
        return explorers.add(name, made)

    return declare


def explore(name: str, **values: Any) -> Explored:
    """What an explorer of the page shows at some values, as data and as a chart.

    Args:
        name: The explorer, such as "orbits".
        values: Values by name, such as `learning_rate=1.1`; the others are as they are at first.

    Returns:
        The dataset, the chart, and what it shows in words.

    Example:
        >>> found = explore("balance", learning_rate=1.05)
        >>> found.chart.name, sorted(found.dataset.data_vars)
        ('balance', ['x', 'y'])
    """
    return explorers.get(name)(**values)
