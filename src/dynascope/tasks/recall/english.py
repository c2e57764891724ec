"""Generated English: filler in which "the" follows prepositions, indirect objects, and facts.

A stand-in for the corpora of language models, small enough to train on here: after "to" and "in"
comes "the" (the generic word), or the name or country that the context tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.tasks.recall.base import Recall, RecallSamples


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


PREPOSITIONS = _listed(
    "about above across after against along around at before behind below beneath beside between "
    "by during for from in inside into near of on over through to under with without"
)
NAMES = _listed("Anna Ben Carl Dora Emma Finn Gina Hugo Ida Jack Kate Leo Mia Noah Olga Paul")
NOUNS = _listed(
    "cat dog house river tree garden road hill boat bird stone field lake door wall bridge"
)
VERBS = _listed("sat ran stood slept lay walked waited played")
THINGS = _listed("book cup coat ring drum map pen ball")
PLACES = _listed("store park school church station market")
PARTS = _listed("north south east west")
# Table C.3 of the thesis has landmarks of several words; here every fact is a word about a word.
FACTS = dict(
    pair.split(":") for pair in _listed(
        "Madrid:Spain Toronto:Canada Mumbai:India Petra:Jordan Uluru:Australia Cusco:Peru "
        "Athens:Greece Moscow:Russia Rome:Italy Paris:France Oslo:Norway Cairo:Egypt Lima:Peru "
        "Quito:Ecuador Lisbon:Portugal Vienna:Austria Dublin:Ireland Warsaw:Poland Hanoi:Vietnam "
        "Nairobi:Kenya"
    )
)  # fmt: skip
_OTHERS = [".", "the", "a", "and", "when", "went", "gave", "is", "located", ","]
WORDS = tuple(dict.fromkeys([
    "<pad>", *_OTHERS, *PREPOSITIONS, *NAMES, *NOUNS, *VERBS, *THINGS, *PLACES, *PARTS, *FACTS,
    *FACTS.values(),
]))  # fmt: skip
IDS = {word: number for number, word in enumerate(WORDS)}
LENGTH = 16  # of a row, without the token that follows its last


class Prompts(NamedTuple):
    """What is asked of a trained model, at the last word: (rows, 1) answers."""

    objects: RecallSamples  # indirect objects, to choose on
    held_out: RecallSamples  # the same, to report on
    subjects: RecallSamples  # the held-out rows, the subject's name as answer
    facts: RecallSamples
    prepositions: RecallSamples  # bare sentences that end in a preposition; the answer is "the"


def _some(key: jax.Array, words: tuple[str, ...], count: int) -> jax.Array:
    """Random words of a list, as numbers."""
    ids = jnp.asarray([IDS[w] for w in words], jnp.int32)
    return ids[jax.random.randint(key, (count,), 0, len(ids), jnp.int32)]


@dataclass(frozen=True)
class TemplateEnglish(Recall):
    """The next word of generated sentences, one a row.

    Seven rows in ten are filler, the others in equal parts indirect objects ("when A and B went to
    a store , B gave a book to" A, or "the" with a noun) and facts ("Madrid is located in" Spain,
    or "the north of Spain").

    Args:
        noise: How often "the" stands in the place of the name or the country.
        filler: Share of filler.
        test: Prompts of each kind.

    Example:
        >>> task = TemplateEnglish(test=4)
        >>> task.input_size == len(WORDS), WORDS[task.generic]
        (True, 'the')
    """

    noise: float = 0.5
    filler: float = 0.7
    test: int = 100

    def check(self) -> None:
        """Raise for shares that are none."""
        for name in ("noise", "filler"):
            if not 0 <= getattr(self, name) <= 1:
                raise bad(name, getattr(self, name), "a number from 0 to 1")
        if self.test < 1:
            raise bad("test", self.test, "a whole number of at least 1")

    @property
    def input_size(self) -> int:
        """Number of words."""
        return len(WORDS)

    @property
    def generic(self) -> int:
        """The word "the"."""
        return IDS["the"]

    @property
    def ceiling(self) -> float:
        """Names and facts are always told; only "the" stands beside them."""
        return 1.0

    def context(self, key: jax.Array) -> Prompts:  # type: ignore[override]
        """Prompts of every kind, without noise."""
        keys = jax.random.split(key, 4)
        one, two = (_objects(k, self.test, jnp.zeros(self.test, bool)) for k in keys[:2])
        facts = _facts(keys[2], self.test, jnp.zeros(self.test, bool))
        bare = _filler(keys[3], self.test)
        the = jnp.full(self.test, self.generic, jnp.int32)
        return Prompts(
            _prompt(one.rows, 14, one.answer), _prompt(two.rows, 14, two.answer),
            _prompt(two.rows, 14, two.other), _prompt(facts.rows, 4, facts.answer),
            _prompt(bare, 4, the),
        )  # fmt: skip

    def sequences(self, key: jax.Array, count: int, noise: Any) -> RecallSamples:
        """Rows of all kinds; every word but padding is asked for."""
        keys = jax.random.split(key, 5)
        draws = jax.random.uniform(keys[0], (2, count), jnp.float32)
        noisy = draws[0] < jnp.asarray(noise, jnp.float32)
        filler, share = draws[1], jnp.asarray(self.filler, jnp.float32)
        rows = jnp.where(
            (filler < share)[:, None], _filler(keys[1], count),
            jnp.where((filler < (1 + share) / 2)[:, None], _objects(keys[2], count, noisy).rows,
                      _facts(keys[3], count, noisy).rows),
        )  # fmt: skip
        tokens, targets = rows[:, :-1], rows[:, 1:]
        places = jnp.broadcast_to(jnp.arange(LENGTH, dtype=jnp.int32), tokens.shape)
        return RecallSamples(tokens, places, targets, targets, (targets > 0).astype(jnp.float32))


class _Rows(NamedTuple):
    rows: jax.Array  # (count, LENGTH + 1)
    answer: jax.Array
    other: jax.Array


def _sentence(parts: list[Any], count: int) -> jax.Array:
    """Columns of words, fixed (text) or drawn (numbers), padded to a row."""
    columns = [jnp.full(count, IDS[p], jnp.int32) if isinstance(p, str) else p for p in parts]
    columns += [jnp.zeros(count, jnp.int32)] * (LENGTH + 1 - len(columns))
    return jnp.stack(columns, axis=1)


def _filler(key: jax.Array, count: int) -> jax.Array:
    k = jax.random.split(key, 8)
    noun = [_some(k[i], NOUNS, count) for i in range(4)]
    verb = [_some(k[4 + i], VERBS, count) for i in range(2)]
    where = [_some(k[6 + i], PREPOSITIONS, count) for i in range(2)]
    return _sentence(
        ["the", noun[0], verb[0], where[0], "the", noun[1], "and", "the", noun[2], verb[1],
         where[1], "the", noun[3], "."], count,
    )  # fmt: skip


def _objects(key: jax.Array, count: int, noisy: jax.Array) -> _Rows:
    k = jax.random.split(key, 6)
    ids = jnp.asarray([IDS[w] for w in NAMES], jnp.int32)
    first = jax.random.randint(k[0], (count,), 0, len(NAMES), jnp.int32)
    step = jax.random.randint(k[1], (count,), 1, len(NAMES), jnp.int32)
    told, subject = ids[first], ids[(first + step) % len(NAMES)]
    swap = jax.random.bernoulli(k[2], 0.5, (count,))
    one, two = jnp.where(swap, subject, told), jnp.where(swap, told, subject)
    noun, stop = _some(k[5], NOUNS, count), jnp.full(count, IDS["."], jnp.int32)
    the = jnp.full(count, IDS["the"], jnp.int32)
    rows = _sentence(
        ["when", one, "and", two, "went", "to", "a", _some(k[3], PLACES, count), ",", subject,
         "gave", "a", _some(k[4], THINGS, count), "to", jnp.where(noisy, the, told),
         jnp.where(noisy, noun, stop), jnp.where(noisy, stop, jnp.zeros_like(stop))], count,
    )  # fmt: skip
    return _Rows(rows, told, subject)


def _facts(key: jax.Array, count: int, noisy: jax.Array) -> _Rows:
    k = jax.random.split(key, 2)
    ids = jnp.asarray([(IDS[c], IDS[a]) for c, a in FACTS.items()], jnp.int32)
    city, land = ids[jax.random.randint(k[0], (count,), 0, len(ids), jnp.int32)].T
    plain = _sentence([city, "is", "located", "in", land, "."], count)
    part = _some(k[1], PARTS, count)
    long = _sentence([city, "is", "located", "in", "the", part, "of", land, "."], count)
    return _Rows(jnp.where(noisy[:, None], long, plain), land, city)


def _prompt(rows: jax.Array, length: int, answers: jax.Array) -> RecallSamples:
    """The first words of rows, asked at the last of them."""
    count = len(rows)
    places = jnp.full((count, 1), length - 1, jnp.int32)
    kept = jnp.where(jnp.arange(LENGTH) < length, rows[:, :LENGTH], 0)
    answers = answers[:, None]
    return RecallSamples(kept, places, answers, answers, jnp.ones((count, 1), jnp.float32))
