"""Which pages the site has, in which order, and where each comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page written in Markdown: its short title, its source, its place without suffix."""

    title: str
    source: str  # in the repository
    place: str  # in the site


def _docs(title: str, name: str) -> Page:
    return Page(title, f"docs/{name}.md", name)


START = _docs("Start", "index")
GROUPS: dict[str, tuple[Page, ...]] = {
    "Begin": (START, _docs("Tutorial", "tutorial"), _docs("Concepts", "concepts")),
    "Guides": (
        _docs("Run a study", "running"),
        _docs("The page in the browser", "page"),
        _docs("Sweep settings", "sweeping"),
        _docs("Sweep on a cluster", "ray"),
        _docs("Bring your own", "bring-your-own"),
        _docs("Python, further", "in-python"),
        _docs("Curvature", "curvature"),
        _docs("Orbits", "orbits"),
        _docs("Graphs", "graphs"),
        _docs("Networks", "networks"),
        _docs("Language models", "language-models"),
        _docs("Watch a training loop", "watching"),
    ),
    "Reference": (
        _docs("Commands", "commands"),
        _docs("The form of --json", "json"),
        _docs("How a claim is judged", "judging"),
        _docs("Contradicted statements", "contradicted"),
        _docs("Changed verdicts", "changed-verdicts"),
        _docs("Data sets", "data"),
        _docs("All studies", "studies"),
        _docs("Numbered items", "items"),
        _docs("Benchmarks", "benchmarks"),
    ),
    "Contribute": (
        Page("Architecture", "ARCHITECTURE.md", "architecture"),
        Page("Contributing", "CONTRIBUTING.md", "contributing"),
        _docs("Where the design changed", "design-changes"),
    ),
}
PAGES = tuple(page for group in GROUPS.values() for page in group)
# What the head of every page links to.
NAVIGATION = (
    ("Tutorial", "tutorial"),
    ("Concepts", "concepts"),
    ("Guides", "running"),
    ("Gallery", "gallery"),
    ("Documents", "documents"),
    ("API", "api"),
    ("Commands", "commands"),
)
# A link to the README means the start page.
PLACES = {page.source: page.place for page in PAGES} | {"README.md": START.place}
