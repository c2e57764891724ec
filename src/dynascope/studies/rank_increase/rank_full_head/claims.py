"""Ranks that only rise, singular values one after the other, and where they end."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import boix2023
from dynascope.studies.comparisons import at_least, at_most
from dynascope.studies.measures import average
from dynascope.studies.nodes import SETTINGS, case
from dynascope.studies.rank_increase.rank_full_head import runs
from dynascope.studies.rank_increase.rank_full_head.runs import Settings, study

LEARNED = 0.05  # singular values above this count
LARGE, SMALL = 0.5, 1e-4

large, small = runs.spectra[LARGE], runs.spectra[SMALL]


def largest_fall(spectra: np.ndarray) -> Measured:
    """By how much the rank of a product ever falls, the larger of both products, by seed."""
    ranks = (spectra > LEARNED).sum(axis=-1)  # (seeds, records, 2)
    return average(np.max(np.maximum.accumulate(ranks, axis=1) - ranks, axis=(1, 2)))


study.claim(
    "rank-never-falls",
    "From entries of size 1e-4 the number of singular values above 0.05 of W_K W_Q^T and of "
    "W_V W_O^T never falls.",
    boix2023("section 1"), largest_fall, at_most(0, "derived"), on=small,
    fails_on=case("entries of size 0.5, where training removes rank", large),
    holds_on=case("planted singular values that each grow alone", runs.planted),
)  # fmt: skip


def smallest_wait(s: Settings, spectra: np.ndarray, times: np.ndarray) -> Measured:
    """Smallest ratio of the times at which a singular value and the one before are half learned.

    The smaller of both products, by seed; a value that is there from the start has ratio 1.
    """
    ratios = []
    for product, given in enumerate((s.task.scores, s.task.values)):
        learned = spectra[:, :, product, : len(given)] > np.array(given) / 2
        first = times[np.where(learned.any(axis=1), learned.argmax(axis=1), -1)]  # (seeds, values)
        first = np.maximum(first, times[1])
        ratios.append(np.min(first[:, 1:] / first[:, :-1], axis=1))
    return average(np.minimum(*ratios))


study.claim(
    "one-after-the-other",
    "From entries of size 1e-4 every singular value of the teacher is half learned at a time at "
    "least 1.1 times that of the next larger one.",
    boix2023("section 1"), smallest_wait, at_least(1.1, "ours"), on=(SETTINGS, small, runs.times),
    fails_on=case("entries of size 0.5", SETTINGS, large, runs.times),
    holds_on=case("planted singular values that each grow alone", SETTINGS, runs.planted,
                  runs.times),
)  # fmt: skip


def end_error(s: Settings, spectra: np.ndarray) -> Measured:
    """Largest distance of the last singular values to the teacher's, zeros included, by seed."""
    d = spectra.shape[-1]
    given = np.array([(*v, *[0.0] * (d - len(v))) for v in (s.task.scores, s.task.values)])
    return average(np.max(np.abs(spectra[:, -1] - given), axis=(1, 2)))


study.claim(
    "ends-at-the-teacher",
    "From entries of size 1e-4 the singular values of both products end within 0.002 of the "
    "teacher's, those that are zero included.",
    boix2023("section 1", how="derived from"), end_error, at_most(2e-3, "ours"),
    on=(SETTINGS, small),
    fails_on=case("the same heads before training", SETTINGS, runs.untrained),
    holds_on=case("planted singular values that each grow alone", SETTINGS, runs.planted),
)  # fmt: skip


def excess(s: Settings, spectra: np.ndarray) -> Measured:
    """Largest singular value beyond the teacher's rank at any time of training, by seed."""
    beyond = [spectra[:, :, k, len(given) :].max(axis=(1, 2))
              for k, given in enumerate((s.task.scores, s.task.values))]  # fmt: skip
    return average(np.maximum(*beyond))


study.claim(
    "small-starts-are-low-rank",
    "From entries of size 1e-2 no singular value beyond the teacher's rank is above 0.02 at any "
    "time of training.",
    boix2023("section 5, Fig. 7"), excess, at_most(0.02, "ours"),
    on=(SETTINGS, runs.spectra[1e-2]),
    fails_on=case("entries of size 0.5", SETTINGS, large),
    holds_on=case("entries of size 1e-4", SETTINGS, small),
)  # fmt: skip
