"""At which rate networks become linear with width, and which do not."""

from typing import Any

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import derived, zhu2024
from dynascope.probes.slopes import fit_slope
from dynascope.studies.comparisons import at_least, at_most, between, in_all_seeds, near
from dynascope.studies.linearity.architectures import NARROW_LAYER
from dynascope.studies.linearity.linearity_width import runs
from dynascope.studies.linearity.linearity_width.family import GRID, HIDDEN, Curve, Family
from dynascope.studies.linearity.linearity_width.images import READINGS
from dynascope.studies.linearity.linearity_width.runs import Settings, curves, families, study
from dynascope.studies.measures import share
from dynascope.studies.nodes import SETTINGS, case

RATE = between(-0.6, -0.3, "ours")  # -1/2, flattened by the logarithms of the theorem
NO_RATE = at_least(-0.2, "ours")
GRID_ERROR = 0.02  # the largest norm on the way is only looked for at a few distances
LAYERS = 3
connected, narrow = families["fully connected"], families["narrow layer"]
half, whole, none = (runs.planted[power] for power in ("-1/2", "-1", "0"))


def slope(
    family: Family, quantity: str = "norms", place: int = 0, against_m: bool = False
) -> Measured:
    """The power of the width (or of m) with which the norm or distance of the claim grows."""
    return family.slope(quantity, place, against_m).measured


def interval(family: Family, *_: Any) -> str:
    """Of the slope of the Hessian norm at the start."""
    fit = family.slope()
    rest = "" if family.converged else " Some norms did not converge: they are lower bounds."
    return f"95 % interval {fit.low:.2f} to {fit.high:.2f} over {fit.seeds} seeds.{rest}"


falls = "falls like 1/sqrt(width)"
for slug, name, words, place in (
    ("fully-connected", "fully connected",
     f"The Hessian norm of a fully connected network {falls}.", "Thm. 2.3.6"),
    ("pre-activation", "pre-activation",
     f"The Hessian norm of a pre-activation inside the network {falls}.", "Thm. 2.3.8"),
    ("dense", "dense", f"The Hessian norm of a DenseNet {falls}.", "(A.5), (A.6)"),
    ("dropped", "dropped",
     f"The Hessian norm of a DenseNet with half of its edges dropped {falls}.", "A.1"),
    ("mixed", "mixed", "The Hessian norm falls like 1/sqrt(smallest in-degree), though other "
     "in-degrees are its square.", "Assumption 2.3.5"),
    ("skips", "skips", f"With skips that are not trained the Hessian norm still {falls}.",
     "Thm. A.4.1"),
    ("shared-weights", "convolutional",
     "The Hessian norm of a convolutional network falls like 1/sqrt(channels).", "Thm. A.5.1"),
    ("few-narrow-vertices", "two narrow vertices",
     f"With two vertices that have a single edge the Hessian norm still {falls}.",
     "Fig. 2.3, appendix A.6"),
    ("bypassed", "bypassed", "With wide trained connections around a narrow layer the Hessian "
     f"norm {falls} again.", "A.6"),
    ("narrow-layer", "narrow layer",
     "A narrow layer between wide ones keeps the network from becoming linear.", "A.6"),
    ("output-activation", "tanh output",
     "With tanh on the output the network does not become linear.", "section 2.3"),
):  # fmt: skip
    if name in ("narrow layer", "tanh output"):
        bound, control = NO_RATE, case("fully connected, three layers", connected)
        certain = case("planted norms that stay", none)
    else:
        bound, control = RATE, case(NARROW_LAYER, narrow)
        certain = case("planted norms that fall like 1/sqrt(m)", half)
    study.claim(slug, words, zhu2024(place), slope, bound, on=families[name], fails_on=control,
                holds_on=certain, note=interval)  # fmt: skip


def other_places(family: Family, *_: Any) -> str:
    """Slopes of the Hessian norm at the places that are left."""
    slopes = ", ".join(f"{family.slope('norms', k).value:.2f}" for k in (1, 2, 3))
    return f"Random directions at 1 and 3, the top one at 1: slopes {slopes}."


study.claim(
    "ball",
    "At distance 3 from the start, in the direction that curves most, the Hessian norm of a fully "
    f"connected network {falls} too.",
    zhu2024("Thm. 2.3.6"), slope, RATE, on=(connected, "norms", 4), note=other_places,
    fails_on=case(NARROW_LAYER, narrow, "norms", 4),
    holds_on=case("planted norms that fall like 1/sqrt(m)", half, "norms", 4),
)  # fmt: skip


def power_of_distance(norms: np.ndarray) -> Measured:
    """The power of the distance, from 1 to 4, with which the largest norm grows."""
    return fit_slope(np.array([r for r in GRID if r >= 1]), norms).measured


study.claim(
    "ball-power",
    "The largest Hessian norm within a distance R from 1 to 4 of the start grows at most like "
    "R^(L^2), L = 3 layers.",
    zhu2024("(2.11)"), power_of_distance, at_most(LAYERS**2, "printed"),
    on=runs.by_distance["networks"],
    fails_on=case("a sum of twelfth powers of weights, where it grows like R^10",
                  runs.by_distance["twelfth powers"]),
    holds_on=case("planted norms that grow like R", runs.by_distance["R"]),
    note=lambda norms: f"R^{power_of_distance(norms).value:.2f} is seen: R^9 is a bound from above "
    "that says little of these networks.",
)  # fmt: skip


def are_linear(family: Family) -> Measured:
    """Share of starts whose Hessian is zero, to rounding, at every width."""
    return share(np.all(family.norms[..., 0] <= 1e-12, axis=0))


study.claim(
    "first-layer", "Pre-activations of the first layer are linear exactly.",
    zhu2024("Remark 2.3.9"), are_linear, in_all_seeds("printed"),
    on=families["first pre-activation"],
    fails_on=case("the second layer", families["pre-activation"]),
    holds_on=case("planted norms of 0", runs.planted["linear"]),
)  # fmt: skip


def below_bound(curves: dict[tuple[int, int], Curve]) -> Measured:
    """Share of starts whose gap is below its bound at every distance, but for the grid's error."""
    return share(np.array([
        np.all(c.gaps[1:] <= (1 + GRID_ERROR) * c.bounds[1:]) for c in curves.values()
    ]))  # fmt: skip


study.claim(
    "gap-bound",
    "The distance to the linear model is at most half the largest Hessian norm on the way times "
    "the squared distance from the start.",
    zhu2024("Cor. 2.3.7"), below_bound, in_all_seeds("printed"), on=curves,
    fails_on=case(
        "narrow networks under the bound of wide ones", runs.other_curves["mixed"]
    ),
    holds_on=case("planted: 1 - cos R under R^2 / 2", runs.other_curves["planted"]),
)  # fmt: skip
study.claim(
    "gap-rate", f"At a fixed distance from the start the distance to the linear model {falls}.",
    zhu2024("(2.10)"), slope, RATE, on=(connected, "gaps", 3),
    fails_on=case(NARROW_LAYER, narrow, "gaps", 3),
    holds_on=case("planted gaps that fall like 1/sqrt(m)", half, "gaps", 3),
)  # fmt: skip

# --- several outputs --------------------------------------------------------------------------

Norms = dict[str, np.ndarray]  # "tensor" and "largest", (widths, seeds)
three, many = (runs.several_outputs[k] for k in ("three", "as many as m"))


def output_slope(s: Settings, norms: Norms) -> Measured:
    """The power of the width with which the norm of all outputs together grows."""
    return fit_slope(np.array(s.output_widths, float), norms["tensor"]).measured


study.claim(
    "several-outputs", f"The Hessian norm of three outputs together {falls}.",
    zhu2024("Cor. A.3.1"), output_slope, RATE, on=(SETTINGS, three),
    fails_on=case("as many outputs as hidden neurons", SETTINGS, many),
    holds_on=case("a single output", SETTINGS, runs.several_outputs["one"]),
)  # fmt: skip


def within_outputs(norms: Norms, outputs: int) -> Measured:
    """Share of starts, at all widths, with |H| at most so many times the largest |H_k|."""
    below = norms["tensor"] <= outputs * norms["largest"] * (1 + 1e-12)
    return share(np.all(below, axis=0))


study.claim(
    "several-outputs-bound",
    "The Hessian norm of three outputs together is at most three times the largest of a single "
    "one.",
    zhu2024("A.3"), within_outputs, in_all_seeds("printed"), on=(three, 3),
    fails_on=case("the largest of a single one", three, 1),
    holds_on=case("planted: twice the largest", runs.output_table, 3),
)  # fmt: skip

# --- the kernel in training -------------------------------------------------------------------


def losses(family: Family, *_: Any) -> str:
    """What training left."""
    changes = ", ".join(f"{v:.2g}" for v in np.exp(np.log(family.drift).mean(axis=1)))
    return (
        f"Change by m: {changes}. Largest loss left, as a share of the first: "
        f"{np.nanmax(family.loss):.2g}; {int(np.isnan(family.loss).sum())} of {family.loss.size} "
        "runs diverged."
    )


falls_with_m = "the relative change of the kernel in training falls like 1/sqrt(m)"
stays = case("planted changes that stay", none, "drift", 0, True)
planted_half = case("planted changes that fall like 1/sqrt(m)", half, "drift", 0, True)
for slug, reading, words in (
    ("kernel-drift", READINGS[0],
     f"On ten pictures of two classes of CIFAR-10, with inputs concatenated, {falls_with_m}."),
    ("kernel-drift-hidden-only", READINGS[1],
     "On ten pictures of two classes of CIFAR-10, with inputs that feed the first layer alone, "
     f"{falls_with_m}."),
):  # fmt: skip
    study.claim(
        slug, words, zhu2024("Fig. 2.2"), slope, near(-0.5, 0.1, "ours"),
        on=(runs.on_pictures[reading], "drift", 0, True), fails_on=stays, holds_on=planted_half,
        note=losses, exploratory=reading != READINGS[0],
    )  # fmt: skip
study.claim(
    "kernel-drift-normal-inputs",
    "On ten normal inputs, fewer than m, the relative change of the kernel in training "
    f"{falls}.",
    zhu2024("Fig. 2.2, on other data"), slope, near(-0.5, 0.1, "ours"), exploratory=True,
    on=(families["dropped"], "drift"), fails_on=case(NARROW_LAYER, narrow, "drift"),
    holds_on=case("planted changes that fall like 1/sqrt(m)", half, "drift"), note=losses,
)  # fmt: skip
study.claim(
    "kernel-drift-two-layers",
    "In a two-layer network the relative change of the kernel in training falls like 1/width.",
    zhu2024("Thm. B.3.1", how="another network than in"), slope, near(-1.0, 0.2, "ours"),
    exploratory=True,
    on=(families["two layers"], "drift"), fails_on=case(NARROW_LAYER, narrow, "drift"),
    holds_on=case("planted changes that fall like 1/m", whole, "drift"),
)  # fmt: skip
study.claim(
    "inputs-hide-width",
    "With more inputs than hidden vertices, all of them concatenated, m is not the width and the "
    "kernel's change does not fall with it.",
    (derived(), zhu2024("Fig. 2.2 as printed")), slope, NO_RATE, exploratory=True,
    on=(families[HIDDEN], "drift", 0, True),
    fails_on=case(lambda s: f"{s.inputs} inputs", families["dropped"], "drift", 0, True),
    holds_on=case("planted changes that stay", none, "drift", 0, True),
)  # fmt: skip
