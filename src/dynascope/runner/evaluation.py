"""The values of a study's nodes: each is worked out once, and stored if it takes time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from dynascope.core.plain import fingerprint
from dynascope.core.run import Run
from dynascope.data import absence, there
from dynascope.engine import Experiment, compiling_ahead
from dynascope.runner.computing import computation_key, compute
from dynascope.runner.split import split
from dynascope.runner.sweep import missing, run_experiment
from dynascope.store import Store
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
        self._keys: dict[Node, dict[str, Any]] = {}
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
            return fingerprint(self.settings)
        if isinstance(node, Computation):
            return fingerprint(self.key(node))
        if isinstance(node, RunNode):
            return [fingerprint(e) for e in self.named(node).values()]
        inputs = [self.identity(n) for n in node.inputs]
        return [node.name, *inputs, fingerprint(self.settings)]

    def key(self, node: Computation) -> dict[str, Any]:
        """What the fingerprint of a computation covers: all that it reads, and its code."""
        if node not in self._keys:
            inputs = [self.identity(n) for n in node.inputs]
            self._keys[node] = computation_key(self.study.name, node, self.settings, inputs)
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
            node, self.settings, values, self.key(node), self.store,
            label=label, again=self.again, progress=self.progress,
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
            dataset = run_experiment(
                experiment, store=self.store, again=self.again, progress=self.progress,
                label=f"{self.study.name}: {label}",
            )  # fmt: skip
            record = self.store.find(dataset.attrs["fingerprint"])
            self.records += [record] if record else []
            runs[key] = Run(dataset, experiment, record)
        return runs[""] if list(runs) == [""] else runs
