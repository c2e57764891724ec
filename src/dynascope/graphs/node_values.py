"""One value (or one row of numbers) per node from a file: targets and features."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dynascope.core.errors import bad
from dynascope.core.npy import read_npy
from dynascope.graphs.edge_lists import at_line, content_lines, first_line


def read_values(path: str | Path, count: int) -> np.ndarray:
    """Read a value for each of `count` nodes, in the order of the graph's nodes.

    Args:
        path: A .txt or .csv with one line per node, or a .npy array.
        count: How many lines are needed; one line more in a .csv is a header.

    Returns:
        (count,) whole numbers, floats or text, or (count, columns) numbers.
    """
    path = Path(path)
    if not path.exists():
        raise bad("path", str(path), "a file that exists")
    if path.suffix not in (".txt", ".csv", ".npy"):
        raise bad("path", path.name, "a .txt, .csv or .npy file with one value per node")
    values = _from_npy(path) if path.suffix == ".npy" else _from_text(path, count)
    if values.ndim not in (1, 2) or len(values) != count:
        came = f"{len(values)} values" if values.ndim in (1, 2) else f"shape {values.shape}"
        raise bad(path.name, came, f"{count}, one for each node")
    return values


def _from_npy(path: Path) -> np.ndarray:
    try:
        with path.open("rb") as file:
            return read_npy(file)
    except (ValueError, OSError) as error:
        wanted = "an array of numbers or text"
        raise bad("file", path.name, wanted, first_line(error)) from None


def _from_text(path: Path, count: int) -> np.ndarray:
    lines = list(content_lines(path))
    if path.suffix == ".csv" and len(lines) == count + 1:
        lines = lines[1:]
    rows = [[field.strip() for field in line.split(",")] for _, line in lines]
    for (number, line), row in zip(lines, rows, strict=True):
        if len(row) != len(rows[0]) or "" in row:
            raise at_line(path, number, line, f"{len(rows[0])} values apart by commas")
    table = np.array(rows, dtype=str) if rows else np.empty((0, 1), dtype=str)
    numbers = _as_numbers(table)
    if numbers is None and table.shape[1] != 1:
        raise bad(path.name, "text in several columns", "numbers, or one label per line")
    result = table if numbers is None else numbers
    return result[:, 0] if result.shape[1] == 1 else result


def _as_numbers(table: np.ndarray) -> np.ndarray | None:
    """Whole numbers if all are, floats if all are numbers, None otherwise."""
    for kind in (np.int64, np.float64):
        try:
            return table.astype(kind)
        except (ValueError, OverflowError):
            continue
    return None
