"""The values of a study's nodes: each is worked out once, and stored if it takes time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from dynascope.core.plain import fingerprint, identify
from dynascope.core.spec import is_ours
from dynascope.data import absence, there
from dynascope.engine import Experiment, compiling_ahead
from dynascope.runner.computing import computation_key, compute, node_items, own_items
from dynascope.runner.split import split
from dynascope.runner.sweep import missing, recorded_run
from dynascope.store import Store
from dynascope.studies.code import function_code
from dynascope.studies.nodes import (
    SETTINGS,
    Computation,
    Function,
    Item,
    Missing,
    Node,
    RunNode,
    Together,
)
from dynascope.studies.study import Study

Experiments = dict[str, Experiment]


class Evaluation:
    """A study under given settings; `value` gives a node's value.

    Args:
        study: Whose nodes.
        settings: Of the study.
        store: Where runs and computations are kept.
        again: Compute although it is stored.
        progress: Whether to show progress.
        tell: Called with a line before each run and computation.
    """

    def __init__(
        self,
        study: Study,
        settings: Any,
        store: Store,
        *,
        again: bool = False,
        progress: bool = True,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.study, self.settings, self.store = study, settings, store
        self.again, self.progress, self.tell = again, progress, tell
        self.records: list[str] = []  # ids of stored runs and computations
        timed = [n for n in study.needed() if isinstance(n, RunNode | Computation)]
        self._numbers: dict[Node, str] = {n: f"{i}/{len(timed)}" for i, n in enumerate(timed, 1)}
        self._values: dict[Node, Any] = {SETTINGS: settings}
        self._settings_key = identify(settings).key
        self._keys: dict[Node, dict[str, Any]] = {}
        self._items: dict[Node, list[Any]] = {}
        self._experiments: dict[Node, Experiments | Missing] = {}

    def value(self, node: Node) -> Any:
        """The value of a node, or `Missing`."""
        if node not in self._values:
            self._values[node] = self._work_out(node)
        return self._values[node]

    def compiling_ahead(self, nodes: Iterable[Node]) -> AbstractContextManager[None]:
        """Compile what the store cannot answer on other threads during the body."""
        wanted = [e for n in nodes if isinstance(n, RunNode) for e in self.named(n).values()]
        to_run = missing(wanted, None if self.again else self.store)
        return compiling_ahead([group for e in to_run for _, group in split(e)])

    def experiments(self, node: RunNode) -> Experiments | Missing:
        """What a run node would run, by name; works out what it reads."""
        if node not in self._experiments:
            found = self._call(node)
            whole = isinstance(found, Experiment)
            self._experiments[node] = {"": found} if whole else found
        return self._experiments[node]

    def named(self, node: RunNode) -> Experiments:
        """The experiments of a run node by label; none if it is missing."""
        found = self.experiments(node)
        if isinstance(found, Missing):
            return {}
        return {f"{node.name}, {key}" if key else node.name: e for key, e in found.items()}

    def absent(self, node: Function) -> Missing | None:
        """Why a node is left out, if it is: the settings say so, or its data is not there."""
        reason = node.only_if(self.settings) if node.only_if else None
        if reason is None and node.data and not there(node.data):
            reason = absence(node.data)
        return None if reason is None else Missing(reason)

    def identity(self, node: Node) -> Any:
        """What decides a node's value, as plain data."""
        if node is SETTINGS:
            return self._settings_key
        if isinstance(node, Function) and self.absent(node):
            return [node.name, "missing"]
        if isinstance(node, Computation):
            return fingerprint(self.key(node))
        if isinstance(node, RunNode):
            return [[name, identify(e).key] for name, e in self.named(node).items()]
        inputs = [self.identity(n) for n in node.inputs]
        return [node.name, *self._code(node), *inputs, self._settings_key]

    def _code(self, node: Node) -> list[str]:
        """What a finding does, if that is code of the user's own; which names stand together."""
        if isinstance(node, Together):
            return list(node.keys)
        if isinstance(node, Function) and not is_ours(node.function):
            return [function_code(node.function)]
        return []

    def items(self, node: Computation) -> list[Any]:
        """What a computation is computed for; nothing where an input is missing."""
        if node not in self._items:
            values = [self.value(n) for n in node.inputs]
            gone = self.absent(node) or any(isinstance(v, Missing) for v in values)
            self._items[node] = [] if gone else node_items(node, self.settings, values)
        return self._items[node]

    def key(self, node: Computation) -> dict[str, Any]:
        """What the fingerprint of a computation covers: all that it reads, and its code."""
        if node not in self._keys:
            inputs = [self.identity(n) for n in node.inputs]
            items = self.items(node) if own_items(node) else None
            self._keys[node] = computation_key(self.study.name, node, self.settings, inputs, items)
        return self._keys[node]

    def _work_out(self, node: Node) -> Any:
        if isinstance(node, Item):
            inside = self.value(node.inputs[0])
            if isinstance(inside, Missing):
                return inside
            return inside.get(node.key, Missing(f"these settings leave out {node.key}"))
        if isinstance(node, Together):
            found = dict(zip(node.keys, map(self.value, node.inputs), strict=True))
            return {k: v for k, v in found.items() if not isinstance(v, Missing)}
        if isinstance(node, RunNode):
            return self._run(node)
        assert isinstance(node, Function)
        return self._call(node)

    def _call(self, node: Function) -> Any:
        """The node's function on the values of what it reads."""
        absent = self.absent(node)
        values = [] if absent else [self.value(n) for n in node.inputs]
        gone = absent or next((v for v in values if isinstance(v, Missing)), None)
        if gone:
            return gone
        if not isinstance(node, Computation):
            return node.function(self.settings, *values)
        label = f"{self.study.name}: {node.name}"
        found, record = compute(
            node, self.settings, values, self.items(node), self.key(node), self.store,
            label=label, study=self.study.name, again=self.again, progress=self.progress,
            begin=lambda: self._say(node, node.name),
        )  # fmt: skip
        self.records.append(record)
        return found

    def _say(self, node: Node, label: str) -> None:
        self.tell(f"{self._numbers.get(node, '')} {label}".strip())

    def _run(self, node: RunNode) -> Any:
        found = self.experiments(node)
        if isinstance(found, Missing):
            return found
        runs = {}
        for key, (label, experiment) in zip(found, self.named(node).items(), strict=True):
            self._say(node, label)
            runs[key] = recorded_run(
                experiment, store=self.store, again=self.again, progress=self.progress,
                label=f"{self.study.name}: {label}", study=self.study.name,
            )  # fmt: skip
            self.records += filter(None, [runs[key].record])
        return runs[""] if list(runs) == [""] else runs
