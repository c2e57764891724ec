"""How N sets the three first gradients apart, what one step writes, and the table's variances."""

import numpy as np

from dynascope.core.charts import Bars, Chart, Line, Panel, Points, Reference
from dynascope.studies.headlines import headline_chart
from dynascope.studies.recall.first_steps import draws, runs
from dynascope.studies.recall.first_steps.runs import SIZES, Settings, study
from dynascope.theories.recall import noise_logit
from dynascope.theories.recall.value_gradient import TABLE


@study.chart(headline=True)
def headline(s: Settings) -> Chart:
    """The noise's logit while the feed-forward part alone learns."""
    path = noise_logit.noise_logits(s.ordinary, s.noise, 1.0, 60)
    end = noise_logit.fixed_logit(s.ordinary, s.noise)
    return headline_chart(
        f"Logit of the noise at rate 1, N = {s.ordinary}, alpha = {s.noise}",
        ("step", np.arange(len(path))), ("logit", path), ("fixed point", np.full(len(path), end)),
        note=f"rates up to {noise_logit.largest_rate(s.noise):.1f} never overshoot",
    )  # fmt: skip


@study.chart(runs.orders, runs.steps, runs.large_step)
def gradients(
    s: Settings, orders: dict[str, np.ndarray], steps: draws.Steps, large: draws.Steps
) -> Chart:
    """Section 4.4.4.3 and Theorem 4.1."""
    lines = [Points(SIZES, orders[name], name, group=g)
             for g, name in enumerate(("feed-forward", "values", "attention"))]  # fmt: skip
    powers = {"feed-forward": "N^0", "values": "N^-1", "attention": "N^-2"}
    over = np.array(SIZES) / SIZES[0]
    slopes = [
        Line(SIZES, orders[name][0] * over ** -float(g), label, "theory", g)
        for g, (name, label) in enumerate(powers.items())
    ]
    n = s.ordinary
    found = (
        Points(steps.feed_forward, n * steps.attention, f"Eq. 4.2, {s.rows} rows", group=0),
        Points(steps.feed_forward, n * steps.token_alone, "without the previous token", group=1),
        Points(large.feed_forward, n * large.attention, f"{s.large} rows", "reference"),
    )
    span = np.array([steps.feed_forward.min(), steps.feed_forward.max()])
    theory = (Line(span, 2 * span, "twice the margin", "theory", 0),
              Line(span, span, "printed", "theory", 1))  # fmt: skip
    return Chart(
        "gradients", "Values move N times less than the feed-forward part, attention N^2 times",
        "Left: largest projections of the first gradients, with the printed powers. Right: margin "
        "of the noise after one step, through attention (times N) against the feed-forward part, "
        "one point a training set: both vary together, so attention needs no more rows.",
        (Panel((*lines, *slopes), "First gradients", "N", "largest projection", "log", "log"),
         Panel((*found, *theory), "Margins after one step", "feed-forward", "N x attention")),
    )  # fmt: skip


@study.chart(runs.table)
def variances(s: Settings, table: dict[str, np.ndarray]) -> Chart:
    """Table C.1 over exact variances."""
    names = tuple(f"{e.output}, {e.token}" for e in TABLE)
    bars = (Bars(names, table["printed variances"], "printed", group=1),
            Bars(names, table["corrected variances"], "corrected", group=0))  # fmt: skip
    return Chart(
        "table-c-1", "Seven of ten printed variances are too large",
        "Variances of Table C.1 over the exact ones, N = 150, T = 2000, alpha = 0.3.",
        (Panel((*bars, Reference("y", 1.0, "exact")), "", "entry (j, k)", "over exact"),),
    )  # fmt: skip
