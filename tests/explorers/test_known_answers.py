"""Explorers whose numbers are known by other means."""

import networkx as nx
import numpy as np
import pytest

import dynascope as ds
from dynascope.core.charts import Line
from dynascope.core.errors import BadInput
from dynascope.explorers import explorers
from dynascope.report.frame import frame


def test_balance_ends_on_the_balanced_orbit():
    found = ds.explore("balance", learning_rate=1.1)
    k = 1.1
    root = np.sqrt((k - 1) * (k + 3))
    orbit = np.sqrt((k + 1 + np.array([-root, root])) / (2 * k))
    assert np.sort(found.dataset["x"].values[-2:]) == pytest.approx(orbit, abs=1e-6)
    assert found.dataset["x"].values[-1] == pytest.approx(found.dataset["y"].values[-1], abs=1e-6)


def test_balance_below_the_edge_stops_on_the_hyperbola():
    data = ds.explore("balance", learning_rate=0.4, x=2.0, y=0.8).dataset
    assert float(data["x"][-1] * data["y"][-1]) == pytest.approx(1.0, abs=1e-9)
    assert abs(float(data["x"][-1] - data["y"][-1])) > 0.1


def test_quadratic_map_at_label_zero_has_its_phases_where_theory_has_them():
    for rate, word in ((1.5, "monotone"), (3.0, "catapult"), (4.5, "diverges")):
        found = ds.explore("quadratic-map", learning_rate=rate, label=0.0, width=1e5)
        assert f"seen: {word}" in found.numbers[0]


def test_factorisation_says_what_theory_says():
    assert "period-2" in ds.explore("factorisation", first=1.1, second=0.5).numbers[0]
    assert "converges" in ds.explore("factorisation", first=0.9, second=0.5).numbers[0]


def test_classes_of_a_path_are_its_mirror_pairs():
    edges = "\n".join(f"{a} {b}" for a, b in nx.path_graph(6).edges)
    found = ds.explore("graph-classes", edges=edges, depth=2)
    assert found.dataset["class"].sel(depth=2).values.max() + 1 == 3
    assert "3 classes" in found.numbers[0]


def test_a_graph_that_is_too_large_for_a_request_is_cut_off_and_says_so():
    edges = "\n".join(f"0 {i}" for i in range(1, 1001))
    graph = explorers.get("graph-classes")
    budget = graph.work(graph.at(edges=edges)).total // 2
    found, work = graph.within(budget, {"edges": edges, "depth": 1})
    assert "the first 500 of 1,000 edges" in found.cut and "are drawn" in found.cut
    assert found.dataset.sizes["node"] == 501 and work.total <= budget
    assert found.dataset["class"].sel(depth=1).values.max() + 1 == 2  # hub and leaves
    whole = ds.explore("graph-classes", edges=edges, depth=1)  # Python has no such limit
    assert whole.dataset.sizes["node"] == 1001 and "Cut off" not in whole.cut


@pytest.mark.parametrize("edges", ["", "0 1 2 3", "a b", "<script>", "0 1\n0"])
def test_what_is_no_edge_list_is_refused_in_one_line(edges):
    with pytest.raises(BadInput) as error:
        ds.explore("graph-classes", edges=edges)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_orbits_closed_form_and_expressions_that_run_no_code():
    found = ds.explore("orbits", learning_rate=1.05)
    assert "0.872872, 1.09109" in found.numbers[1]
    inside = ds.explore("orbits", rates=(1.1, 1.2), visited=(0.8, 1.2)).dataset
    assert 1.1 < float(inside["learning_rate"][0]) < 1.102
    box = ds.explore("orbits", rates=(1.2, 1.3), visited=(1.05, 1.15)).chart.panels[0]
    window = frame(box)  # what theory says elsewhere widens nothing
    assert window.x == pytest.approx((1.2, 1.3)) and window.y == pytest.approx((1.05, 1.15))
    assert any(m.role == "theory" for m in box.marks if isinstance(m, Line))
    for text in ("__import__('os').system('true')", "x.__class__", "open('x')", "lambda: 1", "x;x"):
        with pytest.raises(BadInput):
            ds.explore("orbits", function=text)


@pytest.mark.slow
@pytest.mark.parametrize("values", [{}, {"means_0": 1.7, "seed": 3}, {"init_scale": 0.2}])
def test_swing_by_theory_lies_on_the_simulation(values):
    data = ds.explore("swing-by", learning_rate=0.002, steps=4000, **values).dataset
    loss = data["test_loss"].values
    np.testing.assert_allclose(data["theory_test_loss"].values, loss, atol=0.01 * loss[0])


@pytest.mark.slow
def test_swing_by_swings_by_at_first():
    assert "It rises again" in ds.explore("swing-by").numbers[0]


@pytest.mark.slow
def test_one_layer_lies_on_its_closed_form_at_a_small_rate():
    data = ds.explore("one-layer", learning_rate=0.005, steps=2000).dataset
    np.testing.assert_allclose(data["theory_output"], data["output_at"], atol=0.01)


@pytest.mark.slow
def test_rank_staircase_tends_to_the_limit():
    near, far = (ds.explore("rank-staircase", decades=d).dataset for d in (60.0, 2.0))
    gap = [float(abs(d["loss"] - d["staircase"]).mean()) for d in (near, far)]
    assert gap[0] < 0.3 * gap[1]


@pytest.mark.slow
def test_memory_is_trained_as_the_theory_says():
    found = ds.explore("associative-memory", noise=0.1)
    data = found.dataset
    from dynascope.theories.recall.associative_memory import associative_memory, pure_loss

    step = data["step"].values
    exact = pure_loss(associative_memory(3, 0.1, step.astype(float), "mean"), "all")
    late = step >= 100  # descent at rate 1 leaves the flow early on
    np.testing.assert_allclose(data["trained_loss"].values[late], exact[late], rtol=0.05)


@pytest.mark.slow
def test_catapult_below_and_past_the_critical_rate():
    below, past = (ds.explore("catapult", factor=f) for f in (0.5, 1.8))
    assert below.numbers[0].startswith("The loss falls")
    assert past.numbers[0].startswith("A catapult")
