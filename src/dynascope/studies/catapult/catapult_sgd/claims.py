"""After spikes the kernel is smaller; spikes lie in the top direction; small rates have none."""

from dynascope.core.sources import zhu2024
from dynascope.studies.catapult import episodes
from dynascope.studies.catapult.catapult_gd.claims import losses, numbers
from dynascope.studies.catapult.catapult_sgd import runs
from dynascope.studies.catapult.catapult_sgd.runs import PANELS, study
from dynascope.studies.catapult.trials import OTHER_DATA
from dynascope.studies.comparisons import at_least, at_most
from dynascope.studies.nodes import case

SPIKE = 2.0  # times the lowest loss so far
AS_PRINTED = ("fcn", "fcn-svhn", "many")  # of the thesis's size; the others stand in for it

for _name, (_what, _, _place) in PANELS.items():
    _above, _below = runs.trainings[_name]["above"], runs.trainings[_name]["below"]
    _ours = _name not in AS_PRINTED
    _source = zhu2024(_place, how=OTHER_DATA if _name == "digits" else "")
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
        f"{_name}-small-rate",
        f"At a twentieth of the rate the loss of {_what} rises to less than twice its lowest value "
        "so far, on average over seeds.",
        zhu2024(_place, how="the counterpart of"), episodes.largest_rise, at_most(SPIKE, "ours"),
        on=_below,
        fails_on=case("planted: two catapults", runs.made["catapult"]),
        holds_on=case("planted: a loss that only falls", runs.made["monotone"]),
        note=losses, exploratory=True,
    )  # fmt: skip
