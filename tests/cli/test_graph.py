"""`dynascope graph`: the table, the object, and one line for every bad input."""

from __future__ import annotations

import json
import os
import pickle

import pytest

from dynascope import graphs
from dynascope.cli import main
from dynascope.cli.graph import FAMILIES
from dynascope.graphs.pairs import FOURTEEN
from dynascope.instruments.graph import describe_graph

KEYS = ["nodes", "edges", "self_loops", "repeated_edges", "classes", "witnesses", "class_floor"]


def edges_of(graph):
    step = graph.adjacency.tocoo()
    pairs = zip(step.row.tolist(), step.col.tolist())
    return "\n".join(f"{a} {b}" for a, b in pairs if a <= b) + "\n"


@pytest.fixture
def path(tmp_path):
    """The path 0-1-2-3-4-5."""
    file = tmp_path / "path.txt"
    file.write_text("".join(f"{i} {i + 1}\n" for i in range(5)))
    return file


def test_names_offered_are_the_families_there_are():
    assert list(FAMILIES) == graphs.families.names()


def test_table_shows_classes_of_a_path(path, capsys):
    assert main(["graph", str(path), "--depth", "3"]) == 0
    out = capsys.readouterr().out
    assert "6 nodes, 5 edges, 0 self-loops" in out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}
    assert rows["wl"] == rows["adjacency"] == ["2", "3", "3"]
    assert "no two nodes that one family merges" in out


def test_object_is_what_the_library_says(tmp_path, capsys):
    pair = graphs.union([FOURTEEN.first, FOURTEEN.second])
    file = tmp_path / "pair.csv"
    file.write_text(edges_of(pair).replace(" ", ","))
    assert main(["graph", str(file), "--depth", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == KEYS
    wanted = describe_graph(graphs.load(file), 2)
    assert found == {key: wanted[key] for key in KEYS}
    assert found["witnesses"][0]["merged_by"] == "adjacency"


def test_class_floor_of_numbers_and_of_labels(path, tmp_path, capsys):
    for name, lines, floor in (
        ("numbers.txt", "0 1 1 1 1 0", 0.0),  # the ends differ: one round sees them
        ("labels.txt", "a a b b b a", 1 / 6),  # inner nodes are one class: one of them is wrong
    ):
        target = tmp_path / name
        target.write_text(lines.replace(" ", "\n"))
        arguments = ["graph", str(path), "--depth", "1", "--target", str(target), "--json"]
        assert main(arguments) == 0
        assert json.loads(capsys.readouterr().out)["class_floor"]["wl"] == [pytest.approx(floor)]
    assert main([*arguments[:-1]]) == 0
    assert "class floor" in capsys.readouterr().out


def test_features_split_what_the_graph_merges(path, tmp_path, capsys):
    colours = tmp_path / "colours.txt"
    colours.write_text("0\n1\n2\n3\n4\n5\n")
    given = ["graph", str(path), "--depth", "1", "--family", "wl", "--json"]
    assert main([*given, "--features", str(colours)]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == {"wl": [6]}


def test_notes_go_to_stderr(tmp_path, capsys):
    file = tmp_path / "loops.txt"
    file.write_text("0 0\n0 1\n1 0\n")
    assert main(["graph", str(file), "--nodes", "4", "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert (found["nodes"], found["self_loops"], found["repeated_edges"]) == (4, 1, 1)
    assert "repeated edges: 1 collapsed" in captured.err


class Evil:
    def __reduce__(self):
        return os.system, ("echo broken into",)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("malformed.txt", "0 1\n1 2 x y\n", "line 2"),
        ("negative.txt", "0 1\n1 -2\n", "line 2"),
        ("fraction.csv", "0,1\n1,2.5\n", "line 2"),
        ("empty.txt", "", "node"),
        ("ind.evil.graph", pickle.dumps({0: Evil()}), "nothing but containers and numbers"),
        ("ind.text.graph", pickle.dumps({0: ["a"]}), "a whole number >= 0"),
        ("graph.xyz", "0 1\n", "an edge list"),
    ],
)
def test_bad_files_give_one_line_and_exit_code_two(tmp_path, capfd, name, content, said):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["graph", str(file)]) == 2
    captured = capfd.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert captured.err.startswith("dynascope: ") and said in captured.err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--family", "adjacncy"], "did you mean 'adjacency'"),
        (["--depth", "0"], "depth"),
        (["--nodes", "2"], "ids from 0 to 1"),
        (["--nodes", "1" + "0" * 30], "of memory"),
        (["--depth", "-1"], "depth"),
        (["--target", "nowhere.txt"], "a file that exists"),
    ],
)
def test_bad_options_give_one_line_and_exit_code_two(path, capsys, more, said):
    assert main(["graph", str(path), *more]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and said in captured.err


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert main(["graph", str(tmp_path / "nowhere.txt")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_progress_is_told_to_the_end(cli, tmp_path, monkeypatch):
    told = []
    update = "dynascope.runtime.progress.Progress.update"
    monkeypatch.setattr(update, lambda self, done, note="": told.append((done / self.total, note)))
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n2 3\n")
    assert cli("graph", tmp_path / "edges.txt", "--depth", "2", "--family", "wl").code == 0
    assert told == [(0.5, "wl, depth 1"), (1.0, "wl, depth 2")]
