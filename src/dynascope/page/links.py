"""Addresses on the server."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from dynascope.report.html.links import Links


@dataclass(frozen=True)
class LiveLinks(Links):
    """Addresses on the server; a thumbnail's changes with the record it shows."""

    root: str = "/"
    suffix: str = ""
    versions: tuple[tuple[str, str], ...] = ()

    def thumbnail(self, study: str) -> str:
        """The small picture of a study."""
        version = dict(self.versions).get(study, "")
        return f"{super().thumbnail(study)}?v={quote(version)}"
