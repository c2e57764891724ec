"""What is shown in the seconds in which a server that has just started loads the studies.

The gallery is shown as it was seen last, with a line that says so; other pages say that they are
on their way. `waiting.js` replaces either as soon as there is an answer.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from dynascope.runtime.home import home

LINE = '<p id="waiting" class="notice" role="status">{words}</p>'
LOADING = "The studies are being loaded; this takes some seconds after a start."
AS_LAST = "As it was seen last: the studies are being loaded, and the page follows in some seconds."


def _kept() -> Path:
    return home() / "page" / "gallery.html"


def remember(html: str) -> None:
    """Keep the gallery for the next start; a disk that is full or forbidden is no matter here."""
    path = _kept()
    with contextlib.suppress(OSError):
        if path.exists() and path.read_text(encoding="utf-8") == html:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(html, encoding="utf-8")
        fresh.replace(path)


def before(question: str) -> dict[str, Any]:
    """The body to show before the answer to a question is there."""
    html = ""
    if question == "gallery":
        with contextlib.suppress(OSError, UnicodeDecodeError):
            html = _kept().read_text(encoding="utf-8")
    words = LINE.format(words=AS_LAST if html else LOADING)
    return {"title": "dynascope", "html": words + html, "charts": "", "scripts": ["waiting.js"]}
