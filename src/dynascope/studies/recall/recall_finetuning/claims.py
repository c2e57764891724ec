"""Figs. 4.4 and 4.7: noise within a few steps, half in the end, and attention that unlearns it."""

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.studies import at_least, at_most, average, between, case
from dynascope.studies.recall.recall_finetuning import runs
from dynascope.studies.recall.recall_finetuning.runs import study

FIG4, FIG7 = chen2025("Fig. 4.4"), chen2025("Fig. 4.7")
GOOD = case("planted: as the thesis describes it", runs.planted["described"])
NOTHING = case("planted: no noise predicted, attention as it was", runs.planted["nothing"])


def early_peak(run: Run) -> Measured:
    """Largest share of places at which the noise is on top, over steps 1 to 10."""
    early = run["recall"].sel(cut="whole", readout="says_noise").sel(step=slice(1, 10))
    return average(early.max("step").values)


def final_noise(run: Run) -> Measured:
    """Probability of the noise at the end."""
    return average(run["recall"].sel(cut="whole", readout="noise").isel(step=-1).values)


def noise_to_answers(run: Run, step: int) -> Measured:
    """Attention a position of noise gets over what one with the answer gets."""
    at = run["recall_attention"].isel(step=step)
    return average(
        (at.sel(attention_part="per_noise") / at.sel(attention_part="per_answer")).values
    )


for slug, words, own, end in (
    ("scratch", "Trained with noise from scratch", runs.from_scratch, runs.scratch_to_the_end),
    ("tuned", "Trained without noise first", runs.tuned_to_the_end, runs.tuned_to_the_end),
):
    study.claim(
        f"{slug}-early", f"{words}, the model has the noise on top at nine in ten places within "
        "ten steps with noise.",
        FIG7, early_peak, at_least(0.9, "ours"), on=own, fails_on=NOTHING, holds_on=GOOD,
    )  # fmt: skip
    study.claim(
        f"{slug}-half", f"{words}, the model ends with a probability from 0.3 to 0.7 on the noise.",
        FIG7, final_noise, between(0.3, 0.7, "ours"), on=end, fails_on=NOTHING, holds_on=GOOD,
    )  # fmt: skip
study.claim(
    "takes-noise-before",
    "Trained without noise, the last block looks at noise after the trigger about as much as at "
    "answers there: from 0.3 to 3 times.",
    FIG4, noise_to_answers, between(0.3, 3.0, "ours"), on=(runs.tuned_to_the_end, 0),
    fails_on=case("planted: none on the noise", runs.planted["nothing"], 0),
    holds_on=case("planted: as much on both", runs.planted["described"], 0),
)  # fmt: skip
study.claim(
    "leaves-noise-after",
    "After training with noise, a position of noise gets at most 5 % of the attention of one with "
    "the answer.",
    FIG4, noise_to_answers, at_most(0.05, "ours"), on=(runs.tuned_to_the_end, -1),
    fails_on=case("planted: as much on both", runs.planted["nothing"], -1),
    holds_on=case("planted: 1 %", runs.planted["described"], -1),
)  # fmt: skip
