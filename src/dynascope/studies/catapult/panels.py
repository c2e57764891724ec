"""The panels of a figure: which of them a scale runs, and the settings of each.

A study has a field for each panel, named like it, and `panels`, the names of those that it runs.
"""

from collections.abc import Callable, Iterable
from typing import Any

from dynascope.core.errors import unknown


def refuse_unknown(chosen: Iterable[str], known: Iterable[str]) -> None:
    """Raise for a panel that there is none of.

    Example:
        >>> refuse_unknown(("digits", "digit"), ("digits", "cnn"))
        Traceback (most recent call last):
        dynascope.core.errors.UnknownName: unknown panel 'digit'; did you mean 'digits'? ...
    """
    names = list(known)
    for name in chosen:
        if name not in names:
            raise unknown("panel", name, names)


def panel_of(settings: Any, name: str) -> Any:
    """One panel's settings."""
    return getattr(settings, name.replace("-", "_"))


def unless_chosen(name: str) -> Callable[[Any], str | None]:
    """The rule by which a node is left out where its panel is not among those that run."""
    return lambda s: None if name in s.panels else f"{name} is not among the panels at this scale"
