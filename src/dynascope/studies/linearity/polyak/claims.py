"""PL* along descent, and Proposition 2.4.4."""

from collections.abc import Callable

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import derived, zhu2024
from dynascope.instruments.network.measuring import Training
from dynascope.probes.slopes import Slope, fit_slope
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds
from dynascope.studies.extremes import largest_distance, smallest
from dynascope.studies.linearity.polyak import runs
from dynascope.studies.linearity.polyak.draws import GradientNorms
from dynascope.studies.linearity.polyak.runs import REPEATED, Settings, Trained, study
from dynascope.studies.measures import average, share
from dynascope.studies.nodes import SETTINGS, case

connected = runs.trained["fully connected"]
repeated, bent = runs.trained[REPEATED], runs.trained["tanh output"]
linear, stuck, moved = (runs.planted[name] for name in ("linear", "stuck", "moved"))


def keep_inequality(trained: Trained) -> Measured:
    """Share of runs with |grad L|^2 >= 2 lambda_min L at all records, to round-off.

    As a difference over lambda_max, for narrow networks may have a lambda_min that is rounding.
    Runs that diverged are left out: dead ReLUs may keep a finite kernel while the loss is infinite.
    """

    def excess(run: Training) -> float:
        values = np.linalg.eigvalsh(run.kernels)
        return ((run.slope / (2 * run.loss) - values[:, 0]) / values[:, -1]).min().item()

    every = [run for row in trained.values() for run in row]
    runs = [r for r in every if all(np.isfinite(p).all() for p in (r.kernels, r.loss, r.slope))]
    return share(np.array([excess(run) >= -1e-9 for run in runs]))


study.claim(
    "inequality",
    "|grad L|^2 is at least 2 lambda_min(K) L at every record of every run.", zhu2024("(2.16)"),
    keep_inequality, in_all_seeds("printed"), on=runs.wide_and_narrow,
    fails_on=case("planted gradients that vanish where the loss is 1", stuck),
    holds_on=case("planted linear models", linear),
    note=lambda trained: f"{sum(len(r.loss) for row in trained.values() for r in row)} points.",
)  # fmt: skip


def kept(trained: Trained) -> Measured:
    """Share of seeds whose lambda_min never falls below half of its first value."""
    return share(np.array([r.smallest.min() >= r.smallest[0] / 2 for r in trained[max(trained)]]))


study.claim(
    "stays",
    "In no seed of the widest network does the smallest eigenvalue fall below half of its first "
    "value.",
    zhu2024("section 2.4"), kept, in_all_seeds("ours"), on=connected,
    fails_on=case("planted kernels whose smallest eigenvalue falls", runs.planted["falling"]),
    holds_on=case("planted linear models", linear),
)  # fmt: skip


def change(trained: Trained) -> Slope:
    """Slope over width of the largest change of lambda_min, over lambda_max at the start."""
    values = [
        [np.abs(r.smallest - r.smallest[0]).max() / np.linalg.norm(r.kernels[0], 2) for r in row]
        for row in trained.values()
    ]
    return fit_slope(np.array(list(trained), float), np.array(values))


study.claim(
    "change-falls",
    "The change of the smallest eigenvalue falls with width, at least like the Hessian norm, "
    "1/sqrt(width).",
    zhu2024("section 2.4"), lambda trained: change(trained).measured, at_most(-0.3, "ours"),
    on=connected,
    fails_on=case("planted kernels that move alike at every width", runs.planted["falling"]),
    holds_on=case("planted kernels that move by 1/sqrt(width)", moved),
    note=lambda trained: "95 % interval {0.low:.2f} to {0.high:.2f}.".format(change(trained)),
    measures="Slope of the smallest eigenvalue's largest change over width, on log axes.",
)  # fmt: skip


def as_fast_as_promised(trained: Trained, s: Settings) -> Measured:
    """Share of seeds whose loss is at every record at most (1 - eta mu)^t of the first.

    mu is the smallest eigenvalue on the way, eta one over the largest at the start.
    """

    def fast(run: Training) -> bool:
        factor = 1 - run.smallest.min() / np.linalg.norm(run.kernels[0], 2)
        return bool(np.all(run.loss[1:] / run.loss[0] <= factor ** s.recorded[1:]))

    return share(np.array([fast(run) for run in trained[max(trained)]]))


study.claim(
    "exponential",
    "Descent is at least as fast as (1 - eta mu)^t, mu the smallest eigenvalue on the way.",
    zhu2024("section 2.4", how="derived; puts a number to"), as_fast_as_promised,
    in_all_seeds("derived"), on=(connected, SETTINGS),
    fails_on=case("planted losses that stay", stuck, SETTINGS),
    holds_on=case("planted linear models, as fast as (1 - eta mu)^2t", linear, SETTINGS),
)  # fmt: skip


def stays_above_one(trained: Trained) -> Measured:
    """Share of seeds whose loss never falls below 1."""
    return share(np.array([r.loss.min() >= 1 - 1e-9 for r in trained[max(trained)]]))


study.claim(
    "needs-a-gap",
    "Where PL* fails, at an input with labels +1 and -1, the loss stays above 1.",
    derived(), stays_above_one, in_all_seeds("derived"), exploratory=True,
    on=repeated, fails_on=case("distinct inputs", connected),
    holds_on=case("planted losses of 1", stuck),
    note="Two labels that differ by 2 at one input leave 1.",
)  # fmt: skip


def loss_left(trained: Trained) -> Measured:
    """The loss at the end over that at the start."""
    return average(np.array([r.loss[-1] / r.loss[0] for r in trained[max(trained)]]))


study.claim(
    "output-activation",
    "A tanh on the output, which undoes linearity, keeps PL*: the loss falls a hundredfold.",
    zhu2024("section 2.4"), loss_left, at_most(0.01, "ours"), on=bent,
    fails_on=case("an input with two labels", repeated),
    holds_on=case("planted linear models", linear),
)  # fmt: skip

# --- Proposition 2.4.4 ----------------------------------------------------------------------

Gradients = dict[int, GradientNorms]  # by depth L
small = case("two layers with weights a tenth as large", runs.two_layers["small"])
large = case("two layers with weights thrice as large", runs.two_layers["large"])


def least(ratio: Callable[[GradientNorms, int], np.ndarray]) -> Callable[[Gradients], Measured]:
    """A measuring function: the mean of a norm over its bound, at the worst depth."""

    def measure(gradients: Gradients) -> Measured:
        """Mean of the norm over its bound, at the depth where that is least."""
        means = [average(ratio(norms, depth)) for depth, norms in gradients.items()]
        return smallest(means)

    return measure


study.claim(
    "gradient-printed",
    "The mean norm of the gradient at the start is at least 2^(-L/2), for ReLU and L = 2 to 5.",
    zhu2024("Prop. 2.4.4, (2.18)"), least(lambda norms, L: norms.whole / 2 ** (-L / 2)),
    at_least(1.0, "printed"), on=runs.gradients, fails_on=small, holds_on=large,
    partner="gradient-corrected",
)  # fmt: skip
study.claim(
    "gradient-proof",
    "The mean norm of the last layer's gradient is at least 2^(-L/2), for ReLU and L = 2 to 5.",
    zhu2024("A.7, last line"), least(lambda norms, L: norms.last / 2 ** (-L / 2)),
    at_least(1.0, "printed"), on=runs.gradients, fails_on=small, holds_on=large,
)  # fmt: skip
study.claim(
    "gradient-root",
    "The mean norm of the last layer's gradient is at least 2^(-(L-1)/2), the root of the bound "
    "on its mean square.",
    zhu2024("A.7, the step to the last line", how="a reading of"),
    least(lambda norms, L: norms.last / 2 ** (-(L - 1) / 2)), at_least(1.0, "ours"),
    on=runs.gradients, fails_on=small, holds_on=large, exploratory=True,
    note="Jensen's inequality bounds a mean norm from above by that root; the printed bound is "
    "smaller by sqrt(2), and true.",
)  # fmt: skip
study.claim(
    "gradient-corrected", "The mean square of the gradient's norm is at least 2^(-(L-1)).",
    zhu2024("Prop. 2.4.4", how="corrects"), least(lambda norms, L: norms.whole**2 * 2 ** (L - 1)),
    at_least(1.0, "derived"), on=runs.gradients, fails_on=small, holds_on=large,
    partner="gradient-printed",
)  # fmt: skip


def last_square(gradients: Gradients) -> Measured:
    """Largest distance from 1 of the last layer's mean square over 2^-(L-1), over the depths."""
    means = [average(norms.last**2 * 2 ** (depth - 1)) for depth, norms in gradients.items()]
    return largest_distance((m, 1.0) for m in means)


study.claim(
    "last-layer", "The mean square of the last layer's gradient is 2^(-(L-1)), to a tenth.",
    zhu2024("A.7, ReLU"), last_square, at_most(0.1, "ours"), on=runs.gradients,
    fails_on=small,
    holds_on=case("other networks of two layers, where half of a normal number's square is left",
                  runs.two_layers["usual"]),
)  # fmt: skip
