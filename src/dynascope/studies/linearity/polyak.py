"""Why wide networks are easy to train: the PL* condition holds at the start and stays.

004 section 2.4, (2.16), Prop. 2.4.4 and the lemmas A.11.4, A.11.7, A.11.8 behind Theorem 2.3.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart, Line, Mark, Panel, Points
from dynascope.core.records import Headline, Measured
from dynascope.engine import Experiment
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    average,
    compare,
    single,
)
from dynascope.studies.linearity.architectures import ARCHITECTURES, inputs
from dynascope.studies.linearity.gaussian_draws import (
    Exceeded,
    GradientNorms,
    gradient_norms,
    image_norm,
    inner_product,
    matrix_series,
)
from dynascope.studies.linearity.measuring import Training, train
from dynascope.studies.linearity.padded import pad
from dynascope.studies.slopes import Slope, fit_slope

SAMPLES = 6
DEPTHS = (2, 3, 4, 5)
RECORDS = 20
SMALL = "two layers whose weights are drawn at a tenth of their size"


class Found(NamedTuple):
    """What claims and charts read; runs are [width][seed]."""

    runs: list[list[Training]]
    narrow: list[list[Training]]  # with a narrow layer
    repeated: list[Training]  # an input that occurs twice, with two labels; widest network
    bent: list[Training]  # tanh on the output, labels +-1/2; widest network
    gradients: dict[int, GradientNorms]  # by depth
    small: GradientNorms  # two layers, weights drawn at a tenth of their size
    lemmas: dict[str, Exceeded]


@dataclass(frozen=True)
class Polyak(Study):
    """The smallest eigenvalue of the tangent kernel, at the start and along descent."""

    name: ClassVar[str] = "polyak"
    title: ClassVar[str] = "The PL* condition holds at the start and wide networks keep it"
    source: ClassVar[str] = "004 section 2.4, Prop. 2.4.4, Lemmas A.11.4, A.11.7, A.11.8"
    needs_runs: ClassVar[bool] = False
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {"widths": (16, 48, 128), "seeds": 4, "draws": 2000, "lemma_draws": 100_000},
        "laptop": {},
        "paper": {
            "widths": (16, 64, 256, 1024), "seeds": 20, "draws": 20_000,
            "lemma_draws": 10_000_000,
        },
    }  # fmt: skip

    widths: tuple[int, ...] = (16, 32, 64, 128, 256)
    seeds: int = 8
    inputs: int = 10
    steps: int = 200
    draws: int = 10_000
    lemma_draws: int = 1_000_000
    seed: int = 0

    def plan(self) -> dict[str, Experiment]:
        """Nothing to train with the engine: `measuring.train` records kernels."""
        return {}

    def notes(self) -> tuple[str, ...]:
        """Where text and derivation differ."""
        return (
            f"Three layers, tanh, {SAMPLES} standard normal inputs of {self.inputs} numbers, "
            "labels +1 and -1, half the sum of squares, half the critical rate of the first "
            "kernel.",
            "The last step of Prop. 2.4.4 takes the mean of a norm to be at least the root of the "
            "mean of its square; Jensen's inequality says the opposite. What is proved is about "
            "the squared norm. The activation must be homogeneous for positive factors only, and "
            "r at least 1.",
            "Lemma A.11.8 prints R nu where its proof has R sqrt(nu).",
            "Lemma A.11.7 leaves its constant c open; 1/2 follows from the Lipschitz constant |B|.",
        )

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Training of all networks, gradients at random starts, draws for the lemmas."""
        widest = self.widths[-1]
        x, y = self._data()
        twice = np.concatenate([x[:1], x[:-1]])
        return Found(
            [self._train("fully connected", m, x, y) for m in self.widths],
            [self._train("narrow layer", m, x, y) for m in self.widths],
            self._train("fully connected", widest, twice, y),
            self._train("tanh output", widest, x, y / 2),
            {k: gradient_norms(k, self.draws, self.seed + k) for k in DEPTHS},
            gradient_norms(2, self.draws, self.seed, scale=0.1),
            self._lemmas(),
        )

    def _data(self) -> tuple[np.ndarray, np.ndarray]:
        return inputs(self.inputs, SAMPLES, self.seed, self.inputs), np.resize(
            [1.0, -1.0], (SAMPLES, 1)
        )

    def _train(self, name: str, width: int, x: np.ndarray, y: np.ndarray) -> list[Training]:
        """All seeds of one network, in the arrays of the widest one."""
        sizes = (self.inputs, *[self.widths[-1]] * 3, 1)
        found = []
        for seed in range(self.seeds):
            drawn = ARCHITECTURES[name].draw(self.inputs, width, seed)
            network = pad(drawn.net, sizes, bend=drawn.bend)
            found.append(train(network, seed, x, y, self.steps, self.steps // RECORDS))
        return found

    def _lemmas(self) -> dict[str, Exceeded]:
        """Each at a t that allows one to ten draws in a hundred; the adversary has R = 3 or 10."""
        n, s = self.lemma_draws, self.seed
        series = matrix_series(10.0, 3.6, n, s)
        return {
            "inner product": inner_product(3.0, 2.5, n, s),
            "image": image_norm(3.0, 3.0, n, s),
            "series": series["proved"],
            "series, printed": series["printed"],
        }

    def headline(self, found: Found) -> Headline:
        """The PL* constant along the path of the widest network."""
        run = found.runs[-1][0]
        steps = np.arange(len(run.loss)) * (self.steps // RECORDS)
        return Headline(
            title=f"Smallest eigenvalue of the tangent kernel in training, width {self.widths[-1]}",
            x_label="step",
            y_label="lambda_min",
            x=tuple(steps.tolist()),
            y=tuple(run.smallest.tolist()),
            theory=tuple([float(run.smallest[0])] * len(steps)),
            note="theory: what a linear model keeps, its value at the start",
        )

    # --- claims: PL* along descent -----------------------------------------------------------

    @claim("inequality", "|grad L|^2 is at least 2 lambda_min(K) L everywhere.", "004 (2.16)")
    def inequality(self, found: Found) -> Evidence:
        """Smallest |grad L|^2 / 2L - lambda_min over lambda_max, over all records of all runs.

        A difference, for narrow networks may have a lambda_min that is rounding.
        """
        runs = [r for row in (*found.runs, *found.narrow) for r in row if not r.diverged]
        values = [np.linalg.eigvalsh(r.kernels) for r in runs]
        quotients = [r.slope / (2 * r.loss) for r in runs]
        left, other = (
            min(
                float(((q - v[:, k]) / v[:, -1]).min())
                for q, v in zip(quotients, values, strict=True)
            )
            for k in (0, -1)
        )
        words = "the largest eigenvalue in place of the smallest"
        points = sum(len(r.loss) for r in runs)
        return compare(at_least(-1e-9), single(left), (words, single(other)), f"{points} points.")

    @claim("stays", "In wide networks the smallest eigenvalue never falls below half of its first "
           "value.", "004 section 2.4")  # fmt: skip
    def stays(self, found: Found) -> Evidence:
        """Smallest share along the path, over seeds, in the widest networks."""
        shares = [float((r.smallest / r.smallest[0]).min()) for r in found.runs[-1]]
        words = "an input that occurs twice: lambda_min over lambda_max"
        control = [
            float((r.smallest / np.linalg.norm(r.kernels[0], 2)).min()) for r in found.repeated
        ]
        return compare(
            at_least(0.5), average(np.array(shares)), (words, average(np.array(control)))
        )

    @claim("change-falls", "The change of the smallest eigenvalue falls with width, at least "
           "like the Hessian norm, 1/sqrt(width).", "004 section 2.4")  # fmt: skip
    def change_falls(self, found: Found) -> Evidence:
        """Slope of the largest change along the path, for finite runs."""
        seen, control = (self._change(runs) for runs in (found.runs, found.narrow))
        return compare(at_most(-0.3), seen.measured,
                       (ARCHITECTURES["narrow layer"].words, control.measured),
                       f"95 % interval {seen.low:.2f} to {seen.high:.2f}.")  # fmt: skip

    @claim("exponential", "Descent is at least as fast as (1 - eta mu)^t, mu the smallest "
           "eigenvalue on the way.", "004 section 2.4")  # fmt: skip
    def exponential(self, found: Found) -> Evidence:
        """Smallest ratio of the measured and the promised decrease of log L, widest networks."""
        ratios = [self._speed(r, float(r.smallest.min())) for r in found.runs[-1]]
        mean = [self._speed(r, float(np.trace(r.kernels[0])) / SAMPLES) for r in found.runs[-1]]
        return compare(at_least(1.0), single(min(ratios)),
                       ("the mean eigenvalue for mu", single(min(mean))))  # fmt: skip

    @claim("needs-a-gap", "Where PL* fails, at an input with two labels, the loss stays above 0.",
           "derived")  # fmt: skip
    def needs_a_gap(self, found: Found) -> Evidence:
        """Last loss over the least possible one, and that of distinct inputs over the same."""
        left, distinct = (np.array([r.loss[-1] for r in runs]) for runs in
                          (found.repeated, found.runs[-1]))  # fmt: skip
        return compare(at_least(0.99), average(left), ("distinct inputs", average(distinct)),
                       "Two labels that differ by 2 at one input leave 1.")  # fmt: skip

    @claim("output-activation", "tanh on the output, which undoes linearity, keeps PL*: the loss "
           "falls a hundredfold.", "004 section 2.4")  # fmt: skip
    def output_activation(self, found: Found) -> Evidence:
        """Share of the loss that is left, labels +-1/2; control: an input with two labels."""
        left = [np.array([r.loss[-1] / r.loss[0] for r in runs]) for runs in
                (found.bent, found.repeated)]  # fmt: skip
        return compare(
            at_most(0.01), average(left[0]), ("an input with two labels", average(left[1]))
        )

    # --- claims: Proposition 2.4.4 -------------------------------------------------------------

    @claim("gradient-printed", "The mean norm of the gradient at the start is at least 2^(-L/2), "
           "for ReLU and L = 2 to 5.", "004 Prop. 2.4.4, (2.18)")  # fmt: skip
    def gradient_printed(self, found: Found) -> Evidence:
        """Smallest ratio over depths, with the last layer's gradient alone as the proof has it."""
        ratio = [average(found.gradients[k].whole / 2 ** (-k / 2)) for k in DEPTHS]
        return compare(at_least(1.0), _least(ratio), (SMALL, average(found.small.whole * 2)))

    @claim("gradient-proof", "The proof's chain: the mean norm of the last layer's gradient is at "
           "least 2^(-(L-1)/2), the root of the bound on its mean square.",
           "004 A.7, last step")  # fmt: skip
    def gradient_proof(self, found: Found) -> Evidence:
        """Smallest ratio over depths; Jensen's inequality makes it less than 1."""
        ratio = [average(found.gradients[k].last / 2 ** (-(k - 1) / 2)) for k in DEPTHS]
        return compare(at_least(1.0), _least(ratio), (SMALL, average(found.small.last * 2**0.5)))

    @claim("gradient-corrected", "The mean square of the gradient's norm is at least 2^(-(L-1)).",
           "corrects 004 Prop. 2.4.4")  # fmt: skip
    def gradient_corrected(self, found: Found) -> Evidence:
        """Smallest ratio over depths, whole gradient."""
        ratio = [average(found.gradients[k].whole ** 2 * 2 ** (k - 1)) for k in DEPTHS]
        return compare(at_least(1.0), _least(ratio), (SMALL, average(found.small.whole**2 * 2)))

    @claim("last-layer", "The mean square of the last layer's gradient is 2^(-(L-1)) exactly.",
           "004 A.7, ReLU")  # fmt: skip
    def last_layer(self, found: Found) -> Evidence:
        """Largest relative error over depths, and against 2^-L."""
        squares = {k: float((found.gradients[k].last ** 2).mean()) for k in DEPTHS}
        errors = [abs(v * 2 ** (k - 1) - 1) for k, v in squares.items()]
        wrong = [abs(v * 2**k - 1) for k, v in squares.items()]
        return compare(at_most(0.1), single(max(errors)), ("2^-L", single(min(wrong))))

    # --- claims: lemmas --------------------------------------------------------------------------

    @claim("lemma-inner-product", "|a . b| exceeds t + |b| R for at most 2 exp(-t^2 / 2 |b|^2) of "
           "all draws.", "004 Lemma A.11.4")  # fmt: skip
    def lemma_inner_product(self, found: Found) -> Evidence:
        """Share of draws over what is allowed."""
        return _lemma(found.lemmas["inner product"], found.lemmas["series, printed"])

    @claim("lemma-image", "|B a| exceeds t + |B|_F + |B| R for at most 2 exp(-t^2 / 2 |B|^2) of "
           "all draws.", "004 Lemma A.11.7")  # fmt: skip
    def lemma_image(self, found: Found) -> Evidence:
        """Share of draws over what is allowed."""
        return _lemma(found.lemmas["image"], found.lemmas["series, printed"])

    @claim("lemma-series-printed", "A matrix Gaussian series exceeds t + R nu for at most "
           "(d1 + d2) exp(-t^2 / 2 nu) of all draws.", "004 Lemma A.11.8 as printed")  # fmt: skip
    def lemma_series_printed(self, found: Found) -> Evidence:
        """Share of draws over what is allowed, at nu below 1."""
        ratio = _excess(found.lemmas["series, printed"])
        return compare(
            at_most(1.0), ratio, ("the bound halved", _excess(found.lemmas["series, printed"], 2))
        )

    @claim("lemma-series", "It exceeds t + R sqrt(nu) for at most that share.",
           "004 Lemma A.11.8, as proved")  # fmt: skip
    def lemma_series(self, found: Found) -> Evidence:
        """Share of draws over what is allowed."""
        return _lemma(found.lemmas["series"], found.lemmas["series, printed"])

    def _change(self, runs: list[list[Training]]) -> Slope:
        """Of the largest change of lambda_min, relative to lambda_max at the start."""
        values = np.array([
            [
                np.nanmax(np.abs(r.smallest - r.smallest[0])) / np.linalg.norm(r.kernels[0], 2)
                for r in row
            ]
            for row in runs
        ])
        return fit_slope(np.array(self.widths, float), values)

    def _speed(self, run: Training, mu: float) -> float:
        """How many times faster log L fell than eta mu promises, at the slowest record."""
        rate = 1 / np.linalg.norm(run.kernels[0], 2)
        steps = np.arange(1, len(run.loss)) * (self.steps // RECORDS)
        return float((np.log(run.loss[1:] / run.loss[0]) / (steps * np.log1p(-rate * mu))).min())

    # --- charts ----------------------------------------------------------------------------------

    @chart
    def path(self, found: Found) -> Chart:
        """The PL* constant along the path, and the loss under its bound."""
        steps = np.arange(RECORDS + 1) * (self.steps // RECORDS)
        shown = [0, len(self.widths) // 2, len(self.widths) - 1]
        constant: list[Mark] = []
        for group, i in enumerate(shown):
            shares = np.array([r.smallest / r.smallest[0] for r in found.runs[i]])
            constant.append(Line(steps, shares.mean(axis=0), f"width {self.widths[i]}", group=group,
                                 low=shares.min(axis=0), high=shares.max(axis=0)))  # fmt: skip
        run = found.runs[-1][0]
        rate = 1 / np.linalg.norm(run.kernels[0], 2)
        bound = (1 - rate * run.smallest.min()) ** steps
        loss: tuple[Mark, ...] = (
            Line(steps, run.loss / run.loss[0], f"width {self.widths[-1]}", group=2),
            Line(steps, bound, "(1 - eta mu)^t", "theory"),
            Line(steps, found.repeated[0].loss / found.repeated[0].loss[0],
                 "an input with two labels", "control"),
        )  # fmt: skip
        return Chart(
            "path", "The PL* constant along gradient descent",
            "Left: the smallest eigenvalue over its first value, mean and range over seeds; the "
            "wider, the less it moves. Right: the loss stays under the rate that the constant "
            "promises.",
            (
                Panel(tuple(constant), "lambda_min(K_t) / lambda_min(K_0)", "step", "share"),
                Panel(loss, "Loss over its first value", "step", "share", y_scale="log"),
            ),
        )  # fmt: skip

    @chart
    def gradient(self, found: Found) -> Chart:
        """Proposition 2.4.4: what is measured, printed and proved, by depth."""
        depths = np.array(DEPTHS, float)
        squares = [found.gradients[k].whole ** 2 for k in DEPTHS]
        last = [found.gradients[k].last for k in DEPTHS]
        marks: tuple[Mark, ...] = (
            Points(depths, [s.mean() for s in squares], "mean square, all layers", group=0),
            Points(depths, [(v**2).mean() for v in last], "mean square, last layer", group=1),
            Points(depths, [v.mean() ** 2 for v in last], "squared mean, last layer", group=2),
            Line(depths, 2.0 ** (1 - depths), "2^(1 - L), proved", "theory"),
        )
        return Chart(
            "gradient", "The gradient at the start is bounded away from zero",
            "ReLU networks of width 64. The squared mean of the last layer lies below the proved "
            "line: the printed step from squares to norms goes the wrong way.",
            (Panel(marks, "", "depth L", "squared norm of the gradient", y_scale="log"),),
        )  # fmt: skip


def _least(measured: list[Measured]) -> Measured:
    """The smallest of several."""
    return min(measured, key=lambda m: np.inf if m.value is None else m.value)


def _excess(found: Exceeded, factor: float = 1.0) -> Measured:
    """The share of draws beyond a bound over the share that is allowed."""
    spread = (found.share * (1 - found.share)) ** 0.5
    allowed = found.allowed / factor
    return Measured(found.share / allowed, spread / allowed, found.draws)


def _lemma(found: Exceeded, wrong: Exceeded) -> Evidence:
    words = "Lemma A.11.8 as printed"
    return compare(at_most(1.0), _excess(found), (words, _excess(wrong)))
