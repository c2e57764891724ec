"""What each catapult gains, where none does; a start near zero, and our schedule."""

from typing import Any

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import zhu2024
from dynascope.studies.catapult.agop_multiple import runs
from dynascope.studies.catapult.agop_multiple.runs import PANELS, study
from dynascope.studies.catapult.feature_tables import PICTURES, Table, correlation, gain, of_row
from dynascope.studies.comparisons import at_least, in_all_seeds
from dynascope.studies.measures import average, share
from dynascope.studies.nodes import Missing, case

GAIN = 0.05  # in test loss, by each of the first three catapults


def listed(table: Table, *_: Any) -> str:
    """The table in words."""
    rows = [
        f"{name}: {t.mean():.3f}, {a.mean():.3f}"
        for name, t, a in zip(table.names, table.test, table.alignment, strict=True)
    ]
    lost = int((~table.trained).sum())
    more = f" {lost} of {table.trained.size} lanes diverged." if lost else ""
    return "Test loss and alignment by number of raises: " + "; ".join(rows) + "." + more


for _k in (1, 2, 3):
    for _column, _slug, _words, _sign, _least in (
        ("test", "test", "lowers the best test loss of x1 x2 by at least 0.05", -1.0, GAIN),
        ("alignment", "alignment", "raises the alignment of x1 x2", 1.0, 0.0),
    ):
        study.claim(
            f"rank-2-{_slug}-{_k}",
            f"Raise number {_k} of the rate {_words}.",
            zhu2024("Figs. 4.8 a, C.13 a"), gain, at_least(_least, "ours"),
            on=(runs.tables["rank-2"], str(_k), str(_k - 1), _column, _sign),
            fails_on=case("planted rows in the opposite order", runs.made["worse"],
                          str(_k), str(_k - 1), _column, _sign),
            holds_on=case("planted gains", runs.made["better"], str(_k), str(_k - 1), _column,
                          _sign),
            note=listed,
        )  # fmt: skip

study.claim(
    "rank-2-aligned",
    "After three raises of the rate the alignment of x1 x2 is above 0.95.",
    zhu2024("Fig. 4.8 a", how="derived; puts a number to"), of_row, at_least(0.95, "ours"),
    on=(runs.tables["rank-2"], "3", "alignment"),
    fails_on=case("planted rows in the opposite order", runs.made["worse"], "3", "alignment"),
    holds_on=case("planted gains", runs.made["better"], "3", "alignment"), note=listed,
)  # fmt: skip
study.claim(
    "alignment-follows-test",
    "Over the numbers of raises the alignment of x1 x2 ranks as the test loss does, the other "
    "way round: their rank correlation is at least 0.9.",
    zhu2024("Figs. 4.8 a, C.15"), correlation, at_least(0.9, "ours"), on=runs.tables["rank-2"],
    fails_on=case("planted: alignment falls with the test loss", runs.misaligned),
    holds_on=case("planted gains", runs.made["better"]), note=listed,
)  # fmt: skip


def improves(table: Table, column: str, sign: float) -> Measured | Missing:
    """How much better all raises are than none, mean over the seeds that diverged in neither."""
    return gain(table, table.names[-1], table.names[0], column, sign)


BOTH = ("test", "alignment")
_SHOWN = {name: (*PANELS[name], "loss", dict.fromkeys(BOTH, runs.tables[name]))
          for name in ("rank-3", "rank-3-raw", "rank-4", "rank-4-raw")}  # fmt: skip
_PLACES = {"svhn": "Figs. 4.8 c, C.13 c, C.14 c", "celeba": "Figs. 4.8 d, C.13 d, C.14 d",
           "usps": "Fig. C.16 b", "fashion": "Fig. C.16 c"}  # fmt: skip
_SHOWN |= {name: (PICTURES[name][0], place, "error", runs.on_pictures[name])
           for name, place in _PLACES.items()}  # fmt: skip
for _name, (_what, _place, _kind, _table) in _SHOWN.items():
    for _column, _words, _sign in (
        ("test", f"the test {_kind} is lower", -1.0), ("alignment", "the alignment is higher", 1.0),
    ):  # fmt: skip
        study.claim(
            f"{_name}-{_column}",
            f"Learning {_what} with all raises of the rate {_words} than with none, among the "
            "seeds that diverge with neither.",
            zhu2024(_place), improves, at_least(0.0, "printed"),
            on=(_table[_column], _column, _sign),
            fails_on=case("planted rows in the opposite order", runs.made["worse"], _column, _sign),
            holds_on=case("planted gains", runs.made["better"], _column, _sign), note=listed,
        )  # fmt: skip


def none_betters(table: Table, column: str, sign: float) -> Measured:
    """Share of seeds in which no number of raises betters what training without any reaches."""
    values = sign * getattr(table, column)
    return share(~(values[1:] > values[0]).any(axis=0))


def ends_worse(table: Table, column: str, sign: float) -> Measured:
    """Share of seeds in which the run with all raises ends worse than some run with fewer.

    At the last record there is no best checkpoint to hide behind: of a diverged lane too.
    """
    values = sign * getattr(table, column)
    return share(values[-1] <= values[:-1].max(axis=0))


for _column, _words, _sign in (
    ("test", "test loss", -1.0), ("alignment", "alignment", 1.0),
):  # fmt: skip
    study.claim(
        f"full-rank-{_column}",
        f"Where the target uses all directions, the run with all raises ends with no better "
        f"{_words} than some run with fewer raises, in any seed.",
        zhu2024("Fig. C.17", how="a weaker reading of"), ends_worse, in_all_seeds("ours"),
        on=(runs.last_values, _column, _sign),
        fails_on=case("planted gains", runs.made["better"], _column, _sign),
        holds_on=case("planted rows in the opposite order", runs.made["worse"], _column, _sign),
        note=listed,
    )  # fmt: skip
    study.claim(
        f"full-rank-{_column}-none",
        f"Where the target uses all directions, no number of raises betters the {_words} at the "
        "best validation loss, in any seed.",
        zhu2024("Fig. C.17", how="a reading of"), none_betters, in_all_seeds("ours"),
        exploratory=True, on=(runs.tables["full-rank"], _column, _sign),
        fails_on=case("planted gains", runs.made["better"], _column, _sign),
        holds_on=case("planted rows in the opposite order", runs.made["worse"], _column, _sign),
        note=listed,
    )  # fmt: skip

for _column, _words, _sign in (
    ("test", "a lower test loss", -1.0), ("alignment", "a higher alignment", 1.0),
):  # fmt: skip
    study.claim(
        f"near-zero-{_column}",
        f"A start near zero gives x1 x2 {_words} than all raises of the rate.",
        zhu2024("Fig. C.14 a"), gain, at_least(0.0, "printed"),
        on=(runs.compared, "near zero", "all", _column, _sign), note=listed,
        fails_on=case("planted rows in the opposite order", runs.made["opposite"], "near zero",
                      "all", _column, _sign),
        holds_on=case("planted: the start near zero is best", runs.made["compared"], "near zero",
                      "all", _column, _sign),
    )  # fmt: skip


def gain_on_all(table: Table, better: str, column: str, sign: float) -> Measured | Missing:
    """What one row gains on the best other one that stays finite, mean over seeds with both."""
    new = table.names.index(better)
    values = np.where(table.trained, sign * getattr(table, column), -np.inf)
    best = np.delete(values, new, axis=0).max(axis=0)
    both = np.isfinite(values[new]) & np.isfinite(best)
    if not both.any():
        return Missing(f"every seed diverged with {better} or with all other ways of training")
    return average((values[new] - best)[both])


for _column, _words, _sign in (
    ("test", "a lower test loss", -1.0), ("alignment", "a higher alignment", 1.0),
):  # fmt: skip
    study.claim(
        f"near-zero-rank-3-{_column}",
        f"A start near zero gives x1 x2 (x1 + ... + x10) {_words} than any number of raises of the "
        "rate that stays finite.",
        zhu2024("Fig. C.14 b", how="with a rate of ours for"), gain_on_all, at_least(0.0, "ours"),
        on=(runs.compared_rank_3, "near zero", _column, _sign), note=listed, exploratory=True,
        fails_on=case("planted rows in the opposite order", runs.made["opposite"], "near zero",
                      _column, _sign),
        holds_on=case("planted: the start near zero is best", runs.made["compared"], "near zero",
                      _column, _sign),
    )  # fmt: skip

study.claim(
    "schedule-gains",
    "A rate that is raised to 1.5 times the critical one after each catapult lowers the test loss "
    "of x1 x2 below that of a rate just below critical.",
    zhu2024("chapter 5", how="derived; tries what is future work in"), gain,
    at_least(0.0, "ours"), exploratory=True,
    on=(runs.compared, "catapult schedule", "below critical", "test", -1.0), note=listed,
    fails_on=case("planted rows in the opposite order", runs.made["opposite"],
                  "catapult schedule", "below critical", "test", -1.0),
    holds_on=case("planted: the schedule gains 0.6", runs.made["compared"], "catapult schedule",
                  "below critical", "test", -1.0),
)  # fmt: skip


def none_diverges(table: Table) -> Measured:
    """Share of seeds that stay finite with every number of raises."""
    return share(table.trained[1:].all(axis=0))


for _name, _labels in (
    ("rank-3", "labels of unit variance"), ("rank-3-raw", "labels as they are"),
    ("rank-4", "labels of unit variance"), ("rank-4-raw", "labels as they are"),
):  # fmt: skip
    study.claim(
        f"{_name}-converges",
        f"With {_labels}, no seed diverges at the printed rates of "
        f"{_name[:6].replace('-', ' ')}.",
        zhu2024(PANELS[_name][1]), none_diverges, in_all_seeds("ours"), on=runs.tables[_name],
        fails_on=case("planted: every lane lost", runs.made["lost"]),
        holds_on=case("planted gains", runs.made["better"]), note=listed,
    )  # fmt: skip
