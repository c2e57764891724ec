"""Claims that differ in words and in one setting, but are decided by the same evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.studies.base import claim
from dynascope.studies.comparisons import Evidence


def variant(
    slug: str, words: str, source: str, evidence: Callable[..., Evidence], **fixed: Any
) -> Callable:
    """A claim that `evidence(study, found, **fixed)` decides; see `dynascope.studies.base.claim`.

    Example:
        >>> judged = variant("near", "It is near.", "004", lambda study, found, at: found[at], at=1)
        >>> judged.statement.slug, judged(None, "abc")
        ('near', 'b')
    """

    @claim(slug, words, source)
    def judged(study: Any, found: Any) -> Evidence:
        return evidence(study, found, **fixed)

    return judged
