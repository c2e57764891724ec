"""Causal transformers on text, from scratch, with Adam: boix2023 section 5, app. B, Figs. 4, 20."""

from dataclasses import dataclass

import xarray as xr

from dynascope.core.errors import bad
from dynascope.core.run import Run
from dynascope.core.sources import boix2023
from dynascope.core.spec import Spec, static_field
from dynascope.dynamics import Adam, Warmup
from dynascope.dynamics.schedules import Cosine
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly
from dynascope.models import Transformer, Words, gpt
from dynascope.studies.nodes import Node
from dynascope.studies.rank_increase import planted_runs
from dynascope.studies.rank_increase.planted_runs import Sizes, Untrained
from dynascope.studies.rank_increase.ranks import Ranks, probes, ranks_of
from dynascope.studies.study import Study
from dynascope.tasks import NextLetter

NAMES = {
    "tinyshakespeare": "Tiny Shakespeare",
    "wikitext2_valid_test": "the validation part of WikiText-2",
    "wikitext103": "WikiText-103",
}


@dataclass(frozen=True)
class Settings(Spec, tag="studies.rank-gpt"):
    """Which texts, which network, and how it is trained."""

    texts: tuple[str, ...] = ("tinyshakespeare", "wikitext2_valid_test")
    model: Transformer = Transformer(
        Words(64), depth=3, width=64, heads=4, hidden=256, activation="gelu_tanh", qkv_bias=True,
        causal=True, read="every", tied=True, start="gpt2",
    )  # fmt: skip
    rate: float = static_field(1e-3)  # of Adam, at most; then half a cosine down to 0
    batch_size: int = 16
    steps: int = 800
    warm_up: int = 40
    test: int = 64  # blocks
    seeds: int = 5
    records: int = 41
    to_the_end: bool = True  # whether training is long enough for a rise

    def check(self) -> None:
        """Raise for texts that are not known and models that read no words."""
        if not set(self.texts) <= set(NAMES):
            raise bad("texts", self.texts, f"some of {', '.join(NAMES)}")
        if not isinstance(self.model.tokens, Words):
            raise bad("model.tokens", self.model.tokens, "Words")


study = Study(
    "rank-gpt",
    title="A language model's heads change by matrices of low rank",
    sources=(boix2023("Figs. 4, 20, section 5, app. B"),),
    settings=Settings,
    scales={
        "smoke": {
            "texts": ("tinyshakespeare",), "model.tokens.length": 32, "model.depth": 2,
            "model.width": 32, "model.hidden": 64, "batch_size": 8, "steps": 150, "warm_up": 10,
            "test": 32, "records": 16, "to_the_end": False, "seeds": 3,
        },
        "laptop": {},
        "paper": {
            "texts": ("wikitext103",), "model": gpt(), "model.tokens.length": 256, "rate": 3e-4,
            "batch_size": 16, "steps": 396_000, "warm_up": 1, "seeds": 1, "records": 201,
        },
    },
    notes=lambda s: (
        "Tokens are bytes of the text, not GPT-2's word pieces, whose table is not built in; three "
        "epochs of WikiText-103 in blocks of 256 bytes are 396,000 steps.",
        "Not given: the schedule (the Hugging Face script falls evenly to 0; ours is half a "
        "cosine), seeds, precision.",
        "The change is that of the product, W_K W_Q^T less what it was at the start; offsets of "
        "queries and keys are no part of it.",
        f"Network: {s.model.depth} layers, {s.model.heads} heads of size "
        f"{s.model.attention.head_size}, width {s.model.width}, blocks of "
        f"{s.model.tokens.count(0)} bytes, {s.steps} steps of {s.batch_size} blocks.",
    ),
)  # fmt: skip


def _ranks(text: str) -> Node:
    """The run on one text, and its spectra."""

    def trained(s: Settings) -> Experiment:
        """Adam from GPT-2's start."""
        rate = Warmup(s.warm_up, Cosine(s.rate, s.steps - s.warm_up))
        length = s.model.tokens.count(0)
        return Experiment(
            NextLetter(text, length, test=s.test), s.model,
            Adam(rate, batch_size=s.batch_size, order="shuffled"), probes(), steps=s.steps,
            record=Evenly(s.records), seeds=tuple(range(s.seeds)),
            over=(("model.init_scale", (1.0,)),),
        )  # fmt: skip

    def left_out(s: Settings) -> str | None:
        return None if text in s.texts else f"texts leaves {NAMES[text]} out"

    node = study.run(name=f"training on {text}", data=text, only_if=left_out)(trained)
    return study.finding(node, name=f"ranks on {text}")(lambda s, run: ranks_of(run))


ranks = {text: _ranks(text) for text in NAMES}


def _to_the_end(text: str) -> Node:
    """The spectra on one text, where training is long enough."""

    def too_short(s: Settings) -> str | None:
        return None if s.to_the_end else "to_the_end=False: these runs stop early in training"

    return study.finding(ranks[text], name=f"ranks to the end on {text}", only_if=too_short)(
        lambda s, found: found
    )


long_runs = {text: _to_the_end(text) for text in NAMES}


def _small() -> Untrained:
    """A small network for 64 letters."""
    return Untrained(Sizes(64, 64), study.at("smoke").model)


@study.compute(reads=(), seconds=lambda s: 2)
def untrained(s: Settings) -> dict[str, xr.Dataset]:
    """The small network with weights drawn anew, and changed by planted stable ranks."""
    own = _small()
    return {
        "anew": planted_runs.redrawn(own),
        "low": planted_runs.made_to_measure(own, (2.0,)),
        "falling": planted_runs.made_to_measure(own, (1.2,), first=3.0),
    }


@study.finding(untrained)
def planted(s: Settings, found: dict[str, xr.Dataset]) -> dict[str, Ranks]:
    """Their spectra, read like those of runs."""
    return {name: ranks_of(Run(dataset, _small())) for name, dataset in found.items()}
