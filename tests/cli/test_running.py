"""`dynascope run`: what it prints, what every option changes, Ctrl-C."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from dynascope.cli import running
from dynascope.cli.options import study_names
from dynascope.store import Store
from dynascope.studies import Study

pytestmark = pytest.mark.usefixtures("tiny")


def measured(answer) -> dict:
    return json.loads(answer.out)["claims"][0]["measured"]


def test_it_prints_verdicts_a_plot_and_where_the_report_is(filled):
    home, answer, _ = filled
    assert "✓ holds" in answer.out and "✗ fails" in answer.out
    assert "Test loss, seed 0" in answer.out and "it falls" in answer.out
    path = re.search(r"^report: (.+)$", answer.out, re.MULTILINE)[1]
    assert path.startswith(str(home))
    with open(path, encoding="utf-8") as file:
        assert "A loss that falls" in file.read()
    assert "computed in" in answer.out
    assert [line for line in answer.err.splitlines() if "/" in line] == [
        "1/1 rates, fast",
        "1/1 rates, slow",
    ]


def test_json_is_one_object_of_the_promised_form(cli, full):
    answer = cli("run", "tiny", "--scale", "smoke", "--json")
    found = json.loads(answer.out)
    assert answer.out.count("\n") == 1
    assert list(found) == ["study", "scale", "seconds", "claims", "record", "report"]
    assert (found["study"], found["scale"]) == ("tiny", "smoke")
    assert [c["id"] for c in found["claims"]] == ["tiny/falls", "tiny/vanishes"]
    keys = ["id", "statement", "source", "measured", "expected", "verdict", "control", "note",
            "positive", "origin", "partner", "exploratory", "seeds_needed", "quantity"]  # fmt: skip
    for claim in found["claims"]:
        assert list(claim) == keys
        assert list(claim["measured"]) == ["value", "spread", "n", "low", "high", "kind"]
        for name, must in (("control", "fails"), ("positive", "holds")):
            assert list(claim[name]) == ["statement", "measured", "verdict"]
            assert claim[name]["verdict"] == must
    falls, vanishes = (c["expected"] for c in found["claims"])
    assert falls == {"low": None, "high": 0.1}
    assert vanishes == {"low": 1.0, "high": None, "every": 1.0}
    assert [c["verdict"] for c in found["claims"]] == ["holds", "fails"]
    assert Store().load(found["record"]).study == "tiny"
    assert "report: " in answer.err


def test_what_is_stored_is_neither_planned_nor_computed_again(cli, full, monkeypatch):
    monkeypatch.setattr(sys.modules["dynascope.runner.run"], "Evaluation", None)  # would fail
    answer = cli("run", "tiny", "--scale", "smoke")
    assert answer.code == 0 and "answered from the store" in answer.out


def test_again_computes_and_agrees(cli, full):
    answer = cli("run", "tiny", "--scale", "smoke", "--again")
    assert "1/1 rates, fast" in answer.err
    assert "agrees with the stored record bit for bit" in answer.out


def test_again_that_does_not_agree_is_an_error_and_keeps_the_record(cli, full, monkeypatch, ids):
    monkeypatch.setattr(Study, "notes", lambda self, s: ("A note.",))  # as if ours had changed
    answer = cli("run", "tiny", "--scale", "smoke", "--again")
    assert answer.code == 2 and ids["study"] in answer.err and answer.err.splitlines()[-1]
    assert Store().load(ids["study"]).notes == ()


def test_a_study_of_ones_own_is_computed_when_its_code_has_changed(
    cli, full, tiny, monkeypatch, ids
):
    monkeypatch.setattr(tiny, "title", "Another title")
    answer = cli("run", "tiny", "--scale", "smoke")
    assert answer.code == 0 and "Another title" in answer.out and ids["study"] not in answer.out
    assert Store().load(ids["study"]).title == "A loss that falls"


@pytest.mark.parametrize(
    ("words", "n", "rows"),
    [
        (["--scale", "smoke", "--seeds", "4"], 4, 200),
        (["--scale", "smoke", "--set", "seeds=3"], 3, 200),
        (["--set", "steps=100"], 3, 100),
        (["--scale", "paper"], 3, 300),
    ],
)
def test_scale_seeds_and_set_change_what_is_run(cli, home, words, n, rows):
    answer = cli("run", "tiny", "--json", *words)
    assert measured(answer)["n"] == n
    run = Store().load(Store().runs("run")[0].id)
    assert run.sizes["seed"] == n and run["step"].values[-1] == rows


def test_changes_that_need_each_other_may_come_in_any_order(cli, home):
    plan = cli("run", "tiny", "--dry-run", "--json", "--set", "task.means=[1,2,3]",
               "--set", "task.scales=[0.1,0.1,0.1]")  # fmt: skip
    assert plan.code == 0, plan.err


def test_out_holds_the_report_and_every_figure_in_three_forms(cli, full, tmp_path):
    folder = tmp_path / "new" / "results"
    answer = cli("run", "tiny", "--scale", "smoke", "--out", folder)
    forms = ("pdf", "png", "svg")
    expected = [f"{name}.{form}" for name in ("curve", "headline") for form in forms]
    assert sorted(os.listdir(folder)) == sorted([*expected, "report.html"])
    assert f"report: {folder / 'report.html'}" in answer.out
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_an_out_folder_that_cannot_be_made_is_told_before_anything_runs(cli, home, tmp_path):
    (tmp_path / "file").touch()
    answer = cli("run", "tiny", "--scale", "smoke", "--out", tmp_path / "file" / "x")
    assert answer.code == 2 and "1/1" not in answer.err
    assert answer.err.splitlines()[-1].startswith(f"dynascope: cannot write {tmp_path}")


def test_strict_is_one_only_when_a_claim_fails(cli, full, monkeypatch, tiny):
    words = ["run", "tiny", "--scale", "smoke"]
    assert cli(*words).code == 0
    strict = cli(*words, "--strict")
    assert strict.code == 1 and "tiny/vanishes" in strict.err and "✗ fails" in strict.out
    monkeypatch.setattr(tiny, "claims", tiny.claims[:1])
    assert cli(*words, "--strict", "--seeds", "3").code == 0


def test_dry_run_tells_plan_and_cost_and_runs_nothing(cli, home):
    answer = cli("run", "tiny", "--scale", "smoke", "--dry-run")
    assert answer.code == 0 and not home.exists()
    line = r"^rates, fast +run +2 +200 steps +11 +352 B .* rule of thumb$"
    assert re.search(line, answer.out, re.MULTILINE)
    found = json.loads(cli("run", "tiny", "--scale", "smoke", "--dry-run", "--json").out)
    assert found["study"] == "tiny" and found["scale"] == "smoke"
    assert [e["label"] for e in found["nodes"]] == ["rates, fast", "rates, slow"]
    assert found["bytes"] == 2 * 2 * 11 * 2 * 8  # experiments, seeds, looks, probes, float64
    assert found["seconds"] == sum(e["seconds"] for e in found["nodes"]) > 0
    assert found["unknown"] == 0 and "in total about" in answer.out


def test_dry_run_says_of_how_many_nodes_the_time_is_not_known(cli, home, tiny, monkeypatch):
    monkeypatch.setattr(tiny, "nodes", list(tiny.nodes))
    monkeypatch.setattr(tiny, "charts", list(tiny.charts))

    @tiny.compute
    def slow(s) -> float:
        raise AssertionError("a dry run computes nothing")

    tiny.chart(slow)(lambda s, slow: None)
    words = ["run", "tiny", "--scale", "smoke", "--dry-run"]
    said, found = cli(*words).out, json.loads(cli(*words, "--json").out)
    assert re.search(r"^slow +computation .*\? +not known$", said, re.MULTILINE)
    assert re.search(r"in total at least .* \(1 nodes unknown\)", said)
    node = next(e for e in found["nodes"] if e["label"] == "slow")
    assert node["seconds"] is None and found["unknown"] == 1
    assert found["seconds"] == sum(e["seconds"] or 0 for e in found["nodes"])


@pytest.mark.slow
@pytest.mark.parametrize("name", study_names())
def test_every_study_can_be_priced_node_by_node(cli, home, name):
    answer = cli("run", name, "--scale", "smoke", "--dry-run", "--json")
    found = json.loads(answer.out)
    if not found["nodes"] and "is not there" in answer.err:
        pytest.skip(answer.err.splitlines()[0])
    assert found["nodes"], "a study runs or computes something"
    assert all(0 < e["seconds"] < 600 and e["basis"] != "not known" for e in found["nodes"])
    assert not home.exists()


def test_all_studies_of_a_document_end_in_one_table(cli, full, monkeypatch, tiny):
    from dynascope.core.sources import Document, documents

    paper = Document("tiny2026", "A. Author", "A tiny paper", 2026, "nowhere")
    monkeypatch.setitem(documents._things, "tiny2026", paper)
    monkeypatch.setattr(tiny, "sources", (paper("Fig. 1"),))
    answer = cli("run", "--source", "tiny2026", "--scale", "smoke")
    assert answer.code == 0, answer.err
    assert re.search(r"^tiny +1 +1 +.* s", answer.out, re.MULTILINE)
    assert re.search(r"^all +1 +1 ", answer.out, re.MULTILINE)
    found = json.loads(cli("run", "--source", "tiny2026", "--scale", "smoke", "--json").out)
    assert [s["study"] for s in found["studies"]] == ["tiny"]
    plan = json.loads(cli("run", "--source", "tiny2026", "--dry-run", "--json").out)
    assert plan["source"] == "tiny2026" and len(plan["nodes"]) == 2


@pytest.mark.parametrize(
    "words",
    [
        ("run", "tiny", "--dry-run", "--out", "x"), ("run", "tiny", "--dry-run", "--strict"),
        ("run", "tiny", "--dry-run", "--open"), ("run", "--source", "chen2025", "--open"),
        ("sweep", "--dry-run", "--out", "x"),
    ],
)  # fmt: skip
def test_an_option_that_would_do_nothing_is_refused(cli, home, words):
    answer = cli(*words)
    assert answer.code == 2 and len(answer.err.splitlines()) == 1 and not answer.out
    assert f"{words[-1] if words[-1] != 'x' else '--out'}: leave one of them out" in answer.err
    assert not home.exists()


def test_a_name_or_a_document_is_needed_but_not_both(cli, home):
    for words in ([], ["tiny", "--source", "chen2025"]):
        answer = cli("run", *words)
        assert answer.code == 2 and "run needs the name of a study, or --source" in answer.err
    assert "did you mean 'chen2025'" in cli("run", "--source", "chen2024x").err


def test_dry_run_knows_what_is_stored(cli, full, ids):
    words = ["run", "tiny", "--scale", "smoke", "--dry-run", "--json"]
    stored = json.loads(cli(*words).out)
    assert stored["seconds"] == 0
    assert stored["nodes"][0]["basis"] == f"stored as {ids['fast']}"
    again = json.loads(cli(*words, "--again").out)
    took = Store().manifest(ids["fast"])["seconds"]
    assert again["nodes"][0]["seconds"] == took
    assert again["nodes"][0]["basis"] == f"record {ids['fast']}"


def test_open_opens_the_report(cli, full, monkeypatch, ids):
    opened = []
    monkeypatch.setattr("typer.launch", opened.append)
    cli("run", "tiny", "--scale", "smoke", "--open")
    cli("report", ids["study"], "--open")
    assert opened == [(full / "reports" / f"{ids['study']}.html").as_uri()] * 2


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


def on_terminal(monkeypatch, cli_main, words, **environment) -> str:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    for name in ("NO_COLOR", "TERM", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", **environment}.items():
        monkeypatch.setenv(name, value)
    assert cli_main(words) == 0
    return screen.getvalue()


def test_colours_are_shown_on_terminals_unless_they_are_not_welcome(monkeypatch, full):
    from dynascope.cli import main

    words = ["run", "tiny", "--scale", "smoke"]
    colour = re.compile(r"\x1b\[[\d;]*3[1-7]m")
    assert colour.search(on_terminal(monkeypatch, main, words, COLUMNS="120"))
    assert not colour.search(on_terminal(monkeypatch, main, words, COLUMNS="120", NO_COLOR="1"))


@pytest.mark.parametrize("columns", [40, 80, 140])
def test_no_line_is_wider_than_the_terminal_except_paths(monkeypatch, full, columns):
    from dynascope.cli import main

    text = "".join(
        on_terminal(monkeypatch, main, words, COLUMNS=str(columns), NO_COLOR="1")
        for words in (["run", "tiny", "--scale", "smoke"], ["runs"], ["list", "quantities"])
    )
    lines = re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()
    assert len(lines) > 30
    wide = [line for line in lines if len(line) > columns]
    assert all(line.startswith(("report: ", "record: ", "answered")) for line in wide), wide


def test_ctrl_c_says_what_is_kept_and_the_command_goes_on(cli, home, monkeypatch):
    def press(line: str) -> None:
        if line.endswith("slow"):
            os.kill(os.getpid(), signal.SIGINT)

    words = ["run", "tiny", "--scale", "smoke", "--set", "task.means=[1, 2]"]
    monkeypatch.setattr(sys, "argv", ["dynascope", *words])
    with monkeypatch.context() as patch:
        patch.setattr(running, "tell", press)
        answer = cli(*words)
    assert answer.code == 130 and answer.out == "" and answer.err.count("\n") == 1
    assert "1 finished record kept" in answer.err
    assert "dynascope run tiny --scale smoke --set 'task.means=[1, 2]'" in answer.err
    (kept,) = [e.id for e in Store().runs("run")]
    assert cli(*words).code == 0
    assert kept in [e.id for e in Store().runs("run")]


def test_ctrl_c_that_jax_turns_into_another_error_is_still_ctrl_c(cli, home, monkeypatch):
    def press(line: str) -> None:
        if line.startswith("1/1"):
            try:
                os.kill(os.getpid(), signal.SIGINT)
                signal.sigtimedwait([], 5)
            except KeyboardInterrupt:
                raise ValueError("something else") from None

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(running, "tell", press)
    answer = cli("run", "tiny", "--scale", "smoke")
    assert answer.code == 130 and "0 finished records kept" in answer.err
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.slow
def test_ctrl_c_during_a_compilation_ends_with_130_and_no_crash(tmp_path):
    """jaxlib ends such a process with a segmentation fault unless it is left at once."""
    words = [sys.executable, "-m", "dynascope", "run", "swing-by", "--scale", "smoke"]
    environment = {**os.environ, "DYNASCOPE_HOME": str(tmp_path)}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("1/"):
                break
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.0)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().strip()
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith("dynascope: interrupted; ")


@pytest.mark.slow
def test_the_first_study_of_the_readme_runs_through_the_command(tmp_path):
    """A real study, small, in a process of its own, from an empty results folder."""
    words = ["run", "swing-by", "--scale", "smoke", "--seeds", "8", "--set", "network_steps=200",
             "--set", "network_seeds=4", "--json"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "dynascope", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "DYNASCOPE_HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["claims"]) >= 12
    assert (tmp_path / "reports" / f"{found['record']}.html").exists()
