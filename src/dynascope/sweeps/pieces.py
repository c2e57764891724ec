"""Experiments put together from the names of their pieces, as the command line has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from dynascope import dynamics, models, probes, tasks, theories
from dynascope.core.errors import BadInput, unknown
from dynascope.core.spec import Spec
from dynascope.engine import Experiment
from dynascope.engine.experiment import Bare, make_experiment
from dynascope.sweeps.changes import with_changes

ROOMS: dict[str, tuple[ModuleType, type[Spec]]] = {
    "tasks": (tasks, tasks.Task),
    "models": (models, models.Model),
    "dynamics": (dynamics, dynamics.Dynamics),
    "probes": (probes, probes.Probe),
    "theories": (theories, theories.Theory),
}
# Random starts of 001 Fig. 5, as the text has them: about a third of the seeds swing by.
SWING_BY: dict[str, Spec] = {
    "task": tasks.IdentityMapping(means=(1.0, 1.5), scales=(0.05, 0.05, 0.05)),
    "model": models.TiedLinear(width=3, init_scale=0.2, init="uniform"),
    "dynamics": dynamics.GradientDescent(learning_rate=0.005),
}
STEPS, TIME = 4000, 20.0  # of that setting: 4000 steps of 0.005


def catalogue(room: str) -> dict[str, type[Spec]]:
    """The classes of a room that can be used as they are, by name.

    Example:
        >>> catalogue("models")["TiedLinear"].__name__
        'TiedLinear'
    """
    if room not in ROOMS:
        raise unknown("room", room, ROOMS)
    module, base = ROOMS[room]
    public = [getattr(module, name) for name in module.__all__]
    usable = [c for c in public if isinstance(c, type) and issubclass(c, base)]
    return {c.__name__: c for c in usable if not c.__module__.endswith(".base")}


def assemble(
    names: Mapping[str, str] | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    over: Mapping[str, Iterable[Any]] | None = None,
    steps: int | None = None,
    time: float | None = None,
    probes: Iterable[str] = ("Loss", "TestLoss"),
    seeds: int = 32,
) -> Experiment:
    """The experiment of pieces that are named; what is not named is the swing-by setting.

    Args:
        names: Class names for "task", "model" and "dynamics".
        changes: Settings by path, such as `{"model.width": 2, "record.points": 200}`.
        over: Values of every sweep axis by path.
        steps: Number of steps, for discrete dynamics; 4000 by default.
        time: Length in gradient-flow time, for flows; 20 by default.
        probes: Class names of the probes.
        seeds: Number of seeds.

    Returns:
        The experiment, checked.

    Example:
        >>> found = assemble({"model": "MLP"}, {"model.activation": "linear", "model.width": 4})
        >>> found.model.activation, found.model.width
        ('linear', 4)
    """
    waiting = dict(changes or {})
    measured: Any = tuple(_piece("probes", name, {}, "probe") for name in probes)
    pieces: Any = {kind: _start(kind, (names or {}).get(kind), waiting) for kind in SWING_BY}
    inside = {p: waiting.pop(p) for p in [*waiting] if p.split(".")[0] in pieces}
    bare = with_changes(Bare(probes=measured, **pieces), inside)
    if bare.dynamics.continuous:
        time = TIME if time is None else time
    else:
        steps = STEPS if steps is None else steps
    experiment = make_experiment(
        bare.task, bare.model, bare.dynamics, steps=steps, time=time, probes=measured,
        record=None, seeds=seeds, dtype=None, over=over,
    )  # fmt: skip
    return with_changes(experiment, waiting)


def _start(kind: str, name: str | None, changes: dict[str, Any]) -> Spec:
    """The default piece, or one of a named class with what it cannot do without."""
    default = SWING_BY[kind]
    if name in (None, type(default).__name__):
        return default
    room = kind if kind in ROOMS else f"{kind}s"
    return _piece(room, str(name), changes, kind)


def _piece(room: str, name: str, changes: dict[str, Any], kind: str) -> Spec:
    known = catalogue(room)
    if name not in known:
        raise unknown(kind, name, known)
    given: dict[str, Any] = {}
    for field in dataclasses.fields(known[name]):
        required = field.default is field.default_factory is dataclasses.MISSING
        path = f"{kind}.{field.name}"
        if required and path not in changes:
            raise BadInput(f"{kind}: {name} needs {field.name}; set {path}=...")
        if required:
            given[field.name] = changes.pop(path)
    try:
        return known[name](**given)
    except BadInput as error:
        raise BadInput(f"{kind}.{error}") from None
