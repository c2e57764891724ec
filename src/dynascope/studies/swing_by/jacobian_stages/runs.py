"""A reference with its terms, other starts, other signals, random starts, times to learn.

yang2025 Figs. 4 and 5, section 4.2, lemmas D.1 to D.8 under assumptions D.1 to D.5; yang2024
appendix D. Index 1 is the weak concept and 2 the strong one, as in appendices D and E; the main
text counts the other way round.
"""

from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from dynascope.core.run import Run
from dynascope.core.sources import yang2024, yang2025
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly, LogSpaced
from dynascope.models import TiedLinear
from dynascope.probes import Growth, InputJacobian, Noise, Suppression, TestLoss
from dynascope.studies.study import Study
from dynascope.studies.swing_by.jacobian_stages.growth import logistic
from dynascope.studies.swing_by.starts import Rows, correlated
from dynascope.tasks import IdentityMapping
from dynascope.theories import SymmetricTwoLayer

CORRELATIONS = (0.5, 0.7, 0.9, 0.95, 0.99)  # at the reference size
SIZES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # at correlation 0.98
STRONG_MEANS = (1.1, 1.25, 1.5, 2.0, 3.0, 4.0)  # beside a weak mean of 1
LAW_SCALES = (0.02, 0.1)
LAW_MEANS = ((1.0, 2.0), (1.0, 1.5, 2.2), (1.0, 1.5, 2.2, 2.7))


@dataclass(frozen=True)
class Settings(Spec, tag="studies.jacobian-stages"):
    """The reference start, and how many random ones."""

    task: IdentityMapping = IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05))
    size: float = static_field(0.01)  # of the reference start's diagonal
    correlation: float = static_field(0.9)  # of its two rows
    seeds: int = 300  # random starts of Fig. 5
    law_seeds: int = 900  # random starts for the Schur law
    learning_rate: float = static_field(0.002)  # of the reference, in paper time


study = Study(
    "jacobian-stages",
    title="Stages of the Jacobian: growth, suppression, second growth",
    sources=(yang2025("Figs. 4, 5, section 4.2, app. D"), yang2024("app. D")),
    settings=Settings,
    scales={"smoke": {"seeds": 140, "law_seeds": 60}, "laptop": {},
            "paper": {"seeds": 1500, "law_seeds": 2000}},
    notes=(
        "Time is true gradient-flow time; growth, suppression and noise are per paper time, "
        "which runs twice as fast. The step from (D.1) to (D.2) loses that factor 2.",
        "All three terms include the half that the braces under (D.5) and (D.6) leave outside.",
        "The main text sorts concepts from strong to weak, appendices D and E from weak to "
        "strong; here the first is the weak one.",
        "yang2025 puts every minor entry into two groups, yang2024 into at most two: yang2024 is "
        "right.",
        "The main text's first group is said to be led by w_k1 mu_k on its way to 1; it is "
        "w_k1 mu_1 on its way to mu_k.",
        "Corollary D.1 needs P squared. With it, D.4 and D.5 exclude each other.",
        "The time t_0 in the proof of D.8 has 1/kappa where kappa belongs, and (D.74) should "
        "start from w_ii(t_0) and count t* - t_0.",
        "Slips that change no result: (D.13) to (D.15) lack the step size in the noise term; "
        "(D.36) mixes i, j with i, i; (D.38) has a_i + a_j for 2 a_i; (D.45) lacks a_i; (D.46) "
        "has a step size too many; (D.60) loses a factor 1/5; K at most 10 means at least 10; "
        "(D.12) calls S what is -S; yang2024 has 4 a_i/K where 2 a_i/K is right, and o(omega) "
        "where Theta(omega) is.",
        "yang2024 reads Lemma D.4 as a rate lambda a_i exp(-2 lambda a_i t) at w_ii = lambda; the "
        "rate there is 2 a_i lambda (1 - lambda).",
        "The lemmas speak of descent on W, which leaves the positive semidefinite cone; they "
        "are held against descent on U, where D.5's premise is true.",
        "Random starts of Fig. 5 use A, as the text says, and the program's start.",
    ),
)  # fmt: skip


@study.run
def rows(s: Settings) -> dict[str, Experiment]:
    """Two correlated rows: a reference with its terms, other starts, other strong means."""
    few = (TestLoss(), InputJacobian())
    start = correlated(s.size, s.correlation)
    pairs = (*((s.size, c) for c in CORRELATIONS), *((size, 0.98) for size in SIZES))
    starts = ("model.initial_jacobian", tuple(correlated(*pair) for pair in pairs))
    means = ("task.means", tuple((s.task.means[0], m) for m in STRONG_MEANS))

    def experiment(start: Rows, probes: tuple, *over: tuple[str, tuple]) -> Experiment:
        model = TiedLinear(width=2, initial_jacobian=start)
        return Experiment(
            s.task, model, GradientDescent(s.learning_rate / 2), probes, steps=15_000,
            record=Evenly(5001), dtype="float64", over=over,
        )  # fmt: skip

    return {
        "reference": experiment(start, (*few, Growth(), Suppression(), Noise())),
        "starts": experiment(start, few, starts),
        "means": experiment(correlated(1e-4, 0.9), few, means),
    }


@study.run
def random(s: Settings) -> Experiment:
    """The random starts of Fig. 5."""
    return Experiment(
        IdentityMapping(means=(1.0, 1.5), scales=(0.05,) * 3), TiedLinear(3, 0.2, "uniform"),
        GradientDescent(0.005), (TestLoss(), InputJacobian()), steps=3000, record=Evenly(601),
        seeds=tuple(range(s.seeds)), dtype="float64",
    )  # fmt: skip


@study.run
def law(s: Settings) -> dict[str, Experiment]:
    """Two, three and four concepts from small random starts."""

    def experiment(means: tuple[float, ...]) -> Experiment:
        d = len(means)
        scales = (0.05,) * (d - 1) + (0.5 if d == 4 else 0.05,)  # as in the caption of Fig. 9
        # A small rate: at 0.01 the strongest direction is late by 1 % from the steps alone.
        return Experiment(
            IdentityMapping(means, scales), TiedLinear(d, 0.1, "uniform"),
            GradientDescent(0.00125), (InputJacobian(),), steps=20_000,
            record=LogSpaced(500, 100.0), seeds=tuple(range(s.law_seeds)), dtype="float64",
            over=(("model.init_scale", LAW_SCALES),),
        )  # fmt: skip

    return {f"{len(means)} concepts": experiment(means) for means in LAW_MEANS}


@study.finding(rows["reference"])
def theory(s: Settings, reference: Run) -> xr.Dataset:
    """The exact flow over the reference."""
    return SymmetricTwoLayer().predict(reference)


def _along(run: Run) -> list[Run]:
    """The runs of a sweep, each with its own experiment."""
    ((axis, _),) = run.experiment.over
    points = enumerate(run.experiment.grid())
    return [replace(run.isel(**{axis: k}), experiment=point) for k, point in points]


@study.finding(rows)
def by(s: Settings, rows: dict[str, Run]) -> dict[str, dict[float, Run]]:
    """Starts of the reference size by correlation, starts by size, strong means."""
    n, points = len(CORRELATIONS), _along(rows["starts"])
    return {
        "correlation": dict(zip(CORRELATIONS, points[:n], strict=True)),
        "size": dict(zip(SIZES, points[n:], strict=True)),
        "mean": dict(zip(STRONG_MEANS, _along(rows["means"]), strict=True)),
    }


@study.finding(rows, by, random)
def paths(s: Settings, rows: dict, by: dict, random: Run) -> dict[str, list[np.ndarray]]:
    """Paths of W, (step, d, d): of all starts, and of two correlations."""
    swept = [rows[name]["input_jacobian"].values[:, 0] for name in ("starts", "means")]
    alone = {f"{c}": [by["correlation"][c]["input_jacobian"].values[0]] for c in (0.9, 0.99)}
    return {"all": [*swept[0], *swept[1], *random["input_jacobian"].values], **alone}


@study.finding(rows["reference"])
def planted_paths(s: Settings, reference: Run) -> list[np.ndarray]:
    """Twelve paths of two major entries that grow alone."""
    grown = logistic(np.array([0.5, 2.0]), reference["time"].values)
    return [grown[:, :, None] * np.eye(2)] * 12


@study.finding(rows["reference"])
def clock(s: Settings, reference: Run) -> dict[str, np.ndarray]:
    """The times of the reference's records, in paper time and in true time."""
    return {"paper": 2 * reference["time"].values, "true": reference["time"].values}


@study.finding(rows["reference"])
def planted_terms(s: Settings, reference: Run) -> Run:
    """Entries that move as sin(t) in paper time, by growth of 2 cos(t) and losses of cos(t)."""
    t = 2 * reference["time"].values
    moved = np.broadcast_to(np.sin(t)[:, None, None], reference["growth"].shape)
    rate = np.broadcast_to(np.cos(t)[:, None, None], moved.shape)
    return reference.planted(
        input_jacobian=moved.copy(), growth=2 * rate, suppression=0.4 * rate, noise=0.6 * rate
    )


@study.finding(theory)
def slow_theory(s: Settings, theory: xr.Dataset) -> xr.Dataset:
    """The same flow at the printed clock, which is half as fast."""
    times, w = theory["time"].values, theory["input_jacobian"].values  # (seed, step, d, d)
    places = np.searchsorted(times, times / 2)
    return theory.assign(input_jacobian=(theory["input_jacobian"].dims, w[:, places]))


@study.finding(theory, rows["reference"])
def planted_theory(s: Settings, theory: xr.Dataset, reference: Run) -> Run:
    """The reference, had it been the flow up to 0.005."""
    return reference.planted(input_jacobian=theory["input_jacobian"].values + 0.005)
