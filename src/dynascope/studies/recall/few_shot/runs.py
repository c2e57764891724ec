"""Table 4.2 of chen2025: GSM8K after 1, 2, 4 and 8 worked examples, with and without LASER.

Its models need a graphics card. What can be done without: read the printed table as 12 pairs of
shares of 1,319 questions, check the scorer on the worked answers, and put the question to a local
model, by option.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dynascope.core.errors import bad
from dynascope.core.sources import chen2025
from dynascope.core.spec import Spec
from dynascope.data.models import MODELS, find_model
from dynascope.data.questions import load_questions
from dynascope.edits import Truncate, apply
from dynascope.language.few_shot import ask, right, z_of_shares
from dynascope.language.loading import load_model
from dynascope.language.model import LanguageModel
from dynascope.studies.study import Study

QUESTIONS = 1319
BATCH = 10  # questions that a kill loses at most
SHOTS = (1, 2, 4, 8)
NAMES = ("Phi-3", "Llama-3.1-8B", "Llama-3.1-8B-Instruct")
PRINTED = np.array([  # (model, without and with LASER, shots), in per cent
    [[56.0, 72.2, 78.2, 82.7], [66.1, 74.4, 77.0, 82.3]],
    [[44.7, 50.0, 57.6, 56.0], [46.1, 50.7, 55.9, 53.8]],
    [[72.6, 74.7, 78.5, 79.7], [73.6, 75.6, 77.7, 77.0]],
])  # fmt: skip


@dataclass(frozen=True)
class Settings(Spec, tag="studies.few-shot"):
    """Whether a local model is asked, and how."""

    model: str = ""  # a known name such as "smollm2_135m_gguf"; empty asks none
    questions: int = 100
    shots: int = 1
    layer: int = -1  # -1 is the fifth from the end, as 27 of 32 in the document
    keep: float = 0.02
    tokens: int = 128

    def check(self) -> None:
        """Raise for models that are not known."""
        if self.model and self.model not in MODELS:
            raise bad("model", self.model, f"one of {', '.join(MODELS)}, or nothing")
        if not 1 <= self.questions <= QUESTIONS or not 0 <= self.shots <= 8:
            raise bad("questions", self.questions, f"1 to {QUESTIONS}, and shots from 0 to 8")


study = Study(
    "few-shot",
    title="LASER with few and many worked examples: what the printed accuracies can say",
    sources=(chen2025("Table 4.2, section 4.5.2"),),
    settings=Settings,
    scales={"smoke": {}, "laptop": {}, "paper": {"questions": 1319}},
    notes=(
        "Standard errors are those of 1,319 independent questions for each printed accuracy. Both "
        "accuracies of a pair are on the same questions, so a paired test would be sharper; the "
        "document does not print what it needs.",
        "The document chose layer and rank for this data set, so that its gains with few examples "
        "are chosen ones.",
        "--set model=smollm2_135m_gguf asks a local model, with McNemar's test; it is no stand-in "
        "for Phi-3 or Llama.",
    ),
)


class Accuracies(NamedTuple):
    """Shares of right answers: (model, without and with LASER, shots)."""

    share: np.ndarray

    def z(self) -> np.ndarray:
        """Standard errors by which LASER is better, (model, shots)."""
        return np.array([
            [z_of_shares(a, b, QUESTIONS) for a, b in zip(*model)] for model in self.share
        ])  # fmt: skip


@study.finding
def printed(s: Settings) -> Accuracies:
    """Table 4.2."""
    return Accuracies(PRINTED / 100)


@study.finding
def planted(s: Settings) -> dict[str, Accuracies]:
    """Tables with known answers."""
    flat = np.full((3, 2, 4), 0.6)
    strong, opposite, chance = flat.copy(), flat.copy(), flat.copy()
    strong[:, 1] += [0.1, 0.1, -0.1, -0.1]
    opposite[:, 1] -= [0.1, 0.1, -0.1, -0.1]
    chance[:, 1] += [0.004, -0.004, 0.004, -0.004]
    quiet = flat.copy()
    quiet[:, 1] += [0.01, 0.01, -0.01, -0.01]
    quiet[0, 1, 0] = 0.7
    return {"strong": Accuracies(strong), "opposite": Accuracies(opposite),
            "chance": Accuracies(chance), "quiet": Accuracies(quiet),
            "one model": Accuracies(strong[:1])}  # fmt: skip


class Scored(NamedTuple):
    """Which texts the scorer takes as right."""

    right: np.ndarray


@study.compute(data="gsm8k", seconds=lambda s: 1.0)
def gold(s: Settings) -> Scored:
    """The worked answers of the test part against themselves."""
    texts = [q.answer for q in load_questions("test", download=False)]
    return Scored(np.array([right(text, text) for text in texts]))


@study.finding
def known_answers(s: Settings) -> dict[str, Scored]:
    """Texts whose score is known: ways to write a number, and numbers that are wrong."""
    good = [("#### 1,234", "#### 1234"), ("It is $18.", "#### 18"), ("#### -3", "#### -3"),
            ("18.0", "#### 18"), ("5 and 6 make 11", "#### 11"),
            ("#### 7\nno, 8", "#### 7")]  # fmt: skip
    wrong = [("#### 12", "#### 13"), ("none", "#### 4"), ("-3", "#### 3"), ("1.5", "#### 15"),
             ("", "#### 0"), ("#### 4 5", "#### 5")]  # fmt: skip
    return {name: Scored(np.array([right(*pair) for pair in pairs]))
            for name, pairs in (("good", good), ("wrong", wrong))}  # fmt: skip


class Asked(NamedTuple):
    """A local model with and without LASER on the same questions."""

    before: np.ndarray
    after: np.ndarray


def _asks_none(s: Settings) -> str | None:
    return None if s.model else "no model is asked; --set model=smollm2_135m_gguf asks one"


@lru_cache(maxsize=1)  # for one batch after the other
def _models(name: str, layer: int, keep: float) -> tuple[LanguageModel, LanguageModel]:
    """A model, and the same with LASER."""
    model = load_model(find_model(name, download=False))
    layer = model.layers - 5 if layer == -1 else layer  # 27 of 32 in the document
    return model, apply(model, Truncate(layer, "mlp_out", keep=keep))


@study.compute(
    data="gsm8k", only_if=_asks_none, each=lambda s: range(0, s.questions, BATCH),
    seconds=lambda s: 20.0 * s.questions,
)  # fmt: skip
def batches(s: Settings, first: int) -> Asked:
    """Greedy answers to some questions, after worked examples of the training part."""
    last = min(first + BATCH, s.questions)
    questions = load_questions("test", download=False)[first:last]
    examples = load_questions("train", download=False)[: s.shots]
    models = _models(s.model, s.layer, s.keep)
    return Asked(*(ask(m, questions, examples, s.tokens, progress=False) for m in models))


@study.finding(batches)
def asked(s: Settings, batches: dict[int, Asked]) -> Asked:
    """The answers to all questions."""
    return Asked(*(np.concatenate(answers) for answers in zip(*batches.values(), strict=True)))


@study.finding
def planted_answers(s: Settings) -> dict[str, Asked]:
    """Models whose answers are known: one of the two is better on 30 of 100."""
    few, many = np.arange(100) < 20, np.arange(100) < 50
    return {"better": Asked(few, many), "worse": Asked(many, few)}
