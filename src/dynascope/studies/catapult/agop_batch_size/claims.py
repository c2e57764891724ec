"""The order of batch sizes, Table 4.1 in numbers, and what small rates leave of it."""

from typing import Any

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import zhu2024
from dynascope.studies.catapult.agop_batch_size import runs
from dynascope.studies.catapult.agop_batch_size.runs import PANELS, study
from dynascope.studies.catapult.feature_tables import (
    PICTURES,
    Table,
    correlation,
    gain,
    of_row,
    ordered,
)
from dynascope.studies.comparisons import at_least, at_most, between, in_all_seeds
from dynascope.studies.measures import average, share
from dynascope.studies.nodes import Missing, case

# Fixed before the run, from seeds of an independent program; the printed values lie within.
BANDS = {
    "2000": ((0.74, 0.84), (0.68, 0.86)),
    "50": ((0.75, 0.87), (0.66, 0.86)),
    "10": ((0.82, 0.92), (0.54, 0.72)),
    "5": ((0.915, 0.975), (0.34, 0.48)),
}


def listed(table: Table, *_: Any) -> str:
    """The table in words: alignment, test loss and catapults of every batch size."""
    rows = [
        f"{name}: {a.mean():.3f}, {t.mean():.3f}, {c.mean():.0f}"
        for name, a, t, c in zip(table.names, table.alignment, table.test, table.catapults)
    ]
    lost = int((~table.trained).sum())
    more = f" {lost} lanes diverged." if lost else ""
    late = int((table.trained & (table.loss >= 1e-3)).sum())
    more += f" {late} of {table.loss.size} ended above a training loss of 0.001." if late else ""
    return "Alignment, test loss, catapults by batch size: " + "; ".join(rows) + "." + more


SMALLER_FIRST = case("a planted table in the opposite order", runs.reversed_table)
TRAINED = ("rank-2", "rank-3", "rank-4", "pytorch", "pytorch-rank-3")
for _name in TRAINED:
    _what, _place = PANELS[_name]
    for _column, _words, _rising in (
        ("alignment", "the alignment with the target's gradient outer product rises", True),
        ("test", "the test loss falls", False),
    ):
        study.claim(
            f"{_name}-{_column}",
            f"Learning {_what}, {_words} strictly from each batch size to the next smaller one, "
            "in every seed.",
            zhu2024(_place, how="a stricter reading of"), ordered, in_all_seeds("ours"),
            exploratory=True, on=(runs.tables[_name], _column, _rising), note=listed,
            fails_on=case("a planted table in the opposite order", runs.reversed_table,
                          _column, _rising),
            holds_on=case("Table 4.1 as printed", runs.printed, _column, _rising),
        )  # fmt: skip


def gap(table: Table, column: str, sign: float) -> Measured:
    """How much better the smallest batch is than the largest, mean of the seeds' differences."""
    values = getattr(table, column)
    return average(np.where(np.isfinite(values[-1]), sign * (values[-1] - values[0]), -np.inf))


BOTH = ("test", "alignment")
_ENDS = {name: (*PANELS[name], "lower in test loss", dict.fromkeys(BOTH, runs.tables[name]))
         for name in TRAINED}  # fmt: skip
_PLACES = {"svhn": "Figs. 4.9 c, 4.10, C.18 c, C.19 c, C.20 c",
           "celeba": "Figs. 4.9 d, 4.10, C.18 d, C.19 d, C.20 d",
           "usps": "Fig. C.21 b", "fashion": "Fig. C.21 c"}  # fmt: skip
_ENDS |= {name: (PICTURES[name][0], place, "with a lower test error", runs.on_pictures[name])
          for name, place in _PLACES.items()}  # fmt: skip
for _name, (_what, _place, _lower, _table) in _ENDS.items():
    for _column, _words, _sign in (
        ("alignment", "aligned better", 1.0), ("test", _lower, -1.0),
    ):  # fmt: skip
        study.claim(
            f"{_name}-{_column}-ends",
            f"Learning {_what}, the smallest batches end {_words} than the largest, on average.",
            zhu2024(_place), gap, at_least(0.0, "printed"),
            on=(_table[_column], _column, _sign),
            fails_on=case("a planted table in the opposite order", runs.reversed_table,
                          _column, _sign),
            holds_on=case("Table 4.1 as printed", runs.printed, _column, _sign), note=listed,
        )  # fmt: skip


for _large, _small in zip(("2000", "50", "10"), ("50", "10", "5"), strict=True):
    for _column, _words, _sign in (("alignment", "aligned better", 1.0), ("test", "lower in test "
                                   "loss", -1.0)):  # fmt: skip
        study.claim(
            f"table-{_small}-against-{_large}-{_column}",
            f"In batches of {_small} networks end {_words} than in batches of {_large}, on average "
            "over seeds.",
            zhu2024("Table 4.1"), gain, at_least(0.0, "printed"),
            on=(runs.full_size, _small, _large, _column, _sign), note=listed,
            fails_on=case("a planted table in the opposite order", runs.reversed_table, _small,
                          _large, _column, _sign),
            holds_on=case("Table 4.1 as printed", runs.printed, _small, _large, _column, _sign),
        )  # fmt: skip


for _batch, (_alignment, _test) in BANDS.items():
    for _column, _band, _words in (
        ("alignment", _alignment, "AGOP alignment"), ("test", _test, "test loss")
    ):  # fmt: skip
        _other = "5" if _batch in ("2000", "50") else "2000"
        study.claim(
            f"table-{_batch}-{_column}",
            f"In batches of {_batch} the {_words} is between {_band[0]:g} and {_band[1]:g}.",
            zhu2024("Table 4.1", how="derived; gives bands to"), of_row, between(*_band, "ours"),
            on=(runs.full_size, _batch, _column), note=listed,
            fails_on=case(f"the printed value of batches of {_other}", runs.printed, _other,
                          _column),
            holds_on=case("the printed value", runs.printed, _batch, _column),
        )  # fmt: skip


def none_in_large(table: Table, least: int) -> Measured | Missing:
    """Share of seeds without a step above critical in all batches of at least so many samples."""
    large = [int(name) >= least for name in table.names]
    if not any(large):
        return Missing(f"no batch of {least} or more is among those here")
    return share((table.catapults[large] == 0).all(axis=0))


def times_more(table: Table, larger: str, smaller: str) -> Measured | Missing:
    """How many times as many catapults smaller batches have, mean over seeds."""
    if not {larger, smaller} <= set(table.names):
        return Missing(f"batches of {larger} and {smaller} are not both here")
    few, many = (table.catapults[table.names.index(name)] for name in (larger, smaller))
    return average(many / np.maximum(few, 1))


def catapult_gap(table: Table) -> Measured:
    """Catapults of the smallest batches less those of the largest, mean over seeds."""
    return average(table.catapults[-1] - table.catapults[0])


for _name, _place in (
    ("rank-2", "Fig. 4.9 a"),
    ("rank-3", "Fig. 4.9 b"),
    ("rank-4", "Fig. C.21 a"),
):
    study.claim(
        "more-catapults" if _name == "rank-2" else f"{_name}-more-catapults",
        f"Learning {PANELS[_name][0]} at half the critical rate, the smallest batches have more "
        "catapults than the largest until the best validation loss.",
        zhu2024(f"section 4.4, on {_place}"), catapult_gap, at_least(1.0, "derived"),
        on=runs.tables[_name],
        fails_on=case("a planted table in the opposite order", runs.reversed_table),
        holds_on=case("planted counts of 0 and 4,100", runs.printed), note=listed,
    )  # fmt: skip


def none_diverges(table: Table) -> Measured:
    """Share of seeds that stay finite in batches of every size."""
    return share(table.trained.all(axis=0))


for _name, _place in (("rank-3", "Fig. 4.9 b"), ("rank-4", "Fig. C.21 a")):
    study.claim(
        f"{_name}-converges",
        f"Learning {PANELS[_name][0]} at half the critical rate, no seed diverges in batches of "
        "any size.",
        zhu2024(_place, how="a stricter reading of"), none_diverges, in_all_seeds("ours"),
        on=runs.tables[_name], fails_on=case("planted: every lane lost", runs.lost_table),
        holds_on=case("Table 4.1 as printed", runs.printed), note=listed, exploratory=True,
    )  # fmt: skip
study.claim(
    "large-batches-have-none",
    "In batches of 50 and more no step until the best validation loss is above the critical rate "
    "of its batch, in any seed.",
    zhu2024("Fig. 4.9 a", how="a stricter reading of"), none_in_large, in_all_seeds("ours"),
    exploratory=True,
    on=(runs.tables["rank-2"], 50), note=listed,
    fails_on=case("batches of 5 and more, planted counts", runs.printed, 5),
    holds_on=case("batches of 50 and more, planted counts", runs.printed, 50),
)  # fmt: skip
study.claim(
    "five-against-ten",
    "Batches of 5 have more than ten times as many catapults as batches of 10.",
    zhu2024("Fig. 4.9 a", how="puts a number to"), times_more, at_least(10.0, "ours"),
    exploratory=True,
    on=(runs.full_size, "10", "5"),
    fails_on=case("a planted table in the opposite order", runs.reversed_table, "10", "5"),
    holds_on=case("planted counts of 250 and 4,100", runs.printed, "10", "5"),
)  # fmt: skip


def spread(table: Table) -> Measured:
    """Largest less smallest test loss over batch sizes, over the mean; mean over seeds."""
    return average(np.ptp(table.test, axis=0) / table.test.mean(axis=0))


for _name, _suffix in (("small-rate", ""), ("small-rate-rank-3", "-rank-3")):
    _what, _place = PANELS[_name]
    study.claim(
        f"small-rate-same{_suffix}",
        f"Learning {_what} test losses of all batch sizes are within a tenth of each other.",
        zhu2024(_place, how="at a smaller size than"), spread, at_most(0.1, "ours"),
        on=runs.tables[_name], exploratory=True,
        fails_on=case("Table 4.1 as printed", runs.printed), note=listed,
        holds_on=case("planted test losses of 0.75 and 0.752", runs.flat_table),
    )  # fmt: skip
    study.claim(
        f"small-rate-none{_suffix}",
        f"Learning {_what} no step of any batch size is above critical.",
        zhu2024(_place, how="at a smaller size than"), none_in_large,
        in_all_seeds("ours"), exploratory=True, on=(runs.tables[_name], 1),
        fails_on=case("planted counts up to 4,100", runs.printed, 1),
        holds_on=case("planted counts of 0", runs.flat_table, 1), note=listed,
    )  # fmt: skip


study.claim(
    "alignment-follows-test",
    "Over batch sizes the alignment ranks as the test loss does, the other way round: their "
    "rank correlation is at least 0.9.",
    zhu2024("Figs. 4.9, C.21", how="derived; puts a number to"), correlation,
    at_least(0.9, "ours"), on=runs.tables["rank-2"], note=listed,
    fails_on=case("planted: alignment falls with the test loss", runs.misaligned),
    holds_on=case("Table 4.1 as printed", runs.printed),
)  # fmt: skip
