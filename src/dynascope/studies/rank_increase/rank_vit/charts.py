"""Spectra over training, stable ranks by layer, by scale of the start and by accuracy."""

from dynascope.core.charts import Chart
from dynascope.studies.nodes import Missing, together
from dynascope.studies.rank_increase import drawing
from dynascope.studies.rank_increase.rank_vit import runs
from dynascope.studies.rank_increase.rank_vit.runs import NAMES, Settings, study
from dynascope.studies.rank_increase.ranks import Ranks

adam = together(**{data: runs.ranks[data, "adam"] for data in NAMES})


@study.finding(together(**{data: runs.ranks[data, "sgd"] for data in NAMES}))
def sgd(s: Settings, found: dict[str, Ranks]) -> dict[str, Ranks] | Missing:
    """The runs with SGD that there are."""
    return found or Missing("sgd=False leaves it out")


def _words(name: str, ranks: Ranks) -> str:
    """The pictures, and how many were trained on: a data folder may hold a part of a set."""
    return f"{NAMES[name]} ({ranks.samples:,} pictures)"


def _shown(found: dict[str, Ranks]) -> tuple[str, str, Ranks]:
    """The first real pictures that are there, else those made here."""
    name = next((n for n in NAMES if n in found and n != "synthetic"), "synthetic")
    return name, _words(name, found[name]), found[name]


@study.chart(adam, headline=True)
def headline(s: Settings, found: dict[str, Ranks]) -> Chart:
    """How the stable rank of the change of W_K W_Q^T goes along training."""
    _, words, ranks = _shown(found)
    start = ranks.of_start("kq")[0].mean()
    return drawing.stable_rank_headline(
        f"Change of W_K W_Q^T on {words}, mean over {s.seeds} seeds and all heads", ranks,
        note=f"the product itself had a stable rank of {start:.1f} at the start",
    )  # fmt: skip


@study.chart(adam)
def spectra(s: Settings, found: dict[str, Ranks]) -> Chart:
    """Singular values of the change over training (Figs. 1, 5, 6, 14, 16)."""
    name, words, ranks = _shown(found)
    title = f"How the spectrum of the change grows, Adam on {words}"
    return drawing.spectra_chart(name, title, ranks)


@study.chart(adam)
def layers(s: Settings, found: dict[str, Ranks]) -> Chart:
    """Stable ranks by layer (Figs. 4, 15, 17)."""
    name, words, ranks = _shown(found)
    return drawing.layers_chart(name, f"Layer by layer, Adam on {words}", ranks)


@study.chart(sgd)
def layers_sgd(s: Settings, found: dict[str, Ranks]) -> Chart:
    """Stable ranks by layer with SGD (Figs. 12, 13)."""
    _, words, ranks = _shown(found)
    return drawing.layers_chart("sgd", f"Layer by layer, SGD on {words}", ranks)


@study.chart(adam)
def scales(s: Settings, found: dict[str, Ranks]) -> Chart:
    """Stable ranks by the scale of the start (Figs. 6, 7)."""
    name, words, ranks = _shown(found)
    title = f"Starts of several scales, step by step: Adam on {words}"
    return drawing.scales_chart(name, title, ranks)


@study.chart(adam)
def accuracy(s: Settings, found: dict[str, Ranks]) -> Chart:
    """The same against the test accuracy."""
    name, words, ranks = _shown(found)
    title = f"Starts of several scales at equal accuracy: Adam on {words}"
    return drawing.accuracy_chart(name, title, ranks)
