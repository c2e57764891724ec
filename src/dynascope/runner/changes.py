"""Several changes of settings at once, by path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from dynascope.core.errors import BadInput
from dynascope.core.paths import set_path
from dynascope.core.spec import Spec

S = TypeVar("S", bound=Spec)


def with_changes(spec: S, changes: Mapping[str, Any]) -> S:
    """The spec with other values at some paths, in an order in which each step is valid.

    Three means need three scales: whichever is named first waits for the other.

    Args:
        spec: The settings.
        changes: Values by path.

    Returns:
        The changed copy. A change that is valid in no order raises `BadInput`.

    Example:
        >>> from dynascope.tasks import IdentityMapping
        >>> both = {"means": (1.0, 2.0, 3.0), "scales": (0.1, 0.1, 0.1)}
        >>> with_changes(IdentityMapping(), both).input_size
        3
    """
    waiting = dict(changes)
    while waiting:
        refused: dict[str, BadInput] = {}
        for path, value in waiting.items():
            try:
                spec = set_path(spec, path, value)
            except BadInput as error:
                refused[path] = error
        if len(refused) == len(waiting):
            raise next(iter(refused.values()))
        waiting = {path: changes[path] for path in refused}
    return spec
