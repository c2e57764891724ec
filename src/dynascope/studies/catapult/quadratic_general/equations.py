"""The equations of general quadratic models; plain numpy descents are the witness."""

import numpy as np

from dynascope.core.records import Measured
from dynascope.core.sources import zhu2024
from dynascope.studies.catapult.quadratic_general.runs import study
from dynascope.studies.comparisons import at_least, at_most, in_all_seeds
from dynascope.studies.measures import exact, share
from dynascope.studies.nodes import case
from dynascope.theories.catapult import models

STEPS = 50
LAWS = (models.general_kernel, models.printed_general_kernel)


def _gaps(seed: int, bend: float, samples: int = 4, size: int = 6) -> dict[str, float]:
    """Largest relative errors over the descent of a random f = f0 + J d + bend d^T H d / 2."""
    rng = np.random.default_rng(seed)
    hessians = rng.normal(size=(samples, size, size))
    hessians = (hessians + hessians.transpose(0, 2, 1)) * bend / 20
    jacobian, first = rng.normal(size=(samples, size)), rng.normal(size=samples)
    rate = 1.5 / np.linalg.eigvalsh(jacobian @ jacobian.T)[-1]
    state, d = models.QuadraticState(first, jacobian), np.zeros(size)
    flat, worst = first.copy(), np.zeros(5)
    for _ in range(STEPS):
        r = first + jacobian @ d + np.einsum("p,npq,q->n", d, hessians, d) / 2
        j = jacobian + np.einsum("npq,q->np", hessians, d)
        after = j - rate * np.einsum("p,npq->nq", r @ j, hessians)
        scale, top = np.abs(first).max(), np.abs(j @ j.T).max()
        residuals = [np.abs(said - r).max() / scale for said in (state.residuals, flat)]
        laws = [*(f(state, hessians, rate) for f in LAWS), state.kernel]
        kernels = [np.abs(said - after @ after.T).max() / top for said in laws]
        worst = np.maximum(worst, [*residuals, *kernels])
        flat = flat - rate * jacobian @ jacobian.T @ flat
        state, d = models.general_step(state, hessians, rate), d - rate * r @ j
    names = ("residuals", "linear residuals", "kernel", "printed kernel", "constant kernel")
    return dict(zip(names, worst.tolist(), strict=True))


def keeps(part: str, bend: float) -> Measured:
    """Share of eight random models that keep an equation to 1e-10 over a descent."""
    return share(np.array([_gaps(seed, bend)[part] <= 1e-10 for seed in range(8)]))


FLAT = "models without a bend, whose kernel stands"
study.claim(
    "residual-equation", "Residuals of any quadratic model move by (3.15), exactly.",
    zhu2024("(3.15)"), keeps, in_all_seeds("printed"), on=case("", "residuals", 1.0),
    fails_on=case("without the term of second order", "linear residuals", 1.0),
    holds_on=case(FLAT, "residuals", 0.0),
)  # fmt: skip
study.claim(
    "kernel-equation-as-printed",
    "The kernel of any quadratic model moves by K - eta (4 G J^T - eta G G^T) / 4.",
    zhu2024("(3.16)"), keeps, in_all_seeds("printed"), on=case("", "printed kernel", 1.0),
    fails_on=case("a constant kernel (linear model)", "constant kernel", 1.0),
    holds_on=case(FLAT, "printed kernel", 0.0),
    note="It is not even symmetric. G is n x p, one row a sample.", partner="kernel-equation",
)  # fmt: skip
study.claim(
    "kernel-equation",
    "The kernel of any quadratic model moves by K - eta (G J^T + J G^T) + eta^2 G G^T.",
    zhu2024("(3.16)", how="corrects"), keeps, in_all_seeds("derived"),
    on=case("", "kernel", 1.0), fails_on=case("as printed", "printed kernel", 1.0),
    holds_on=case(FLAT, "kernel", 0.0), partner="kernel-equation-as-printed",
)  # fmt: skip


# S, what S^2 is of the identity, gamma, and the rate over the first kernel, v.
Pure = tuple[np.ndarray, float, float, float]


def _mirror(seed: int, size: int = 20) -> np.ndarray:
    """A random S with S^2 = I."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return basis @ np.diag(rng.choice([-1.0, 1.0], size)) @ basis.T


def _pure_models() -> list[Pure]:
    """The two-layer linear network in three dimensions, and a random S with S^2 = |x|^2 I."""
    x = np.random.default_rng(0).normal(size=3)
    kinds = (models.two_layer_form(x, 8), float(x @ x), 8**-0.5), (1.5 * _mirror(0), 1.5**2, 0.2)
    return [(*kind, v) for v in (1.5, 2.5, 3.5) for kind in kinds]


def _of_size_one() -> list[Pure]:
    """Gamma = 1, and S as long as gives the first kernel v: so the rate v / lambda is 1 too."""
    found = []
    for seed, v in enumerate((0.5, 0.7, 0.9, 1.1, 1.3, 1.5)):
        squared = v / float(np.sum(np.random.default_rng(1).normal(size=20) ** 2))
        found.append((squared**0.5 * _mirror(seed), squared, 1.0, v))
    return found


PURE, SIZE_ONE = _pure_models(), _of_size_one()
OF_MANY_SIZES = [(np.diag(np.linspace(-2, 2, 20)), 1.0, 0.2, v) for v in (1.0, 1.2, 1.5)]


def _pure_gaps(form: np.ndarray, squared_norm: float, gamma: float, v: float) -> np.ndarray:
    """Errors of the map and of the printed kernel step, in the w of g = gamma w^T S w / 2."""
    w = np.random.default_rng(1).normal(size=len(form))  # as in `_of_size_one`
    output, slope = gamma * w @ form @ w / 2, gamma * form @ w
    kernel = float(slope @ slope)
    path = models.pure_quadratic(v / kernel, gamma, squared_norm, output, kernel).trajectory(STEPS)
    rate, size, worst = v / kernel, np.abs(path.residual).max(), np.zeros(2)
    for step in range(STEPS):
        output, slope = gamma * w @ form @ w / 2, gamma * form @ w
        kernel = float(slope @ slope)
        off = abs(path.residual[step] - output) / size, abs(path.kernel[step] / kernel - 1)
        said = models.printed_pure_step(output, kernel, rate, gamma, squared_norm)
        w = w - rate * output * slope
        after = gamma * form @ w
        worst = np.maximum(worst, (np.max(off), abs(said[1] / float(after @ after) - 1)))
    return worst


def keeps_pure(pure: list[Pure], printed: bool) -> Measured:
    """Share of models without a linear part that keep the map (or the printed step) to 1e-10."""
    return share(np.array([_pure_gaps(*model)[int(printed)] <= 1e-10 for model in pure]))


def catapults(low: float, high: float) -> Measured:
    """Share of rates between two ends, over the first kernel, that lead through a catapult."""
    base, v = models.pure_quadratic(1.0, 1e-3, 1.0, 0.3, 1.0), np.linspace(low, high, 400)
    return exact((base.outcome(3000, learning_rate=v).regime == "catapult").mean())


ONE = "gamma and the rate are 1, so that no power of them matters"
study.claim(
    "pure-equations-as-printed",
    "Without a linear part the kernel falls by gamma |x|^2 g^2 (4 - eta lambda) a step.",
    zhu2024("appendix B.13"), keeps_pure, in_all_seeds("printed"), on=case("", PURE, True),
    fails_on=case("S of many sizes", OF_MANY_SIZES, True), holds_on=case(ONE, SIZE_ONE, True),
    note="It lacks a factor gamma and a factor eta.", partner="pure-equations",
)  # fmt: skip
study.claim(
    "pure-equations",
    "Without a linear part the model is a quadratic map with gamma^2 |x|^2 for |x|^2 / (m d).",
    zhu2024("appendix B.13", how="corrects"), keeps_pure, in_all_seeds("derived"),
    on=case("", PURE, False), fails_on=case("S of many sizes", OF_MANY_SIZES, False),
    holds_on=case(ONE, SIZE_ONE, False), partner="pure-equations-as-printed",
)  # fmt: skip
study.claim(
    "pure-catapult",
    "Without a linear part there is a catapult between 2 and 4 over the first kernel.",
    zhu2024("Prop. B.13.1"), catapults, at_least(0.98, "ours"),
    on=case("", 2.05, 3.95), fails_on=case("below 2", 0.1, 1.95),
    holds_on=case("from 2.5 to 3, far from both ends", 2.5, 3.0),
)  # fmt: skip


def power_gap(form: np.ndarray, size: float, power: int) -> Measured:
    """Largest error of an entry of the stated identity for S, over |x|^2."""
    left = np.linalg.matrix_power(form, power)
    right = size * np.linalg.matrix_power(form, power - 2)
    return exact(np.abs(left - right).max() / size)


def _network(dimension: int) -> tuple[np.ndarray, float]:
    """S and |x|^2 of a two-layer linear network at a random input."""
    x = np.random.default_rng(0).normal(size=dimension)
    return models.two_layer_form(x, 6), float(x @ x)


_drawn = np.random.default_rng(2).normal(size=(12, 12))
RANDOM = (_drawn + _drawn.T) / 2
study.claim(
    "square-condition-as-printed", "The two-layer linear network has S^2 = |x|^2 I.",
    zhu2024("appendix B.13: the network as a case of Prop. B.13.1"),
    power_gap, at_most(1e-12, "printed"), on=case("", *_network(3), 2),
    fails_on=case("a random S", RANDOM, 3.0, 2), partner="cube-condition",
    holds_on=case("one-dimensional inputs", *_network(1), 2),
)  # fmt: skip
study.claim(
    "cube-condition",
    "S^3 = |x|^2 S is enough, and the two-layer linear network has it for every input.",
    zhu2024("Prop. B.13.1", how="corrects"), power_gap, at_most(1e-12, "derived"),
    on=case("", *_network(3), 3), partner="square-condition-as-printed",
    fails_on=case("a random S", RANDOM, 3.0, 3),
    holds_on=case("a random S with S^2 = I", _mirror(3), 1.0, 3),
)  # fmt: skip
