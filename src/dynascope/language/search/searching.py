"""`search`: the truncation that helps most on one half of the prompts, judged on the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dynascope.core.errors import bad
from dynascope.edits import DropPart, Edit, KeepRandom, directions, layout
from dynascope.edits.changes import words
from dynascope.language.model import LanguageModel
from dynascope.language.prompts.encoding import NONE, Encoded
from dynascope.language.search.grid import KEEPS, Grid, measure_grid
from dynascope.language.search.resuming import Resumed

DRAWS = 8  # of random directions at the place that was chosen
# Between logarithms of one probability in float32: 5e-6 seen; a stored grid may be of another
# processor.
SAME = 1e-3


class Held(NamedTuple):
    """An edit, what it does on the half that chose it, and on the other."""

    edit: Edit | DropPart
    chosen_gain: float  # factor on p(answer) / p(generic), geometric mean over prompts
    gain: float  # the same on the held-out half
    raised: float  # share of held-out prompts whose ratio rises
    answer: float  # mean p(answer) there
    answer_raised: float  # share of held-out prompts whose p(answer) rises
    generic: float  # mean p(generic) there

    def told(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "edit": words(self.edit),
            **{n: v for n, v in self._asdict().items() if n != "edit"},
        }


class Found(NamedTuple):
    """What the search chose, and its controls, all judged on the held-out half."""

    best: Held
    random_there: Held  # as many random directions at the same place; mean of several draws
    smallest_there: Held  # as many of the smallest
    dropped_there: Held  # without the feed-forward part of that layer
    best_random: Held  # a search of its own among random directions
    best_dropped: Held  # and among whole parts
    base: dict[str, float]  # on the held-out half: mean p(answer), p(generic)
    chosen_on: np.ndarray  # prompts that chose
    held_out: np.ndarray  # prompts that judge
    scores: dict[str, np.ndarray]  # (prompt, 3) as in `Grid`, of each of the six above
    grid: Grid


def search(
    model: LanguageModel,
    prompts: Encoded,
    layers: Sequence[int] | None = None,
    matrices: Sequence[str] | None = None,
    keeps: Sequence[float] = KEEPS,
    *,
    seed: int = 0,
    progress: bool = True,
) -> Found:
    """Choose layer, matrix and share on half of the prompts, and report on the other half.

    What is chosen raises p(answer) / p(generic) most, in the geometric mean.

    Args:
        model: The model.
        prompts: At least four, each with an answer.
        layers: From 0; all by default.
        matrices: By default those of the feed-forward part.
        keeps: Shares of directions that are kept.
        seed: Of the split and of the random directions.
        progress: Whether to show how far it is.

    Returns:
        The choice beside its controls.
    """
    if len(prompts.texts) < 4 or (prompts.answer == NONE).any():
        raise bad("prompts", len(prompts.texts), "at least four, each with an answer")
    grid = measure_grid(model, prompts, layers, matrices, keeps, progress=progress)
    return choose(model, prompts, grid, seed=seed)


def choose(model: LanguageModel, prompts: Encoded, grid: Grid, *, seed: int = 0) -> Found:
    """The choice among truncations that have been measured on this model; see `search`."""
    order = np.random.default_rng(seed).permutation(len(prompts.texts))
    chosen_on, held_out = np.sort(order[::2]), np.sort(order[1::2])

    place, other = _best(grid, 0, chosen_on), _best(grid, 1, chosen_on)
    drop = int(grid.gain(grid.dropped)[:, chosen_on].mean(1).argmax())
    best = grid.edit("largest", *place)
    random = KeepRandom(best.layer, best.matrix, keep=best.keep)  # type: ignore[attr-defined]
    draws = _draws(model, prompts, grid, place)
    tried: dict[str, tuple[Any, np.ndarray]] = {
        "best": (best, grid.kept[(0, *place)]),
        "random_there": (random, np.mean(draws, axis=0)),
        "smallest_there": (grid.edit("smallest", *place), grid.kept[(2, *place)]),
        "dropped_there": (DropPart(best.layer), grid.dropped[place[0]]),
        "best_random": (grid.edit("random", *other), grid.kept[(1, *other)]),
        "best_dropped": (DropPart(grid.layers[drop]), grid.dropped[drop]),
    }
    held = {
        n: _held(grid, edit, scores, chosen_on, held_out) for n, (edit, scores) in tried.items()
    }
    held["random_there"] = _mean([_held(grid, random, s, chosen_on, held_out) for s in draws])
    answer, generic = grid.base[held_out, 0], grid.base[held_out, 1]
    base = {"answer": float(np.exp(answer).mean()), "generic": float(np.exp(generic).mean()),
            "ratio": float(np.exp((answer - generic).mean()))}  # fmt: skip
    scores = {name: found for name, (_, found) in tried.items()}
    return Found(**held, base=base, chosen_on=chosen_on, held_out=held_out, scores=scores,
                 grid=grid)  # fmt: skip


def _best(grid: Grid, kind: int, rows: np.ndarray) -> tuple[int, int, int]:
    """Layer, matrix and keep of the largest gain on some prompts."""
    gains = grid.gain(grid.kept[kind])[..., rows].mean(-1)
    layer, matrix, keep = np.unravel_index(int(gains.argmax()), gains.shape)
    return int(layer), int(matrix), int(keep)


def _held(grid: Grid, edit: Any, scores: np.ndarray, chosen: np.ndarray, out: np.ndarray) -> Held:
    gain = grid.gain(scores)
    p = np.exp(scores[out])
    return Held(
        edit, float(np.exp(gain[chosen].mean())), float(np.exp(gain[out].mean())),
        float((gain[out] > 0).mean()), float(p[:, 0].mean()),
        float((scores[out, 0] > grid.base[out, 0]).mean()), float(p[:, 1].mean()),
    )  # fmt: skip


def _mean(many: list[Held]) -> Held:
    """Mean over draws; of gains the geometric one."""
    rows = np.array([held[1:] for held in many])
    mean = rows.mean(0)
    mean[:2] = np.exp(np.log(rows[:, :2]).mean(0))
    return Held(many[0].edit, *map(float, mean))


def _draws(
    model: LanguageModel, prompts: Encoded, grid: Grid, place: tuple[int, int, int]
) -> list[np.ndarray]:
    """Scores of several draws of as many random directions at a place of the grid.

    The model as it is and the truncation at that place are scored once more: a grid of other
    prompts or of another model is refused.
    """
    edit, here = grid.edit("largest", *place), Resumed(model, prompts)
    while here.layer < edit.layer:
        here.advance()
    found = layout(model.weights, model.config)
    w = found.matrix(edit.layer, edit.matrix)
    parts = directions(w)
    size = len(parts.sigma)
    for entries, known in ((w, grid.base), (parts.kept(edit.which(size)), grid.kept[(0, *place)])):
        again = here.scores(edit.matrix, entries)
        if again.shape != known.shape or not np.allclose(again, known, atol=SAME, equal_nan=True):
            raise bad("grid", words(edit), "what was measured on this model and these prompts")
    rank = len(edit.which(size))
    picks = [KeepRandom(edit.layer, edit.matrix, rank=rank, seed=1 + s) for s in range(DRAWS)]
    return [here.scores(edit.matrix, parts.kept(p.which(size))) for p in picks]
