"""Weights and products after noise, with noise solid and without it dashed."""

import numpy as np

from dynascope.core.charts import Chart, Line, Panel
from dynascope.studies.headlines import headline_chart
from dynascope.studies.rank_increase.rank_assumptions import runs
from dynascope.studies.rank_increase.rank_assumptions.noise import NEGLIGIBLE, Perturbed
from dynascope.studies.rank_increase.rank_assumptions.runs import Settings, study

MOST = 6  # coordinates drawn in a panel
TIME = "time since the noise"


def _curves(times: np.ndarray, noisy: np.ndarray, clean: np.ndarray) -> tuple[Line, ...]:
    """The largest coordinates, with noise and without."""
    largest = np.fmax(np.nanmax(np.abs(noisy), axis=0), np.abs(clean).max(axis=0))
    chosen = [i for i in np.argsort(-largest)[:MOST] if largest[i] > NEGLIGIBLE]
    marks = []
    for group, i in enumerate(chosen):
        marks.append(Line(times, noisy[:, i], f"{i}", group=group))
        marks.append(Line(times, clean[:, i], "", "theory", group))
    return tuple(marks)


def _products(found: Perturbed, title: str) -> Panel:
    noisy, clean = found.products
    noisy = np.where(np.arange(len(noisy))[:, None] <= found.end, noisy, np.nan)
    return Panel(_curves(found.times, noisy, clean), title, TIME, "u v")


def _weights(found: Perturbed, title: str) -> Panel:
    n = len(found.times)
    noisy, clean = (w.reshape(n, -1) for w in (found.noisy, found.clean))
    return Panel(_curves(found.times, noisy, clean), title, TIME, "u and v")


Draws = dict[int, list[Perturbed]]


def _shown(draws: Draws) -> tuple[int, list[Perturbed]]:
    """The draw that is shown, with its seed."""
    return next(iter(draws.items()))


@study.chart(runs.noisy["free"], headline=True)
def headline(s: Settings, draws: Draws) -> Chart:
    """How far products of the first draw are from where they were."""
    seed, free = _shown(draws)
    first = free[0]
    apart = np.abs(np.subtract(*first.products)).max(axis=1)
    return headline_chart(
        f"Distance of the products after noise on a plateau, seed {seed}", (TIME, first.times),
        ("largest distance", np.where(apart > 1e-16, apart, np.nan)),
        note="It falls until the solver's error is left.", y_scale="log",
    )  # fmt: skip


@study.chart(runs.noisy)
def on_plateaus(s: Settings, noisy: dict[str, Draws]) -> Chart:
    """Figs. 3a, 10: weights and products after noise of both kinds."""
    seed, [free, *_] = _shown(noisy["free"])
    balanced = noisy["balanced"][seed][0]
    return Chart(
        "plateau-noise", "Products return, weights only if the noise is balanced",
        f"Seed {seed}; solid with noise, dashed without. Left: noise on u and v apart; the weights "
        "settle beside their old values. Middle: their products return. Right: noise along "
        "v = s u, after which the weights return too.",
        (_weights(free, "weights, free noise"), _products(free, "products, free noise"),
         _weights(balanced, "weights, balanced noise")),
    )  # fmt: skip


@study.chart(runs.noisy["free"])
def all_plateaus(s: Settings, draws: Draws) -> Chart:
    """Fig. 10: every place of the first draw at which noise was added."""
    seed, free = _shown(draws)
    return Chart(
        "plateaus", "Noise dies out on every plateau",
        "Products after noise of deviation 0.05 on the weights, solid, and without it, dashed; "
        f"seed {seed}.",
        tuple(_products(p, f"plateau {k + 1}") for k, p in enumerate(free)),
    )  # fmt: skip


@study.chart(runs.noisy["escapes"])
def at_escapes(s: Settings, draws: Draws) -> Chart:
    """Figs. 3b, 11: noise as a coordinate of the first draw is about to be learned."""
    seed, escapes = _shown(draws)
    return Chart(
        "escape-noise", "Noise at an escape changes when, not where to",
        "Products after noise of deviation 0.01 as a new coordinate exceeds 1e-5: it escapes "
        f"earlier (solid) than without noise (dashed), to the same value; seed {seed}.",
        tuple(_products(p, f"escape {k + 1}") for k, p in enumerate(escapes)),
    )  # fmt: skip
