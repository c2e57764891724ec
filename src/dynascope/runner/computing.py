"""A computation of a study: executed item by item, stored, answered from the store."""

from __future__ import annotations

import time
import typing
import uuid
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from dynascope.core.code import code_of
from dynascope.core.encoding import decode, encode
from dynascope.core.paths import get_path
from dynascope.core.plain import CLASS_CODE, fingerprint, identify, to_plain
from dynascope.core.spec import is_ours
from dynascope.runtime.processor import processor
from dynascope.runtime.progress import Progress, moving
from dynascope.runtime.versions import versions
from dynascope.store import Store
from dynascope.studies.code import function_code
from dynascope.studies.nodes import Computation


def computation_key(
    study: str, node: Computation, settings: Any, inputs: list[Any], items: list[Any] | None
) -> dict[str, Any]:
    """What the fingerprint of a computation covers: the settings it reads, its inputs, its code.

    Args:
        study: Its name.
        node: The computation.
        settings: Of the study.
        inputs: What decides the values of the nodes that it reads.
        items: What it is computed for, where `own_items` says that they count.

    Returns:
        The key as plain data; no other has it where some of the code is unknown.
    """
    key = {
        "computation": f"{study}/{node.name}",
        "settings": _settings_key(node, settings),
        "inputs": inputs,
        "code": function_code(node.function),
    }
    if own_items(node):
        assert node.each is not None
        key |= {"each": function_code(node.each), "items": _told(items)}
    return key


def own_items(node: Computation) -> bool:
    """Whether what gives a computation its items is code of the user's own.

    The text of the file of a computation of ours, which its own code is known by, has it already.
    """
    return node.each is not None and not is_ours(node.each)


def node_items(node: Computation, settings: Any, values: list[Any]) -> list[Any]:
    """What a computation is computed for, one after the other; without `each` once."""
    return [None] if node.each is None else list(node.each(_allowed(node, settings), *values))


def _settings_key(node: Computation, settings: Any) -> Any:
    """The settings that a computation reads, and the code of their class if it is not ours."""
    whole = identify(settings)
    read = whole.plain
    if node.reads is not None:
        read = {name: to_plain(get_path(settings, name)) for name in node.reads}
        if CLASS_CODE in whole.plain:  # properties and methods are free to be read
            read[CLASS_CODE] = whole.plain[CLASS_CODE]
    return [read, whole.key] if whole.unknown else read


def _told(value: Any) -> str:
    """A digest of any value; where it cannot be seen, one that no other has."""
    found = code_of(value)
    return uuid.uuid4().hex if found.unknown else found.digest


def _allowed(node: Computation, settings: Any) -> Any:
    return settings if node.reads is None else _Allowed(settings, node)


def compute(
    node: Computation,
    settings: Any,
    values: list[Any],
    items: list[Any],
    key: dict[str, Any],
    store: Store,
    *,
    label: str,
    study: str,
    again: bool,
    progress: bool,
    begin: Callable[[], None],
) -> tuple[Any, str]:
    """The value of a computation and the id of its record.

    Args:
        node: What to compute.
        settings: Of the study.
        values: Of the nodes that it reads.
        items: What it is computed for.
        key: What its fingerprint covers.
        store: Where finished items are kept and answered from.
        label: What the listing shows.
        study: The name of the study.
        again: Compute although it is stored.
        progress: Whether to show progress.
        begin: Called before it starts, if the store does not answer.

    Returns:
        The function's value, or with items a dictionary of its values by item.
    """
    hint = _return_type(node.function)
    allowed = _allowed(node, settings)
    record = store.find(fingerprint(key))
    if record is None or again:
        begin()
        sink = store.computation(key, fingerprint(key), label=label, again=again, study=study)
        each = node.seconds(settings) / max(len(items), 1) if node.seconds else 0.0
        with Progress(label, len(items), progress) as bar:
            for number in range(len(sink.items), len(items)):
                begun = time.perf_counter()
                last = [] if node.each is None else [items[number]]
                with moving(bar, number, each):
                    found = node.function(allowed, *values, *last)
                sink.append(encode(found), time.perf_counter() - begun)
        record = sink.finish({"versions": versions(), "processor": processor()})
    # What was just computed goes through bytes as well: a stored answer is the same.
    found = [decode(data, hint) for data in store.items(record)]
    return (found[0] if node.each is None else dict(zip(items, found, strict=True))), record


def _return_type(function: Callable) -> Any:
    """The annotated return type; what else is annotated need not be known at run time."""
    returned = SimpleNamespace(__annotations__={"return": function.__annotations__["return"]})
    return typing.get_type_hints(returned, getattr(function, "__globals__", {}))["return"]


class _Allowed:
    """Settings of which a computation may read those that its fingerprint covers."""

    def __init__(self, settings: Any, node: Computation) -> None:
        self._settings, self._node = settings, node

    def __getattr__(self, name: str) -> Any:
        kind = getattr(type(self._settings), name, None)
        field = name in self._settings.__dataclass_fields__  # its default may be callable
        if not field and (isinstance(kind, property) or callable(kind)):
            return kind.__get__(self)  # what it reads in turn is asked for here
        if name not in (self._node.reads or ()):
            raise AttributeError(
                f"computation {self._node.name!r} reads the setting {name!r}: name it in reads="
            )
        return getattr(self._settings, name)
