"""Contributions add up to the logit difference; dropping a part is what an edit does."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope import edits
from dynascope.core.errors import BadInput
from dynascope.language import Prompt, attribute, encoded, score

from .small import KINDS, QUICK_KINDS, model

PROMPTS = (Prompt("a cat gave", "dog"), Prompt("on a dog", "cat"), Prompt("to", "cat", "dog"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_contributions_add_up_to_the_whole(kind):
    lm = model(kind)
    prompts = encoded(lm, PROMPTS)
    found = attribute(lm, prompts)
    np.testing.assert_allclose(found.whole, -score(lm, prompts).log_ratio, atol=1e-4)
    np.testing.assert_allclose(found.words + found.written.sum((0, 1)), found.whole, atol=1e-4)
    assert np.abs(found.written).max() > 0.05


@pytest.mark.parametrize("kind", QUICK_KINDS)
def test_without_a_part_is_the_edited_model(kind):
    lm = model(kind)
    prompts = encoded(lm, PROMPTS)
    found = attribute(lm, prompts)
    for i, part in enumerate(("attention", "mlp")):
        for layer in range(lm.layers):
            edited = edits.apply(lm, edits.DropPart(layer, part))
            np.testing.assert_allclose(
                found.without[i, layer], -score(edited, prompts).log_ratio, atol=2e-4
            )


@pytest.mark.slow
def test_a_planted_writer_is_found():
    """Feed-forward of layer 1 made to write the generic word's vector."""
    lm = model("gpt2")
    prompts = encoded(lm, PROMPTS[:2])
    token = int(prompts.generic[0])
    bias = lm.weights["blocks.1.feed_forward.out_bias"] + 8 * lm.weights["tokens.weight"][token]
    planted = lm.with_weights({"blocks.1.feed_forward.out_bias": bias})
    first = attribute(planted, prompts).told()[0]
    assert (first["layer"], first["part"]) == (1, "mlp") and first["without"] < first["writes"]


def test_some_layers_are_those_of_all():
    lm = model()
    prompts = encoded(lm, PROMPTS)
    whole, some = attribute(lm, prompts), attribute(lm, prompts, [0, 2])
    np.testing.assert_array_equal(some.written, whole.written[:, [0, 2]])
    np.testing.assert_array_equal(some.without, whole.without[:, [0, 2]])
    np.testing.assert_array_equal(some.whole, whole.whole)


def test_prompts_without_answers_are_refused():
    lm = model()
    with pytest.raises(BadInput, match="an answer for each"):
        attribute(lm, encoded(lm, [Prompt("on", "")]))
