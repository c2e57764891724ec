"""The page's documentation names what there is; `tests/docs/test_guides.py` runs its commands."""

from pathlib import Path

from dynascope.explorers import explorers

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "page.md").read_text(encoding="utf-8")


def test_every_explorer_is_named():
    assert [name for name in explorers.names() if f"`{name}`" not in TEXT] == []
