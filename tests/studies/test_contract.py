"""What every study keeps, walked from the registry."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import tomllib
from pathlib import Path
from types import CodeType

import numpy as np
import pytest

from dynascope.core.choices import SCALES
from dynascope.core.errors import UnknownName
from dynascope.core.plain import fingerprint, from_plain, to_plain
from dynascope.core.sources import documents
from dynascope.report.headline import curve_of
from dynascope.studies import measures, studies
from dynascope.studies.comparisons import Bound
from dynascope.studies.nodes import Computation, Function, Node, RunNode, reach
from dynascope.studies.study import first_sentence

OURS = [s for s in studies if s.settings.__module__.startswith("dynascope.")]
EXPECTED = tomllib.loads(Path(__file__).with_name("verdicts.toml").read_text(encoding="utf-8"))
ABSENT = "is not there"  # what `data.absence` says
every = pytest.mark.parametrize("study", OURS, ids=lambda s: s.name)


@every
def test_claims_have_words_sources_and_cases(study):
    assert study.title and study.claims, "a study without a claim decides nothing"
    for claim in study.claims:
        assert claim.words.endswith("."), claim.id
        assert not re.match(r"[a-z]{2,}\b", claim.words), f"{claim.id} begins like half a sentence"
        assert claim.fails_on.words, claim.id
        assert not isinstance(claim.bound, Bound) or claim.bound.origin in (
            "printed", "derived", "ours"
        )  # fmt: skip
        ids = [c.id for c in study.claims]
        assert claim.partner is None or claim.partner in ids, claim.id
        for source in claim.sources:
            assert source.document is None or documents.get(source.document.handle)
            assert source.document or source.how, claim.id


@every
def test_the_measured_number_is_said_in_words_that_stand_alone(study):
    """Not by the names of arguments, nor by what `average` or `share` say of any number."""
    general = {first_sentence(f) for f in vars(measures).values() if inspect.isfunction(f)}
    for claim in study.claims:
        assert claim.quantity.endswith("."), claim.id
        assert "`" not in claim.quantity and claim.quantity not in general, claim.id


@every
def test_controls_are_of_the_claims_own_kind(study):
    """Same function, same kind of input: what is a node in the own case is one in the others.

    A number typed in, or an option that only a control has, would be another measurement.
    """
    for claim in study.claims:
        for other in (claim.fails_on, claim.holds_on):
            assert other.words, claim.id
            assert _kinds(other) == _kinds(claim.on), f"{claim.id}: {other.words}"
        cases = [[*map(id, c.nodes), repr(c.arguments), repr(c.options)] for c in claim.cases]
        assert all(cases.count(c) == 1 for c in cases), f"{claim.id} has the same case twice"


def _kinds(case):
    """Which arguments and options are nodes."""
    nodes = [isinstance(v, Node) for v in case.arguments]
    return nodes, {k: isinstance(v, Node) for k, v in case.options.items()}


@every
def test_the_numbers_of_controls_are_measured(study, outcomes):
    """A control's number comes from a run, a computation, a planted input, or a formula's function.

    It is neither one of the numbers that were typed in, as arguments or in the code of a
    planted input, nor the negative or a multiple of what was measured in the claim's own case.
    """
    for spec, claim in zip(study.claims, outcomes(study.name).claims, strict=True):
        for case, control in ((spec.fails_on, claim.control), (spec.holds_on, claim.positive)):
            if control is None or control.measured.value is None:
                continue
            value, own = control.measured.value, claim.measured
            # Counts, shares and powers may be whole or half numbers by themselves.
            typed = {*_typed(case), *_planted(case)}
            met = value in typed and 2 * value not in range(-20, 21)
            assert not met, f"{claim.id}: {control.statement}"
            # 1/2 and 1 may meet by themselves; 0.37412 and -0.37412 do not.
            if own.value and _generic(own.value):
                scaled = any(_multiple(control.measured, own, k) for k in MULTIPLES)
                assert not scaled, f"{claim.id}: {control.statement}"


def _multiple(one, other, factor):
    """Whether value and interval of one are a multiple of the other's; counts may share a value."""
    ends = [(m.value, *sorted((m.low, m.high))) if m.low is not None else (m.value,)
            for m in (one, other)]  # fmt: skip
    if len(ends[0]) != len(ends[1]):
        return False
    wanted = [factor * v for v in ends[1]]
    wanted[1:] = sorted(wanted[1:])
    return np.allclose(ends[0], wanted, rtol=1e-12, atol=0)


MULTIPLES = (-10, -2, -1, -0.5, 0.1, 0.5, 2, 3, 5, 10, 100)


def _planted(case):
    """The plain numbers in the code of the findings of a case that read nothing."""
    made = [n for n in reach(case.nodes) if type(n) is Function and not n.inputs]
    return [float(number) for node in made for number in _literals(node.function.__code__)]


def _literals(constant):
    """The numbers among a function's constants, and those of what is defined in it."""
    if isinstance(constant, CodeType):
        constant = constant.co_consts
    if isinstance(constant, tuple):
        return [number for part in constant for number in _literals(part)]
    is_number = isinstance(constant, int | float) and not isinstance(constant, bool)
    return [constant] if is_number else []


@every
def test_one_draw_decides_nothing(study, outcomes):
    """What rests on a drawn seed is measured over several, never `exact` from one.

    Told where the settings have a `seed`, and what the own case rests on reads it. An identity is
    exempt, whose bound is rounding: one random place at which it is true is as good as many.
    """
    if "seed" not in study.settings.__dataclass_fields__:
        return
    for spec, claim in zip(study.claims, outcomes(study.name).claims, strict=True):
        drawn = any(_reads_a_seed(node) for node in reach(spec.on.nodes))
        if drawn and claim.measured.kind == "exact":
            high = claim.expected.get("high")
            assert high is not None and abs(high) <= ROUNDING, claim.id


ROUNDING = 1e-9


def _reads_a_seed(node):
    """Whether a node may read the setting `seed`, in its function or in those of its module."""
    if not hasattr(node, "function"):
        return False
    if getattr(node, "reads", None) is not None:
        return "seed" in node.reads
    seen, waiting = set(), [node.function]
    while waiting:
        function = waiting.pop()
        if function in seen or not inspect.isfunction(function):
            continue
        seen.add(function)
        names = _names(function.__code__)
        if "seed" in names:
            return True
        own = (function.__globals__.get(n) for n in names)
        waiting += [f for f in own if getattr(f, "__module__", None) == function.__module__]
    return False


def _names(code):
    """The names in a function's code, and in the functions within it."""
    inner = [n for c in code.co_consts if hasattr(c, "co_names") for n in _names(c)]
    return {*code.co_names, *inner}


def _typed(case):
    """The plain numbers among a case's arguments and options, in lists and tuples too."""
    found, waiting = [], [*case.arguments, *case.options.values()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list | tuple):
            waiting += value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found.append(float(value))
    return found


def _generic(value):
    """Whether a number is no simple fraction."""
    return abs(value * 5040 - round(value * 5040)) > 1e-6


@every
def test_every_run_and_computation_is_read_by_something(study):
    needed = study.needed()
    unused = [n.name for n in study.nodes if n not in needed]
    assert not unused


@every
def test_every_computation_has_an_estimate(study):
    unknown = [n.name for n in study.nodes if isinstance(n, Computation) and not n.seconds]
    assert not unknown, "a dry run would say less than it takes"


# Reading the file takes most of it: each item would read it anew.
ALL_AT_ONCE = {"graphs of reddit-multi-5k", "graphs of collab"}


@every
def test_long_computations_have_items(study):
    """Each finished item is kept, so that a kill loses no more than one."""
    whole = [n for n in study.nodes if isinstance(n, Computation) and not n.each]
    long = {n.name for n in whole for scale in SCALES if n.seconds(study.at(scale)) > 60}
    assert long <= ALL_AT_ONCE


@every
def test_there_is_one_headline(study):
    assert sum(chart.headline for chart in study.charts) == 1


@every
def test_settings_of_every_scale_come_back_and_differ(study):
    prints = set()
    for scale in SCALES:
        settings = study.at(scale)
        assert from_plain(to_plain(settings)) == settings
        prints.add(fingerprint(settings))
    # What is counted exactly in seconds needs no smaller setting.
    trains = any(isinstance(n, RunNode) for n in study.nodes)
    assert len(prints) == len(SCALES) or not trains, "two scales are the same"


@every
def test_smoke_verdicts_are_those_that_there_is_a_reason_for(study, outcomes):
    outcome = outcomes(study.name)
    expected = EXPECTED[study.name]
    absent = [c for c in outcome.claims if c.verdict == "not_applicable" and ABSENT in c.note]
    found = {c.id.split("/")[1]: c.verdict for c in outcome.claims if c not in absent}
    left_out = {c.id.split("/")[1] for c in absent}
    assert found == {s: verdict for s, (verdict, _) in expected.items() if s not in left_out}
    assert set(expected) == {*found, *left_out} and all(why for _, why in expected.values())
    for claim in outcome.claims:
        if claim.verdict == "not_applicable":
            assert claim.control is None and claim.note, claim.id
        else:
            assert claim.positive is not None, claim.id
    assert outcome.result.headline == outcome.charts[0].name
    assert curve_of(outcome.charts[0]).x, "the terminal can draw it"
    names = [chart.name for chart in outcome.charts]
    assert len(set(names)) == len(names) and all(c.caption for c in outcome.charts)
    if absent:
        pytest.skip(f"{len(absent)} claims are not judged: {absent[0].note}")


def test_every_expected_verdict_belongs_to_a_study():
    assert set(EXPECTED) == {s.name for s in OURS}


def test_a_study_is_a_folder_of_its_phenomenon():
    import dynascope.studies as package

    for study in OURS:
        folder = study.settings.__module__.rpartition(".")[0]
        assert folder.count(".") == 3, study.name
        assert folder.rsplit(".", 1)[1] == study.name.replace("-", "_")
        assert importlib.import_module(folder).__doc__
    phenomena = [m.name for m in pkgutil.iter_modules(package.__path__) if m.ispkg]
    assert {s.phenomenon.replace("-", "_") for s in OURS} == set(phenomena)


def test_unknown_names_give_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'swing-by'"):
        studies.get("swing-bye")
    with pytest.raises(UnknownName, match="did you mean 'laptop'"):
        studies.get("swing-by").at("labtop")
