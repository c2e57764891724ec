"""HTML in any text of a stored study: text in its report, never a tag."""

from __future__ import annotations

import random
from html.parser import HTMLParser
from pathlib import Path

from campaign.stored import Filled
from dynascope.core.records import StudyResult
from dynascope.report import page
from dynascope.store import Store
from store.tampering import FIXED, change_study

HOSTILE = ("<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "\" onload='alert(1)",  # noqa: E501
           "<!-- ", "]]>", "<svg/onload=alert(1)>", "&lt;script&gt;", "</style><b>", "javascript:alert(1)",  # noqa: E501
           "\u2028</script>", "<iframe srcdoc='x'>")  # fmt: skip


class Tags(HTMLParser):
    """Counts what the browser would take as tags and as handlers of events."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, int] = {}

    def handle_starttag(self, tag, attrs):
        for name in (tag, *(f"{tag}.{a}" for a, _ in attrs if a.startswith("on"))):
            self.found[name] = self.found.get(name, 0) + 1


class Field(Filled):
    def __enter__(self):
        super().__enter__()
        self.plain = self.tags(self.whole)
        return self

    def attempt(self, draw: random.Random) -> list[str]:
        home = self.copy()
        change_study(home / "records" / "fedcba98", lambda plain: self.soil(plain, draw))
        found = self.tags(home)
        new = {k: n for k, n in found.items() if n > self.plain.get(k, 0)}
        return [f"tags that were not there: {new}"] if new else []

    def soil(self, value, draw: random.Random):
        if isinstance(value, dict):
            return {k: v if k in FIXED else self.soil(v, draw) for k, v in value.items()}
        if isinstance(value, list):
            return [self.soil(v, draw) for v in value]
        return (
            draw.choice(HOSTILE)
            if isinstance(value, str) and value and draw.random() < 0.7
            else value
        )

    def tags(self, home: Path) -> dict[str, int]:
        result = Store(home).load("fedcba98")
        assert isinstance(result, StudyResult)
        parser = Tags()
        parser.feed(page(result, "dynascope run x"))
        return parser.found
