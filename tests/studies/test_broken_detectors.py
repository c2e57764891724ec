"""With any one detector replaced by a constant, nothing that rests on it is decided.

Each detector (`detectors.py`) is replaced by one that returns zeros, or ones, of the same form,
wherever it is bound; runs and long computations (see `kept`) stay as they are, so that a study
that the contract has run in the same session is judged anew in seconds. A claim rests on a
detector if its own case calls it and zeros or ones in its place change the number that is
measured. A claim that does not apply at smoke scale is put to its controls. All of it is slow:
every study is judged twice for each of its detectors. Those that only a long computation calls
are replaced in a test of their own, which does the computation anew for each of them: by hand.
"""

from __future__ import annotations

import dataclasses
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

from dynascope.runner.evaluation import Evaluation
from dynascope.store import Store
from dynascope.studies import studies
from dynascope.studies.judging import judge
from dynascope.studies.nodes import Computation, Missing, Node, RunNode

from .detectors import constant, detectors, replaced, tells_nothing

pytestmark = pytest.mark.slow
OURS = [s for s in studies if s.settings.__module__.startswith("dynascope.")]
TOO_LONG = 60.0  # seconds of one computation, done anew twice for each detector that it calls


def kept(study):
    """The nodes that stay as they are: runs, and computations that take half a second or more.

    Where nothing but computations calls a detector they are done anew: else nothing is replaced.
    """
    runs = {n for n in study.needed() if isinstance(n, RunNode)}
    long = {n for n in study.needed() if isinstance(n, Computation) and _seconds(study, n) >= 0.5}
    return runs | long if detectors(study, runs | long) else runs


def kept_by_hand(study):
    """The nodes that stay as they are by hand too: runs, and computations of minutes."""
    return {
        n for n in study.needed()
        if isinstance(n, RunNode)
        or (isinstance(n, Computation) and _seconds(study, n) >= TOO_LONG)
    }  # fmt: skip


def _seconds(study, node):
    return np.inf if node.seconds is None else node.seconds(study.at("smoke"))


def put_to(study, settings, value):
    """The claims of a study with what they measure, each in a case that there is at smoke scale.

    One that does not apply is put to its own controls: where it must hold, and where it must fail.
    """
    found = []
    for claim in study.claims:
        own = judge(claim, settings, value)
        if own.verdict != "not_applicable":
            found.append((claim, own.measured))
        else:
            found += _put_to_controls(claim, settings, value)
    return found


def _put_to_controls(claim, settings, value):
    found = []
    for word, case in (("holds", claim.holds_on), ("fails", claim.fails_on)):
        other = dataclasses.replace(claim, id=f"{claim.id} ({word})", on=case, note="")
        try:
            judged = judge(other, settings, value)
        except LookupError:  # the control is there, but not the part that the claim asks for
            continue
        if judged.verdict != "not_applicable":
            found.append((other, judged.measured))
    return found


class Intact:
    """A study as it is: the values of its nodes, and which detectors each claim calls.

    Args:
        study: Which one.
        kept_nodes: Those that are not done anew.
        store: Where its runs and computations are.
        scratch: A folder for computations that are done anew.
        monkeypatch: To put functions in the place of detectors.
    """

    def __init__(self, study, kept_nodes, store, scratch, monkeypatch):
        self.study, self.settings, self._scratch = study, study.at("smoke"), scratch
        self.kept = kept_nodes
        stored = Evaluation(study, self.settings, store, progress=False)
        known = {n: stored.value(n) for n in self.kept}
        self.value = self._evaluate(known).value
        self._called: set = set()
        noted = {d: self._noting(d) for d in detectors(study, self.kept)}
        with replaced(noted, monkeypatch), warnings.catch_warnings(action="ignore"):
            self.behind = {n: self._calls(lambda n=n: self.value(n)) for n in study.needed()}
            found = put_to(study, self.settings, self.value)
            self.claims = [claim for claim, _ in found]
            self.measured = {claim.id: measured for claim, measured in found}
            own = [noted.get(c.measure, c.measure) for c in self.claims]
            claims = zip(self.claims, own, strict=True)
            self.measuring = {c.id: self._calls(lambda c=c, m=m: self._measure(c, m))
                              for c, m in claims}  # fmt: skip

    def resting_on(self, detector):
        """The claims whose own case calls it, and an evaluation of all that calls it anew."""
        touched: set = set()
        for node in self.study.needed():  # inputs first
            calls = detector in self.behind[node] or any(n in touched for n in node.inputs)
            if calls and node not in self.kept:
                touched.add(node)
        claims = [c for c in self.claims
                  if detector in self.measuring[c.id] or touched & set(c.on.nodes)]  # fmt: skip
        known = {n: self.value(n) for n in self.study.needed() if n not in touched}
        return claims, self._evaluate(known)

    def _evaluate(self, known):
        """An evaluation that knows some values and works out the others, stored nowhere else."""
        store = Store(Path(tempfile.mkdtemp(dir=self._scratch)))
        evaluation = Evaluation(self.study, self.settings, store, progress=False)
        evaluation._values.update(known)
        return evaluation

    def _noting(self, detector):
        def noted(*args, **options):
            if not tells_nothing(detector, args, options):
                self._called.add(detector)
            return detector(*args, **options)

        return noted

    def _calls(self, work):
        self._called = set()
        work()
        return self._called

    def _measure(self, claim, measure):
        args = [self.value(v) if isinstance(v, Node) else v for v in claim.on.arguments]
        options = {k: self.value(v) if isinstance(v, Node) else v
                   for k, v in claim.on.options.items()}  # fmt: skip
        if not any(isinstance(v, Missing) for v in (*args, *options.values())):
            measure(*args, **options)


@pytest.mark.parametrize("study", OURS, ids=lambda s: s.name)
def test_nothing_is_decided_by_a_constant(study, outcomes, monkeypatch, tmp_path):
    found = detectors(study, kept(study))
    if not found:
        pytest.skip("its claims measure runs by themselves: there is nothing to replace")
    intact = Intact(study, kept(study), outcomes(study.name).store, tmp_path, monkeypatch)
    wrong = [w for d in found for w in decided(intact, d, monkeypatch)]
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.by_hand
@pytest.mark.parametrize("study", OURS, ids=lambda s: s.name)
def test_nothing_is_decided_by_a_constant_in_a_long_computation(
    study, outcomes, monkeypatch, tmp_path
):
    short = set(detectors(study, kept(study)))
    found = [d for d in detectors(study, kept_by_hand(study)) if d not in short]
    if not found:
        pytest.skip("its longer computations call no other detector")
    intact = Intact(study, kept_by_hand(study), outcomes(study.name).store, tmp_path, monkeypatch)
    wrong = [w for d in found for w in decided(intact, d, monkeypatch)]
    assert not wrong, "\n".join(map(str, wrong))


def decided(intact, detector, monkeypatch):
    """The claims that rest on a detector and are decided although it is a constant."""
    judged = [
        (number, claim)
        for number in (0, 1)
        for claim in _judged(intact, detector, number, monkeypatch)
    ]
    # A claim rests on a detector whose answer can change the number that it measures.
    moved = {claim.id for _, claim in judged if claim.measured != intact.measured[claim.id]}
    return [
        (claim.id, f"{detector.__module__}.{detector.__name__}", f"{claim.verdict} at {number}")
        for number, claim in judged
        if claim.id in moved and claim.verdict in ("holds", "fails")
    ]


def _judged(intact, detector, number, monkeypatch):
    """The claims whose own case calls the detector, judged while it is a constant."""

    def broken(*args, **options):
        found = detector(*args, **options)
        return found if tells_nothing(detector, args, options) else constant(found, number)

    claims, evaluation = intact.resting_on(detector)
    found = []
    # A user's session goes on after a warning, and so must the claim here.
    with replaced({detector: broken}, monkeypatch), warnings.catch_warnings(action="ignore"):
        for claim in claims:
            measure = broken if claim.measure is detector else claim.measure
            try:
                judged = dataclasses.replace(claim, measure=measure)
                found.append(judge(judged, intact.settings, evaluation.value))
            except Exception:
                continue  # so broken that the study stops: nothing is decided
    return found
