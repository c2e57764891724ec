"""What a study would run and compute, node by node, and what it would cost."""

from __future__ import annotations

from typing import Any

from dynascope.core.plain import fingerprint
from dynascope.runner.computing import own_items
from dynascope.runner.estimate import Estimate, estimate
from dynascope.runner.evaluation import Evaluation
from dynascope.runner.sweep import missing
from dynascope.store import Store
from dynascope.studies import Study
from dynascope.studies.nodes import Computation, RunNode, reach

STATED = "stated by the study"
UNKNOWN = "not known"


def forecast(study: Study, settings: Any, store: Store, again: bool = False) -> list[Estimate]:
    """An estimate of every run and computation that claims and charts rest on.

    Args:
        study: What would be run.
        settings: Of the study.
        store: What is there costs nothing, unless it is computed again.
        again: Whether it would be computed although it is stored.

    Returns:
        Estimates in the order of execution; nodes that these settings leave out have none.
    """
    values = Evaluation(study, settings, store, progress=False)
    found: list[Estimate] = []
    compiled: set[str] = set()
    for node in study.needed():
        if isinstance(node, Computation) and not values.absent(node):
            found.append(_computation(node, values, again))
        elif isinstance(node, RunNode) and not values.absent(node):
            if _ready(node, values):
                found += estimate(values.named(node), store, again, compiled)
            else:
                found.append(_stated(node, settings))
    return found


def without_data(study: Study, settings: Any, store: Store) -> list[str]:
    """What would be done if its data set were there: a line for each reason, with the nodes."""
    values = Evaluation(study, settings, store, progress=False)
    wanted = [n for n in study.needed() if isinstance(n, Computation | RunNode) and n.data
              and not (n.only_if and n.only_if(settings))]  # fmt: skip
    nodes: dict[str, list[str]] = {}
    for node in wanted:
        if missing := values.absent(node):
            nodes.setdefault(missing.reason, []).append(node.name)
    return [f"{reason}; left out: {'; '.join(names)}" for reason, names in nodes.items()]


def _ready(node: RunNode, values: Evaluation) -> bool:
    """Whether the experiments can be told without computing anything first."""
    before = [n for n in reach(node.inputs) if isinstance(n, Computation | RunNode)]
    if any(isinstance(n, RunNode) for n in before):
        return False
    return all(_is_stored(n, values) for n in before)


def _is_stored(node: Computation | RunNode, values: Evaluation) -> bool:
    """Whether the store has the node's value, or it is left out."""
    if values.absent(node):
        return True
    if isinstance(node, Computation):
        found = None if _unready(node, values) else values.store.find(fingerprint(values.key(node)))
        return found is not None
    return _ready(node, values) and not list(missing(values.named(node).values(), values.store))


def _computation(node: Computation, values: Evaluation, again: bool) -> Estimate:
    known = None if _unready(node, values) else values.store.find(fingerprint(values.key(node)))
    if known and not again:
        return Estimate(node.name, "computation", seconds=0.0, basis=f"stored as {known}")
    if known:
        seconds = values.store.manifest(known)["seconds"]
        return Estimate(node.name, "computation", seconds=seconds, basis=f"record {known}")
    return _stated(node, values.settings)


def _stated(node: Computation | RunNode, settings: Any) -> Estimate:
    """What the study says of a node, if it says anything."""
    if node.seconds is None:
        return Estimate(node.name, node.kind, basis=UNKNOWN)
    return Estimate(node.name, node.kind, seconds=node.seconds(settings), basis=STATED)


def _unready(node: Computation, values: Evaluation) -> bool:
    """Whether its fingerprint rests on experiments or items that only a computation would tell."""
    runs = [n for n in reach(node.inputs) if isinstance(n, RunNode)]
    itemised = [n for n in reach((node,)) if isinstance(n, Computation) and own_items(n)]
    before = [n for n in reach(tuple(i for c in itemised for i in c.inputs))
              if isinstance(n, Computation | RunNode)]  # fmt: skip
    return not (all(_ready(n, values) for n in runs) and all(_is_stored(n, values) for n in before))
