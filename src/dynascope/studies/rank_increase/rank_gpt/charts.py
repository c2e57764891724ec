"""Spectra over training, and stable ranks by layer."""

from dynascope.core.charts import Chart
from dynascope.studies.nodes import together
from dynascope.studies.rank_increase import drawing
from dynascope.studies.rank_increase.rank_gpt import runs
from dynascope.studies.rank_increase.rank_gpt.runs import NAMES, Settings, study
from dynascope.studies.rank_increase.ranks import Ranks

there = together(planted=runs.planted["low"], **runs.ranks)


def _shown(found: dict[str, Ranks]) -> tuple[str, str, Ranks]:
    """The first text that is there, its name and its spectra; without any, what was planted."""
    name = next((n for n in NAMES if n in found), "planted")
    return name, NAMES.get(name, "no text: planted spectra, for looking only"), found[name]


@study.chart(there, headline=True)
def headline(s: Settings, found: dict[str, Ranks]) -> Chart:
    """How the stable rank of the change of W_K W_Q^T goes along training."""
    _, words, ranks = _shown(found)
    start = ranks.of_start("kq")[0].mean()
    return drawing.stable_rank_headline(
        f"Change of W_K W_Q^T on {words}, mean over {s.seeds} seeds and all heads", ranks,
        note=f"the product itself had a stable rank of {start:.1f} at the start",
    )  # fmt: skip


@study.chart(there)
def spectra(s: Settings, found: dict[str, Ranks]) -> Chart:
    """Singular values of the change over training (Fig. 1)."""
    name, words, ranks = _shown(found)
    return drawing.spectra_chart(name, f"How the spectrum of the change grows on {words}", ranks)


@study.chart(there)
def layers(s: Settings, found: dict[str, Ranks]) -> Chart:
    """Stable ranks by layer (Figs. 4, 20)."""
    name, words, ranks = _shown(found)
    return drawing.layers_chart(name, f"Layer by layer on {words}", ranks)
