"""After spikes the kernel is smaller; spikes lie in the top direction; small rates have none."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import zhu2024
from dynascope.studies.catapult import episodes
from dynascope.studies.catapult.catapult_gd.claims import losses, numbers
from dynascope.studies.catapult.catapult_sgd import runs
from dynascope.studies.catapult.catapult_sgd.runs import PANELS, study
from dynascope.studies.catapult.trials import OTHER_DATA
from dynascope.studies.comparisons import at_least, at_most
from dynascope.studies.measures import average_share
from dynascope.studies.nodes import Missing, case

SPIKE = 2.0  # times the lowest loss so far
AS_PRINTED = ("fcn", "fcn-svhn", "many")  # of the thesis's size; the others stand in for it

PLANTED_PERIOD = 28  # of planted runs: rises from 0 and from 28, with spikes at 12 and 40


for _name, (_what, _, _place) in PANELS.items():
    _above, _below = runs.trainings[_name]["above"], runs.trainings[_name]["below"]
    _ours = _name not in AS_PRINTED
    _how = OTHER_DATA if _name == "digits" else "at sizes up to those of" if _ours else ""
    _source = zhu2024(_place, how=_how)
    study.claim(
        f"{_name}-kernel-drops",
        f"Of the spikes in the loss of {_what} that come back, at least 80 % leave the kernel a "
        "smaller norm.",
        _source, episodes.drops_after, at_least(0.8, "ours"), on=(_above, SPIKE),
        fails_on=case("planted: spikes outside, the kernel grows", runs.made["elsewhere"], SPIKE),
        holds_on=case("planted: two catapults", runs.made["catapult"], SPIKE), note=numbers,
        exploratory=_ours,
    )  # fmt: skip
    study.claim(
        f"{_name}-in-top",
        f"At least 80 % of the rise of a spike of {_what} that comes back lies in the kernel's top "
        "direction.",
        _source, episodes.share_in_top, at_least(0.8, "ours"), on=(_above, SPIKE),
        fails_on=case("planted: spikes outside, the kernel grows", runs.made["elsewhere"], SPIKE),
        holds_on=case("planted: two catapults", runs.made["catapult"], SPIKE), note=numbers,
        exploratory=_ours,
    )  # fmt: skip
    study.claim(
        f"{_name}-rest-falls",
        f"Of all that the two parts of the loss of {_what} rise from step to step, at most a fifth "
        "lies outside the kernel's top direction, where the loss stays finite.",
        zhu2024(f"section 4.3, {_place}", how=_how or "derived; puts a number to"),
        episodes.rises_outside_top, at_most(0.2, "ours"), on=_above,
        fails_on=case("planted: spikes outside, the kernel grows", runs.made["elsewhere"]),
        holds_on=case("planted: two catapults", runs.made["catapult"]), note=numbers,
        exploratory=_ours,
    )  # fmt: skip
    study.claim(
        f"{_name}-norm-stays-elsewhere",
        f"On at least half of the steps outside the spikes in the loss of {_what} the kernel's "
        "norm grows, or falls by less than a thousandth.",
        zhu2024(f"section 4.3, {_place}", how=_how or "derived; puts a number to"),
        episodes.norm_stays_elsewhere, at_least(0.5, "ours"),
        on=(_above, SPIKE),
        fails_on=case("planted: a kernel that falls outside a spike", runs.made["outside"], SPIKE),
        holds_on=case("planted: a kernel that falls in a spike", runs.made["inside"], SPIKE),
        note=numbers,
        exploratory=_ours,
    )  # fmt: skip
    study.claim(
        f"{_name}-small-rate",
        f"At a twentieth of the rate the loss of {_what} rises to less than twice its lowest value "
        "so far, on average over seeds.",
        zhu2024(_place, how="the counterpart of"), episodes.largest_rise, at_most(SPIKE, "ours"),
        on=_below,
        fails_on=case("planted: two catapults", runs.made["catapult"]),
        holds_on=case("planted: a loss that only falls", runs.made["monotone"]),
        note=losses, exploratory=True,
    )  # fmt: skip


def rising_phases_with_spikes(run: Run) -> Measured | Missing:
    """Share of the cycle's rising halves in which a spike is highest, mean over seeds.

    Of whole cycles that a seed took; a spike may come to its height up to a quarter of a cycle
    after the rate has.
    """
    period = PLANTED_PERIOD
    if run.experiment is not None:
        period = run.experiment.dynamics.learning_rate.period
    shares, counts = [], []
    for found, end in zip(episodes.events(run, SPIKE), episodes.taken(run), strict=True):
        begins = range(0, end - period + 2, period)
        spiked = [any(a <= c.peak < a + 3 * period // 4 for c in found) for a in begins]
        if spiked:
            shares.append(float(np.mean(spiked)))
            counts.append(len(spiked))
    return average_share(shares, counts) if shares else Missing("no seed takes a whole cycle")


study.claim(
    "cyclical-rises",
    "In at least half of the phases in which a cyclical rate rises the loss of a wide residual "
    "network has a spike.",
    zhu2024("Remark 4.3.3, Fig. C.12", how="at sizes up to those of"), rising_phases_with_spikes,
    at_least(0.5, "ours"), on=runs.trainings["cyclical"]["above"],
    fails_on=case("planted: a loss that only falls", runs.made["monotone"]),
    holds_on=case("planted: two catapults", runs.made["catapult"]), note=numbers, exploratory=True,
)  # fmt: skip
