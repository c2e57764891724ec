"""What an optimiser of optax does to a gradient: its response is measured, as it cannot be read.

A transformation of optax keeps its settings in closures; its state has second moments and momenta
alone. But the step that it takes is known for any gradient: here it is asked for the step under a
gradient that changes sign every time, as it does at the edge of stability (`rules`), with second
moments held where they are. The gradient is so small that its square is zero, and the parameters
are taken as zero, so that weight decay has no part in it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from dynascope.watching.rules import UpdateRule, averages, sums

TINY = 1e-20
ALIKE = 1e-3  # up to rounding of float32, in a ratio of responses


class Kind(NamedTuple):
    """A state of optax: what it is called, and which of its fields are what."""

    name: str
    momentum: str = ""  # the field that answers to the gradient itself
    held: tuple[str, ...] = ()  # fields that are divided by


KINDS = {
    "ScaleByAdamState": Kind("Adam", "mu", ("nu",)),
    "ScaleByAmsgradState": Kind("AMSGrad", "mu", ("nu", "nu_max")),
    "ScaleByRmsState": Kind("RMSprop", "", ("nu",)),
    "ScaleByRmsWithCountState": Kind("RMSprop", "", ("nu",)),
    "ScaleByRStdDevState": Kind("centered RMSprop", "", ("nu", "mu")),
    "ScaleByRStdDevWithCountState": Kind("centered RMSprop", "", ("nu", "mu")),
    "ScaleByRssState": Kind("Adagrad", "", ("sum_of_squares",)),
    "TraceState": Kind("momentum", "trace"),
}
SMALL = 1e-3  # of the weights, as a gradient that no clipping touches


def rate_of(state: Any) -> float:
    """The learning rate that `optax.inject_hyperparams` keeps in a state; NaN without."""
    settings = getattr(state, "hyperparams", {})
    return float(settings.get("learning_rate", math.nan))


def response(
    transform: Any, state: Any, params: Any, rate: float
) -> tuple[UpdateRule, jax.Array | None]:
    """How an optimiser answers to the gradient.

    Args:
        transform: The `optax.GradientTransformation`.
        state: Its state now.
        params: The weights, for their shapes.
        rate: The learning rate; `limit / eigenvalue` of the scaled curvature is then the critical
            one. Rates of other groups are taken to be scaled alike.

    Returns:
        The rule, and D for it, one number per parameter: None where all are 1, if the rule is not
        known, and before the first step of one that has second moments.
    """
    found = [KINDS[type(node).__name__] for node in _known(state)]
    names = _named(found)
    if (stranger := _stranger(state)) is not None:
        return UpdateRule(f"the {stranger} of optax", through=math.nan), None
    preconditioned = any(kind.held for kind in found)
    if preconditioned and not _has_moved(state):
        return UpdateRule(names, preconditioned=True), None
    turning, steady, kept, steps, linear = _answers(transform, state, params)
    if not bool(linear):
        return UpdateRule("a step that is not proportional to its gradient", through=math.nan), None
    rule = _rule(names, found, turning, steady, float(kept), float(steps))
    scaling = turning * rule.limit / (2 * rate)
    alike = not preconditioned and bool(jnp.all(jnp.abs(scaling - 1) <= ALIKE))
    return rule, None if alike else scaling


def _named(found: list[Kind]) -> str:
    """A chain of states in words."""
    first = [kind.name for kind in found if kind.held] or ["gradient descent"]
    after = [kind.name for kind in found if not kind.held]
    return " with ".join(dict.fromkeys([*first, *after]))


def _rule(
    name: str, found: list[Kind], turning: jax.Array, steady: jax.Array, b: float, steps: float
) -> UpdateRule:
    """The rule in words; where groups differ, one of limit 2, and all else is in the scaling."""
    preconditioned = any(kind.held for kind in found)
    ratios = jnp.where(turning > 0, steady / jnp.where(turning > 0, turning, 1), jnp.nan)
    least, most = float(jnp.nanmin(ratios)), float(jnp.nanmax(ratios))
    memories = [kind for kind in found if kind.momentum]
    if len(memories) > 1 or most > (1 + ALIKE) * least:
        told = f"{name}, groups each by its own rule"
        return UpdateRule(told, preconditioned=preconditioned)
    if not memories:
        return UpdateRule(name, preconditioned=preconditioned)
    nesterov = abs(least / (1 + b) - 1) > ALIKE
    if not memories[0].held:
        told = f"{name} {b:.3g}" + (" (Nesterov)" if nesterov else "")
        return replace(sums(told, b, nesterov), preconditioned=preconditioned)
    if not nesterov:
        return averages(name, b, steps)
    direct, through = (1 - b) / (1 - b**steps), b / (1 - b ** (steps + 1))
    return UpdateRule(f"{name} (Nesterov)", b, 1 - b, direct, through, preconditioned=True)


@partial(jax.jit, static_argnums=0)
def _answers(transform: Any, state: Any, params: Any) -> tuple[jax.Array, ...]:
    """Steps under a gradient that turns every time and from momentum zero; what momentum keeps."""
    zero = jax.tree.map(lambda w: jnp.zeros(w.shape, jnp.float32), params)
    slope = jax.tree.map(lambda w: jnp.full(w.shape, TINY, jnp.float32), params)
    _, after = transform.update(zero, state, zero)
    held = _holding(state, after)

    def stepped(gradient: Any, memory: list) -> tuple[jax.Array, list]:
        move, new = transform.update(gradient, _with(held, memory), zero)
        return -ravel_pytree(move)[0] / TINY, _memory(new)

    empty = jax.tree.map(jnp.zeros_like, _memory(state))
    steady, first = stepped(slope, empty)
    _, second = stepped(zero, first)
    kept = jax.tree.map(
        lambda a, b: jnp.where(a == 0, 0, b / jnp.where(a == 0, 1, a)), first, second
    )
    turned = jax.tree.map(lambda m, b: -m / (1 + b), first, kept)
    turning, back = stepped(slope, turned)
    twice, _ = stepped(jax.tree.map(lambda g: 2 * g, slope), empty)
    same = lambda a, b: jnp.all(jnp.abs(a - b) <= ALIKE * jnp.abs(b))  # noqa: E731
    returns = [same(-new, old) for new, old in zip(jax.tree.leaves(back), jax.tree.leaves(turned))]
    whole = _proportional(transform, held, params)
    linear = jnp.all(jnp.stack([same(twice, 2 * steady), jnp.all(turning >= 0), whole, *returns]))
    shares = [leaf.reshape(-1)[0] for leaf in jax.tree.leaves(kept)]
    counts = [node.count for node in _known(state) if "count" in node._fields]
    share = shares[0] if shares else jnp.zeros(())
    return turning, steady, share, counts[0] if counts else jnp.zeros(()), linear


def _proportional(transform: Any, held: Any, params: Any) -> jax.Array:
    """Whether at these weights twice the momentum, or gradient, makes twice the step.

    Steps that are scaled by the length of the weights (LAMB, LARS) are none of that kind.
    """
    memory = _memory(held)
    empty = jax.tree.map(jnp.zeros_like, memory)
    zero = jax.tree.map(jnp.zeros_like, params)
    divided = any(KINDS[type(node).__name__].held for node in _known(held))

    def moved(times: float) -> jax.Array:
        gradient = zero if divided else jax.tree.map(lambda w: times * SMALL * w, params)
        momenta = jax.tree.map(lambda m: times * m, memory) if divided else empty
        return ravel_pytree(transform.update(gradient, _with(held, momenta), params)[0])[0]

    none, once, twice = moved(0.0), moved(1.0), moved(2.0)
    length = jnp.linalg.norm
    return length(twice - 2 * once + none) <= 0.1 * length(once - none) + 1e-4 * length(none)


def _is_known(node: Any) -> bool:
    return type(node).__name__ in KINDS


def _known(state: Any) -> list[Any]:
    return [node for node in jax.tree.leaves(state, is_leaf=_is_known) if _is_known(node)]


def _stranger(state: Any) -> str | None:
    """The name of a state within this one that remembers gradients in a way not known here."""
    if _is_known(state):
        return None
    for part in jax.tree.leaves(state, is_leaf=lambda n: n is not state and _is_state(n)):
        if _is_state(part):
            if (name := _stranger(part)) is not None:
                return name
        elif getattr(part, "ndim", 0):
            return type(state).__name__
    return None


def _is_state(node: Any) -> bool:
    return isinstance(node, tuple) and hasattr(node, "_fields")


def _has_moved(state: Any) -> bool:
    """Whether second moments are there: they begin at zero, or their count does."""
    nodes = [node for node in _known(state) if KINDS[type(node).__name__].held]
    counts = [int(node.count) for node in nodes if "count" in node._fields]
    field = lambda node: getattr(node, KINDS[type(node).__name__].held[0])  # noqa: E731
    some = any(bool(jnp.any(leaf > 0)) for node in nodes for leaf in jax.tree.leaves(field(node)))
    return some and all(counts)


def _holding(state: Any, after: Any) -> Any:
    """The state from which a step without gradient leads to the second moments of this one."""

    def before(node: Any, next_one: Any) -> Any:
        if not _is_known(node):
            return node
        changed = {}
        for name in KINDS[type(node).__name__].held:
            shrunk = lambda v, w: jnp.where(w != 0, v * (v / jnp.where(w != 0, w, 1)), v)  # noqa: E731
            changed[name] = jax.tree.map(shrunk, getattr(node, name), getattr(next_one, name))
        if "count" in node._fields:
            changed["count"] = node.count - 1
        return node._replace(**changed)

    return jax.tree.map(before, state, after, is_leaf=_is_known)


def _memory(state: Any) -> list[Any]:
    """The momenta of a state."""
    fields = [(node, KINDS[type(node).__name__].momentum) for node in _known(state)]
    return [getattr(node, field) for node, field in fields if field]


def _with(state: Any, memory: list[Any]) -> Any:
    """The state with other momenta."""
    left = iter(memory)

    def put(node: Any) -> Any:
        field = KINDS[type(node).__name__].momentum if _is_known(node) else ""
        return node._replace(**{field: next(left)}) if field else node

    return jax.tree.map(put, state, is_leaf=_is_known)
