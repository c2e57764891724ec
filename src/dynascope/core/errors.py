"""What can go wrong, said in one line: what came, what was expected, what to try.

Bad input raises at construction, never inside a compiled call. Scientific misfortune
(a diverged run, an undecided claim) is a value and has no exception here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST_NAMES = 25  # that one line can list; of more, the nearest are shown
NEAR_NAMES = 8


class DynascopeError(Exception):
    """Base of every error raised on purpose; the command line prints it in one line."""

    exit_code = 2


class BadInput(DynascopeError, ValueError):
    """A value that cannot be used; the message says what was expected instead."""


class UnknownName(BadInput):
    """A name that is not known; the message gives the nearest known one."""


class MissingData(DynascopeError):
    """A data set that is not in the cache and cannot be fetched."""


class StoreError(DynascopeError):
    """The results folder could not be read or written."""


class DamagedRecord(StoreError):
    """A stored record whose files do not agree with its manifest."""


class FingerprintConflict(StoreError):
    """Different content under a fingerprint that is already taken."""


class ClusterError(DynascopeError):
    """Work on a cluster that was lost for good."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C between two chunks; `partial` holds everything recorded until then."""

    def __init__(self, partial: object = None) -> None:
        super().__init__("interrupted")
        self.partial = partial


def bad(name: str, got: object, expected: str, hint: str = "") -> BadInput:
    """Build the one-line message for a value that cannot be used.

    Args:
        name: The argument or path the value was given for.
        got: The value that came.
        expected: What would have been accepted, in words.
        hint: What to try; left out if the expectation says it already.

    Returns:
        The exception to raise.

    Example:
        >>> str(bad("steps", 0, "a whole number of at least 1"))
        'steps: got 0, expected a whole number of at least 1'
    """
    shown = repr(got)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    return BadInput(f"{name}: got {shown}, expected {expected}" + (f"; {hint}" if hint else ""))


def unknown(kind: str, got: str, known: Iterable[str]) -> UnknownName:
    """Build the message for an unknown name, with the nearest known one.

    Example:
        >>> str(unknown("study", "swingby", ["swing-by", "sim-order"]))
        "unknown study 'swingby'; did you mean 'swing-by'? Known: sim-order, swing-by"
    """
    names = sorted(known)
    by_lower = {name.lower(): name for name in names}  # `mlp` is meant as `MLP`
    near = difflib.get_close_matches(got.lower(), by_lower, n=1, cutoff=0.4)
    nearest = f"did you mean {by_lower[near[0]]!r}? " if near else ""
    shown = names
    if len(names) > MOST_NAMES:
        close = difflib.get_close_matches(got.lower(), by_lower, n=NEAR_NAMES, cutoff=0.0)
        shown = [*(by_lower[name] for name in close), f"and {len(names) - len(close)} more"]
    return UnknownName(f"unknown {kind} {got!r}; {nearest}Known: {', '.join(shown) or 'none'}")
