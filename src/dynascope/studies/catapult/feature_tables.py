"""Test loss, alignment and catapults of trained networks, one row for each way of training.

zhu2024 section 4.4: the checkpoint is that of the best validation loss, catapults are counted
until there, and the alignment is the cosine between the network's gradient outer product and the
target's.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.probes.batch_steps import MARGIN
from dynascope.studies.measures import average, share
from dynascope.studies.nodes import Missing, Node
from dynascope.studies.study import Study


class Table(NamedTuple):
    """One row for each way of training, one column for each seed."""

    names: tuple[str, ...]
    test: np.ndarray  # (rows, seeds) test loss at the best validation loss
    alignment: np.ndarray
    catapults: np.ndarray  # steps above critical until there; NaN where they were not counted
    trained: np.ndarray  # whether the lane stayed finite
    loss: np.ndarray  # lowest training loss


# Panels on pictures: what is learned, why nothing is said of its alignment, and why not of its test
# error. The true AGOP of a picture task is that of a network of known accuracy (app. C.6).
NO_PICTURES = (
    "the panel needs 11,000 pictures of two classes (1,000 to train, 5,000 each to validate and "
    "to test), and has never been run: "
)
PICTURES = {
    "svhn": ("digits of SVHN", "the true AGOP is that of a WideResNet 16-2 of 97.2 % accuracy on "
             "all of SVHN, which does not come with this program",
             f"{NO_PICTURES}the SVHN that it was written with has 489 of the digits 0 and 2"),
    "celeba": ("glasses in CelebA", "the true AGOP is that of a Myrtle network of 95.7 % accuracy "
               "on CelebA, which does not come with this program",
               f"{NO_PICTURES}CelebA is given on request only"),
    "usps": ("digits of USPS", "the true AGOP is that of a convolutional network of 99.2 % "
             "accuracy on all of USPS, which does not come with this program",
             f"{NO_PICTURES}there was no USPS to write it with"),
    "fashion": ("Fashion-MNIST", "the true AGOP is that of a Myrtle network of 91.8 % accuracy on "
                "all of Fashion-MNIST, which does not come with this program",
                f"{NO_PICTURES}there was no Fashion-MNIST to write it with"),
}  # fmt: skip


def without(study: Study, name: str, *columns: str) -> dict[str, Node]:
    """In place of columns of a panel's table, "alignment" or "test": why there are none."""
    why = dict(zip(("alignment", "test"), PICTURES[name][1:], strict=True))

    def no(column: str) -> Node:
        options = {"name": f"{column}, {name}", "only_if": lambda s: why[column]}
        return study.finding(**options)(lambda s: None)

    return {column: no(column) for column in columns}


def counted(run: Run) -> np.ndarray:
    """(seeds, records) steps above critical so far: of every step, or of the recorded ones.

    All samples at once have their kernel measured at the records only.
    """
    if "supercritical_steps" in run:
        return run["supercritical_steps"].values
    if "tangent_kernel_norm" not in run:
        return np.full(run["loss"].shape, np.nan)
    # Records apart by more than a step would miss a spike; the kernel moves slowly below critical.
    critical = run.experiment.task.train / run["tangent_kernel_norm"].values
    above = run.experiment.dynamics.learning_rate - critical > MARGIN
    return np.cumsum(above, axis=-1).astype(float)


def table_of(runs: dict[str, Run]) -> Table:
    """The table of several runs on the same seeds, in their order."""
    rows = []
    for run in runs.values():
        values, seeds = run["validation_loss"].values, np.arange(run.sizes["seed"])
        # The record with the lowest validation loss; the first where there is no number.
        best = np.where(np.isfinite(values), values, np.inf).argmin(axis=-1)
        loss = run["loss"].values
        rows.append((
            run["test_set_loss"].values[seeds, best], run["agop_alignment"].values[seeds, best],
            counted(run)[seeds, best], ~run["diverged"].values,
            np.where(np.isfinite(loss), loss, np.inf).min(axis=-1),
        ))  # fmt: skip
    return Table(tuple(runs), *(np.array(part) for part in zip(*rows, strict=True)))


def ordered(table: Table, column: str, rising: bool) -> Measured | Missing:
    """Share of seeds in which a column rises (or falls) strictly from each row to the next.

    A lane that diverged has no place in an order: the seed breaks it.
    """
    if len(table.names) < 2:
        return Missing("one way of training has no order")
    steps = np.diff(getattr(table, column), axis=0)
    kept = (steps > 0) if rising else (steps < 0)
    return share(kept.all(axis=0) & table.trained.all(axis=0))


def of_row(table: Table, name: str, column: str) -> Measured | Missing:
    """Alignment, test loss or catapults of one way of training, mean over seeds."""
    if name not in table.names:
        return Missing(f"{name} is not among the ways of training at this scale")
    return average(getattr(table, column)[table.names.index(name)])


def gain(table: Table, better: str, than: str, column: str, sign: float) -> Measured | Missing:
    """What one way of training gains on another, mean over the seeds that diverged in neither."""
    if not {better, than} <= set(table.names):
        return Missing(f"rows {better} and {than} are not both here")
    new, old = (table.names.index(name) for name in (better, than))
    values = getattr(table, column)
    both = table.trained[new] & table.trained[old]
    if not both.any():
        return Missing(f"every seed diverged with {better} or with {than} raises")
    return average(sign * (values[new] - values[old])[both])


def correlation(table: Table) -> Measured:
    """Rank correlation of alignment and minus test loss over the rows, mean over seeds."""
    alignment, test = (_ranks(v) for v in (table.alignment, table.test))
    return average([
        -float(np.corrcoef(a, t)[0, 1]) if np.ptp(a) and np.ptp(t) else 0.0
        for a, t in zip(alignment.T, test.T, strict=True)
    ])


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks down the rows, seed by seed; ways that diverged come last."""
    return np.where(np.isfinite(values), values, np.inf).argsort(axis=0).argsort(axis=0)


def planted(
    names: tuple[str, ...], test: list, alignment: list, catapults: list, diverged: bool = False
) -> Table:
    """The table of planted runs with given values in eight seeds that differ a little.

    They pass through the same readers: the values stand at the fourth of five records, where the
    validation loss is lowest; at the others nothing tells the rows apart. All lanes are marked as
    diverged, or none.
    """
    rows = zip(test, alignment, catapults, strict=True)
    runs = {name: _planted(*row, diverged) for name, row in zip(names, rows, strict=True)}
    return table_of(runs)


def _planted(test: float, alignment: float, catapults: float, diverged: bool) -> Run:
    wobble = 1 + 1e-3 * np.linspace(-1, 1, 8)[:, None]
    best = np.arange(5) == 3

    def at_best(value: float, elsewhere: float) -> tuple:
        return ("seed", "step"), wobble * np.where(best, value, elsewhere)

    return Run(
        xr.Dataset({
            "loss": (("seed", "step"), np.full((8, 5), 1e-3)),
            "validation_loss": at_best(test, 2.0), "test_set_loss": at_best(test, 1.0),
            "agop_alignment": at_best(alignment, 0.5),
            "supercritical_steps": at_best(catapults, 0.0),
            "diverged": ("seed", np.full(8, diverged)),
        }),
        None,
    )  # fmt: skip
