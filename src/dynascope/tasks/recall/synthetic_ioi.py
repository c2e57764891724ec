"""Synthetic indirect objects: of two names after a trigger, the one that stood there only once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dynascope.core.errors import bad
from dynascope.tasks.recall.base import Recall, RecallSamples

TIMES = 3  # the trigger occurs before the end


@dataclass(frozen=True)
class SyntheticIOI(Recall):
    """chen2025 app. C.8: three triggers, one followed by the answer, two by a distractor.

    The last token is the trigger again, and what is asked is the name that followed it less
    often (the thesis's words say "more", its construction says less). Answer and distractor
    differ, and neither is the trigger. All other tokens are even over all but the trigger.

    Args:
        length: T, at least 9.
        noise: How often the noise token stands in the place of the answer in training; the
            thesis does not say.
        ordinary: N; the noise token is one more.
        test: Rows of the test set.

    Example:
        >>> task = SyntheticIOI(length=12, ordinary=6, noise=0.0, test=4)
        >>> found = jax.jit(task.samples)(jax.random.key(0))
        >>> np.array_equal(rarer(found.tokens, 0), found.answers[:, 0])
        True
    """

    length: int = 256
    noise: float = 0.5
    ordinary: int = 65
    test: int = 512

    def check(self) -> None:
        """Raise for rows that do not hold three triggers apart, and too few names."""
        if self.length < 9:
            raise bad("length", self.length, "at least 9 tokens, for three triggers apart")
        if self.ordinary < 3:
            raise bad("ordinary", self.ordinary, "at least 3: a trigger and two names")
        if not 0 <= self.noise <= 1:
            raise bad("noise", self.noise, "a number from 0 to 1")
        if self.test < 1:
            raise bad("test", self.test, "a whole number of at least 1")

    @property
    def input_size(self) -> int:
        """Ordinary tokens and the noise token; the trigger is token 0."""
        return self.ordinary + 1

    @property
    def generic(self) -> int:
        """The noise token, the last."""
        return self.ordinary

    @property
    def ceiling(self) -> float:
        """The rarer name is always there."""
        return 1.0

    def sequences(self, key: jax.Array, count: int, noise: Any) -> RecallSamples:
        """Rows with the triggers at random places."""
        keys = jax.random.split(key, 5)
        n, last = self.ordinary, self.length - 1
        fill = jax.random.randint(
            keys[0], (count, self.length), 1, n + 1, jnp.int32
        )  # all but the trigger
        # Sorted places with gaps of at least two before the last: places of a shorter row, shifted.
        free = last - 1 - 2 * (TIMES - 1) + (TIMES - 1)
        scores = jax.random.uniform(keys[1], (count, free), jnp.float32)
        shifts = jnp.arange(TIMES, dtype=jnp.int32)
        places = jnp.sort(jnp.argsort(scores, axis=1)[:, :TIMES].astype(jnp.int32), axis=1) + shifts
        answer = jax.random.randint(keys[2], (count,), 1, n, jnp.int32)
        step = jax.random.randint(keys[3], (count,), 1, n - 1, jnp.int32)
        distractor = (answer - 1 + step) % (n - 1) + 1  # another name
        draws = jax.random.uniform(keys[4], (2, count), jnp.float32)
        which = jnp.floor(draws[0] * TIMES).astype(jnp.int32)  # the trigger that the answer follows
        follows = jnp.where(shifts == which[:, None], answer[:, None], distractor[:, None])
        row = jnp.arange(count)[:, None]
        tokens = fill.at[row, places + 1].set(follows).at[row, places].set(0).at[:, last].set(0)
        noisy = draws[1] < jnp.asarray(noise, jnp.float32)
        target = jnp.where(noisy, jnp.asarray(self.generic, jnp.int32), answer)
        ones = jnp.ones((count, 1), jnp.float32)
        asked = jnp.full((count, 1), last, jnp.int32)
        return RecallSamples(tokens, asked, target[:, None], answer[:, None], ones)


def rarer(tokens: Any, trigger: int = 0) -> np.ndarray:
    """The oracle: of the tokens that follow the trigger, the one that does so least often."""
    return _counted(tokens, trigger, 1)


def commoner(tokens: Any, trigger: int = 0) -> np.ndarray:
    """The rule that the thesis's words describe: the one that follows it most often."""
    return _counted(tokens, trigger, -1)


def _counted(tokens: Any, trigger: int, sign: int) -> np.ndarray:
    found = []
    for row in np.asarray(tokens):
        after = row[1:][row[:-1] == trigger]
        names, counts = np.unique(after, return_counts=True)
        found.append(names[np.argmin(sign * counts)])
    return np.array(found)
