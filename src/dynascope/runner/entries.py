"""Every study and document with what the store says of them, as the pages of a site show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dynascope.core.plain import to_plain
from dynascope.core.records import Claim, StudyResult
from dynascope.core.sources import Source, cited
from dynascope.report.html.document import DocumentEntry, Item
from dynascope.report.html.entry import Stated, StudyEntry
from dynascope.runner.last_verdicts import is_current, last_results
from dynascope.runner.remake import remake_study
from dynascope.store import Store
from dynascope.studies import Study, bibliography, studies
from dynascope.studies.comparisons import Bound
from dynascope.studies.coverage import coverage
from dynascope.studies.study import ClaimSpec

SCALE = "laptop"  # of the settings and words of a study that was not run


def study_entries(store: Store, names: Iterable[str] | None = None) -> list[StudyEntry]:
    """The studies with their newest stored results; nothing is run.

    Args:
        store: Where results are.
        names: Which studies; all by default.

    Returns:
        An entry for each.
    """
    chosen = list(studies) if names is None else [studies.get(name) for name in names]
    results = last_results(store)
    return [study_entry(study, results.get(study.name)) for study in chosen]


def study_entry(study: Study, result: StudyResult | None) -> StudyEntry:
    """A study with a result, or with none."""
    settings = study.at(SCALE)
    judged = {c.id: c for c in result.claims} if result else {}
    current = result is None or is_current(result)
    return StudyEntry(
        study.name,
        study.title,
        study.phenomenon,
        cited(study.sources),
        _handles(study.sources),
        tuple(_stated(c, settings, judged.get(c.id), current) for c in study.claims),
        study.notes(settings),
        to_plain(settings),
        result,
        current,
        remake_study(result) if result else f"dynascope run {study.name} --scale smoke",
    )


def document_entries() -> list[DocumentEntry]:
    """The documents of the bibliography with their numbered items."""
    return [
        DocumentEntry(
            d.handle,
            d.title,
            str(d),
            tuple(Item(r.item, r.claims, r.reason) for r in coverage(d.handle)),
        )
        for d in bibliography()
    ]


def _stated(claim: ClaimSpec, settings: Any, judged: Claim | None, current: bool) -> Stated:
    def words(text: str | Callable[[Any], str]) -> str:
        return text if isinstance(text, str) else text(settings)

    return Stated(
        claim.id,
        claim.words,
        cited(claim.sources),
        _handles(claim.sources),
        "; ".join(s.how for s in claim.sources if s.how),
        words(claim.fails_on.words),
        words(claim.holds_on.words),
        claim.bound.words() if isinstance(claim.bound, Bound) else "",
        claim.note if isinstance(claim.note, str) else "",
        claim.partner,
        claim.exploratory,
        judged,
        claim.quantity,
        current,
    )


def _handles(sources: tuple[Source, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(s.document.handle for s in sources if s.document))
