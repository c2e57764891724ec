"""What an installed library holds: known by its name there, whatever its code."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

import numpy as np

from dynascope.core.installed import installed

FROM_TEXT = (eval, exec, globals, __import__, importlib.import_module)  # code by a computed name


def known(thing: Any) -> str | None:
    """Owner and name of a thing that an installed module holds under the thing's name."""
    if isinstance(thing, types.ModuleType):
        owner = installed(thing.__name__)
        return f"{owner} {thing.__name__}" if owner else None
    if not callable(thing) or (isinstance(thing, types.FunctionType) and not owner_of(thing)):
        return None
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    module = getattr(thing, "__module__", None)
    if not isinstance(name, str) or "<" in name:
        return None
    # Functions of scipy.special do not say where they are.
    nowhere = isinstance(thing, np.ufunc) and not module
    for place in list(sys.modules) if nowhere else [str(module)]:
        found: Any = sys.modules.get(place)
        for part in name.split("."):
            found = vars(found).get(part) if hasattr(found, "__dict__") else None
        if found is thing and (owner := installed(place)):
            return f"{owner} {place} {name}"
    return None


def owner_of(function: types.FunctionType) -> str | None:
    """The distribution that a function was written in, whatever name it has been given.

    Doctests run in a copy of a module's names: what they define is not the module's.
    """
    module = sys.modules.get(str(function.__globals__.get("__name__")))
    ours = module is not None and vars(module) is function.__globals__
    return installed(module.__name__) if ours and module else None


def replaced(thing: Any) -> bool:
    """Whether a thing of an installed module must be looked at: put there, or making code."""
    if any(thing is maker for maker in FROM_TEXT):
        return True
    if isinstance(thing, types.FunctionType):
        return not owner_of(thing)
    return isinstance(thing, type) and not installed(thing.__module__)
