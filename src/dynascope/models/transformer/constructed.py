"""Weights that solve noisy recall, written down: chen2025 section 4.4.4.2.

The first block looks at the previous token, W_QK = sum_t p_t p_{t-1}^T, and notes it in a space of
its own. The second matches the note of the trigger with the trigger and keeps away from the noise,
W_QK = W_E(q) (note(q) - c W_E(tau))^T, and copies what it finds, W_V = sum_z W_U(z) W_E(z)^T. The
last MLP answers the trigger with the noise. (The thesis writes key times query in one place and
query times key in another; here the query is on the left.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dynascope.core.errors import bad
from dynascope.models.transformer.presets import recall_transformer
from dynascope.models.transformer.transformer import Transformer
from dynascope.tasks.recall.noisy_recall import NoisyRecall


def constructed(
    task: NoisyRecall, sharpness: float = 60.0, copy: float = 12.0, avoid: float = 1.0
) -> tuple[Transformer, Any]:
    """A transformer of Eq. 4.1 without a first MLP, and its weights.

    Args:
        task: With one trigger and a noise between 0 and 1.
        sharpness: Factor on both blocks' scores.
        copy: Logit that the answer gets.
        avoid: c, how far attention keeps away from the noise.

    Returns:
        The model and its parameters. Rows in which the answer has been shown, and in which
        neither the first token nor the one before the last is the trigger, get the answer with
        probability 1 - alpha and the noise with alpha.
    """
    if len(task.triggers) != 1 or not 0 < task.noise < 1:
        raise bad("task", task.triggers, "one trigger, and a noise between 0 and 1")
    v, t, tau = task.input_size, task.length, task.generic
    [q] = task.triggers
    width = 3 * v + t
    axes = np.eye(width)
    words, notes, outs, places = np.split(axes, [v, 2 * v, 3 * v])
    ordinary = np.delete(np.arange(v), tau)
    match = sharpness * np.outer(words[q], notes[q] - avoid * words[tau])
    previous = sharpness * places[1:].T @ places[:-1]
    noise = copy + np.log(task.noise / (1 - task.noise))

    def attention(scores: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
        # Scores are over sqrt(width) and x_t^T K^T x_s; values are x V O.
        key = scores.T * width**0.5
        return {"key": key[:, None], "value": values[:, None], "output": np.eye(width)[None]}

    def block(attention: dict, feed_forward: dict) -> dict[str, Any]:
        none: dict[str, np.ndarray] = {}
        return {"attention": attention, "attention_norm": none, "feed_forward": feed_forward,
                "feed_forward_norm": none}  # fmt: skip

    model = recall_transformer(t, width, ("none", "mlp"))
    hidden = np.zeros((width, 4 * width))
    hidden[:, 0] = words[q]
    written = np.zeros((4 * width, width))
    written[0] = noise * outs[tau]
    copies = copy * words[ordinary].T @ outs[ordinary]
    return model, {
        "tokens": {"weight": words}, "positions": places, "last_norm": {},
        "output": {"weight": outs.T},
        "blocks": [block(attention(previous, words.T @ notes), {}),
                   block(attention(match, copies), {"in": hidden, "out": written})],
    }  # fmt: skip
