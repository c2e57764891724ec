"""Planted cases: small models on which it is known what a truncation does, put to the same search.

The answer is the last word of each text, which the residual stream carries to the end by itself.
Fixed offsets of attention, and single directions of the feed-forward part's second matrix, add to
or take from the generic word's vector, whatever the text says.
"""

import jax
import numpy as np

from dynascope.language import attribute
from dynascope.language.model import LanguageModel
from dynascope.language.prompts.encoding import NONE, Encoded
from dynascope.language.search import joined, measure_grid
from dynascope.models import Transformer, Words
from dynascope.runtime.precision import precision
from dynascope.studies.recall.language_laser.runs import (
    PRINTED,
    Judged,
    Ratios,
    Settings,
    Sweep,
    Table,
    concluded,
    study,
)

WORDS, WIDTH, HIDDEN = 64, 96, 16
WRITER = Transformer(
    Words(8), depth=2, width=WIDTH, heads=2, hidden=HIDDEN, activation="relu", causal=True,
    positions="none", read="every", tied=True,
)  # fmt: skip
KEEPS = (1 / HIDDEN,)
LENGTH, FIXED = 6.0, 60.0  # of words' vectors, and of what is the same at the end of every text
# Direction k writes along coordinate k; of these the generic word's vector is made. None of the
# draws of random directions has the middle one.
PLACES = {"largest": 0, "middle": 3, "smallest": HIDDEN - 1}
STRENGTH = np.array([[0.5], [1.0]])  # of each block: the second is the one to cut


def writing(attention: float = 0.0, **directions: float) -> LanguageModel:
    """A drawn model whose blocks write the generic word, number 0, or against it.

    Args:
        attention: How many times the word's vector attention adds.
        directions: How many times their third of it the "largest", a "middle" and the "smallest"
            singular direction of the feed-forward part's second matrix add.
    """
    rng = np.random.default_rng(0)
    with precision("float32"):
        params = jax.jit(WRITER.build(WORDS, WORDS).init)(jax.random.key(0))
    blocks = jax.tree.map(lambda *layers: np.stack(layers), *params["blocks"])
    for part, name in (("attention", "output"), ("feed_forward", "out")):
        for entries in (name, f"{name}_bias"):
            blocks[part][entries] = np.zeros_like(blocks[part][entries])
    # Words are orthogonal; the last coordinates are of none. What is fixed lies in them, and as
    # it is long the last norm divides all by the same, so that logits are sums of what is written.
    own = list(PLACES.values())
    others = [k for k in range(WORDS + 2) if k not in own]
    table = np.zeros((WORDS, WIDTH))
    table[0, own] = LENGTH / np.sqrt(len(own))
    table[1:, others] = np.linalg.qr(rng.normal(size=(WORDS - 1, WORDS - 1)))[0] * LENGTH
    fixed = np.where(np.arange(WIDTH) < WORDS + 2, 0.0, np.resize([1.0, -1.0], WIDTH))
    blocks["attention"]["output_bias"] = STRENGTH * attention * table[0]
    blocks["attention"]["output_bias"][0] += FIXED * fixed / np.linalg.norm(fixed)
    # W = sum_k sigma_k e_k e_k^T; the hidden layer is h for every text, so k adds h_k sigma_k.
    sigma, adds = np.linspace(2.0, 0.5, HIDDEN), np.zeros(HIDDEN)
    for name, times in directions.items():
        adds[PLACES[name]] = times * table[0, PLACES[name]]
    feed_forward = blocks["feed_forward"]
    feed_forward["in"] = np.zeros_like(feed_forward["in"])
    feed_forward["in_bias"] = STRENGTH * np.abs(adds) / sigma
    feed_forward["out"][:] = (
        np.eye(HIDDEN, WIDTH) * (np.where(adds < 0, -1.0, 1.0) * sigma)[:, None]
    )
    params = {**params, "tokens": {"weight": table}, "blocks": blocks}
    return LanguageModel(WRITER, params, {}, "planted")


def searched(model: LanguageModel) -> Judged:
    """What the search chooses and finds: each word but the generic one ends a text."""
    rng = np.random.default_rng(1)
    answers = np.arange(1, WORDS)
    texts = tuple((*map(int, rng.integers(WORDS, size=4)), int(a)) for a in answers)
    none = np.full(len(answers), NONE)
    prompts = Encoded((), texts, answers, 0 * answers, none, ())
    layers = range(model.layers)
    grids = [measure_grid(model, prompts, [i], ("mlp_out",), KEEPS, progress=False) for i in layers]
    writers = [attribute(model, prompts, [i], progress=False) for i in layers]
    return concluded(model, prompts, joined(grids), writers, seed=0)


@study.compute(seconds=lambda s: 8.0)
def planted(s: Settings) -> dict[str, Judged]:
    """Truncations that help more than their controls, that harm, and that help no more."""
    models = {
        "helps": writing(attention=0.5, largest=-1.5, smallest=3.0),
        "harms": writing(attention=1.0, smallest=-3.0),
        "controls too": writing(middle=3.0),
    }
    return {name: searched(model) for name, model in models.items()}


@study.finding
def planted_tables(s: Settings) -> dict[str, Table]:
    """The printed table, and one in which LASER changes nothing."""
    return {"printed": Table(PRINTED + 0.002), "same": Table(PRINTED[[0, 0]])}


@study.finding
def planted_ratios(s: Settings) -> dict[str, Ratios]:
    """The printed ratios, and equal ones."""
    return {"ioi": Ratios(2.4, 12.0), "madrid": Ratios(0.16, 11.0), "same": Ratios(1.0, 1.0)}


@study.finding
def planted_sweeps(s: Settings) -> dict[str, Sweep]:
    """All lower, and one higher."""
    low = np.full((3, 5, 2), 0.05)
    return {
        "lower": Sweep(np.array([0.1, 0.1]), low), "higher": Sweep(np.array([0.01, 0.01]), low),
    }  # fmt: skip
