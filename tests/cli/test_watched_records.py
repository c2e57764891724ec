"""Records of watched loops in `runs`, `show`, `report`, `export` and `watch`."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from dynascope.store import Store
from dynascope.watching.planted.maps import quadratic


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A quadratic past its critical rate, stored as a watch stores it; its id."""
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path))
    record = quadratic(3, 1.1, 1.2)
    record["update_stable_rank"] = (("step", "weight"), np.full((60, 2), np.nan))
    record["update_stable_rank"][::5] = 1.5
    record.attrs = {
        "critical_rate_of": "2 / sharpness, for SGD", "limit": 2.0, "schedule": "12 measurements",
        "errors": ["step 5: mine: ZeroDivisionError: no luck"], "notes": [],
    }  # fmt: skip
    sink = Store().sink({"watched": "mine", "model": "Net"}, "ab" * 16, "mine")
    sink.append(record, b"{}")
    sink.finish({**record.attrs, "outcome": "finished"})
    return sink.id


def test_they_are_listed_and_shown(cli, watched):
    assert "mine" in cli("runs").out
    shown = cli("show", watched)
    assert shown.code == 0 and "Net" in shown.out and "run that again" in shown.out


def test_report_has_all_quantities_and_the_diagnosis(cli, watched, tmp_path):
    place = tmp_path / "r.html"
    assert cli("report", watched, "--out", place).code == 0
    text = place.read_text(encoding="utf-8")
    for words in ("Divergence ahead", "rate over critical rate", "sharpness",
                  "stable rank of the change", "A suggestion", "dynascope run quadratic-map",
                  "no luck", "2 / sharpness, for SGD"):  # fmt: skip
        assert words in text, words


def test_findings_are_marked_in_every_panel(watched):
    from dynascope.core.charts import Span
    from dynascope.watching.diagnosis import diagnose
    from dynascope.watching.drawing import charts

    record = Store().load(watched)
    found = diagnose(record)
    (chart,) = charts(record, found)
    spans = [[m for m in p.marks if isinstance(m, Span)] for p in chart.panels]
    begin, end = found[0].steps
    assert len(spans) >= 5  # loss, ratio, sharpness, rank, findings
    assert all([(s.start, s.end) for s in some] == [(begin, end)] for some in spans[:-1])
    assert {p.x_label for p in chart.panels} == {"step"}


def test_export_writes_tables_and_pictures(cli, watched, tmp_path):
    folder = tmp_path / "x"
    assert cli("export", watched, "--figures", "svg", "--out", folder).code == 0
    assert (folder / "watched.svg").exists()
    (table,) = folder.glob("*_step.csv")
    with table.open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 60


def test_watch_says_what_it_did(cli, watched):
    answer = cli("watch", watched, "--json")
    (finding,) = json.loads(answer.out)["findings"]
    assert finding["kind"] == "divergence ahead"
    assert "One could try" in cli("watch", watched).out
