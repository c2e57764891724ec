"""A package with a study of its own: written, listed, run, stored, reported and tested."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dynascope.cli.new_study import template

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder of a new package, and an environment in which it counts as installed."""
    folder = tmp_path_factory.mktemp("own") / "my-study"
    words = ["-m", "dynascope", "new-study", "my-study", str(folder)]
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    site = folder / "site" / "my_study-0.1.0.dist-info"
    site.mkdir(parents=True)
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: my-study\nVersion: 0.1.0\n")
    points = (folder / "pyproject.toml").read_text()
    assert '[project.entry-points."dynascope.studies"]\nmy-study = "my_study"\n' in points
    (site / "entry_points.txt").write_text("[dynascope.studies]\nmy-study = my_study\n")
    paths = (folder / "src", folder / "site", ROOT / "src")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "DYNASCOPE_HOME": str(folder / "home"),
    }
    return folder, environment


def call(package, *words: str) -> subprocess.CompletedProcess:
    call = [sys.executable, "-m", *words]
    return subprocess.run(call, capture_output=True, text=True, env=package[1], cwd=package[0])


@pytest.mark.slow
def test_it_is_listed_run_stored_and_reported_like_ours(package):
    found = json.loads(call(package, "dynascope", "list", "--json").stdout)
    mine = next(s for s in found["studies"] if s["name"] == "my-study")
    assert mine["phenomenon"] == "my-study" and "my2026" in found["documents"]
    done = call(package, "dynascope", "run", "my-study", "--scale", "smoke", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert [(c["id"], c["verdict"]) for c in result["claims"]] == [
        ("my-study/past-the-edge", "holds")
    ]
    assert result["claims"][0]["control"]["verdict"] == "fails"
    assert (package[0] / "home" / "reports" / f"{result['record']}.html").exists()
    again = call(package, "dynascope", "run", "my-study", "--scale", "smoke")
    assert "answered from the store" in again.stdout
    rows = json.loads(call(package, "dynascope", "claims", "--source", "my2026", "--json").stdout)
    assert [r["verdict"] for r in rows["claims"]] == ["holds"]


@pytest.mark.slow
def test_its_own_test_passes(package):
    done = call(package, "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_package_that_cannot_be_imported_is_told_and_ours_still_work(package):
    broken = {**package[1], "PYTHONPATH": os.pathsep.join(
        (str(package[0] / "site"), str(ROOT / "src"))
    )}  # fmt: skip
    call = [sys.executable, "-m", "dynascope", "list"]
    done = subprocess.run(call, capture_output=True, text=True, env=broken)
    assert done.returncode == 0 and "swing-by" in done.stdout
    assert "studies of my_study could not be loaded: ModuleNotFoundError" in done.stderr


def test_the_template_is_that_of_contributing_and_short():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    study = template("study.py", "my-study")
    assert study in blocks and len(study.splitlines()) < 60


@pytest.mark.parametrize(
    ("name", "said"),
    [("My Study", "small letters"), ("swing-by", "built-in"), ("class", "small letters")],
)
def test_bad_names_are_one_line(cli, tmp_path, name, said):
    answer = cli("new-study", name, tmp_path / "new")
    assert answer.code == 2 and said in answer.err and not (tmp_path / "new").exists()


def test_a_folder_that_is_not_empty_is_left_alone(cli, tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    answer = cli("new-study", "my-study", tmp_path)
    assert answer.code == 2 and "not empty" in answer.err
    assert os.listdir(tmp_path) == ["mine.txt"]
