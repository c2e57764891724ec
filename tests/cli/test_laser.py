"""`dynascope laser`: tables, JSON, search, saving, and what is refused in one line."""

from __future__ import annotations

import json

import pytest

from language.small import model  # tests is on the path

pytest.importorskip("safetensors")


@pytest.fixture
def folder(tmp_path):
    """A small model in our own form, and prompts that it can spell."""
    from dynascope.language import save_model

    save_model(model(), tmp_path / "m")
    lines = [f"{text}\tdog\tthe" for text in ("a cat gave", "on a", "to", "gave a", "in", "cat on")]
    (tmp_path / "mine.tsv").write_text("\n".join(lines))
    return tmp_path


@pytest.mark.slow
def test_tables_before_and_after(cli, folder):
    said = cli("laser", folder / "m", "--prompts", folder / "mine.tsv", "--layer", "1",
               "--matrix", "mlp_in", "--keep", "0.25", "--out", folder / "who.png")  # fmt: skip
    assert said.code == 0, said.err
    assert "mlp_in of layer 1: the largest 0.25 of directions (rank 4 of 16" in said.out
    assert "parameters" in said.err and "of memory are free" in said.err
    assert "p(answer) / p(generic)" in said.out and "over 6 prompts" in said.out
    assert "who writes the generic token" in said.out
    assert (folder / "who.png").stat().st_size > 5000


@pytest.mark.slow
def test_search_and_save(cli, folder):
    said = cli("laser", folder / "m", "--prompts", folder / "mine.tsv", "--search", "--json",
               "--save", folder / "cut")  # fmt: skip
    assert said.code == 0, said.err
    found = json.loads(said.out)
    search = found["search"]
    assert (search["chosen_on"], search["held_out"]) == (3, 3) and len(search["controls"]) == 5
    assert found["after"]["edit"] == search["best"]["edit"]
    assert len(found["attribution"][0]["parts"]) == 6
    again = cli("laser", folder / "cut", "--prompts", folder / "mine.tsv", "--keep", "1", "--json")
    assert json.loads(again.out)["before"]["ratio"] == pytest.approx(
        found["after"]["ratio"], rel=1e-3
    )


def test_checkpoints_in_order(cli, folder):
    said = cli("laser", folder / "m", folder / "m", "--prompts", folder / "mine.tsv", "--json",
               "--out", folder / "series.svg")  # fmt: skip
    found = json.loads(said.out)
    assert [one["difference"] for one in found["attribution"]] == [
        found["attribution"][0]["difference"]
    ] * 2


@pytest.mark.parametrize(("words", "message"), [
    (["--keep", "1.5"], "--keep: got 1.5, expected a share from 0 to 1"),
    (["--matrix", "mlp_inn"], "did you mean 'mlp_in'"),
    (["--task", "iio"], "unknown task 'iio'; did you mean 'ioi'"),
    (["--layer", "3"], "a whole number from 0 to 2"),
    (["--matrix", "k", "--out", "x.gif"], "unknown picture format 'gif'"),
    (["--task", "prepositions", "--search"], "a task with answers"),
    (["--task", "prepositions", "--out", "x.png"], "a task with answers"),
    (["--save", "m"], "an empty folder"),
])  # fmt: skip
def test_bad_input_is_one_line(cli, folder, words, message, monkeypatch):
    from dynascope.instruments.laser import examining

    def computed(*_):
        raise AssertionError("computed before the arguments were checked")

    monkeypatch.setattr(examining, "attribute", computed)
    prompts = [] if "--task" in words else ["--prompts", folder / "mine.tsv"]
    words = [folder / "m" if word == "m" else word for word in words]
    said = cli("laser", folder / "m", *prompts, *words)
    assert said.code == 2 and message in said.err
    assert len([line for line in said.err.splitlines() if "error" in line.lower()]) <= 1


def test_no_model(cli, tmp_path):
    said = cli("laser", tmp_path / "none")
    assert said.code == 2 and "a file or folder that is there" in said.err
