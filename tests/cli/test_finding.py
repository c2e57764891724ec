"""Finding things: `list NAME`, `runs --search`, `show`, `compare`, reports of sweeps, `--json`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dynascope.cli import options
from dynascope.store import Store

pytestmark = pytest.mark.usefixtures("tiny")
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "json.md").read_text(encoding="utf-8")


def documented(command):
    [row] = re.findall(rf"^\| `{re.escape(command)}`[^|]*\| (.*) \|$", PAGE, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", row))


@pytest.fixture
def commands(ids, tmp_path):
    edges = tmp_path / "edges.txt"
    edges.write_text("0 1\n1 2\n")
    return {
        "list": ["list"],
        "list models": ["list", "models"],
        "list swing-by": ["list", "swing-by"],
        "claims": ["claims", "--source", "chen2025"],
        "run": ["run", "tiny", "--scale", "smoke"],
        "sweep": ["sweep", "--over", "model.init_scale=0.1,0.2", "--steps", "40", "--seeds", "2",
                  "--set", "record.points=5"],
        "runs": ["runs"],
        "compare": ["compare", ids["fast"], ids["sweep"]],
        "report": ["report", ids["sweep"]],
        "export": ["export", ids["sweep"], "--out", tmp_path / "out"],
        "graph": ["graph", edges],
        "forget": ["forget", ids["sweep"], "--yes"],
    }  # fmt: skip


def test_json_has_the_names_that_are_documented(cli, commands):
    for command, words in commands.items():
        answer = cli(*words, "--json")
        assert answer.code == 0, answer.err
        assert set(json.loads(answer.out)) == documented(command), command


def test_show_of_a_study_has_verdicts_and_runs(cli, ids):
    found = json.loads(cli("show", ids["study"], "--json").out)
    assert documented("show") <= set(found)
    assert {c["verdict"] for c in found["claims"]} <= {"holds", "fails", "undecided"}
    text = cli("show", ids["study"]).out
    assert ids["fast"] in text and found["claims"][0]["id"].partition("/")[2] in text


def test_list_shows_one_study_or_one_piece(cli):
    study = cli("list", "swing-by").out
    assert re.search(r"^correlation +0.9 +0.9 +0.9$", study, re.MULTILINE)
    assert "down-up-down" in study and "Swing-by Dynamics in Concept Learning" in study
    piece = cli("list", "TiedLinear").out
    assert "init_scale" in piece and "MLP" not in piece
    wrong = cli("list", "tiedlinear")
    assert wrong.code == 2 and "did you mean 'TiedLinear'?" in wrong.err


def test_runs_are_searched_sorted_and_limited(cli, ids):
    def listed(*words):
        return [e["id"] for e in json.loads(cli("runs", "--json", *words).out)["records"]]

    assert listed("--search", "INIT_scale") == [ids["sweep"]]
    assert ids["fast"] in listed("--study", "tiny") and ids["study"] in listed("--study", "tiny")
    sizes = {e.id: e.size for e in Store().runs()}
    by_size = [sizes[i] for i in listed("--sort", "size")]
    assert by_size == sorted(by_size, reverse=True)
    assert len(listed("--limit", "2")) == 2
    assert "2 of 4 records" in cli("runs", "--limit", "2").err
    assert cli("runs", "--limit", "0").code == cli("runs", "--sort", "colour").code == 2


def test_compare_shows_what_differs(cli, ids):
    answer = cli("compare", ids["fast"], ids["sweep"])
    assert answer.code == 0 and re.search(r"^steps +\d+ +40$", answer.out, re.MULTILINE)
    assert "loss at model.init_scale 0.1" in answer.out
    same = cli("compare", ids["fast"], ids["fast"])
    assert "The settings are the same." in same.out
    assert cli("compare", ids["fast"], ids["study"]).code == 2


def test_a_sweep_ends_in_a_plot_and_a_report(cli, full, filled, tmp_path):
    out = filled[2].out
    assert "report: " in out and "Test loss over model.init_scale" in out
    axes = ["--over", "model.init_scale=0.1,0.2", "--over", "dynamics.learning_rate=0.01,9"]
    rest = ["--steps", "40", "--seeds", "2", "--set", "record.points=5", "--out", tmp_path / "s"]
    answer = cli("sweep", *axes, *rest)
    assert answer.code == 0, answer.err
    assert {"loss.png", "loss.svg", "test-loss.pdf", "report.html"} <= {
        p.name for p in (tmp_path / "s").iterdir()
    }
    page = (tmp_path / "s" / "report.html").read_text(encoding="utf-8")
    assert "4 of 8 seeds diverged, hatched, and grey where all did" in page


def test_completion_knows_pieces_and_settings():
    from dynascope.runner import catalogue

    for package in ("tasks", "models", "dynamics", "probes"):
        assert set(catalogue(package)) <= set(options.piece_names(package))
    assert {"model.width=", "task.means=", "dynamics.learning_rate="} <= set(
        options.setting_paths()
    )
