"""Killed inside of every run and computation, a study goes on to the same claims.

Here the kill is an exception that nothing catches, so that all studies can be put to it in one
process. A real SIGKILL inside of a run is in `tests/engine/test_processes.py`, inside of a
computation in `tests/runner/test_kill.py`, and at every change of the disk in `tests/store`.
"""

from __future__ import annotations

from collections import Counter

import pytest

from dynascope.engine import execution
from dynascope.runner import run
from dynascope.store import Store
from dynascope.store.computations import ComputationSink
from dynascope.store.sink import RecordSink
from dynascope.studies import studies

OURS = [s for s in studies if s.settings.__module__.startswith("dynascope.")]
# Those that take little; the others are run by hand.
QUICK = (
    "balance", "graph-pairs", "matrix-factorization", "neuron-balance", "noise-avoidance",
    "noisy-recall", "period-two", "quadratic-map", "quartic-orbits", "rooted-classes",
    "single-neuron", "tree-counting", "vector-diffusion", "walk-counting",
)  # fmt: skip


class Killed(BaseException):
    """What no part of the program expects."""


def arm(monkeypatch) -> None:
    """Let every record die once: after its second append, or before its end if there is none."""
    steps: Counter[str] = Counter()

    def deadly(sink_class, name: str) -> None:
        real = getattr(sink_class, name)

        def call(self, *arguments):
            key = self._manifest.fingerprint
            steps[key] += 1
            if name == "append":
                real(self, *arguments)
            if steps[key] == 2:
                self._lock.release()  # as the system does for a dead process
                raise Killed(key)
            return None if name == "append" else real(self, *arguments)

        monkeypatch.setattr(sink_class, name, call)

    for sink_class in (RecordSink, ComputationSink):
        for name in ("append", "finish"):
            deadly(sink_class, name)
    monkeypatch.setattr(execution, "APPEND_SECONDS", -1.0)  # every visit to Python appends


@pytest.mark.slow
@pytest.mark.parametrize(
    "study",
    [pytest.param(s, marks=[] if s.name in QUICK else pytest.mark.by_hand) for s in OURS],
    ids=lambda s: s.name,
)
def test_a_killed_study_goes_on_to_the_same_claims(study, outcomes, monkeypatch, tmp_path):
    unbroken = outcomes(study.name)
    arm(monkeypatch)
    store, deaths, outcome = Store(tmp_path), [], None
    while outcome is None:
        try:
            outcome = run(study.name, "smoke", store=store, progress=False)
        except Killed as death:
            deaths.append(str(death))
    assert len(set(deaths)) == len(deaths), "nothing is killed twice"
    records = {store.manifest(id_)["fingerprint"] for id_ in outcome.result.runs}
    assert records and records <= set(deaths), "every record of the study was killed on its way"
    assert [*map(repr, outcome.claims)] == [*map(repr, unbroken.claims)]
