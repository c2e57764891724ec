"""The kernel of one-dimensional data and the equations that move it."""

from collections.abc import Callable

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import zhu2024
from dynascope.studies.catapult.quadratic_multi import runs
from dynascope.studies.catapult.quadratic_multi.runs import ABOVE, PAST, Settings, Sweep, study
from dynascope.studies.catapult.quadratic_multi.starts import (
    Start,
    autodiff_kernel,
    dense_kernel,
)
from dynascope.studies.comparisons import at_least, between, in_all_seeds
from dynascope.studies.measures import average, share
from dynascope.studies.nodes import case
from dynascope.theories.catapult.directions import matrix_step, printed_reduction

STABLE = slice(0, 3)  # the rates that do not diverge
CHECKED = 40  # steps of the matrix equations
quadratic = runs.sweeps["quadratic model"]


study.claim(
    "critical-values-as-printed",
    "For half the sum of squares, as in the text, the critical rate 2 / lambda is near 0.37.",
    zhu2024("Fig. 3.3 with the loss of section 3.3"), average, between(0.3, 0.5, "ours"),
    on=runs.critical_rates["as printed", True],
    fails_on=case("clusters twice as far apart", runs.critical_rates["twice as far", True]),
    holds_on=case("one input at 2.3 on each side: 2 / 5.29",
                  runs.critical_rates["two inputs", True]),
    note="lambda is the sum of squared inputs of one sign, about 320.", partner="critical-values",
    measures="Critical rate of the larger eigenvalue, mean over twenty starts.",
)  # fmt: skip
study.claim(
    "critical-values", "For the mean of squares the critical rate n / lambda is near 0.37.",
    zhu2024("Fig. 3.3 with the loss of chapter 4"), average, between(0.3, 0.5, "ours"),
    on=runs.critical_rates["as printed", False], partner="critical-values-as-printed",
    fails_on=case("2 / lambda, for half the sum", runs.critical_rates["as printed", True]),
    holds_on=case("all inputs at 2.3 or -2.3: 2 / 5.29",
                  runs.critical_rates["one point each", False]),
    measures="Critical rate of the larger eigenvalue, mean over twenty starts.",
)  # fmt: skip


@study.compute(reads=("starts",), seconds=lambda s: 0.01 * s.starts)
def plane(s: Settings) -> np.ndarray:
    """Third over first eigenvalue of the kernel for inputs in the plane, (seed, 1)."""

    def rest(seed: int) -> float:
        rng = np.random.default_rng(seed)
        x, u, v = rng.normal(size=(64, 2)), rng.normal(size=(500, 2)), rng.choice([-1.0, 1.0], 500)
        on = x @ u.T >= 0
        hidden, through = x @ u.T * on, on * v
        values = np.linalg.eigvalsh((through @ through.T) * (x @ x.T) + hidden @ hidden.T)
        return float(values[-3] / values[-1])

    return np.array([[rest(seed)] for seed in range(s.starts)])


@study.finding(runs.sweeps)
def beside(s: Settings, sweeps: dict[str, list[Sweep]]) -> dict[str, np.ndarray]:
    """What the kernel leaves of vectors, over an eigenvalue, (seed, ...): 0 on eigenvectors."""
    pairs = list(zip(*sweeps.values(), strict=True))  # both models of a seed
    labels = []
    for start in (pair[0].start for pair in pairs):
        q = start.y / np.linalg.norm(start.y)
        image = start.kernel @ q
        labels.append([np.linalg.norm(image - (q @ image) * q) / (q @ image)])
    inputs = [[x.residual[:, STABLE] / x.kernels[:, STABLE] for x in pair] for pair in pairs]
    outside = [[x.outside[STABLE] / x.kernels[0, STABLE] for x in pair] for pair in pairs]
    return {
        "inputs": np.array(inputs), "labels": np.array(labels), "outside": np.array(outside),
        "planted": np.full((len(pairs), 2), 1e-13),
    }  # fmt: skip


@study.compute(runs.starts, reads=("task", "width"), seconds=lambda s: 0.1 * s.starts)
def decompositions(s: Settings, starts: tuple[Start, ...]) -> dict[str, np.ndarray]:
    """Relative errors of forms of the first kernel to that of the gradients, (seed, 1)."""
    found: dict[str, list] = {
        "printed": [], "unit vectors": [], "one direction": [], "autodiff": []
    }  # fmt: skip
    for start in starts:
        dense = dense_kernel(s.task, s.width, start.seed)
        own = autodiff_kernel(s.task, s.width, start.seed)
        parts = [k * np.outer(d.unit, d.unit)
                 for d, k in zip(start.found, start.kernels, strict=True)]  # fmt: skip
        longer = [d.size * part for d, part in zip(start.found, parts, strict=True)]
        for name, said in (("printed", sum(longer)), ("unit vectors", sum(parts)),
                           ("one direction", parts[0]), ("autodiff", own)):  # fmt: skip
            found[name].append([np.linalg.norm(said - dense) / np.linalg.norm(dense)])
    return {name: np.array(errors) for name, errors in found.items()}


def within(errors: np.ndarray, tolerance: float) -> Measured:
    """Share of seeds whose error never exceeds the tolerance; NaN, after divergence, does."""
    return share(np.array([np.max(seed) <= tolerance for seed in errors]))


study.claim(
    "eigenvectors",
    "The inputs of one sign are an eigenvector of the kernel at every step, in both models.",
    zhu2024("Prop. B.11.1"), within, in_all_seeds("printed"), on=(beside["inputs"], 1e-10),
    fails_on=case("the labels", beside["labels"], 1e-10),
    holds_on=case("1e-13, planted", beside["planted"], 1e-10),
)  # fmt: skip
study.claim(
    "rank-two",
    "The tangent kernel of one-dimensional data has rank two at every step: it vanishes outside "
    "the two directions of inputs of one sign.",
    zhu2024("Prop. B.11.1"), within, in_all_seeds("printed"), on=(beside["outside"], 1e-10),
    fails_on=case("inputs in the plane", plane, 1e-10),
    holds_on=case("1e-13, planted", beside["planted"], 1e-10),
)  # fmt: skip
same_kernel = case("the kernel by automatic differentiation", decompositions["autodiff"], 1e-10)
study.claim(
    "decomposition-as-printed",
    "The kernel is lambda1 p1 p1^T + lambda2 p2 p2^T with p the inputs of one sign.",
    zhu2024("appendix B.8"), within, in_all_seeds("printed"),
    on=(decompositions["printed"], 1e-10), partner="decomposition",
    fails_on=case("one direction alone", decompositions["one direction"], 1e-10),
    holds_on=same_kernel,
)  # fmt: skip
study.claim(
    "decomposition",
    "The kernel is lambda1 p1 p1^T + lambda2 p2 p2^T with p the inputs of one sign, scaled to "
    "length one.",
    zhu2024("appendix B.8", how="corrects"), within, in_all_seeds("derived"),
    on=(decompositions["unit vectors"], 1e-10), partner="decomposition-as-printed",
    fails_on=case("as printed", decompositions["printed"], 1e-10),
    holds_on=same_kernel,
)  # fmt: skip


def share_near_one(kernels: np.ndarray) -> Measured:
    """Share of kernels between half and three halves."""
    return share(np.abs(kernels - 1) <= 0.5)


study.claim(
    "largest-kernel",
    "The largest eigenvalue lies between M / 2 and 3 M / 2, M the larger sum of squared inputs.",
    zhu2024("Prop. B.11.2, whose ratio of double sums is that"), share_near_one,
    at_least(0.99, "ours"), on=runs.largest_kernels[500],
    fails_on=case("width 3", runs.largest_kernels[3]),
    holds_on=case("kernels from 0.6 to 1.4, planted", runs.planted_kernels),
)  # fmt: skip


def keeps_matrices(sweeps: list[Sweep], bends: bool) -> Measured:
    """Share of seeds that follow the matrix equations to 1e-10 while both are catapulted."""
    gaps = []
    for sweep in sweeps:
        start, gap = sweep.start, [0.0]
        r, k = start.outputs - start.y, start.kernel
        for step in range(CHECKED):
            seen = sweep.outputs[ABOVE, step] - start.y
            gap.append(np.abs(r - seen).max() / np.abs(seen).max())
            for d, value in zip(start.directions, sweep.kernels[:, ABOVE, step], strict=True):
                gap.append(abs(d.unit @ k @ d.unit / value - 1))
            width = sweep.width if bends else np.inf
            r, k = matrix_step(r, k, start.x, start.y, width, start.half(ABOVE))
        gaps.append(np.max(gap))
    return share(np.array(gaps) <= 1e-10)


def keeps_reduction(sweeps: list[Sweep], power: int) -> Measured:
    """Share of seeds within 1e-9 of single examples, s^power for |x|^2 / d, at stable rates."""
    flags = []
    for start, width, _, kernels, _, _, outputs, _ in sweeps:
        gaps = []
        for rate in range(3):
            for k, descent in enumerate(start.maps(rate, width)):
                seen = (outputs[rate] - start.y) @ start.directions[k].unit
                scale = descent.input_scale**power
                path = descent.trajectory(len(seen) - 1, input_scale=scale)
                gaps.append(np.abs(path.residual - seen).max() / np.abs(seen).max())
                gaps.append(np.abs(path.kernel / kernels[k, rate] - 1).max())
        flags.append(np.max(gaps) <= 1e-9)
    return share(np.array(flags))


LAWS: dict[str, Callable[..., float]] = {
    "printed": printed_reduction, "constant": lambda residuals, labels, value, *_: value,
}  # fmt: skip


def keeps_law(sweeps: list[Sweep], law: str) -> Measured:
    """Share of seeds in which a law gives every next first eigenvalue within 0.1 %."""
    flags = []
    for start, width, _, kernels, _, _, outputs, _ in sweeps:
        errors = []
        for step in range(CHECKED):
            before, after = kernels[0, ABOVE, step : step + 2]
            state = outputs[ABOVE, step] - start.y, start.y, before
            said = LAWS[law](*state, start.directions[0], width, start.half(ABOVE))
            errors.append(abs(said / after - 1))
        flags.append(np.max(errors) <= 1e-3)
    return share(np.array(flags))


def keeps_loss(sweeps: list[Sweep], inside: bool) -> Measured:
    """Share of seeds whose loss outside both directions (or inside) changes by at most 1e-9."""
    flags = []
    for sweep in sweeps:
        residuals = sweep.outputs[STABLE] - sweep.start.y
        along = sum((residuals @ d.unit)[..., None] * d.unit for d in sweep.start.found)
        loss = np.sum((along if inside else residuals - along) ** 2, axis=-1)
        flags.append(np.abs(loss / loss[:, :1] - 1).max() <= 1e-9)
    return share(np.array(flags))


def grows_by(sweeps: list[Sweep], printed: bool, first: bool) -> Measured:
    """Share of seeds within 10 % of a law of growth in the last step before divergence."""
    flags = []
    for sweep in sweeps:
        eta, d, values = sweep.start.half(PAST), sweep.start.directions[0], sweep.kernels[0, PAST]
        step = 0 if first else int(np.isfinite(values).sum()) - 2
        side = np.where(d.unit != 0, sweep.outputs[PAST, step], 0)
        shape = values[step] - 4 * eta if printed else eta * values[step] - 4
        said = side @ side * d.size / sweep.width * eta * shape
        flags.append(abs(said / (values[step + 1] - values[step]) - 1) <= 0.1)
    return share(np.array(flags))


along_maps = runs.along_maps
study.claim(
    "matrix-equations",
    "Residuals and kernel of the quadratic model move by (B.7) and (B.8), exactly.",
    zhu2024("(B.7), (B.8)"), keeps_matrices, in_all_seeds("printed"), on=(quadratic, True),
    fails_on=case("without the terms of second order", quadratic, False),
    holds_on=case("paths of two maps side by side, planted", along_maps, True),
)  # fmt: skip
study.claim(
    "reduction",
    "Each direction is the descent of a single example, with s = |p|^2 in place of |x|^2 / d.",
    zhu2024("(B.9) to (B.12)", how="corrects"), keeps_reduction, in_all_seeds("derived"),
    on=(quadratic, 1), fails_on=case("s left out", quadratic, 0),
    holds_on=case("paths of two maps side by side, planted", along_maps, 1),
    note="The two directions are exactly independent.", partner="reduction-as-printed",
)  # fmt: skip
study.claim(
    "reduction-as-printed",
    "Over one sign the first eigenvalue moves by (B.10), with u1 = 2 eta^2 Pi1 L / m and w1 = "
    "eta^2 <(g - y), y> / m, within 0.1 % a step.",
    zhu2024("(B.10) with (B.11), (B.12)"), keeps_law, in_all_seeds("printed"),
    on=(quadratic, "printed"),
    fails_on=case("a constant kernel", quadratic, "constant"),
    holds_on=case("an eigenvalue moved by it, planted", runs.printed_paths, "printed"),
    note="With unit vectors |p|^2 is missing, and w1 is no projection on p1.", partner="reduction",
)  # fmt: skip
study.claim(
    "nothing-outside",
    "The loss outside both directions never changes: what is left in the end is irreducible.",
    zhu2024("Prop. B.11.3"), keeps_loss, in_all_seeds("printed"), on=(quadratic, False),
    fails_on=case("the loss inside", quadratic, True),
    holds_on=case("paths of two maps side by side, planted", along_maps, False),
)  # fmt: skip
for _slug, _partner, _form, _how, _law in (
    ("growth-as-printed", "growth", "eta (lambda1 - 4 eta)", "", "printed"),
    ("growth", "growth-as-printed", "eta (eta lambda1 - 4)", "corrects", "corrected"),
):
    study.claim(
        _slug,
        f"In the last step before divergence lambda1 grows by |g|^2 |p1|^2 / m times {_form}, "
        "within 10 %.",
        zhu2024("appendix B.11, divergence", how=_how), grows_by, in_all_seeds("ours"),
        on=(quadratic, not _how, False), partner=_partner,
        fails_on=case("the first step", quadratic, not _how, True),
        holds_on=case("a last step by it, planted", runs.planted_growth[_law], not _how, False),
    )  # fmt: skip
