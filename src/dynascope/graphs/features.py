"""What nodes carry at the start: colours for refinement, columns of numbers for operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynascope.core.errors import bad
from dynascope.graphs.operators import BYTES_ALLOWED


@dataclass(frozen=True, eq=False)
class Features:
    """The same start for every family.

    Attributes:
        colours: (nodes,) 0..c-1, equal exactly where the features are.
        table: (nodes, columns) numbers as they were given, or None if colours were.
    """

    colours: np.ndarray
    table: np.ndarray | None = None

    def columns(self) -> Iterator[np.ndarray]:
        """Vectors (nodes,) that operators propagate; whole numbers stay whole numbers.

        These are the columns of the table, or one 0/1 column for each colour.
        """
        if self.table is not None:
            yield from (_column(self.table[:, j]) for j in range(self.table.shape[1]))
            return
        count = int(self.colours.max()) + 1
        size = 8 * count * len(self.colours)
        if size > BYTES_ALLOWED:
            raise bad("features", f"{count:,} colours", f"at most {BYTES_ALLOWED / 1e9:g} GB",
                      f"one column for each needs {size / 1e9:.1f} GB: use family wl, or a table "
                      "of numbers")  # fmt: skip
        yield from ((self.colours == c).astype(np.int64) for c in range(count))


def read_features(features: Any, nodes: int) -> Features:
    """Initial colours and columns from one value or one row of numbers per node.

    One value per node is a colour (a category): operators see it one-hot, so that a sum over
    neighbours counts colours. A table of numbers is propagated column by column as it is.

    Args:
        features: None (all alike), (nodes,) values, or (nodes, columns) numbers.
        nodes: How many nodes there are.

    Returns:
        Colours and columns.

    Example:
        >>> read_features(["b", "a", "b"], 3).colours.tolist()
        [1, 0, 1]
        >>> [c.tolist() for c in read_features(["b", "a", "b"], 3).columns()]
        [[0, 1, 0], [1, 0, 1]]
    """
    if features is None:
        return Features(np.zeros(nodes, np.int64))
    table = np.asarray(features)
    if table.ndim not in (1, 2) or table.shape[0] != nodes or table.size == 0:
        raise bad("features", table.shape, f"one value or one row for each of {nodes} nodes")
    if np.issubdtype(table.dtype, np.inexact) and not np.isfinite(table).all():
        raise bad("features", "a value that is not finite", "finite numbers")
    if table.ndim == 1:
        return Features(np.unique(table, return_inverse=True)[1])
    colours = np.unique(table, axis=0, return_inverse=True)[1]
    return Features(colours.reshape(-1), table)


def _column(column: np.ndarray) -> np.ndarray:
    if column.dtype == bool or np.issubdtype(column.dtype, np.integer):
        return column.astype(np.int64)
    if np.issubdtype(column.dtype, np.floating):
        return column.astype(np.float64)
    raise bad("features", str(column.dtype), "numbers in a table with several columns",
              "give colours as one value per node")  # fmt: skip
