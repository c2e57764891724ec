"""`dynascope compare`: two records side by side."""

from __future__ import annotations

from typing import Any

from dynascope.cli import options
from dynascope.cli.talk import emit, table
from dynascope.core.errors import bad


def compare(first: options.Record, second: options.Record, as_json: options.Json = False) -> None:
    """Put two records side by side: settings, verdicts, final values.

    \b
    Examples
      dynascope compare last 3f2a91c0
    """  # noqa: D301
    from dynascope.report.settings import setting_rows
    from dynascope.store import Store, index

    store = Store()
    names = [index.resolve(store.records, record) for record in (first, second)]
    manifests = [store.manifest(name) for name in names]
    kinds = [m["kind"] for m in manifests]
    if kinds[0] != kinds[1] or "computation" in kinds:
        raise bad("records", " and ".join(kinds), "two studies or two runs")
    settings = _beside(*(dict(setting_rows(m["spec"])) for m in manifests))
    different = {k: v for k, v in settings.items() if v[0] != v[1]}
    contents = [store.load(name) for name in names]
    found = _beside(*map(_claims if kinds[0] == "study" else _values, contents))
    if as_json:
        emit({"records": names, "settings": different, "found": found})
        return
    heads = [f"{name} ({m['label']})" for name, m in zip(names, manifests, strict=True)]
    if different:
        table(("setting", *heads), [(path, *both) for path, both in different.items()])
    else:
        print("The settings are the same.")
    print()
    what = "claim" if kinds[0] == "study" else "final value"
    table((what, *heads), [(name, *both) for name, both in found.items()])


def _beside(one: dict[str, str], other: dict[str, str]) -> dict[str, list[str]]:
    """Both texts of every name; "-" where one of them has none."""
    return {k: [one.get(k, "-"), other.get(k, "-")] for k in dict.fromkeys([*one, *other])}


def _claims(result: Any) -> dict[str, str]:
    from dynascope.report.words import VERDICT_WORDS, measured_words

    return {
        c.id: f"{VERDICT_WORDS[c.verdict]}: {measured_words(c.measured)}" for c in result.claims
    }


def _values(run: Any) -> dict[str, str]:
    from dynascope.report.words import measured_words
    from dynascope.runner.summary import summarise

    found = {}
    for point in summarise(run):
        at = ", ".join(f"{path} {value}" for path, value in point.at.items())
        for name, measured in point.final.items():
            found[f"{name} at {at}" if at else name] = measured_words(measured)
    return found
