"""A page's body with what the shell needs to know about it."""

from __future__ import annotations

from typing import Any


def body(title: str, html: str, charts: str = "", scripts: tuple[str, ...] = ()) -> dict[str, Any]:
    """What the server makes a page of.

    Args:
        title: Of the browser's tab.
        html: The body, escaped.
        charts: The file name of the plotly.js that it needs, or nothing.
        scripts: Modules of the page that it needs.

    Returns:
        Plain data.
    """
    return {"title": title, "html": html, "charts": charts, "scripts": list(scripts)}
