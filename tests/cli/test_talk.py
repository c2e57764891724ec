"""What is printed where."""

from __future__ import annotations

import json
import math

from dynascope.cli import talk


def test_json_is_strict_and_numbers_that_are_not_finite_are_null(capsys):
    talk.emit({"a": math.nan, "b": [math.inf, 1.5, (-math.inf,)], 3: "text", "c": None})
    out, err = capsys.readouterr()
    assert out == '{"a": null, "b": [null, 1.5, [null]], "3": "text", "c": null}\n' and err == ""
    assert json.loads(out)["b"][1] == 1.5


def test_talk_goes_to_stderr(capsys):
    talk.say("a")
    talk.tell("1/2 [b]")
    assert capsys.readouterr() == ("", "a\n1/2 [b]\n")


def test_a_table_in_a_file_breaks_no_line_and_leaves_no_blanks(capsys):
    long = "x" * 300
    talk.table(("id", "what"), [("1", long), ("2", "task.means[0] [bold]")])
    head, _, first, second = capsys.readouterr().out.splitlines()
    assert first.split() == ["1", long] and second == "2    task.means[0] [bold]"
    assert head == "id   what"


def test_files_have_a_fixed_width_unless_columns_says_otherwise(monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert talk.width() == talk.PIPED_WIDTH
    monkeypatch.setenv("COLUMNS", "57")
    assert talk.width() == 57


def test_letters_that_the_terminal_lacks_are_spelled(monkeypatch, capsys):
    monkeypatch.setattr(talk, "encoding", lambda: "ascii")
    talk.table(("a",), [("0.1 ± 0.2",)])
    assert "0.1 +/- 0.2" in capsys.readouterr().out
