"""Quadratic generalization: test loss past the critical rate (004 Figs. 3.2 b, 3.4, B.5-B.7).

Below the critical learning rate a wide network, its linear model and its quadratic model reach
the same test loss. Past it the linear model diverges, while network and quadratic model go
through a catapult and, over some range of rates, end up better.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import xarray as xr

from dynascope.core.charts import Chart
from dynascope.core.errors import bad, unknown
from dynascope.core.records import Headline, Measured
from dynascope.core.spec import static_field
from dynascope.data import absence, there
from dynascope.dynamics import SGD, Dynamics, GradientDescent
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly
from dynascope.models import Linearized, Model, Quadratized
from dynascope.probes import Loss, TestSetAccuracy, TestSetLoss
from dynascope.studies.base import Study, chart, claim
from dynascope.studies.catapult.generalization_charts import accuracy_chart, loss_chart
from dynascope.studies.catapult.generalization_gains import (
    EDGE,
    comparable,
    gains,
    linear_gain,
    share_below,
    table,
    value,
)
from dynascope.studies.catapult.generalization_runs import (
    RATE,
    Panel,
    laid_out,
    linear_curve,
    starts,
    trained_curve,
)
from dynascope.studies.catapult.generalization_settings import (
    NAMES,
    REAL,
    SYNTHETIC,
    Setting,
    classes,
    image,
    wide,
)
from dynascope.studies.comparisons import (
    Evidence,
    at_least,
    at_most,
    compare,
    not_applicable,
    single,
)
from dynascope.tasks import LowRank

Found = dict[str, Panel]
GAIN = 0.02  # what counts as better, 004 Fig. 3.4 read as a share of the test loss
RANGE = 1.5  # in units of the critical rate
TOO_NARROW = "the seeds' critical rates differ too much for common rates: widen the network"
AGREE = 0.03  # between the three models below the critical rate, at width 2,000


@dataclass(frozen=True)
class QuadraticGeneralization(Study):
    """Best test loss over training against the learning rate, for the three models."""

    name: ClassVar[str] = "quadratic-generalization"
    title: ClassVar[str] = "Past the critical rate the quadratic model generalises like the network"
    source: ClassVar[str] = "004 Figs. 3.2 b, 3.4, B.5-B.7"
    scales: ClassVar[dict[str, dict[str, Any]]] = {
        "smoke": {
            "digits": Setting(classes("digits", 64), wide(512)),
            "multiples": (0.5, 0.9, 1.3, 1.9),
            "seeds": 4,
            "steps": 100,
            "looks": 26,
        },
        "laptop": {},
        "paper": {
            "mnist": Setting(classes("mnist", 128, test=2000), wide(5000)),
            "fsdd": Setting(classes("fsdd", 256), wide(5000)),
            "cifar10": Setting(classes("cifar10", 256), wide(5000), 32),
            "ag_news": Setting(classes("ag_news", 128, scaling="unit"), wide(5000)),
            "svhn": Setting(classes("svhn", 256), image(1000)),
            "multiples": (0.3, 0.5, 0.7, 0.9, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0),
            "seeds": 5,
            "steps": 2000,
            "looks": 401,
        },
    }

    panels: tuple[str, ...] = ("digits", "sign", "product")  # with the real sets that are there
    sign: Setting = Setting(LowRank("sign", 50, 256, 1000, 0.0), wide(2000))
    product: Setting = Setting(LowRank("rank-2", 50, 256, 1000, 0.0), wide(2000))
    digits: Setting = Setting(classes("digits", 128), wide(1024))
    mnist: Setting = Setting(classes("mnist", 128, test=500), wide(512))
    fsdd: Setting = Setting(classes("fsdd", 128), wide(512))
    cifar10: Setting = Setting(classes("cifar10", 256, pool=2), wide(512), 32)
    ag_news: Setting = Setting(classes("ag_news", 128, test=500, scaling="unit"), wide(512))
    svhn: Setting = Setting(classes("svhn", 64, pool=2), image(128, 16))
    multiples: tuple[float, ...] = static_field((0.5, 0.9, 1.1, 1.2, 1.3, 1.4, 1.6, 1.9))
    seeds: int = 4
    first_seed: int = 10  # most settings were tried on seeds 0 and 1; the notes say which not
    steps: int = 200
    looks: int = 26

    def check(self) -> None:
        """Raise for panels that are unknown and rates on one side of the critical one only."""
        for name in self.panels:
            if name not in NAMES:
                raise unknown("panel", name, NAMES)
        if not self.panels:
            raise bad("panels", self.panels, f"at least one of {', '.join(NAMES)}")
        if min(self.multiples) > 0.8 or max(self.multiples) < 1.25:
            raise bad("multiples", self.multiples, "rates from 0.8 or below to 1.25 or above")

    @classmethod
    def at(cls, scale: str) -> Study:
        """The settings of a scale, with the real sets that are there; smoke leaves them out."""
        panels = ("digits",) if scale == "smoke" else ("digits", *SYNTHETIC)
        real = () if scale == "smoke" else tuple(filter(there, REAL))
        return replace(super().at(scale), panels=(*panels, *real))  # type: ignore[call-arg]

    def notes(self) -> tuple[str, ...]:
        """What the thesis leaves open, and what was chosen."""
        return (
            "Loss: mean of squared errors, targets -1 and +1; the critical rate is n over the "
            "largest eigenvalue of the tangent kernel at each seed's start, also where a step "
            "sees a batch. The thesis does not say how inputs are scaled; here every channel has "
            "mean 0 and deviation 1, and rows of AG News have the norm of the root of their size.",
            "Rates, steps, and the classes of MNIST and AG News are not given either; the first "
            "and third class are taken, as it does elsewhere. Best values are over the looks "
            f"of {self.steps} steps and chosen on the test set, as in the thesis.",
            "Except at --scale paper, widths are smaller than the thesis's 5,000 units and 1,000 "
            "channels, training sets of FSDD and SVHN are smaller than its 256, and pictures of "
            "CIFAR-10 and SVHN are averaged to 16 x 16. A run counts as trained if its training "
            "loss ends below its start; others are not drawn.",
            "Chosen after looking at the seeds shown, 10 to 13: sizes, rates and number of seeds "
            "of the smoke scale; 128 channels for SVHN, since with 16 the seeds' critical rates "
            "differed too much (1.6 to 2.6); and that the claim about every rate covers the "
            "quadratic model too and is put to its clearest contradiction (for the network alone, "
            "at its smallest mean gain, it was undecided). Rates within 5 % of critical were left "
            "out of the claim on divergence after a trial of 50 steps failed it at 1.02.",
            *(f"{name}: {self._provenance(name)}" for name in self.panels if name not in SYNTHETIC),
        )

    def _provenance(self, name: str) -> str:
        task = self._setting(name).task
        data, (train, test) = task.source(), task.sizes()  # type: ignore[attr-defined]
        sizes = f"{train} training and {test} test samples"
        return f"{sizes} of {data.note}; licence {data.licence}; checksum {data.checksum()}"

    def _setting(self, name: str) -> Setting:
        return getattr(self, name)

    def plan(self) -> dict[str, Experiment]:
        """Network and quadratic model on every panel; the linear one where there are batches."""
        experiments = {}
        for name in self.panels:
            rates = laid_out(self._setting(name), self.multiples, self.first_seed)
            for kind, model in self._models(name).items():
                experiments[f"{name}: {kind}"] = self._experiment(name, model, rates)
        return experiments

    def _models(self, name: str) -> dict[str, Model]:
        setting = self._setting(name)
        models: dict[str, Model] = {
            "network": setting.model,
            "quadratic": Quadratized(setting.model),
        }
        return (
            models if setting.batch_size is None else models | {"linear": Linearized(setting.model)}
        )

    def _experiment(self, name: str, model: Model, rates: tuple[float, ...]) -> Experiment:
        setting = self._setting(name)
        size = setting.batch_size
        rule: Dynamics = GradientDescent(rates[0]) if size is None else SGD(rates[0], size)
        return Experiment(
            setting.task, model, rule, (Loss(), TestSetLoss(), TestSetAccuracy()),
            steps=self.steps, record=Evenly(self.looks), over=((RATE, rates),),
            seeds=self._seeds(),
        )  # fmt: skip

    def _seeds(self) -> tuple[int, ...]:
        return tuple(range(self.first_seed, self.first_seed + self.seeds))

    def analyse(self, runs: dict[str, xr.Dataset]) -> Found:
        """Every panel's curves over rates, in units of the measured critical rate."""
        return {name: self._panel(name, runs) for name in self.panels}

    def _panel(self, name: str, runs: dict[str, xr.Dataset]) -> Panel:
        begin = starts(self._setting(name), self._seeds())
        run = runs[f"{name}: network"]
        rates = tuple(run[RATE].values.tolist())
        curves = {kind: trained_curve(runs[f"{name}: {kind}"]) for kind in self._models(name)}
        if "linear" not in curves:
            curves["linear"] = linear_curve(begin, rates, run["step"].values)
        critical = np.array([b.critical for b in begin])
        return Panel(np.array(rates)[:, None] / critical, critical, curves)

    def headline(self, found: Found) -> Headline:
        """The first panel: network, with the quadratic model as its theory."""
        name, panel = next(iter(found.items()))
        network, quadratic = (
            tuple(panel.curves[k].settled().mean(axis=1).tolist()) for k in ("network", "quadratic")
        )
        ratio = tuple(panel.ratio.mean(axis=1).tolist())
        return Headline(
            f"Best test loss on {NAMES[name]}: network (theory: its quadratic model)",
            "learning rate / critical rate", "best test loss", ratio, network, quadratic,
            f"mean of {self.seeds} seeds; the linear model diverges past 1",
        )  # fmt: skip

    # --- claims --------------------------------------------------------------------------

    @claim(
        "same-below",
        "Below the critical rate the best test losses of network, linear and quadratic model "
        "agree within 3 %, put to a width of 2,000 as one over its root.",
        "004 Fig. 3.4 (i)",
    )
    def same_below(self, found: Found) -> Evidence:
        """Largest difference over panels and rates; above the critical rate it must be larger."""
        some = {n: p for n, p in found.items() if comparable(p)}
        if not some:
            return not_applicable(TOO_NARROW)
        below = {n: self._difference(n, p, p.ratio.max(axis=1) < 1) for n, p in some.items()}
        above = [self._difference(n, p, p.ratio.min(axis=1) > 1) for n, p in some.items()]
        control = ("above the critical rate", single(max(above)))
        shown = "; ".join(f"{NAMES[n]} {v:.2%}" for n, v in below.items())
        return compare(at_most(AGREE), single(max(below.values())), control, f"{shown}.")

    def _difference(self, name: str, panel: Panel, rates: np.ndarray) -> float:
        """Spread of the three losses over their smallest, seeds averaged, at width 2,000."""
        best = np.array([c.best[rates].mean(axis=1) for c in panel.curves.values()])
        spread = (best.max(axis=0) - best.min(axis=0)) / best.min(axis=0)
        return float(spread.max() * (self._setting(name).width / 2000) ** 0.5)

    @claim(
        "linear-diverges",
        "On all samples at once the linear model trains exactly if the rate is below critical.",
        "004 (3.7), Fig. 3.1",
    )
    def linear_diverges(self, found: Found) -> Evidence:
        """Share of runs where the two agree; the network's must be lower."""
        whole = [p for n, p in found.items() if self._setting(n).batch_size is None]
        if not whole:
            return not_applicable("every panel trains on batches: add one to panels")
        linear, network = (single(share_below(whole, k)) for k in ("linear", "network"))
        note = f"Rates within {EDGE:.0%} of the critical one are left out: growth is slow there."
        return compare(at_least(1.0), linear, ("the network", network), note)

    @claim(
        "everywhere-past-critical",
        "At every rate past the critical one at which they train, the best test losses of network "
        "and quadratic model are below those at smaller rates.",
        "004 Figs. 3.4, B.5-B.7 as stated",
    )
    def everywhere(self, found: Found) -> Evidence:
        """The gain that contradicts it most clearly, over panels, models and rates."""
        rows = [
            (name, kind, ratio, gain)
            for name, panel in found.items()
            if comparable(panel)
            for kind in ("network", "quadratic")
            for ratio, gain in gains(panel, kind, panel.ratio.min(axis=1) > 1)
        ]
        if not rows:
            return not_applicable("neither model trains at any rate past the critical one")
        name, kind, ratio, gain = min(rows, key=lambda row: value(row[3]) + 2 * row[3].error)
        control = ("the linear model", linear_gain(found[name]))
        words = {"network": "network", "quadratic": "quadratic model"}[kind]
        note = f"Seen on {NAMES[name]}: {words} at {ratio:.2f} times the critical rate."
        return compare(at_least(0.0), gain, control, note)

    @claim(
        "gain-sign",
        "Learning the sign of x1 + x2 / 2, some rate from 1 to 1.5 times the critical one lowers "
        "the best test loss of network and quadratic model by 2 % or more.",
        "004 Fig. 3.4 (ii), check 36",
    )
    def gain_sign(self, found: Found) -> Evidence:
        """The smaller of the two best gains; the linear model must have none."""
        return self._gain(found, "sign")

    @claim(
        "gain-product",
        "The same holds learning x1 x2.",
        "004 Fig. 3.4 (ii)",
    )
    def gain_product(self, found: Found) -> Evidence:
        """As for the sign."""
        return self._gain(found, "product")

    @claim(
        "gain-digits",
        "The same holds on two classes of the built-in digits.",
        "004 Fig. 3.4 (ii), other data",
    )
    def gain_digits(self, found: Found) -> Evidence:
        """As for the sign."""
        return self._gain(found, "digits")

    @claim("gain-mnist", "The same holds on two classes of MNIST.", "004 Figs. 3.4, B.5-B.7")
    def gain_mnist(self, found: Found) -> Evidence:
        """As for the sign."""
        return self._gain(found, "mnist")

    @claim("gain-fsdd", "The same holds on two spoken digits.", "004 Figs. B.5-B.7")
    def gain_fsdd(self, found: Found) -> Evidence:
        """As for the sign."""
        return self._gain(found, "fsdd")

    @claim(
        "gain-cifar10",
        "The same holds on two classes of CIFAR-10, on batches of 32.",
        "004 Figs. 3.2 b, B.5-B.7",
    )
    def gain_cifar10(self, found: Found) -> Evidence:
        """As for the sign."""
        return self._gain(found, "cifar10")

    @claim("gain-ag-news", "The same holds on two classes of AG News.", "004 Figs. B.5-B.7")
    def gain_ag_news(self, found: Found) -> Evidence:
        """As for the sign."""
        return self._gain(found, "ag_news")

    @claim(
        "gain-svhn",
        "The same holds for a two-layer convolution on two classes of SVHN.",
        "004 Figs. B.5-B.7",
    )
    def gain_svhn(self, found: Found) -> Evidence:
        """As for the sign."""
        return self._gain(found, "svhn")

    def _gain(self, found: Found, name: str) -> Evidence:
        if name not in found:
            here = name in SYNTHETIC or there(name)
            left_out = "this scale leaves it out: use --scale laptop"
            return not_applicable(left_out if here else absence(name))
        panel = found[name]
        if not comparable(panel):
            return not_applicable(TOO_NARROW)
        past = (panel.ratio.min(axis=1) > 1) & (panel.ratio.max(axis=1) <= RANGE)
        best = [
            max((g for _, g in gains(panel, kind, past)), key=value, default=Measured(None))
            for kind in ("network", "quadratic")
        ]
        smaller = min(best, key=value)
        return compare(
            at_least(GAIN), smaller, ("the linear model", linear_gain(panel)), table(panel)
        )

    # --- charts --------------------------------------------------------------------------

    @chart
    def losses(self, found: Found) -> Chart:
        """Best test loss over rates."""
        return loss_chart(found, NAMES)

    @chart
    def accuracies(self, found: Found) -> Chart:
        """Best test accuracy over rates."""
        return accuracy_chart(found, NAMES)
