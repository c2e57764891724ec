"""Of what rank the heads change, from which start, and whether the rank grows."""

from dynascope.core.sources import boix2023
from dynascope.studies import at_least, at_most, case
from dynascope.studies.rank_increase.rank_vit import runs
from dynascope.studies.rank_increase.rank_vit.runs import NAMES, study
from dynascope.studies.rank_increase.ranks import (
    PRODUCTS,
    decays_faster,
    rise,
    smaller_start,
    smaller_start_at_accuracy,
    worst_layer,
)

LOW, OPPOSITE, FALLING = (runs.planted[name] for name in ("low", "opposite", "falling"))
ANEW = "weights drawn anew instead of trained"
# Where the document shows it: on CIFAR-10, on CIFAR-100; other pictures stand for both.
PLACES = {
    "cifar10": ("Figs. 4, 5, 14, 15", "Fig. 12", "Figs. 1, 5, 14", "Figs. 4, 15"),
    "cifar100": ("Figs. 4, 16, 17", "Fig. 13", "Fig. 16", "Figs. 4, 17"),
}
BOTH = ("Figs. 4, 5, 14 to 17", "Figs. 12, 13", "Figs. 1, 5, 14, 16", "Figs. 4, 15, 17")
PLANTED = "a planted change of stable rank 2, below that of the start"

for data, words in NAMES.items():
    adam, sgd, long = runs.ranks[data, "adam"], runs.ranks[data, "sgd"], runs.long_runs[data]
    ours = data not in PLACES
    how = "on other pictures than" if ours else ""
    low, with_sgd, spectra, grows = (boix2023(p, how=how) for p in PLACES.get(data, BOTH))
    shown = data == "cifar10"  # starts of several sizes
    scales = boix2023("Figs. 6, 7", how="" if shown else "on other pictures than")
    for product, title in PRODUCTS.items():
        study.claim(
            f"{data}-low-rank-{product}",
            f"Trained with Adam on {words}, {title} has changed in every layer by a matrix whose "
            "stable rank is below that of the product at the start.",
            low, worst_layer, at_most(1.0, "ours" if ours else "printed"),
            exploratory=ours,
            on=(adam, product), fails_on=case(ANEW, runs.planted["anew"], product),
            holds_on=case(PLANTED, LOW, product),
        )  # fmt: skip
        study.claim(
            f"{data}-sgd-low-rank-{product}",
            f"Trained with SGD at rate 0.3 on {words}, {title} has changed in every layer by a "
            "matrix whose stable rank is below that of the product at the start.",
            with_sgd, worst_layer, at_most(1.0, "ours" if ours else "printed"),
            exploratory=ours,
            on=(sgd, product), fails_on=case(ANEW, runs.planted["anew"], product),
            holds_on=case(PLANTED, LOW, product),
        )  # fmt: skip
        study.claim(
            f"{data}-decays-faster-{product}",
            f"On {words} the singular values of the change of {title}, over the largest, lie "
            "below those of the product at the start for at least nine in ten ranks.",
            spectra, decays_faster, at_least(0.9, "ours"), exploratory=ours,
            on=(adam, product), fails_on=case(ANEW, runs.planted["anew"], product),
            holds_on=case(PLANTED, LOW, product),
        )  # fmt: skip
        study.claim(
            f"{data}-smaller-start-{product}",
            f"On {words}, after equally many steps, {title} has changed by a lower stable rank "
            "from the smallest start than from the usual one.",
            scales, smaller_start, at_most(1.0, "printed" if shown else "ours"),
            exploratory=not shown,
            on=(adam, product),
            fails_on=case("planted: 3 from the smaller start, 1.5 from the usual one", OPPOSITE,
                          product),
            holds_on=case("planted: 1.2 from the smaller start, 2 from the usual one", LOW,
                          product),
        )  # fmt: skip
        study.claim(
            f"{data}-smaller-start-at-accuracy-{product}",
            f"On {words} the change of {title} has a lower stable rank from the smallest start "
            "than from the usual one where each has first reached the same test accuracy.",
            boix2023("Figs. 6, 7", how="derived; takes slower learning out of"),
            smaller_start_at_accuracy, at_most(1.0, "ours"), on=(long, product), exploratory=True,
            fails_on=case("planted: 3 from the smaller start, 1.5 from the usual one", OPPOSITE,
                          product),
            holds_on=case("planted: 1.2 from the smaller start, 2 from the usual one", LOW,
                          product),
        )  # fmt: skip
        study.claim(
            f"{data}-rise-{product}",
            f"On {words} the stable rank of the change of {title} rises from its minimum on, which "
            "leaves Adam's first steps out: its rank correlation with the step is at least 0.5.",
            grows, rise,
            at_least(0.5, "ours"), on=(long, product), exploratory=ours,
            fails_on=case("planted: a stable rank that falls from 3 to 1.2", FALLING, product),
            holds_on=case("planted: a stable rank that rises from 1 to 2", LOW, product),
        )  # fmt: skip
