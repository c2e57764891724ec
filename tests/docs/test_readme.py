"""Every command and every example of the README runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_python_examples_run_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "readme"}
    found = blocks("python")
    assert len(found) >= 2
    for block in found:
        exec(compile(block, "README.md", "exec", dont_inherit=True), names)
    assert names["run"]["output_at"].dims == ("seed", "step", "output")
    assert set(names["theory"]) == {"loss", "test_loss", "output_at", "input_jacobian"}
    assert names["outcome"].claims
    assert float(names["fit"]["loss"][:, -1].max()) < 0.1


@pytest.mark.slow
def test_the_commands_run(tmp_path):
    commands = [line[2:] for b in blocks("console") for line in b.splitlines() if line[:2] == "$ "]
    assert len(commands) >= 5
    bin_folder = Path(sys.executable).parent
    for command in commands:
        ours = re.sub(r"^dynascope\b", str(bin_folder / "dynascope"), command)
        done = subprocess.run(ours, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout.strip() or ours == command, f"{command} prints nothing"


def test_the_readme_is_short():
    assert len(README.splitlines()) < 200


def test_every_make_target_it_names_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    # In backticks, or at the beginning of a line of commands; prose makes other things.
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE))
    assert named and named <= targets


PAGES = [p.relative_to(ROOT).as_posix() for p in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_links_and_file_names_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / page).parent / link).exists(), link
    for name in re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", text):
        assert (ROOT / "src" / "dynascope" / name).exists() or (ROOT / name).exists(), name


def test_every_study_is_in_the_readme():
    from dynascope.studies import studies

    missing = [name for name in studies.names() if f"`{name}`" not in README]
    assert not missing


def test_architecture_stays_short():
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 150


def test_the_table_of_studies_is_up_to_date():
    from dynascope.studies.table import page

    assert (ROOT / "docs" / "studies.md").read_text(encoding="utf-8") == page()
