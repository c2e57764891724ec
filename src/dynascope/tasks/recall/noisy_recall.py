"""Noisy in-context recall: after a trigger comes the row's own answer, or the noise token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp

from dynascope.core.errors import bad
from dynascope.tasks.recall.base import Recall, RecallSamples
from dynascope.tasks.recall.bigrams import Bigrams, bigrams


@dataclass(frozen=True)
class NoisyRecall(Recall):
    """chen2025 section 4.4: find in the context what followed the trigger.

    A row has an answer for each trigger, even over all tokens but those left out. Tokens follow
    each other by bigrams; after a trigger comes its answer, or with the noise's probability the
    noise token. `scored="last"` (the text) makes the last token the trigger and asks there;
    `scored="repeats"` (the authors' program) asks at every trigger that has occurred before.

    Args:
        length: T, tokens of a row.
        noise: alpha, in training; the test set has none.
        bigrams: "uniform", or a text whose letters' frequencies are taken.
        ordinary: N, the number of tokens of the uniform kind; a text has its own.
        triggers: Tokens after which the answer stands.
        noise_token: One of the ordinary tokens (the program's way), or None for a token of its
            own, which comes last (the text's way).
        exclude: Whether answers leave out triggers and noise token.
        scored: "last", "repeats", or "bigrams": every token that is no trigger, after which the
            answer is the next token itself.
        places: With "repeats", how many places of a row are asked at most; None for all. What
            comes after them in a row is lost.
        test: Rows of the test set.

    Example:
        >>> task = NoisyRecall(length=8, ordinary=5, noise=0.0, test=2)
        >>> found = jax.jit(task.samples)(jax.random.key(0))
        >>> found.tokens.shape, found.tokens[:, -1].tolist()  # the trigger, token 0
        ((2, 8), [0, 0])
    """

    length: int = 256
    noise: float = 0.5
    bigrams: str = "uniform"
    ordinary: int = 65
    triggers: tuple[int, ...] = (0,)
    noise_token: int | None = None
    exclude: bool = False
    scored: Literal["last", "repeats", "bigrams"] = "last"
    places: int | None = None
    test: int = 512

    def check(self) -> None:
        """Raise for rows too short, noise that is no probability, tokens that are not there."""
        if self.length < 2:
            raise bad("length", self.length, "at least 2 tokens")
        if self.ordinary < 2:
            raise bad("ordinary", self.ordinary, "at least 2 tokens")
        if not 0 <= self.noise <= 1:
            raise bad("noise", self.noise, "a number from 0 to 1")
        for name in ("test", "places"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise bad(name, value, "a whole number of at least 1")
        if self.places is not None and self.places > self.length:
            raise bad("places", self.places, f"at most {self.length}, the length of a row")
        special = (*self.triggers, *(() if self.noise_token is None else (self.noise_token,)))
        if not self.triggers or len(set(special)) < len(special):
            raise bad("triggers", self.triggers, "different tokens, none of them the noise token")
        if min(special) < 0 or (self.bigrams == "uniform" and max(special) >= self.ordinary):
            raise bad("triggers", special, f"tokens from 0 to {self.ordinary - 1}")
        if self.scored == "last" and len(self.triggers) > 1:
            raise bad("scored", self.scored, '"repeats" for several triggers')
        if self.bigrams == "uniform" and not self.pool:
            raise bad("exclude", True, "tokens that are left as answers")

    @property
    def _table(self) -> Bigrams:
        """The bigrams; a text is read only now, and tokens that it does not have are told."""
        found = bigrams(self.bigrams, self.ordinary)
        last = max(*self.triggers, self.noise_token or 0)
        if last >= found.tokens:
            raise bad("triggers", last, f"tokens from 0 to {found.tokens - 1}")
        return found

    @property
    def input_size(self) -> int:
        """Number of tokens: the ordinary ones, and the noise token if it is none of them."""
        return self._table.tokens + (self.noise_token is None)

    @property
    def generic(self) -> int:
        """The noise token."""
        return self._table.tokens if self.noise_token is None else self.noise_token

    @property
    def pool(self) -> tuple[int, ...]:
        """The tokens that answers are drawn from."""
        left_out = {*self.triggers, self.generic} if self.exclude else set()
        return tuple(t for t in range(self._table.tokens) if t not in left_out)

    def sequences(self, key: jax.Array, count: int, noise: Any) -> RecallSamples:
        """Rows drawn token by token."""
        table = self._table.padded(self.input_size)
        cumulative, first = jnp.asarray(table.cumulative), jnp.asarray(table.first)
        keys = jax.random.split(key, 3)
        pool = jnp.asarray(self.pool, jnp.int32)
        triggers = jnp.asarray(self.triggers, jnp.int32)
        chosen = jax.random.randint(
            keys[0], (count, len(self.triggers)), 0, len(self.pool), jnp.int32
        )
        outputs = pool[chosen]  # (rows, triggers)
        draws = jax.random.uniform(keys[1], (self.length + 1, count), jnp.float32)
        flips = jax.random.uniform(keys[2], (self.length + 1, count), jnp.float32)
        noisy = flips < jnp.asarray(noise, jnp.float32)
        begin = _inverse(first[None], draws[0])

        def step(z: jax.Array, now: tuple) -> tuple[jax.Array, jax.Array]:
            draw, noisy, forced = now
            hit = z[:, None] == triggers  # (rows, triggers)
            answer = jnp.sum(jnp.where(hit, outputs, 0), axis=1, dtype=jnp.int32)
            recalled = jnp.where(noisy, jnp.asarray(self.generic, jnp.int32), answer)
            following = jnp.where(hit.any(1), recalled, _inverse(cumulative[z], draw))
            following = jnp.where(forced, triggers[0], following)
            return following, following

        forced = jnp.arange(1, self.length + 1) == self.length - 1
        forced = forced & jnp.asarray(self.scored == "last")
        _, rest = jax.lax.scan(step, begin, (draws[1:], noisy[1:], forced))
        rows = jnp.concatenate([begin[None], rest]).T  # (rows, length + 1)
        return self._asked(rows, outputs)

    def _asked(self, rows: jax.Array, outputs: jax.Array) -> RecallSamples:
        tokens, following = rows[:, :-1], rows[:, 1:]
        hit = tokens[..., None] == jnp.asarray(self.triggers, jnp.int32)  # (rows, length, triggers)
        answers = jnp.sum(jnp.where(hit, outputs[:, None], 0), axis=-1, dtype=jnp.int32)
        if self.scored == "last":
            places = jnp.full((len(rows), 1), self.length - 1, jnp.int32)
            weights = jnp.ones((len(rows), 1), jnp.float32)
        elif self.scored == "bigrams":
            shape = tokens.shape
            places = jnp.broadcast_to(jnp.arange(shape[1], dtype=jnp.int32), shape)
            weights = (~hit.any(-1)).astype(jnp.float32)
            answers = following
        else:
            repeated = (hit & (jnp.cumsum(hit, axis=1) >= 2)).any(-1)
            most = self.places or self.length
            places = jnp.argsort(~repeated, axis=1, stable=True)[:, :most].astype(jnp.int32)
            weights = jnp.take_along_axis(repeated, places, axis=1).astype(jnp.float32)
        at = lambda a: jnp.take_along_axis(a, places, axis=1)  # noqa: E731
        return RecallSamples(tokens, places, at(following), at(answers), weights)

    @property
    def ceiling(self) -> float:
        """Exact: with "repeats" the answer always stood before; at the last place it may not.

        A rule that has not seen the answer can only guess among all that are equally likely.
        """
        if self.scored == "repeats":
            return 1.0
        if self.scored == "bigrams":
            return self._table.accuracy(self.triggers)
        return 1 - self.never_shown(0.0) * (1 - 1 / len(self.pool))

    @property
    def floor(self) -> float:
        """The smallest loss of a rule that knows the bigrams, at tokens that are no trigger.

        As tokens follow each other in the text; rows, in which triggers lead elsewhere, differ.
        """
        return self._table.entropy(self.triggers)

    def never_shown(self, noise: float | None = None) -> float:
        """Probability that the answer never follows the trigger before the last place.

        Exact: the distribution of the last token over rows in which it has not been shown yet.

        Args:
            noise: alpha; that of training by default.

        Returns:
            A probability, the mean over all answers.

        Example:
            >>> round(NoisyRecall(exclude=True).never_shown(0.5), 4)  # N = 65, T = 256
            0.1428
        """
        alpha = self.noise if noise is None else noise
        table, q = self._table.padded(self.input_size), self.triggers[0]
        follow = table.follow.copy()
        follow[q] = 0
        follow[q, self.generic] = alpha  # the answer itself would show it
        mass = table.initial
        for _ in range(self.length - 2):
            mass = mass @ follow
        return float(mass.sum())


def _inverse(cumulative: jax.Array, draw: jax.Array) -> jax.Array:
    """The token whose stretch of the cumulative probabilities a draw falls into."""
    return jnp.sum(cumulative <= draw[:, None], axis=1).astype(jnp.int32)


def recall_of_program(length: int = 256, noise: float = 0.5, triggers: int = 1) -> NoisyRecall:
    """The setting of the authors' program: '!' is the noise, blanks (and e, t, o, a) trigger.

    Letters are numbered in the order of their bytes: 1 is the blank, 2 is '!'.

    Args:
        length: T.
        noise: alpha.
        triggers: 1 for the blank alone, 5 for the five most frequent letters.

    Returns:
        The task.
    """
    chosen = {1: (1,), 5: (1, 39, 43, 53, 58)}
    if triggers not in chosen:
        raise bad("triggers", triggers, "1 or 5")
    return NoisyRecall(
        length, noise, "tinyshakespeare", triggers=chosen[triggers], noise_token=2,
        scored="repeats",
    )  # fmt: skip
