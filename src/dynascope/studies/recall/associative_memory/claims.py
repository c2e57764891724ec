"""Fig. 4.5, Theorem 4.3 and Lemma C.14, and what becomes of them for any number of items."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.sources import chen2025, derived
from dynascope.studies import at_least, at_most, average, case, exact, minus, near, share
from dynascope.studies.recall.associative_memory import runs
from dynascope.studies.recall.associative_memory.runs import LATE, Settings, study

FIGURE = chen2025("Fig. 4.5")
WIDE, NARROW = runs.memories["d = 12"], runs.memories["d = 8"]
FROM, EARLY = 3000, 100  # steps


def losses(run: Run, rank: int, step: int) -> np.ndarray:
    """Loss on clean labels of a rank, (seed,), at the recorded step that is nearest."""
    return run["truncated_loss"].sel(kept_rank=rank).sel(step=step, method="nearest").values


def full_loss(run: Run) -> Measured:
    """Clean loss of the whole matrix at the end, mean over seeds; rank 4 is all that is used."""
    return average(losses(run, 4, int(run["step"][-1])))


def lower_throughout(run: Run) -> Measured:
    """Share of seeds in which rank 2 has less than half the full loss from step 3,000 on."""
    late = run["truncated_loss"].sel(step=slice(FROM, None))
    return share((late.sel(kept_rank=2) < late.sel(kept_rank=4) / 2).all("step").values)


def worse_early(run: Run) -> Measured:
    """Share of seeds in which rank 2 is worse than the whole matrix at step 100."""
    return share(losses(run, 2, EARLY) > losses(run, 4, EARLY))


def more_spread(narrow: Run, wide: Run) -> Measured:
    """How much further from its median log loss of rank 2 is in the narrow memory, at the end."""

    def spread(run: Run) -> Measured:
        logs = np.log(losses(run, 2, int(run["step"][-1])))
        return average(np.abs(logs - np.median(logs)))

    return minus(spread(narrow), spread(wide))


@study.finding(runs.memories)
def planted(s: Settings, memories: dict[str, Run]) -> dict[str, Run]:
    """The wide memories with other losses in place of those measured."""
    wide = memories["d = 12"]
    measured = wide["truncated_loss"].values
    at_bound = np.full_like(measured, -np.log(1 - s.task.noise))
    good, same = at_bound.copy(), np.array(measured)
    good[..., 1] = 1e-3
    same[..., 1] = same[..., 3]
    steps = wide["step"].values
    early = np.where((steps <= 2 * EARLY)[None, :, None], 2.0, at_bound)
    early[..., 3] = at_bound[..., 3]
    spread = np.random.default_rng(0).normal(size=measured.shape[:1])[:, None, None]
    values = {
        "at the bound": at_bound, "rank 2 alone good": good, "ranks alike": same,
        "worse at first": early, "untrained": measured[:, :1] + 0 * measured,
        "alike": good * np.exp(0.01 * spread), "apart": good * np.exp(spread),
    }  # fmt: skip
    return {name: wide.planted(truncated_loss=v) for name, v in values.items()}


study.claim(
    "full-loss",
    "A memory of three items with 3 % noise ends at a clean loss of -log(1 - alpha) = 0.0305, as "
    "long as nothing is truncated.",
    FIGURE, full_loss, lambda run: near(-np.log(0.97), 0.002, "ours"), on=WIDE,
    fails_on=case("the same memories before training", planted["untrained"]),
    holds_on=case("planted: exactly -log(1 - alpha)", planted["at the bound"]),
)  # fmt: skip

for name, width, node in (("wide", 12, WIDE), ("narrow", 8, NARROW)):
    study.claim(
        f"rank-two-{name}",
        "Cut to rank 2, a memory of three items with 3 % noise has less than half the clean loss "
        f"of the whole matrix from step 3,000 on, in most runs at d = {width}.",
        FIGURE, lower_throughout, at_least(0.5, "ours"), on=node,
        fails_on=case("planted: rank 2 as the whole matrix", planted["ranks alike"]),
        holds_on=case("planted: rank 2 at 0.001", planted["rank 2 alone good"]),
    )  # fmt: skip

study.claim(
    "rank-two-early",
    "Early in training, at step 100, cutting the memory to rank 2 makes the clean loss worse: the "
    "noise direction still takes the noise token away.",
    derived("derived from the flow; beside Fig. 4.5"), worse_early, at_least(0.5, "derived"),
    on=WIDE,
    fails_on=case("planted: rank 2 at 0.001 throughout", planted["rank 2 alone good"]),
    holds_on=case("planted: rank 2 at 2 until step 200", planted["worse at first"]),
)  # fmt: skip
study.claim(
    "wider-is-steadier",
    "Rank-2 losses of different runs lie closer together at d = 12 than at d = 8.",
    FIGURE, more_spread, at_least(0.0, "printed"), on=(NARROW, WIDE),
    fails_on=case("planted: the wide runs apart, the narrow ones alike",
                  planted["alike"], planted["apart"]),
    holds_on=case("planted: the narrow runs apart, the wide ones alike",
                  planted["apart"], planted["alike"]),
)  # fmt: skip


def furthest(values: np.ndarray) -> Measured:
    """The value furthest from zero."""
    return exact(float(np.abs(values).max()), 1e-7)


def furthest_from_one(values: np.ndarray) -> Measured:
    """The value furthest from one."""
    return exact(float(np.abs(values - 1).max()), 1e-7)


def exponent(values: np.ndarray) -> Measured:
    """Worst slope of log P against log t over the last two decades, less -1/2."""
    late = LATE >= 1e5
    slopes = np.polyfit(np.log(LATE[late]), np.log(values[:, late]).T, 1)[0]
    return exact(float(np.abs(slopes + 0.5).max()), 1e-6)


THEOREM = chen2025("Theorem 4.3")
study.claim(
    "full-probabilities",
    "With two items the whole matrix ends with probability alpha on the noise.",
    THEOREM, furthest, at_most(1e-3, "ours"), on=runs.full_matrix["full"],
    fails_on=case("cut to rank 1", runs.full_matrix["rank 1"]),
    holds_on=case("planted: alpha itself", runs.full_matrix["planted"]),
    measures="Distance of the noise's probability at the end from alpha, at most over alphas.",
)  # fmt: skip
study.claim(
    "rank-one-rate",
    "With two items, cut to rank 1, the probability of the noise falls like t to the power -1/2.",
    THEOREM, exponent, at_most(0.02, "ours"), on=runs.noise_left["rank 1"],
    fails_on=case("planted: 1 / t", runs.noise_left["planted t^-1"]),
    holds_on=case("planted: t^-1/2", runs.noise_left["planted t^-1/2"]),
)  # fmt: skip
LEMMA, CORRECTED = chen2025("Lemma C.14"), chen2025("Lemma C.14", how="corrects")
PRINTED = (
    "the odds of the wrong item fall like 1 / ((1 - alpha)(4 - 2 alpha) t), as printed, under "
)
RIGHT, OWN = "printed, right flow", "printed, its own flow"  # keys of `constants`
GOOD, FITTED = "corrected, right flow", "corrected, printed flow"
for slug, words, source, key, (wrong, right), partner in (
    ("constant-as-printed", f"With two items {PRINTED}the flow of the loss.",
     LEMMA, RIGHT, (OWN, GOOD), "constant"),
    ("constant-of-its-own-flow", f"With two items {PRINTED}the flow that is printed with it.",
     LEMMA, OWN, (RIGHT, FITTED), "constant-of-printed-flow"),
    ("constant", "With two items the odds of the wrong item fall like 1 / (1.5 (1 - alpha) t) "
     "under the flow of the summed loss.", CORRECTED, GOOD, (RIGHT, FITTED), "constant-as-printed"),
    ("constant-of-printed-flow", "Under the flow that is printed for two items, the odds of the "
     "wrong item fall like 1 / (3.6 (1 - alpha) t).", CORRECTED, FITTED, (OWN, GOOD),
     "constant-of-its-own-flow"),
):  # fmt: skip
    study.claim(
        slug, words, source, furthest_from_one, at_most(1e-3, "derived"), on=runs.constants[key],
        fails_on=case(f"the constant and the flow: {wrong}", runs.constants[wrong]),
        holds_on=case(f"the constant and the flow: {right}", runs.constants[right]),
        partner=partner,
        note="At time 1e7 terms of the order of log(t) / t = 2e-6 are left out.",
    )  # fmt: skip


def largest(ratios: np.ndarray) -> Measured:
    """The largest ratio of the noise's singular value to the signal's."""
    return exact(float(ratios.max()), 1e-6)


def highest(differences: np.ndarray) -> Measured:
    """The highest difference of losses."""
    return exact(float(differences.max()), 1e-9)


study.claim(
    "smallest-for-any-number",
    "For any number of items the noise's singular value stays below the signal's, so that a "
    "truncation to rank N - 1 removes it.",
    chen2025("section 4.4.3 and Theorem 4.3", how="a reading of"), largest, at_most(1.0, "ours"),
    on=runs.spectra["many"],
    fails_on=case("planted: the limit (N - 1) / sqrt(N + 1)", runs.spectra["limits"]),
    holds_on=case("N = 2 and N = 3", runs.spectra["few"]), partner="largest-for-many",
    note="The theorem is for N = 2 and alpha from 0.2 to 0.4. The thesis calls it easy to extend, "
    "and remarks that alpha decides for many items. At time 1e12, N = 4 to 30.",
    exploratory=True,
)  # fmt: skip
study.claim(
    "largest-for-many",
    "From four items on the noise's singular value ends above the signal's.",
    chen2025("Theorem 4.3", how="beyond"), lambda r: exact(float(r.min()), 1e-6),
    at_least(1.0, "derived"), on=runs.spectra["many"],
    fails_on=case("N = 2 and N = 3", runs.spectra["few"]),
    holds_on=case("planted: the limit (N - 1) / sqrt(N + 1)", runs.spectra["limits"]),
    partner="smallest-for-any-number",
    note=lambda _: f"At alpha of {' and '.join(f'{a:g}' for a in runs.NOISES)}.",
    measures="Smallest ratio of the noise's to the signal's singular value.",
)  # fmt: skip
study.claim(
    "theory-over-training",
    "A memory with orthonormal vectors that descends from zero has, cut to rank 2 and whole, the "
    "clean losses of the flow.",
    derived(), furthest, at_most(0.002, "ours"), on=runs.beside_theory["theory at its times"],
    fails_on=case("the theory of the summed loss", runs.beside_theory["theory of the sum"]),
    holds_on=case("planted: the theory itself", runs.beside_theory["planted"]),
    measures="Largest distance of a loss of the training from the flow's.",
)  # fmt: skip
study.claim(
    "late-relation",
    "Late in training the noise's singular value is N / sqrt(N + 1) |L - s (N - 1) / N|, with s "
    "the signal's and L the log odds of a clean label.",
    derived(), furthest_from_one, at_most(0.01, "ours"), on=runs.relation["late"],
    fails_on=case("time 3", runs.relation["early"]),
    holds_on=case("planted: the relation itself", runs.relation["planted"]),
    measures="Largest distance from 1 of the singular value over what the relation says.",
)  # fmt: skip
study.claim(
    "ten-items-truncated",
    "With ten items and 30 % noise, a truncation to rank 9 lowers the clean loss.",
    chen2025("section 4.4.3 and Theorem 4.3", how="a reading of"), highest,
    at_most(-1e-3, "ours"), on=runs.ten_items["noise and part of the signal"],
    fails_on=case("nothing is cut", runs.ten_items["nothing"]),
    holds_on=case("two items cut to rank 1, which is the signal", runs.ten_items["two items"]),
    partner="ten-items-removed", note="The theorem is for two items.", exploratory=True,
)  # fmt: skip
study.claim(
    "ten-items-removed",
    "With ten items and 30 % noise, removing the noise direction alone lowers the clean loss.",
    derived(), highest, at_most(-1e-3, "derived"), on=runs.ten_items["signal only"],
    fails_on=case("nothing is cut", runs.ten_items["nothing"]),
    holds_on=case("planted: one less than the whole matrix", runs.one_less),
    partner="ten-items-truncated",
)  # fmt: skip
