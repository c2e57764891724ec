"""Counts, Table C.1, margins and the noise's logit: checks 5 to 8 and 12."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.studies.recall.first_steps import draws
from dynascope.theories.recall import first_step, noise_logit
from dynascope.theories.recall.count_formulas import (
    LEMMAS,
    arithmetic_geometric,
    closed_mean,
    count_moments,
    exact_moments,
)
from dynascope.theories.recall.sequences import Sequences, token_counts
from dynascope.theories.recall.value_gradient import TABLE, ValueMoments, predicted

LAW = Sequences(65, 256, 0.5)


MEANS = (7.613722, 3.791936, 3.821787, 3.879017, 1.931933, 5.810950, 3.879017)


@pytest.mark.parametrize(("lemma", "mean"), [*zip(LEMMAS, MEANS, strict=True)])
def test_exact_means_are_the_closed_forms(lemma, mean):
    """Check 5."""
    assert exact_moments(lemma, LAW)[0] == pytest.approx(mean, abs=1e-6)
    assert closed_mean(lemma, LAW) == pytest.approx(exact_moments(lemma, LAW)[0], rel=1e-10)


def test_variance_of_the_trigger():
    """Check 6: exact 145, corrected 150, printed 350."""
    law = Sequences(200, 5000, 0.5)
    exact, right, printed = (
        second - mean**2 for mean, second in (
            exact_moments(LEMMAS[0], law), count_moments(LEMMAS[0], law),
            count_moments(LEMMAS[0], law, "printed"),
        )
    )  # fmt: skip
    assert exact == pytest.approx(145.04, abs=0.1)
    assert right == pytest.approx(exact, rel=0.05) and printed > 2 * exact


def test_counts_of_drawn_rows():
    """A program without chains as witness, 40,000 rows; z_T is the trigger there."""
    law, rng = Sequences(8, 20, 0.4), np.random.default_rng(0)
    rows = draws.drawn(law, 40_000, rng).tokens[:, :-1]
    counts = np.stack([(rows == k).sum(1) for k in range(9)], 1).astype(float)
    exact = [token_counts(law, answer, 19) for answer in (0, 1)]
    first = (exact[0].mean + 7 * exact[1].mean) / 8  # over answers, for q and for the noise
    assert np.allclose(counts.mean(0)[[0, 8]], first[[0, 8]], rtol=0.02)
    second = (exact[0].second + 7 * exact[1].second) / 8
    assert np.isclose((counts[:, 0] * counts[:, 8]).mean(), second[0, 8], rtol=0.03)


def test_table_c_1():
    """Check 7: mean of (j, j), its sign, and the variances."""
    moments = ValueMoments(Sequences(65, 256, 0.3))
    assert moments.of(TABLE[8])[0] * 65**2 == pytest.approx(-0.1903, abs=1e-3)
    signs = [ValueMoments(Sequences(65, 256, a)).of(TABLE[8])[0] for a in (0.37, 0.39)]
    assert signs[0] < 0 < signs[1]
    for entry in TABLE[3:]:
        exact = moments.of(entry)[1]
        ours, printed = (predicted(entry, moments.law, w)[1] for w in ("corrected", "printed"))
        assert ours == pytest.approx(exact, rel=0.2)
        assert 1.35 < printed / exact < 3.3


def test_table_against_drawn_rows():
    law, rng = Sequences(6, 12, 0.3), np.random.default_rng(1)
    rows = draws.drawn(law, 200_000, rng)
    tokens, moments = rows.tokens[:, :-1], ValueMoments(Sequences(6, 11, 0.3))
    codes = {"tau": 6, "q": 0, "other": 2}
    for entry in TABLE:
        j = codes[entry.output]
        k = j if entry.token == "same" else 3 if entry.token == "other" else codes[entry.token]
        gamma = (1 / 7 - (rows.labels == j)) * (tokens == k).mean(1)
        mean, variance = moments.of(entry)
        assert gamma.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / 200_000))
        assert gamma.var() == pytest.approx(variance, rel=0.03)


def test_margins_after_one_step():
    """Check 8."""
    steps = draws.margins(LAW, 20_000, 1, np.random.default_rng(3))
    ours = first_step.attention_margin(65, 0.5, steps.share)
    assert steps.attention == pytest.approx(ours, rel=0.06)
    assert steps.token_alone == pytest.approx(ours / 2, rel=0.06)
    assert first_step.population_margin(65, 0.5) == pytest.approx(0.4923, abs=1e-4)
    many = draws.margins(LAW, 100, 60, np.random.default_rng(4))
    assert np.corrcoef(many.feed_forward, many.attention)[0, 1] >= 0.95


@pytest.mark.parametrize("noise", [0.1, 0.3, 0.5])
def test_the_logit_never_overshoots_up_to_the_bound(noise):
    """Check 12."""
    end, rate = noise_logit.fixed_logit(65, noise), noise_logit.largest_rate(noise)
    path = noise_logit.noise_logits(65, noise, rate, 4000)
    assert abs(path[-1] - end) < 1e-8 and np.all(np.diff(path) > -1e-12)
    assert noise_logit.noise_logits(65, noise, 1.2 * rate, 4000).max() > end + 1e-6
    assert abs(noise_logit.noise_logits(65, noise, 2.5 * rate, 4000)[-1] - end) > 1e-3
    assert noise_logit.safe_rate(65, noise) == pytest.approx(rate, rel=1e-3)


def test_large_noise_overshoots_at_the_bound():
    """Check 12: at alpha = 0.9 already at the printed bound."""
    path = noise_logit.noise_logits(65, 0.9, noise_logit.largest_rate(0.9), 200)
    assert path.max() > noise_logit.fixed_logit(65, 0.9) + 0.1
    safe = noise_logit.noise_logits(65, 0.9, noise_logit.safe_rate(65, 0.9) * 0.999, 2000)
    assert safe.max() <= noise_logit.fixed_logit(65, 0.9) + 1e-9


def test_the_sum_of_lemma_c_13():
    assert arithmetic_geometric(0.7, 9) == pytest.approx(sum(t * 0.7**t for t in range(1, 10)))
