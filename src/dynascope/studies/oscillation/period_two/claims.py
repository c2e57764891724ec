"""Where an orbit of period 2 is, that it attracts, its size, and which functions have one."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import chen2025
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import SETTINGS, case
from dynascope.studies.oscillation.period_two import runs
from dynascope.studies.oscillation.period_two.runs import FAR, FITTED, LINE, Settings, study

Names = tuple[str, ...]
Points = dict[str, dict[str, np.ndarray]]  # by function, then by kind
Fits = dict[str, runs.PastLimit]
STEEP = runs.LOSSES["steep"][0]
COSINE = "-2 cos x, whose orbit is +-a with a = eta sin a"
ALL = tuple(FITTED)


def in_brackets(brackets: Points, names: Names) -> Measured:
    """Share of points for which the theorem holds, for the function where it is smallest."""
    return exact(np.min([brackets[name]["kept"].mean() for name in names]))


study.claim(
    "rate-for-a-point",
    "Every point just below a supercritical minimum lies on an orbit of period 2, at a rate "
    "between the limit and the printed bound.",
    chen2025("Thm. 3.1"), in_brackets, at_least(1.0, "printed"), on=(runs.brackets, ("quartic",)),
    fails_on=case(f"{STEEP}, subcritical", runs.brackets, ("steep",)),
    holds_on=case(COSINE, runs.brackets, ("cosine",)),
    note="Share of 40 points whose rate is inside the bracket and whose second iterate is back "
    "within 1e-9.",
)  # fmt: skip
study.claim(
    "higher-order",
    "Where the third derivative vanishes, the lowest one that does not decides in its place.",
    chen2025("Lemma 3.2, Cor. 1"), in_brackets, at_least(1.0, "printed"),
    on=(runs.brackets, ("sine", "fifth")),
    fails_on=case("cosh, f4 > 0", runs.brackets, ("cosh",)),
    holds_on=case(COSINE, runs.brackets, ("cosine",)),
)  # fmt: skip


def largest_multiplier(fits: Fits, names: Names) -> Measured:
    """By how much two steps multiply a small error of the orbit at the first excess."""
    return exact(np.max([abs(fits[name].multiplier) for name in names]))


def error_of_law(s: Settings, fits: Fits, names: Names, excess: float) -> Measured:
    """Largest relative error of the law at an excess; infinite where there is no orbit."""
    at = (*s.kappas, FAR).index(excess)
    errors = [abs(fits[n].law[at] / fits[n].simulated[at] - 1) for n in names]
    return exact(np.nan_to_num(errors, nan=np.inf).max())


def oscillating(fits: Fits, names: Names) -> Measured:
    """Share of answers yes: settles on period 2 at two excesses, satisfies the condition."""
    answers = [(*np.isfinite(fits[n].simulated[:2]), fits[n].condition) for n in names]
    return exact(float(np.mean(answers)))


study.claim(
    "attracts",
    "The orbit of period 2 past a supercritical minimum is not only there, it attracts.",
    chen2025("Thm. 3.1 is that of a supercritical flip", how="derived: the condition of"),
    largest_multiplier, at_most(1 - 1e-6, "derived"), on=(runs.fits, ALL),
    fails_on=case(f"{STEEP}, whose orbit lies before the limit", runs.fits, ("steep",)),
    holds_on=case(COSINE, runs.fits, ("cosine",)),
)  # fmt: skip
study.claim(
    "amplitude",
    "Near onset half the distance of the two points is sqrt(6 kappa f2^2 / (3 f3^2 - f2 f4)).",
    chen2025("(B.6)", how="derived from the expansion"),
    error_of_law, at_most(0.001, "derived"), on=(SETTINGS, runs.fits, ALL, 0.001),
    fails_on=case(f"kappa = {FAR:g}, far from onset", SETTINGS, runs.fits, ALL, FAR),
    holds_on=case(COSINE, SETTINGS, runs.fits, ("cosine",), 0.001),
    note="The next term is of relative order kappa = 0.001.",
)  # fmt: skip
study.claim(
    "fitting", "Descent on (g - y)^2 oscillates stably past its limit for every g that is named.",
    chen2025("Prop. 1, Cors. 2 to 8", how="derived; adds stability to"), oscillating,
    at_least(1.0, "derived"), on=(runs.fits, ALL),
    fails_on=case("g linear, where g' g''' = 6 g''^2 = 0", runs.fits, tuple(LINE)),
    holds_on=case(COSINE, runs.fits, ("cosine",)),
)  # fmt: skip


def rule_holds(pairs: runs.Compositions, of: str) -> Measured:
    """Share of pairs of a kind whose composition satisfies Proposition 1."""
    kinds = {
        "both": pairs.printed, "not both": ~pairs.printed, "right sign": pairs.corrected,
        "wrong sign": pairs.printed & ~pairs.corrected,
    }  # fmt: skip
    return share(pairs.whole[kinds[of]])


random, powers = runs.compositions["random"], runs.compositions["powers"]
study.claim(
    "composition-as-printed",
    "If two functions satisfy Proposition 1, so does one after the other.",
    chen2025("Prop. 2"), rule_holds, in_all_seeds("printed"), on=(random, "both"),
    fails_on=case("pairs of which one does not satisfy it", random, "not both"),
    holds_on=case("powers, which make a power", powers, "both"), partner="composition-corrected",
    note=lambda pairs, of: f"Of {pairs.printed.sum()} random pairs "
    f"{(pairs.printed & ~pairs.whole).sum()} break it. "
    f"Counterexamples: {'; '.join(pairs.counterexamples)}.",
)  # fmt: skip
study.claim(
    "composition-corrected",
    "If two functions satisfy Proposition 1 and g' g'' f'' >= 0, so does g after f.",
    chen2025("Prop. 2", how="derived; corrects"), rule_holds, in_all_seeds("derived"),
    on=(random, "right sign"), partner="composition-as-printed",
    fails_on=case("the wrong sign", random, "wrong sign"),
    holds_on=case("powers, which make a power", powers, "right sign"),
    note=lambda pairs, of: f"{pairs.corrected.sum()} random pairs.",
)  # fmt: skip


def miss(found: Points, names: Names, points: str) -> Measured:
    """Largest distance of a simulated point from its prediction; infinite without any."""
    chosen = [found[name] for name in names]
    there = all(f[key].size for f in chosen for key in (points, "predicted"))
    gaps = [np.abs(f[points][[0, -1]] - f["predicted"]).max() for f in chosen if there]
    return exact(np.max(gaps) if gaps else np.inf)


study.claim(
    "two-functions",
    "At rate 1.01 (x^2 - 1)^2 / 4 and 2 sin x settle on the orbits that theory gives.",
    chen2025("Fig. B.1"), miss, at_most(1e-9, "ours"),
    on=(runs.two_functions, ("quartic", "sine"), "seen"),
    fails_on=case("the points of rate 0.99, before the limit", runs.two_functions,
                  ("quartic", "sine"), "before"),
    holds_on=case(COSINE, runs.two_functions, ("cosine",), "seen"),
)  # fmt: skip
