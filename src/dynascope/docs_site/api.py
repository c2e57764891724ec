"""The API from docstrings: a page for each package, grouped by the file that holds a name."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import dynascope
from dynascope.docs_site.docstrings import as_markdown

VERBS = "verbs"


def packages() -> dict[str, str]:
    """The pages of the API by name, each with a line that says what is there."""
    found = {VERBS: "What `import dynascope as ds` has besides packages."}
    for name in ("record", *dynascope._PACKAGES):
        found[name] = _first(inspect.getdoc(getattr(dynascope, name)) or "")
    return found


def page(name: str) -> str:
    """A package's page in Markdown."""
    if name == VERBS:
        home, names = dynascope, list(dynascope._VERBS)
    else:
        home = getattr(dynascope, name)
        names = getattr(home, "__all__", None) or _defined(home)
    groups: dict[str, list[str]] = {}
    for each in names:
        groups.setdefault(_origin(getattr(home, each), home), []).append(each)
    shown = "ds" if name == VERBS else f"ds.{name}"
    parts = [f"# {shown}", as_markdown(inspect.getdoc(home) or "") if name != VERBS else ""]
    for module in sorted(groups):
        words = _first(inspect.getdoc(importlib.import_module(module)) or "") if module else ""
        parts += [f"## {words.rstrip('.:') or 'Values'}"]
        parts += [_entry(n, getattr(home, n)) for n in sorted(groups[module], key=str.lower)]
    return "\n\n".join(p for p in parts if p)


def _defined(module: Any) -> list[str]:
    """Public classes and functions that a module defines."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def _origin(value: Any, home: Any) -> str:
    """The module that defines a name; "" for a plain value."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return ""
    module = str(getattr(value, "__module__", "") or "")
    return module if module.startswith("dynascope.") else home.__name__


def _first(docstring: str) -> str:
    return " ".join(docstring.split("\n\n")[0].split())


def _entry(name: str, value: Any) -> str:
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return f"### {name}\n\nA value of type `{type(value).__name__}`."
    try:
        call = f"{name}{_signature(value)}"
    except (ValueError, TypeError):
        call = name
    # Objects among the defaults print their address; a page must not change by itself.
    call = re.sub(r"<function ([\w.<>]+) at 0x\w+>", r"\1", call)
    call = re.sub(r"<([\w.]+) object at 0x\w+>", r"\1(...)", call)
    words = as_markdown(inspect.getdoc(value) or "")
    return f"### {name}\n\n```python\n{_wrapped(call)}\n```\n\n{words}"


class _Plain:
    """An annotation that prints as it was written."""

    def __init__(self, annotation: Any) -> None:
        self.text = getattr(annotation, "__forward_arg__", annotation)

    def __repr__(self) -> str:
        return str(self.text)


def _signature(value: Any) -> str:
    """The signature with annotations as they stand in the file, without quotes."""

    def plain(annotation: Any) -> Any:
        quoted = isinstance(annotation, str) or hasattr(annotation, "__forward_arg__")
        return _Plain(annotation) if quoted else annotation

    found = inspect.signature(value)
    parameters = [p.replace(annotation=plain(p.annotation)) for p in found.parameters.values()]
    given = None if inspect.isclass(value) else found.return_annotation
    after = inspect.Signature.empty if given is None else plain(given)
    return str(found.replace(parameters=parameters, return_annotation=after))


def _wrapped(call: str) -> str:
    """A long signature with a line for each argument."""
    if len(call) <= 88 or "(" not in call:
        return call
    head, _, rest = call.partition("(")
    inner, close, after = rest.rpartition(")")
    lines = ",\n    ".join(_split(inner))
    return f"{head}(\n    {lines},\n){after}" if close else call


def _split(arguments: str) -> list[str]:
    """Arguments apart, where a comma is not inside brackets or quotes.

    Example:
        >>> _split("a: dict[str, int] = {}, b=(1, 2)")
        ['a: dict[str, int] = {}', 'b=(1, 2)']
    """
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(arguments):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append(arguments[start:i].strip())
            start = i + 1
    return [*parts, arguments[start:].strip()]
