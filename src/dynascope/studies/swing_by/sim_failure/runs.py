"""Fig. 10 with A, with A squared, and run on; narrow models; starts of rank one.

yang2025 appendices E.2 and E.3, Fig. 10. The figure ends while the weakest concept is still on
its way; how long it takes is known from the start (Schur law). Only a missing rank is a trap.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.run import Run
from dynascope.core.sources import yang2025
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import LogSpaced
from dynascope.models import TiedLinear
from dynascope.probes import InputJacobian, OutputAt, TestLoss
from dynascope.studies.study import Study
from dynascope.studies.swing_by.events import Shown, at_printed_clock, show, times_to_half
from dynascope.studies.swing_by.starts import signal
from dynascope.tasks import IdentityMapping
from dynascope.theories import SymmetricTwoLayer
from dynascope.theories.base import initial_jacobian
from dynascope.theories.swing_by.schur import bottleneck_loss, schur_complements
from dynascope.theories.swing_by.stages import smallest_shares
from dynascope.theories.swing_by.tied_flow import printed_recursion

WIDTHS = (1, 2, 3)
FOLLOWED = 12  # seeds that the flow is held against
LAW_MEANS = (1.0, 1.5, 2.2)  # a second set of means, to try the bottleneck law on
RANK_ONE = ((0.01,) * 3,) * 3
NEARLY = tuple(tuple(0.01 + 1e-5 * (i == j) for j in range(3)) for i in range(3))


@dataclass(frozen=True)
class Settings(Spec, tag="studies.sim-failure"):
    """The figure's setting, and how much longer it is run."""

    task: IdentityMapping = IdentityMapping(means=(0.7, 1.7, 3.0), scales=(0.05,) * 3)
    init_scale: float = static_field(0.1)
    learning_rate: float = static_field(0.01)  # the program's, in paper time
    steps: int = 10_000  # the program's
    longer: int = 6  # how many times as long the figure is run on
    seeds: int = 400
    recursion_seeds: int = 100
    narrow_seeds: int = 16

    @property
    def end(self) -> float:
        """The time at which the figure ends."""
        return self.steps * self.learning_rate / 2


study = Study(
    "sim-failure",
    title="Failure to generalise: a delay, not a trap",
    sources=(yang2025("appendices E.2, E.3, Fig. 10"),),
    settings=Settings,
    scales={"smoke": {"seeds": 100, "recursion_seeds": 50}, "laptop": {},
            "paper": {"seeds": 2000, "recursion_seeds": 200}},
    notes=lambda s: (
        "Time is true gradient-flow time; the printed flow runs twice as fast, so the "
        f"program's {s.steps} steps at rate {s.learning_rate:g}, which the text does not give, "
        f"end at {s.end:g}.",
        "The text has A, the authors' program A squared, which makes the weakest signal six "
        "times weaker here; both are run.",
        "U is moved, never W. The program iterates W: from about a third of these starts that "
        "runs away, and what is left looks stuck.",
        "The figure's seed is not given; the shown seed is the one with the median Schur time.",
        "Phrases such as never and converges are read as statements about long times, and the "
        f"run is continued to {s.longer} times the program's length.",
        "Leaving the initial phase from below (E.3) is measured as the smallest w_kk(t) over "
        "w_kk(0), beside S_k over w_kk(0), the share of the start that is the direction's own.",
    ),
)  # fmt: skip


def _random(s: Settings) -> TiedLinear:
    return TiedLinear(3, s.init_scale, "uniform")


def _experiment(
    s: Settings, task: IdentityMapping, model: TiedLinear, seeds: int, longer: int, *over: tuple
) -> Experiment:
    return Experiment(
        task, model, GradientDescent(s.learning_rate / 2),
        (TestLoss(), OutputAt(), InputJacobian()), steps=longer * s.steps,
        record=LogSpaced(500, 10.0), seeds=tuple(range(seeds)), dtype="float64", over=over,
    )  # fmt: skip


@study.run
def figure(s: Settings) -> dict[str, Experiment]:
    """Fig. 10 with A and with A squared, the latter also run on."""
    text, squared = s.task.as_in("text"), s.task.as_in("code")
    kinds = {"text": (text, 1), "program": (squared, 1), "program, run on": (squared, s.longer)}
    return {n: _experiment(s, task, _random(s), s.seeds, k) for n, (task, k) in kinds.items()}


@study.run
def narrow(s: Settings) -> Experiment:
    """Models with fewer columns than concepts, and one with as many, on two sets of means."""
    over = ("model.width", WIDTHS), ("task.means", (s.task.means, LAW_MEANS))
    seeds = min(s.seeds, s.narrow_seeds)
    return _experiment(s, s.task.as_in("text"), _random(s), seeds, 2, *over)


@study.run
def rank_one(s: Settings) -> Experiment:
    """A wide model from a start of rank one, and from nearly the same start."""
    task, over = IdentityMapping(LAW_MEANS, s.task.scales), (RANK_ONE, NEARLY)
    model = TiedLinear(3, initial_jacobian=NEARLY)
    return _experiment(s, task, model, 1, 1, ("model.initial_jacobian", over))


@study.compute(
    each=lambda s: ("text", "code", "uncorrelated"),
    reads=("task", "init_scale", "learning_rate", "steps", "recursion_seeds"),
    seconds=lambda s: 3 * s.steps * (8e-5 + 1e-6 * s.recursion_seeds),
)  # fmt: skip
def recursion(s: Settings, reading: str) -> np.ndarray:
    """The step at which the printed recursion on W runs away, or -1, for every start.

    With A, with A squared, and with A squared from the diagonals of the starts alone.
    """
    task = s.task.as_in("text" if reading == "text" else "code")
    start = initial_jacobian(task, _random(s), np.arange(s.recursion_seeds))
    if reading == "uncorrelated":
        start = start * np.eye(start.shape[-1])
    return printed_recursion(start, signal(task), s.learning_rate, s.steps).ran_away


run_on = figure["program, run on"]


def times_of(run: Run) -> dict[str, np.ndarray]:
    """True times at which w11 passes one half, one a start."""
    found = times_to_half(run.dataset, signal(run.experiment.task))
    return {k: t[:, 0] for k, t in zip(("measured", "schur", "naive"), found, strict=True)}


@study.finding(run_on)
def half(s: Settings, run_on: Run) -> dict[str, np.ndarray]:
    """The times of the starts."""
    return times_of(run_on)


@study.finding(run_on)
def planted_half(s: Settings, run_on: Run) -> dict[str, np.ndarray]:
    """The times of planted entries that grow alone: w(t) = 1 / (1 + 99 exp(-4 a t))."""
    a, t = np.asarray(run_on.experiment.task.moments(), float), run_on["time"].values
    grown = 1 / (1 + 99 * np.exp(-4 * np.multiply.outer(t, a)))
    path = grown[:, :, None] * np.eye(3)
    shape = run_on["input_jacobian"].shape
    return times_of(run_on.planted(input_jacobian=np.broadcast_to(path, shape).copy()))


@study.finding(run_on)
def planted_stuck(s: Settings, run_on: Run) -> Run:
    """w22 and w33 are learned half-way, w11 never: the loss stays at half the square of mu_1."""
    w, half = np.zeros(run_on["input_jacobian"].shape), run_on.sizes["step"] // 2
    w[:, half:, 1, 1] = w[:, half:, 2, 2] = 1.0
    squares = np.square(s.task.means) / 2
    loss = np.full(run_on["test_loss"].shape, squares[0])
    loss[:, :half] = squares.sum()
    return run_on.planted(input_jacobian=w, test_loss=loss)


@study.finding(figure["program"])
def planted_late(s: Settings, run: Run) -> Run:
    """w11 is learned at the end exactly where the Schur complement of the start says so."""
    w, a = run["input_jacobian"].values.copy(), np.asarray(run.experiment.task.moments(), float)
    own = schur_complements(w[:, 0], a)[:, 0]
    late = np.log((1 - own) / own) / (4 * a[0]) > run["time"].values[-1]
    w[:, -1, 0, 0] = np.where(late, 0.1, 0.9)
    return run.planted(input_jacobian=w)


@study.finding(narrow)
def two_columns(s: Settings, narrow: Run) -> Run:
    """The models with two columns for the three concepts of the figure."""
    return narrow.isel(**{"task.means": 0, "model.width": WIDTHS.index(2)})


@study.finding
def laws(s: Settings) -> dict[str, np.ndarray]:
    """Losses that are left by means and width: the strongest learned first, or the weakest."""
    kinds: dict[str, list] = {"strongest": [], "weakest": []}
    for means in (s.task.means, LAW_MEANS):
        strengths = signal(IdentityMapping(means, s.task.scales))
        for order, kind in ((1, "strongest"), (-1, "weakest")):
            kinds[kind].append([bottleneck_loss(means, order * strengths, w) for w in WIDTHS])
    return {kind: np.array(found) for kind, found in kinds.items()}


@study.finding(narrow, rank_one)
def planted_traps(s: Settings, narrow: Run, rank_one: Run) -> dict[str, Run]:
    """Models that end with half the squared means of the 3 - width weakest concepts."""
    dims = ("task.means", "model.width", "seed", "step")
    losses = narrow["test_loss"].transpose(*dims)
    left = [[np.square(means[: 3 - w]).sum() / 2 for w in WIDTHS]
            for means in (s.task.means, LAW_MEANS)]  # fmt: skip
    values = losses.copy(data=np.broadcast_to(np.array(left)[..., None, None], losses.shape))
    trapped = np.full(rank_one["test_loss"].shape, (LAW_MEANS[0] ** 2 + LAW_MEANS[1] ** 2) / 2)
    return {
        "narrow": narrow.planted(test_loss=values.transpose(*narrow["test_loss"].dims).values),
        "rank one": rank_one.planted(test_loss=trapped),
    }


def own_shares(run: Run) -> np.ndarray:
    """S_k / w_kk(0): the share of the start that is a direction's own, (seed, 3)."""
    start = run["input_jacobian"].values[:, 0]
    own = schur_complements(start, signal(run.experiment.task))
    return own / np.diagonal(start, axis1=1, axis2=2)


@study.finding(run_on)
def own(s: Settings, run_on: Run) -> np.ndarray:
    """Own shares of the starts, (seed, 3)."""
    return own_shares(run_on)


@study.finding(run_on)
def lowest(s: Settings, run_on: Run) -> np.ndarray:
    """How far the major entries fall before they grow, w_kk(t) / w_kk(0) at least, (seed, 3)."""
    return smallest_shares(run_on["input_jacobian"].values)


@study.finding(run_on)
def planted_fall(s: Settings, run_on: Run) -> Run:
    """w11 falls to 0.3 of its start, 0.19 of which is its own."""
    steps = run_on.sizes["step"]
    start = 0.01 * np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    path = np.broadcast_to(start, (steps, 3, 3)).copy()
    path[:, 0, 0] = 0.01 * np.interp(np.linspace(0, 2, steps), [0, 1, 2], [1.0, 0.3, 100.0])
    shape = run_on["input_jacobian"].shape
    return run_on.planted(input_jacobian=np.broadcast_to(path, shape).copy())


@study.finding(planted_fall)
def planted_own(s: Settings, planted: Run) -> np.ndarray:
    """Own shares of the planted starts."""
    return own_shares(planted)


@study.finding(planted_fall)
def planted_lowest(s: Settings, planted: Run) -> np.ndarray:
    """How far the planted entries fall."""
    return smallest_shares(planted["input_jacobian"].values)


@study.finding(run_on, half["schur"])
def shown(s: Settings, run_on: Run, schur: np.ndarray) -> Shown:
    """The start with the median Schur time, through the end of the figure and on."""
    return show(run_on, int(np.argsort(schur)[len(schur) // 2]))


class Followed(NamedTuple):
    """Some seeds, and the exact flow over them."""

    run: Run
    theory: xr.Dataset


@study.finding(run_on)
def followed(s: Settings, run_on: Run) -> Followed:
    """The first seeds with the flow over them."""
    run = run_on.isel(seed=slice(FOLLOWED))
    return Followed(run, SymmetricTwoLayer().predict(run))


@study.finding(followed)
def slow_followed(s: Settings, followed: Followed) -> Followed:
    """The same with the flow at the printed clock."""
    return followed._replace(theory=at_printed_clock(followed.theory))


@study.finding(followed)
def planted_followed(s: Settings, followed: Followed) -> Followed:
    """The runs, had they been the flow to two percent."""
    loss = 1.02 * followed.theory["test_loss"].values
    return followed._replace(run=followed.run.planted(test_loss=loss))
