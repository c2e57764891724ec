"""What the store says of every claim: the verdict of the newest result of its study.

A verdict is that of the claim's words, bound, measuring code and rule at the time. Where one of
these has changed since, it is `outdated`: `run` judges anew, on the stored runs.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from dynascope.core.errors import DynascopeError, StoreError
from dynascope.core.plain import from_plain
from dynascope.core.records import StudyResult
from dynascope.core.sources import cited
from dynascope.runner.request import request
from dynascope.store import Store
from dynascope.studies import Study, bibliography, studies


def of_document(handle: str | None) -> list[Study]:
    """The studies that cite a document, or all; an unknown handle gives the nearest one."""
    if handle is None:
        return list(studies)
    wanted = bibliography().get(handle)
    return [s for s in studies if any(source.document == wanted for source in s.sources)]


def claim_rows(
    store: Store, source: str | None = None, study: str | None = None
) -> list[dict[str, Any]]:
    """Every claim as plain data, with its last verdict; nothing is run.

    Args:
        store: Where results are.
        source: Only claims that cite this document.
        study: Only claims of this study.

    Returns:
        A dictionary per claim; `verdict` is "not_run" where no result is stored, and "outdated"
        where claims, code, data sets or the rule are others now. `last` is what was said then.
    """
    wanted = bibliography().get(source) if source else None
    chosen = [studies.get(study)] if study else list(studies)
    results = last_results(store)
    rows = []
    for each in chosen:
        result = results.get(each.name)
        judged = {c.id: c for c in result.claims} if result else {}
        outdated = result is not None and not is_current(result)
        for claim in each.claims:
            if wanted and not any(s.document == wanted for s in claim.sources):
                continue
            found = judged.get(claim.id)
            known: dict[str, Any] = {"measured": None, "expected": None}
            if found:
                known = {"measured": asdict(found.measured), "expected": found.expected}
            last = found.verdict if found else "not_run"
            rows.append({
                "id": claim.id,
                "statement": claim.words,
                "source": cited(claim.sources),
                "verdict": "outdated" if found and outdated else last,
                "last": last,
                "scale": result.scale if result and found else None,
                **known,
            })
    return rows


def is_current(result: StudyResult) -> bool:
    """Whether claims, code, data sets and rule are still those that a result was judged by."""
    try:
        study, settings = studies.get(result.study), from_plain(result.settings)
    except (DynascopeError, TypeError, ValueError):
        return False  # a study or settings that there are no longer
    return result.fingerprint == request(study, settings, result.scale)


def last_results(store: Store) -> dict[str, StudyResult]:
    """By study its newest readable result."""
    found: dict[str, StudyResult] = {}
    for entry in store.runs("study"):  # the newest first
        if entry.study in found or entry.damaged:
            continue
        try:
            result = store.load(entry.id)
        except StoreError:
            continue
        if isinstance(result, StudyResult):
            found[result.study] = result
    return found
