"""What is printed where: results on stdout, talk on stderr, JSON as one object."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from dynascope.core.printable import printable

PIPED_WIDTH = 120  # columns of text where stdout is no terminal and COLUMNS is not set
PLOT_WIDTH, PLOT_HEIGHT = 100, 14  # at most
MANY_ROWS = 500  # from here on a table is written without rich
FILE_WIDTH = 10_000  # columns of tables there: no line is broken


class Stopped(Exception):
    """The end of a command that is no error of its input: Ctrl-C, a closed pipe, --strict."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def say(line: str) -> None:
    """A line for the person, on stderr."""
    print(printable(line), file=sys.stderr, flush=True)


def tell(line: str) -> None:
    """A line of progress, on stderr, faint where colours are welcome."""
    from rich.console import Console

    Console(stderr=True, highlight=False, markup=False).print(printable(line), style="dim")


def emit(thing: dict[str, Any]) -> None:
    """The one JSON object of a command with `--json`; numbers that are not finite are null."""
    print(json.dumps(_finite(thing), allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return value


def width() -> int:
    """Columns to write in: of the terminal, of COLUMNS, or a fixed number for files."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return _console().width
    return PIPED_WIDTH


def height() -> int:
    """Lines of the terminal."""
    return _console().height


def encoding() -> str:
    """The letters that stdout can take."""
    return sys.stdout.encoding or "utf-8"


def show(thing: Any) -> None:
    """Print a rich renderable to stdout, as wide as `width` says."""
    _console(width=width()).print(thing)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; in a file its lines are as long as they need to be.

    The first column is never broken, so that an id or a name can be copied.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from dynascope.report.spelling import spelled

    rows = list(rows)
    if len(rows) > MANY_ROWS:
        _long_table(columns, rows)
        return
    grid = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        grid.add_column(column, no_wrap=number == 0, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(spelled(cell, encoding())) for cell in row))
    if sys.stdout.isatty():
        _console().print(grid)
        return
    console = _console(width=FILE_WIDTH)
    with console.capture() as captured:
        console.print(grid)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _long_table(columns: Sequence[str], rows: list[Sequence[str]]) -> None:
    """The same in columns that are as wide as their cells: rich takes a minute for many rows."""
    from dynascope.report.spelling import spelled

    letters = encoding()
    lines = [tuple(columns), *(tuple(spelled(str(c), letters) for c in row) for row in rows)]
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, tuple("-" * n for n in wide))
    for line in lines:
        cells = (cell.ljust(n) for cell, n in zip(line, wide, strict=True))
        print("  ".join(cells).replace("\n", " ").rstrip())


def _console(**options: Any) -> Any:
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, **options)


def plot_size() -> tuple[int, int]:
    """Columns and lines that a plot may have in this terminal."""
    return min(width(), PLOT_WIDTH), min(max(height() - 10, 8), PLOT_HEIGHT)
