"""The critical rate of optimisers of optax: on a quadratic, below it converges, above diverges."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import dynascope
from compiling import quick  # tests is on the path
from dynascope.core.errors import BadInput
from dynascope.watching.optax_rules import KINDS, response

COUPLED = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -0.7], [0.5, -0.7, 4.0]])
HELD = {"a": jnp.array([0.04, 0.09]), "b": jnp.array([0.25])}
RATE = 0.05


def start():
    return {"a": jnp.array([1e-3, -1e-3]), "b": jnp.array([2e-3])}


def held(state):
    """The state with second moments as after many steps; they are put there after every step."""

    def fixed(node):
        kind = KINDS.get(type(node).__name__)
        if kind is None or not kind.held:
            return node
        changed = {name: HELD for name in kind.held}
        if kind.name == "centered RMSprop":
            changed["mu"] = jax.tree.map(jnp.zeros_like, HELD)
        if "count" in node._fields:
            changed["count"] = jnp.asarray(100_000)
        return node._replace(**changed)

    return jax.tree.map(fixed, state, is_leaf=lambda n: type(n).__name__ in KINDS)


def groups(rate):
    """Two groups, both with momentum, one of them twice as fast."""
    rules = {"x": optax.sgd(rate, 0.9), "y": optax.sgd(2 * rate, 0.3, nesterov=True)}
    return optax.multi_transform(rules, {"a": "x", "b": "y"})


MAKERS = {
    "descent": (optax.sgd, 2),
    "momentum": (lambda r: optax.sgd(r, 0.9), 3.8),
    "Nesterov": (lambda r: optax.sgd(r, 0.9, nesterov=True), 3.8 / 2.8),
    "Adam": (optax.adam, 38),
    "AdamW": (lambda r: optax.adamw(r, weight_decay=0), 38),
    "Adam without momentum": (lambda r: optax.adam(r, b1=0.0), 2),
    "NAdam": (optax.nadam, 38 / 2.8),
    "RMSprop": (lambda r: optax.rmsprop(r, decay=0.999), 2),
    "RMSprop, centered": (lambda r: optax.rmsprop(r, decay=0.999, centered=True), 2),
    "RMSprop, momentum": (lambda r: optax.rmsprop(r, decay=0.999, momentum=0.9), 3.8),
    "Adagrad": (optax.adagrad, 2),
    "AMSGrad": (optax.amsgrad, 38),
    "clipped": (lambda r: optax.chain(optax.clip_by_global_norm(1.0), optax.adam(r)), 38),
    "rate in the state": (lambda r: optax.inject_hyperparams(optax.adam)(learning_rate=r), 38),
    "groups": (groups, 2),
}


@pytest.mark.parametrize("name", MAKERS)
def test_it_grows_above_the_stated_rate_and_shrinks_below(name):
    make, limit = MAKERS[name]
    transform = make(RATE)
    rule, scaling = response(transform, held(transform.init(start())), start(), RATE)
    assert rule.limit == pytest.approx(limit, rel=1e-3)
    root = np.ones(3) if scaling is None else np.sqrt(np.asarray(scaling, np.float64))
    critical = rule.limit / np.linalg.eigvalsh(root[:, None] * COUPLED * root)[-1]
    for share, grows in ((0.97, False), (1.03, True)):
        assert (final(make(share * critical)) < 1e-2) != grows  # NaN has grown


def final(transform, steps=500):
    """Largest weight at the end, of 2e-3 at the start."""
    matrix = jnp.asarray(COUPLED, jnp.float32)

    def step(carried, _):
        params, state = carried
        slope = matrix @ jnp.concatenate([params["a"], params["b"]])
        change, state = transform.update({"a": slope[:2], "b": slope[2:]}, held(state), params)
        return (optax.apply_updates(params, change), state), None

    begin = start(), held(transform.init(start()))
    (params, _), _ = quick(lambda begin: jax.lax.scan(step, begin, None, steps))(begin)
    return float(jnp.abs(jnp.concatenate([params["a"], params["b"]])).max())


@pytest.mark.parametrize(
    ("transform", "said"),
    [
        (optax.lion(RATE), "ScaleByLionState"),
        (optax.adafactor(RATE), "FactoredState"),
        (optax.sign_sgd(RATE), "not proportional"),
        (optax.lamb(RATE), "not proportional"),
        (optax.lars(RATE), "not proportional"),
        (optax.MultiSteps(optax.adam(RATE), 2), "MultiStepsState"),
        (optax.chain(optax.trace(0.5), optax.trace(0.9)), "not proportional"),
    ],
    ids=["lion", "adafactor", "sign", "lamb", "lars", "accumulated", "two momenta"],
)
def test_a_rule_that_is_not_known_is_not_taken_for_another(transform, said):
    params, state = start(), transform.init(start())
    for _ in range(3):
        _, state = transform.update(params, state, params)
    rule, scaling = response(transform, state, params, RATE)
    assert np.isnan(rule.limit) and said in rule.words() and scaling is None


def test_no_second_moments_no_critical_rate():
    transform = optax.adam(RATE)
    rule, scaling = response(transform, transform.init(start()), start(), RATE)
    assert rule.preconditioned and scaling is None


def linear(params, x):
    return x @ params["w"]


def mean_square(out, targets):
    return jnp.mean((out - targets) ** 2)


def watched(optimizer, given, steps=5, **said):
    """A linear regression trained by Adam for some steps; the record and the last state."""
    x = jax.random.normal(jax.random.key(0), (8, 3))
    params, transform = {"w": jnp.ones((3, 1))}, optax.adam(RATE)
    state = transform.init(params)
    watch = dynascope.watch(
        linear, mean_square, every=1, budget=1e9, store=None, strict=True, optimizer=optimizer,
        tolerance=1e-4,
    )  # fmt: skip
    for _ in range(steps):
        value, slope = jax.value_and_grad(lambda p: mean_square(linear(p, x), x[:, :1]))(params)
        change, state = transform.update(slope, state)
        params = optax.apply_updates(params, change)
        watch(value, batch=(x, x[:, :1]), params=params, optimizer=state if given else None, **said)
    return watch, state[0], np.asarray(2 * x.T @ x / 8, np.float64)


def test_a_watched_adam_has_the_critical_rate_of_its_preconditioned_curvature():
    watch, state, hessian = watched(optax.adam(RATE), True, learning_rate=RATE)
    root = np.asarray(jnp.sqrt(state.nu["w"][:, 0] / (1 - 0.999**5)) + 1e-8, np.float64) ** -0.5
    top = np.linalg.eigvalsh(root[:, None] * hessian * root)[-1]
    data, limit = watch.dataset(), 38 * (1 - 0.9**5)
    assert float(data["scaled_sharpness"][-1]) == pytest.approx(top, rel=1e-3)
    assert float(data["critical_learning_rate"][-1]) == pytest.approx(limit / top, rel=1e-3)
    assert float(data["rate_over_critical"][-1]) == pytest.approx(RATE * top / limit, rel=1e-3)
    assert float(data["sharpness"][-1]) == pytest.approx(np.linalg.eigvalsh(hessian)[-1], rel=1e-3)
    assert "preconditioned sharpness, for Adam" in watch.summary()


def test_what_is_missing_is_said_in_a_line():
    with pytest.raises(BadInput, match="the state of the optax transformation"):
        watched(optax.adam(RATE), False, learning_rate=RATE)
    with pytest.raises(BadInput, match="learning_rate"):
        watched(optax.adam(RATE), True)
    with pytest.raises(BadInput, match=r"an optax\.GradientTransformation"):
        watched("adam", True, learning_rate=RATE)
