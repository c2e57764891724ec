"""Networks at the edge: measuring functions on planted traces, and known numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.core.run import Run
from dynascope.data import there
from dynascope.engine import execute
from dynascope.engine.record import At
from dynascope.probes.edge import Edge
from dynascope.runner import run
from dynascope.runner.evaluation import Evaluation
from dynascope.store import Store
from dynascope.studies.nodes import Missing
from dynascope.studies.oscillation.mnist_edge import claims, known, runs
from dynascope.studies.oscillation.mnist_edge.charts import balance_of_terms, layers, shown_seed
from dynascope.studies.oscillation.mnist_edge.runs import Settings, Trace, study

NODES = {node.name: node for node in study.nodes}


def traced(sharpness, losses=0.0):
    """A trace of rate 0.5 with the given sharpness, (seeds, places)."""
    values = np.asarray(sharpness, float)
    parts = [values, *(np.full_like(values, v) for v in (0.7, 0.5, 2.0, 1.0, 1.0))]
    steps = np.linspace(0, 60, values.shape[1])
    return Trace(0.5, steps, np.full_like(values, losses), Edge(*parts))


def test_only_settled_steps_past_the_edge_count():
    seen = traced([[9.0, 2.0, 5.0, 3.0], [1.0, 1.0, 1.0, 1.0]])  # steps 0, 20, 40, 60
    assert seen.settled(seen.ratio).tolist() == [1.0, 0.25]
    marked = np.array([[0.0, 0.0, 7.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    assert seen.past(marked).tolist() == [7.0], "the second seed never is past it"
    assert shown_seed(seen) == 0


def test_a_constant_output_is_dead():
    assert traced([[1.0, 1.0]], losses=0.25).alive.tolist() == [False]
    assert traced([[1.0, 1.0]], losses=0.1).alive.tolist() == [True]


def test_the_balance_of_terms_keeps_the_sign_and_knows_no_valley():
    jets = [(2.0, 1.0, 1.0), (2.0, 0.0, 1.0), (0.0, 0.0, 0.0)]
    found = [balance_of_terms(Edge(*map(np.asarray, (1.0, 1.0, 0.5, *jet)))) for jet in jets]
    assert found[:2] == pytest.approx([1 / 5, -1]) and np.isnan(found[2])


@pytest.mark.parametrize("pictures", [True, False])
@pytest.mark.parametrize("mnist", [True, False])
def test_digits_stand_in_for_mnist_and_only_where_pictures_are_asked_for(
    monkeypatch, tmp_path, mnist, pictures
):
    monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path))
    for module in ("studies.oscillation.mnist_edge.runs", "runner.evaluation"):
        monkeypatch.setattr(f"dynascope.{module}.there", lambda name: mnist)
    values = Evaluation(study, Settings(pictures=pictures), Store(tmp_path))
    found = {name for name in runs.NAMES if values.absent(NODES[name]) is None}
    other = ({"mnist"} if mnist else {"digits"}) if pictures else set()
    assert found == {"blobs"} | other
    assert list(values.experiments(NODES["blobs"])) == [
        "3 layers", "4 layers", "5 layers", "small rate", "lowered rate"
    ]  # fmt: skip
    if found == {"blobs", "digits"}:
        assert "mnist is not there" in values.value(runs.traces["mnist"]).reason
        assert "4 layers" not in values.experiments(NODES["digits"])


def test_dead_seeds_and_depths_that_are_left_out_do_not_count():
    seen = {"3 layers": traced([[9.0, 2.0, 5.0, 3.0], [1.0, 1.0, 1.0, 1.0]])}
    assert claims.hover(seen, ("3 layers",)).value == pytest.approx(0.625)
    dead = {"3 layers": traced([[1.0, 1.0]], losses=0.25)}
    assert claims.hover(dead, ("3 layers",)).value is None
    assert isinstance(claims.hover(seen, ("4 layers", "5 layers")), Missing)
    both = {**seen, "4 layers": traced([[4.0, 4.0]])}
    assert claims.hover(both, ("3 layers", "4 layers")).value == pytest.approx(2.25 / 3)


def test_sharpness_is_compared_case_by_case_and_seed_by_seed():
    seen = {"a": traced([[1.0, 1.0, 6.0, 2.0]]), "b": traced([[2.0, 1.0, 1.0, 3.0]])}
    expected = {"settled": 2.0, "last": 2 / 3}
    for when, ratio in expected.items():
        assert claims.sharper(seen, "a", "b", when).value == pytest.approx(ratio)
    assert claims.last_ratio(seen, "b").value == pytest.approx(0.75)


def test_alignment_is_that_past_the_edge():
    seen = {"small rate": traced([[1.0, 1.0, 1.0, 1.0]])}
    assert claims.alignment(seen, claims.SMALL).n == 0
    low = {"small rate": seen["small rate"]._replace(rate=1e3)}
    assert claims.alignment(low, claims.SMALL).value == pytest.approx(0.7)


def test_epochs_are_compared_step_by_step_with_those_of_the_figure():
    steps = np.arange(61.0)
    past = known.past_as_printed(steps)
    assert past.sum() == 45 and not past[[9, 15, 20]].any() and past[[10, 14, 21, 60]].all()
    parts = [np.where(past, 5.0, 3.0)[None], *(np.ones((1, 61)) for _ in range(5))]
    seen = Trace(0.5, steps, np.zeros((1, 61)), Edge(*parts))
    assert claims.as_printed({"3 layers": seen}, ("3 layers",)).value == 1
    never = seen._replace(edge=seen.edge._replace(sharpness=np.full((1, 61), 3.0)))
    assert claims.as_printed({"3 layers": never}, ("3 layers",)).value == pytest.approx(15 / 60)


@pytest.mark.parametrize(("kind", "ends", "share"), [("soft", (1.3, 1.6), 1),
                                                     ("stiff", (0.1, 0.5), 0)])  # fmt: skip
def test_known_valleys_are_seen_as_they_are(kind, ends, share):
    found = known.valleys.function(Settings(seeds=6), kind)
    assert claims.positive(found, ("valley",)).value == share
    random = np.random.default_rng(4)
    second, fourth = random.uniform(1.5, 2.5), random.uniform(6.0, 12.0)
    third = np.sqrt(second * fourth / 3) * random.uniform(*ends)
    edge = found["valley"].edge
    seen = [float(v[0, 0]) for v in (edge.second, np.abs(edge.third), edge.fourth)]
    assert seen == pytest.approx([second, third, fourth], rel=1e-3), "the minimum is at 0"


def test_charts_do_without_seeds_past_the_edge():
    names = ("3 layers", "small rate", "lowered rate")
    cases = {c: traced(np.full((2, 7), 3.0)) for c in names}
    cases["4 layers"] = traced(np.full((2, 7), 5.0))
    charts = layers(study.at("smoke"), {"blobs": cases})
    assert [chart.name for chart in charts] == ["blobs-3-layers", "blobs-4-layers", "conditions"]
    assert charts[-1].panels[0].marks[0].names == ("blobs, 4",)


def test_depths_without_a_learning_rate_are_refused():
    with pytest.raises(BadInput, match="depths"):
        Settings(depths=(3, 6))


@pytest.mark.slow
def test_four_layers_on_blobs(tmp_path):
    found = run("mnist-edge", "smoke", changes={"depths": (3, 4)}, store=Store(tmp_path))
    deeper = {c.id.split("-", 2)[2]: c for c in found.claims if "blobs" in c.id}
    # Four layers stay at the edge in every seed, in a valley that is a polynomial of degree 8.
    for slug in ("edge-deeper", "condition-deeper"):
        assert deeper[slug].verdict == "holds", slug
    # Ten seeds past the edge cannot tell .96 from .9.
    assert deeper["aligned-deeper"].verdict != "fails"


@pytest.fixture(scope="module", params=["blobs", "mnist"])
def at_the_edge(request):
    """Sixteen seeds of three layers at rates 0.5 and 0.1, looked at in every step."""
    if request.param == "mnist" and not there("mnist"):
        pytest.skip("MNIST is not there")
    experiments = NODES[request.param].function(Settings(seeds=16, records=61))
    return {
        case: runs.trace(Run(execute(experiments[case], progress=False), experiments[case]))
        for case in ("3 layers", "small rate")
    }


@pytest.mark.slow
def test_seeds_hover_at_the_edge_on_average(at_the_edge):
    """Known numbers for means over seeds, of every step from 40 to 60.

    Sharpness within 15 % of 4 at rate 0.5; at rate 0.1 no alignment, and 1.5 times as sharp in
    the end.
    """
    small = at_the_edge["small rate"]
    assert 0.85 <= claims.hover(at_the_edge, ("3 layers",)).value <= 1.15
    assert small.settled(small.edge.alignment).max() < 0.2, "in every seed"
    for when in ("settled", "last"):
        assert claims.sharper(at_the_edge, "small rate", "3 layers", when).low > 1.5


@pytest.mark.slow
def test_sixteen_seeds_do_not_refute_a_cosine_of_nine_tenths(at_the_edge):
    """Check 20's mean cosine above 0.9, which is also the bound of the claims `aligned`.

    Twelve of sixteen seeds have settled steps past the edge. Their mean is 0.908 on blobs (95 %:
    0.877 to 0.939) and 0.885 on MNIST (0.847 to 0.923): neither decides. More seeds do: the check
    is wrong on MNIST, and at best on its bound on blobs, as the next test has it.
    """
    found = claims.alignment(at_the_edge, ("3 layers",))
    assert found.n >= 8
    assert found.low > 0.2 and found.high >= 0.9, found


@pytest.mark.slow
@pytest.mark.parametrize("data", ["blobs", "mnist"])
def test_sixty_four_seeds_refute_it_on_mnist_and_put_blobs_at_the_bound(data):
    """Means of 0.837 on MNIST (95 %: 0.801 to 0.872) and 0.878 on blobs (0.855 to 0.901)."""
    if data == "mnist" and not there("mnist"):
        pytest.skip("MNIST is not there")
    settled = At(tuple(range(40, 61)))  # the only steps that count
    experiment = replace(NODES[data].function(Settings(seeds=64))["3 layers"], record=settled)
    seen = runs.trace(Run(execute(experiment, progress=False), experiment))
    found = claims.alignment({"3 layers": seen}, ("3 layers",))
    assert found.n >= 40 and found.value < 0.9, found
    assert found.high < (0.9 if data == "mnist" else 0.92), found
