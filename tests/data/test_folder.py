"""The data folder and its one-line advice."""

from __future__ import annotations

import pytest

from dynascope.core.errors import MissingData
from dynascope.data import find, folder, present


def test_the_variable_names_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    (tmp_path / "planetoid").mkdir()
    (tmp_path / "planetoid" / "graph").write_text("")
    assert folder() == tmp_path
    assert present("planetoid/graph") and find("planetoid/graph").is_file()


def test_without_the_variable_it_lies_in_the_results_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("DYNASCOPE_DATA", raising=False)
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path))
    assert folder() == tmp_path / "data"
    with pytest.raises(MissingData, match="set DYNASCOPE_DATA"):
        find("planetoid/graph")


def test_what_is_not_there_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    assert not present("planetoid/graph")
    with pytest.raises(MissingData, match="is not there: put it into") as caught:
        find("planetoid/graph")
    assert "\n" not in str(caught.value)
