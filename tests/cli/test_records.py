"""`dynascope runs`, `show` and `forget`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from dynascope.cli.records import _verdicts, age
from dynascope.core.records import Claim, Measured
from dynascope.store import Store

pytestmark = pytest.mark.usefixtures("tiny")


def test_runs_lists_the_newest_first_with_everything_about_them(cli, full, ids):
    answer = cli("runs")
    rows = [line.split() for line in answer.out.splitlines()[2:]]
    assert [row[0] for row in rows] == [e.id for e in Store().runs()]
    assert rows[0][0] == ids["sweep"] and rows[0][1] == "run"
    age = r"(now|\d+ minutes?)"
    line = rf"^{ids['study']} +study +tiny smoke +finished +.+B +.+ s +{age}$"
    assert re.search(line, answer.out, re.MULTILINE)
    assert answer.err == f"4 records in {full}\n"


def test_runs_can_be_narrowed(cli, full, ids):
    def listed(*words):
        return [e["id"] for e in json.loads(cli("runs", "--json", *words).out)["records"]]

    assert len(listed()) == 4
    assert listed("--kind", "study") == [ids["study"]]
    assert ids["study"] not in listed("--kind", "run") and len(listed("--kind", "run")) == 3
    assert ids["sweep"] not in listed("--study", "tiny") and len(listed("--study", "tiny")) == 3
    assert listed("--search", "sweep") == [ids["sweep"]] and not listed("--study", "sweep")


def test_a_damaged_record_is_marked_and_harms_no_other(cli, full, ids):
    (full / "records" / ids["fast"] / "manifest.json").write_text("{")
    answer = cli("runs")
    line = next(row for row in answer.out.splitlines() if row.startswith(ids["fast"]))
    assert "damaged" in line and answer.out.count("finished") == 3
    shown = cli("show", ids["fast"])
    assert shown.code == 2 and "damaged" in shown.err and shown.err.count("\n") == 1
    assert cli("forget", ids["fast"], "--yes").code == 0
    assert len(Store().runs()) == 3


def test_an_empty_results_folder_has_no_records(cli, home):
    assert cli("runs") == (0, "", f"0 records in {home}\n")
    assert json.loads(cli("runs", "--json").out) == {"home": str(home), "records": []}
    assert not home.exists()


def test_show_gives_origin_settings_and_the_command(cli, full, ids):
    assert ids["sweep"] in cli("show", "last").out
    answer = cli("show", ids["study"][:6])
    manifest = Store().manifest(ids["study"])
    for expected in (manifest["fingerprint"], manifest["attrs"]["versions"]["jax"], "tiny smoke"):
        assert expected in answer.out
    assert re.search(r"^task\.means +1, 2$", answer.out, re.MULTILINE)
    assert answer.out.endswith("\ndynascope run tiny --scale smoke\n")
    found = json.loads(cli("show", ids["study"], "--json").out)
    assert found["id"] == ids["study"] and found["fingerprint"] == manifest["fingerprint"]
    assert found["remake"] == "dynascope run tiny --scale smoke"


def test_show_says_why_a_claim_is_open(capsys):
    open_ = Claim("tiny/missing", "Words.", "here", Measured(None, None, 0), "-", "not_applicable",
                  None, "the data set is not here")  # fmt: skip
    decided = replace(open_, id="tiny/falls", verdict="holds", note="as it should")
    _verdicts(SimpleNamespace(claims=(open_, decided), runs=()))
    said = capsys.readouterr().out.partition("why it is open")[2]
    assert re.search(r"^missing +the data set is not here", said, re.MULTILINE)
    assert "as it should" not in said


def test_forget_asks_on_a_terminal(cli, full, ids, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for reply, left in (("n", 4), ("", 4), ("y", 3)):
        monkeypatch.setattr("builtins.input", lambda reply=reply: reply)
        answer = cli("forget", ids["sweep"])
        assert f"forget {ids['sweep']}? " in answer.err
        assert len(Store().runs()) == left
        assert answer.code == (0 if left == 3 else 2)


def test_forget_does_not_ask_where_nobody_can_answer(cli, full, ids, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    answer = cli("forget", ids["sweep"])
    assert answer.code == 2 and "--yes" in answer.err and answer.err.count("\n") == 1
    assert len(Store().runs()) == 4


def test_forget_removes_all_or_nothing_and_reports_too(cli, full, ids):
    assert cli("forget", ids["sweep"], "deadbeef", "--yes").code == 2
    assert len(Store().runs()) == 4
    report = full / "reports" / f"{ids['study']}.html"
    assert report.exists()
    answer = cli("forget", ids["study"], ids["sweep"], ids["sweep"], "-y", "--json")
    assert json.loads(answer.out) == {"forgotten": [ids["study"], ids["sweep"]]}
    assert len(Store().runs()) == 2 and not report.exists()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(5, "now"), (70, "1 minute"), (7300, "2 hours"), (86400 * 3 + 5, "3 days")],
)
def test_age_is_said_as_people_say_it(seconds, words):
    assert age((datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()) == words
