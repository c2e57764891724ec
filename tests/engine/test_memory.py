"""What does not fit is refused before it is allocated, with the number and what to lower."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dynascope import dynamics, graphs, models, probes, simulate, tasks
from dynascope.core.errors import BadInput
from dynascope.engine import Experiment, drive, execution
from dynascope.engine.loop_inputs import loop_inputs
from dynascope.engine.memory import peak
from dynascope.engine.program import program
from dynascope.engine.record import At
from dynascope.instruments.graph import describe_graph
from dynascope.runner import sweep
from dynascope.runtime.memory import available_bytes, parse_bytes, refuse_above
from dynascope.runtime.precision import precision
from dynascope.store import Store

TASK = tasks.IdentityMapping((1.0, 2.0), (0.1, 0.1))


def test_the_limit_is_the_users_or_the_machines(monkeypatch):
    monkeypatch.setenv("DYNASCOPE_MEMORY", "300M")
    assert available_bytes() == 300 * 2**20
    monkeypatch.delenv("DYNASCOPE_MEMORY")
    assert 2**20 < available_bytes() < 2**60


@pytest.mark.parametrize("text", ["", "much", "-1G", "0", "1e9", "4X", "9" * 40])
def test_a_limit_that_is_none_is_one_line(text):
    with pytest.raises(BadInput, match="DYNASCOPE_MEMORY"):
        parse_bytes(text)


def test_lanes_that_do_not_fit_are_refused_before_they_are_made(monkeypatch):
    def run(seeds):
        return simulate(TASK, models.TiedLinear(2), dynamics.GradientDescent(0.01), steps=1,
                        probes=[probes.Loss()], seeds=seeds, progress=False)  # fmt: skip

    monkeypatch.setenv("DYNASCOPE_MEMORY", "100K")
    assert run(2).sizes["seed"] == 2
    with pytest.raises(BadInput, match=r"needs about .*B of memory, 100 KB are free; lower"):
        run(4096)


def test_calls_that_record_nothing_keep_nothing(monkeypatch):
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)  # a call for every step
    held, take = [], execution._Journal.take

    def watched(journal, chunk):
        take(journal, chunk)
        held.append(len(journal.waiting.rows))
        assert all(rows.base is None for rows in chunk.rows.values())  # no view of a whole buffer

    monkeypatch.setattr(execution._Journal, "take", watched)
    run = simulate(TASK, models.TiedLinear(2), dynamics.GradientDescent(0.01), steps=30,
                   probes=[probes.Loss()], record=At((30,)), progress=False)  # fmt: skip
    assert run.sizes["step"] == 2 and len(held) >= 30
    assert max(held) <= 2


def test_data_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setenv("DYNASCOPE_MEMORY", "1G")
    with pytest.raises(BadInput, match=r"needs about .* GB of memory"):
        simulate(tasks.CommunityDetection(), models.CommunityNetwork(),
                 dynamics.GradientDescent(0.01), steps=1, probes=[probes.Loss()])  # fmt: skip


def test_a_graph_of_too_many_nodes_is_refused(tmp_path, monkeypatch):
    (tmp_path / "edges.txt").write_text("0 1\n")
    monkeypatch.setenv("DYNASCOPE_MEMORY", "1G")
    with pytest.raises(BadInput, match=r"100,000,000 nodes needs about .* lower --nodes"):
        graphs.load(tmp_path / "edges.txt", 100_000_000)


def test_a_deep_description_of_a_graph_is_refused(monkeypatch):
    graph = graphs.from_edges([(0, 1)], 1000)
    monkeypatch.setenv("DYNASCOPE_MEMORY", "1M")
    assert describe_graph(graph, 2)["nodes"] == 1000
    with pytest.raises(BadInput, match=r"1,000 nodes at depth 5000 needs about .* lower the depth"):
        describe_graph(graph, 5000)


def test_the_peak_of_a_chain_is_its_two_largest_neighbours():
    def chain(a, up, down):  # (10, 10) -> (10, 1000) -> (10, 10), 400 and 40,000 bytes
        return (a @ up) @ down

    arrays = [jnp.ones(shape, jnp.float32) for shape in [(10, 10), (10, 1000), (1000, 10)]]
    assert peak(jax.make_jaxpr(chain)(*arrays).jaxpr) == 40_400


def xla_bytes(experiment) -> tuple[int, int]:
    """What XLA plans to hold in a call of the loop, and what was foreseen."""
    inputs = loop_inputs(experiment)
    lanes, count = inputs.lanes, len(inputs.lanes.seeds)
    with precision(experiment.dtype):
        compiled = program(inputs)
        shared = jax.eval_shape(compiled.shared, lanes.values)
        lane = jax.eval_shape(compiled.prepare, lanes.values, (lanes.seeds,), shared)
        place, window, clock = np.int32(0), np.zeros(3, np.int32), np.zeros(3)
        call = (lanes.values, (lanes.seeds, lane), place, place, window, clock, shared)
        plan = compiled.advance.lower(*call).compile().memory_analysis()
    held = (plan.argument_size_in_bytes, plan.output_size_in_bytes, plan.temp_size_in_bytes)
    return sum(held), compiled.needed_bytes(count)


SAMPLED = tasks.IdentityMapping((1.0, 2.0), (0.1, 0.1), samples_per_cluster=500)
LARGE = {
    "wide lanes, one after the other": (TASK, models.TiedLinear(100_000), 4),
    "many small lanes": (SAMPLED, models.MLP(width=16), 500),
    "wide layers on many samples": (SAMPLED, models.MLP(width=1000), 2),
    "graphs": (tasks.CommunityDetection(nodes=50, training_graphs=100, test_graphs=4),
               models.CommunityNetwork(), 1),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_what_is_foreseen_is_what_xla_plans(name):
    task, model, seeds = LARGE[name]
    rule = dynamics.GradientDescent(0.01)
    experiment = Experiment(task, model, rule, (probes.Loss(),), 3, seeds=tuple(range(seeds)))
    planned, foreseen = xla_bytes(experiment)
    assert planned / 2 < foreseen < planned * 2


def test_a_sweep_is_refused_before_its_first_part_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("DYNASCOPE_MEMORY", "100M")
    store = Store(tmp_path)
    with pytest.raises(BadInput, match=r"needs about .* GB of memory, 100 MB are free; lower"):
        sweep(TASK, models.TiedLinear(2), dynamics.GradientDescent(0.01), steps=1, store=store,
              over={"model.width": [2, 10**8]}, probes=[probes.Loss()], progress=False)  # fmt: skip
    assert not store.runs()


def test_what_fits_is_not_refused():
    refuse_above(1.0, "this", "that")
