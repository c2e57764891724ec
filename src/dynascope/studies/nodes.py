"""The parts of a study: named nodes that say what they read.

A *run* gives an experiment (or several by name), which the engine executes, stores and
resumes. A *computation* is anything else that takes time; it is stored, item by item where it
has items. A *finding* is worked out from other nodes, once, when a claim or a chart asks.
Nodes only describe: `runner.evaluation` executes them.

A node whose data set is not there, or that the settings leave out, has the value `Missing`;
so has every node that reads it, and a claim about it is not applicable for that reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True)
class Missing:
    """The value of a node that cannot be had, with the reason in one line."""

    reason: str


@dataclass(frozen=True, eq=False)
class Node:
    """Something with a name that other parts of a study read."""

    name: str
    inputs: tuple[Node, ...] = ()

    def __getitem__(self, key: Any) -> Node:
        """One value of a node whose value is a dictionary, as a node of its own."""
        return Item(f"{self.name}: {key}", (self,), key)


@dataclass(frozen=True, eq=False)
class Item(Node):
    """One value of a node whose value is a dictionary."""

    key: Any = None


@dataclass(frozen=True, eq=False)
class Together(Node):
    """Those of some nodes that are there, by name."""

    keys: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Function(Node):
    """A node that a function `(settings, *values of inputs)` works out."""

    kind: ClassVar[str] = "finding"

    function: Callable[..., Any] = field(default=lambda s: None)
    data: str | None = None  # the data set without which the node is missing
    only_if: Callable[[Any], str | None] | None = None  # settings -> why it is left out, or None


@dataclass(frozen=True, eq=False)
class RunNode(Function):
    """An experiment, or a dictionary of experiments by name."""

    kind: ClassVar[str] = "run"
    seconds: Callable[[Any], float] | None = None  # estimate, where it depends on a computation


@dataclass(frozen=True, eq=False)
class Computation(Function):
    """Anything else that takes time.

    With `each` the function gets an item as its last argument, and the value is a dictionary
    by item; each finished item is stored. `reads` names the settings that it may read.
    """

    kind: ClassVar[str] = "computation"
    each: Callable[..., Any] | None = None  # (settings, *values of inputs) -> items
    reads: tuple[str, ...] | None = None  # None: all settings
    seconds: Callable[[Any], float] | None = None  # estimate on two cores


SETTINGS = Node("settings")


def together(**nodes: Node) -> Node:
    """A node whose value is a dictionary of those nodes that are there."""
    return Together("together", tuple(nodes.values()), tuple(nodes))


@dataclass(frozen=True)
class Case:
    """What a measuring function is put to: nodes and plain values, and the words for it."""

    words: str | Callable[[Any], str]
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes among the arguments and options."""
        return tuple(v for v in (*self.arguments, *self.options.values()) if isinstance(v, Node))


def case(words: str | Callable[[Any], str], *arguments: Any, **options: Any) -> Case:
    """A case with its words; nodes among the arguments are replaced by their values.

    Args:
        words: What the case is, in words, or a function of the settings that gives them.
        arguments: What the measuring function gets.
        options: What it gets by name.

    Returns:
        The case, for `on=`, `fails_on=` or `holds_on=` of a claim.
    """
    return Case(words, arguments, options)


def as_case(given: Node | tuple | Case) -> Case:
    """A case from what `on=` accepts: a node, several, or a case."""
    if isinstance(given, Case):
        return given
    return Case("", given if isinstance(given, tuple) else (given,), {})


def reach(nodes: tuple[Node, ...]) -> list[Node]:
    """All nodes that some nodes rest on, themselves included, inputs first."""
    found: dict[int, Node] = {}

    def visit(node: Node) -> None:
        if id(node) not in found:
            for before in node.inputs:
                visit(before)
            found[id(node)] = node

    for node in nodes:
        visit(node)
    return list(found.values())
