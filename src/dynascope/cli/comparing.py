"""`dynascope compare`: two records side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.cli import options
from dynascope.cli.talk import emit, table

if TYPE_CHECKING:
    from dynascope.core.records import Claim


def compare(first: options.Record, second: options.Record, as_json: options.Json = False) -> None:
    """Put two records side by side: settings, verdicts and final values that differ.

    \b
    Examples
      dynascope compare last 3f2a91c0
    """  # noqa: D301
    from dynascope.runner import compare as compare_records
    from dynascope.store import Store

    store = Store()
    both = compare_records((first, second), store, store.load)
    claims = {name: tuple(map(_words, pair)) for name, pair in both.claims.items()}
    settings, found = (
        {name: [text or "-" for text in pair] for name, pair in part.items()}
        for part in (both.settings, claims | both.values)
    )
    if as_json:
        emit({"records": both.records, "settings": settings, "found": found, "same": both.same})
        return
    _table("setting", both.heads, settings, "The settings are the same.")
    print()
    what = "final value" if both.values else "claim"
    _table(what, both.heads, found, "What was found is the same.")
    if found and both.same:
        print(f"{both.same} more are the same")


def _words(claim: Claim | None) -> str | None:
    from dynascope.report.words import VERDICT_WORDS, measured_words

    return f"{VERDICT_WORDS[claim.verdict]}: {measured_words(claim.measured)}" if claim else None


def _table(what: str, heads: tuple[str, ...], rows: dict[str, list[str]], none: str) -> None:
    if rows:
        table((what, *heads), [(name, *both) for name, both in rows.items()])
    else:
        print(none)
