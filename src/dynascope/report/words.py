"""Numbers, verdicts and measurements in words: one spelling for page, terminal and docs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from dynascope.core.errors import bad
from dynascope.core.records import Claim, Control, Measured, VerdictWord

VERDICT_WORDS: dict[VerdictWord, str] = {
    "holds": "holds",
    "fails": "fails",
    "undecided": "undecided",
    "not_applicable": "not applicable",
}
# A sign beside the word: a verdict must not be told by colour alone.
VERDICT_SIGNS: dict[VerdictWord, str] = {
    "holds": "✓",
    "fails": "✗",
    "undecided": "?",
    "not_applicable": "–",
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 4) -> str:
    """A number with so many significant digits; very large and small ones with an exponent.

    Example:
        >>> [number(v) for v in (0.31771, 4000, 1e6, 1.25e-32, -2.0)]
        ['0.3177', '4000', '1,000,000', '1.25e-32', '-2']
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else str(float(value))
    value = value or 0.0  # no negative zero
    size = abs(value)
    if size and (size >= 1e7 or size < 1e-3):
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{_without_zeros(mantissa)}e{int(exponent)}"
    places = 0 if value == int(value) else max(0, digits - 1 - math.floor(math.log10(size)))
    comma = "," if size >= 10_000 else ""
    return _without_zeros(f"{value:{comma}.{places}f}")


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def ticks(values: Sequence[float]) -> list[str]:
    """Labels of axis ticks: as few digits as tell them apart.

    Example:
        >>> ticks([1000.001, 1000.002])
        ['1000.001', '1000.002']
        >>> ticks([0.0, 0.1, 0.2, 0.1 + 0.2])
        ['0', '0.1', '0.2', '0.3']
    """
    step = min((abs(b - a) for a, b in pairwise(values) if a != b), default=0.0)
    for digits in range(1, 15):
        labels = [number(v, digits) if abs(v) > 1e-9 * step else "0" for v in values]
        found = [float(label.replace(",", "")) for label in labels]
        if all(abs(a - b) <= max(step, abs(b) * 1e-12) / 100 for a, b in zip(found, values)):
            break
    return labels


def power_of_ten(exponent: int) -> str:
    """Ten to a whole power, in plain letters.

    Example:
        >>> power_of_ten(-3)
        '10⁻³'
    """
    return "10" + str(exponent).translate(_SUPERSCRIPTS)


def size(n_bytes: float) -> str:
    """A number of bytes.

    Example:
        >>> size(512), size(4_800_000)
        ('512 B', '4.8 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{number(n_bytes, 3)} {unit}"
        n_bytes /= 1000
    return f"{number(n_bytes, 3)} TB"


def duration(seconds: float) -> str:
    """A time span.

    Example:
        >>> duration(0.25), duration(83), duration(7500)
        ('0.25 s', '1 min 23 s', '2 h 5 min')
    """
    if seconds < 59.5:
        return f"{number(seconds, 2)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def measured_words(measured: Measured) -> str:
    """Value, 95 % interval and number of seeds; digits follow the interval.

    Example:
        >>> measured_words(Measured(0.31771, 0.0492, 64, 0.3054, 0.33))
        '0.318 (95 %: 0.305 to 0.330, n = 64)'
        >>> measured_words(Measured(0.28, 0.45, 100, 0.195, 0.379, "share"))
        '28 of 100 (95 %: 20 to 38 %)'
        >>> measured_words(Measured(2.0, None, 1, 2.0, 2.0, "exact"))
        '2'
    """
    if measured.value is None:
        return "not measured"
    n, low, high = measured.n, measured.low, measured.high
    if measured.kind == "share" and low is not None and high is not None:
        ends = f"{number(100 * low, 2)} to {number(100 * high, 2 + (high >= 0.995))}"
        return f"{round(measured.value * n)} of {n} (95 %: {ends} %)"
    count = f"n = {n}" if measured.kind != "exact" else ""
    if low is None or high is None or low == high:
        return number(measured.value) + (f" ({count})" if count else "")
    value, first, last = _alike(measured.value, low, high)
    return f"{value} ({', '.join(filter(None, (f'95 %: {first} to {last}', count)))})"


def _alike(value: float, low: float, high: float) -> list[str]:
    """A value and the ends of its interval with the same number of places."""
    largest, width = max(abs(low), abs(high)), (high - low) / 2
    if not math.isfinite(largest) or width <= 1e-6 * largest or not 1e-3 <= largest < 1e7:
        return [number(v, 3) for v in (value, low, high)]
    places = max(0, 1 - math.floor(math.log10(width)))
    return [f"{v:.{places}f}" for v in (value, low, high)]


def expected_words(expected: dict[str, float | None] | str) -> str:
    """The expected value, range, bound or text of a claim.

    Example:
        >>> [expected_words(e) for e in ({"value": 0.5}, {"low": 1, "high": 2}, "a sign change")]
        ['0.5', '1 to 2', 'a sign change']
        >>> expected_words({"low": 0.9, "high": None}), expected_words({"low": 1.0, "every": 1.0})
        ('≥ 0.9', 'in all seeds')
    """
    if isinstance(expected, str):
        return expected
    if expected.get("every"):
        return "in all seeds"
    if expected.get("value") is not None:
        return number(expected["value"])  # type: ignore[arg-type]
    if not {"low", "high"} & set(expected):
        raise bad("expected", expected, "a value, a low or high bound, or a text")
    low, high = expected.get("low"), expected.get("high")
    if low is not None and high is not None:
        return f"{number(low)} to {number(high)}"
    if low is not None:
        return f"≥ {number(low)}"
    return f"≤ {number(high)}" if high is not None else "any value"


def controls(claim: Claim) -> list[tuple[str, Control, bool]]:
    """The cases beside a claim's own: what must happen there, the case, and whether it does.

    Example:
        >>> nothing = Measured(None)
        >>> claim = Claim("a/b", "", "", nothing, "", "holds", Control("", nothing, "fails"))
        >>> [(must, went) for must, _, went in controls(claim)]
        [('must fail', True)]
    """
    pairs = (("must fail", claim.control, "fails"), ("must hold", claim.positive, "holds"))
    return [(must, c, c.verdict == wanted) for must, c, wanted in pairs if c is not None]


def control_words(control: Control, as_it_must: bool) -> str:
    """What became of the claim in a case in which it must fail, or must hold.

    Example:
        >>> control_words(Control("no noise", Measured(0.0), "fails"), True)
        'fails, as it must'
    """
    decided = control.verdict in ("fails", "holds")
    ending = ", as it must" if as_it_must else ", though it must not" if decided else ""
    return VERDICT_WORDS[control.verdict] + ending


def summary(claims: Sequence[Claim]) -> str:
    """How many claims hold, fail or are open, how the controls went, what chance may have done.

    Example:
        >>> summary([])
        'No claims.'
    """
    if not claims:
        return "No claims."
    counts = Counter(c.verdict for c in claims)
    forms = {"holds": ("holds", "hold"), "fails": ("fails", "fail")}
    parts = [
        f"{counts[v]} {forms.get(v, (w, w))[counts[v] != 1]}"
        for v, w in VERDICT_WORDS.items()
        if counts[v]
    ]
    noun = "claim" if len(claims) == 1 else "claims"
    words = f"{len(claims)} {noun}: {', '.join(parts)}. {_controls(claims)} {_chance(claims)}"
    return " ".join(words.split())


def expected_false(claims: Sequence[Claim]) -> float:
    """How many decisions are wrong by chance at most, on average: 5 % of those on random seeds."""
    decided = [c for c in claims if c.verdict in ("holds", "fails")]
    return 0.05 * sum(c.measured.kind != "exact" for c in decided)


def _chance(claims: Sequence[Claim]) -> str:
    wrong = expected_false(claims)
    if not wrong:
        return ""
    return (
        f"{round(wrong / 0.05)} rest on random seeds, each decided at 95 %: expect at most "
        f"{number(wrong, 2)} to be wrong by chance."
    )


def _controls(claims: Sequence[Claim]) -> str:
    went = [as_it_must for c in claims for _, _, as_it_must in controls(c)]
    if not went:
        return ""
    if all(went):
        return "Every control went as it must."
    return f"{went.count(False)} of {len(went)} controls did not go as they must; see them."


def left_out(claim: Claim) -> bool:
    """Whether there is nothing to show of a claim but the reason why it was not measured."""
    return claim.verdict == "not_applicable" and bool(claim.note)
