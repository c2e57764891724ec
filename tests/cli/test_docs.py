"""docs/commands.md is what the generator writes."""

from __future__ import annotations

from pathlib import Path

from dynascope.cli.docs import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"


def test_the_page_is_up_to_date():
    found = PAGE.read_text(encoding="utf-8")
    assert found == page(), "run: python -m dynascope.cli.docs > docs/commands.md"


def test_examples_on_the_page_are_code_and_options_are_rows():
    text = page()
    assert "```console\ndynascope run swing-by --scale smoke\n" in text
    assert "| `--scale smoke\\|laptop\\|paper` |" in text and "Default: laptop." in text
