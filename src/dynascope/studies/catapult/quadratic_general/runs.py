"""General quadratic models, networks of several widths, and both architectures on pictures.

zhu2024 (3.15), (3.16), appendix B.13, Figs. B.2, B.3, B.4.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dynascope.core.errors import bad, unknown
from dynascope.core.run import Run
from dynascope.core.sources import zhu2024
from dynascope.core.spec import Spec
from dynascope.data import absence, there
from dynascope.dynamics import GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.models import CNN, Model, QuadraticModel, TwoLayerReLU
from dynascope.probes import Loss, TangentKernel
from dynascope.studies.catapult.quadratic_general import networks
from dynascope.studies.catapult.quadratic_general.networks import CONVOLUTION, DENSE, NAMES, REAL
from dynascope.studies.nodes import Missing, Node, together
from dynascope.studies.study import Study
from dynascope.tasks import OneExample, Task, TwoClasses

GAMMAS = (1e-2, 1e-3, 1e-4, 1e-5)
RATES = (1.5, 1.9, 2.1, 2.4, 2.8, 3.2, 3.6, 3.9, 4.1)
MULTIPLES = (0.5, 0.9, 1.2, 1.4, 1.6)  # of the critical rate, for networks
MULTIPLE = 1.5  # of the critical rate, on pictures; the figures give none
RATE = "dynamics.learning_rate"


@dataclass(frozen=True)
class Settings(Spec, tag="studies.quadratic-general"):
    """What is trained, and on how many seeds."""

    example: OneExample = OneExample(dimension=100, label=1.0)
    few: TwoClasses = TwoClasses("digits", train=20, scaling="channel")
    pictures: tuple[str, ...] = ("digits",)
    digits: TwoClasses = TwoClasses("digits", train=128, scaling="channel")
    cifar10: TwoClasses = TwoClasses("cifar10", train=128, scaling="channel")
    svhn: TwoClasses = TwoClasses("svhn", train=128, scaling="channel")
    seeds: int = 16
    network_seeds: int = 24
    picture_seeds: int = 12
    widths: tuple[int, ...] = (256, 1024, 4096)
    width: int = 2048
    channels: int = 256
    convolution_pool: int = 4  # of real pictures
    steps: int = 300
    network_steps: int = 100
    picture_steps: int = 30

    def check(self) -> None:
        """Raise for pictures that are unknown or none."""
        for name in (*self.pictures, self.few.data):
            if name not in NAMES:
                raise unknown("pictures", name, NAMES)
        if not self.pictures:
            raise bad("pictures", self.pictures, f"at least one of {', '.join(NAMES)}")

    def task(self, data: str, architecture: str = DENSE) -> TwoClasses:
        """What an architecture learns on a data set: convolutions see smaller real pictures."""
        task: TwoClasses = getattr(self, data)
        smaller = architecture == CONVOLUTION and data in REAL
        return replace(task, pool=self.convolution_pool) if smaller else task

    def network(self, data: str, architecture: str) -> TwoLayerReLU | CNN:
        """The network of an architecture for a data set."""
        size = self.width if architecture == DENSE else self.channels
        return networks.network_of(self.task(data, architecture), architecture, size)


def _provenance(task: TwoClasses) -> str:
    if not there(task.data):
        return absence(task.data)
    return f"{task.train} samples of {task.source().note}; checksum {task.source().checksum()}"


study = Study(
    "quadratic-general",
    title="Any quadratic model, and wide networks, are catapulted alike",
    sources=(zhu2024("(3.15), (3.16), Prop. B.13.1, Figs. B.2, B.3, B.4"),),
    settings=Settings,
    scales={
        "smoke": {
            "seeds": 8, "network_seeds": 8, "picture_seeds": 2, "widths": (256, 1024),
            "width": 1024, "channels": 32,
            "digits": TwoClasses("digits", train=64, scaling="channel"),
        },
        "laptop": {"pictures": tuple(REAL)},
        "paper": {
            "pictures": tuple(REAL), "few": TwoClasses("cifar10", train=20, scaling="channel"),
            "seeds": 50, "widths": (1000, 3000, 10_000), "steps": 600,
            "channels": 1024, "convolution_pool": 1,
        },
    },
    notes=lambda s: (
        "One example with label 1 and half the squared error for general quadratic models: "
        "only then is 2.8 between 2 and 4 over the first kernel.",
        "Networks use the mean of squares; their rates are multiples of n over the largest "
        f"eigenvalue of the first kernel ({MULTIPLE} for Figs. B.2 and B.3, which give none), "
        "since the scaling of the pictures is not given: here every channel has mean 0 and "
        "deviation 1. Convolutions of more than 256 channels take the kernel of the first 256.",
        f"Fig. B.4 b: {_provenance(s.few)}.",
        *(f"Figs. B.2, B.3: {_provenance(s.task(name))}." for name in s.pictures),
        "R_f is defined only through what it does to the residuals; R_K = K(t) - K(t + 1).",
        "Of the convolution the thesis gives only the width: here it is one convolution of "
        "3 x 3 with zero padding, ReLU, and one linear map of all places, standard normal "
        f"weights in the scaling of the tangent kernel. It has {s.channels:,} channels "
        "(1,024 in the thesis) and sees real pictures averaged over "
        f"blocks of {s.convolution_pool} x {s.convolution_pool}; the fully connected "
        f"network of width {s.width:,} (2,048 in the thesis) sees them whole.",
        "A claim on several data sets is judged by the worst of them. The loss counts as large "
        "above its first value, a bound that was set on the digits before other pictures were "
        "looked at.",
        "Chosen after looking at real pictures: the claim on correlation, since a climb of a "
        "few steps hardly has a slope; 256 channels on 8 x 8 for 64 on 16 x 16, whose peak was "
        "only three times the first loss; 30 steps for 40. A claim that both terms are "
        "positive from a tenth of the peak on was tried, failed (a convolution begins above "
        "that) and was dropped; instead the others say how large their exceptions are. The "
        "fully connected network sees whole pictures, as in the thesis, after a trial on "
        "16 x 16, where the share along the first eigenvector at the peak was .839 for the "
        "quadratic model (which fails) and .973 for the network (which holds): both the other "
        "way round.",
    ),
)  # fmt: skip


def _experiment(task: Task, model: Model, steps: int, seeds: tuple, *over: tuple) -> Experiment:
    return Experiment(
        task, model, GradientDescent(1.0), (Loss(), TangentKernel(), networks.TrainingOutput()),
        steps=steps, record=Every(1), seeds=seeds, dtype="float64", over=over,
    )  # fmt: skip


@study.run
def quadratic_models(s: Settings) -> Experiment:
    """The general quadratic model over gamma and rate."""
    grid = (("model.gamma", GAMMAS), (RATE, RATES))
    return _experiment(s.example, QuadraticModel(), s.steps, tuple(range(s.seeds)), *grid)


def _networks_on(data: str) -> Node:
    """Networks of several widths on a few pictures, where these are of that data set."""
    here = _where(data, lambda s: s.few.data == data)
    inputs = 64 if data == "digits" else 3072

    @study.compute(
        name=f"critical rates by width, {data}", **here,
        each=lambda s: list(product(s.widths, range(s.network_seeds))),
        reads=("few", "widths", "network_seeds"), seconds=lambda s: 0.5 * len(s.widths),
    )  # fmt: skip
    def critical(s: Settings, at: tuple[int, int]) -> float:
        """Of each width and seed."""
        return networks.critical_rate(s.few, TwoLayerReLU(at[0]), at[1])

    def seconds(s: Settings) -> float:
        moved = sum(s.widths) * s.network_seeds * s.network_steps * inputs
        return 3 * len(s.widths) + 5e-8 * moved

    @study.run(critical, name=f"networks by width, {data}", seconds=seconds, **here)
    def trained(s: Settings, critical: dict[tuple[int, int], float]) -> dict[str, Experiment]:
        """Every width and seed at multiples of its own critical rate."""
        return {
            f"width {width}, seed {seed}": _experiment(
                s.few, TwoLayerReLU(width), s.network_steps, (seed,),
                (RATE, tuple(m * rate for m in MULTIPLES)),
            )
            for (width, seed), rate in critical.items()
        }  # fmt: skip

    return trained


def _pictures_of(data: str) -> Node:
    """Both architectures and both models on pictures of a data set."""
    here = _where(data, lambda s: data in s.pictures)

    @study.compute(
        name=f"critical rates, {data}", **here,
        each=lambda s: list(product((DENSE, CONVOLUTION), range(s.picture_seeds))),
        reads=(data, "picture_seeds", "width", "channels", "convolution_pool"),
        seconds=lambda s: 1 + 2 * s.picture_seeds,
    )  # fmt: skip
    def critical(s: Settings, at: tuple[str, int]) -> float:
        """Of each architecture and seed."""
        return networks.critical_rate(s.task(data, at[0]), s.network(data, at[0]), at[1])

    def seconds(s: Settings) -> float:
        side, pool = (8, 1) if data == "digits" else (32, s.convolution_pool)
        moved = 3 * side**2 * (s.width + 4 * s.channels / pool**2) * (s.digits.train or 128) ** 2
        return 12 + 8e-12 * moved * s.picture_seeds * s.picture_steps

    @study.run(critical, name=f"pictures, {data}", seconds=seconds, **here)
    def trained(s: Settings, critical: dict[tuple[str, int], float]) -> dict[str, Experiment]:
        """Both models of both architectures on every seed, at a multiple of its critical rate."""
        return {
            f"{kind[0]} {kind[1]}, seed {seed}": _experiment(
                s.task(data, kind[0]), networks.model_of(s.network(data, kind[0]), kind[1]),
                s.picture_steps, (seed,), (RATE, (MULTIPLE * critical[kind[0], seed],)),
            )
            for kind, seed in product(networks.KINDS, range(s.picture_seeds))
        }  # fmt: skip

    return trained


def _where(data: str, wanted: Callable[[Settings], bool]) -> dict[str, Any]:
    """Options of a node that needs a data set, and is left out if it is not wanted."""
    return {"data": data, "only_if": lambda s: None if wanted(s) else f"{data} is not asked for"}


on_pictures = together(**{data: _pictures_of(data) for data in NAMES})


class Curves(NamedTuple):
    """What runs show: loss and kernel norm, each (..., seed, step)."""

    loss: np.ndarray
    norm: np.ndarray

    @property
    def peak(self) -> np.ndarray:
        """Highest loss; infinite where descent diverged."""
        return np.where(np.isfinite(self.loss[..., -1]), self.loss.max(axis=-1), np.inf)

    @property
    def rise(self) -> np.ndarray:
        """Highest over first loss."""
        return self.peak / self.loss[..., 0]

    @property
    def kernel(self) -> np.ndarray:
        """Last kernel norm."""
        return self.norm[..., -1]

    @property
    def left(self) -> np.ndarray:
        """Last over first kernel norm."""
        return self.norm[..., -1] / self.norm[..., 0]


def _curves(run: Run) -> Curves:
    """Loss and the largest eigenvalue of the recorded kernels."""
    kernels = run["tangent_kernel"].values
    flat = kernels.reshape(-1, *kernels.shape[-2:])
    fine = np.isfinite(flat).all(axis=(1, 2))
    norms = np.full(len(flat), np.nan)
    norms[fine] = np.linalg.eigvalsh(flat[fine])[:, -1]
    return Curves(run["loss"].values, norms.reshape(kernels.shape[:-2]))


@study.finding(quadratic_models)
def general(s: Settings, run: Run) -> Curves:
    """The general quadratic model, (gamma, rate, seed, step)."""
    return _curves(run)


def _planted(run: Run, peak: np.ndarray, left: np.ndarray) -> Run:
    """A run from 0.3 with such a peak over it (infinite: it diverges) and such a last kernel.

    `peak` and `left` broadcast against the axes before the step.
    """
    rise = np.interp(np.arange(run.sizes["step"]), [0, 2, 4], [0, 1, 0])
    fall = np.minimum(np.arange(run.sizes["step"]) / 4, 1)
    shape = run["loss"].shape
    loss = 0.3 * np.where(np.isinf(peak), 1e3, peak)[..., None] ** rise
    loss = np.where(np.isinf(peak)[..., None] & (fall == 1), np.nan, loss)
    kernel = (left[..., None] ** fall)[..., None, None]
    eye = np.eye(run["tangent_kernel"].shape[-1])
    return run.planted(
        loss=np.broadcast_to(loss, shape),
        tangent_kernel=np.broadcast_to(kernel, (*shape, 1, 1)) * eye,
    )


@study.finding(quadratic_models)
def planted_general(s: Settings, run: Run) -> Curves:
    """Peaks like (rate - 2) / gamma^2 and kernels that fall with the rate; past 4 it diverges."""
    gamma, rate = np.array(GAMMAS)[:, None, None], np.array(RATES)[:, None]
    peak = np.where(rate < 2, 1.0, np.where(rate < 4, (rate - 2) / gamma**2, np.inf))
    left = np.where(rate < 2, 1.0, 1.2 - rate / 4) + 0 * gamma
    return _curves(_planted(run, peak + 0 * gamma, left))


def _stacked(s: Settings, runs: list[Run]) -> Curves:
    """Runs of one seed, width by width, as (width, rate, seed, step)."""

    def stacked(parts: tuple[np.ndarray, ...]) -> np.ndarray:
        values = np.array(parts)  # (width and seed, rate, step)
        return values.reshape(len(s.widths), -1, *values.shape[1:]).swapaxes(1, 2)

    found = [_curves(run.isel(seed=0)) for run in runs]
    return Curves(*map(stacked, zip(*found, strict=True)))


by_width = together(**{data: _networks_on(data) for data in NAMES})


@study.finding(by_width)
def widths(s: Settings, runs: dict[str, dict[str, Run]]) -> Curves | Missing:
    """Networks, (width, rate, seed, step)."""
    if s.few.data not in runs:
        return Missing(absence(s.few.data))
    return _stacked(s, list(runs[s.few.data].values()))


@study.finding(by_width)
def planted_widths(s: Settings, runs: dict[str, dict[str, Run]]) -> Curves | Missing:
    """Peaks in proportion to width and rate past critical, kernels that fall with the rate."""
    if s.few.data not in runs:
        return Missing(absence(s.few.data))
    multiple, found = np.array(MULTIPLES)[:, None], []
    for (width, _), run in zip(
        product(s.widths, range(s.network_seeds)), runs[s.few.data].values(), strict=True
    ):
        peak = np.where(multiple < 1, 1.0, width * (multiple - 1))
        found.append(_planted(run, peak, np.where(multiple < 1, 1.0, 1.6 - multiple / 1.2)))
    return _stacked(s, found)
