"""Addresses of pages, from wherever a page stands."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from dynascope.report.html.parts import anchor


@dataclass(frozen=True)
class Links:
    """Where pages are, seen from one of them.

    A site on a disk has `Links("../")` in its folders; a server has `Links("/", "")`.

    Example:
        >>> Links("../").study("swing-by"), Links("/", "").claim("swing-by/falls")
        ('../studies/swing-by.html', '/studies/swing-by#claim-falls')
    """

    root: str = ""
    suffix: str = ".html"

    def page(self, name: str) -> str:
        """Any page, by its path without suffix."""
        return f"{self.root}{quote(name)}{self.suffix}"

    def study(self, name: str) -> str:
        """The page of a study."""
        return self.page(f"studies/{name}")

    def claim(self, claim_id: str) -> str:
        """The row of a claim on the page of its study."""
        study, _, slug = claim_id.partition("/")
        return f"{self.study(study)}#claim-{anchor(slug)}"

    def document(self, handle: str) -> str:
        """The page of a document."""
        return self.page(f"documents/{handle}")

    def thumbnail(self, study: str) -> str:
        """The small picture of a study."""
        return f"{self.root}thumbnails/{quote(study)}.png"

    def asset(self, name: str) -> str:
        """A file that all pages share."""
        return f"{self.root}assets/{name}"
