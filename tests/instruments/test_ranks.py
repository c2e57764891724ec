"""Ranks of checkpoints: planted changes, dense twins, and a suggestion that can be counted."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.instruments.ranks.describing import describe_ranks, suggest_lora
from dynascope.instruments.ranks.drawing import growth_chart
from dynascope.instruments.ranks.measuring import measure_ranks

RNG = np.random.default_rng(0)
D, H, LAYERS = 12, 3, 2
NAMES = [f"model.layers.{i}.self_attn.{n}_proj.weight" for i in range(LAYERS) for n in "qkvo"]


@pytest.fixture
def series(tmp_path):
    """Three checkpoints of a small Llama: keys get a change of rank 1, then of rank 2."""
    (tmp_path / "config.json").write_text(f'{{"num_attention_heads": {H}}}')
    weights = {name: RNG.normal(size=(D, D)) for name in NAMES}
    paths = []
    for number in range(3):
        for name in NAMES:
            if number and "k_proj" in name:
                weights[name] = weights[name] + np.outer(RNG.normal(size=D), RNG.normal(size=D))
        paths.append(tmp_path / f"step{number}.npz")
        np.savez(paths[-1], **weights)
    return paths


def test_the_change_has_the_rank_that_was_planted(series):
    found = measure_ranks(series)
    assert found.names == ("step1.npz", "step2.npz") and found.family == "llama"
    ranks = (found.change["kq"] > 1e-10 * found.change["kq"].max()).sum(-1)
    assert (ranks[0] == 1).all() and (ranks[1] == 2).all()
    assert not found.change["vo"].any()
    before, after = (np.load(path) for path in (series[0], series[2]))
    for layer in range(LAYERS):
        name = f"model.layers.{layer}.self_attn."
        products = [(f[f"{name}k_proj.weight"].T, f[f"{name}q_proj.weight"].T)
                    for f in (before, after)]  # fmt: skip
        for h in range(H):
            own = slice(4 * h, 4 * h + 4)
            old, new = (k[:, own] @ q[:, own].T for k, q in products)
            dense = np.linalg.svd(new - old, compute_uv=False)[:8]
            assert np.abs(found.change["kq"][1, layer, h] - dense).max() < 1e-11
            start = np.linalg.svd(old, compute_uv=False)[:4]
            assert np.abs(found.start["kq"][layer, h] - start).max() < 1e-11


def test_the_description_counts_and_says_what_did_not_change(series):
    found = describe_ranks(measure_ranks(series), energy=0.999)
    first, last = found["change"]["kq"]
    assert all(row["mean"] == pytest.approx(1) and row["changed"] == H for row in first)
    assert all(1 < row["mean"] <= 2 for row in last)
    assert all(row["mean"] is None and row["changed"] == 0 for row in found["change"]["vo"][1])
    assert found["lora"]["by_matrix"] == {"q": 0, "k": 2, "v": 0, "o": 0}
    assert any("6 products have not changed" in note for note in found["notes"])
    assert any("distance zero" in note for note in found["notes"])


def test_a_lora_rank_holds_its_share():
    squares = {"q": np.array([[8.0, 1.0, 1.0], [5.0, 5.0, 0.0]]), "k": np.array([[1.0, 0, 0]] * 2)}
    found = suggest_lora(squares, 0.85)
    assert found["rank"] == 2 and found["by_matrix"] == {"q": 2, "k": 1} and found["median"] == 1.5
    assert suggest_lora(squares, 0.95)["rank"] == 3


def test_charts_of_two_and_of_many(series):
    chart = growth_chart(measure_ranks(series))
    assert [type(p.marks[0]).__name__ for p in chart.panels] == ["Heat", "Heat", "Reference"]
    heat = chart.panels[0].marks[0]
    column = [row[1] for row in heat.z]  # the last checkpoint: rank 2, then the floor
    assert column[0] == 0 and -2 < column[1] < 0 and set(column[2:]) == {-2.0}
    two = growth_chart(measure_ranks(series[:2]))
    change, before = two.panels[0].marks
    assert change.y[0] == 1 and set(change.y[1:]) == {0.01} and min(before.y) > 0.01
