"""A user's own prompts: lines `prompt<TAB>answer<TAB>generic`."""

from __future__ import annotations

from pathlib import Path

from dynascope.core.errors import bad
from dynascope.language.prompts.base import Prompt


def read_prompts(file: str | Path) -> tuple[Prompt, ...]:
    """Prompts from a text file, one a line; empty lines and lines with `#` are passed over.

    Args:
        file: With two or three columns; without the third the generic answer is "the".

    Returns:
        The prompts.
    """
    path = Path(file)
    if not path.is_file():
        raise bad("prompts", str(file), "a file that is there")
    found = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise bad("prompts", str(file), "a text in UTF-8") from None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [part.strip() for part in line.split("\t")]
        if len(columns) not in (2, 3) or not all(columns):
            raise bad(f"line {number} of {file}", line, "prompt<TAB>answer<TAB>generic")
        found.append(Prompt(columns[0], columns[1], *columns[2:]))
    if not found:
        raise bad("prompts", str(file), "at least one line prompt<TAB>answer<TAB>generic")
    return tuple(found)
