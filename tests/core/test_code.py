"""The code behind a thing: every change that can be seen is seen, and nothing else."""

from __future__ import annotations

import importlib
import math
import os
import subprocess
import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from dynascope import models, tasks
from dynascope.core.bytecode import bytecode
from dynascope.core.code import code_of
from dynascope.core.installed import PYTHON, installed

HEAD = """
import enum, functools
from dataclasses import dataclass, field
from typing import NamedTuple
import equinox as eqx, jax, jax.numpy as jnp, numpy as np, optax
from jax import lax
"""


def notebook(source):
    """What a cell with this source defines as `thing`; a later cell may define it anew."""
    module = types.ModuleType("notebook")
    sys.modules["notebook"] = module  # where dataclasses look names up
    exec(compile(HEAD + source, "<cell>", "exec", dont_inherit=True), vars(module))
    return module.thing


# What is changed, the source, and the text that takes the place of `OLD` in it; the second is
# what stands there before.
CHANGES = {
    "an operation": ("def thing(x): return x OLD 2", "+", "-"),
    "a constant": ("def thing(x): return OLD * x", "1", "1.0"),
    "a constant set": ("def thing(x): return x in {'a', 'b', OLD}", "'c'", "'d'"),
    "a default": ("def thing(x, c=OLD): return c * x", "1.0", "2.0"),
    "a keyword default": ("def thing(x, *, c=OLD): return c * x", "1.0", "2.0"),
    "the name of an argument": ("def thing(OLD): return 1", "a", "b"),
    "a closure": ("def make(c):\n return lambda x: c * x\nthing = make(OLD)", "1", "2"),
    "a closure of a closure": (
        "def make(c):\n def outer():\n  def inner(x): return c * x\n  return inner\n return outer\n"
        "thing = make([OLD])",
        "1",
        "2",
    ),
    "a global": ("C = OLD\ndef thing(x): return C * x", "1.0", "2.0"),
    "a global that is not there yet": ("OLD\ndef thing(x): return C * x", "", "C = 2.0"),
    "a global read inside a comprehension": (
        "C = OLD\ndef thing(x): return [C * y for y in x]",
        "1.0",
        "2.0",
    ),
    "a global read in a nested class": (
        "C = OLD\ndef thing(x):\n class Inner:\n  c = C\n return Inner.c * x",
        "1.0",
        "2.0",
    ),
    "a dictionary in a dictionary": (
        "C = {'a': {'b': [OLD]}}\ndef thing(x): return C['a']['b'][0]",
        "1",
        "2",
    ),
    "a set": ("C = {1, 2, OLD}\ndef thing(x): return x in C", "3", "4"),
    "a numpy array": ("C = np.array([1, OLD])\ndef thing(x): return C * x", "2", "3"),
    "its dtype": ("C = np.zeros(2, OLD)\ndef thing(x): return C * x", "np.int32", "np.float32"),
    "a jax array": ("C = jnp.array([1, OLD])\ndef thing(x): return C * x", "2", "3"),
    "a weak type": ("C = jnp.asarray(OLD)\ndef thing(x): return C * x", "1.0", "np.float32(1)"),
    "a random key": ("C = jax.random.key(OLD)\ndef thing(): return C", "0", "1"),
    "a helper": ("def helper(x): return OLD * x\ndef thing(x): return helper(x)", "1", "2"),
    "a helper of a helper": (
        "C = OLD\ndef f(x): return C * x\ndef g(x): return f(x)\ndef thing(x): return g(x)",
        "1",
        "2",
    ),
    "functions that call each other": (
        "def even(n): return n == OLD or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)\n"
        "thing = odd",
        "0",
        "2",
    ),
    "a partial": ("def f(c, x): return c * x\nthing = functools.partial(f, OLD)", "1", "2"),
    "a keyword of a partial": (
        "def f(x, c): return x\nthing = functools.partial(f, c=OLD)",
        "1",
        "2",
    ),
    "a decorated function": (
        "def twice(f):\n @functools.wraps(f)\n def g(x): return f(f(x))\n return g\n"
        "@twice\ndef thing(x): return OLD * x",
        "1",
        "2",
    ),
    "the decorator": (
        "def twice(f):\n @functools.wraps(f)\n def g(x): return OLD * f(x)\n return g\n"
        "@twice\ndef thing(x): return x",
        "1",
        "2",
    ),
    "a cached function": ("@functools.cache\ndef thing(x): return OLD * x", "1", "2"),
    "a jitted function": ("@jax.jit\ndef thing(x): return OLD * x", "1", "2"),
    "what is static": (
        "@functools.partial(jax.jit, static_argnums=OLD)\ndef thing(x, y): return x",
        "0",
        "1",
    ),
    "a batched function": ("def f(x): return OLD * x\nthing = jax.vmap(jax.grad(f))", "1", "2"),
    "an axis of a batched function": (
        "def f(x): return x\nthing = jax.vmap(f, in_axes=OLD)",
        "0",
        "1",
    ),
    "a derivative rule": (
        "@jax.custom_jvp\ndef thing(x): return x\n"
        "@thing.defjvp\ndef rule(p, t): return p[0], OLD * t[0]",
        "1",
        "2",
    ),
    "an optimiser": (
        "def thing(rate): return optax.chain(optax.sgd(rate), optax.clip(OLD))",
        "1",
        "2",
    ),
    "an optimiser that is made": ("thing = optax.adam(OLD).update", "1", "2"),
    "an object that wraps a function in a way of its own": (
        "class C:\n def __init__(self, f, c): self.__wrapped__, self.c = f, c\n"
        " def clear_cache(self): pass\nthing = C(len, OLD)",
        "1",
        "2",
    ),
    "an attribute of a function": ("def thing(x): return thing.c\nthing.c = OLD", "1", "2"),
    "a method": ("class thing:\n def loss(self, x): return OLD * x", "1", "2"),
    "a property": ("class thing:\n @property\n def size(self): return OLD", "1", "2"),
    "a cached property": (
        "class thing:\n @functools.cached_property\n def size(self): return OLD",
        "1",
        "2",
    ),
    "a static method": ("class thing:\n @staticmethod\n def size(): return OLD", "1", "2"),
    "a class method": ("class thing:\n @classmethod\n def size(cls): return OLD", "1", "2"),
    "a class attribute": ("class thing:\n size = OLD", "1", "2"),
    "a base class": ("class Base:\n size = OLD\nclass thing(Base): pass", "1", "2"),
    "the order of base classes": (
        "class A: c = 1\nclass B: c = 2\nclass thing(OLD): pass",
        "A, B",
        "B, A",
    ),
    "a metaclass": (
        "class Meta(type):\n def __call__(cls): return OLD\nclass thing(metaclass=Meta): pass",
        "1",
        "2",
    ),
    "a field of any type": (
        "from typing import Generic, TypeVar\nT = TypeVar('T')\n"
        "@dataclass\nclass thing(Generic[T]):\n c: T\n size = OLD",
        "1",
        "2",
    ),
    "a default of a dataclass": ("@dataclass\nclass thing:\n c: float = OLD", "1.0", "2.0"),
    "a default that is made": (
        "@dataclass\nclass thing:\n c: list = field(default_factory=lambda: [OLD])",
        "1",
        "2",
    ),
    "the order of fields": (
        "@dataclass\nclass thing:\n OLD",
        "a: int = 1\n b: int = 1",
        "b: int = 1\n a: int = 1",
    ),
    "a dataclass that is made inside": (
        "@dataclass\nclass C:\n c: float = OLD\nclass thing:\n def loss(self, x): return C().c * x",
        "1.0",
        "2.0",
    ),
    "the class that a field is annotated with": (
        "class C(NamedTuple):\n c: float\n def f(self): return OLD * self.c\n"
        "@dataclass\nclass thing:\n settings: 'tuple[C, ...] | None'",
        "1",
        "2",
    ),
    "a named tuple": ("class C(NamedTuple):\n c: float = OLD\ndef thing(): return C()", "1", "2"),
    "an enumeration": ("class C(enum.Enum):\n A = OLD\ndef thing(): return C.A", "1", "2"),
    "the state of an object": (
        "class C:\n def __init__(self, c): self.c = c\n def __call__(self, x): return self.c * x\n"
        "thing = C(OLD)",
        "1",
        "2",
    ),
    "what an object leaves out of its pickle": (
        "class C:\n def __init__(self, c): self.c = c\n def __getstate__(self): return {}\n"
        "thing = C(OLD)",
        "1",
        "2",
    ),
    "the object of a method": (
        "class C:\n __slots__ = ('c',)\n def __init__(self, c): self.c = c\n"
        " def f(self, x): return self.c * x\nthing = C(OLD).f",
        "1",
        "2",
    ),
    "the object of a built-in method": ("C = [OLD]\nthing = C.count", "1", "2"),
    "an object with a `func` that is no partial": (
        "class C:\n func, args, keywords = len, (), {}\n def __init__(self, c): self.c = c\n"
        "thing = C(OLD)",
        "1",
        "2",
    ),
    "a list of subclasses": ("class C(list): pass\nthing = C([OLD])", "1", "2"),
    "an Equinox module": (
        "class thing(eqx.Module):\n w: jax.Array\n def __call__(self, x): return OLD * self.w * x",
        "1",
        "2",
    ),
    "a filtered function of Equinox": ("@eqx.filter_jit\ndef thing(x): return OLD * x", "1", "2"),
    "a function that replaces a library's": (
        "def my_mean(x): return OLD * x\nfake = type(np)('jax.numpy')\nfake.mean = my_mean\n"
        "def thing(x): return fake.mean(x)",
        "1",
        "2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen_and_the_same_again_is_the_same(name):
    source, before, after = CHANGES[name]
    one, same, other = (
        code_of(notebook(source.replace("OLD", t))) for t in (before, before, after)
    )
    assert one.unknown == other.unknown == ()
    assert one.digest == same.digest != other.digest


LAYOUT = """
def thing(x):
    return [2 * y for y in x]
"""


def test_comments_and_blank_lines_do_not_count_but_docstrings_of_functions_do():
    moved = "\n\n# a comment\n" + LAYOUT.replace("2 *", "2*").replace(
        "return", "return  ("
    ).replace(" in x]", " in x])  # another")
    documented = LAYOUT.replace("(x):\n", '(x):\n    """Twice."""\n')
    digests = [code_of(notebook(s)).digest for s in (LAYOUT, moved, documented)]
    assert digests[0] == digests[1] != digests[2]
    classes = ['class thing:\n "OLD"\n c = 1'.replace("OLD", doc) for doc in ("One.", "Two.")]
    assert len({code_of(notebook(source)).digest for source in classes}) == 1


def test_a_module_of_the_users_own_is_read_by_the_names_that_are_taken(tmp_path, monkeypatch):
    """`helpers.scale` counts, `helpers.other` does not, unless the whole module is handed on."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "helpers_of_a_test.py").write_text("scale = 1.0\nother = 1.0\n")
    module = importlib.import_module("helpers_of_a_test")
    uses = {
        "taken": "import helpers_of_a_test as h\ndef thing(x): return h.scale * x",
        "inside": "def thing(x):\n import helpers_of_a_test as h\n return h.scale * x",
        "from": "def thing(x):\n from helpers_of_a_test import scale\n return scale * x",
        "closed over": "def make(h):\n return lambda x: h.scale * x\n"
        "import helpers_of_a_test\nthing = make(helpers_of_a_test)",
        "handed on": "import helpers_of_a_test as h\ndef thing(x, n): return getattr(h, n) * x",
    }

    def digests():
        return {use: code_of(notebook(source)).digest for use, source in uses.items()}

    before = digests()
    module.other = 2.0
    now = digests()
    assert {use for use in uses if now[use] != before[use]} == {"inside", "handed on"}
    module.scale = 3.0
    assert not set(digests().values()) & {*before.values(), *now.values()}


def test_a_module_that_makes_its_names_late_is_asked_for_them(monkeypatch):
    late = types.ModuleType("late_of_a_test")
    monkeypatch.setitem(sys.modules, late.__name__, late)
    source, found = "import late_of_a_test as h\ndef thing(x): return h.scale * x", []
    for value in (1.0, 1.0, 2.0):
        late.__getattr__ = {"scale": value}.__getitem__
        found.append(code_of(notebook(source)).digest)
    assert found[0] == found[1] != found[2]


def test_what_is_guarded_counts():
    def guarded(x):
        try:
            return 1 / x
        except ZeroDivisionError:
            return 0.0

    bare = guarded.__code__.replace(co_exceptiontable=b"")
    assert bytecode(bare).digest != bytecode(guarded.__code__).digest


def test_what_a_cached_property_worked_out_does_not_count():
    thing = notebook(
        "class C:\n @functools.cached_property\n def size(self): return 1\nthing = C()"
    )
    before = code_of(thing).digest
    assert thing.size == 1 and code_of(thing).digest == before
    thing.other = 1
    assert code_of(thing).digest != before


def test_a_function_in_a_copy_of_our_names_is_not_ours():
    """As doctests define them: the module's name is no promise for their code."""
    found = []
    for value in (1, 2):
        names = {**vars(tasks), "C": value}
        exec("def f(x): return C * x", names)
        found.append(code_of(names["f"]))
    assert found[0].digest != found[1].digest and found[0].functions


def test_a_class_is_seen_as_it_is_now():
    cls = notebook("class thing:\n def loss(self, x): return x")
    before = code_of(cls).digest
    cls.loss = lambda self, x: 2 * x
    assert code_of(cls).digest != before


BUILT_IN = "builtin_function_or_method"
UNKNOWN = {
    "a generator": ("C = (x for x in 'abc')\ndef thing(): return next(C)", "thing.C: generator"),
    "an open file": (
        "C = open(__import__('os').devnull)\nC.close()\ndef thing(): return C",
        "thing.C: TextIOWrapper",
    ),
    "a lock": (
        "import threading\nC = threading.Lock()\nclass thing:\n def f(self): return C",
        "thing.f.C: lock",
    ),
    "code from text": ("def thing(x): return eval('2 * x')", f"thing.eval: {BUILT_IN}"),
    "the table of globals": (
        "def thing(x): return globals()[x]",
        f"thing.globals: {BUILT_IN}",
    ),
    "a module by a computed name": (
        "import importlib\ndef thing(x): return importlib.import_module(x)",
        "thing.importlib.import_module: function",
    ),
    "a function of a shared library": (
        "import ctypes\nC = ctypes.CDLL(None).abs\ndef thing(x): return C(x)",
        "thing.C: _FuncPtr",
    ),
    "a Python function inside a ufunc": (
        "C = np.frompyfunc(lambda x: x, 1, 1)\ndef thing(x): return C(x)",
        "thing.C: ufunc",
    ),
    "functions of one name in a set": (
        "C = {(lambda: 1), (lambda: 2)}\ndef thing(): return C",
        "thing.C: set",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_cannot_be_seen_is_said(name):
    source, said = UNKNOWN[name]
    assert code_of(notebook(source)).unknown == (said,)


def test_a_compiled_function_is_known_by_its_library_or_not_at_all(monkeypatch):
    assert code_of(math.sqrt).unknown == ()
    monkeypatch.setattr("dynascope.core.known.installed", lambda module: None)
    assert code_of(math.sqrt).unknown == ("sqrt: builtin_function_or_method",)


def test_libraries_are_known_by_name_and_version():
    for thing in (jax.nn.relu, jnp.linalg.norm, optax.adam, np.mean, tasks.IdentityMapping, len):
        found = code_of(thing)
        assert found.unknown == found.functions == ()
    assert code_of(jnp.sin).digest != code_of(jnp.cos).digest
    assert installed("jax.numpy") == f"jax {jax.__version__}"
    assert installed("functools") == installed("builtins") == PYTHON
    assert installed(__name__) is None  # these tests are nobody's library


def test_equinox_models_and_pairs_are_walked_through_our_own_functions():
    net = "class Net(eqx.Module):\n w: jax.Array\n def __call__(self, x): return OLD * self.w * x\n"
    make = net + "thing = lambda key: Net(jax.random.normal(key, (2,)))"
    digests = {
        code_of(models.from_equinox(notebook(make.replace("OLD", c))).apply).digest for c in "112"
    }
    assert len(digests) == 2


@pytest.mark.slow
def test_the_digest_is_the_same_in_other_processes(tmp_path):
    """Whatever the order of sets and the addresses of objects are there."""
    source = tmp_path / "several.py"
    source.write_text(
        HEAD
        + "class A(enum.Enum):\n X = 1\n"
        + "@dataclass(frozen=True)\nclass B:\n f: object = len\n g: object = lambda x: x\n"
        + "C, D = {'a', 'b', 'c', 1.5, (1, 'x')}, {A, B}\n"
        + "def thing(x): return x in {'p', 'q', 'r'} and C and D and B() and jax.vmap(B().g)\n"
    )
    program = "import sys; sys.path.insert(0, sys.argv[1]); import several\n"
    program += "from dynascope.core.code import code_of; print(code_of(several.thing))"
    found = set()
    for seed in ("1", "2"):
        process = subprocess.run(
            [sys.executable, "-c", program, tmp_path],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert "unknown=()" in process.stdout
        found.add(process.stdout.split("functions")[0])
    assert len(found) == 1


def test_names_are_read_with_the_attributes_that_follow():
    def reads(x):
        from os import path

        return [np.linalg.norm(y) for y in x], path

    found = {(r.source, r.name, r.attributes) for r in bytecode(reads.__code__).reads}
    assert found == {("global", "np", ("linalg", "norm")), ("import", "os", ("path",))}
