"""Eq. 4.1 on noisy recall: training with noise, without it, and with five triggers."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.run import Run
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec, static_field
from dynascope.engine import Experiment, kept_parameters
from dynascope.models import Transformer, recall_transformer
from dynascope.probes.recall import memory
from dynascope.studies.recall.training import cuts_of, trained
from dynascope.studies.study import Study
from dynascope.tasks import NoisyRecall, recall_of_program

FIVE = recall_of_program(triggers=5).triggers
FULL_SIZE = (256, 256, 512)  # d, T and the batches of the thesis


@dataclass(frozen=True)
class Settings(Spec, tag="studies.noisy-recall"):
    """Task, network and training; the thesis's size is d = 256, T = 256, batches of 512."""

    task: NoisyRecall = NoisyRecall(
        128,
        0.5,
        "tinyshakespeare",
        triggers=(1,),
        noise_token=2,
        scored="repeats",
        places=48,
        test=64,
    )
    model: Transformer = recall_transformer(128, 128)
    rate: float = static_field(0.1)
    batch: int = 64
    steps: int = 505
    clean_steps: int = 150
    clean_rate: float = static_field(0.03)  # at 0.1 training without noise diverges by step 70
    five_steps: int = 300
    five_rate: float = static_field(0.05)
    seeds: int = 4  # as fast as three: lanes come in pairs
    first_seed: int = 100  # rates and lengths were chosen on seeds 0 to 3
    five_triggers: bool = True
    to_the_end: bool = True  # whether training is long enough for recall to appear


study = Study(
    "noisy-recall",
    title="The noise is learned first, in the last MLP; cut it, and the context's answer is left",
    sources=(chen2025("Figs. 4.3, 4.4, 4.6, 4.8, section 4.4.4.2"),),
    settings=Settings,
    scales={
        "smoke": {
            "task.places": 16, "task.length": 32, "task.test": 64, "model.tokens.length": 32,
            "model.width": 32, "batch": 16, "steps": 40, "clean_steps": 40, "seeds": 4,
            "five_triggers": False, "to_the_end": False,
        },
        "laptop": {},
        "paper": {
            "task.length": 256, "task.places": 96, "task.test": 512, "model.tokens.length": 256,
            "model.width": 256, "batch": 512, "steps": 2000, "clean_steps": 1000,
            "five_steps": 2000, "rate": 0.03, "five_rate": 0.03,
        },
    },
    notes=lambda s: (
        "As in the authors' program: 65 letters of Tiny Shakespeare, the blank triggers, '!' is "
        "the noise, the loss is taken at every trigger that has occurred before; SGD with momentum "
        "0.9 and weight decay 1e-4, which the text does not name.",
        f"Of a row {s.task.places} places are asked at most; 48 of 128 lose none in 2,560 rows.",
        f"d = {s.model.width}, T = {s.task.length}, batches of {s.batch}, rate {s.rate:g} "
        f"({s.clean_rate:g} without noise, {s.five_rate:g} with five triggers); the thesis has "
        "d = 256, T = 256, batches of 512, rates from 0.001 to 0.03, 2,000 steps.",
    ),
)  # fmt: skip


def _seeds(s: Settings) -> range:
    return range(s.first_seed, s.first_seed + s.seeds)


@study.run(data="tinyshakespeare")
def noisy(s: Settings) -> Experiment:
    """Training with noise 1/2."""
    return trained(s.task, s.model, s.rate, s.batch, s.steps, _seeds(s))


@study.run(data="tinyshakespeare")
def clean(s: Settings) -> Experiment:
    """Training without noise."""
    task, cuts = replace(s.task, noise=0.0), cuts_of(s.model)[:1]
    return trained(task, s.model, s.clean_rate, s.batch, s.clean_steps, _seeds(s), cuts, looks=0)


def _no_five(s: Settings) -> str | None:
    return None if s.five_triggers else "five_triggers=False leaves several triggers out"


@study.run(data="tinyshakespeare", only_if=_no_five)
def five(s: Settings) -> Experiment:
    """Five triggers, each with its own answer."""
    task = replace(s.task, triggers=FIVE, places=min(88, s.task.length))
    return trained(task, s.model, s.five_rate, s.batch, s.five_steps, _seeds(s), (), looks=0)


def _too_short(s: Settings) -> str | None:
    return None if s.to_the_end else "to_the_end=False: these runs stop before recall is learned"


@study.finding(noisy, only_if=_too_short)
def to_the_end(s: Settings, noisy: Run) -> Run:
    """The noisy runs, where they are long enough."""
    return noisy


def _too_narrow(s: Settings) -> str | None:
    narrow = s.model.width < 128
    return f"the bound is that of d = 128; here d = {s.model.width}" if narrow else None


@study.finding(noisy, only_if=_too_narrow)
def wide_enough(s: Settings, noisy: Run) -> Run:
    """The noisy runs, where the first steps are those of a network wide enough."""
    return noisy


def _too_small(s: Settings) -> str | None:
    size = s.model.width, s.task.length, s.batch
    if all(own >= printed for own, printed in zip(size, FULL_SIZE, strict=True)):
        return None
    return (
        "what is printed is of d = {}, T = {}, batches of {}; here they are {}, {} and {}"
    ).format(*FULL_SIZE, *size)


@study.finding(to_the_end, only_if=_too_small)
def at_full_size(s: Settings, noisy: Run) -> Run:
    """The noisy runs, where they have the size of the thesis."""
    return noisy


class Maps(NamedTuple):
    """What the weights store, for every seed: (seed, token, token)."""

    feed_forward: np.ndarray  # <F_2(W_E(i)), W_U(j)>, Fig. 4.6 middle
    values: np.ndarray  # <W_V^2 W_E(i), W_U(j)>, Fig. 4.6 right
    matching: np.ndarray  # <W_V^1 W_E(i), W_QK^2 W_E(j)>, Fig. 4.8
    generic: int
    triggers: tuple[int, ...]


def maps_of(model: Transformer, task: NoisyRecall, parameters: list[Any]) -> Maps:
    """The three maps of a network's parameters, given for every seed."""
    found = [_maps(model, one) for one in parameters]
    written, values, matching = (np.stack(part) for part in zip(*found, strict=True))
    return Maps(written, values, matching, task.generic, task.triggers)


def _maps(model: Transformer, params: Any) -> tuple[np.ndarray, ...]:
    params = jax.tree.map(jnp.asarray, params)
    words, out = params["tokens"]["weight"], params["output"]["weight"]
    first, last = (params["blocks"][i]["attention"] for i in (0, -1))
    through = [a["value"][:, 0] @ a["output"][0] for a in (first, last)]
    # The score of key x_s for query x_t is x_t^T K^T x_s: the query's side is W_E(j) K^T.
    matching = (words @ through[0]) @ (words @ last["key"][:, 0].T).T
    return tuple(map(np.asarray, (memory(model, params), words @ through[1] @ out, matching)))


@study.finding(noisy, only_if=_too_short)
def noisy_maps(s: Settings, noisy: Run) -> Maps:
    """Of training with noise."""
    last = [kept_parameters(noisy.sel(seed=int(k)), s.steps) for k in noisy["seed"].values]
    return maps_of(noisy.experiment.model, noisy.experiment.task, last)


@study.finding(clean)
def clean_maps(s: Settings, clean: Run) -> Maps:
    """Of training without noise."""
    last = [kept_parameters(clean.sel(seed=int(k)), s.clean_steps) for k in clean["seed"].values]
    return maps_of(clean.experiment.model, clean.experiment.task, last)


@study.finding(five, only_if=_too_short)
def five_maps(s: Settings, five: Run) -> Maps:
    """Of training with five triggers."""
    last = [kept_parameters(five.sel(seed=int(k)), s.five_steps) for k in five["seed"].values]
    return maps_of(five.experiment.model, five.experiment.task, last)


@study.finding(clean, only_if=_too_short)
def clean_to_the_end(s: Settings, clean: Run) -> Run:
    """The runs without noise, where they are long enough."""
    return clean


@study.finding(clean)
def planted_clean(s: Settings, clean: Run) -> Run:
    """Runs without noise in which dropping the last MLP halves the probability of the answer."""
    values = np.array(clean["recall"].values)
    values[..., 1, 0] = values[..., 0, 0] / 2
    return clean.planted(recall=values)


@study.finding(noisy)
def planted(s: Settings, noisy: Run) -> dict[str, Run]:
    """The noisy runs with other measurements: as the thesis describes them, and untrained."""
    recall, attention = noisy["recall"], noisy["recall_attention"]
    cuts = [str(c) for c in recall["cut"].values]
    ideal = np.array(recall.values)
    for i, cut in enumerate(cuts):
        kept = 1.0 if cut == "whole" else float(cut.split()[-1])
        right, noise = (
            (0.3, 0.7) if cut.startswith("blocks.0") else (0.98 - 0.48 * kept, 0.5 * kept)
        )
        noise = max(noise, 0.01)
        ideal[..., i, :] = (right, noise, -np.log(right), noise, right)
    ideal[:, 1:6, 0, :2] = (0.01, 0.95)
    parts = np.broadcast_to([0.9, 0.9, 0.01, 0.1, 0.001], attention.shape)
    alike = np.broadcast_to([0.9, 0.4, 0.4, 0.05, 0.05], attention.shape)
    margin = np.full(noisy["noise_margin"].shape, 3.0)
    start = {n: np.broadcast_to(noisy[n].values[:, :1], noisy[n].shape)
             for n in ("recall", "recall_attention", "noise_margin")}  # fmt: skip
    start["noise_margin"] = -np.abs(start["noise_margin"]) - 1
    turned = np.array(ideal)
    turned[..., 1:-1, :] = ideal[..., -2:0:-1, :]  # the shares in the other order
    turned[..., 1, 1] = 0.5
    at_once = ideal.copy()
    at_once[..., 0] = 0.9
    return {
        "answer at once": noisy.planted(recall=at_once),
        "attended": noisy.planted(recall_attention=alike),
        "turned": noisy.planted(recall=turned),
        "ideal": noisy.planted(recall=ideal, recall_attention=parts, noise_margin=margin),
        "untrained": noisy.planted(**start),
    }


@study.finding
def planted_maps(s: Settings) -> dict[str, Maps]:
    """Maps of weights as the construction of section 4.4.4.2 has them, and of random weights."""
    size, task = 65, replace(s.task, triggers=(1,), noise_token=2)
    five = replace(task, triggers=FIVE, places=min(88, task.length))
    rng = np.random.default_rng(0)
    noise = lambda: 0.1 * rng.normal(size=(6, size, size))  # noqa: E731
    column = np.zeros((size, size))
    column[:, task.generic] = 3.0
    diagonal = 5.0 * np.eye(size)
    diagonal[task.generic, task.generic] = 0.0

    def built(task: NoisyRecall, values: np.ndarray) -> Maps:
        match = 50.0 * np.diag(np.isin(np.arange(size), task.triggers).astype(float))
        return _planted(task, noise() + column, noise() + values, noise() + match)

    drawn = noise(), noise(), noise()
    return {
        "copies": built(task, 5.0 * np.eye(size)), "built": built(task, diagonal),
        "five": built(five, diagonal), "random": _planted(task, *drawn),
        "random five": _planted(five, *drawn),
    }  # fmt: skip


def _planted(
    task: NoisyRecall, written: np.ndarray, values: np.ndarray, matching: np.ndarray
) -> Maps:
    """Maps read from weights that store given ones: every token is an axis of its own."""
    size = written.shape[-1]
    one, whole = np.eye(size), np.eye(size, 4 * size)
    weights = [
        {
            "tokens": {"weight": one}, "output": {"weight": one},
            "blocks": [
                {"attention": {"value": one[:, None], "output": one[None]}},
                {"attention": {"value": v[:, None], "output": one[None], "key": m[:, None]},
                 "feed_forward": {"in": whole, "out": whole.T @ w}},
            ],
        }
        for w, v, m in zip(written, values, matching, strict=True)
    ]  # fmt: skip
    return maps_of(recall_transformer(task.length, size), task, weights)
