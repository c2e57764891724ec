"""The critical rate rises with every catapult; what diverges from the start converges after."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import zhu2024
from dynascope.studies.catapult import episodes
from dynascope.studies.catapult.catapult_gd.claims import losses, numbers
from dynascope.studies.catapult.catapult_multiple import runs
from dynascope.studies.catapult.catapult_multiple.runs import PANELS, study
from dynascope.studies.catapult.trials import OTHER_DATA
from dynascope.studies.comparisons import at_least, in_all_seeds
from dynascope.studies.measures import average, share
from dynascope.studies.nodes import Missing, case


def lower_each_time(run: Run, ends: tuple[int, ...]) -> Measured:
    """Share of seeds whose kernel norm is lower after every stretch of the schedule."""
    norm = episodes.part(run, "norm")  # at the start, before each raise, and at the end:
    seen = norm[:, [0, *(min(end, norm.shape[1] - 1) for end in ends), -1]]
    return share((np.diff(seen, axis=1) < 0).all(axis=1))


def in_each_stretch(run: Run, starts: tuple[int, ...]) -> Measured:
    """Share of seeds with a spike in every stretch of the schedule.

    A spike belongs to the stretch in which its loss is highest.
    """
    ends = (*starts[1:], run.sizes["step"])
    flags = []
    for lane in episodes.events(run):
        within = zip(starts, ends, strict=True)
        flags.append(all(any(a <= spike.peak < b for spike in lane) for a, b in within))
    return share(flags)


def diverges(run: Run) -> Measured:
    """Share of seeds that leave finite numbers, or end above ten times their first loss."""
    loss = run["loss"].values
    return share(~np.isfinite(loss[:, -1]) | (loss[:, -1] > 10 * loss[:, 0]))


def gains(run: Run) -> Measured | Missing:
    """Critical rate at the end over that of the start, mean over seeds that stay finite."""
    kept = episodes.finite(run)
    if isinstance(kept, Missing):
        return kept
    norm = episodes.part(kept, "norm")
    return average(norm[:, 0] / norm[:, -1])


CATAPULT = "planted: two catapults, after each the kernel is smaller"
for _name, (_what, _, _panel) in PANELS.items():
    _how = {"digits": OTHER_DATA, "cnn": "at sizes up to those of"}.get(_name, "")
    _ours, _shown = _name in ("digits", "cnn"), f"Fig. 4.4 {_panel}".strip()  # and a stand-in
    _runs, _ends = runs.schedules[_name], (runs.CNN if _name == "cnn" else runs.FCN)[1][1:]
    study.claim(
        f"{_name}-drops",
        f"With the rate of {_what} raised twice, each catapult leaves a smaller norm of the kernel "
        "than there was before it, in every seed.",
        zhu2024(f"section 4.1, {_shown}", how=_how), episodes.drops_each_time,
        in_all_seeds("ours" if _ours else "printed"), on=_runs["raised"],
        fails_on=case("planted: spikes, and a kernel that grows", runs.made["elsewhere"]),
        holds_on=case(CATAPULT, runs.made["catapult"]), note=numbers,
        exploratory=_ours,
    )  # fmt: skip
    study.claim(
        f"{_name}-lower-after-stretches",
        f"The kernel's norm of {_what} is lower at every raise of the rate, and in the end, than "
        "at the raise before, in every seed.",
        zhu2024(_shown, how="a stricter reading of"), lower_each_time, in_all_seeds("ours"),
        on=(_runs["raised"], _ends),
        fails_on=case("planted: a loss that only falls", runs.made["monotone"], (12, 39)),
        holds_on=case(CATAPULT, runs.made["catapult"], (20, 50)), note=numbers,
        exploratory=True,
    )  # fmt: skip
    study.claim(
        f"{_name}-each-raise",
        f"The first rate of {_what} and each raise set off a spike of the loss, to at least twice "
        "its lowest value before, in every seed.",
        zhu2024(_shown, how=_how), in_each_stretch, in_all_seeds("ours" if _ours else "printed"),
        on=(_runs["raised"], (0, *_ends)),
        fails_on=case("half the critical rate throughout", _runs["below"], (0, *_ends)),
        holds_on=case(CATAPULT, runs.made["catapult"], (0, 30)), note=numbers,
        exploratory=_ours,
    )  # fmt: skip
    study.claim(
        f"{_name}-gains",
        f"The critical rate of {_what} at least doubles over the schedule, where the loss stays "
        "finite.",
        zhu2024(_shown, how=_how or "derived; puts a number to"), gains,
        at_least(2.0, "ours"), on=_runs["raised"],
        fails_on=case("half the critical rate throughout", _runs["below"]),
        holds_on=case(CATAPULT, runs.made["catapult"]), note=numbers,
        exploratory=_ours,
    )  # fmt: skip
    study.claim(
        f"{_name}-in-top",
        f"At the highest loss of {_what} at least 80 % of the rise is in the top ten directions, "
        "where the loss stays finite and rises.",
        zhu2024("Fig. C.6", how=_how), episodes.rise_in_top, at_least(0.8, "ours"),
        on=_runs["raised"],
        fails_on=case("planted: a spike outside", runs.made["elsewhere"]),
        holds_on=case(CATAPULT, runs.made["catapult"]), note=numbers,
        exploratory=_ours,
    )  # fmt: skip
    study.claim(
        f"{_name}-each-in-top",
        f"Of each spike in the loss of {_what} that comes back at least 80 % of the rise is in the "
        "top ten directions.",
        zhu2024("Fig. C.6", how=_how), episodes.each_in_top, at_least(0.8, "ours"),
        on=_runs["raised"],
        fails_on=case("planted: spikes outside", runs.made["elsewhere"]),
        holds_on=case(CATAPULT, runs.made["catapult"]), note=numbers,
        exploratory=_ours,
    )  # fmt: skip
    study.claim(
        f"{_name}-converges",
        f"With the raised rates the loss of {_what} ends below a fifth of its first value.",
        zhu2024("Figs. 4.4, C.7", how=_how), episodes.comes_back, in_all_seeds("ours"),
        on=_runs["raised"],
        fails_on=case("planted: a loss that blows up", runs.made["diverges"]),
        holds_on=case(CATAPULT, runs.made["catapult"]), note=numbers,
        exploratory=_ours,
    )  # fmt: skip
    _blown_up = case("planted: a loss that blows up", runs.made["diverges"])
    for _which, _words, _place, _origin, _sure in (
        ("last", "The last rate of the schedule", "appendix C.2, with the rates of C.6; the "
         "caption of Fig. C.7 has others", "derived",
         case("the rate that the caption gives", _runs["captioned"])),
        ("captioned", "The rate that the caption gives", "Fig. C.7", "printed", _blown_up),
    ):  # fmt: skip
        study.claim(
            f"{_name}-{_which}-diverges",
            f"{_words}, used on {_what} from the start, diverges.",
            zhu2024(_place, how=_how), diverges, in_all_seeds("ours" if _ours else _origin),  # type: ignore[arg-type]
            on=_runs[_which], holds_on=_sure, note=losses, exploratory=_ours,
            fails_on=case("half the critical rate throughout", _runs["below"]),
        )  # fmt: skip
