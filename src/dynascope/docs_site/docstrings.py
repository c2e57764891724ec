"""A docstring in Google's style as Markdown."""

from __future__ import annotations

import inspect
import re
import textwrap

HEADS = ("Args", "Returns", "Raises", "Yields", "Attributes", "Example", "Examples")


def as_markdown(docstring: str) -> str:
    r"""The docstring with lists for arguments and code for examples.

    Example:
        >>> print(as_markdown("Add.\n\nArgs:\n    x: A number,\n        or two.\n"))
        Add.
        <BLANKLINE>
        **Args**
        <BLANKLINE>
        - `x`: A number, or two.
    """
    parts, lines = [], inspect.cleandoc(docstring).splitlines()
    for head, block in _blocks(lines):
        text = textwrap.dedent("\n".join(block)).strip("\n")
        if not head:
            parts.append(text)
        elif head.startswith("Example"):
            parts.append(f"**{head}**\n\n```pycon\n{text}\n```" if text else "")
        elif head in ("Returns", "Yields"):
            parts.append(f"**{head}**\n\n{text}")
        else:
            parts.append(f"**{head}**\n\n{_items(text)}")
    return "\n\n".join(p for p in parts if p)


def _blocks(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Text and sections, in their order."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        head = line.removesuffix(":")
        if line.endswith(":") and head in HEADS:
            found.append((head, []))
        elif found[-1][0] and line and not line.startswith(" "):
            found.append(("", [line]))
        else:
            found[-1][1].append(line)
    return found


def _items(text: str) -> str:
    """A list of `name: words`; lines that go on belong to the item above."""
    items: list[str] = []
    for line in text.splitlines():
        if line.startswith(" ") and items:
            items[-1] += f" {line.strip()}"
        elif line:
            items.append(re.sub(r"^([\w.*]+):", r"`\1`:", line))
    return "\n".join(f"- {item}" for item in items)
