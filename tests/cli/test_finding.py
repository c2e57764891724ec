"""Finding things: `list NAME`, `runs --search`, `show`, `compare`, reports of sweeps, `--json`."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynascope.cli import options
from dynascope.cli.root import _COMMANDS
from dynascope.page.answers import records
from dynascope.store import Store

pytestmark = pytest.mark.usefixtures("tiny")
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "json.md").read_text(encoding="utf-8")


def documented(command):
    """The names in the row of a command; "the same" are those of the row above."""
    found = re.findall(rf"(.*)\n\| `{re.escape(command)}`[^|]*\| (.*) \|$", PAGE, re.MULTILINE)
    [(above, row)] = found
    names = set(re.findall(r"`(\w+)`", row))
    return names | set(re.findall(r"`(\w+)`", above.split("|")[2])) if "the same" in row else names


def inside(part):
    """The names of a part of an answer."""
    [row] = re.findall(rf"^\| {re.escape(part)} \| (.*) \|$", PAGE, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", row))


def answered(cli, *words):
    answer = cli(*words, "--json")
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


@pytest.fixture
def commands(ids, tmp_path, tiny, monkeypatch):
    monkeypatch.setattr("dynascope.runner.of_document", lambda source: [tiny])
    edges = tmp_path / "edges.txt"
    edges.write_text("0 1\n1 2\n")
    sweep = ["sweep", "--over", "model.init_scale=0.1,0.2", "--steps", "40", "--seeds", "2",
             "--set", "record.points=5"]  # fmt: skip
    quartic = ["orbit", "(x**2-1)**2/4", "--near", "1"]
    return {
        "list": ["list"],
        "list models": ["list", "models"],
        "list quantities": ["list", "quantities"],
        "list swing-by": ["list", "swing-by"],
        "claims": ["claims", "--source", "chen2025"],
        "claims --items": ["claims", "--items", "--source", "yang2025"],
        "run": ["run", "tiny", "--scale", "smoke"],
        "run --dry-run": ["run", "tiny", "--scale", "smoke", "--dry-run"],
        "run --source": ["run", "--source", "chen2025", "--scale", "smoke"],
        "run --source --dry-run": ["run", "--source", "chen2025", "--scale", "smoke", "--dry-run"],
        "sweep": sweep,
        "sweep --dry-run": [*sweep, "--dry-run"],
        "runs": ["runs"],
        "show": ["show", ids["fast"]],
        "show swing-by": ["show", ids["study"]],
        "compare": ["compare", ids["fast"], ids["sweep"]],
        "report": ["report", ids["sweep"]],
        "export": ["export", ids["sweep"], "--out", tmp_path / "out"],
        "graph": ["graph", edges],
        "orbit": [*quartic, "--learning-rate", "1.05"],
        "orbit --from --to": [*quartic, "--from", "0.9", "--to", "1.1"],
        "rank": ["rank", *checkpoints(tmp_path)],
        "spikes": ["spikes", log(tmp_path)],
        "watch": ["watch", watched()],
        "watch examples": ["watch", "examples"],
        "new-study": ["new-study", "my-study", tmp_path / "my-study"],
        "doctor": ["doctor"],
        "forget": ["forget", ids["sweep"], "--yes"],
    }  # fmt: skip


def checkpoints(folder):
    """Two of a GPT-2 of one layer and one head, of four dimensions."""
    random = np.random.default_rng(0)
    (folder / "config.json").write_text('{"n_head": 1}')
    for name in ("before.npz", "after.npz"):
        np.savez(folder / name, **{
            "h.0.attn.c_attn.weight": random.normal(size=(4, 12)),
            "h.0.attn.c_proj.weight": random.normal(size=(4, 4)),
        })  # fmt: skip
    return folder / "before.npz", folder / "after.npz"


def log(folder):
    """A training log with one spike."""
    lines = [f"{step},{5.0 if 20 <= step < 23 else 1.0}" for step in range(40)]
    (folder / "log.csv").write_text("\n".join(["step,loss", *lines]))
    return folder / "log.csv"


def watched():
    """The id of a stored run of a watched loop that is past its critical rate."""
    from dynascope.watching.planted.maps import quadratic

    record = quadratic(3, 1.1, 1.2)
    record.attrs = {"critical_rate_of": "2 / sharpness", "limit": 2.0, "schedule": "12",
                    "errors": [], "notes": []}  # fmt: skip
    sink = Store().sink({"watched": "mine", "model": "Net"}, "ab" * 16, "mine")
    sink.append(record, b"{}")
    sink.finish({**record.attrs, "outcome": "finished"})
    return sink.id


def test_json_has_the_names_that_are_documented(cli, commands):
    for command, words in commands.items():
        assert set(answered(cli, *words)) == documented(command), command


@pytest.mark.slow
def test_json_of_slower_commands_has_the_names_that_are_documented(cli, home, tmp_path):
    wiring = tmp_path / "wiring.txt"
    wiring.write_text("x a\na y\nx b\nb y\n")
    found = answered(cli, "network", wiring, "--widen", "1,2", "--seeds", "1")
    assert set(found) == documented("network")
    pytest.importorskip("safetensors")
    from dynascope.language import save_model
    from language.small import model  # tests is on the path

    save_model(model(), tmp_path / "m")
    lines = [f"{text}\tdog\tthe" for text in ("a cat gave", "on a", "to", "gave a")]
    (tmp_path / "mine.tsv").write_text("\n".join(lines))
    words = ["laser", tmp_path / "m", "--prompts", tmp_path / "mine.tsv"]
    assert set(answered(cli, *words)) == documented("laser")
    searched = answered(cli, *words, "--search", "--save", tmp_path / "cut")
    assert set(searched) == documented("laser --search --save")


def test_every_command_with_json_has_a_row():
    taking = [n for n, f in _COMMANDS.items() if "as_json" in inspect.signature(f).parameters]
    assert len(taking) >= 20
    assert not [n for n in taking if not re.search(rf"^\| `{n}`", PAGE, re.MULTILINE)]


def test_what_is_inside_has_the_names_that_are_documented(cli, ids, tmp_path):
    shown = answered(cli, "show", ids["study"])["claims"][0]
    assert set(shown) == inside("a claim of `run` and `show`")
    assert set(shown["measured"]) == inside("a measured number")
    assert set(shown["control"]) == set(shown["positive"]) == inside("a control")
    known = answered(cli, "claims", "--study", "tiny")["claims"][0]
    assert set(known) == inside("a claim of `claims`")
    listed = answered(cli, "list", "swing-by")["claims"][0]
    assert set(listed) == inside("a claim of `list swing-by`")
    assert set(answered(cli, "list")["studies"][0]) == inside("a study of `list`")
    item = answered(cli, "claims", "--items", "--source", "yang2025")["items"][0]
    assert set(item) == inside("an item of `claims --items`")
    node = answered(cli, "run", "tiny", "--scale", "smoke", "--dry-run")["nodes"][0]
    assert set(node) == inside("a node of `--dry-run`")
    sweep = ["--over", "model.init_scale=0.1,0.2", "--steps", "40", "--seeds", "2"]
    point = answered(cli, "sweep", *sweep, "--set", "record.points=5")["points"][0]
    assert set(point) == inside("a point of a sweep")
    assert set(answered(cli, "runs")["records"][0]) == inside("a record of `runs`")
    spike = answered(cli, "spikes", log(tmp_path))["spikes"][0]
    assert set(spike) == inside("a spike of `spikes`")
    finding = answered(cli, "watch", watched())["findings"][0]
    assert set(finding) == inside("a finding of `watch`")


def test_show_of_a_study_has_verdicts_and_runs(cli, ids):
    found = json.loads(cli("show", ids["study"], "--json").out)
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
    assert "The settings are the same.\n\nWhat was found is the same." in same.out
    found = answered(cli, "compare", ids["fast"], ids["fast"])
    assert found["found"] == found["settings"] == {} and found["same"] == 2  # two losses
    assert cli("compare", ids["fast"], ids["study"]).code == 2


def test_compare_and_the_page_show_the_claims_that_differ(cli, ids):
    """By the same function: a claim of another number or verdict, the others are counted."""
    store = Store()
    result = store.load(ids["study"])
    falls, vanishes = result.claims
    other = replace(falls, measured=replace(falls.measured, value=0.5))
    changed = replace(result, claims=(other, vanishes), provenance={"versions": {"jax": "0"}})
    again = store.put_study(changed)
    found = answered(cli, "compare", ids["study"], again)
    assert list(found["found"]) == ["tiny/falls"] and found["same"] == 1
    said = cli("compare", ids["study"], again).out
    assert "tiny/falls" in said and "tiny/vanishes" not in said and "1 more are the same" in said
    html = records.compare([ids["study"], again])["html"]
    assert "<code>tiny/falls</code>" in html and "<code>tiny/vanishes</code>" not in html


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
