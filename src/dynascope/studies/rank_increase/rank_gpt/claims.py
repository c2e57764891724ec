"""Of what rank the heads of a language model change, and whether the rank grows."""

from dynascope.core.sources import boix2023
from dynascope.studies import at_least, at_most, case
from dynascope.studies.rank_increase.rank_gpt import runs
from dynascope.studies.rank_increase.rank_gpt.runs import NAMES, study
from dynascope.studies.rank_increase.ranks import PRODUCTS, decays_faster, rise, worst_layer

LOW, FALLING = runs.planted["low"], runs.planted["falling"]
ANEW = "weights drawn anew instead of trained"
PLANTED = "a planted change of stable rank 2, below that of the start"

for text, words in NAMES.items():
    own, ours = runs.ranks[text], text != "wikitext103"
    how = "on other text than" if ours else ""
    for product, title in PRODUCTS.items():
        study.claim(
            f"{text}-low-rank-{product}",
            f"In a transformer that learned {words}, {title} has changed in every layer by a "
            "matrix whose stable rank is below that of the product at the start.",
            boix2023("Figs. 4, 20", how=how), worst_layer,
            at_most(1.0, "ours" if ours else "printed"), on=(own, product), exploratory=ours,
            fails_on=case(ANEW, runs.planted["anew"], product),
            holds_on=case(PLANTED, LOW, product),
        )  # fmt: skip
        study.claim(
            f"{text}-decays-faster-{product}",
            f"In a transformer that learned {words}, the singular values of the change of {title}, "
            "over the largest, lie below those of the product at the start for at least nine in "
            "ten ranks.",
            boix2023("Fig. 1", how=how), decays_faster, at_least(0.9, "ours"), on=(own, product),
            exploratory=ours,
            fails_on=case(ANEW, runs.planted["anew"], product),
            holds_on=case(PLANTED, LOW, product),
        )  # fmt: skip
        study.claim(
            f"{text}-rise-{product}",
            f"While a transformer learns {words}, the stable rank of the change of {title} rises "
            "from its minimum on: its rank correlation with the step is at least one half.",
            boix2023("Figs. 4, 20; the first steps of Adam left out", how=how), rise,
            at_least(0.5, "ours"), on=(runs.long_runs[text], product), exploratory=ours,
            fails_on=case("planted: a stable rank that falls from 3 to 1.2", FALLING, product),
            holds_on=case("planted: a stable rank that rises from 1 to 2", LOW, product),
        )  # fmt: skip
