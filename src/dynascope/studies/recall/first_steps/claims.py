"""Theorem 4.1, the lemmas of app. C.2 and C.3, Table C.1, and section 4.4.4.3."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025
from dynascope.studies import at_least, at_most, average, case, exact, near, share
from dynascope.studies.recall.first_steps import draws, runs
from dynascope.studies.recall.first_steps.runs import SIZES, study
from dynascope.theories.recall.count_formulas import LEMMAS


def off(ratios: np.ndarray) -> Measured:
    """How far the ratio of printed, or closed, to exact value is from one, at worst."""
    return exact(float(np.abs(ratios - 1).max()), 1e-9)


def highest(values: np.ndarray) -> Measured:
    """The largest value."""
    return exact(float(values.max()), 1e-9)


def lowest(values: np.ndarray) -> Measured:
    """The smallest value."""
    return exact(float(values.min()), 1e-9)


def kept(flags: np.ndarray) -> Measured:
    """Share of draws that keep a bound."""
    return share(flags)


def slope(values: np.ndarray) -> Measured:
    """Power of N with which the largest projection grows."""
    return exact(float(np.polyfit(np.log(SIZES), np.log(values), 1)[0]), 1e-9)


for lemma in LEMMAS:
    wrong = lemma.name == "C.4"
    own = f"{lemma.name} printed"
    study.claim(
        f"counts-{lemma.name.lower().replace('.', '-')}" + ("-as-printed" if wrong else ""),
        f"Mean and second moment of the count in Lemma {lemma.name} are within 5 % of the exact "
        "ones at N = 200, T = 5000, alpha = 1/2" + (", as printed." if wrong else "."),
        chen2025(f"Lemma {lemma.name}"), off, at_most(0.05, "ours"), on=runs.moments[own],
        fails_on=case("rows of 20 positions, N = 12", runs.moments[f"{own}, short"]),
        holds_on=case("alpha = 0.999, hardly anything recalled",
                      runs.moments[f"{own}, noise alone"]),
        partner="counts-c-4" if wrong else None,
    )  # fmt: skip
study.claim(
    "counts-c-4",
    "With 2 / alpha in the place of 2 / alpha^2, the second moment of Lemma C.4 is within 5 % of "
    "the exact one at N = 200, T = 5000, alpha = 1/2.",
    chen2025("Lemma C.4", how="corrects"), off, at_most(0.05, "ours"),
    on=runs.moments["C.4 corrected"], fails_on=case("as printed", runs.moments["C.4 printed"]),
    holds_on=case("alpha = 0.999, hardly anything recalled",
                  runs.moments["C.4 corrected, noise alone"]), partner="counts-c-4-as-printed",
)  # fmt: skip
study.claim(
    "closed-means",
    "The mean counts of Lemmas C.4 to C.10 have closed forms that hold for any N and T.",
    (chen2025("Lemmas C.4-C.10", how="sharpens"), chen2025("Lemma C.13")), off,
    at_most(1e-6, "derived"), on=runs.closed_means["closed"],
    fails_on=case("rows of one position more", runs.closed_means["one position more"]),
    holds_on=case("alpha = 0.999, hardly anything recalled", runs.closed_means["noise alone"]),
)  # fmt: skip
study.claim(
    "last-trigger",
    "Putting the trigger last changes the count of triggers by less than 5 %, at N = 65, T = 256.",
    chen2025("Lemma C.7"), highest, at_most(0.05, "ours"), on=runs.last_trigger["thesis"],
    fails_on=case("T = N", runs.last_trigger["short"]),
    holds_on=case("T = 200 N", runs.last_trigger["long"]),
    note="The thesis says that it does not change the results.",
    measures="The change of the mean count of triggers, as a share of it.",
)  # fmt: skip

TABLE = chen2025("Table C.1, Lemma C.2")
study.claim(
    "table-means",
    "All ten means of Table C.1 are within 10 % of the exact ones at N = 150, T = 2000, "
    "alpha = 0.3.",
    TABLE, off, at_most(0.1, "ours"), on=runs.table["printed means"],
    fails_on=case("rows of 20 positions, N = 10", runs.table["printed means, short"]),
    holds_on=case("N = 200, T = 3000", runs.table["printed means, longer"]),
)  # fmt: skip
study.claim(
    "table-variances-as-printed",
    "All ten variances of Table C.1 are within 20 % of the exact ones, as printed.",
    TABLE, off, at_most(0.2, "ours"), on=runs.table["printed variances"],
    fails_on=case("rows of 20 positions, N = 10", runs.table["printed variances, short"]),
    holds_on=case("the three rows of the noise", runs.table["printed variances of the noise"]),
    partner="table-variances", note="N = 150, T = 2000, alpha = 0.3. As upper bounds they stand.",
)  # fmt: skip
study.claim(
    "table-variances",
    "With the square of 1 / (N + 1) in its place, all ten variances of Table C.1 are within 20 % "
    "of the exact ones.",
    chen2025("Table C.1, Lemma C.2", how="corrects"), off, at_most(0.2, "ours"),
    on=runs.table["corrected variances"],
    fails_on=case("as printed", runs.table["printed variances"]),
    holds_on=case("N = 200, T = 3000", runs.table["corrected variances, longer"]),
    partner="table-variances-as-printed",
)  # fmt: skip
study.claim(
    "sign-of-diagonal",
    "The mean of the entry (j, j) is still below zero at alpha = 0.37, and above at 0.39: it "
    "changes its sign at (3 - sqrt 5) / 2 = 0.382.",
    TABLE, highest, at_most(0.0, "printed"), on=runs.signs["0.37"],
    fails_on=case("alpha = 0.39", runs.signs["0.39"]),
    holds_on=case("alpha = 0.2", runs.signs["0.2"]),
    measures="The mean of the entry (j, j), times N^2.",
)  # fmt: skip

FIRST = chen2025("Lemma C.1")
study.claim(
    "label-bound-as-printed",
    "The bound of Lemma C.1 is kept by at least 95 % of training sets of 100,000 rows (N = 65, "
    "alpha = 1/2), around the printed mean.",
    FIRST, kept, at_least(0.95, "derived"), on=runs.covered["printed"],
    fails_on=case("a twentieth of the bound", runs.covered["a twentieth of the bound"]),
    holds_on=case("around the exact mean", runs.covered["corrected"]), partner="label-bound",
    note="The printed mean leaves out 1 / (N + 1), which is more than the bound by then.",
)  # fmt: skip
study.claim(
    "label-bound",
    "The bound of Lemma C.1 is kept by at least 95 % of training sets of 100,000 rows (N = 65, "
    "alpha = 1/2), around the exact mean.",
    chen2025("Lemma C.1", how="corrects"), kept, at_least(0.95, "derived"),
    on=runs.covered["corrected"],
    fails_on=case("around the printed mean", runs.covered["printed"]),
    holds_on=case("three times the bound", runs.covered["three times the bound"]),
    partner="label-bound-as-printed",
)  # fmt: skip

THEOREM = chen2025("Theorem 4.1")
RATIOS = runs.margin_ratios
study.claim(
    "feed-forward-margin",
    "After one step on many rows the feed-forward part puts the noise alpha - (1 - alpha) / N "
    "above all other tokens, at rate 1.",
    (THEOREM, chen2025("Lemma C.12")), off, at_most(0.06, "ours"), on=RATIOS["feed-forward"],
    fails_on=case("against what is stated for alpha = 0.9", RATIOS["feed-forward, another alpha"]),
    holds_on=case("alpha = 0.9, nearly every label the noise", RATIOS["feed-forward, noisy"]),
)  # fmt: skip
study.claim(
    "attention-margin-as-printed",
    "After one step on many rows attention puts the noise alpha hat / N above all other tokens, "
    "as printed, for the layer of Eq. 4.2.",
    THEOREM, off, at_most(0.06, "ours"), on=RATIOS["attention, printed"],
    fails_on=case("without the previous token's part, against half of N",
                  RATIOS["token alone, printed, half N"]),
    holds_on=case("without the previous token's part", RATIOS["token alone, printed"]),
    partner="attention-margin",
)  # fmt: skip
study.claim(
    "attention-margin",
    "After one step on many rows attention puts the noise 2 alpha hat / N above all other tokens, "
    "for the layer of Eq. 4.2.",
    chen2025("Theorem 4.1", how="corrects"), off, at_most(0.06, "ours"),
    on=RATIOS["attention, corrected"],
    fails_on=case("over the printed margin", RATIOS["attention, printed"]),
    holds_on=case("alpha = 0.9, nearly every label the noise",
                  RATIOS["attention, corrected, noisy"]), partner="attention-margin-as-printed",
)  # fmt: skip


def noisier(steps: draws.Steps) -> Measured:
    """Relative deviation of attention's margin over that of the feed-forward part, less one.

    By leaving out one training set at a time.
    """

    def ratio(keep: np.ndarray) -> float:
        deviations = [a[keep].std(ddof=1) / a[keep].mean() for a in steps[:2]]
        return deviations[1] / deviations[0] - 1

    count = len(steps.attention)
    every = np.ones(count, bool)
    whole = ratio(every)
    without = np.array([ratio(np.delete(np.arange(count), i)) for i in range(count)])
    pseudo = count * whole - (count - 1) * without
    return average(pseudo)


study.claim(
    "attention-needs-more-rows",
    "With 100 rows, a step's margin through attention is relatively noisier than that of the "
    "feed-forward part, by a tenth at least: attention needs more rows.",
    THEOREM, noisier, at_least(0.1, "ours"), on=runs.steps,
    fails_on=case("planted: equally noisy", runs.equally_noisy),
    holds_on=case("rows of six positions", runs.short_rows),
    note="The thesis reads m = Omega(N) off its bound; the range term of Bernstein's inequality "
    "makes that, not the gradient.",
)  # fmt: skip
study.claim(
    "one-over-n",
    "At equal rates attention's margin after one step is 2 / N of the feed-forward part's.",
    chen2025("Theorem 4.1", how="corrects"), off, at_most(0.1, "ours"),
    on=RATIOS["over feed-forward"],
    fails_on=case("with half of N", RATIOS["over feed-forward, half N"]),
    holds_on=case("alpha = 0.9, nearly every label the noise", RATIOS["over feed-forward, noisy"]),
)  # fmt: skip

ORDER = chen2025("section 4.4.4.3")
P = runs.paths
study.claim(
    "no-overshoot",
    "At rates up to 1 / (alpha (1 - alpha)) the noise's logit never overshoots, for alpha of 0.1, "
    "0.3 and 0.5.",
    ORDER, highest, at_most(1e-8, "printed"), on=P["at the bound"],
    fails_on=case("1.2 times the rate", P["1.2 x"]), holds_on=case("half the rate", P["half"]),
    measures="How far the noise's logit rises above its fixed point, at most over time and alphas.",
)  # fmt: skip
study.claim(
    "no-overshoot-large-noise",
    "At rates up to 1 / (alpha (1 - alpha)) the noise's logit never overshoots, for alpha of 0.7 "
    "and 0.9 either.",
    chen2025("section 4.4.4.3", how="a reading of"), highest, at_most(1e-8, "ours"),
    on=P["large alpha"],
    fails_on=case("alpha up to 0.5, 1.2 times the rate", P["1.2 x"]),
    holds_on=case("alpha up to 0.5, half the rate", P["half"]),
    note="The thesis derives the bound for alpha below 0.5 alone.",
    exploratory=True,
    measures="How far the noise's logit rises above its fixed point, at most over time and alphas.",
)  # fmt: skip
study.claim(
    "fixed-point",
    "The noise's logit ends at log N + log(alpha / (1 - alpha)).",
    ORDER, highest, at_most(1e-8, "printed"), on=P["left at the bound"],
    fails_on=case("2.5 times the rate", P["left at 2.5 x"]),
    holds_on=case("half the rate", P["left at half"]),
    measures="Distance of the noise's logit from the fixed point at the end, at most over alphas.",
)  # fmt: skip
for name, matrix, power, right, other in (
    ("feed-forward", "W_F", 0, "N^0", "N^-1"), ("values", "W_V", -1, "N^-1", "N^-3"),
    ("attention", "W_QK", -2, "N^-2", "N^-3"),
):  # fmt: skip
    study.claim(
        f"order-{name}",
        f"The largest projection of the first gradient of {matrix} goes like N to the power "
        f"{power} (slope within 0.3).",
        ORDER, slope, near(power, 0.3, "ours"), on=runs.orders[name],
        fails_on=case(f"planted: {other}", runs.orders[other]),
        holds_on=case(f"planted: {right}", runs.orders[right]),
    )  # fmt: skip
study.claim(
    "attention-leaves-noise",
    "After a first step of W_V, the gradient of W_QK takes attention away from the noise token.",
    ORDER, highest, at_most(0.0, "printed"), on=runs.pulls["noise"],
    fails_on=case("the noise token made frequent: every fifth ordinary token",
                  runs.pulls["noise made frequent"]),
    holds_on=case("T = 4000 alone", runs.pulls["noise, long"]),
    measures="Expected change of the noise's attention score by the first step, highest "
    "over settings.",
)  # fmt: skip
study.claim(
    "ordinary-attracts-short",
    "After a first step of W_V, the gradient of W_QK draws attention to ordinary tokens at "
    "N = 65, T = 256.",
    chen2025("section 4.4.4.3", how="a reading of"), lowest, at_least(0.0, "ours"),
    on=runs.pulls["ordinary, thesis"],
    fails_on=case("T = 4000, after a step of W_V uphill", runs.pulls["ordinary, uphill"]),
    holds_on=case("T = 4000", runs.pulls["ordinary, long"]),
    note="The thesis assumes large N and T, and has these in its experiments. Terms of size 1 / T "
    "need T far above N^2 to be small.",
    exploratory=True,
    measures="Expected change of ordinary tokens' attention score by the first step.",
)  # fmt: skip
