"""Which detectors a study's claims call, and other functions in their place.

A detector is a function, method or property that a claim's measuring function, or a finding
behind it, calls to tell something about a run, a graph or a text: those of the packages in
`TELLING`, and the phenomenon's own. What is asked of settings alone tells nothing about a run, and
a theory is what is claimed, not what tells whether it is so, and what `BUILDING` names makes the
thing that is measured.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from contextlib import contextmanager
from types import FunctionType, ModuleType

import jax
import numpy as np
import xarray as xr

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.spec import Spec
from dynascope.runner.computing import _Allowed
from dynascope.studies.nodes import Function, reach

TELLING = tuple(f"dynascope.{p}" for p in ("probes", "graphs", "instruments", "language"))
# What is measured, not what measures; runs of the engine stay as they are, and so do these.
BUILDING = (
    "dynascope.instruments.network.padded",  # networks
    "dynascope.instruments.network.measuring.train",  # runs
    "dynascope.language.loading.load_model",
    "dynascope.language.model.layers",
    "dynascope.language.prompts.encoding.encoded",  # texts
    "dynascope.studies.catapult.quadratic_generalization.runs.rates",  # settings
    "dynascope.studies.catapult.quadratic_generalization.starts.layout_rate",
    "dynascope.studies.catapult.quadratic_generalization.starts.linear_curve",  # a run, solved
    "dynascope.studies.catapult.quadratic_map.weights.descend",
    "dynascope.studies.catapult.quadratic_map.weights.draw",
    "dynascope.studies.catapult.quadratic_multi.starts.seeds_with_a_gap",
    "dynascope.studies.linearity.architectures.",  # wirings
    "dynascope.studies.linearity.polyak.orders.softplus",  # an activation
    "dynascope.studies.oscillation.single_neuron.witnesses.sphere",  # inputs
    "dynascope.studies.rank_increase.rank_assumptions.noise.weights_at",  # where a flow begins
    # Lipschitz constants: parts of the printed bound, which is stricter where they are small.
    "dynascope.studies.rank_increase.rank_proof.smoothness.ball",
    "dynascope.studies.rank_increase.rank_proof.smoothness.steepest",
)


def detectors(study, kept):
    """The detectors of a study: called by claims, or by nodes behind them that are not `kept`."""
    own = study.settings.__module__.rsplit(".", 2)[0]
    own_cases = reach(tuple(n for c in study.claims for n in c.on.nodes))  # others are planted
    nodes = [n for n in own_cases if isinstance(n, Function) and n not in kept]
    methods = _methods((own, *TELLING))
    known: dict = {}
    seen: set = set()
    for function in [c.measure for c in study.claims] + [n.function for n in nodes]:
        _walk(function, own, methods, known, seen)
    return list(known)


def _walk(function, own, methods, known, seen):
    """Note the detectors that a function names, and those that the phenomenon's own name."""
    for found in _functions(function):
        if found in seen or not found.__module__.startswith("dynascope."):
            continue
        seen.add(found)
        for named in _named(found, methods):
            places = [(f, f.__module__) for f in _functions(named)]
            told = [f for f, m in places if m.startswith((own, *TELLING)) and not built(f)]
            # What is made inside a function is bound nowhere: it is walked, not replaced.
            known.update(dict.fromkeys(f for f in told if "<locals>" not in f.__qualname__))
            for one in told:
                if one.__module__.startswith(own):  # those of other packages are whole
                    _walk(one, own, methods, known, seen)


def built(function):
    """Whether a function makes what is measured."""
    return f"{function.__module__}.{function.__name__}".startswith(BUILDING)


def _functions(value):
    """The functions behind a value: itself, or those that it is made of."""
    if isinstance(value, functools.partial):
        return _functions(value.func)
    if isinstance(value, dict):
        return [f for v in value.values() for f in _functions(v)]
    if isinstance(value, property):
        return _functions(value.fget)
    if isinstance(value, staticmethod | classmethod):
        return _functions(value.__func__)
    return [value] if isinstance(value, FunctionType) else []


def _named(function, methods):
    """All that a function's code may mean by the names in it."""
    codes = [function.__code__]
    for code in codes:
        codes += [c for c in code.co_consts if hasattr(c, "co_names")]
    names = dict.fromkeys(n for code in codes for n in code.co_names)
    values = [function.__globals__[n] for n in names if n in function.__globals__]
    modules = [m for m in values if isinstance(m, ModuleType)]
    values += [vars(m)[n] for m in modules for n in names if n in vars(m)]
    values += [c.cell_contents for c in function.__closure__ or ()]
    return values + [method for n in names for method in methods.get(n, ())]


def _methods(telling):
    """The methods and properties of classes in some packages, by name."""
    found: dict = {}
    for kind in _classes():
        if kind.__module__.startswith(telling):
            for name, value in vars(kind).items():
                if _functions(value) and not name.startswith("__"):
                    found.setdefault(name, []).append(value)
    return found


def _classes():
    """The classes of the library."""
    return [v for m in _modules() for v in list(vars(m).values())
            if isinstance(v, type) and v.__module__ == m.__name__]  # fmt: skip


def _modules():
    return [m for n, m in list(sys.modules.items()) if n.startswith("dynascope")]


@contextmanager
def replaced(by, monkeypatch):
    """Other functions in the place of detectors, wherever they are bound."""
    with monkeypatch.context() as patch:
        for module in _modules():
            for name, value in list(vars(module).items()):
                if isinstance(value, FunctionType) and value in by:
                    patch.setattr(module, name, by[value])
                elif isinstance(value, dict) and not name.startswith("__"):
                    for key, one in list(value.items()):
                        if isinstance(one, FunctionType) and one in by:
                            patch.setitem(value, key, by[one])
        for kind in _classes():
            for name, value in list(vars(kind).items()):
                if isinstance(value, FunctionType) and value in by:
                    patch.setattr(kind, name, by[value])
                elif isinstance(value, property) and value.fget in by:
                    patch.setattr(kind, name, property(by[value.fget]))
                elif isinstance(value, staticmethod | classmethod) and value.__func__ in by:
                    patch.setattr(kind, name, type(value)(by[value.__func__]))
        yield


def tells_nothing(detector, args, options):
    """Whether a call is about no run: it gets settings alone, or predictions, or is a formula.

    A formula gets plain numbers, in another package; those of the study itself are its counts.
    """
    values = [*args, *options.values()]
    about = [v for v in values if not isinstance(v, int | float | str)]
    if not about:
        return not values or detector.__module__.startswith(TELLING)
    predicted = [type(v).__module__.startswith("dynascope.theories") for v in about]
    return all(predicted) or all(isinstance(v, Spec | _Allowed) for v in values)


def constant(value, number):
    """Something of the same form with every number replaced; a spec is what was asked for."""
    if isinstance(value, Spec):
        return value
    if isinstance(value, Run):
        return dataclasses.replace(value, dataset=constant(value.dataset, number))
    if isinstance(value, Measured):
        ends = (None if v is None else float(number) for v in (value.low, value.high))
        return Measured(float(number), value.spread, value.n, *ends, value.kind)
    if isinstance(value, xr.Dataset):
        return value.map(lambda v: constant(v, number))
    if isinstance(value, jax.Array):
        return jax.numpy.full_like(value, number)
    if isinstance(value, np.ndarray | xr.DataArray) and value.dtype.kind in "biuf":
        return xr.full_like(value, number) if isinstance(value, xr.DataArray) else np.full_like(
            value, number
        )  # fmt: skip
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return type(value)(number)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(constant(v, number) for v in value))
    if isinstance(value, list | tuple):
        if value and dataclasses.is_dataclass(value[0]):  # their number is what was detected
            return type(value)([constant(value[0], number)] * number)
        return type(value)(constant(v, number) for v in value)
    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **constant(fields, number))
    if isinstance(value, dict):
        return {k: constant(v, number) for k, v in value.items()}
    return value
