"""Claims as a table: statement, verdict, what was measured and expected, the controls."""

from __future__ import annotations

from collections.abc import Iterable

from dynascope.core.records import Claim
from dynascope.report.html.entry import ALL_VERDICTS, Stated
from dynascope.report.html.parts import anchor, escaped, scrolling
from dynascope.report.words import (
    VERDICT_SIGNS,
    control_words,
    controls,
    expected_words,
    left_out,
    measured_words,
)

SIGNS: dict[str, str] = {**{str(v): sign for v, sign in VERDICT_SIGNS.items()}, "not_run": "·"}
EXPLORATORY = "Exploratory: readings of ours that no document states"
LEFT_OUT = "Not applicable at these settings"
LEGEND = """<p class="small">Measured: value (95 % interval, number of seeds). A claim holds only
if it fails where it must fail, and is refuted only if it holds where it must hold; all three are
measured by one function against one bound.</p>"""


def claims_table(claims: Iterable[Stated]) -> str:
    """All claims, those that no document states behind, those not measured last; nothing for none.

    Of a claim that does not apply there is the reason in the place of numbers.
    """
    claims = tuple(claims)
    if not claims:
        return ""
    measured = [c for c in claims if not _left_out(c)]
    groups = {
        "": [c for c in measured if not c.exploratory],
        EXPLORATORY: [c for c in measured if c.exploratory],
        LEFT_OUT: [c for c in claims if _left_out(c)],
    }
    heads = ("Claim", "Verdict", "Measured", "Expected", "Controls")
    head = "".join(f'<th scope="col">{h}</th>' for h in heads)
    rows = [[_apart(title), *map(_row, own)] for title, own in groups.items() if own]
    body = "\n".join(row for group in rows for row in group if row)
    table = f"""<table class="claims">
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody></table>"""
    return f"{scrolling(table, 'Verdicts')}\n{LEGEND}"


def _apart(title: str) -> str:
    return f'<tr><th colspan="5" scope="rowgroup">{title}</th></tr>' if title else ""


def _left_out(claim: Stated) -> bool:
    return claim.judged is not None and left_out(claim.judged)


def badge(verdict: str, count: int | None = None) -> str:
    """A verdict as sign and word: colour alone must not tell it.

    Example:
        >>> badge("holds", 3)
        '<span class="badge holds">✓ 3 hold</span>'
    """
    word = ALL_VERDICTS[verdict]
    if count is not None:
        word = word.removesuffix("s") if count != 1 and verdict in ("holds", "fails") else word
        word = f"{count} {word}"
    return f'<span class="badge {verdict}">{SIGNS[verdict]} {word}</span>'


def verdict_badge(claim: Stated) -> str:
    """The last verdict of a claim; one by other words, bounds or code than today's is marked."""
    old = "" if claim.current else ' <span class="small">outdated</span>'
    return badge(claim.verdict) + old


def _row(claim: Stated) -> str:
    judged = claim.judged
    note = judged.note if judged else claim.note
    notes = f'<span class="small">{escaped(note)}</span>' if note else ""
    told = f'<td colspan="3">{notes}</td>' if _left_out(claim) else _numbers(claim)
    beside = "" if _left_out(claim) else notes
    return f"""<tr id="claim-{anchor(claim.slug)}" data-verdict="{claim.verdict}">
<th scope="row"><code class="id">{escaped(claim.id)}</code>{escaped(claim.statement)}
<span class="small">{escaped(claim.source)}</span>{beside}</th>
<td>{verdict_badge(claim)}</td>
{told}</tr>"""


def _numbers(claim: Stated) -> str:
    """What was measured and expected, and the controls: three cells."""
    judged = claim.judged
    expected = judged.expected if judged else claim.expected
    measured = measured_words(judged.measured) if judged else "–"
    bound = expected_words(expected) if expected else "worked out from the run"
    named = f'<span class="small">{escaped(claim.quantity)}</span>' if claim.quantity else ""
    cases = _controls(judged) if judged else _cases(claim)
    return f"""<td data-head="Measured"><span class="number">{escaped(measured)}</span>{named}</td>
<td data-head="Expected">{escaped(bound)}</td>
<td data-head="Controls">{cases}</td>"""


def _controls(claim: Claim) -> str:
    return (
        "\n".join(
            f"""<span class="small">{must}:</span> {escaped(control.statement)}
<span class="small number">{escaped(measured_words(control.measured))}</span>
<span class="tone {"holds" if as_it_must else "fails"}">{
                escaped(control_words(control, as_it_must))
            }
</span>"""
            for must, control, as_it_must in controls(claim)
        )
        or '<span class="small">no control</span>'
    )


def _cases(claim: Stated) -> str:
    """The cases of a claim that was not run, in words."""
    pairs = (("must fail", claim.must_fail), ("must hold", claim.must_hold))
    return "\n".join(f'<span class="small">{m}:</span> {escaped(w)}' for m, w in pairs if w)
