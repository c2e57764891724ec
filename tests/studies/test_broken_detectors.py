"""With any one detector replaced by a constant, nothing that rests on it is decided.

A detector is a function that a claim's measuring function, or a finding behind it, calls to
tell something about a run: those of `dynascope.probes`, and the study's own. What is asked of
settings alone tells nothing about a run. Each detector is replaced by one that returns zeros, or
ones, of the same form, wherever it is bound; runs and computations stay as they are, so that a
study that the contract has run in the same session is only judged anew, in a second or less. A
claim rests on a detector if its own case calls it and zeros or ones in its place change the
number that is measured. A claim that does not apply at smoke scale is put to its controls.
"""

from __future__ import annotations

import dataclasses
import sys
import warnings
from contextlib import contextmanager
from types import FunctionType

import jax
import numpy as np
import pytest
import xarray as xr

from dynascope.core.records import Measured
from dynascope.core.run import Run
from dynascope.core.spec import Spec
from dynascope.runner.evaluation import Evaluation
from dynascope.studies import studies
from dynascope.studies.judging import judge
from dynascope.studies.nodes import Computation, Function, Missing, Node, RunNode

OURS = [s for s in studies if s.settings.__module__.startswith("dynascope.")]
# In these a constant that makes numpy warn counts as one that stops the study, and claims that do
# not apply are left out: they have been seen no further.
LESS = (
    "agop-batch-size", "association-first", "associative-memory", "catapult-batch", "catapult-gd",
    "catapult-multiple", "catapult-sgd", "jacobian-stages", "multiple-descent", "noisy-recall",
    "recall-parts", "sim-failure", "sim-slowdown", "synthetic-ioi",
)  # fmt: skip
# Takes over four minutes at smoke scale, and was never seen. Its detectors are those of rank-vit.
LONG = ("rank-gpt",)


def constant(value, number):
    """Something of the same form with every number replaced."""
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


def is_detector(function, study):
    """Whether a function tells something about runs: a probe's or the phenomenon's own."""
    if not isinstance(function, FunctionType):
        return False
    own = study.settings.__module__.rsplit(".", 2)[0]
    return function.__module__.startswith(("dynascope.probes", own))


def called_by(function, study, known):
    """The detectors that a function names, and those that they name."""
    code = [function.__code__]
    while code:
        for name in code[0].co_names:
            found = function.__globals__.get(name)
            if is_detector(found, study) and found not in known:
                known.append(found)
                if not found.__module__.startswith("dynascope.probes"):  # those are whole
                    called_by(found, study, known)
        code = code[1:] + [c for c in code[0].co_consts if hasattr(c, "co_names")]
    return known


def detectors(study):
    """The detectors of a study's claims."""
    known: list = []
    findings = [
        n.function for n in study.needed()
        if isinstance(n, Function) and not isinstance(n, RunNode | Computation)
    ]  # fmt: skip
    for function in [c.measure for c in study.claims] + findings:
        if isinstance(function, FunctionType):
            called_by(function, study, known)
    return known


@contextmanager
def replaced(detectors_by, monkeypatch):
    """Other functions in the place of detectors, wherever they are bound."""
    with monkeypatch.context() as patch:
        for module in [m for n, m in sys.modules.items() if n.startswith("dynascope")]:
            for name, value in list(vars(module).items()):
                if isinstance(value, FunctionType) and value in detectors_by:
                    patch.setattr(module, name, detectors_by[value])
        yield


def of_settings(args, options):
    """Whether a call gets nothing but settings."""
    return all(isinstance(v, Spec) for v in (*args, *options.values()))


def put_to(study, settings, value):
    """The claims of a study with what they measure, each in a case that there is at smoke scale.

    One that does not apply is put to its own controls: where it must hold, and where it must fail.
    """
    found = []
    for claim in study.claims:
        own = judge(claim, settings, value)
        if own.verdict != "not_applicable":
            found.append((claim, own.measured))
        elif study.name not in LESS:
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
    """A study as it is: the values of its nodes, and which detectors each claim calls."""

    def __init__(self, study, store, monkeypatch):
        self.study, self.settings = study, study.at("smoke")
        self.warnings = "error" if study.name in LESS else "ignore"
        self._store = store
        self._evaluation = Evaluation(study, self.settings, store, progress=False)
        for node in study.needed():
            if isinstance(node, RunNode | Computation):
                self._evaluation.value(node)
        self._called: set = set()
        noted = {d: self._noting(d) for d in detectors(study)}
        with replaced(noted, monkeypatch), warnings.catch_warnings(action=self.warnings):
            self.behind = {n: self._calls(lambda n=n: self.value(n)) for n in study.needed()}
            found = put_to(study, self.settings, self.value)
            self.claims = [claim for claim, _ in found]
            self.measured = {claim.id: measured for claim, measured in found}
            own = [noted.get(c.measure, c.measure) for c in self.claims]
            claims = zip(self.claims, own, strict=True)
            self.measuring = {c.id: self._calls(lambda c=c, m=m: self._measure(c, m))
                              for c, m in claims}  # fmt: skip

    def value(self, node):
        return self._evaluation.value(node)

    def resting_on(self, detector):
        """The claims whose own case calls it, and an evaluation of all that calls it anew."""
        touched: set = set()
        for node in self.study.needed():  # inputs first
            stored = isinstance(node, RunNode | Computation)
            calls = detector in self.behind[node] or any(n in touched for n in node.inputs)
            if calls and not stored:
                touched.add(node)
        claims = [c for c in self.claims
                  if detector in self.measuring[c.id] or touched & set(c.on.nodes)]  # fmt: skip
        evaluation = Evaluation(self.study, self.settings, self._store, progress=False)
        known = {n: self.value(n) for n in self.study.needed() if n not in touched}
        evaluation._values.update(known)
        return claims, evaluation

    def _noting(self, detector):
        def noted(*args, **options):
            if not of_settings(args, options):
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


@pytest.mark.parametrize(
    "study",
    [pytest.param(s, marks=[pytest.mark.by_hand] if s.name in LONG else []) for s in OURS],
    ids=lambda s: s.name,
)
def test_nothing_is_decided_by_a_constant(study, outcomes, monkeypatch):
    if not detectors(study):
        pytest.skip("its claims measure by themselves: there is nothing to replace")
    intact = Intact(study, outcomes(study.name).store, monkeypatch)
    assert not [w for d in detectors(study) for w in decided(intact, d, monkeypatch)]


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
        return found if of_settings(args, options) else constant(found, number)

    claims, evaluation = intact.resting_on(detector)
    found = []
    # A user's session goes on after a warning, and so must the claim here.
    with replaced({detector: broken}, monkeypatch), warnings.catch_warnings(action=intact.warnings):
        for claim in claims:
            measure = broken if claim.measure is detector else claim.measure
            try:
                judged = dataclasses.replace(claim, measure=measure)
                found.append(judge(judged, intact.settings, evaluation.value))
            except Exception:
                continue  # so broken that the study stops: nothing is decided
    return found
