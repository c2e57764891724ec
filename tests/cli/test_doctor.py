"""`dynascope doctor`: what it finds is what is there."""

from __future__ import annotations

import json
import platform
from importlib import metadata

import jax

from dynascope import __version__


def test_it_tells_versions_devices_folders_and_sizes(cli, full):
    found = json.loads(cli("doctor", "--json").out)
    assert found["dynascope"] == __version__
    assert found["python"].startswith(platform.python_version())
    assert found["versions"]["jax"] == metadata.version("jax")
    assert found["extras"].keys() == {"torch", "ray", "pyarrow", "netCDF4"}
    assert found["devices"].count(",") == jax.local_device_count() - 1
    assert found["float64"] is True and found["x64_by_default"] is jax.config.jax_enable_x64
    assert found["results_folder"] == str(full) and found["writable"] is True
    assert (found["records"], found["damaged"]) == (4, 0)
    parts = sum(p.stat().st_size for p in (full / "reports").iterdir())
    assert found["sizes"]["reports"] == parts > 1e6
    assert found["sizes"].keys() == {"records", "compiled", "again", "reports"}
    assert found["free"] > 0


def test_it_prints_the_same_as_a_table(cli, full):
    text = cli("doctor").out
    assert f"versions jax          {metadata.version('jax')}" in text
    assert "results folder" in text and str(full) in text


def test_it_says_whether_the_data_folder_is_there(cli, home, tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path / "data"))
    assert json.loads(cli("doctor", "--json").out)["data_folder"].endswith("data (not there)")
    (tmp_path / "data").mkdir()
    assert json.loads(cli("doctor", "--json").out)["data_folder"] == str(tmp_path / "data")


def test_a_folder_that_cannot_be_written_is_told_not_raised(cli, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for place, why in (("file", "it is a file"), ("file/home", "below a file")):
        monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path / place))
        answer = cli("doctor", "--json")
        assert answer.code == 0
        assert why in json.loads(answer.out)["writable"]


def test_it_makes_no_folder(cli, home):
    assert json.loads(cli("doctor", "--json").out)["writable"] is True
    assert not home.exists()
