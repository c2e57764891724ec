"""What was computed twice, held against each other.

Under the same versions and on the same device and processor the bits must agree. Others may
round differently: there the largest difference of a variable, relative to its largest
value, is held against a tolerance, and reported whether it is within or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dynascope.core.errors import DamagedRecord, FingerprintConflict
from dynascope.store.manifest import Manifest

if TYPE_CHECKING:
    import numpy as np

Arrays = Mapping[str, "np.ndarray"]

# By bytes of a real number: two, four and eight.
TOLERANCES = {2: 5e-2, 4: 1e-3, 8: 1e-6}


@dataclass(frozen=True)
class Difference:
    """How far one variable is from the stored one; infinite where numbers cannot tell."""

    variable: str
    largest: float
    relative: float
    tolerance: float

    @property
    def within(self) -> bool:
        """Whether it is small enough to be rounding."""
        return self.relative <= self.tolerance

    def __str__(self) -> str:
        return (
            f"largest difference {self.largest:.3g} in {self.variable} "
            f"(relative {self.relative:.3g}, tolerance {self.tolerance:.0e})"
        )


@dataclass(frozen=True)
class Agreement:
    """The outcome of a comparison with the stored record `id`."""

    id: str
    same_origin: bool  # same versions, same device: the bits must agree
    differences: tuple[Difference, ...]  # the worst first; none means the same bits

    def __str__(self) -> str:
        if not self.differences:
            return f"agrees bit for bit with {self.id}"
        word = "agrees within rounding with" if self.differences[0].within else "differs from"
        return f"{word} {self.id}: {self.differences[0]}"

    def plain(self) -> dict[str, Any]:
        """For the manifest."""
        shown = [{**asdict(d), "within": d.within} for d in self.differences]
        within = all(d.within for d in self.differences)
        return {"with": self.id, "within": within, "differences": shown}


def hold_against(
    fresh: Arrays,
    manifest: Manifest,
    stored: Sequence[tuple[str, Manifest]],
    read: Callable[[str, Manifest], Arrays],
) -> Agreement | None:
    """Compare fresh content with what is stored under its fingerprint.

    Args:
        fresh: The new content, by name.
        manifest: The new record's manifest, for its origin.
        stored: Finished records of the fingerprint, by id, in order of preference.
        read: Reads one of them.

    Returns:
        The comparison with the record of the same origin if there is one, else with the
        first readable one; None if none can be read.

    Raises:
        FingerprintConflict: The origin is the same and the content is not.
    """
    for id_, old in sorted(stored, key=lambda pair: not same_origin(manifest, pair[1])):
        try:
            found = differences(fresh, read(id_, old))
        except DamagedRecord:
            continue
        agreement = Agreement(id_, same_origin(manifest, old), found)
        if agreement.same_origin and found:
            raise FingerprintConflict(
                f"the same versions gave other numbers than record {id_}: {found[0]}; that record "
                f"is kept; if the code was changed, `dynascope forget {id_}` and run again"
            )
        return agreement
    return None


def same_origin(a: Manifest, b: Manifest) -> bool:
    """Whether both were made by the same versions on the same device and processor, throughout."""

    def origin(m: Manifest) -> tuple:
        return tuple(m.attrs.get(name) for name in ("versions", "device", "processor"))

    def mixed(m: Manifest) -> bool:
        return any(s.get("versions") != m.sessions[0].get("versions") for s in m.sessions)

    return origin(a) == origin(b) and not mixed(a) and not mixed(b)


def differences(fresh: Arrays, stored: Arrays) -> tuple[Difference, ...]:
    """Every variable whose bits differ, the worst first.

    Example:
        >>> import numpy as np
        >>> found = differences({"loss": np.array([1.0, 2.5])}, {"loss": np.array([1.0, 2.0])})
        >>> found[0].largest, found[0].relative
        (0.5, 0.25)
    """
    shared = dict.fromkeys([*stored, *fresh])
    found = (_difference(name, fresh.get(name), stored.get(name)) for name in shared)
    return tuple(sorted(filter(None, found), key=lambda d: -d.relative / d.tolerance))


def _difference(name: str, a: np.ndarray | None, b: np.ndarray | None) -> Difference | None:
    import numpy as np

    beyond = Difference(name, np.inf, np.inf, TOLERANCES[8])
    if a is None or b is None or a.shape != b.shape:
        return beyond
    if a.dtype != b.dtype and not (a.dtype.kind in "UTO" and b.dtype.kind in "UTO"):
        return beyond
    if a.dtype.kind not in "fc":
        return None if bool((a == b).all()) else beyond
    if a.tobytes() == b.tobytes():
        return None
    tolerance = TOLERANCES[a.real.dtype.itemsize]
    odd = ~(np.isfinite(a) & np.isfinite(b))  # NaN and infinities must be where they were
    if not np.array_equal(a[odd], b[odd], equal_nan=True):
        return Difference(name, np.inf, np.inf, tolerance)
    largest = float(np.abs(a[~odd] - b[~odd]).max(initial=0.0))
    scale = float(np.abs(b[~odd]).max(initial=0.0))
    relative = largest / scale if scale else np.inf
    return Difference(name, largest, relative if largest else 0.0, tolerance)
