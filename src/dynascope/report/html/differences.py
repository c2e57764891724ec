"""What a document says and what we read differently: the discrepancy sheet.

A claim with a partner states the same thing twice, as printed and as corrected. A claim that
fails is a statement of the document that the measurement contradicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dynascope.report.html.claims import verdict_badge
from dynascope.report.html.entry import Stated
from dynascope.report.html.parts import escaped
from dynascope.report.words import expected_words, measured_words


@dataclass(frozen=True)
class Difference:
    """A statement as printed, and the readings of ours that stand beside it."""

    printed: Stated
    ours: tuple[Stated, ...]


def differences(claims: Iterable[Stated]) -> list[Difference]:
    """Claims as printed with their corrections, and what fails; those never run come last.

    Example:
        >>> pair = Stated("a/b", "x", "", partner="a/b-printed"), Stated("a/b-printed", "y", "")
        >>> [(d.printed.slug, d.ours[0].slug) for d in differences(pair)]
        [('b-printed', 'b')]
    """
    claims = tuple(claims)
    groups: dict[frozenset[str], tuple[Stated, ...]] = {}
    for claim in claims:
        group = tuple(c for c in claims if _together(c, claim))
        if len(group) > 1:
            groups.setdefault(frozenset(c.id for c in group), group)
    paired = {name for names in groups for name in names}
    found = [
        Difference(g[0], tuple(g[1:])) for g in (sorted(g, key=_ours) for g in groups.values())
    ]
    alone = [c for c in claims if c.verdict == "fails" and c.id not in paired]
    found += [Difference(c, ()) for c in alone if not c.exploratory]
    return sorted(found, key=lambda d: d.printed.verdict == "not_run")


def _together(one: Stated, other: Stated) -> bool:
    """Whether two claims state the same, as printed or corrected."""
    own, its = {one.id, one.partner}, {other.id, other.partner}
    return bool((own & its) - {None})


def _ours(claim: Stated) -> tuple[bool, bool, bool]:
    """Sorts a claim as printed before its correction; where nothing tells, what fails first."""
    return "printed" not in claim.slug, bool(claim.how), claim.verdict != "fails"


def difference_sheet(claims: Iterable[Stated], link: Callable[[str], str]) -> str:
    """The sheet as HTML; nothing where document and measurement agree.

    Args:
        claims: All of them; those without a difference are left out.
        link: Gives the address of a claim.

    Returns:
        A block for each difference.
    """
    return "\n".join(
        f'<div class="difference">{_side("The document says", d.printed, link)}'
        + ("".join(_side("We read", c, link) for c in d.ours) or _contradicted(d.printed))
        + "</div>"
        for d in differences(claims)
    )


def _side(head: str, claim: Stated, link: Callable[[str], str]) -> str:
    numbers = f'<span class="small">{escaped(_numbers(claim))}</span>' if claim.judged else ""
    name = f'<a href="{escaped(link(claim.id))}"><code>{escaped(claim.slug)}</code></a>'
    return f"""<div><h4>{head}</h4><p>{escaped(claim.statement)}
<span class="small">{escaped(claim.source)} · {name}</span>{numbers}</p>
<p>{verdict_badge(claim)}</p></div>"""


def _contradicted(claim: Stated) -> str:
    note = claim.judged.note if claim.judged else claim.note
    words = note or "The measurement contradicts it; no correction is stated here."
    return f"<div><h4>We find</h4><p>{escaped(words)}</p></div>"


def _numbers(claim: Stated) -> str:
    judged = claim.judged
    assert judged is not None
    if judged.verdict == "not_applicable":
        return judged.note
    found, bound = measured_words(judged.measured), expected_words(judged.expected)
    return f"{claim.quantity} Measured {found}; expected {bound}.".strip()
