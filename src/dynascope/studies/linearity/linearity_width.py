"""Wide networks are nearly linear in their parameters: at which rate, and when they are not.

004 Theorems 2.3.6 and 2.3.8, Corollary 2.3.7, Fig. 2.2, Fig. 2.3, Theorems A.4.1 and A.5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.records import Headline
from dynascope.engine import Experiment
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import (
    Bound,
    Evidence,
    at_least,
    at_most,
    between,
    compare,
    near,
    not_applicable,
    single,
)
from dynascope.studies.linearity.architectures import ARCHITECTURES
from dynascope.studies.linearity.findings import (
    RADII,
    Effort,
    Family,
    convolutional,
    family,
    gap_curves,
)
from dynascope.studies.linearity.linearity_charts import draw_drift, draw_gaps, draw_slopes

RATE = between(-0.6, -0.3)  # -1/2, flattened by the logarithms of the theorem
NO_RATE = at_least(-0.2)
AROUND = ("fully connected", "narrow layer")  # looked at away from the start too
TRAINED = ("dropped", "two layers", "narrow layer")
GRID_ERROR = 0.02  # the largest norm on the way is only looked for at a few distances
WIRED = tuple(name for name in ARCHITECTURES if name not in ("mixed", "tanh output"))


class Found(NamedTuple):
    """What claims and charts read."""

    families: dict[str, Family]
    hidden: Family  # "dropped" with more inputs than hidden vertices
    curves: dict[int, tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class LinearityWidth(Study):
    """Hessian norm, distance to the linear model and kernel drift over width, by architecture."""

    name: ClassVar[str] = "linearity-width"
    title: ClassVar[str] = "Networks become linear as they widen, unless a layer stays narrow"
    source: ClassVar[str] = "004 Thm. 2.3.6, 2.3.8, Cor. 2.3.7, Figs. 2.2, 2.3"
    needs_runs: ClassVar[bool] = False
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {
            "widths": (8, 24, 64), "mixed_widths": (), "channels": (), "seeds": 6, "steps": 120,
            "two_layer_widths": (), "noisy_seeds": 6,
            "padding": (80, 64, 64, 64, 1), "many_inputs": 80, "train_all": False,
        },
        "laptop": {},
        "paper": {
            "widths": (16, 32, 64, 128, 256, 512, 1024, 2048, 4096), "seeds": 5,
            "mixed_widths": (8, 16, 32, 64), "channels": (16, 32, 64, 128, 256, 512),
            "many_inputs": 3072,
        },
    }  # fmt: skip

    widths: tuple[int, ...] = (16, 40, 100, 256)
    mixed_widths: tuple[int, ...] = (8, 16, 30)  # their squares are in-degrees too
    two_layer_widths: tuple[int, ...] = (64, 256, 1024, 4096)  # () for those of the others
    channels: tuple[int, ...] = (16, 48, 128)  # of the convolutional network
    seeds: int = 12
    noisy_seeds: int = 48  # of the network with tanh on the output
    inputs: int = 10
    many_inputs: int = 300  # of the network whose inputs hide its width
    steps: int = 300
    train_all: bool = True  # or only the networks that a claim about training needs
    padding: tuple[int, ...] = ()  # sizes that every network is padded to; () for none

    def plan(self) -> dict[str, Experiment]:
        """Nothing to train with the engine: wirings are arguments of one compiled function."""
        return {}

    def notes(self) -> tuple[str, ...]:
        """Where text and measurement differ, and what the document does not say."""
        return (
            "All networks have tanh, as the theorem needs two derivatives; inputs are standard "
            f"normal, {self.inputs} of them; products are over sqrt(in-degree after dropping).",
            "Slopes are those of the geometric mean over seeds against the smallest in-degree "
            "from the second layer on; where a few narrow vertices make that 1, against m.",
            "Fig. 2.2 trains on 10 images of 3072 numbers and does not give rate, steps or "
            "activation. Here 10 normal inputs with labels +1 and -1, at half the critical rate. "
            "Concatenating 3072 inputs would make every in-degree 1536 or more, whatever m is.",
            "Fig. 2.2 reads a rate of 1/sqrt(m) off the change of the kernel. That is the rate of "
            "the Hessian norm, which bounds it; the change itself falls like 1/m in the end.",
            "With tanh on the output the labels +1 and -1 are reached only in the limit, where the "
            "kernel vanishes: its relative change is then about 1 at every width.",
            "A pre-activation of the second layer is a two-layer network by itself.",
            "The printed dropping rule keeps an edge with the probability of dropping it; at 1/2 "
            "both are the same.",
        )

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Every architecture at every width and seed."""
        basic = Effort(self.widths, self.seeds, self.inputs, self.padding, 0)
        families = {
            name: family(name, basic._replace(steps=self._steps(name), places=_places(name)))
            for name in WIRED
            if name != "two layers" or not self.two_layer_widths
        }
        # Its norm follows the random output, so that seeds differ more than widths do.
        noisy = basic._replace(seeds=self.noisy_seeds, steps=self._steps("tanh output"))
        families["tanh output"] = family("tanh output", noisy)
        alone = basic._replace(padding=(), steps=self.steps)
        if self.two_layer_widths:
            families["two layers"] = family(
                "two layers", alone._replace(widths=self.two_layer_widths)
            )
        if self.channels:
            families["convolutional"] = convolutional(alone._replace(widths=self.channels))
        if self.mixed_widths:
            families["mixed"] = family("mixed", alone._replace(widths=self.mixed_widths))
        many = basic._replace(size=self.many_inputs, steps=self.steps, places=0)
        return Found(families, family("dropped", many), gap_curves(basic))

    def _steps(self, name: str) -> int:
        return self.steps if self.train_all or name in TRAINED else 0

    def headline(self, found: Found) -> Headline:
        """The Hessian norm of the fully connected network."""
        seen = found.families["fully connected"]
        norms = seen.norms[:, :, 0].mean(axis=1)
        return Headline(
            title="Spectral norm of the output's Hessian, fully connected, three layers",
            x_label="width",
            y_label="norm",
            x=tuple(seen.widths.tolist()),
            y=tuple(norms.tolist()),
            theory=tuple((norms[0] * (seen.widths / seen.widths[0]) ** -0.5).tolist()),
            note="theory: 1/sqrt(width) from the first point on, without the logarithms",
        )

    # --- claims: the rate of the Hessian norm ----------------------------------------------

    @claim("fully-connected", "The Hessian norm of a fully connected network falls like "
           "1/sqrt(width).", "004 Thm. 2.3.6")  # fmt: skip
    def fully_connected(self, found: Found) -> Evidence:
        """Slope at the start."""
        return self._falls(found, "fully connected")

    @claim("ball", "So it does at distance 3 from the start, in the direction that curves most.",
           "004 Thm. 2.3.6")  # fmt: skip
    def ball(self, found: Found) -> Evidence:
        """Slope along the top eigenvector; the other places are in the note."""
        seen, control = (found.families[n] for n in ("fully connected", "narrow layer"))
        others = ", ".join(f"{seen.slope(k).value:.2f}" for k in (1, 2, 3))
        return compare(
            RATE, seen.slope(4).measured, (_words("narrow layer"), control.slope(4).measured),
            f"Random directions at 1 and 3, the top one at 1: slopes {others}.",
        )  # fmt: skip

    @claim("pre-activation", "The same holds for pre-activations inside the network.",
           "004 Thm. 2.3.8")  # fmt: skip
    def pre_activation(self, found: Found) -> Evidence:
        """Slope of a pre-activation of the second layer."""
        return self._falls(found, "pre-activation")

    @claim("first-layer", "Pre-activations of the first layer are linear exactly.",
           "004 Remark 2.3.9")  # fmt: skip
    def first_layer(self, found: Found) -> Evidence:
        """Largest Hessian norm over widths, seeds and places."""
        first, second = (
            found.families[n].norms for n in ("first pre-activation", "pre-activation")
        )
        return compare(
            at_most(1e-12), single(first.max()), ("the second layer", single(second.min()))
        )

    @claim("dense", "A DenseNet has the same rate.", "004 (A.5), (A.6)")
    def dense(self, found: Found) -> Evidence:
        """Slope at the start."""
        return self._falls(found, "dense")

    @claim("dropped", "So has a DenseNet with half of its edges dropped.", "004 A.1")
    def dropped(self, found: Found) -> Evidence:
        """Slope at the start, against the smallest in-degree that was drawn."""
        return self._falls(found, "dropped")

    @claim("mixed", "The rate is that of the smallest in-degree, though others are its square.",
           "004 Assumption 2.3.5")  # fmt: skip
    def mixed(self, found: Found) -> Evidence:
        """Slope at the start."""
        if not self.mixed_widths:
            return not_applicable("in-degrees that are squares need widths beyond this scale")
        return self._falls(found, "mixed")

    @claim("skips", "Skips that are not trained keep the rate.", "004 Thm. A.4.1")
    def skips(self, found: Found) -> Evidence:
        """Slope at the start."""
        return self._falls(found, "skips")

    @claim("shared-weights", "Convolutions keep the rate, in the number of channels.",
           "004 Thm. A.5.1")  # fmt: skip
    def shared_weights(self, found: Found) -> Evidence:
        """Slope at the start."""
        if not self.channels:
            return not_applicable("convolutions are compiled by themselves, at larger scales")
        return self._falls(found, "convolutional")

    @claim("few-narrow-vertices", "Two vertices with a single edge do not spoil the rate.",
           "004 Fig. 2.3, A.6")  # fmt: skip
    def few_narrow_vertices(self, found: Found) -> Evidence:
        """Slope at the start, against m."""
        return self._falls(found, "two narrow vertices")

    @claim("narrow-layer", "A narrow layer between wide ones keeps the network from becoming "
           "linear.", "004 A.6")  # fmt: skip
    def narrow_layer(self, found: Found) -> Evidence:
        """Slope at the start."""
        return self._does_not_fall(found, "narrow layer")

    @claim("bypassed", "Wide trained connections around the narrow layer restore the rate.",
           "004 A.6")  # fmt: skip
    def bypassed(self, found: Found) -> Evidence:
        """Slope at the start."""
        return self._falls(found, "bypassed")

    @claim("output-activation", "With tanh on the output the network does not become linear.",
           "004 section 2.3")  # fmt: skip
    def output_activation(self, found: Found) -> Evidence:
        """Slope at the start."""
        return self._does_not_fall(found, "tanh output")

    # --- claims: the linear model and the kernel ---------------------------------------------

    @claim("gap-bound", "The distance to the linear model is at most half the largest Hessian norm "
           "on the way times the squared distance from the start.", "004 Cor. 2.3.7")  # fmt: skip
    def gap_bound(self, found: Found) -> Evidence:
        """Largest ratio of gap and bound along the top eigenvector."""
        ratios = [gaps[:, 1:] / bounds[:, 1:] for gaps, bounds in found.curves.values()]
        worst = max(float(r.max()) for r in ratios)
        return compare(at_most(1 + GRID_ERROR), single(worst),
                       ("a bound half as large", single(2 * worst)))  # fmt: skip

    @claim("gap-rate", "At a fixed distance that gap falls like 1/sqrt(width).", "004 (2.10)")
    def gap_rate(self, found: Found) -> Evidence:
        """Slope at distance 1 along the top eigenvector."""
        seen, control = (found.families[n] for n in ("fully connected", "narrow layer"))
        return compare(RATE, seen.gap_slope(3).measured,
                       (_words("narrow layer"), control.gap_slope(3).measured))  # fmt: skip

    @claim("kernel-drift", "The relative change of the kernel in training falls like "
           "1/sqrt(width).",
           "004 Fig. 2.2")  # fmt: skip
    def kernel_drift(self, found: Found) -> Evidence:
        """Slope for the network of the figure."""
        seen, control = (found.families[n] for n in ("dropped", "narrow layer"))
        return compare(
            near(-0.5, 0.1), seen.drift_slope().measured,
            (_words("narrow layer"), control.drift_slope().measured),
            f"Largest loss left, as a share of the first: {np.nanmax(seen.loss):.2g}; "
            f"{int(np.isnan(seen.loss).sum())} of {seen.loss.size} runs diverged.",
        )  # fmt: skip

    @claim("kernel-drift-two-layers", "In a two-layer network it falls like 1/width.",
           "004 Thm. B.3.1; contradicts Fig. 2.2")  # fmt: skip
    def kernel_drift_two_layers(self, found: Found) -> Evidence:
        """Slope of the drift, and of the Hessian norm of the same networks."""
        seen = found.families["two layers"]
        return compare(near(-1.0, 0.2), seen.drift_slope().measured,
                       ("their Hessian norm", seen.slope().measured))  # fmt: skip

    @claim("inputs-hide-width", "With more inputs than hidden vertices, all of them concatenated, "
           "m is not the width and the kernel's change does not fall with it.",
           "derived; 004 Fig. 2.2 as printed")  # fmt: skip
    def inputs_hide_width(self, found: Found) -> Evidence:
        """Slope of the drift against m."""
        narrow = found.families["dropped"]
        m = np.array(self.widths, float)
        slopes = [f.drift_slope(m).measured for f in (found.hidden, narrow)]
        return compare(NO_RATE, slopes[0], (f"{self.inputs} inputs", slopes[1]))

    def _falls(self, found: Found, name: str) -> Evidence:
        return _judge(RATE, found, name, "narrow layer")

    def _does_not_fall(self, found: Found, name: str) -> Evidence:
        return _judge(NO_RATE, found, name, "fully connected")

    # --- charts ------------------------------------------------------------------------------

    @chart
    def slopes(self, found: Found) -> Chart:
        """Hessian norms over width, and their slopes with intervals."""
        return draw_slopes(found.families, RATE)

    @chart
    def gaps(self, found: Found) -> Chart:
        """The distance to the linear model with its bound."""
        return draw_gaps(found.curves)

    @chart
    def drift(self, found: Found) -> Chart:
        """Fig. 2.2 and what it hides."""
        return draw_drift(found.families, found.hidden, np.array(self.widths, float))


def _judge(bound: Bound, found: Found, name: str, control: str) -> Evidence:
    """A slope at the start against that of a control."""
    seen, other = found.families[name], found.families[control]
    slope = seen.slope()
    note = f"95 % interval {slope.low:.2f} to {slope.high:.2f} over {slope.seeds} seeds."
    if not seen.converged:
        note += " Some norms did not converge: they are lower bounds."
    return compare(bound, slope.measured, (_words(control), other.slope().measured), note)


def _places(name: str) -> int:
    return len(RADII) if name in AROUND else 1


def _words(name: str) -> str:
    return ARCHITECTURES[name].words
