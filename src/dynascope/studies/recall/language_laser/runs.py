"""A search over truncations on real models, chosen and judged on different prompts.

chen2025 section 4.5.1, Table 4.1, Figs. 4.13, C.2 to C.4. The document chooses layer, matrix and
rank and reports on the same data, and has no control. Here half of the prompts choose, the other
half judges, beside random directions of equal rank, the smallest ones, and the whole part dropped.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from dynascope.core.errors import bad
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec, static_field
from dynascope.data.models import MODELS, find_model
from dynascope.edits import Truncate, apply
from dynascope.edits.changes import words
from dynascope.language import Attribution, attribute, encoded, facts, ioi, load_model, score
from dynascope.language.model import LanguageModel
from dynascope.language.prompts import Prompt
from dynascope.language.prompts.encoding import Encoded
from dynascope.language.search import KEEPS, Grid, choose, joined, measure_grid
from dynascope.language.search.searching import DRAWS
from dynascope.studies.nodes import Node
from dynascope.studies.study import Study

CASES = {  # what is asked of which model: nobody taught stories15M geography
    "stories15M-ioi": ("stories15M", "ioi"),
    "smollm2-ioi": ("smollm2_135m_gguf", "ioi"),
    "smollm2-facts": ("smollm2_135m_gguf", "facts"),
}
LAYERS = {"stories15M": 6, "smollm2_135m_gguf": 30}
TOGETHER = 6  # layers whose writers are looked for at a time: each time the model is run once more
CONTROLS = ("random_there", "smallest_there", "dropped_there", "best_random", "best_dropped")
FOUR_BIT = "4-bit weights: spectra have the noise of rounding in them."


@dataclass(frozen=True)
class Settings(Spec, tag="studies.language-laser"):
    """Which models, how many prompts, and what is searched."""

    models: tuple[str, ...] = ("stories15M", "smollm2_135m_gguf", "gpt2", "pythia-1b")
    prompts: int = 200  # of each kind, facts as many as there are; half of them choose
    keeps: tuple[float, ...] = static_field(KEEPS)
    last_layers: int = 6  # how many layers from the end are searched; 0 is all
    seed: int = 0

    def check(self) -> None:
        """Raise for models that are not known."""
        if not set(self.models) <= set(MODELS):
            raise bad("models", self.models, f"some of {', '.join(MODELS)}")
        if self.prompts < 8:
            raise bad("prompts", self.prompts, "a whole number of at least 8")


study = Study(
    "language-laser",
    title="Truncating a feed-forward matrix of a language model favours the answer over 'the'",
    sources=(chen2025("Table 4.1, Figs. 4.13, C.2 to C.4, section 4.5.1"),),
    settings=Settings,
    scales={
        "smoke": {"models": ("stories15M",), "prompts": 32, "keeps": (0.05, 0.2),
                  "last_layers": 1},
        "laptop": {},
        "paper": {"last_layers": 0},
    },
    notes=lambda s: (
        "The document's models are Pythia, GPT-2, Phi-3 and Llama. Their claims are judged where "
        "their weights are; other claims are about stories15M (float32) and SmolLM2-135M-Instruct "
        "(4-bit), which are not in the document.",
        "Names, places and templates of the who-gave-to-whom prompts are ours: the document does "
        "not print its own.",
        f"Half of {s.prompts} prompts choose, the other half judges; the interval is over prompts, "
        "for one model and one choice.",
        "Random directions are a draw among the matrix's own singular directions.",
        f"Searched are {f'the last {s.last_layers} layers' if s.last_layers else 'all layers'}; "
        "stories15M has six, SmolLM2 thirty.",
    ),
)  # fmt: skip


class Judged(NamedTuple):
    """One search: natural logarithms on the held-out prompts, (prompt,) last."""

    edit: str
    layer: int
    layers: int
    base: np.ndarray  # (prompt, 3): answer, generic, other
    scores: dict[str, np.ndarray]  # "best" and CONTROLS: (prompt, 3)
    keeps: np.ndarray
    by_keep: np.ndarray  # (kind, keep): mean gain at the chosen layer and matrix, all prompts
    by_layer: np.ndarray  # (layer,): gain of the best truncation of each layer, held out
    layer_numbers: np.ndarray
    written: np.ndarray  # (part, layer, prompt): who writes the generic token, all prompts
    without: np.ndarray
    whole: np.ndarray


def gain(found: Judged, name: str = "best") -> np.ndarray:
    """Logarithm of the factor on p(answer) / p(generic), of every held-out prompt."""
    after, before = found.scores[name], found.base
    return (after[:, 0] - after[:, 1]) - (before[:, 0] - before[:, 1])


def concluded(
    model: LanguageModel, prompts: Encoded, grid: Grid, writers: list[Attribution], seed: int
) -> Judged:
    """The choice among the truncations of a grid, its controls, and who writes.

    Args:
        model: The model.
        prompts: What the grid was measured on.
        grid: Of all layers that are searched.
        writers: Who writes the generic token, of some layers each.
        seed: Of the split and of the random directions.
    """
    found = choose(model, prompts, grid, seed=seed)
    best, grid = found.best.edit, found.grid
    i, j = grid.layers.index(best.layer), grid.matrices.index(best.matrix)  # type: ignore[union-attr]
    largest = grid.gain(grid.kept[0])
    chosen = largest[..., found.chosen_on].mean(-1)  # (layer, matrix, keep)
    flat = largest[..., found.held_out].mean(-1).reshape(len(grid.layers), -1)
    picks = chosen.reshape(len(grid.layers), -1).argmax(1)
    return Judged(
        words(best), best.layer, model.layers, grid.base[found.held_out],
        {n: v[found.held_out] for n, v in found.scores.items()}, np.array(grid.keeps),
        grid.gain(grid.kept[:, i, j]).mean(-1), flat[np.arange(len(picks)), picks],
        np.array(grid.layers), np.concatenate([w.written for w in writers], axis=1),
        np.concatenate([w.without for w in writers], axis=1), writers[0].whole,
    )  # fmt: skip


def asked(task: str, count: int, seed: int) -> tuple[Prompt, ...]:
    """The prompts of a task, as many as there are."""
    return ioi(count, seed) if task == "ioi" else facts(min(count, 116), seed)


def _there(name: str) -> dict[str, Any]:
    """Needs a model's weights, and settings that do not leave it out."""

    def left_out(s: Settings) -> str | None:
        return None if name in s.models else f"models leaves {name} out"

    return {"data": name, "only_if": left_out}


@lru_cache(maxsize=1)  # for one item after the other
def _opened(name: str, task: str, count: int, seed: int) -> tuple[LanguageModel, Encoded]:
    model = load_model(find_model(name, download=False))
    return model, encoded(model, asked(task, count, seed))


def _judged(case: str) -> Node:
    """Every layer's truncations, then who writes, then what is chosen: an edit is one pass."""
    name, task = CASES[case]
    layers = LAYERS[name]
    each = 0.0015 if name == "stories15M" else 0.01  # seconds for an edit and a prompt

    def opened(s: Settings) -> tuple[LanguageModel, Encoded]:
        return _opened(name, task, s.prompts, s.seed)

    def searched(s: Settings) -> range:
        return range(max(layers - s.last_layers, 0) if s.last_layers else 0, layers)

    @study.compute(
        name=f"truncations on {case}", each=searched, **_there(name),
        seconds=lambda s: each * s.prompts * 9 * len(s.keeps) * len(searched(s)),
    )  # fmt: skip
    def truncations(s: Settings, layer: int) -> Grid:
        """All truncations of one layer, on all prompts."""
        return measure_grid(*opened(s), [layer], keeps=s.keeps, progress=False)

    @study.compute(
        name=f"writers on {case}", each=lambda s: range(0, layers, TOGETHER), **_there(name),
        seconds=lambda s: each * s.prompts * 2 * layers,
    )  # fmt: skip
    def writers(s: Settings, first: int) -> Attribution:
        """Who writes the generic token, in some layers."""
        some = range(first, min(first + TOGETHER, layers))
        return attribute(*opened(s), some, progress=False)

    @study.compute(
        truncations, writers, name=f"search on {case}", **_there(name),
        seconds=lambda s: 0.5 + each * s.prompts * DRAWS,  # decomposing the matrix
    )  # fmt: skip
    def judged(
        s: Settings, truncations: dict[int, Grid], writers: dict[int, Attribution]
    ) -> Judged:
        """The choice, its controls and the attribution on one model."""
        return concluded(
            *opened(s), joined(list(truncations.values())), list(writers.values()), s.seed
        )

    return judged


judged = {case: _judged(case) for case in CASES}


class Table(NamedTuple):
    """Probabilities of Table 4.1: rows full and LASER, columns by token."""

    p: np.ndarray


TOKENS = ("the", "Spain", "a", "southern", "northern")
PRINTED = np.array([[0.499, 0.079, 0.069, 0.023, 0.021], [0.027, 0.300, 0.002, 0.044, 0.046]])


# Of Pythia-1B: 15 s to read, 35 s to decompose one matrix, 0.5 s or less a prompt.
@study.compute(name="table 4.1 on pythia-1b", seconds=lambda s: 55.0, **_there("pythia-1b"))
def table(s: Settings) -> Table:
    """Next tokens after "Madrid is located in", and after LASER of layer 16 of 16."""
    model = load_model(find_model("pythia-1b", download=False))
    cut = apply(model, Truncate(15, "mlp_in", keep=0.0125))
    found = [
        [
            float(
                np.exp(score(m, encoded(m, [Prompt("Madrid is located in", word, ".")])).answer[0])
            )
            for word in TOKENS
        ]
        for m in (model, cut)
    ]
    return Table(np.array(found))


class Ratios(NamedTuple):
    """p(answer) / p(the), geometric mean over prompts: the model as it is, and truncated."""

    before: float
    after: float


@study.compute(
    name="figure 4.13 on pythia-1b", each=lambda s: ("ioi", "madrid"), seconds=lambda s: 150.0,
    **_there("pythia-1b"),
)  # fmt: skip
def final_ratios(s: Settings, name: str) -> Ratios:
    """The last checkpoint on who gave to whom (layer 11 of 16) and on Madrid (layer 16)."""
    model = load_model(find_model("pythia-1b", download=False))
    given, edit = {
        "ioi": (ioi(100), Truncate(10, "mlp_in", keep=0.008)),
        "madrid": (
            (Prompt("Madrid is located in", "Spain"),), Truncate(15, "mlp_in", keep=0.0125),
        ),
    }[name]  # fmt: skip
    return Ratios(*(score(m, encoded(m, given)).ratio for m in (model, apply(model, edit))))


class Sweep(NamedTuple):
    """Fig. C.4: p of "the" and "them", before and over layers 9 to 11 and shares .1 to .8."""

    before: np.ndarray  # (word,)
    after: np.ndarray  # (layer, keep, word)


@study.compute(name="figure C.4 on gpt2", seconds=lambda s: 20.0, **_there("gpt2"))
def sweep(s: Settings) -> Sweep:
    """GPT-2 small on its one prompt."""
    model = load_model(find_model("gpt2", download=False))
    text = "When Mary and John went to a store, John gave a drink to"
    prompts = [encoded(model, [Prompt(text, word, ".")]) for word in ("the", "them")]

    def p(m: object) -> list[float]:
        return [float(np.exp(score(m, q).answer[0])) for q in prompts]  # type: ignore[arg-type]

    keeps = (0.1, 0.2, 0.4, 0.6, 0.8)
    after = [[p(apply(model, Truncate(i, "mlp_in", keep=k))) for k in keeps] for i in (8, 9, 10)]
    return Sweep(np.array(p(model)), np.array(after))
