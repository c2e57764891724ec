"""A training log from a CSV or JSON-lines file: steps, losses, and what else was recorded."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynascope.core.errors import bad, unknown

# Column by the names that programs give it, in lower case without spaces and underscores. Where a
# log has several of them, the first one counts.
NAMES = {
    "step": ("step", "iteration", "iter", "globalstep", "t"),
    "loss": ("loss", "trainloss", "trainingloss", "train/loss"),
    "learning_rate": ("learningrate", "lr", "rate", "eta"),
    "kernel_norm": ("kernelnorm", "tangentkernelnorm", "ntknorm"),
    "sharpness": ("sharpness", "hessiannorm", "lambdamax"),
    "critical_rate": ("criticalrate", "criticallearningrate", "batchcriticalrate", "etacrit"),
    "top_loss": ("toploss", "losstop"),
}
NEEDED = ("step", "loss")
POSITIVE = ("learning_rate", "kernel_norm", "critical_rate")


@dataclass(frozen=True, eq=False)
class Log:
    """Columns of equal length by name; what a row does not have is NaN."""

    source: str
    columns: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def get(self, name: str) -> np.ndarray | None:
        """A column, or None where nothing was recorded."""
        found = self.columns.get(name)
        return None if found is None or np.isnan(found).all() else found

    def __len__(self) -> int:
        return len(self.columns["loss"])


def read_log(path: str | Path) -> Log:
    """A log from a file.

    Args:
        path: `.csv` with a line of names first, or `.jsonl`/`.json` with one object a line.
            `step` and `loss` are needed; `learning_rate`, `critical_rate` (of the batch, or of
            all samples), `kernel_norm`, `sharpness` and `top_loss` are used where they are.
            Other columns are left alone.

    Returns:
        The log; steps ascend without repeats. Rows without a loss are left out only if their
        loss is empty; NaN counts as a loss that blew up.
    """
    place = Path(path)
    if not place.is_file():
        raise bad("log", str(path), "a file that exists")
    rows = _rows(place)
    names = dict.fromkeys(name for row in rows for name in row if _name(name))
    return make_log({name: [_cell(row.get(name)) for row in rows] for name in names}, str(path))


def make_log(columns: Mapping, source: str = "log") -> Log:
    """A log from columns, checked; see `read_log`. Columns of None are taken as not recorded.

    Of two columns that mean the same, `loss` and `train_loss`, the first name in `NAMES` counts.

    Example:
        >>> make_log({"iter": [0, 1], "train_loss": [2.0, 1.0]})["loss"].tolist()
        [2.0, 1.0]
    """
    for name in columns:
        if _name(name) is None:
            raise unknown("column", name, NAMES)
    columns = _chosen(columns)
    for name in NEEDED:
        if name not in columns:
            raise bad(f"columns of {source}", f"no {name}", " and ".join(NEEDED))
    length = len(columns["loss"])
    arrays = {}
    for name, values in columns.items():
        if len(values) != length:
            raise bad(name, f"{len(values)} rows", f"{length}, as the loss has")
        arrays[name] = np.array([_number(v, name, i, source) for i, v in enumerate(values)])
    empty = np.array([v is None for v in columns["loss"]])
    return _checked(Log(source, {name: a[~empty] for name, a in arrays.items()}))


def _chosen(columns: Mapping) -> dict[str, Any]:
    """What was recorded, by our names; of several columns that mean the same the first."""
    found: dict[str, Any] = {}
    for name, others in NAMES.items():
        given = [c for c in columns if _name(c) == name]
        for column in sorted(given, key=lambda c: others.index(_written(c))):
            values = columns[column]
            if values is not None and not all(v is None for v in values):
                found.setdefault(name, values)
    return found


def _checked(log: Log) -> Log:
    steps = log["step"]
    if len(log) < 2:
        raise bad(f"rows of {log.source}", len(log), "at least two with a loss")
    if not np.isfinite(steps).all():
        row = int(np.flatnonzero(~np.isfinite(steps))[0])
        raise bad(f"step in row {row + 1} of {log.source}", "missing", "a number in every row")
    turns = np.flatnonzero(np.diff(steps) <= 0)
    if len(turns):
        i = int(turns[0])
        raise bad(
            f"steps of {log.source}", f"{steps[i + 1]:g} after {steps[i]:g}",
            "steps that ascend", "sort the rows, and keep one run in a file",
        )  # fmt: skip
    for name in POSITIVE:
        values = log.columns.get(name)
        if values is not None and (values[np.isfinite(values)] < 0).any():
            raise bad(f"{name} of {log.source}", float(np.nanmin(values)), "numbers from 0")
    return log


def _number(value: object, name: str, row: int, source: str) -> float:
    if value is None or (isinstance(value, str) and not value.strip()):
        return float("nan")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise bad(f"{name} in row {row + 1} of {source}", value, "a number") from None


def _rows(place: Path) -> list[dict]:
    text = place.read_text(encoding="utf-8-sig")
    if place.suffix in (".jsonl", ".json", ".ndjson"):
        return [_object(line, i, place) for i, line in enumerate(text.splitlines()) if line]
    if place.suffix not in (".csv", ".tsv", ".txt"):
        raise unknown("log format", place.suffix[1:] or place.name, ("csv", "jsonl"))
    dialect = "excel-tab" if place.suffix == ".tsv" else "excel"
    rows = list(csv.DictReader(text.splitlines(), dialect=dialect))
    if not rows:
        raise bad(f"rows of {place}", 0, "a line of names, then one line a step")
    return rows


def _object(line: str, number: int, place: Path) -> dict:
    try:
        found = json.loads(line)
    except json.JSONDecodeError:
        raise bad(f"line {number + 1} of {place}", line[:40], "one JSON object a line") from None
    if not isinstance(found, dict):
        raise bad(f"line {number + 1} of {place}", line[:40], "one JSON object a line")
    return found


def _cell(value: object) -> object:
    """A cell of a file; an empty one is None."""
    return None if value == "" else value


def _written(given: object) -> str:
    """A column's name as `NAMES` has it."""
    return str(given).lower().replace("_", "").replace(" ", "").replace("-", "")


def _name(given: object) -> str | None:
    """Our name of a column, None where it is not known."""
    plain = _written(given)
    return next((name for name, others in NAMES.items() if plain in others), None)
