"""The engine's promises: seeds, lanes, records, resuming, interrupting, strangers' code."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import dynascope as ds
from dynascope import dynamics, models, probes, record, tasks, theories
from dynascope.core import quantities
from dynascope.core.errors import BadInput, Interrupted
from dynascope.engine import drive, execution

from .memory import Memory, same

TASK = tasks.IdentityMapping(means=(1.0, 2.0), scales=(0.05, 0.05), dimension=3)
MODEL = models.TiedLinear(width=3, init_scale=0.05)
RULE = dynamics.GradientDescent(0.02)
PROBES = [probes.Loss(), probes.TestLoss(), probes.OutputAt(), probes.InputJacobian()]


def run(**options):
    settings = {"steps": 200, "probes": PROBES, "seeds": 3, "progress": False} | options
    return ds.simulate(TASK, MODEL, RULE, **settings)


def test_dims_coords_and_provenance_are_there():
    found = run()
    assert found["output_at"].dims == ("seed", "step", "output")
    assert found["input_jacobian"].sizes == {"seed": 3, "step": 201, "output": 3, "input": 3}
    assert found["step"].values[[0, -1]].tolist() == [0, 200]
    assert np.allclose(found["time"], 0.02 * found["step"])
    assert found["loss"].attrs["units"] == "loss"
    for name in ("spec", "fingerprint", "versions", "device", "seconds", "outcome"):
        assert found.attrs[name]


def test_the_first_row_is_the_untrained_model():
    """M30."""
    start = theories.base.initial_jacobian(TASK, MODEL, np.arange(3))
    assert np.allclose(run(dtype="float64")["input_jacobian"][:, 0], start, rtol=1e-6, atol=0)


def test_the_same_seed_gives_the_same_bits_whatever_runs_beside_it():
    """M30: alone, among 3, among 70 lanes, and again."""
    few = run()
    same(few, run())
    same(few.isel(seed=[2]), run(seeds=[2]))
    same(few, run(seeds=70).isel(seed=slice(3)))


def test_a_wider_network_agrees_with_itself_whatever_runs_beside_it():
    """Batched products round otherwise where the number of lanes is another, and only there."""
    task = tasks.IdentityMapping((1.0, 2.0), (0.05, 0.05), dimension=3, samples_per_cluster=50)

    def losses(seeds):
        found = ds.simulate(
            task, models.MLP(2, 16), dynamics.GradientDescent(0.05), steps=100,
            probes=[probes.Loss(), probes.TestLoss()], seeds=seeds, progress=False,
        )  # fmt: skip
        return np.stack([found[name].values for name in ("loss", "test_loss")])

    alone, few, many = losses([2]), losses(3), losses(13)
    for others in (few, many):
        np.testing.assert_allclose(others[:, 2:3], alone, rtol=1e-5)
    assert np.array_equal(few[:, 2], losses([2, 8, 9])[:, 0])  # as many lanes: the same bits


def test_chunks_of_any_length_give_the_same_bits(monkeypatch):
    whole = run()
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)  # as short as calls can be
    same(whole, run())
    monkeypatch.setattr(drive, "BUFFER_BYTES", 1)  # one row a call
    same(whole, run())


@pytest.mark.parametrize(
    ("rule", "length"),
    [
        (RULE, {"steps": 120}),
        (dynamics.Adam(0.01), {"steps": 120}),
        (dynamics.GradientFlow(), {"time": 4.0, "record": record.Evenly(40)}),
    ],
    ids=["descent", "adam", "flow"],
)
def test_a_resumed_run_equals_an_unbroken_one(monkeypatch, rule, length):
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(execution, "APPEND_SECONDS", 0.0)
    options = {"probes": PROBES, "seeds": 2, "progress": False, **length}
    whole = ds.simulate(TASK, MODEL, rule, **options)
    sink = Memory(stop_after=5)
    with pytest.raises(Interrupted) as stop:
        ds.simulate(TASK, MODEL, rule, sink=sink, **options)
    partial = stop.value.partial
    assert 0 < partial.sizes["step"] < whole.sizes["step"]
    assert partial.attrs["outcome"] == sink.attrs["outcome"] == "interrupted"
    for name in ("test_loss", "input_jacobian", "time"):
        rows = whole[name].isel(step=slice(partial.sizes["step"]))
        assert np.array_equal(partial[name], rows), name
    same(ds.simulate(TASK, MODEL, rule, sink=sink, **options), whole)
    assert sink.attrs["outcome"] == "finished"


@dataclass(frozen=True)
class Looks(probes.base.WarmProbe):
    """How often the probe has looked along its lane; it knows only by remembering."""

    quantity = quantities.LOSS

    def memory(self, snapshot):
        return jnp.zeros((), snapshot.params.dtype)

    def remeasure(self, snapshot, memory):
        return memory + 1, memory + 1


def test_what_a_probe_remembers_goes_along_its_lane_and_through_a_checkpoint(monkeypatch):
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(execution, "APPEND_SECONDS", 0.0)
    options = {"steps": 20, "probes": [Looks()], "record": record.Evenly(11)}
    sink = Memory(stop_after=3)
    with pytest.raises(Interrupted):
        run(sink=sink, **options)
    assert np.array_equal(run(sink=sink, **options)["loss"], np.tile(np.arange(1, 12), (3, 1)))


def test_ctrl_c_before_the_first_row_leaves_nothing_and_says_so(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(execution, "drive", stop)
    with pytest.raises(Interrupted) as caught:
        run(sink=Memory())
    assert caught.value.partial is None


def test_mapped_and_vmapped_lanes_agree(monkeypatch):
    """The rule only chooses the faster way; both are the same mathematics."""
    from dynascope.engine import program

    wide = run(dtype="float64")
    monkeypatch.setattr(program, "LARGEST_VMAPPED", {"float32": 0, "float64": 0})
    monkeypatch.setattr(program, "_PROGRAMS", {})
    mapped = run(dtype="float64")
    assert (wide.attrs["lanes"], mapped.attrs["lanes"]) == ("vmapped", "mapped")
    assert np.allclose(wide["test_loss"], mapped["test_loss"], rtol=1e-12)


def test_precision_is_what_the_spec_says():
    single, double = run(dtype="float32"), run(dtype="float64")
    assert single["loss"].dtype == np.float32 and double["loss"].dtype == np.float64
    assert np.allclose(single["test_loss"], double["test_loss"], rtol=1e-3)
    assert run(steps=1)["loss"].dtype == np.float32


@pytest.mark.parametrize(
    ("policy", "steps"),
    [
        (record.Every(50), [0, 50, 100, 150, 200]),
        (record.At((7, 70)), [0, 7, 70, 200]),
        (record.Evenly(3), [0, 100, 200]),
        (record.LogSpaced(3, first=2), [0, 2, 20, 200]),
    ],
)
def test_record_policies_look_when_they_say(policy, steps):
    found = run(record=policy)
    assert found["step"].values.tolist() == steps
    same(found, run(record=record.Every(1)).sel(step=steps))


def test_on_change_keeps_exactly_the_rows_that_are_new(monkeypatch):
    every = run(record=record.Every(1))
    kept = run(record=record.OnChange("test_loss", by=0.05))
    steps = kept["step"].values
    assert steps[0] == 0 and steps[-1] == 200 and len(steps) < 150
    same(kept, every.sel(step=steps))
    loss, last, expected = every["test_loss"].values, 0, [0]
    for step in range(1, 201):
        if (np.abs(loss[:, step] - loss[:, last]) > 0.05 * loss[:, last]).any() or step == 200:
            expected.append(step)
            last = step
    assert steps.tolist() == expected
    monkeypatch.setattr(drive, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(execution, "APPEND_SECONDS", 0.0)
    sink = Memory(stop_after=6)
    with pytest.raises(Interrupted):
        run(record=record.OnChange("test_loss", by=0.05), sink=sink)
    same(run(record=record.OnChange("test_loss", by=0.05), sink=sink), kept)
    with pytest.raises(BadInput, match="the name of a probe"):
        run(record=record.OnChange("sharpness"))


def test_long_runs_are_recorded_at_a_thousand_points():
    assert record.Evenly().recorded_at(10**6, discrete=True).size <= 1001


def test_fifteen_lines_of_a_users_own_task_and_model():
    @dataclass(frozen=True)
    class Sine(tasks.Task):
        samples_count: int = 32
        input_size = 1
        output_size = 1

        def samples(self, key):
            x = jax.random.uniform(key, (self.samples_count, 1), minval=-3, maxval=3)
            return x, jnp.sin(x)

        def loss(self, predict, batch):
            x, y = batch
            return jnp.mean((predict(x) - y) ** 2)

    def init(key):
        return {"in": jax.random.normal(key, (1, 16)), "out": jnp.zeros((16, 1))}

    def apply(params, x):
        return jnp.tanh(x @ params["in"]) @ params["out"]

    found = ds.simulate(
        Sine(), models.FunctionModel(init, apply), dynamics.SGD(0.05, 8), steps=500,
        probes=[probes.Loss(), probes.OutputAt((1.0,))], seeds=2, progress=False,
    )  # fmt: skip
    loss = found["loss"].values
    assert (loss[:, -1] < 0.5 * loss[:, 0]).all()
    x = jax.random.uniform(ds.core.randomness.key_for(0, "data"), (32, 1), minval=-3, maxval=3)
    assert np.isclose(loss[0, 0], np.mean(np.sin(x) ** 2), rtol=1e-5)  # zero output at first


def test_an_equinox_module_trains():
    import equinox as eqx

    model = models.from_equinox(lambda key: eqx.nn.MLP(3, 3, 8, 1, key=key))
    task = tasks.IdentityMapping((1.0, 2.0), (0.05, 0.05), dimension=3, samples_per_cluster=20)
    found = ds.simulate(
        task, model, dynamics.GradientDescent(0.1), steps=100, progress=False,
        probes=[probes.Loss(), probes.InputJacobian()],
    )  # fmt: skip
    assert found["loss"][0, -1] < 0.5 * found["loss"][0, 0]
    assert found["input_jacobian"].shape[-2:] == (3, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps: got 0"),
        ({"steps": None}, "steps= for GradientDescent"),
        ({"time": 1.0}, "steps= for GradientDescent"),
        ({"seeds": 0}, "seeds"),
        ({"seeds": [1, 1]}, "none twice"),
        ({"probes": [probes.Loss(), probes.Loss()]}, "one probe per name"),
        ({"probes": [probes.OutputAt((1.0,))]}, "3 coordinates"),
        ({"record": record.At((900,))}, "from 0 to 200"),
        ({"dtype": "float16"}, "dtype"),
    ],
)
def test_bad_calls_say_what_to_do(options, message):
    with pytest.raises(BadInput, match=message) as caught:
        run(**options)
    assert "\n" not in str(caught.value)


def test_population_needs_a_linear_model_and_no_batches():
    with pytest.raises(BadInput, match="samples_per_cluster"):
        ds.simulate(TASK, models.MLP(2, 4), RULE, steps=1, probes=PROBES)
    with pytest.raises(BadInput, match="use GradientDescent"):
        ds.simulate(TASK, MODEL, dynamics.SGD(0.1), steps=1, probes=PROBES)
    with pytest.raises(BadInput, match="time= for GradientFlow"):
        ds.simulate(TASK, MODEL, dynamics.GradientFlow(), steps=1, probes=PROBES)


def test_too_much_to_record_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr(drive, "RECORD_BYTES", 1000)
    with pytest.raises(BadInput, match="record fewer points"):
        run()


def test_the_same_shapes_are_compiled_once():
    from dynascope.engine import program

    run()
    before = len(program._PROGRAMS)
    ds.simulate(
        tasks.IdentityMapping(means=(0.7, 2.5), scales=(0.1, 0.05), dimension=3),
        models.TiedLinear(width=3, init_scale=0.3), dynamics.GradientDescent(0.001),
        steps=200, probes=PROBES, seeds=4, progress=False,
    )  # fmt: skip
    assert len(program._PROGRAMS) == before
    compiled = program._PROGRAMS[next(reversed(program._PROGRAMS))]
    assert compiled.advance._cache_size() >= 1
