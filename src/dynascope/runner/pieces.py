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
from dynascope.engine.experiment import Setup, make_experiment, usual_probes
from dynascope.runner.changes import with_changes

PACKAGES: dict[str, tuple[ModuleType, type[Spec]]] = {
    "tasks": (tasks, tasks.Task),
    "models": (models, models.Model),
    "dynamics": (dynamics, dynamics.Dynamics),
    "probes": (probes, probes.Probe),
    "theories": (theories, theories.Theory),
}
# Random starts of yang2025 Fig. 5, as the text has them: about a third of the seeds swing by.
SWING_BY: dict[str, Spec] = {
    "task": tasks.IdentityMapping(means=(1.0, 1.5), scales=(0.05, 0.05, 0.05)),
    "model": models.TiedLinear(width=3, init_scale=0.2, init="uniform"),
    "dynamics": dynamics.GradientDescent(learning_rate=0.005),
}
STEPS, TIME = 4000, 20.0  # of that setting: 4000 steps of 0.005


def catalogue(package: str) -> dict[str, type[Spec]]:
    """The classes of a package that can be used as they are, by name.

    Example:
        >>> catalogue("models")["TiedLinear"].__name__
        'TiedLinear'
    """
    if package not in PACKAGES:
        raise unknown("package", package, PACKAGES)
    module, base = PACKAGES[package]
    public = [getattr(module, name) for name in module.__all__]
    usable = [c for c in public if isinstance(c, type) and issubclass(c, base)]
    whole = [c for c in usable if not c.__module__.endswith(".base") and not _is_half(c, base)]
    return {c.__name__: c for c in whole}


def _is_half(cls: type[Spec], base: type[Spec]) -> bool:
    """Whether a class leaves out what its users must write: one to derive from, not to use."""
    needed = {tasks.Task: "input_size", models.Model: "build"}.get(base)
    return needed is not None and getattr(cls, needed) is getattr(base, needed)


def assemble(
    names: Mapping[str, str] | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    over: Mapping[str, Iterable[Any]] | None = None,
    steps: int | None = None,
    time: float | None = None,
    probes: Iterable[str] | None = None,
    seeds: int = 32,
) -> Experiment:
    """The experiment of pieces that are named; what is not named is the swing-by setting.

    Args:
        names: Class names for "task", "model" and "dynamics".
        changes: Settings by path, such as `{"model.width": 2, "record.points": 200}`.
        over: Values of every sweep axis by path.
        steps: Number of steps, for discrete dynamics; 4000 by default.
        time: Length in gradient-flow time, for flows; 20 by default.
        probes: Class names of the probes; the losses of the task by default.
        seeds: Number of seeds.

    Returns:
        The experiment, checked.

    Example:
        >>> found = assemble({"model": "MLP"}, {"model.activation": "linear", "model.width": 4})
        >>> found.model.activation, found.model.width
        ('linear', 4)
    """
    waiting, axes = dict(changes or {}), {path: [*values] for path, values in (over or {}).items()}
    first = {path: values[0] for path, values in axes.items() if values}
    measured: Any = tuple(_piece("probes", name, {}, "probe", {}) for name in probes or ())
    pieces: Any = {kind: _start(kind, (names or {}).get(kind), waiting, first) for kind in SWING_BY}
    inside = {p: waiting.pop(p) for p in [*waiting] if p.split(".")[0] in pieces}
    setup = with_changes(Setup(probes=measured, **pieces), inside)
    measured = measured or usual_probes(setup.task)
    if setup.dynamics.continuous:
        time = TIME if time is None else time
    else:
        steps = STEPS if steps is None else steps
    try:
        experiment = make_experiment(
            setup.task, setup.model, setup.dynamics, steps=steps, time=time, probes=measured,
            record=None, seeds=seeds, dtype=None, over=axes,
        )  # fmt: skip
    except BadInput as error:
        raise BadInput(f"{error}{_nobody_chose(names or {}, setup, str(error))}") from None
    return with_changes(experiment, waiting)


def _nobody_chose(names: Mapping[str, str], setup: Setup, error: str) -> str:
    """What to try where the error is about a default that does not suit what was chosen."""
    for kind in SWING_BY:
        default = type(getattr(setup, kind)).__name__
        if names and kind not in names and default in error:
            return f"; {default} is the default, choose another with --{kind} NAME"
    return ""


def _start(kind: str, name: str | None, changes: dict[str, Any], swept: dict[str, Any]) -> Spec:
    """The default piece, or one of a named class with what it cannot do without.

    That is set by a change, or swept: then it begins with the first value of the axis.
    """
    default = SWING_BY[kind]
    if name in (None, type(default).__name__):
        return default
    package = kind if kind in PACKAGES else f"{kind}s"
    return _piece(package, str(name), changes, kind, swept)


def _piece(
    package: str, name: str, changes: dict[str, Any], kind: str, swept: dict[str, Any]
) -> Spec:
    known = catalogue(package)
    if name not in known:
        raise unknown(kind, name, known)
    given: dict[str, Any] = {}
    for field in dataclasses.fields(known[name]):
        required = field.default is field.default_factory is dataclasses.MISSING
        path = f"{kind}.{field.name}"
        if required and path not in changes and path not in swept:
            raise BadInput(f"{kind}: {name} needs {field.name}; set {path}=...")
        if required:
            given[field.name] = changes.pop(path) if path in changes else swept[path]
    try:
        return known[name](**given)
    except BadInput as error:
        raise BadInput(f"{kind}.{error}") from None
