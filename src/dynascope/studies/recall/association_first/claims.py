"""The order of learning, and what a truncated MLP does to "the" against the name."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.studies import at_least, at_most, average, case
from dynascope.studies.recall.association_first import runs
from dynascope.studies.recall.association_first.runs import study

EARLY = 100  # steps
GOOD = case("planted: as the thesis describes it", runs.planted["described"])
EARLY_GOOD = case('planted: "the" from step 5 on', runs.planted["only the"])
NOTHING = case("planted: nothing is learned", runs.planted["nothing"])
C1, F13 = (chen2025(place, how="another model than") for place in ("Fig. C.1", "Fig. 4.13"))
STAND_IN = "A stand-in trained here, not a pretrained language model."


def said(run: Run, prompt: str, part: str, cut: str = "whole") -> np.ndarray:
    """(seed, step)."""
    return run["prompted"].sel(prompt=prompt, said=part, cut=cut).values


def early_rank(run: Run) -> Measured:
    """Mean rank of "the" after prepositions at the last look before step 100."""
    at = np.flatnonzero(run["step"].values <= EARLY)[-1]
    return average(said(run, "prepositions", "rank_of_the")[:, at])


def the_leads_early(run: Run) -> Measured:
    """p("the") less p(name) at prompts of indirect objects, at the last look before step 100."""
    at = np.flatnonzero(run["step"].values <= EARLY)[-1]
    return average((said(run, "held_out", "the") - said(run, "held_out", "answer"))[:, at])


def told(run: Run) -> Measured:
    """p(indirect object) less p(subject) at the end."""
    return average((said(run, "held_out", "answer") - said(run, "subjects", "answer"))[:, -1])


def ratio(run: Run) -> Measured:
    """log2 of the factor by which the chosen cut raises p(name) / p("the"), on held-out prompts."""
    end = run["prompted"].isel(step=-1)
    ratios = end.sel(said="answer") / end.sel(said="the")
    logs = ratios.copy(data=np.log2(ratios.values))
    chosen = logs.sel(prompt="objects").isel(cut=slice(1, None)).argmax("cut") + 1
    held = logs.sel(prompt="held_out")
    return average((held.isel(cut=chosen) - held.isel(cut=0)).values)


study.claim(
    "the-after-prepositions",
    'In a small transformer trained on generated English "the" is the top prediction after '
    "prepositions within 100 steps: a mean rank of at most 1.5.",
    C1, early_rank, at_most(1.5, "ours"), on=runs.english, fails_on=NOTHING,
    holds_on=EARLY_GOOD, note=STAND_IN, exploratory=True,
)  # fmt: skip
study.claim(
    "the-before-names",
    'In a small transformer trained on generated English "the" is likelier after 100 steps than '
    "the indirect object's name.",
    F13, the_leads_early, at_least(0.05, "ours"), on=runs.english,
    fails_on=NOTHING, holds_on=EARLY_GOOD, note=STAND_IN, exploratory=True,
)  # fmt: skip
study.claim(
    "names-later",
    "In a small transformer trained on generated English the indirect object is likelier at the "
    "end than the subject, by 0.1 at least.",
    F13, told, at_least(0.1, "ours"), on=runs.to_the_end, fails_on=NOTHING,
    holds_on=GOOD, note=STAND_IN, exploratory=True,
)  # fmt: skip
study.claim(
    "truncation-helps",
    "In a small transformer trained on generated English, truncating one MLP at the end doubles "
    'p(name) / p("the") on prompts that it was not chosen on.',
    F13, ratio, at_least(1.0, "ours"), on=runs.to_the_end, fails_on=NOTHING,
    holds_on=GOOD, note=STAND_IN, exploratory=True,
)  # fmt: skip
