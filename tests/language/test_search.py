"""The search against edits made one by one, and a planted writer that truncation removes."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope import edits
from dynascope.core.errors import BadInput
from dynascope.language import Prompt, encoded, score, search
from dynascope.language.search import KINDS as KEPT
from dynascope.language.search import choose, joined, measure_grid

from .small import KINDS, model

TEXTS = ("a cat gave", "on a dog", "to", "gave a", "in", "a dog to a", "cat on", "dog in a")
PROMPTS = tuple(Prompt(text, "dog") for text in TEXTS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_grid_is_what_edits_give_one_by_one(kind):
    lm = model(kind)
    prompts = encoded(lm, PROMPTS)
    matrices = ("mlp_in", "mlp_out", "q", "o")
    grid = measure_grid(lm, prompts, matrices=matrices, keeps=(0.25, 0.5))
    base = score(lm, prompts)
    np.testing.assert_allclose(grid.base[:, 0], base.answer, atol=1e-4)
    for n, name in enumerate(KEPT):
        for i, j, k in np.ndindex(lm.layers, len(matrices), 2):
            if (i + j + k + n) % 3 == 0:  # a third of them
                want = score(edits.apply(lm, grid.edit(name, i, j, k)), prompts)
                np.testing.assert_allclose(grid.kept[n, i, j, k, :, 0], want.answer, atol=3e-4)
                np.testing.assert_allclose(grid.kept[n, i, j, k, :, 1], want.generic, atol=3e-4)
    for layer in range(lm.layers):
        want = score(edits.apply(lm, edits.DropPart(layer)), prompts)
        np.testing.assert_allclose(grid.dropped[layer, :, 1], want.generic, atol=3e-4)
    assert grid.ranks.tolist() == [[4, 8]] * 4


def test_grids_of_single_layers_are_joined_to_the_grid_of_all():
    lm = model()
    prompts = encoded(lm, PROMPTS)
    whole = measure_grid(lm, prompts, keeps=(0.25, 0.5))
    parts = [measure_grid(lm, prompts, [layer], keeps=(0.25, 0.5)) for layer in range(lm.layers)]
    for one, other in zip(joined(parts), whole, strict=True):
        np.testing.assert_array_equal(one, other)


def planted():
    """A small direction of layer 2's last matrix writes the generic word, on top of a large one."""
    lm = model("llama", seed=1)
    word = encoded(lm, PROMPTS[:1]).generic[0]
    out = lm.weights["blocks.2.feed_forward.out"]
    table = lm.weights["tokens.weight"]
    rng = np.random.default_rng(0)
    hidden = np.linalg.qr(rng.normal(size=(24, 2)))[0]
    other = rng.normal(size=16)
    other -= other @ table[word] / (table[word] @ table[word]) * table[word]
    w = 40 * np.outer(hidden[:, 0], other / np.linalg.norm(other))
    # the gate's outputs have no fixed sign: let the small direction read their mean
    w = w + np.outer(np.abs(hidden[:, 1]), table[word]) * 3
    return lm.with_weights({"blocks.2.feed_forward.out": w.astype(out.dtype)})


def test_split_halves_do_not_meet_and_controls_are_of_equal_rank():
    lm = planted()
    prompts = encoded(lm, PROMPTS)
    found = search(lm, prompts, keeps=(0.1, 0.5), progress=False)
    assert not set(found.chosen_on) & set(found.held_out)
    assert len(found.chosen_on) + len(found.held_out) == len(PROMPTS)
    gains = found.grid.gain(found.grid.kept[0])[..., found.chosen_on].mean(-1)
    assert np.log(found.best.chosen_gain) == pytest.approx(gains.max(), abs=1e-5)
    edit = found.best.edit
    again = score(edits.apply(lm, edit), prompts.part(found.held_out))
    before = score(lm, prompts.part(found.held_out))
    want = np.exp((again.log_ratio - before.log_ratio).mean())
    assert found.best.gain == pytest.approx(want, rel=1e-2)
    assert (found.dropped_there.edit.layer, found.smallest_there.edit.keep) == (
        edit.layer, edit.keep)  # fmt: skip
    assert found.random_there.edit.matrix == edit.matrix


def test_what_is_not_enough_is_told():
    lm = model()
    with pytest.raises(BadInput, match="at least four"):
        search(lm, encoded(lm, PROMPTS[:3]), progress=False)
    with pytest.raises(BadInput, match="from 0 to 2"):
        search(lm, encoded(lm, PROMPTS), layers=[3], progress=False)


def test_a_grid_of_another_model_or_of_other_prompts_is_refused():
    lm, other = planted(), model("llama", seed=1)
    prompts = encoded(lm, PROMPTS)
    grid = measure_grid(lm, prompts, keeps=(0.25,), progress=False)
    assert choose(lm, prompts, grid).best.edit
    for wrong in (
        (other, prompts, grid),
        (lm, prompts.part(np.arange(4)), grid),
        (lm, prompts, grid._replace(kept=grid.kept + 1)),  # as it is, but not once truncated
    ):
        with pytest.raises(BadInput, match="measured on this model"):
            choose(*wrong)
