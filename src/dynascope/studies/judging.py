"""A claim is put to its cases: the same measuring function and the same bound to each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dynascope.core.records import Claim, Control, Measured, VerdictWord
from dynascope.core.sources import cited
from dynascope.studies.comparisons import Bound, seeds_needed
from dynascope.studies.nodes import Case, Missing, Node
from dynascope.studies.study import ClaimSpec

RULE = 2  # of judging; another rule may give other verdicts on the same runs
Evaluate = Callable[[Node], Any]


def judge(claim: ClaimSpec, settings: Any, value: Evaluate) -> Claim:
    """The claim with its verdict.

    Args:
        claim: As declared.
        settings: Of the study.
        value: Gives the value of a node.

    Returns:
        What the bound says of the own case: `holds` only if the claim fails where it must fail,
        `fails` only if it holds where it must hold; otherwise `undecided`, with the reason.
        `not_applicable` where the own case is missing.
    """
    arguments = _arguments(claim.on, value)
    if isinstance(arguments, Missing):
        return _not_applicable(claim, arguments.reason)
    args, options = arguments
    measured = claim.measure(*args, **options)
    if isinstance(measured, Missing):
        return _not_applicable(claim, measured.reason)
    bound = claim.bound if isinstance(claim.bound, Bound) else claim.bound(*args, **options)
    note = claim.note if isinstance(claim.note, str) else claim.note(*args, **options)
    negative = _control(claim.fails_on, claim, bound, settings, value)
    positive = _control(claim.holds_on, claim, bound, settings, value)
    verdict, reason, needed = _verdict(measured, bound, negative, positive)
    return Claim(
        claim.id, claim.words, cited(claim.sources), measured, bound.words(), verdict, negative,
        f"{note} {reason}".strip(), positive, bound.origin, claim.partner, claim.exploratory,
        needed, claim.quantity,
    )  # fmt: skip


def _verdict(
    measured: Measured, bound: Bound, negative: Control, positive: Control
) -> tuple[VerdictWord, str, int | None]:
    """The verdict, the reason if it is `undecided`, and how many seeds would decide."""
    verdict = bound.verdict(measured)
    if verdict == "undecided":
        needed = seeds_needed(measured, bound)
        return verdict, _too_little(measured, needed), needed
    if verdict == "holds" and negative.verdict != "fails":
        what = "holds too" if negative.verdict == "holds" else "is undecided"
        return "undecided", f"The case in which it must fail {what}, so nothing is decided.", None
    if verdict == "fails" and positive.verdict != "holds":
        what = "fails too" if positive.verdict == "fails" else "is undecided"
        return "undecided", f"The case in which it must hold {what}, so nothing is decided.", None
    return verdict, "", None


def _too_little(measured: Measured, needed: int | None) -> str:
    """Why a measurement does not decide by itself."""
    if measured.value is None:
        return "Nothing was measured."
    if measured.kind != "exact" and measured.n < 2:
        return "One seed decides nothing."
    if needed is None:
        return "The 95 % interval holds both numbers that are allowed and numbers that are not."
    return f"The 95 % interval crosses the bound; about {needed} seeds would decide."


def _control(case: Case, claim: ClaimSpec, bound: Bound, settings: Any, value: Evaluate) -> Control:
    words = case.words if isinstance(case.words, str) else case.words(settings)
    arguments = _arguments(case, value)
    if isinstance(arguments, Missing):
        measured: Measured | Missing = arguments
    else:
        args, options = arguments
        measured = claim.measure(*args, **options)
    if isinstance(measured, Missing):
        return Control(f"{words} ({measured.reason})", Measured(None, None, 0), "undecided")
    return Control(words, measured, bound.verdict(measured))


def _arguments(case: Case, value: Evaluate) -> tuple[list, dict[str, Any]] | Missing:
    """The case's arguments and options with nodes replaced by their values."""
    args = [value(v) if isinstance(v, Node) else v for v in case.arguments]
    options = {k: value(v) if isinstance(v, Node) else v for k, v in case.options.items()}
    missing = (v for v in (*args, *options.values()) if isinstance(v, Missing))
    return next(missing, None) or (args, options)


def _not_applicable(claim: ClaimSpec, why: str) -> Claim:
    source, nothing = cited(claim.sources), Measured(None, None, 0)
    return Claim(
        claim.id, claim.words, source, nothing, "-", "not_applicable", None, why,
        partner=claim.partner, exploratory=claim.exploratory, quantity=claim.quantity,
    )  # fmt: skip
