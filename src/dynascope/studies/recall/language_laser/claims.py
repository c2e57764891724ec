"""Whether truncation favours the answer, and whether that is due to small singular values."""

import math

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025, derived
from dynascope.studies import at_least, at_most, average, case, exact, near, share
from dynascope.studies.recall.language_laser import runs
from dynascope.studies.recall.language_laser.planted import (
    planted,
    planted_ratios,
    planted_sweeps,
    planted_tables,
)
from dynascope.studies.recall.language_laser.runs import (
    CASES,
    FOUR_BIT,
    PRINTED,
    Judged,
    Ratios,
    Sweep,
    Table,
    gain,
    judged,
    study,
)

TITLES = {
    "stories15M-ioi": "stories15M on who gave what to whom",
    "smollm2-ioi": "SmolLM2-135M-Instruct (4-bit) on who gave what to whom",
    "smollm2-facts": "SmolLM2-135M-Instruct (4-bit) on facts of geography",
}
SOURCES = {
    "ioi": chen2025("Figs. 4.13, C.2", how="another model than"),
    "facts": chen2025("Figs. 4.13, C.3, Table C.3", how="another model than"),
}
HELPS, HARMS = planted["helps"], planted["harms"]
SMALL = "planted: a model whose smallest direction writes the generic word"
LARGE = "planted: a model whose smallest direction writes against the generic word"
MIDDLE = "planted: a model in which one of its middle directions writes the generic word"


def helps(found: Judged) -> Measured:
    """Mean logarithm of the factor on p(answer) / p(generic), over held-out prompts."""
    return average(gain(found))


def better_than(found: Judged, control: str) -> Measured:
    """Mean logarithm of the factor on p(answer) / p(generic), less that of a control by prompt."""
    return average(gain(found) - gain(found, control))


def generic_falls(found: Judged) -> Measured:
    """Share of held-out prompts in which p(generic) falls."""
    return share(found.scores["best"][:, 1] < found.base[:, 1])


def answer_rises(found: Judged) -> Measured:
    """Share of held-out prompts in which p(answer) rises."""
    return share(found.scores["best"][:, 0] > found.base[:, 0])


def written_by_mlp(found: Judged) -> Measured:
    """What feed-forward parts add to the generic token's logit, less what attention adds."""
    attention, mlp = found.written.sum(1)
    return average(mlp - attention)


for slug, title in TITLES.items():
    four_bit = slug.startswith("smollm2")
    note = FOUR_BIT if four_bit else ""
    source = SOURCES[CASES[slug][1]]
    study.claim(
        f"{slug}-helps",
        f"In {title}, the truncation that half of the prompts chose at least doubles "
        "p(answer) / p(generic) on the other half.",
        source, helps, at_least(math.log(2), "ours"), on=judged[slug],
        fails_on=case(LARGE, HARMS), holds_on=case(SMALL, HELPS),
        note=lambda found, note=note: f"{found.edit}. {note}".strip(), exploratory=True,
    )  # fmt: skip
    study.claim(
        f"{slug}-generic-falls",
        f"In {title}, the truncation that half of the prompts chose lowers the probability of the "
        "generic token on at least three quarters of the other half.",
        source, generic_falls, at_least(0.75, "ours"), on=judged[slug],
        fails_on=case(LARGE, HARMS), holds_on=case(SMALL, HELPS), note=note, exploratory=True,
    )  # fmt: skip
    study.claim(
        f"{slug}-answer-rises",
        f"In {title}, the truncation that half of the prompts chose raises the probability of the "
        "answer itself on more than half of the other half.",
        source, answer_rises, at_least(0.5, "ours"), on=judged[slug],
        fails_on=case(LARGE, HARMS), holds_on=case(SMALL, HELPS), note=note, exploratory=True,
    )  # fmt: skip
    for control, other in {
        "random_there": "keeping as many random directions of the same matrix does",
        "smallest_there": "keeping as many of its smallest directions does",
        "dropped_there": "dropping the whole feed-forward part of its layer does",
        "best_random": "the best choice of random directions of any layer and matrix does",
    }.items():
        study.claim(
            f"{slug}-better-than-{control.replace('_', '-')}",
            f"In {title}, the truncation that half of the prompts chose leaves p(answer) / "
            f"p(generic) on the other half at least 1.5 times as high as {other}.",
            derived("a control that the document does not have"), better_than,
            at_least(math.log(1.5), "ours"), on=(judged[slug], control),
            fails_on=case(MIDDLE, planted["controls too"], control),
            holds_on=case(SMALL, HELPS, control), note=note, exploratory=True,
        )  # fmt: skip
    study.claim(
        f"{slug}-feed-forward-writes",
        f"In {title}, feed-forward parts together add more to the generic token's logit over the "
        "answer's than attention does.",
        chen2025("section 4.5.1", how="another model than"), written_by_mlp, at_least(0.0, "ours"),
        on=judged[slug], note=note, exploratory=True,
        fails_on=case("planted: a model whose attention writes it", HARMS),
        holds_on=case(MIDDLE, planted["controls too"]),
    )  # fmt: skip


def table_error(found: Table) -> Measured:
    """Largest distance of a probability from the printed one."""
    return exact(float(np.abs(found.p - PRINTED).max()))


study.claim(
    "table-4-1",
    "In Pythia-1B after 'Madrid is located in', the five printed probabilities before and after "
    "LASER are met within 0.01.",
    chen2025("Table 4.1"), table_error, at_most(0.01, "ours"), on=runs.table,
    fails_on=case("planted: LASER changes nothing", planted_tables["same"]),
    holds_on=case("planted: the printed numbers, off by 0.002", planted_tables["printed"]),
)  # fmt: skip


def ratio_factor(found: Ratios) -> Measured:
    """Logarithm of the ratio after LASER."""
    return exact(math.log(found.after))


for name, printed in {"ioi": 12.3, "madrid": 11.3}.items():
    study.claim(
        f"pythia-{name}",
        f"In Pythia-1B at the end of training, p(answer) / p('the') after LASER is {printed} "
        f"within 30 % ({'who gave to whom' if name == 'ioi' else 'Madrid'}).",
        chen2025("Fig. 4.13"), ratio_factor, near(math.log(printed), math.log(1.3), "ours"),
        on=runs.final_ratios[name],
        fails_on=case("planted: a ratio of 1", planted_ratios["same"]),
        holds_on=case("planted: near the printed ratio", planted_ratios[name]),
    )  # fmt: skip


def share_lower(found: Sweep) -> Measured:
    """Share of layers, shares and words whose probability is below that of the full model."""
    return exact(float((found.after < found.before).mean()))


study.claim(
    "gpt2-sweep",
    "In GPT-2 small, truncating the first feed-forward matrix of layers 9, 10 or 11 to a share "
    "from 0.1 to 0.8 lowers p('the') and p('them').",
    chen2025("Fig. C.4"), share_lower, at_least(1.0, "printed"), on=runs.sweep,
    fails_on=case("planted: higher", planted_sweeps["higher"]),
    holds_on=case("planted: lower", planted_sweeps["lower"]),
)  # fmt: skip
