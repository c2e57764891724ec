"""The fixed words that a user chooses from, one list for command line, page and Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SCALES = ("smoke", "laptop", "paper")  # of a study
FORMS = ("csv", "netcdf", "parquet")  # of exported records
RECORD_KINDS = ("study", "run", "computation")
# Orders of a listing of records that has the newest first.
ORDERS: dict[str, Callable[[Any], Any]] = {
    "age": lambda entry: 0,
    "size": lambda entry: -entry.size,
    "took": lambda entry: -entry.seconds,
    "label": lambda entry: entry.label,
}
