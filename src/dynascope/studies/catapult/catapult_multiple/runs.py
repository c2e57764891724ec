"""Gradient descent whose rate is raised twice more: three catapults, and the last rate alone.

zhu2024 Figs. 4.4, C.6, C.7: after each catapult the critical rate is higher, so that the next raise
does not diverge; the last rate from the start does.
"""

from dataclasses import dataclass

from dynascope.core.errors import bad
from dynascope.core.run import Run
from dynascope.core.sources import zhu2024
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import GradientDescent, Piecewise
from dynascope.engine import Experiment
from dynascope.engine.record import Every
from dynascope.probes import KernelSplit, Loss
from dynascope.probes.base import Probe
from dynascope.studies.catapult.episodes import planted
from dynascope.studies.catapult.panels import panel_of, refuse_unknown, unless_chosen
from dynascope.studies.catapult.trials import (
    CIFAR,
    DIGITS,
    Trial,
    conv_net,
    dense_net,
    estimated,
    mean_rate,
    seed_count,
    two,
)
from dynascope.studies.nodes import Node
from dynascope.studies.study import Study

PANELS = {
    "digits": ("a 5-layer network on built-in digits 0, 2", None, ""),
    "fcn": ("a 5-layer network on CIFAR-10 classes 7, 9", "cifar10", "a"),
    "cnn": ("a 5-layer CNN on CIFAR-10 classes 7, 9", "cifar10", "b"),
}
# Rates over the critical one of the start, the steps at which they begin, and the single rate that
# the caption of Fig. C.7 gives.
FCN, CNN = (
    ((6 / 3.6, 10 / 3.6, 15 / 3.6), (0, 15, 60), 60 / 3.6),
    ((8 / 4.5, 15 / 4.5, 20 / 4.5), (0, 10, 40), 40 / 4.5),
)
TOP = 10
# Seconds of a step of one seed at laptop scale, all four runs together, on two cores; that of the
# CNN was timed beside other work.
STEP = {"digits": 0.036, "fcn": 0.17, "cnn": 2.0}


@dataclass(frozen=True)
class Raised(Spec):
    """A panel whose rate is raised at given steps."""

    panel: Trial
    factors: tuple[float, ...] = FCN[0]
    starts: tuple[int, ...] = FCN[1]
    captioned: float = FCN[2]

    def check(self) -> None:
        """Raise unless there is a step for each rate."""
        if len(self.factors) != len(self.starts):
            raise bad("factors", self.factors, f"one for each of {len(self.starts)} starts")


@dataclass(frozen=True)
class Settings(Spec, tag="studies.catapult-multiple"):
    """Every panel with its rates."""

    panels: tuple[str, ...] = tuple(PANELS)
    digits: Raised = Raised(Trial(two(DIGITS), dense_net(512), 1.0, 150, TOP))
    fcn: Raised = Raised(Trial(two(CIFAR), dense_net(), 1.0, 150, TOP))
    cnn: Raised = Raised(Trial(two(CIFAR, pool=4), conv_net(128, 8), 1.0, 120, TOP), *CNN)
    seeds: int = static_field(8)
    deep_seeds: int = static_field(4)  # of the CNN, whose runs take minutes

    def check(self) -> None:
        """Raise for panels that there are none of."""
        refuse_unknown(self.panels, PANELS)


study = Study(
    "catapult-multiple",
    title="Raises of the rate set off catapults; the last rate from the start diverges",
    sources=(zhu2024("Figs. 4.4, C.6, C.7"),),
    settings=Settings,
    scales={
        "smoke": {
            "panels": ("digits",),
            "digits": Raised(Trial(two(DIGITS, 48), dense_net(256), 1.0, 100, TOP)), "seeds": 6,
        },
        "laptop": {},
        "paper": {
            "cnn": Raised(Trial(two(CIFAR), conv_net(512, 32), 1.0, 120, TOP), *CNN),
            "deep_seeds": 8,
        },
    },
    notes=(
        "Printed: rates 6, 10, 15 from steps 0, 15, 60 at a critical rate of 3.6 (CNN: 8, 15, 20 "
        "from 0, 10, 40 at 4.5). Here they are the same multiples of the critical rate.",
        "At a smaller size than the thesis's the CNN sees pictures of side 8. Its 128 channels "
        "were chosen on seeds 100 to 103, where it comes back from every raise; with 24 channels "
        "and pictures of side 16 it diverged.",
        "The caption of Fig. C.7 has 60 and 40 for the last rates, section C.6 has 15 and 20: each "
        "has a claim of its own.",
    ),
)  # fmt: skip


def _panel(name: str) -> Node:
    """The schedule, a rate below critical, and the last rate and the caption's from the start."""

    def critical(s: Settings) -> float:
        """The critical rate of the start, mean over seeds."""
        return mean_rate(panel_of(s, name).panel, seed_count(s, panel_of(s, name).panel))

    def trained(s: Settings, rate: float) -> dict[str, Experiment]:
        """Schedules of equal form."""
        r, p = panel_of(s, name), panel_of(s, name).panel

        def at(factors: tuple[float, ...], *probes: Probe) -> Experiment:
            rates = tuple(f * rate for f in factors)
            return Experiment(
                p.task, p.model, GradientDescent(Piecewise(rates, r.starts)), (Loss(), *probes),
                steps=p.steps, record=Every(1), seeds=tuple(range(seed_count(s, p))),
            )  # fmt: skip

        many, split = len(r.factors), KernelSplit(p.top)
        return {
            "raised": at(r.factors, split), "below": at((0.5,) * many, split),
            "last": at(r.factors[-1:] * many), "captioned": at((r.captioned,) * many),
        }  # fmt: skip

    options = {"data": PANELS[name][1], "only_if": unless_chosen(name)}
    rate = study.compute(name=f"critical rate, {name}", seconds=lambda s: 5.0, **options)(critical)

    def estimate(s: Settings) -> float:
        return estimated(STEP[name], s, panel_of(s, name).panel, panel_of(Settings(), name).panel)

    return study.run(rate, name=f"schedules, {name}", seconds=estimate, **options)(trained)


schedules = {name: _panel(name) for name in PANELS}


@study.finding
def made(s: Settings) -> dict[str, Run]:
    """Runs whose answer is known."""
    return {kind: planted(kind) for kind in ("catapult", "elsewhere", "monotone", "diverges")}
