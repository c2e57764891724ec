"""The code behind a class or a function, as a digest: what decides what it computes.

From the class or function the walk follows methods, class attributes, defaults, closures,
base classes, and the functions and values that are read by name, also as `module.name`.
Installed libraries and dynascope itself are known by name and version (`core/installed.py`)
and are walked only where they carry something of the user's, as `jax.vmap(f)` carries f.

The digest is the same in another process and for another hash seed. It changes with
anything that is read, needed or not; comments, blank lines and the docstrings of classes do
not count, docstrings of functions do. Not seen are files, the environment, and methods that
were put into classes of dynascope or of a library.

What cannot be seen (a generator, an open file, a compiled function of the user's own, code
made from text) is listed in `unknown`: then the digest promises nothing.

A thing is described once, by its parts: constants as text, all else by the number under
which it was met first. So cycles end, and nothing is called twice.
"""

from __future__ import annotations

import copyreg
import functools
import hashlib
import importlib.util
import types
import typing
from collections.abc import Iterable
from dataclasses import Field
from typing import Any, NamedTuple

import numpy as np

from dynascope.core.bytecode import Read, bytecode, constant
from dynascope.core.installed import installed
from dynascope.core.known import FROM_TEXT, known, owner_of, replaced

_CONSTANTS = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))
# Descriptions of the text and of the bookkeeping of a class, not of what it does.
_NO_CODE = {
    "__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__",
    "__annotations_cache__", "__dict__", "__doc__", "__firstlineno__", "__module__",
    "__orig_bases__", "__parameters__", "__static_attributes__", "__weakref__", "_abc_impl",
}  # fmt: skip
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
_BUILT_IN = (types.BuiltinFunctionType, types.MethodWrapperType)
_MISSING = object()
Arrays = dict[int, tuple[Any, str]]  # digests by identity; the array is kept so that it stays


class Code(NamedTuple):
    """The code behind a thing."""

    digest: str
    unknown: tuple[str, ...]  # what could not be seen, by the names that lead to it
    functions: tuple[Any, ...]  # of the user's own, as far as they were walked


def code_of(thing: Any, arrays: Arrays | None = None) -> Code:
    """The code behind a class, a function or any other thing.

    Args:
        thing: What to look behind.
        arrays: What has been read of arrays already, filled on the way; for several calls in
            a row.

    Returns:
        Its digest, and what could not be seen.

    Example:
        >>> def times(c):
        ...     return lambda x: c * x
        >>> code_of(times(2)).digest == code_of(times(2)).digest != code_of(times(3)).digest
        True
        >>> code_of(times(letter for letter in "abc")).unknown
        ('times.<locals>.<lambda>.c: generator',)
    """
    walk = _Walk({} if arrays is None else arrays)
    root = walk.point(thing, getattr(thing, "__qualname__", type(thing).__qualname__))
    digest = hashlib.sha256(root.encode())
    for found, name in walk.things:  # grows on the way
        digest.update(repr(walk.describe(found, name)).encode())
    return Code(digest.hexdigest()[:16], tuple(walk.unknown), tuple(walk.functions))


class _Walk:
    """The things met so far, each with the name that leads to it."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.numbers: dict[int, int] = {}
        self.things: list[tuple[Any, str]] = []  # kept, so that no number is given twice
        self.unknown: dict[str, None] = {}
        self.functions: list[Any] = []

    def point(self, thing: Any, name: str) -> str:
        """A constant as text; a number for all else, which waits to be described."""
        if type(thing) in _CONSTANTS:
            return constant(thing)
        if id(thing) not in self.numbers:
            self.numbers[id(thing)] = len(self.things)
            self.things.append((thing, name))
        return f"#{self.numbers[id(thing)]}"

    def describe(self, thing: Any, name: str) -> list[str]:
        """The parts of a thing; one that does not let itself be seen is unknown."""
        try:
            if any(thing is maker for maker in FROM_TEXT):
                raise _Hidden
            return self._parts(thing, name)
        except Exception:  # whatever a foreign object raises when it is looked at
            kind = type(thing).__name__
            self.unknown[f"{name}: {kind}"] = None
            return ["unknown", kind]

    def _parts(self, thing: Any, name: str) -> list[str]:
        if label := known(thing):
            return ["known", label]
        match thing:
            case types.ModuleType():
                return ["module", *self._items(_public(thing), name)]
            case types.FunctionType():
                return self._function(thing, name)
            case type():
                return self._class(thing, name)
            case types.CodeType():
                return [constant(thing)]
            case types.MethodType():
                return ["method", *self._all((thing.__func__, thing.__self__), name)]
            case property():
                return ["property", *self._all((thing.fget, thing.fset, thing.fdel), name)]
            case staticmethod() | classmethod():
                return [type(thing).__name__, self.point(thing.__func__, name)]
            case functools.cached_property():
                return ["cached property", self.point(thing.func, name)]
            case functools.partial() | functools.partialmethod():
                bound = (type(thing), thing.func, thing.args, thing.keywords)
                return ["partial", *self._all(bound, name)]
            case Field():
                only_by_name = thing.kw_only is True  # what is no field of __init__ has neither
                switches = f"{thing.name} {thing.init} {only_by_name}"
                values = (thing.default, thing.default_factory, thing.metadata)
                return ["field", switches, *self._all(values, name)]
        if isinstance(thing, _SLOTS):
            return ["slot", thing.__name__]
        if isinstance(thing, _BUILT_IN):
            return self._built_in(thing, name)
        if type(thing) in (list, tuple):
            return [type(thing).__name__, *self._all(thing, name)]
        if type(thing) in (dict, types.MappingProxyType):
            return ["dict", *self._items(thing, name)]
        if type(thing) in (set, frozenset):
            return ["set", *self._all(_ordered(thing), name)]
        if type(thing) is np.ndarray or isinstance(thing, np.generic) or _of_jax(thing):
            return self._array(thing, name)
        if type(thing).__name__ == "PyTreeDef":  # of jax; holds the registry of all classes
            return ["tree", *self._all((thing.node_data(), thing.children()), name)]
        remembers = hasattr(thing, "cache_clear") or hasattr(thing, "clear_cache")
        if remembers and hasattr(thing, "__wrapped__") and installed(type(thing).__module__):
            return self._remembering(thing, name)
        return self._instance(thing, name)

    def _all(self, things: Iterable[Any], name: str) -> list[str]:
        return [self.point(thing, name) for thing in things]

    def _items(self, items: Any, name: str) -> list[str]:
        each = list(items.items())
        return [p for k, v in each for p in (self.point(k, name), self.point(v, f"{name}.{k}"))]

    def _class(self, cls: type, name: str) -> list[str]:
        """Its bases in their order, the classes of its fields, its own attributes by name."""
        own = {k: v for k, v in sorted(vars(cls).items()) if k not in _NO_CODE}
        others = (type(cls), *cls.__mro__[1:], *_field_classes(cls))
        parts = [self.point(other, other.__qualname__) for other in others]
        return ["class", cls.__name__, *parts, *self._items(own, name)]

    def _function(self, function: types.FunctionType, name: str) -> list[str]:
        """Its instructions, its defaults, what it closes over, and what it reads by name."""
        code = function.__code__
        parts = ["function", function.__name__, bytecode(code).digest]
        parts += self._all((function.__defaults__, function.__kwdefaults__), name)
        closure = _closure(function)
        if owner := owner_of(function):
            place = f"{owner} {function.__globals__['__name__']} {code.co_qualname}"
            return [*parts, place, *self._items(closure, name)]
        self.functions.append(function)
        parts += self._items({k: v for k, v in closure.items() if not _module(v)}, name)
        for read in bytecode(code).reads:
            parts += [read.name, self._read(read, function, closure, name)]
        return [*parts, *self._items(dict(sorted(vars(function).items())), name)]

    def _read(
        self, read: Read, function: types.FunctionType, closure: dict[str, Any], name: str
    ) -> str:
        if read.source == "import":
            return self._import(read, function.__globals__.get("__package__"), name)
        if read.source == "closure":  # what is no module is among the parts already
            value = closure.get(read.name)
            return self._reach(value, read.attributes, name) if _module(value) else ""
        scopes = (function.__globals__, getattr(function, "__builtins__", {}))
        value = next((s[read.name] for s in scopes if read.name in s), _MISSING)
        return self._reach(value, read.attributes, f"{name}.{read.name}")

    def _import(self, read: Read, package: str | None, name: str) -> str:
        """An import inside a function; a module of the user's own is loaded to be seen."""
        full = importlib.util.resolve_name(read.name, package)
        if owner := installed(full):
            return f"{owner} {full} {read.attributes}"
        try:
            module = importlib.import_module(full)
            for part in read.attributes:
                if not hasattr(module, part):
                    importlib.import_module(f"{full}.{part}")
        except ImportError:
            return "missing"
        return self._reach(module, read.attributes, f"{name}.{full}")

    def _reach(self, value: Any, attributes: tuple[str, ...], name: str) -> str:
        """A value that is read by name; of a module only the attributes that are taken."""
        while _module(value) and attributes:
            first, *rest = attributes
            owner = installed(value.__name__)
            # Installed modules load some attributes late, and may warn.
            inner = vars(value).get(first) if owner else getattr(value, first, _MISSING)
            if owner and not (_module(inner) or replaced(inner)):
                return f"{owner} {value.__name__} {attributes}"
            value, attributes, name = inner, tuple(rest), f"{name}.{first}"
        return "missing" if value is _MISSING else self.point(value, name)

    def _built_in(self, method: Any, name: str) -> list[str]:
        """A built-in method of an object: the object and the name."""
        if method.__self__ is None or _module(method.__self__):
            raise _Hidden
        return ["built-in", method.__name__, self.point(method.__self__, name)]

    def _array(self, array: Any, name: str) -> list[str]:
        numbers = np.asarray(array)
        kind = f"{numbers.dtype!r} {numbers.shape} {getattr(array, 'weak_type', False)}"
        if numbers.dtype.hasobject:
            return ["array", kind, self.point(numbers.tolist(), name)]
        if id(array) not in self.arrays:
            self.arrays[id(array)] = array, hashlib.sha256(numbers.tobytes()).hexdigest()
        return ["array", kind, self.arrays[id(array)][1]]

    def _remembering(self, thing: Any, name: str) -> list[str]:
        """`functools.cache(f)`, `jax.jit(f)`: f; what it remembers is of f's making."""
        self.functions.append(thing)
        settings = getattr(thing, "_jit_info", None)
        static = [getattr(settings, k, None) for k in ("static_argnums", "static_argnames")]
        return ["remembering", *self._all((type(thing), thing.__wrapped__, static), name)]

    def _instance(self, thing: Any, name: str) -> list[str]:
        """Its class and its state, as far as pickling would see it."""
        cls = type(thing)
        copied = copyreg.dispatch_table.get(cls, lambda t: t.__reduce_ex__(2))(thing)
        if isinstance(copied, str):  # the name of something that nobody knows by it
            raise _Hidden
        make, args, state, items, pairs = (*copied, None, None, None)[:5]
        inside = [make, args, list(items or ()), list(pairs or ())]
        inside += [_state(cls, s) for s in (state if isinstance(state, tuple) else (state,))]
        if not installed(cls.__module__):  # its own account of its state may leave things out
            inside.append(_state(cls, getattr(thing, "__dict__", None)))
        return ["instance", self.point(cls, cls.__qualname__), *self._all(inside, name)]


class _Hidden(Exception):
    """A thing that cannot be seen into."""


def _module(thing: Any) -> bool:
    return isinstance(thing, types.ModuleType)


def _public(module: types.ModuleType) -> dict[str, Any]:
    return {k: v for k, v in sorted(vars(module).items()) if not k.startswith("__")}


def _field_classes(cls: type) -> list[type]:
    """The user's own classes that fields are annotated with: a value brings its methods along."""
    if "__dataclass_fields__" not in vars(cls):
        return []
    try:
        waiting = list(typing.get_type_hints(cls).values())
    except Exception:  # an annotation need not be true
        return []
    found = []
    for hint in waiting:  # grows on the way
        waiting += hint if isinstance(hint, list) else typing.get_args(hint)
        if isinstance(hint, type) and not installed(hint.__module__):
            found.append(hint)
    return found


def _closure(function: types.FunctionType) -> dict[str, Any]:
    """What a function closes over, by name; a name may not have its value yet."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            found[name] = _MISSING
    return found


def _state(cls: type, state: Any) -> Any:
    """Attributes by name, without what a cached property worked out."""
    if not isinstance(state, dict) or not all(isinstance(k, str) for k in state):
        return state
    worked_out = [k for k in state if isinstance(_static(cls, k), functools.cached_property)]
    return {k: state[k] for k in sorted(state) if k not in worked_out} or None


def _static(cls: type, name: str) -> Any:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _ordered(things: Iterable[Any]) -> list[Any]:
    """The things of a set, in an order that their addresses do not decide."""
    places = {_place(thing): thing for thing in things}
    if len(places) < len(list(things)):
        raise _Hidden
    return [places[place] for place in sorted(places)]


def _place(thing: Any) -> str:
    if type(thing) in (*_CONSTANTS, tuple, frozenset):
        text = constant(thing)
    elif isinstance(thing, type | types.FunctionType):
        text = f"{thing.__module__} {thing.__qualname__}"
    else:
        text = f"{type(thing).__qualname__} {thing!r}"
    if " at 0x" in text:
        raise _Hidden
    return text


def _of_jax(thing: Any) -> bool:
    """Whether it is an array of jax; keys hold an array and are walked as objects."""
    if type(thing).__module__.partition(".")[0] not in ("jax", "jaxlib"):
        return False
    return hasattr(thing, "__array__") and not str(thing.dtype).startswith("key<")
