"""`dynascope report` and `dynascope export`."""

from __future__ import annotations

import csv
import json
import os

import pytest
import xarray as xr

from dynascope.store import Store

pytestmark = pytest.mark.usefixtures("tiny")


def test_report_is_written_anew_and_its_path_printed(cli, full, ids):
    place = full / "reports" / f"{ids['study']}.html"
    first = place.read_bytes()
    place.unlink()
    assert cli("report", ids["study"]) == (0, f"{place}\n", "")
    assert place.read_bytes() == first


def test_report_goes_to_a_file(cli, full, ids, tmp_path):
    place = tmp_path / "deep" / "r.html"
    answer = cli("report", ids["study"][:7], "--out", place, "--json")
    assert json.loads(answer.out) == {"record": ids["study"], "report": str(place)}
    assert "A loss that falls" in place.read_text(encoding="utf-8")


def test_sweeps_have_reports_and_figures_too(cli, full, ids, tmp_path):
    drawn = cli("export", ids["sweep"], "--figures", "png", "--out", tmp_path / "x")
    assert drawn.code == 0 and (tmp_path / "x" / "test-loss.png").exists()
    path = cli("report", ids["sweep"]).out.strip()
    with open(path, encoding="utf-8") as file:
        page = file.read()
    assert "dynascope sweep" in page and "init_scale" in page


def test_a_run_becomes_tables(cli, full, ids, tmp_path):
    answer = cli("export", ids["sweep"], "--out", tmp_path / "x")
    paths = answer.out.split()
    assert sorted(paths) == sorted(str(p) for p in (tmp_path / "x").iterdir())
    table = next(p for p in paths if "step" in os.path.basename(p))
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 5  # scales, seeds, looks
    assert {"model.init_scale", "seed", "step", "loss", "test_loss"} <= set(rows[0])


def test_a_run_becomes_netcdf(cli, full, ids, tmp_path):
    answer = cli("export", ids["sweep"], "--form", "netcdf", "--out", tmp_path, "--json")
    (path,) = json.loads(answer.out)["files"]
    with xr.open_dataset(path) as found:
        assert found["test_loss"].equals(Store().load(ids["sweep"])["test_loss"])


def test_a_study_becomes_tables_and_figures(cli, full, ids, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = cli("export", ids["study"], "--figures", "png", "--figures", "svg")
    folder = tmp_path / f"dynascope-{ids['study']}"
    names = sorted(p.name for p in folder.iterdir())
    pictures = [f"{n}.{form}" for n in ("curve", "headline") for form in ("png", "svg")]
    tables = [f"{ids['study']}.json", f"{ids['study']}_claims.csv"]
    assert names == sorted(pictures + tables)
    assert len(answer.out.split()) == len(names)


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--form", "netcdf"], "csv"), (["--form", "cvs"], "csv"), (["--figures", "pnq"], "'png'")],
)
def test_forms_that_do_not_fit_are_refused(cli, full, ids, tmp_path, words, said):
    answer = cli("export", ids["study"], "--out", tmp_path / "x", *words)
    assert answer.code == 2 and said in answer.err and answer.err.count("\n") == 1
