"""One step from zero on noisy recall: counts, gradients, margins, and the order of learning."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec, static_field
from dynascope.studies.recall.first_steps import draws
from dynascope.studies.study import Study
from dynascope.theories.recall import count_formulas, first_step, noise_logit, value_gradient
from dynascope.theories.recall.population import Population, feed_forward_gradient
from dynascope.theories.recall.sequences import Sequences, token_counts

SIZES = (16, 32, 64)  # N of the orders of magnitude
WAYS: tuple[Any, ...] = ("printed", "corrected")
SHORT = 6  # positions of the rows in which a token's share is a matter of chance
MOSTLY = 0.9  # alpha of the rows in which nearly every label is the noise


@dataclass(frozen=True)
class Settings(Spec, tag="studies.first-steps"):
    """N, T and alpha of the exact checks, and how many rows are drawn."""

    ordinary: int = 65
    length: int = 256
    noise: float = static_field(0.5)
    batches: int = 200  # of rows, each a training set
    rows: int = 100  # m
    large: int = 20_000  # m of the one large training set


study = Study(
    "first-steps",
    title="One step writes the noise into the feed-forward part, N times as far as into attention",
    sources=(chen2025("Theorem 4.1, Lemmas C.1-C.2, C.4-C.10, C.12-C.13, Table C.1"),
             chen2025("section 4.4.4.3")),
    settings=Settings,
    scales={"smoke": {"batches": 60, "large": 6000}, "laptop": {},
            "paper": {"batches": 1000, "large": 100_000}},
    notes=(
        "Counts leave out the trigger that is put last, as the thesis does; what it changes is a "
        "claim of its own. The first position has no token before it.",
        "Exact numbers come from the chain itself, draws from a program of their own.",
    ),
)  # fmt: skip


@study.finding
def moments(s: Settings) -> dict[str, np.ndarray]:
    """Lemmas C.4-C.10: printed and corrected over exact, (mean, second).

    At N = 200, T = 5000; where hardly anything is recalled; and in rows too short for the lemmas.
    """
    laws = {
        "": Sequences(200, 5000, s.noise), ", noise alone": Sequences(200, 5000, 0.999),
        ", short": Sequences(12, 20, s.noise),
    }  # fmt: skip
    found: dict[str, np.ndarray] = {}
    for place, law in laws.items():
        counts = [token_counts(law, answer) for answer in (0, 1)]
        for lemma in count_formulas.LEMMAS:
            exact = np.array(count_formulas.moments_of(counts[lemma.answer], lemma))
            for which in WAYS:
                formula = np.array(count_formulas.count_moments(lemma, law, which))
                found[f"{lemma.name} {which}{place}"] = formula / exact
    return found


@study.finding
def closed_means(s: Settings) -> dict[str, np.ndarray]:
    """Closed means over those of the chain, for all lemmas and several laws."""

    def ratios(shift: int, noises: tuple[float, ...] = (0.5, 0.3, 0.8)) -> np.ndarray:
        sizes = zip((65, 10, 30), (256, 40, 7), noises, strict=True)
        laws = [Sequences(n, t, a) for n, t, a in sizes]
        return np.array([
            count_formulas.closed_mean(lemma, replace(law, length=law.length + shift))
            / count_formulas.exact_moments(lemma, law)[0]
            for law in laws for lemma in count_formulas.LEMMAS
        ])  # fmt: skip

    alone = ratios(0, (0.999, 0.999, 0.999))
    return {"closed": ratios(0), "one position more": ratios(1), "noise alone": alone}


@study.finding
def last_trigger(s: Settings) -> dict[str, np.ndarray]:
    """By which share the trigger that is put last raises the mean count of triggers."""

    def share(length: int) -> np.ndarray:
        law = Sequences(s.ordinary, length, s.noise)
        return np.array([count_formulas.with_last_trigger(law)])

    return {"thesis": share(s.length), "long": share(200 * s.ordinary), "short": share(s.ordinary)}


@study.finding
def table(s: Settings) -> dict[str, np.ndarray]:
    """Table C.1 over exact numbers at alpha = 0.3: ten means and variances.

    At N = 150, T = 2000; of more tokens in longer rows; and in rows too short for the lemma.
    """
    found: dict[str, np.ndarray] = {}
    for place, n, t in (("", 150, 2000), (", longer", 200, 3000), (", short", 10, 20)):
        moments = value_gradient.ValueMoments(Sequences(n, t, 0.3))
        exact = np.array([moments.of(e) for e in value_gradient.TABLE])
        for which in WAYS:
            rows = [value_gradient.predicted(e, moments.law, which) for e in value_gradient.TABLE]
            means, variances = (np.array(rows) / exact).T
            found |= {f"{which} means{place}": means, f"{which} variances{place}": variances}
    of_noise = [e.output == "tau" for e in value_gradient.TABLE]
    return found | {"printed variances of the noise": found["printed variances"][of_noise]}


@study.finding
def signs(s: Settings) -> dict[str, np.ndarray]:
    """Exact mean of entry (j, j) times N^2 below and above alpha = (3 - sqrt 5) / 2 = 0.382."""
    entry = value_gradient.TABLE[8]

    def at(noise: float) -> np.ndarray:
        law = Sequences(s.ordinary, s.length, noise)
        return np.array([value_gradient.ValueMoments(law).of(entry)[0] * s.ordinary**2])

    return {"0.37": at(0.37), "0.39": at(0.39), "0.2": at(0.2)}


@study.compute(seconds=lambda s: 1 + 4e-7 * s.batches * s.rows * s.length)
def steps(s: Settings) -> draws.Steps:
    """Margins after one step from zero, for many training sets of m rows."""
    law = Sequences(s.ordinary, s.length, s.noise)
    return draws.margins(law, s.rows, s.batches, np.random.default_rng(0))


@study.compute(seconds=lambda s: 1 + 4e-7 * s.large * s.length)
def large_step(s: Settings) -> draws.Steps:
    """The same for one large training set."""
    law = Sequences(s.ordinary, s.length, s.noise)
    return draws.margins(law, s.large, 1, np.random.default_rng(1))


@study.compute(seconds=lambda s: 1 + 4e-7 * s.large * s.length)
def noisy_step(s: Settings) -> draws.Steps:
    """The same where nearly every label is the noise."""
    law = Sequences(s.ordinary, s.length, MOSTLY)
    return draws.margins(law, s.large, 1, np.random.default_rng(3))


@study.finding(large_step, noisy_step)
def margin_ratios(s: Settings, large: draws.Steps, noisy: draws.Steps) -> dict[str, np.ndarray]:
    """Margins over what is stated for them, and attention's over the feed-forward part's."""
    found = _ratios(s.ordinary, s.noise, large)
    others = {
        "noisy": _ratios(s.ordinary, MOSTLY, noisy),
        "another alpha": _ratios(s.ordinary, MOSTLY, large),
        "half N": _ratios(s.ordinary // 2, s.noise, large),
    }  # fmt: skip
    return found | {f"{k}, {name}": v for name, part in others.items() for k, v in part.items()}


def _ratios(n: int, noise: float, step: draws.Steps) -> dict[str, np.ndarray]:
    stated = {way: first_step.attention_margin(n, noise, step.share, way) for way in WAYS}
    return {
        "feed-forward": step.feed_forward / first_step.population_margin(n, noise),
        "attention, printed": step.attention / stated["printed"],
        "attention, corrected": step.attention / stated["corrected"],
        "token alone, printed": step.token_alone / stated["printed"],
        "over feed-forward": n * step.attention / step.feed_forward / 2,
    }


@study.finding
def covered(s: Settings) -> dict[str, np.ndarray]:
    """Lemma C.1 at N = 65, m = 10^5, delta = 0.05: which of 1,000 draws keep the bound."""
    return draws.coverage(65, 0.5, 100_000, 0.05, 1000, np.random.default_rng(2))


@study.compute(seconds=lambda s: 0.1 + 4e-7 * s.batches * s.rows * SHORT)
def short_rows(s: Settings) -> draws.Steps:
    """Margins after one step on rows of few positions, where a token's share is chance."""
    law = Sequences(s.ordinary, SHORT, s.noise)
    return draws.margins(law, s.rows, s.batches, np.random.default_rng(4))


@study.finding(steps)
def equally_noisy(s: Settings, steps: draws.Steps) -> draws.Steps:
    """Planted: attention's margins are those of the feed-forward part."""
    return steps._replace(attention=steps.feed_forward)


@study.finding
def paths(s: Settings) -> dict[str, np.ndarray]:
    """Overshoot of the noise's logit over its fixed point, and what is left at the end."""

    def overshoot(noises: tuple[float, ...], factor: float) -> np.ndarray:
        found = []
        for a in noises:
            rate = factor * noise_logit.largest_rate(a)
            path = noise_logit.noise_logits(s.ordinary, a, rate, 4000)
            found.append(path.max() - noise_logit.fixed_logit(s.ordinary, a))
        return np.array(found)

    def left(factor: float) -> np.ndarray:
        found = []
        for a in (0.1, 0.3, 0.5):
            path = noise_logit.noise_logits(
                s.ordinary, a, factor * noise_logit.largest_rate(a), 4000
            )
            found.append(np.abs(path[-10:] - noise_logit.fixed_logit(s.ordinary, a)).max())
        return np.array(found)

    some = (0.1, 0.3, 0.5)
    return {
        "at the bound": overshoot(some, 1.0), "1.2 x": overshoot(some, 1.2),
        "half": overshoot(some, 0.5), "large alpha": overshoot((0.7, 0.9), 1.0),
        "left at the bound": left(1.0), "left at 2.5 x": left(2.5), "left at half": left(0.5),
    }  # fmt: skip


@study.finding
def orders(s: Settings) -> dict[str, np.ndarray]:
    """Largest projections of the three first gradients, (N,), with T = 40 N and alpha = 0.3."""
    feed, value, attention = [], [], []
    for n in SIZES:
        population = Population(Sequences(n, 40 * n, 0.3))
        even = np.full(n + 1, 1 / (n + 1))
        gradient = population.value_gradient(even)
        feed.append(np.abs(feed_forward_gradient(population, even)).max())
        value.append(np.abs(gradient).max())
        attention.append(np.abs(population.attention_gradient(gradient, even)).max())
    sizes = np.array(SIZES, float)
    return {"feed-forward": np.array(feed), "values": np.array(value),
            "attention": np.array(attention), "N^-1": 1 / sizes, "N^-3": sizes**-3.0,
            "N^0": sizes**0.0, "N^-2": sizes**-2.0}  # fmt: skip


@study.finding
def pulls(s: Settings) -> dict[str, np.ndarray]:
    """-grad W_QK after one step of W_V, at the noise (x N^2) and at an ordinary token (x N^3)."""

    def pull(length: int, share: float = 0.0, sign: int = 1) -> tuple[float, float]:
        population = Population(Sequences(s.ordinary, length, 0.5, share))
        even = np.full(s.ordinary + 1, 1 / (s.ordinary + 1))
        v = population.attention_gradient(sign * population.value_gradient(even), even)
        return v[-1] * s.ordinary**2, v[5] * s.ordinary**3

    short, long, often = pull(s.length), pull(4000), pull(s.length, 0.2)
    uphill = pull(4000, sign=-1)  # after a step of W_V against its gradient
    return {
        "noise": np.array([short[0], long[0]]), "ordinary, long": np.array([long[1]]),
        "ordinary, thesis": np.array([short[1]]), "noise made frequent": np.array([often[0]]),
        "noise, long": np.array([long[0]]), "ordinary, uphill": np.array([uphill[1]]),
    }  # fmt: skip
