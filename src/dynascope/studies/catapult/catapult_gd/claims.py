"""The spike, where it lies, what it does to the kernel, and that it comes back."""

from typing import Any

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import zhu2024
from dynascope.studies.catapult import episodes
from dynascope.studies.catapult.catapult_gd import runs
from dynascope.studies.catapult.catapult_gd.runs import PANELS, study
from dynascope.studies.catapult.trials import OTHER_DATA
from dynascope.studies.comparisons import at_least, in_all_seeds, near
from dynascope.studies.measures import average, share
from dynascope.studies.nodes import Missing, case

MADE = {kind: case(f"planted: {words}", runs.made[kind]) for kind, words in (
    ("catapult", "a spike in the top eigenspace, the kernel halves"),
    ("elsewhere", "a spike outside, the kernel grows"),
    ("monotone", "a loss that only falls"),
    ("diverges", "a loss that blows up"),
)}  # fmt: skip


def losses(run: Run, *_: Any) -> str:
    """Loss at first, at its peak and at last, mean over the seeds that have one there."""
    loss = run["loss"].values
    lost = int((~np.isfinite(loss[:, -1])).sum())
    ends = {"at first": loss[:, 0], "at its peak": np.nanmax(loss, axis=1), "at last": loss[:, -1]}
    shown = [f"{np.nanmean(v):.3g} {at}" for at, v in ends.items() if np.isfinite(v).any()]
    return f"Loss {', '.join(shown)}" + (
        f"; {lost} of {len(loss)} seeds diverged." if lost else "."
    )


def numbers(run: Run, *_: Any) -> str:
    """Losses as above, and the kernel's norm."""
    kept = episodes.finite(run)
    if isinstance(kept, Missing):
        return losses(run)
    first, last = episodes.part(kept, "norm")[:, [0, -1]].mean(axis=0)
    return f"{losses(run)} Norm of the kernel {first:.3g} to {last:.3g}."


SMALL = (
    "cnn",
    "cnn-svhn",
    "wrn",
    "classes",
    "classes-cnn",
)  # stand-ins at all scales but the thesis's own
HOW = {"digits": OTHER_DATA} | dict.fromkeys(SMALL, "at sizes up to those of") | dict.fromkeys(
    runs.ADDED, "with another network or other data than"
)  # fmt: skip

for _name, (_what, _, _place) in PANELS.items():
    _ours, _past = _name in HOW, runs.descents[_name]["past"]
    _source = zhu2024(f"Claim 1, {_place}", how=HOW.get(_name, ""))
    study.claim(
        f"{_name}-spike",
        f"Past the critical rate the loss of {_what} rises to at least 1.5 times its first value, "
        "where it stays finite.",
        _source, episodes.peak, at_least(1.5, "ours"), on=_past,
        fails_on=case("half the critical rate", runs.descents[_name]["below"]),
        holds_on=MADE["catapult"], note=numbers, exploratory=_ours,
    )  # fmt: skip
    study.claim(
        f"{_name}-in-top",
        f"At the peak of {_what} at least 80 % of the rise lies in the kernel's top eigenspace, "
        "where the loss stays finite and rises.",
        _source, episodes.rise_in_top, at_least(0.8, "ours"), on=_past,
        note=numbers, exploratory=_ours,
        fails_on=MADE["elsewhere"], holds_on=MADE["catapult"],
    )  # fmt: skip
    study.claim(
        f"{_name}-rest",
        f"The loss of {_what} outside the top eigenspace never exceeds 1.05 of its first value.",
        _source, episodes.rest_stays, in_all_seeds("ours"), on=_past,
        note=numbers, exploratory=_ours,
        fails_on=MADE["elsewhere"], holds_on=MADE["catapult"],
    )  # fmt: skip
    study.claim(
        f"{_name}-kernel",
        f"The kernel of {_what} has lost at least a tenth of its norm in the end, where the loss "
        "stays finite.",
        _source, episodes.norm_falls, at_least(0.1, "ours"), on=_past,
        note=numbers, exploratory=_ours,
        fails_on=case("half the critical rate", runs.descents[_name]["below"]),
        holds_on=MADE["catapult"],
    )  # fmt: skip
    study.claim(
        f"{_name}-critical-passes",
        f"One step after the peak of the loss of {_what} the critical rate, n over the kernel's "
        "norm, is above the learning rate, in every seed that stays finite and rises.",
        zhu2024(f"section 4.3, {_place}", how=HOW.get(_name, "a stricter reading of")),
        episodes.critical_passes, in_all_seeds("ours"), on=_past, note=numbers, exploratory=True,
        fails_on=MADE["elsewhere"], holds_on=MADE["catapult"],
    )  # fmt: skip
    study.claim(
        f"{_name}-critical-ends-above",
        f"Where the loss of {_what} is first below its value before a spike, the critical rate is "
        "above the learning rate, in every seed.",
        zhu2024(f"section 4.3, {_place}", how=HOW.get(_name, "")), episodes.critical_ends_above,
        in_all_seeds("ours" if _ours else "derived"), on=_past, note=numbers, exploratory=_ours,
        fails_on=MADE["elsewhere"], holds_on=MADE["catapult"],
    )  # fmt: skip
    study.claim(
        f"{_name}-comes-back",
        f"In the end the loss of {_what} is below a fifth of its first value.",
        _source, episodes.comes_back, in_all_seeds("ours"), on=_past,
        note=numbers, exploratory=_ours,
        fails_on=MADE["diverges"], holds_on=MADE["catapult"],
    )  # fmt: skip


def rate(found: dict[str, np.ndarray], of: str) -> Measured:
    """Critical rate of the start, mean over seeds."""
    return average(found[of])


study.claim(
    "rank-2-critical-rate",
    "The critical rate of a 5-layer network learning x1 x2 from 128 samples is 1.9, to a tenth.",
    zhu2024("Fig. C.4, caption"), rate, near(runs.PRINTED_CRITICAL, 0.19, "derived"),
    on=(runs.rank_2_criticals, "own"),
    fails_on=case("inputs a quarter of those below", runs.rank_2_criticals, "small"),
    holds_on=case("inputs scaled to that rate", runs.rank_2_criticals, "scaled"),
    note="Inputs have unit variance, and layers no offsets. How pictures are scaled the thesis "
    "does not say, so that their critical rates cannot be compared.",
)  # fmt: skip


def excess(found: dict[str, np.ndarray], of: str) -> Measured:
    """Share of steps whose loss stays within the lemma's bound, up to rounding."""
    return share(found[of] <= 1e-9)


study.claim(
    "descent-lemma",
    "A step of descent lowers the loss by at least rate (1 - rate beta / 2) |gradient|^2, beta the "
    "largest eigenvalue of the Hessian along the step.",
    zhu2024("Lemma 4.2.2"), excess, in_all_seeds("derived"), on=(runs.excesses, "true"),
    fails_on=case("half of that curvature", runs.excesses, "wrong"),
    holds_on=case("a planted slack", runs.excesses, "planted"),
    note="A tanh network of 12 units, 60 steps at rates up to 2 / sharpness.",
)  # fmt: skip
