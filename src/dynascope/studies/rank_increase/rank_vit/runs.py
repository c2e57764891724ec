"""Vision transformers on pictures: Adam from starts of three scales, and SGD.

boix2023 section 5, app. B, Figs. 1, 4 to 7 and 12 to 17. On the real pictures that are asked for
and there, and always on pictures that are made here.
"""

from dataclasses import dataclass

import xarray as xr

from dynascope.core.errors import bad
from dynascope.core.run import Run
from dynascope.core.sources import boix2023
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import SGD, Adam, Cosine, Piecewise, Warmup
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly
from dynascope.models import Patches, Transformer, vit
from dynascope.studies.nodes import Node
from dynascope.studies.rank_increase import planted_runs
from dynascope.studies.rank_increase.planted_runs import Sizes, Untrained
from dynascope.studies.rank_increase.ranks import Ranks, probes, ranks_of
from dynascope.studies.study import Study
from dynascope.tasks import Pictures, SyntheticPictures

NAMES = {
    "synthetic": "pictures made here", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100",
    "svhn": "SVHN",
}  # fmt: skip
EPOCH = 50_000 // 512  # steps of the paper's epochs


@dataclass(frozen=True)
class Settings(Spec, tag="studies.rank-vit"):
    """Which pictures, which network, and how it is trained."""

    pictures: tuple[str, ...] = ("cifar10",)  # real ones, beside those made here
    sgd: bool = True  # beside Adam
    to_the_end: bool = True  # whether training is long enough for a rise and for equal accuracy
    model: Transformer = Transformer(
        Patches((32, 32, 3), 8), depth=3, width=64, heads=4, head_size=16, hidden=128,
        read="class_token",
    )  # fmt: skip
    rate: float = static_field(1e-3)  # of Adam, after the warm-up; then half a cosine down to 0
    sgd_rate: float = static_field(0.3)  # after the warm-up; it stays
    batch_size: int = 64
    steps: int = 800
    warm_up: int = 50
    scales: tuple[float, ...] = static_field((1.0, 0.3, 0.1))  # of the start
    seeds: int = 5
    records: int = 41
    made_here: SyntheticPictures = SyntheticPictures()
    made_model: Transformer = Transformer(
        Patches((16, 16, 1), 4), depth=2, width=32, heads=4, head_size=16, hidden=64,
        read="class_token",
    )  # fmt: skip
    made_steps: int = 600
    made_rate: float = static_field(2e-3)
    made_batch: int = 64

    def check(self) -> None:
        """Raise for scales out of order and for pictures that are not known."""
        if len(self.scales) < 2 or sorted(self.scales, reverse=True) != list(self.scales):
            raise bad("scales", self.scales, "at least two, the largest first")
        known = [name for name in NAMES if name != "synthetic"]
        if not set(self.pictures) <= set(known):
            raise bad("pictures", self.pictures, f"some of {', '.join(known)}")


study = Study(
    "rank-vit",
    title="A vision transformer's heads change by matrices of low rank",
    sources=(boix2023("Figs. 1, 4 to 7, 12 to 17, section 5, app. B"),),
    settings=Settings,
    scales={
        "smoke": {
            "pictures": (), "sgd": False, "to_the_end": False, "scales": (1.0, 0.1),
            "made_here.train": 1000, "made_here.test": 250, "made_batch": 32, "made_steps": 120,
            "records": 16, "seeds": 3,
        },
        "laptop": {},
        "paper": {
            "pictures": ("cifar10", "cifar100"), "model": vit(), "rate": 1e-4, "batch_size": 512,
            "steps": 500 * EPOCH, "warm_up": 15 * EPOCH, "records": 201,
        },
    },
    notes=lambda s: (
        "Not given: where norms stand, how the output is read, how weights start, the values of "
        "the scales, seeds, batches of SGD, preparation of the pictures. Ours: norms first, a "
        "class token, PyTorch's start, channels brought to mean 0 and deviation 1, batches in a "
        "new order every epoch, no augmentation, no weight decay, no dropout.",
        "'Cyclic learning rate decay' is read as half a cosine after the linear warm-up.",
        "A factor on the start multiplies all layers but the token map; places and class token "
        "belong to the token map, norms start at 1.",
        "The change is that of the product, W_K W_Q^T less what it was at the start.",
        f"Network: {s.model.depth} layers, {s.model.heads} heads of size "
        f"{s.model.attention.head_size}, width {s.model.width}, patches of side "
        f"{s.model.tokens.side}, {s.steps} steps of {s.batch_size} pictures.",
    ),
)  # fmt: skip


def _experiment(s: Settings, data: str, rule: str) -> Experiment:
    """Adam from starts of every scale, or SGD from the usual one."""
    made = data == "synthetic"
    task = s.made_here if made else Pictures(data)
    model, steps = (s.made_model, s.made_steps) if made else (s.model, s.steps)
    rate, batch = (s.made_rate, s.made_batch) if made else (s.rate, s.batch_size)
    warm = max(1, steps * s.warm_up // s.steps)
    adam = Adam(Warmup(warm, Cosine(rate, steps - warm)), batch_size=batch, order="shuffled")
    steady = Warmup(warm, Piecewise((s.sgd_rate,), (0,)))

    def experiment(dynamics: Adam | SGD, scales: tuple[float, ...]) -> Experiment:
        return Experiment(
            task, model, dynamics, probes(), steps=steps, record=Evenly(s.records),
            seeds=tuple(range(s.seeds)), over=(("model.init_scale", scales),),
        )  # fmt: skip

    return {
        "adam": experiment(adam, s.scales),
        "sgd": experiment(SGD(steady, batch, "shuffled"), s.scales[:1]),
    }[rule]


def _ranks(data: str, rule: str) -> Node:
    """The runs on one data set with one rule, and their spectra."""

    def trained(s: Settings) -> Experiment:
        """One rule on one data set."""
        return _experiment(s, data, rule)

    def left_out(s: Settings) -> str | None:
        if data not in ("synthetic", *s.pictures):
            return f"pictures leaves {NAMES[data]} out"
        return "sgd=False leaves it out" if rule == "sgd" and not s.sgd else None

    needs = None if data == "synthetic" else data
    node = study.run(name=f"{rule} on {data}", data=needs, only_if=left_out)(trained)
    return study.finding(node, name=f"ranks of {rule} on {data}")(lambda s, run: ranks_of(run))


ranks = {(data, rule): _ranks(data, rule) for data in NAMES for rule in ("adam", "sgd")}


def _to_the_end(data: str) -> Node:
    """The spectra of Adam's runs, where these are long enough."""

    def too_short(s: Settings) -> str | None:
        return None if s.to_the_end else "to_the_end=False: these runs stop early in training"

    node = ranks[data, "adam"]
    return study.finding(node, name=f"ranks to the end on {data}", only_if=too_short)(
        lambda s, found: found
    )


long_runs = {data: _to_the_end(data) for data in NAMES}


def _small(s: Settings) -> Untrained:
    return Untrained(Sizes(s.made_here.input_size, s.made_here.output_size), s.made_model)


@study.compute(reads=("made_here", "made_model"), seconds=lambda s: 2)
def untrained(s: Settings) -> dict[str, xr.Dataset]:
    """The small network with weights drawn anew, and changed by planted stable ranks."""
    own = _small(s)
    return {
        "anew": planted_runs.redrawn(own),
        "low": planted_runs.made_to_measure(own, (2.0, 1.2)),  # less from the smaller start
        "opposite": planted_runs.made_to_measure(own, (1.5, 3.0)),
        "falling": planted_runs.made_to_measure(own, (1.2, 1.2), first=3.0),
    }


@study.finding(untrained)
def planted(s: Settings, found: dict[str, xr.Dataset]) -> dict[str, Ranks]:
    """Their spectra, read like those of runs."""
    return {name: ranks_of(Run(dataset, _small(s))) for name, dataset in found.items()}
