from __future__ import annotations

import json

import pytest

# Two inputs, three hidden vertices, one output; c is reached by a short and by a long path.
EDGES = "# a network\nx a\ny a\nx b\ny, b\na -> c\nx c\nb c\nc out\na out\n"


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text(EDGES)
    return path


@pytest.mark.slow
def test_layers_width_norm_and_drift_by_width(cli, edges):
    said = cli("network", edges, "--json", "--seeds", "3")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert list(found) == ["layers", "width", "hessian_norm", "kernel_drift", "slope"]
    assert found["layers"] == [["x", "y"], ["a", "b"], ["c"], ["out"]]
    assert found["width"] == 2  # out reads c and a; c reads three
    # Widening by k: c reads 2k hidden copies and one input, out reads 2k.
    assert [row["width"] for row in found["kernel_drift"]] == [2, 4, 8, 16]
    for row in found["kernel_drift"]:
        assert 0 < row["low"] <= row["value"] <= row["high"]
    assert found["hessian_norm"] > 0 and found["slope"] < 0


@pytest.mark.slow
def test_the_table_says_the_same_in_words(cli, edges):
    said = cli("network", edges, "--seeds", "2", "--widen", "1,4")
    assert said.code == 0, said.err
    assert "layers        4: x y | a b | c | out" in said.out
    assert "width         2" in said.out and "kernel drift ~ width^" in said.out


@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        ("x a\na b\nb c\nc a\nc y\n", (), "cycle"),
        ("x a\na a\n", (), "cycle a -> a"),
        ("x a\na b c d\n", (), "line 2"),
        ("x a\nlonely\n", (), "line 2"),
        ("x a\na y\nx a\n", (), "line 3"),
        ("# nothing\n", (), "at least one edge"),
        ("x y\nz y\n", (), "no hidden vertex"),
        (EDGES, ("--widen", "1,two"), "--widen"),
        (EDGES, ("--widen", "0"), "at least 1"),
        (EDGES, ("--widen", "2,2"), "different"),
        (EDGES, ("--widen", "100000"), "edges"),
        (EDGES, ("--seeds", "0"), "seeds"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(cli, tmp_path, text, words, told):
    path = tmp_path / "edges.txt"
    path.write_text(text)
    said = cli("network", path, *words)
    assert said.code == 2 and said.out == ""
    assert told in said.err and said.err.count("\n") == 1


def test_a_cycle_is_named_in_the_direction_of_its_edges(cli, tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("x a\na b\nb c\nc a\nc y\n")
    said = cli("network", path)
    assert any(
        loop in said.err for loop in ("a -> b -> c -> a", "b -> c -> a -> b", "c -> a -> b -> c")
    )


def test_a_file_that_is_not_there_is_named(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = cli("network", "none.txt")
    assert said.code == 2 and "none.txt" in said.err


@pytest.mark.slow
def test_progress_is_told_to_the_end(cli, tmp_path, monkeypatch):
    told = []
    update = "dynascope.runtime.progress.Progress.update"
    monkeypatch.setattr(update, lambda self, done, note="": told.append(done / self.total))
    (tmp_path / "w.txt").write_text("x a\na y\nx b\nb y\n")
    cli("network", tmp_path / "w.txt", "--widen", "1,2", "--seeds", "1")
    assert told == [0.5, 1.0]
