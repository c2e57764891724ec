"""Whether task, model and probes fit together, told by name before anything is compiled.

Tasks say what kind of input they offer (`Task.offers`), models what they read
(`Model.accepts`), probes what they need (`Probe.needs`); `check_kinds` compares the first two
when an experiment is made. What nobody has declared shows when the program is traced:
`naming_misfits` finds out which piece it is, and the nearest combination that works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import jax

from dynascope import models
from dynascope.core.errors import BadInput, DynascopeError
from dynascope.core.randomness import key_for
from dynascope.core.spec import is_ours
from dynascope.models import Model
from dynascope.models.base import Network
from dynascope.probes.base import Probe, Snapshot
from dynascope.runtime.precision import cast, precision
from dynascope.tasks import Task

if TYPE_CHECKING:
    from dynascope.engine.experiment import Setup

SHOWN = 4  # models that a message names


def check_kinds(task: Task, model: Model) -> None:
    """Raise `BadInput` where the model cannot read what the task offers."""
    if task.offers is None or model.accepts(task.offers):
        return
    others = [m for m in usual_models() if m.accepts(task.offers)]
    raise _misfit(
        task, model, f"{_name(task)} offers {task.offers}, which it does not read", others
    )


def usual_models() -> list[Model]:
    """Every model of ours that needs no settings, as it is by default."""
    found = []
    for name in models.__all__:
        cls = getattr(models, name)
        if isinstance(cls, type) and issubclass(cls, Model) and cls.build is not Model.build:
            try:
                found.append(cls())
            except (TypeError, BadInput):  # it cannot do without settings
                continue
    return found


@contextmanager
def naming_misfits(setup: Setup, dtype: str) -> Iterator[None]:
    """Turn an error from inside a traced program into a line that names the piece.

    Where the user's own code takes part the error stays as it is: it is theirs to read.
    """
    try:
        yield
    except (DynascopeError, MemoryError):
        raise
    except Exception as error:
        pieces = (setup.task, setup.model, setup.dynamics, *setup.probes)
        if not all(is_ours(type(piece)) for piece in pieces):
            raise
        named = _diagnosis(setup, dtype)
        if named is None:
            raise
        raise named from error


def trace_loss(task: Task, network: Network, dtype: str) -> None:
    """Trace the loss and its gradient; raises what tracing raises."""

    def of_seed(key: jax.Array) -> Any:
        samples = cast(task.samples(key), dtype)
        params = cast(network.init(key), dtype)
        return jax.grad(lambda p: task.loss(network.bind(p), samples))(params)

    jax.eval_shape(of_seed, key_for(0, "data"))


def _diagnosis(setup: Setup, dtype: str) -> BadInput | None:
    """The piece that cannot be traced, or None if each of them can."""
    task, model = setup.task, setup.model
    with precision(dtype):
        if reason := _failure(lambda: _trace(task, model, dtype)):
            fitting = (m for m in usual_models() if not _failure(lambda: _trace(task, m, dtype)))  # noqa: B023
            others = [m for m, _ in zip(fitting, range(SHOWN), strict=False)]
            return _misfit(task, model, reason, others)
        for probe in setup.probes:
            if reason := _failure(lambda: _measure(task, model, probe, dtype)):  # noqa: B023
                here = f"{_name(model)} on {_name(task)}"
                rest = [_name(p) for p in setup.probes if p != probe] or ["Loss"]
                return BadInput(
                    f"probe {_name(probe)} cannot measure {here} ({reason}); leave it out: "
                    f"{', '.join(rest)} can"
                )
    return None


def _trace(task: Task, model: Model, dtype: str) -> None:
    trace_loss(task, model.build(task.input_size, task.output_size), dtype)


def _measure(task: Task, model: Model, probe: Probe, dtype: str) -> None:
    network = model.build(task.input_size, task.output_size)

    def of_seed(key: jax.Array) -> Any:
        data = cast((task.samples(key), task.context(key)), dtype)
        snapshot = Snapshot(task, network, cast(network.init(key), dtype), *data)
        return probe.remeasure(snapshot, cast(probe.memory(snapshot), dtype))[0]

    jax.eval_shape(of_seed, key_for(0, "data"))


def _failure(call: Callable[[], None]) -> str | None:
    """Why a call cannot be traced, in a few words."""
    try:
        call()
    except Exception as error:
        line = str(error).strip().split("\n")[0]
        return " ".join(f"{type(error).__name__}: {line}".split())[:120]
    return None


def _misfit(task: Task, model: Model, reason: str, others: list[Model]) -> BadInput:
    names = [_name(m) for m in others[:SHOWN]]
    if task.offers in ("tokens", "asked tokens"):  # by default a transformer reads pictures
        names.append('Transformer(tokens=Words(), read="every")')
    near = ", ".join(names)
    advice = f"models that do: {near}" if near else "no model of the catalogue does as it is"
    return BadInput(f"{_name(model)} cannot learn {_name(task)} ({reason}); {advice}")


def _name(piece: Any) -> str:
    return type(piece).__name__
