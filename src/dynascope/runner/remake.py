"""The command, or the Python code, that makes a record again."""

from __future__ import annotations

import dataclasses
import inspect
import json
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from dynascope.core import values
from dynascope.core.errors import BadInput, DynascopeError, bad
from dynascope.core.plain import CLASS_CODE, fingerprint, from_plain, to_plain
from dynascope.core.records import StudyResult
from dynascope.core.spec import Spec, is_ours
from dynascope.engine import Experiment
from dynascope.engine.record import Evenly
from dynascope.runner.outcome import stored_result
from dynascope.runner.pieces import SWING_BY, assemble
from dynascope.runner.request import configure
from dynascope.store import Store

WATCHED = "(a watched training loop: run that again)"
CODE = """\
import dynascope as ds
from dynascope import {packages}
from dynascope.store import Store

ds.sweep(
    {pieces},
    {rest},
    store=Store(),
)"""


def remake(store: Store, name: str, manifest: dict[str, Any]) -> str:
    """How to make a record again: a command, Python code, or why there is neither."""
    if manifest["kind"] == "study":
        return remake_study(stored_result(store, name))
    if manifest["kind"] == "computation":
        return shlex.join(["dynascope", "run", manifest["study"], "--again"])
    if is_watched(manifest):
        return WATCHED
    try:
        experiment = from_plain(manifest["spec"])
        if not isinstance(experiment, Experiment):
            return f"(cannot be told: the settings are of a {type(experiment).__name__})"
        return sweep_command(experiment) or python_code(experiment)
    except Exception as error:  # settings of another version, or of nobody's: see `_untold`
        return _untold(error)


def is_watched(manifest: dict[str, Any]) -> bool:
    """Whether a record is of somebody's own loop."""
    return isinstance(manifest["spec"], dict) and "watched" in manifest["spec"]


def _untold(error: Exception) -> str:
    """Why there is no command; a record's settings may be anything, so its error may be."""
    return f"(cannot be told: {' '.join(str(error).split())[:300] or type(error).__name__})"


def remake_study(result: StudyResult) -> str:
    """`dynascope run ...` with every setting that is not the scale's own, or why it has none."""
    try:
        usual = to_plain(configure(result.study, result.scale))
        # Settings of version 0.1 were tagged by a class of the study, not by its name.
        differences = _differences({**usual, "spec": result.settings["spec"]}, result.settings)
        changed = [(path, _written(plain)) for path, plain in differences]
    except Exception as error:
        return _untold(error)
    words = ["dynascope", "run", result.study, "--scale", result.scale]
    return shlex.join([*words, *_options("--set", changed)])


def sweep_command(experiment: Experiment) -> str | None:
    """`dynascope sweep ...`, or None if it cannot say all of the experiment."""
    length: dict[str, Any] = {"steps": experiment.steps, "time": experiment.time}
    seeds, probes = len(experiment.seeds), [type(p).__name__ for p in experiment.probes]
    try:
        names, changes = _pieces(experiment)
        over = _options("--over", _axes(experiment))
        same = assemble(
            names, values.changes(changes[1::2]), over=values.axes(over[1::2]), probes=probes,
            seeds=seeds, **length,
        )  # fmt: skip
    except DynascopeError:  # settings inside settings, or of probes
        return None
    if fingerprint(same) != fingerprint(experiment):
        return None
    pieces = [word for kind, name in names.items() for word in (f"--{kind}", name)]
    size = [w for name, n in length.items() if n is not None for w in (f"--{name}", str(n))]
    measured = [word for name in probes for word in ("--probe", name)]
    words = [*pieces, *changes, *over, *size, "--seeds", str(seeds), *measured]
    return shlex.join(["dynascope", "sweep", *words])


def _pieces(experiment: Experiment) -> tuple[dict[str, str], list[str]]:
    """The classes to name and the `--set` options behind them."""
    names: dict[str, str] = {}
    settings: list[tuple[str, Any]] = []
    for kind, default in SWING_BY.items():
        piece = getattr(experiment, kind)
        if type(piece) is not type(default):
            names[kind] = type(piece).__name__
        settings += _differences(_usual(piece, default), to_plain(piece), kind)
    settings += _differences(to_plain(Evenly()), to_plain(experiment.record), "record")
    settings += _differences(experiment.dynamics.default_dtype, experiment.dtype, "dtype")
    settings += _differences(list(range(len(experiment.seeds))), list(experiment.seeds), "seeds")
    return names, _options("--set", ((path, _written(plain)) for path, plain in settings))


def _usual(piece: Spec, default: Spec) -> dict[str, Any]:
    """The plain settings that need not be said: the swing-by setting's, or the class's own."""
    if type(piece) is type(default):
        return to_plain(default)
    fields = [f for f in dataclasses.fields(piece) if f.default is not dataclasses.MISSING]
    return {"spec": to_plain(piece)["spec"], **{f.name: to_plain(f.default) for f in fields}}


def _differences(usual: Any, found: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Paths and plain values that differ, as deep as the settings are of the same class."""
    specs = isinstance(usual, dict) and isinstance(found, dict) and "spec" in found
    if specs and usual["spec"] == found["spec"]:
        for name, value in found.items():
            inner = f"{path}.{name}".lstrip(".")
            if name == CLASS_CODE:
                continue  # no setting
            if name not in usual:
                yield inner, value
            else:
                yield from _differences(usual[name], value, inner)
    elif usual != found:
        yield path, found


def _options(option: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [word for path, text in pairs for word in (option, f"{path}={text}")]


def _axes(experiment: Experiment) -> Iterator[tuple[str, str]]:
    for path, found in experiment.over:
        yield path, ",".join(_written(to_plain(value)) for value in found)


def _written(plain: Any) -> str:
    """A plain value as `--set` reads it."""

    def refuse(thing: Any) -> Any:
        raise bad("setting", thing, "a value that can be written on the command line")

    value = from_plain(plain)
    if isinstance(value, str) and values.value(value) == value:
        return value
    return json.dumps(value, default=refuse)


def python_code(experiment: Experiment) -> str:
    """The call of `ds.sweep` that says all of the experiment."""
    e, seeds = experiment, len(experiment.seeds)
    rest = {
        "steps": e.steps, "time": e.time, "probes": e.probes, "record": e.record,
        "seeds": e.seeds, "dtype": e.dtype, "over": dict(e.over), "stop": e.stop or None,
        "keep": e.keep,
    }  # fmt: skip
    written = {name: code(value) for name, value in rest.items() if value is not None}
    if e.seeds == tuple(range(seeds)):
        written["seeds"] = str(seeds)
    pieces = [code(piece) for piece in (e.task, e.model, e.dynamics)]
    packages = ["dynamics", "models", "probes", "record", "tasks"]
    if any("studies." in text for text in (*pieces, *written.values())):
        packages.insert(4, "studies")
    return CODE.format(
        packages=", ".join(packages),
        pieces=",\n    ".join(pieces),
        rest=",\n    ".join(f"{name}={text}" for name, text in written.items()),
    )


def code(value: Any) -> str:
    """A value as Python code; specs by package and class, with the fields that are not usual.

    Example:
        >>> from dynascope.models import TiedLinear
        >>> code(TiedLinear(width=2))
        'models.TiedLinear(width=2)'
    """
    if isinstance(value, Spec):
        library, package, *_ = [*type(value).__module__.split("."), ""]
        if library != "dynascope":
            raise BadInput(f"{type(value).__name__} is code of your own; run that again")
        fields = [(f, getattr(value, f.name)) for f in dataclasses.fields(value)]
        told = [f"{f.name}={code(v)}" for f, v in fields if v != f.default]
        if package == "studies":  # a part that only one study uses is in no package's list of names
            package = type(value).__module__.removeprefix("dynascope.")
        package = "record" if package == "engine" else package
        return f"{package}.{type(value).__name__}({', '.join(told)})"
    if inspect.isfunction(value):  # such as an optimiser that a study makes
        if not is_ours(value) or "<" in value.__qualname__:
            raise BadInput(f"{value.__qualname__} is code of your own; run that again")
        return f"{value.__module__.removeprefix('dynascope.')}.{value.__qualname__}"
    if isinstance(value, tuple):
        return f"({', '.join(map(code, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {code(v)}" for key, v in value.items()) + "}"
    return f'float("{value}")' if value in (float("inf"), float("-inf")) else repr(value)
