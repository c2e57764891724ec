"""What every explorer promises; the list is the registry's."""

import ast
import inspect
import json

import numpy as np
import pytest

import dynascope as ds
from dynascope.core.errors import BadInput
from dynascope.explorers import BUDGET, Choice, Click, Drag, Slider, Words, explorers
from dynascope.explorers.budget import fitted
from dynascope.report.plotly_charts import NARROW, figure
from dynascope.studies import studies

QUICK = ("balance", "factorisation", "graph-classes", "quadratic-map")  # compile little
ALL = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
    for name in explorers.names()
]
THERE = {
    "associative-memory", "balance", "catapult", "factorisation", "graph-classes", "linearity",
    "one-layer", "orbits", "quadratic-map", "rank-staircase", "swing-by",
}  # fmt: skip


def moved(explorer, name):
    """Another value of a move than the first."""
    _, move = explorer.named()[name]
    value = explorer.values()[name]
    if isinstance(move, Slider):
        if isinstance(value, int):
            return value + 1 if value < move.high else value - 1
        near = 0.9 * value + 0.1 * move.high if value < move.high else 0.9 * value + 0.1 * move.low
        return near
    if isinstance(move, Choice):
        return next(o for o in move.options if o != value)
    return None


def test_none_of_the_named_ones_is_missing():
    assert set(explorers.names()) >= THERE


@pytest.mark.parametrize("name", explorers.names())
def test_declared_in_full(name):
    explorer = explorers.get(name)
    assert explorer.title and len(explorer.about) > 60 and explorer.about.endswith(".")
    assert any(isinstance(move, Slider) for move in explorer.moves)
    for study in explorer.studies:
        assert studies.get(study).phenomenon == explorer.phenomenon
    named = explorer.named()
    assert len(named) == sum(
        2 if isinstance(m, Drag) else 0 if isinstance(m, Click) else 1 for m in explorer.moves
    )
    for key, (_, move) in named.items():
        move.check(explorer.values()[key])  # what it begins with is allowed
    for move in explorer.moves:
        if isinstance(move, Click):
            paths = {path for path, m in named.values() if isinstance(m, Slider)}
            assert {move.x, move.y} <= paths


@pytest.mark.parametrize("name", explorers.names())
def test_its_file_is_a_declaration_of_about_forty_lines(name):
    """Imports aside; what computes and draws is in instruments."""
    text = inspect.getsource(inspect.getmodule(explorers.get(name).function))
    imports = [n for n in ast.parse(text).body if isinstance(n, ast.Import | ast.ImportFrom)]
    written = sum(bool(line.strip()) for line in text.splitlines())
    assert written - sum(n.end_lineno - n.lineno + 1 for n in imports) <= 45


@pytest.mark.parametrize("name", explorers.names())
def test_values_out_of_range_are_refused_in_one_line(name):
    explorer = explorers.get(name)
    for key, (_, move) in explorer.named().items():
        wrong = {
            Slider: [float("nan"), float("inf"), "1", None, True, [1], 1e300, {"a": 1}],
            Choice: ["nothing like it", None, [], 10**9],
            Words: [3, None, ["x"]],
            Drag: [3, "ab", [2, 1], [1], [1, float("nan")], [None, None]],
        }[type(move)]
        for value in wrong:
            with pytest.raises(BadInput) as error:
                explorer.at(**{key: value})
            assert "\n" not in str(error.value)
    with pytest.raises(BadInput, match=r"did you mean|Known"):
        explorer.at(no_such_slider=1)


@pytest.mark.parametrize("name", ALL)
def test_draws_and_every_slider_moves_something(name):
    explorer = explorers.get(name)
    first = explorer()
    assert first.numbers and all(n.endswith(".") for n in first.numbers)
    assert len(first.dataset.data_vars) and not first.cut
    for form in ((), (NARROW,)):
        json.dumps(figure(first.chart, *form), allow_nan=False)
    for key in explorer.named():
        value = moved(explorer, key)
        if value is not None:
            assert explorer(**{key: value}).chart != first.chart, key


@pytest.mark.parametrize("name", ALL)
def test_the_same_values_give_the_same_numbers(name):
    one, other = (explorers.get(name)().dataset for _ in range(2))
    for variable in one.data_vars:
        np.testing.assert_array_equal(one[variable].values, other[variable].values)


def corners(explorer):
    """Settings with every slider and choice low, and every one high."""
    for end in (0, -1):
        yield explorer.at(**{
            key: (move.low, move.high)[end] if isinstance(move, Slider) else move.options[end]
            for key, (_, move) in explorer.named().items() if isinstance(move, Slider | Choice)
        })  # fmt: skip


@pytest.mark.parametrize("name", explorers.names())
def test_a_picture_fits_into_the_budget_or_says_what_is_cut(name):
    explorer = explorers.get(name)
    assert 1 <= explorer.work(explorer.settings()).total <= BUDGET  # nothing is cut at first
    for settings in corners(explorer):
        work = explorer.work(settings)
        assert work.total <= BUDGET or explorer.cut
        if explorer.cut:
            kept, line = fitted(settings, work, explorer.cut, max(work.total // 2, 1))
            assert "Cut off" in line and explorer.work(kept).total <= max(work.total // 2, 1)
        else:
            with pytest.raises(BadInput, match="at most"):
                fitted(settings, work, explorer.cut, work.total - 1)


def test_steps_beyond_the_budget_are_cut_off_and_the_rest_is_the_same():
    explorer = explorers.get("one-layer")
    budget = explorer.work(explorer.at(steps=300)).total
    cut, work = explorer.within(budget, {"steps": 900})
    assert "the first 300 of 900 steps" in cut.cut and work.total == budget
    short = explorer(steps=300)
    assert cut.dataset.equals(short.dataset) and short.cut == ""


def test_unknown_explorer_names_the_nearest():
    with pytest.raises(BadInput, match="did you mean 'orbits'"):
        ds.explore("orbit")
