"""What every page is made of: escaped words, sections, tables of two columns."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from typing import Any

Section = tuple[str, str, str]  # anchor, title, HTML


def escaped(value: Any) -> str:
    """Text that is only ever text, between tags and in attributes.

    Example:
        >>> escaped("a < 'b'")
        'a &lt; &#x27;b&#x27;'
    """
    return escape(str(value), quote=True)


def asset(name: str) -> str:
    """The text of a file in `report/assets`."""
    return files("dynascope.report").joinpath("assets", name).read_text(encoding="utf-8")


def anchor(words: str) -> str:
    """A name that can be linked to.

    Example:
        >>> anchor("swing-by/down, up & down")
        'swing-by-down-up-down'
    """
    return re.sub(r"[^\w]+", "-", words).strip("-") or "here"


def section(name: str, title: str, body: str) -> Section | None:
    """A section with its anchor, or None where there is nothing to show."""
    if not body:
        return None
    html = f'<section id="{name}" aria-labelledby="{name}-title">\n'
    return name, title, f'{html}<h2 id="{name}-title">{title}</h2>\n{body}\n</section>'


def contents(sections: list[Section]) -> str:
    """Links to the sections of a page."""
    links = "".join(f'<li><a href="#{n}">{t}</a></li>' for n, t, _ in sections)
    return f'<nav aria-label="Sections"><ul>{links}</ul></nav>'


def bullets(lines: tuple[str, ...]) -> str:
    """Sentences as a list; nothing for none."""
    if not lines:
        return ""
    return "<ul>\n" + "\n".join(f"<li>{escaped(n)}</li>" for n in lines) + "\n</ul>"


def rows(pairs: list[tuple[str, str]], label: str) -> str:
    """Names and values as a table; nothing for none."""
    if not pairs:
        return ""
    body = "\n".join(
        f'<tr><th scope="row"><code>{escaped(name)}</code></th><td>{escaped(value)}</td></tr>'
        for name, value in pairs
    )
    return scrolling(f'<table class="rows"><tbody>\n{body}\n</tbody></table>', label)


def scrolling(table: str, label: str) -> str:
    """A table that scrolls by itself where the window is narrow, by keyboard too."""
    head = f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
    return f"{head}\n{table}</div>"
