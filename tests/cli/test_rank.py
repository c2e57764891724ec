from __future__ import annotations

import json

import numpy as np
import pytest

D = 8
NAMES = [f"h.{i}.attn.{n}.weight" for i in range(2) for n in ("c_attn", "c_proj")]


@pytest.fixture
def files(tmp_path):
    """Two checkpoints of a small GPT-2 that differ everywhere."""
    rng = np.random.default_rng(0)
    (tmp_path / "config.json").write_text('{"n_head": 2}')
    paths = []
    for number in range(2):
        weights = {n: rng.normal(size=(D, 3 * D if "c_attn" in n else D)) for n in NAMES}
        paths.append(tmp_path / f"step{number}.npz")
        np.savez(paths[-1], **weights)
    return paths


def test_table_chart_and_suggestion(cli, files, tmp_path):
    said = cli("rank", *files, "--out", tmp_path / "growth.svg")
    assert said.code == 0, said.err
    assert "gpt2: 2 layers, 2 heads" in said.out and "change of W_V W_O^T" in said.out
    assert said.out.count("step1.npz") == 2 and "+-" in said.out
    assert "suggestion: a LoRA of rank" in said.out and "not trained" in said.out
    assert (tmp_path / "growth.svg").stat().st_size > 1000


def test_json_is_one_object(cli, files):
    said = cli("rank", *files, "--json", "--energy", "0.5")
    found = json.loads(said.out)
    assert found["family"] == "gpt2" and found["checkpoints"] == ["step1.npz"]
    for product in ("kq", "vo"):
        for row in found["change"][product][0]:
            assert 1 <= row["mean"] <= 8 and row["spread"] >= 0 and row["changed"] == 2
    assert 1 <= found["lora"]["rank"] <= D and found["lora"]["energy"] == 0.5


def change(path, **arrays):
    """The file again with some arrays replaced; None leaves one out."""
    new = {**np.load(path), **{k.replace("__", "."): v for k, v in arrays.items()}}
    np.savez(path, **{k: v for k, v in new.items() if v is not None})


def test_bad_input_is_one_line_and_exit_code_2(cli, files, tmp_path):
    before, after = files

    def refused(told, *words):
        said = cli("rank", *words)
        assert said.code == 2 and said.out == "" and told in said.err, said.err
        assert len([x for x in said.err.splitlines() if x.startswith("dynascope: ")]) == 1

    refused("at least two", before)
    refused("no difference", before, before)
    refused("share above 0", before, after, "--energy", "1.5")
    refused("picture format", before, after, "--out", tmp_path / "x.jpeg")
    refused("a divisor of 8", before, after, "--heads", "3")
    change(after, h__1__attn__c_proj__weight=np.ones((D, D + 1)))
    refused("expected (8, 8), as the first has", before, after)
    change(after, h__1__attn__c_proj__weight=None)
    refused("nearest: h.0.attn.c_proj.weight", before, after)
    change(after, h__1__attn__c_proj__weight=np.full((D, D), np.nan))
    refused("finite", before, after)
