"""Figs. 4.9 to 4.12: what dropping either part does to the clean loss."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025
from dynascope.studies import at_least, at_most, average, case
from dynascope.studies.recall.recall_parts import runs
from dynascope.studies.recall.recall_parts.runs import study

Readouts = dict[str, np.ndarray]
RIGHT, NOISE, LOSS = 0, 1, 2
ALIKE = case("planted: cuts change nothing", runs.planted["alike"])
SECOND = case("planted: the noise in the second part", runs.planted["in the second"])
FIRST = case("planted: the noise in the first part", runs.planted["in the first"])


def change(found: Readouts, cut: str, part: int) -> Measured:
    """A readout with a part dropped less that of the whole model."""
    return average(found[cut][:, part] - found["whole"][:, part])


def first_better(found: Readouts) -> Measured:
    """Loss with the last part dropped less that with the first part dropped."""
    return average(found["last dropped"][:, LOSS] - found["first dropped"][:, LOSS])


def best_rank(found: Readouts) -> Measured:
    """Lowest loss over middle ranks of the output map, less that of the whole model."""
    ranks = sorted(name for name in found if name.startswith("output"))[1:]
    losses = np.stack([found[name][:, LOSS] for name in ranks])
    return average(losses.min(0) - found["whole"][:, LOSS])


def lowest_rank(found: Readouts) -> Measured:
    """Loss at the smallest rank over that of the whole model."""
    name = min(name for name in found if name.startswith("output"))
    return average(found[name][:, LOSS] / found["whole"][:, LOSS])


def claim(
    slug: str, words: str, figure: str, on: str, fails: str, holds: str, *what: object
) -> None:
    """A claim about one kind of network; `what` is measure, bound and options."""
    measure, bound, *options = what
    study.claim(
        slug, words, chen2025(figure), measure, bound,  # type: ignore[arg-type]
        on=(runs.ends[on], *options),
        fails_on=case(f"planted: the noise {fails}", runs.planted[fails], *options),
        holds_on=case(f"planted: the noise {holds}", runs.planted[holds], *options),
        note="At a reduced size; see the notes.",
    )  # fmt: skip


claim("mlp-mlp-second", "With two MLPs, dropping the second raises the probability of the answer.",
      "Fig. 4.9", "mlp-mlp", "alike", "in the second", change, at_least(0.1, "ours"),
      "last dropped", RIGHT)  # fmt: skip
claim("mlp-mlp-first", "With two MLPs, dropping the first raises the probability of the noise.",
      "Fig. 4.9", "mlp-mlp", "alike", "in the second", change, at_least(0.1, "ours"),
      "first dropped", NOISE)  # fmt: skip
claim("mlp-linear-second", "With an MLP and a linear part, dropping the linear one lowers the "
      "clean loss.", "Fig. 4.10", "mlp-linear", "alike", "in the first", change,
      at_most(-0.01, "ours"), "last dropped", LOSS)  # fmt: skip
claim("mlp-linear-first", "With an MLP and a linear part, dropping the MLP lowers the clean loss.",
      "Fig. 4.10", "mlp-linear", "alike", "in the first", change, at_most(-0.01, "ours"),
      "first dropped", LOSS)  # fmt: skip
claim("mlp-linear-better", "With an MLP and a linear part, dropping the MLP leaves a lower clean "
      "loss than dropping the linear part.", "Fig. 4.10", "mlp-linear", "alike", "in the first",
      first_better, at_least(0.01, "ours"))  # fmt: skip
claim("linear-mlp-second", "With a linear part and an MLP, dropping the MLP lowers the clean loss.",
      "Fig. 4.11", "linear-mlp", "alike", "in the second", change, at_most(-0.01, "ours"),
      "last dropped", LOSS)  # fmt: skip
claim("linear-mlp-first", "With a linear part and an MLP, dropping the linear part raises the "
      "clean loss.", "Fig. 4.11", "linear-mlp", "alike", "in the second", change,
      at_least(0.1, "ours"), "first dropped", LOSS)  # fmt: skip
claim("none-some-rank", "Without feed-forward parts, some middle rank of the first block's output "
      "map has a lower clean loss than all of it.", "Fig. 4.12", "none-none", "alike",
      "in few ranks", best_rank, at_most(-0.001, "ours"))  # fmt: skip
claim("none-lowest-rank", "Without feed-forward parts, the first block's output map cut to rank 1 "
      "has more than twice the clean loss of all of it.", "Fig. 4.12", "none-none", "alike",
      "in few ranks", lowest_rank, at_least(2.0, "ours"))  # fmt: skip
