"""Order of learning: the concept with the larger signal a = scale^2 + mean^2 / K comes first.

001 Figs. 2a, 2b, 11, 12 and Theorem 4.1; 000 Fig. 3 and Theorem A.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Panel
from dynascope.core.records import Headline
from dynascope.dynamics import SGD, Dynamics, GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import MLP
from dynascope.probes import OutputAt
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    average,
    compare,
    near,
    single,
)
from dynascope.studies.swing_by import flip
from dynascope.studies.swing_by.drawing import theory_map
from dynascope.studies.swing_by.flip import Reading
from dynascope.studies.swing_by.preference import growth_from_zero, half_way, winding
from dynascope.studies.swing_by.start_noise import signals, start_of
from dynascope.tasks import IdentityMapping
from dynascope.theories.closed_form import flow_decay, one_layer_output, order_flip_scale

READINGS: dict[str, Reading] = {"one layer": "text", "two layers": "text", "relu": "code"}
FIRST_MEANS = (1.0, 2.0, 3.0)  # Fig. 2a; the second mean is 2
FIRST_SCALES = (0.05, 0.1, 0.5, 1.0, 2.0)  # Fig. 2b; the second scale is 0.05


class Found(NamedTuple):
    """What claims and charts read."""

    runs: dict[str, xr.Dataset]
    theory: np.ndarray  # Theorem 4.1 from each seed's own start, (setting, seed, time, d)
    preference: dict[str, np.ndarray]  # of concept 1, (setting, seed), by model
    delays: dict[Reading, np.ndarray]  # t_1 - t_2 from zero over the scales, by reading
    grid: np.ndarray  # (t_1 - t_2) / (t_1 + t_2) over means and scales, text reading


@dataclass(frozen=True)
class SimOrder(Study):
    """Which concept is learned first, and where the order flips."""

    name: ClassVar[str] = "sim-order"
    title: ClassVar[str] = "Order of learning: the stronger signal first"
    source: ClassVar[str] = "001 Figs. 2a, 2b, 11, 12, Theorem 4.1; 000 Fig. 3, Theorem A.1"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"dimension": 16, "width": 16, "seeds": 16, "network_seeds": 4, "steps": 2360},
        "laptop": {},
        "paper": {"linear_samples": True, "rotated": True, "seeds": 20, "network_seeds": 20},
    }

    dimension: int = 64
    width: int = 64
    steps: int = 4720  # 40 epochs of 118 batches
    seeds: int = 8
    network_seeds: int = 4
    samples_per_cluster: int = 5000
    batch_size: int = 128
    linear_samples: bool = False  # whether linear models see samples too, or the population
    rotated: bool = False  # networks only: Theorem 4.1 is drawn seed by seed over one layer

    def notes(self) -> tuple[str, ...]:
        """Where text, program and derivation differ."""
        return (
            "Linear models follow the text: scales are deviations, K = 2 clusters, no offset.",
            "ReLU networks follow the authors' program: scales are variances, K = 3 clusters with "
            "the one at the origin, offsets. The two readings flip at different scales.",
            "The loss is averaged over coordinates as in the program: with (2.1) itself the "
            "learning rate 0.1 ends the run within its first epoch.",
            "All models train on samples in batches."
            if self.linear_samples
            else "Linear models train on the exact population, ReLU networks on "
            f"{self.samples_per_cluster} samples per cluster in batches of {self.batch_size}.",
            "Half-way is the moment at which the two outputs, as shares of their targets, add up "
            "to 1, interpolated; read once per epoch from one seed it moves by up to 0.1.",
        )

    def plan(self) -> dict[str, Experiment]:
        """Seven settings for three models, and starts at zero for the exact statements."""
        return {
            "one layer": self._train(MLP(1, 1, "linear", bias=False), "text"),
            "two layers": self._train(MLP(2, self.width, "linear", bias=False), "text"),
            "relu": self._train(MLP(2, self.width, "relu"), "code"),
            "from zero, text": flip.from_zero("text", means=True),
            "from zero, code": flip.from_zero("code"),
        }

    def settings(self, reading: Reading) -> tuple[IdentityMapping, ...]:
        """Tasks of the seven settings: three means, then the wider scales."""
        task = flip.plain_task(reading)
        by_mean = (replace(task, means=(m, 2.0)) for m in FIRST_MEANS)
        return *by_mean, *(replace(task, scales=(s, 0.05)) for s in FIRST_SCALES[1:])

    def _train(self, model: MLP, reading: Reading) -> Experiment:
        network, sampled = model.depth > 1, self.linear_samples or model.activation == "relu"
        changes: dict[str, Any] = {
            "dimension": self.dimension,
            "reduction": "mean",
            "rotated": self.rotated and network,
            "samples_per_cluster": self.samples_per_cluster if sampled else None,
        }
        tasks = tuple(replace(task, **changes) for task in self.settings(reading))
        rate = 0.1 * self.dimension / 64  # 0.1 at dimension 64, and the same clock at any other
        dynamics: Dynamics = SGD(rate, self.batch_size) if sampled else GradientDescent(rate)
        return Experiment(
            tasks[0], model, dynamics, (OutputAt(),), steps=self.steps, record=Every(10),
            seeds=tuple(range(self.network_seeds if network else self.seeds)),
            over=(("task", tasks),),
        )  # fmt: skip

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Theory over the one-layer runs, preferences at half-way, delays from zero."""
        experiment = self.plan()["one layer"]
        tasks = experiment.over[0][1]
        times, start = runs["one layer"]["time"].values, start_of(experiment)
        theory = [_theorem(task, start, times) for task in tasks]
        preference = {m: self._preference(runs[m], reading) for m, reading in READINGS.items()}
        text = np.stack([
            flip.times_from_zero(runs["from zero, text"].isel({"task.means[0]": k}), m)
            for k, m in enumerate(flip.GRID_MEANS)
        ])
        code = flip.times_from_zero(runs["from zero, code"])
        delays: dict[Reading, np.ndarray] = {
            "text": text[flip.GRID_MEANS.index(1.0)] @ (1, -1),
            "code": code @ (1, -1),
        }
        return Found(runs, np.stack(theory), preference, delays, text @ (1, -1) / text.sum(-1))

    def _preference(self, run: xr.Dataset, reading: Reading) -> np.ndarray:
        """Concept 1's share at half-way, (setting, seed)."""
        outputs = zip(run["output_at"].values, self.settings(reading), strict=True)
        return np.array([half_way(output, task.means)[..., 0] for output, task in outputs])

    def _predicted(self, reading: Reading, spread: bool = True) -> np.ndarray:
        """The same from a start at zero, (setting,); `spread=False` leaves the scales out."""
        found = []
        for task in self.settings(reading):
            signal = None if spread else np.square(task.means) / task.clusters
            found.append(half_way(growth_from_zero(task, signal), task.means)[..., 0])
        return np.array(found)

    def headline(self, found: Found) -> Headline:
        """Delay of concept 1 behind concept 2 against the scale of concept 1."""
        return Headline(
            title="Concept 1 behind concept 2, one layer from zero (text reading)",
            x_label="scale of concept 1",
            y_label="t_1 - t_2",
            x=flip.GRID_SCALES,
            y=tuple(found.delays["text"].tolist()),
            theory=tuple(flip.exact_delay("text").tolist()),
            note=f"the order flips at {flip.flip_of(found.delays['text']):.4f}, predicted "
            f"{flip.predicted_flip('text'):.4f}",
        )

    # --- claims --------------------------------------------------------------------------

    @claim(
        "one-layer-follows-theorem",
        "The output of one layer follows the closed form, started from the same weights, within "
        "2 % of the target at every moment.",
        "001 Theorem 4.1, Figs. 2a, 2b",
    )
    def follows_theorem(self, found: Found) -> Evidence:
        """Largest gap over settings, seeds and times; three clusters in the formula must miss."""
        run, experiment = found.runs["one layer"], self.plan()["one layer"]
        tasks = experiment.over[0][1]
        with_origin = replace(tasks[0], origin=True)
        wrong = _theorem(with_origin, start_of(experiment), run["time"].values)
        gap = max(_gap(run, k, found.theory[k], task.means) for k, task in enumerate(tasks))
        missed = single(_gap(run, 0, wrong, tasks[0].means))
        control = ("the formula with a cluster at the origin counted", missed)
        return compare(at_most(0.02), single(gap), control)

    @claim(
        "bulge-to-the-larger-mean",
        "With means (1, 2) the output of one layer bulges towards the second concept: the first "
        "has less than 0.4 of its way behind it at half-way.",
        "001 Fig. 2a",
    )
    def bulge(self, found: Found) -> Evidence:
        """Preference for concept 1 at half-way; equal means must show none."""
        first, equal = (average(p) for p in found.preference["one layer"][:2])
        return compare(at_most(0.4), first, ("means (2, 2)", equal))

    @claim(
        "half-way-by-signal",
        "At half-way the preference of one layer is what the signals predict from a start at "
        "zero, within 0.05 in all seven settings.",
        "001 Figs. 2a, 2b; Theorem 4.1",
    )
    def half_way_by_signal(self, found: Found) -> Evidence:
        """Worst gap of the seed average; signals without the scales must miss."""
        seen = found.preference["one layer"].mean(axis=1)
        gap, blind = (
            float(np.abs(seen - self._predicted("text", spread)).max()) for spread in (True, False)
        )
        control = ("signals from the means alone", single(blind))
        return compare(at_most(0.05), single(gap), control, _listed(seen))

    @claim(
        "preference-flips",
        "As its cluster gets wider, the weaker concept is preferred: at scale 2 it has more than "
        "half of its way behind it at half-way.",
        "001 Fig. 2b",
    )
    def preference_flips(self, found: Found) -> Evidence:
        """Preference for concept 1 of one layer; the narrow cluster must not be preferred."""
        wide, narrow = (average(found.preference["one layer"][k]) for k in (-1, 0))
        return compare(at_least(0.5), wide, ("scale 0.05", narrow))

    @claim(
        "flip-where-signals-meet",
        "From zero, the order flips where the two signals are equal: at the standard deviation "
        "sqrt(0.05^2 + 3/2) = 1.2258.",
        "001 Theorem 4.1, Fig. 2b as the text reads it (K = 2)",
    )
    def flip_text(self, found: Found) -> Evidence:
        """Where t_1 - t_2 changes sign; a third cluster in the formula must miss."""
        control = ("the formula with K = 3", single(order_flip_scale((1.0, 2.0), 0.05, 3)))
        bound = near(flip.predicted_flip("text"), 0.002)
        return compare(bound, single(flip.flip_of(found.delays["text"])), control)

    @claim(
        "flip-in-the-program",
        "In the authors' reading, three clusters and scales as variances, the order flips at "
        "0.05 + 3/3 = 1.05.",
        "authors' program for 001 Fig. 2b",
    )
    def flip_code(self, found: Found) -> Evidence:
        """Where t_1 - t_2 changes sign; the text's reading must flip elsewhere."""
        control = ("the text's reading", single(flip.flip_of(found.delays["text"])))
        note = "An offset does not move it: at equal signals mean and test point stay parallel."
        bound = near(flip.predicted_flip("code"), 0.002)
        return compare(bound, single(flip.flip_of(found.delays["code"])), control, note)

    @claim(
        "signal-sets-the-order",
        "Over a grid of means and scales the concept with the larger signal is learned first, "
        "every time.",
        "001 Theorem 4.1, order of learning",
    )
    def signal_sets_order(self, found: Found) -> Evidence:
        """Share of grid points ordered as predicted; the means alone must mispredict."""
        means, widths = np.meshgrid(flip.GRID_MEANS, flip.GRID_SCALES, indexing="ij")
        by_signal = means**2 / 2 + widths**2 > 2 + 0.05**2
        agree, by_mean = (((found.grid < 0) == p).mean() for p in (by_signal, means > 2))
        return compare(near(1.0, 0.0), single(agree), ("order by the means alone", single(by_mean)))

    @claim(
        "two-layer-linear-same-order",
        "Two linear layers prefer the concepts in the same order of settings as the signals: rank "
        "correlation of at least 0.9 over the seven settings.",
        "001 Fig. 11",
    )
    def two_layers(self, found: Found) -> Evidence:
        """Rank correlation with the prediction; the means alone must not explain it."""
        return self._same_order(found, "two layers")

    @claim(
        "relu-same-order",
        "A two-layer ReLU network prefers the concepts in the same order of settings as the "
        "signals: rank correlation of at least 0.9.",
        "001 Fig. 12",
    )
    def relu(self, found: Found) -> Evidence:
        """Rank correlation with the prediction; the means alone must not explain it."""
        return self._same_order(found, "relu")

    def _same_order(self, found: Found, model: str) -> Evidence:
        from scipy.stats import spearmanr  # slow to load

        seen = found.preference[model].mean(axis=1)
        agree, blind = (
            single(spearmanr(seen, self._predicted(READINGS[model], spread)).statistic)
            for spread in (True, False)
        )
        return compare(at_least(0.9), agree, ("signals from the means alone", blind), _listed(seen))

    @claim(
        "networks-flip",
        "Both kinds of two-layer networks prefer the weaker concept once its cluster is wide.",
        "001 Figs. 11, 12",
    )
    def networks_flip(self, found: Found) -> Evidence:
        """Preference for concept 1 at scale 2, both kinds; the narrow cluster must not be."""
        wide, narrow = (
            average(np.concatenate([found.preference[m][k] for m in ("two layers", "relu")]))
            for k in (-1, 0)
        )
        return compare(at_least(0.5), wide, ("scale 0.05", narrow))

    @claim(
        "two-layers-more-irregular",
        "On the way to an equally strong pair, where one layer goes straight, two linear layers "
        "change direction by at least 0.02 radians in total.",
        "001 Fig. 11; Theorem 4.1",
    )
    def irregular(self, found: Found) -> Evidence:
        """Total change of direction with means (2, 2); one layer must go straight."""
        one, two, relu = (average(winding(found.runs[m]["output_at"][1].values)) for m in READINGS)
        note = f"ReLU networks (Fig. 12) wind by {relu.value:.1f}, noise of the batches included."
        return compare(at_least(0.02), two, ("one layer", one), note)

    # --- charts --------------------------------------------------------------------------

    @chart
    def one_layer_chart(self, found: Found) -> Chart:
        """Figs. 2a and 2b with Theorem 4.1 over the simulation."""
        return Chart(
            "one-layer",
            "One layer heads for the stronger signal first",
            "Output at the test point, one seed, with the closed form dashed over it. Left: the "
            "path bulges to the larger mean. Right: as the first cluster gets wider, the path "
            "turns from the second axis to the first.",
            self._maps(found, "one layer"),
        )

    @chart
    def two_layers_chart(self, found: Found) -> Chart:
        """Fig. 11."""
        return self._network_chart(found, "two layers", "Two linear layers keep the order")

    @chart
    def relu_chart(self, found: Found) -> Chart:
        """Fig. 12."""
        return self._network_chart(found, "relu", "Two layers with ReLU keep the order")

    def _network_chart(self, found: Found, model: str, title: str) -> Chart:
        return Chart(
            model.replace(" ", "-"),
            title,
            "Average output over seeds; dashed, Theorem 4.1 for one layer from zero with the same "
            "signals. The paths bend to the same side in every setting.",
            self._maps(found, model),
        )

    def _maps(self, found: Found, model: str) -> tuple[Panel, ...]:
        """Figs. a and b of a model: paths by mean, paths by scale."""
        by_mean = {f"mean {m:g}": k for k, m in enumerate(FIRST_MEANS)}
        by_scale = {f"scale {s:g}": k + 2 if k else 0 for k, s in enumerate(FIRST_SCALES)}
        return (
            self._map(found, model, by_mean, "Means (mean, 2)"),
            self._map(found, model, by_scale, "Scales (scale, 0.05), means (1, 2)"),
        )

    def _map(self, found: Found, model: str, settings: dict[str, int], title: str) -> Panel:
        """Paths in some settings, with theory from the seed's start, or from zero for networks."""
        tasks, paths = self.settings(READINGS[model]), []
        for label, k in settings.items():
            output = found.runs[model]["output_at"][k]
            if model == "one layer":
                paths.append((label, output[0], found.theory[k, 0]))
            else:
                paths.append((label, output.mean("seed"), growth_from_zero(tasks[k])))
        means = sorted({tasks[k].means[0] for k in settings.values()})
        return theory_map(paths, means, 2.0, title)

    @chart
    def flip_chart(self, found: Found) -> Chart:
        """t_1 - t_2 against the scale of concept 1, and the order over means and scales."""
        return Chart(
            "flip",
            "The order flips where the signals are equal",
            "Left: how much later the first concept is learned; both readings cross zero where "
            "their own signals are equal. Right: the same as a share, over means and scales (text "
            "reading); the colour changes sign on the predicted line.",
            (flip.delay_panel(found.delays), flip.order_panel(found.grid)),
        )


def _theorem(task: IdentityMapping, start: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Theorem 4.1 at the test point for every seed's W(0), (seed, time, d)."""
    decay = flow_decay(task.gradient_factor * signals(task), times)
    return one_layer_output(decay, start, task.test_point)


def _gap(run: xr.Dataset, setting: int, theory: np.ndarray, means: tuple) -> float:
    """Largest distance between run and theory, as share of the target's length."""
    distance = np.linalg.norm(run["output_at"].values[setting] - theory, axis=-1)
    return float(distance.max() / np.hypot(*means))


def _listed(preference: np.ndarray) -> str:
    numbers = ", ".join(f"{p:.2f}" for p in preference)
    return f"Means (1,2), (2,2), (3,2), then scales 0.1, 0.5, 1, 2: {numbers}."
