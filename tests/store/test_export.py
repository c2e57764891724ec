from __future__ import annotations

import csv
import json
from importlib import util

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from dynascope.core.errors import BadInput, StoreError
from dynascope.core.records import result_from_plain
from dynascope.store import export as module
from dynascope.store.export import export, tables

from .samples import PRINT, part, study

NAME = PRINT[:8]


def test_csv_is_a_tidy_table_per_set_of_dims(store, put, tmp_path):
    put()
    paths = store.export(NAME, tmp_path / "out")
    assert sorted(p.name for p in paths) == [
        f"{NAME}_seed-step.csv",
        f"{NAME}_seed.csv",
        f"{NAME}_step-task.means[0].csv",
    ]
    table = pd.read_csv(tmp_path / "out" / f"{NAME}_seed-step.csv")
    assert list(table.columns) == ["seed", "step", "time", "kind", "loss"]
    wanted = part(0, 4)
    for _, row in table.iterrows():
        here = wanted.sel(seed=row["seed"], step=row["step"])
        assert row["loss"] == here["loss"] and row["time"] == here["time"]
        assert row["kind"] == here["kind"]
    assert len(table) == 8


def test_single_numbers_have_a_table_of_one_row():
    run = xr.Dataset({"a": 1.5, "b": ((), "text")}, {"c": 2})
    [(dims, table)] = tables(run).items()
    assert dims == () and table.to_dict("records") == [{"a": 1.5, "b": "text", "c": 2}]


def test_netcdf_holds_everything_with_nested_attributes_as_json(store, put, tmp_path):
    put()
    [path] = store.export(NAME, tmp_path, form="netcdf")
    with xr.open_dataset(path, engine="netcdf4") as found:
        xr.testing.assert_equal(found.load(), part(0, 4))
        assert json.loads(found.attrs["versions"]) == {"jax": "0.9", "numpy": "2.4"}
        assert found["loss"].attrs == {"units": "loss"}


def test_netcdf_can_do_without_netcdf4(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    run = xr.Dataset({"loss": ("step", [1.0, 0.5])}, attrs={"spec": {"a": None}, "ok": True})
    [path] = export(run, "run", tmp_path, "netcdf")
    with xr.open_dataset(path, engine="scipy") as found:
        assert found["loss"].values.tolist() == [1.0, 0.5]
        assert found.attrs == {"spec": '{"a": null}', "ok": "true"}


def test_netcdf_takes_complex_numbers_apart(tmp_path):
    run = xr.Dataset({"mode": ("n", np.array([1 + 2j, 3 - 4j]))})
    [path] = export(run, "run", tmp_path, "netcdf")
    with xr.open_dataset(path, engine="netcdf4") as found:
        assert found["mode_real"].values.tolist() == [1.0, 3.0]
        assert found["mode_imag"].values.tolist() == [2.0, -4.0]


def test_exporting_leaves_the_run_as_it_was(tmp_path):
    run = part(0, 2).assign_attrs(spec={"a": 1})
    run["loss"].attrs["nested"] = {"b": 2}
    export(run, "run", tmp_path, "netcdf")
    assert run.attrs == {"spec": {"a": 1}} and run["loss"].attrs["nested"] == {"b": 2}


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(StoreError, match=r"pip install 'dynascope\[parquet\]'"):
        export(part(0, 2), "run", tmp_path, "parquet")


@pytest.mark.skipif(util.find_spec("pyarrow") is None, reason="needs the parquet extra")
def test_parquet_holds_the_same_tables(tmp_path):
    paths = export(part(0, 2), "run", tmp_path, "parquet")
    wanted = tables(part(0, 2)).values()
    for path, table in zip(paths, wanted, strict=True):
        pd.testing.assert_frame_equal(pd.read_parquet(path), table)


def test_a_study_is_json_and_a_table_of_its_claims(store, tmp_path):
    name = store.put_study(study())
    whole, claims = store.export(name, tmp_path)
    assert result_from_plain(json.loads(whole.read_text())) == study()
    with open(claims, newline="") as file:
        [row] = csv.DictReader(file)
    assert row["id"] == "swing-by/second-descent" and row["verdict"] == "holds"
    assert (row["measured"], row["control_measured"]) == ("0.5", "0.0")
    assert json.loads(row["expected"]) == {"low": 0.4, "high": None}


def test_bad_forms_and_folders_are_refused(store, put, tmp_path):
    put()
    with pytest.raises(BadInput, match="form: got 'xls', expected one of csv, netcdf, parquet"):
        store.export(NAME, tmp_path, form="xls")
    with pytest.raises(BadInput, match="csv for a study"):
        export(study(), "study", tmp_path, "netcdf")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write"):
        store.export(NAME, tmp_path / "file")
