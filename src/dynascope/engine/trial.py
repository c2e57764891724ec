"""A user's own task, model, rule and probes, tried once before anything is compiled.

Only shapes are worked out, nothing is computed. What comes back in the wrong form is said in one
line; an error that the user's code raises stays that error, with a note that says where it was
called from, and on what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp

from dynascope.core.errors import BadInput, DynascopeError
from dynascope.core.randomness import key_for
from dynascope.core.spec import is_ours
from dynascope.dynamics import Dynamics
from dynascope.dynamics.base import Descent
from dynascope.dynamics.optax_rules import Optax
from dynascope.models import FunctionModel, Model
from dynascope.models.base import Network
from dynascope.probes.base import Probe, Snapshot
from dynascope.runtime.precision import cast, foreign, precision
from dynascope.tasks import Task


def try_once(
    task: Task, model: Model, rule: Dynamics, probes: tuple[Probe, ...], dtype: str
) -> None:
    """Raise in one line what a user's own code would make the engine stumble over."""
    own = [piece for piece in (task, model, rule, *probes) if _own(piece)]
    if not own:
        return
    with precision(dtype), foreign():
        sizes = _sizes(task)
        network = _network(model, sizes)
        params = _params(model, network, dtype)
        data = _data(task, dtype)
        if task.exact or model.accepts("graphs"):
            return  # ours: statistics or graphs instead of samples
        seen = _Seen(network)
        _loss(task, seen, params, data[0])
        if isinstance(rule, Descent) and _own(rule):
            _rule(rule, params)
        for probe in filter(_own, probes):
            _probe(probe, Snapshot(task, network, params, *data))


def _own(piece: Any) -> bool:
    """Whether a piece is, or holds, code of the user's own."""
    return not is_ours(type(piece)) or isinstance(piece, FunctionModel | Optax)


@contextmanager
def _calling(what: str, on: Callable[[], str] = lambda: "") -> Iterator[None]:
    """Errors of the user's code get a note; missing methods become one line."""
    try:
        yield
    except DynascopeError:
        raise
    except Exception as error:
        error.add_note(f"dynascope: raised by {what}, tried once before the run{on()}")
        raise


def _sizes(task: Task) -> tuple[int, int]:
    found = []
    for name in ("input_size", "output_size"):
        try:
            size = getattr(task, name)
        except NotImplementedError:
            raise BadInput(f"your task {_name(task)} has no {name}; write {name} = 1") from None
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise BadInput(
                f"{name} of your task {_name(task)} is {size!r}, expected a whole number"
            )
        found.append(int(size))
    return found[0], found[1]


def _network(model: Model, sizes: tuple[int, int]) -> Network:
    if type(model).build is Model.build:
        raise BadInput(f"your model {_name(model)} has no build(inputs, outputs); see models.Model")
    with _calling(f"build of your model {_name(model)}"):
        network = model.build(*sizes)
    if not isinstance(network, Network):
        raise BadInput(
            f"build of your model {_name(model)} returned {_form(network)}, "
            "expected models.base.Network(init, apply)"
        )
    return network


def _params(model: Model, network: Network, dtype: str) -> Any:
    with _calling(f"init of your model {_name(model)}"):
        params = jax.eval_shape(lambda: cast(network.init(key_for(0, "init")), dtype))
    leaves = jax.tree.leaves(params)
    if not leaves:
        raise BadInput(f"init of your model {_name(model)} returned no arrays: nothing to train")
    for leaf in leaves:
        if not jnp.issubdtype(leaf.dtype, jnp.inexact):
            raise BadInput(
                f"init of your model {_name(model)} returned {_form(leaf)}, expected floating "
                "numbers: whole ones cannot be trained"
            )
    return params


def _data(task: Task, dtype: str) -> tuple[Any, Any]:
    if not task.has("samples"):
        raise BadInput(f"your task {_name(task)} has no samples(key); see tasks.Task")
    if not (task.has("loss") or task.has("random_loss")):
        raise BadInput(f"your task {_name(task)} has no loss(predict, samples); see tasks.Task")
    with _calling(f"samples of your task {_name(task)}"):
        samples = jax.eval_shape(lambda: cast(task.samples(key_for(0, "data")), dtype))
        context = jax.eval_shape(lambda: cast(task.context(key_for(0, "data")), dtype))
    leaves = jax.tree.leaves(samples)
    if not leaves or any(not leaf.shape for leaf in leaves):
        raise BadInput(
            f"samples of your task {_name(task)} returned {_form(samples)}, expected arrays with "
            "one row a sample"
        )
    return samples, context


class _Seen:
    """Binds parameters like a network, and remembers what it was called on."""

    def __init__(self, network: Network) -> None:
        self.network, self.calls = network, list[str]()

    def bind(self, params: Any) -> Any:
        """The predictor of these parameters."""

        def apply(params: Any, x: jax.Array) -> jax.Array:
            self.calls.append(f"predict got {_form(x)}")
            y = self.network.apply(params, x)
            self.calls[-1] += f" and returned {_form(y)}"
            return y

        return Network(self.network.init, apply, self.network.matrix).bind(params)

    def words(self) -> str:
        """What happened so far."""
        return f" ({'; '.join(self.calls)})" if self.calls else ""


def _loss(task: Task, seen: _Seen, params: Any, samples: Any) -> None:
    with _calling(f"loss of your task {_name(task)}", seen.words):
        found = jax.eval_shape(lambda p, s: task.loss(seen.bind(p), s), params, samples)
    if not hasattr(found, "shape") or found.shape:
        raise BadInput(
            f"your loss returned {_form(found)}, expected a scalar: one number, such as "
            f"jnp.mean(...){seen.words()}"
        )
    if not jnp.issubdtype(found.dtype, jnp.floating):
        raise BadInput(f"your loss returned {_form(found)}, expected a floating number")


def _rule(rule: Descent, params: Any) -> None:
    with _calling(f"the optimiser of {_name(rule)}"):
        made = rule.optimizer()
        if not (hasattr(made, "init") and hasattr(made, "update")):
            raise BadInput(
                f"the optimiser of {_name(rule)} is {_form(made)}, expected an optax optimiser: "
                "a pair of init and update"
            )
        updates = jax.eval_shape(lambda p: made.update(p, made.init(p), p)[0], params)
    one, other = map(_structure, (updates, params))
    if one != other:
        raise BadInput(f"update of {_name(rule)} returned {_form(updates)}, expected one array per "
                       f"parameter: {_form(params)}")  # fmt: skip


def _probe(probe: Probe, snapshot: Snapshot) -> None:
    if type(probe).measure is Probe.measure and type(probe).remeasure is Probe.remeasure:
        raise BadInput(f"your probe {_name(probe)} has no measure(snapshot); see probes.Probe")

    def measure(params: Any, samples: Any, context: Any) -> Any:
        now = snapshot._replace(params=params, samples=samples, context=context)
        value = probe.measure(now)
        if not hasattr(value, "shape") and not isinstance(value, int | float):
            raise BadInput(
                f"your probe {_name(probe)} returned {_form(value)}, expected one array or number"
            )
        return value

    with _calling(f"measure of your probe {_name(probe)}"):
        found = jax.eval_shape(measure, snapshot.params, snapshot.samples, snapshot.context)
    dims = probe.dims(snapshot.task)
    if (probe.quantity or dims) and len(dims) != len(found.shape):
        raise BadInput(
            f"your probe {_name(probe)} returned {_form(found)}, but its axes are {dims}"
        )


def _structure(tree: Any) -> Any:
    return jax.tree.structure(tree)


def _name(piece: Any) -> str:
    return type(piece).__name__


def _form(value: Any) -> str:
    """Shape and type of an array; of anything else what it is."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"shape {tuple(value.shape)} of {value.dtype}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_form(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(_form, value)) + ")"
    return "nothing (None)" if value is None else f"a {type(value).__name__}"
