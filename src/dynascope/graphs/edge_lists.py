"""Edge lists in text: one edge per line, two ids, perhaps a weight; errors name the line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynascope.core.errors import BadInput, bad
from dynascope.graphs.graph import Graph, from_edges, renumber

COMMENTS = ("#", "%")
LONGEST_LINE = 200  # no edge needs more, and Python refuses to read endless numbers
LARGEST_ID = 2**62  # far inside 64 bits


@dataclass(frozen=True, eq=False)
class Pairs:
    """What a list of edges holds: (edges, 2) ids, whether weights came, a header or ""."""

    ids: np.ndarray
    weighted: bool
    header: str


def read_edge_list(path: Path, nodes: int | None = None) -> Graph:
    """Read a text file with one edge per line, fields apart by spaces, tabs or commas.

    Args:
        path: The file; lines that begin with # or % are comments, a CSV may have a header.
        nodes: If given the nodes are exactly 0..nodes-1, otherwise the ids that occur.

    Returns:
        The graph; ids that are not 0..n-1 are kept as names.
    """
    pairs = read_pairs(path, highest=None if nodes is None else nodes - 1)
    notes = [f"header: {pairs.header}"] if pairs.header else []
    notes += ["weights: ignored"] if pairs.weighted else []
    if nodes is not None:
        return from_edges(pairs.ids, nodes, notes=notes)
    if not len(pairs.ids):
        raise bad("graph", path.name, "a file with at least one edge",
                  "give the number of nodes if the graph has no edges")  # fmt: skip
    names, numbers = renumber(pairs.ids)
    return from_edges(numbers, names=names, notes=notes)


def read_pairs(path: Path, lowest: int = 0, highest: int | None = None) -> Pairs:
    """The ids of every line, checked; the first bad line is named in the error."""
    ids: list[int] = []
    weighted, header = False, ""
    for number, line in content_lines(path):
        fields = [f.strip() for f in line.split(",")] if "," in line else line.split()
        if not ids and not header and path.suffix == ".csv" and _is_header(fields):
            header = line.strip()
            continue
        if len(line) > LONGEST_LINE:
            raise at_line(path, number, line, f"at most {LONGEST_LINE} characters")
        if len(fields) != 2 or not (fields[0].isdecimal() and fields[1].isdecimal()):
            _check_weighted(path, number, line, fields)
            weighted = True
        ids += (int(fields[0]), int(fields[1]))
        if not _inside(ids[-2], ids[-1], lowest, highest):
            upper = LARGEST_ID if highest is None else highest
            raise at_line(path, number, line, f"ids from {lowest} to {upper}")
    return Pairs(np.array(ids, dtype=np.int64).reshape(-1, 2), weighted, header)


def _inside(first: int, second: int, lowest: int, highest: int | None) -> bool:
    upper = LARGEST_ID if highest is None else highest
    return lowest <= first <= upper and lowest <= second <= upper


def _is_header(fields: list[str]) -> bool:
    return len(fields) in (2, 3) and not any(_is_number(f) for f in fields)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _check_weighted(path: Path, number: int, line: str, fields: list[str]) -> None:
    """Two ids and a weight, or the reason why the line cannot be an edge."""
    if len(fields) not in (2, 3):
        raise at_line(path, number, line, "two ids, or two ids and a weight")
    for field in fields[:2]:
        if field.startswith("-") and field[1:].isdecimal():
            raise at_line(path, number, line, f"ids of at least 0, not {field}")
        if not field.isdecimal():
            raise at_line(path, number, line, f"whole numbers as ids, not {field!r}")
    if not _is_number(fields[2]):
        raise at_line(path, number, line, f"a number as weight, not {fields[2]!r}")


def at_line(path: Path, number: int, line: str, expected: str) -> BadInput:
    """The one-line error for a line of a file."""
    return bad(f"{path.name}, line {number}", line.strip(), expected)


def first_line(error: Exception) -> str:
    """What went wrong underneath, in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def content_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines of a text file without blank lines and comments."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip() and not line.lstrip().startswith(COMMENTS):
                    yield number, line
    except UnicodeDecodeError:
        raise bad("file", path.name, "text in UTF-8") from None
    except OSError as error:
        raise bad("file", str(path), "a file that can be read", error.strerror or "") from None
