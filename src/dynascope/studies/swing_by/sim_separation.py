"""Separation: no training point lies near the test point, and cutting out the few changes nothing.

001 appendix F.3, Figs. 15 and 16.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np
import xarray as xr
from scipy.special import chndtr

from dynascope.core.charts import Chart, Line, Mark, Panel, Points, Reference
from dynascope.core.randomness import key_for
from dynascope.core.records import Headline
from dynascope.core.spec import leaves, with_leaves
from dynascope.dynamics import SGD
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import MLP
from dynascope.numerics.precision import precision
from dynascope.probes import OutputAt, TestLoss
from dynascope.probes.curves import bump
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import (
    Evidence,
    at_most,
    average,
    compare,
    near,
    single,
)
from dynascope.studies.swing_by.drawing import loss_panel, thin, trajectory
from dynascope.tasks import IdentityMapping

RADII = tuple(np.linspace(0.1, 1.5, 57).tolist())  # around the test point
SHOWN = 1500  # training points in a drawing
DRAWN = 8  # seeds whose training points are looked at


class Found(NamedTuple):
    """What claims and charts read."""

    runs: dict[str, xr.Dataset]
    points: dict[str, np.ndarray]  # training points of DRAWN seeds, (seed, sample, 2)
    inside: dict[str, np.ndarray]  # how many lie within half the smallest mean, (seed,)
    discards: np.ndarray  # how many the truncation drew again, (seed,)
    apart: dict[str, np.ndarray]  # distance between runs with and without it, (seed, step)
    control: dict[str, np.ndarray]  # distance between two seeds, (seed, step)


@dataclass(frozen=True)
class SimSeparation(Study):
    """Whether a training point near the test point could explain what is seen there."""

    name: ClassVar[str] = "sim-separation"
    title: ClassVar[str] = "Separation: nothing near the test point, nothing lost without it"
    source: ClassVar[str] = "001 appendix F.3, Figs. 15, 16"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"seeds": 24, "wide_seeds": 2, "steps": 1180},
        "laptop": {},
        "paper": {"seeds": 100, "wide_seeds": 20},
    }

    means: tuple[float, float] = (1.0, 2.0)
    seeds: int = 32
    wide_seeds: int = 4
    steps: int = 4720  # 40 epochs of 118 batches
    samples_per_cluster: int = 5000
    batch_size: int = 128
    dimension: int = 64
    width: int = 64

    def notes(self) -> tuple[str, ...]:
        """Where text, program and derivation differ."""
        return (
            "The caption has means (1, 2), the program (2, 4); the text's scales are deviations, "
            "the program's variances. That few samples are discarded fits means (1, 2) with "
            "variances of 0.05 only, so that is what is trained with and without truncation.",
            "Points closer to the test point than half the smallest mean are drawn again, each "
            "from its own cluster; all others, their order and the start stay the same.",
            "The low-dimensional network has width 4 and learning rate 0.01, as in the program.",
        )

    def settings(self) -> dict[str, IdentityMapping]:
        """The three readings of the training set, and the truncated one."""
        program = IdentityMapping(
            self.means, (0.05, 0.05), origin=True, reduction="mean", scale_is="variance",
            samples_per_cluster=self.samples_per_cluster,
        )  # fmt: skip
        return {
            "variances": program,
            "deviations": replace(program, scales=(0.05**2, 0.05**2)),
            "far apart": replace(program, means=(2.0, 4.0)),
            "truncated": replace(program, truncated=True),
        }

    def plan(self) -> dict[str, Experiment]:
        """Narrow and wide networks, with and without truncation."""
        plan = {}
        for name, key in (("whole", "variances"), ("truncated", "truncated")):
            task = self.settings()[key]
            narrow = MLP(4, 4, "linear")
            plan[f"narrow, {name}"] = self._train(task, narrow, 0.01, self.seeds)
            wide, rate = MLP(4, self.width, "linear"), 0.1 * self.dimension / 64
            task = replace(task, dimension=self.dimension)
            plan[f"wide, {name}"] = self._train(task, wide, rate, self.wide_seeds)
        return plan

    def _train(self, task: IdentityMapping, model: MLP, rate: float, seeds: int) -> Experiment:
        return Experiment(
            task, model, SGD(rate, self.batch_size), (TestLoss(), OutputAt()), steps=self.steps,
            record=Every(10), seeds=tuple(range(seeds)),
        )  # fmt: skip

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """The training points of every seed, and distances between trajectories."""
        *whole, cut = self.settings().values()
        drawn = min(DRAWN, self.seeds)
        clouds = (*_draw(whole, drawn), *_draw([cut], drawn))
        points = dict(zip(self.settings(), clouds, strict=True))
        # Truncation leaves every other row as it is, so those that differ were drawn again.
        discards = (points["variances"] != points["truncated"]).any(axis=-1).sum(axis=-1)
        inside = {k: _inside(points[k], task.means) for k, task in self.settings().items()}
        apart, control = {}, {}
        for kind in ("narrow", "wide"):
            one, two = (runs[f"{kind}, {n}"]["output_at"].values for n in ("whole", "truncated"))
            apart[kind] = np.linalg.norm(one - two, axis=-1)
            control[kind] = np.linalg.norm(one - np.roll(one, 1, axis=0), axis=-1)
        return Found(runs, points, inside, discards, apart, control)

    def headline(self, found: Found) -> Headline:
        """How many training points lie within a distance of the test point."""
        task = self.settings()["variances"]
        return Headline(
            title="Training points near the test point, means (1, 2), variances 0.05",
            x_label="distance to the test point",
            y_label="points within it",
            x=RADII,
            y=tuple(_counts(found.points["variances"], task).tolist()),
            theory=tuple(_expected_counts(task).tolist()),
            note=f"{found.discards.mean():.1f} of {3 * self.samples_per_cluster} are drawn again "
            "when points within 0.5 are cut out",
        )

    # --- claims --------------------------------------------------------------------------

    @claim(
        "no-training-point-near",
        "In the text's reading no training point comes closer to the test point than half the "
        "smallest mean: on average at most 0.1 of 15,000.",
        "001 F.3, Fig. 15, means (1, 2), deviations 0.05",
    )
    def no_point_near(self, found: Found) -> Evidence:
        """Average number of close points; variances of 0.05 must bring some."""
        control = ("variances of 0.05 instead of deviations", average(found.inside["variances"]))
        note = f"The closest of all seeds is {self._closest(found, 'deviations'):.2f} away."
        return compare(at_most(0.1), average(found.inside["deviations"]), control, note)

    @claim(
        "no-training-point-near-in-the-program",
        "In the program's setting, means (2, 4) and variances 0.05, none comes closer either: on "
        "average at most 0.1.",
        "authors' program for 001 Fig. 15",
    )
    def no_point_near_code(self, found: Found) -> Evidence:
        """Average number of close points; means (1, 2) must bring some."""
        control = ("means (1, 2)", average(found.inside["variances"]))
        note = f"The closest of all seeds is {self._closest(found, 'far apart'):.2f} away."
        return compare(at_most(0.1), average(found.inside["far apart"]), control, note)

    def _closest(self, found: Found, name: str) -> float:
        return float(_distances(found.points[name], self.settings()[name].means).min())

    @claim(
        "few-samples-discarded",
        "Truncation discards a few samples: as many of 15,000 as the normal distribution predicts "
        "for means (1, 2) and variances 0.05, within a quarter.",
        "001 F.3",
    )
    def few_discarded(self, found: Found) -> Evidence:
        """Average number of redrawn points; means (2, 4) must lose none."""
        radius = min(self.means) / 2
        expected = float(_expected_counts(self.settings()["variances"], (radius,))[0])
        control = ("means (2, 4)", average(found.inside["far apart"]))
        return compare(near(expected, 0.25 * expected), average(found.discards), control)

    @claim(
        "none-left-inside",
        "After truncation no training point is closer than half the smallest mean.",
        "001 F.3, Fig. 16",
    )
    def none_left(self, found: Found) -> Evidence:
        """Largest number of close points over seeds; without truncation there must be some."""
        control = ("without truncation", average(found.inside["variances"]))
        return compare(at_most(0.0), single(found.inside["truncated"].max()), control)

    @claim(
        "trajectories-unchanged",
        "With and without truncation the output of the narrow network takes the same path: the "
        "two never differ by more than 2 % of the target's length, on average over seeds.",
        "001 Fig. 16",
    )
    def narrow_unchanged(self, found: Found) -> Evidence:
        """Largest distance at equal times; two different seeds must be far apart."""
        return self._unchanged(found, "narrow")

    @claim(
        "trajectories-unchanged-in-high-dimension",
        "The same holds for the wide network in 64 dimensions.",
        "001 Fig. 16",
    )
    def wide_unchanged(self, found: Found) -> Evidence:
        """Largest distance at equal times; two different seeds must be far apart."""
        return self._unchanged(found, "wide")

    def _unchanged(self, found: Found, kind: str) -> Evidence:
        apart, control = (
            average(d[kind].max(axis=1) / np.hypot(*self.means))
            for d in (found.apart, found.control)
        )
        return compare(at_most(0.02), apart, ("two different seeds", control))

    @claim(
        "swing-by-unchanged",
        "The rise of the test loss is the same with and without truncation, within 1 % of the "
        "first loss on average over seeds.",
        "001 Fig. 16",
    )
    def swing_by_unchanged(self, found: Found) -> Evidence:
        """Difference of rises of the narrow network; two different seeds must differ more."""
        whole, cut = (
            bump(found.runs[f"narrow, {n}"]["test_loss"].values) for n in ("whole", "truncated")
        )
        control = ("two different seeds", average(np.abs(whole - np.roll(whole, 1))))
        return compare(at_most(0.01), average(np.abs(whole - cut)), control)

    # --- charts --------------------------------------------------------------------------

    @chart
    def points_chart(self, found: Found) -> Chart:
        """Figs. 15 and 16: training points and trajectory, whole and truncated."""
        rises = bump(found.runs["narrow, whole"]["test_loss"].values)
        shown = int(np.argmax(rises[: len(found.discards)]))
        names = {"whole": "variances", "truncated": "truncated"}
        panels = tuple(self._map(found, run, points, shown) for run, points in names.items())
        return Chart(
            "points",
            "The path does not need the points near the target",
            f"Training points of seed {shown} (some of them) and the output of the narrow network. "
            "Right: points inside the circle around the test point are drawn again; the path is "
            "the same.",
            panels,
        )

    def _map(self, found: Found, run: str, setting: str, seed: int) -> Panel:
        cloud, centre = found.points[setting][seed], np.array(self.means)
        order = np.argsort(np.linalg.norm(cloud - centre, axis=1))
        # The nearest are all there; the rest only hints at the clusters.
        keep = np.concatenate([order[:100], order[100 :: len(order) // SHOWN]])
        angle, radius = np.linspace(0, 2 * np.pi, 100), min(self.means) / 2
        x, y = centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)
        marks: tuple[Mark, ...] = (
            Points(cloud[keep, 0], cloud[keep, 1], "training points", role="control"),
            trajectory(found.runs[f"narrow, {run}"]["output_at"][seed], "output"),
            Line(x, y, "half the smallest mean", role="reference"),
            Points(centre[:1], centre[1:], "test point", role="theory"),
        )
        return Panel(marks, run.capitalize(), "coordinate 1", "coordinate 2", equal=True)

    @chart
    def counts_chart(self, found: Found) -> Chart:
        """How many training points lie within a distance, measured and predicted."""
        marks: list[Mark] = []
        names = ("variances", "deviations", "far apart")
        for group, name in enumerate(names):
            task = self.settings()[name]
            label = f"means {task.means}, variance {task.scales[0]:g}"
            counts = _counts(found.points[name], task)
            seen = np.where(counts > 0, counts, np.nan)
            marks.append(Points(RADII, seen, label, group=group))
            predicted = _expected_counts(task)
            shown = np.where(predicted > 0.5 / len(counts), predicted, np.nan)
            theory = "normal distribution" if group == 2 else ""
            marks.append(Line(RADII, shown, theory, "theory", group))
        marks.append(Reference("x", min(self.means) / 2, "half the smallest mean (1)"))
        panel = Panel(
            tuple(marks), "Points near the test point", "distance", "points within it",
            y_scale="log",
        )  # fmt: skip
        return Chart(
            "counts",
            "Only one reading has points to discard",
            "Training points within a distance of the test point, average per seed of "
            f"{3 * self.samples_per_cluster}, with the prediction. Only means (1, 2) with "
            "variances of 0.05 have any within half the smallest mean.",
            (panel,),
        )

    @chart
    def apart_chart(self, found: Found) -> Chart:
        """Distance between the trajectories over time, and between different seeds."""
        panels = []
        for kind in ("narrow", "wide"):
            times = found.runs[f"{kind}, whole"]["time"].values[1:]  # at first they are one
            keep = thin(times)
            lines = []
            for name, values, role in (
                ("with and without truncation", found.apart[kind], "measured"),
                ("two different seeds", found.control[kind], "control"),
            ):
                low, middle, high = np.quantile(values[:, 1:], (0.1, 0.5, 0.9), axis=0)[:, keep]
                lines.append(Line(times[keep], middle, name, role, None, low, high))  # type: ignore[arg-type]
            panel = loss_panel(lines, f"{kind.capitalize()} network", "distance")
            panels.append(replace(panel, y_scale="log"))
        return Chart(
            "apart",
            "Truncation moves the path far less than another seed does",
            "Distance between two trajectories at equal times, median and middle 80 % over seeds.",
            tuple(panels),
        )


def _draw(tasks: list[IdentityMapping], seeds: int) -> np.ndarray:
    """Training points as a run draws them, (task, seed, sample, 2).

    The tasks differ in means and scales only, so that all of them share one compiled program.
    """

    def one(lane: tuple[dict[str, jax.Array], jax.Array]) -> Any:
        values, seed = lane
        return with_leaves(tasks[0], values).samples(key_for(seed, "data"))

    values = [leaves(task) for task in tasks for _ in range(seeds)]
    stacked = {k: np.array([v[k] for v in values], np.float32) for k in values[0]}
    numbers = np.tile(np.arange(seeds, dtype=np.uint32), len(tasks))
    with precision("float32"):
        points = jax.jit(lambda lanes: jax.lax.map(one, lanes))((stacked, numbers))
    return np.asarray(points, float).reshape(len(tasks), seeds, -1, 2)


def _distances(points: np.ndarray, means: tuple[float, ...]) -> np.ndarray:
    """Distance of every point to the test point."""
    return np.linalg.norm(points - np.array(means), axis=-1)


def _inside(points: np.ndarray, means: tuple[float, ...]) -> np.ndarray:
    """How many points of each seed lie within half the smallest mean of the test point."""
    return (_distances(points, means) <= min(means) / 2).sum(axis=1)


def _counts(points: np.ndarray, task: IdentityMapping) -> np.ndarray:
    """Average number of points within each of RADII of the test point."""
    distance = _distances(points, task.means)
    return np.array([(distance <= r).sum(axis=1).mean() for r in RADII])


def _expected_counts(task: IdentityMapping, radii: tuple[float, ...] = RADII) -> np.ndarray:
    """The same for normal clusters: squared distances are noncentral chi-squared, two degrees."""
    variance = task.scales[0]
    first, second = task.means
    offsets = np.array([second, first, np.hypot(first, second)])  # of the three cluster centres
    squares = np.square(radii)[:, None] / variance
    inside = chndtr(squares, 2, offsets**2 / variance)
    return (task.samples_per_cluster or 0) * inside.sum(axis=1)
