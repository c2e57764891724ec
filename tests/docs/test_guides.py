"""Every command and every block of every guide runs, in the order of the page."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from dynascope import data
from dynascope.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = sorted(
    path.name
    for path in DOCS.glob("*.md")
    if path.name != "commands.md"  # typer's own tests and tests/cli run what it shows
    and re.search(r"^```(python|console)$", path.read_text(encoding="utf-8"), re.MULTILINE)
)
# What a page leaves behind, so that a block which does nothing is seen.
KNOWN = {
    "bring-your-own.md": lambda n: (
        n["run"]["outputs"].dims == ("seed", "step", "outputs_0")
        and n["outcome"].to_frame().loc["sine/wide-fits", "verdict"] == "holds"
    ),
    "in-python.md": lambda n: (
        Path("steered.nc").exists()
        and Path("headline.png").exists()
        and n["measured"]["these steps"]["step"].values.tolist() == [0, 10, 100, 500]
        and n["instruments"].find_spikes(n["losses"])[0].peak == 20
        and (n["spike"].verdict, n["spike"].evidence["rate over critical"]) == ("catapult", 1.25)
        and n["result"].claims == n["outcome"].claims
    ),
    "tutorial.md": lambda n: (
        n["gap"] < 0.3 and n["rises"].shape == (16,) and "sharpness" in n["fit"]
    ),
    "concepts.md": lambda n: n["many"].sizes["seed"] == 5,
    "running.md": lambda n: Path("exported").is_dir() and Path("report.html").exists(),
    "page.md": lambda n: (
        Path("gallery/explorers/orbits.html").exists() and "x y is" in n["found"].numbers[0]
    ),
    "sweeping.md": lambda n: Path("swept").is_dir() and n["grid"].sizes["seed"] == 4,
    "curvature.md": lambda n: n["top"].converged and n["kernel"].shape == (32, 32),
    "orbits.md": lambda n: Path("bifurcation.png").exists() and n["edge"].stability_limit == 1.0,
    "graphs.md": lambda n: len(n["tree"]) == 8,
    "networks.md": lambda n: n["wide"].wiring.width == 16,
    "language-models.md": lambda n: n["before"] is not n["after"],
}


def command(line: str) -> None:
    """A line as the shell has it; dynascope in this process, which has compiled already."""
    words = shlex.split(line)
    if words[0] != "dynascope":
        subprocess.run(line, shell=True, check=True)
        return
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words[1:])
    assert code == 0, f"{line}\n{err.getvalue()}"
    assert out.getvalue().strip(), f"{line} prints nothing"


def test_every_guide_says_what_it_leaves_behind():
    assert set(GUIDES) == set(KNOWN)


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES)
def test_a_guide_runs(tmp_path, monkeypatch, page):
    if page == "language-models.md" and not data.there("stories260K"):
        pytest.skip("the weights of stories260K are not in the data folder")
    monkeypatch.chdir(tmp_path)
    text, names = (DOCS / page).read_text(encoding="utf-8"), {"__name__": "guide"}
    found = re.findall(r"^```(python|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for language, block in found:
        if language == "python":
            exec(compile(block, page, "exec", dont_inherit=True), names)
            continue
        for line in block.splitlines():
            assert line.startswith("$ "), f"{page}: {line} is no command"
            command(line[2:])
    assert KNOWN[page](names), f"{page} leaves something else behind"


def test_numbers_that_the_guides_tell():
    """Cheap ones; those of studies are in the studies' own tests."""
    import networkx as nx
    import numpy as np

    import dynascope as ds
    from dynascope import probes

    tree = nx.Graph([(0, 1), (0, 5), (1, 2), (1, 4), (2, 3), (5, 6), (6, 7)])
    counted = [ds.graphs.count_classes(tree, 2, family) for family in ("wl", "adjacency")]
    assert counted == [7, 6]
    x, orbit = 0.9, []
    for _ in range(400):
        x = x - 1.05 * (x**3 - x)
        orbit.append(x)
    assert probes.period(np.array(orbit)) == 2
    assert sorted(np.round(orbit[-2:], 9)) == [0.872871561, 1.091089451]
