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
    """Value, standard deviation and number of seeds; digits follow the spread.

    Example:
        >>> measured_words(Measured(0.31771, 0.0123, 64))
        '0.318 ± 0.012 (n = 64)'
        >>> measured_words(Measured(None))
        'not measured'
    """
    if measured.value is None:
        return "not measured"
    count = f" (n = {measured.n})" if measured.n != 1 else ""
    if measured.spread is None:
        return number(measured.value) + count
    return _with_spread(measured.value, measured.spread) + count


def _with_spread(value: float, spread: float) -> str:
    largest = max(abs(value), spread)
    if not math.isfinite(largest) or spread <= 1e-6 * abs(value):
        return f"{number(value)} ± {number(spread, 2)}"
    if not 1e-3 <= largest < 1e7:
        exponent = math.floor(math.log10(largest))
        scaled = _with_spread(value / 10**exponent, spread / 10**exponent)
        return f"({scaled})e{exponent}"
    places = max(0, 1 - math.floor(math.log10(spread)))
    return f"{value:.{places}f} ± {spread:.{places}f}"


def expected_words(expected: dict[str, float | None] | str) -> str:
    """The expected value, range, bound or text of a claim.

    Example:
        >>> [expected_words(e) for e in ({"value": 0.5}, {"low": 1, "high": 2}, "a sign change")]
        ['0.5', '1 to 2', 'a sign change']
        >>> expected_words({"low": 0.9, "high": None})
        '≥ 0.9'
    """
    if isinstance(expected, str):
        return expected
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


def control_words(control: Control) -> str:
    """What became of the claim in the case in which it must fail.

    Example:
        >>> control_words(Control("no noise", Measured(0.0), "fails"))
        'fails, as it must'
    """
    ending = {"fails": ", as it must", "holds": ", though it must not"}
    return VERDICT_WORDS[control.verdict] + ending.get(control.verdict, "")


def summary(claims: Sequence[Claim]) -> str:
    """One sentence: how many claims hold, fail or are open, and how the controls went.

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
    return f"{len(claims)} {noun}: {', '.join(parts)}. {_controls(claims)}".strip()


def _controls(claims: Sequence[Claim]) -> str:
    verdicts = [c.control.verdict for c in claims if c.control]
    if not verdicts:
        return ""
    failing = verdicts.count("fails")
    if failing == len(verdicts):
        return "Every control fails, as it must."
    noun = "control fails" if len(verdicts) == 1 else "controls fail"
    return f"{failing} of {len(verdicts)} {noun} as they must; look at the rest."
