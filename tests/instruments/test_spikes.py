"""Spikes of logs: recall on planted ones, false alarms on noise alone, verdicts from evidence."""

from __future__ import annotations

import numpy as np
import pytest

from dynascope.core.errors import BadInput
from dynascope.instruments import explain_spikes, find_spikes, read_log
from dynascope.instruments.spikes.drawing import spikes_chart
from dynascope.instruments.spikes.reading import make_log

ROWS, CURVES = 1000, 60
GROWING = np.linspace(0.02, 0.3, ROWS)
FALL = 2.0 * np.exp(-np.linspace(0, 3, ROWS)) + 0.05


def walk(rng, memory=0.9, size=0.1):
    """Noise that remembers: each value is near the last."""
    steps = size * rng.normal(size=ROWS) * (1 - memory**2) ** 0.5
    noise = np.zeros(ROWS)
    for i in range(1, ROWS):
        noise[i] = memory * noise[i - 1] + steps[i]
    return noise


NULLS = {  # curves without a spike, and the share of them that may show one
    "smooth": (lambda rng: FALL, 0.0),
    "flat": (lambda rng: np.full(ROWS, 0.3), 0.0),
    "Gaussian, 5 %": (lambda rng: FALL * np.exp(0.05 * rng.normal(size=ROWS)), 0.1),
    "Gaussian, 30 %": (lambda rng: FALL * np.exp(0.3 * rng.normal(size=ROWS)), 0.1),
    "growing": (lambda rng: FALL * np.exp(GROWING * rng.normal(size=ROWS)), 0.1),
    "batches of 8": (lambda rng: FALL * rng.chisquare(8, ROWS) / 8, 0.1),
    "batches of 32": (lambda rng: FALL * rng.chisquare(32, ROWS) / 32, 0.1),
    "remembering": (lambda rng: FALL * np.exp(walk(rng)), 0.2),
    "heavy tails": (lambda rng: FALL * np.exp(0.05 * rng.standard_t(3, ROWS)), 0.7),
}  # fmt: skip


@pytest.mark.parametrize("kind", NULLS)
def test_false_alarms_on_noise_alone(kind):
    make, most = NULLS[kind]
    rng = np.random.default_rng(3)
    alarms = np.mean([bool(find_spikes(make(rng))) for _ in range(CURVES)])
    assert alarms <= most, f"{alarms:.0%} of curves show a spike"


@pytest.mark.parametrize(
    ("noise", "factor", "least"), [(0.02, 1.5, 0.99), (0.1, 2.0, 0.9), (0.1, 3.0, 0.99),
                                   (0.2, 5.0, 0.95)],
)  # fmt: skip
def test_recall_of_planted_spikes(noise, factor, least):
    rng = np.random.default_rng(4)
    hits = false = 0
    for _ in range(40):
        loss = FALL * np.exp(noise * rng.normal(size=ROWS))
        places = rng.choice(np.arange(30, ROWS - 40, 60), 5, replace=False)
        for at in places:
            loss[at : at + 12] *= 1 + (factor - 1) * np.exp(-np.arange(12) / 3)
        found = [s.peak for s in find_spikes(loss)]
        hits += sum(any(at <= peak <= at + 8 for peak in found) for at in places)
        false += sum(not any(at <= peak <= at + 12 for at in places) for peak in found)
    assert hits / 200 >= least and false / 40 <= 0.1


def log(crosses=True, falls=True, back=True, **others):
    """One spike at step 30 of 60."""
    steps = np.arange(60)
    loss = np.where((steps >= 30) & ((steps < 34) | (not back)), 5.0, 1.0)
    rate = np.full(60, 0.5)
    dip = np.where((steps >= 29) & (steps < 32), 0.3 if crosses else 0.8, 0.9)
    norm = np.where(steps > 31, 2.0 if falls else 4.0, 4.0)
    return {"step": steps, "loss": loss, "learning_rate": rate, "critical_rate": dip,
            "kernel_norm": norm} | others  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "catapult"),
        ({"crosses": False}, "contradicts"),
        ({"falls": False}, "contradicts"),
        ({"back": False}, "contradicts"),
        ({"kernel_norm": None}, "consistent"),
        ({"critical_rate": None}, "consistent"),
        ({"critical_rate": None, "kernel_norm": None}, "no evidence"),
        ({"critical_rate": None, "kernel_norm": None, "learning_rate": None}, "no evidence"),
    ],
)
def test_verdicts_follow_the_evidence(changes, verdict):
    (found,) = explain_spikes(log(**changes))
    assert found.verdict == verdict and found.step == 30
    assert found.evidence["factor"] == pytest.approx(5.0)


def recorded(rng, kind):
    """A log with one spike in noise, rate 0.5; where the spike is, and what stands beside it.

    "catapult": the critical rate dips at the spike and the norm falls by a quarter. Unrelated
    evidence: "far" is never critical while the norm wanders; "often" is critical on one step in
    five, whatever the loss does, while the norm wanders; "steady" dips, but the norm stays.
    """
    rows, at = 400, int(rng.integers(60, 320))
    steps = np.arange(rows)
    loss = (2 * np.exp(-np.linspace(0, 2, rows)) + 0.05) * np.exp(0.05 * rng.normal(size=rows))
    loss[at : at + 8] *= 1 + 4 * np.exp(-np.arange(8) / 2)
    dips = np.where(abs(steps - at) <= 1, 0.4, 0.8) * np.exp(0.05 * rng.normal(size=rows))
    noise = np.exp(0.02 * rng.normal(size=rows))
    wanders = 4 * np.exp(np.cumsum(0.02 * rng.normal(size=rows)))
    often = 0.5 * np.exp(0.2 * (rng.normal(size=rows) + 0.84))  # below 0.5 on a fifth of steps
    critical, norm = {
        "catapult": (dips, noise * np.where(steps >= at, 3.0, 4.0)),
        "far": (0.8 * np.exp(0.05 * rng.normal(size=rows)), wanders),
        "often": (often, wanders),
        "steady": (dips, 4.0 * noise),
    }[kind]
    return at, {"step": steps, "loss": loss, "learning_rate": np.full(rows, 0.5),
                "critical_rate": critical, "kernel_norm": norm}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    # Three steps are looked at: by chance one is critical in 1 - 0.8^3 of logs, and a norm that
    # wanders has fallen in half of them. Medians of five values with 2 % of noise differ by more
    # than 2 % downwards in about one log of eight.
    [("catapult", 0.95, 1.0), ("far", 0.0, 0.02), ("often", 0.1, 0.33), ("steady", 0.02, 0.25)],
)
def test_how_often_a_spike_is_called_a_catapult(kind, least, most):
    rng = np.random.default_rng(7)
    called = []
    for _ in range(200):
        at, columns = recorded(rng, kind)
        found = [e for e in explain_spikes(columns) if at <= e.spike.peak <= at + 4]
        called += [e.verdict == "catapult" for e in found]
    assert len(called) >= 190, "the spikes are found"
    assert least <= np.mean(called) <= most, f"{np.mean(called):.0%}"


def test_sharpness_stands_for_both_where_nothing_else_is_there():
    steps = np.arange(60)
    sharp = np.where(steps < 32, 5.0, 2.0)  # 2 / 5 below the rate, then 2 / 2 above it
    (found,) = explain_spikes(log(critical_rate=None, kernel_norm=None, sharpness=sharp))
    assert found.verdict == "catapult"
    assert found.evidence["rate over critical"] == pytest.approx(0.5 * 5 / 2)


def test_the_top_eigenspace_counts_where_it_was_recorded():
    inside = np.where((np.arange(60) >= 30) & (np.arange(60) < 34), 4.5, 0.5)
    assert explain_spikes(log(top_loss=inside))[0].verdict == "catapult"
    assert explain_spikes(log(top_loss=np.full(60, 0.1)))[0].verdict == "contradicts"


def test_a_run_that_blows_up_ends_in_a_spike():
    loss = np.concatenate([np.linspace(2, 1, 40), [3.0, 50.0, np.inf, np.nan]])
    (found,) = find_spikes(loss)
    assert not found.recovers and found.start == 39
    told = explain_spikes({"step": range(44), "loss": loss})
    assert told[0].verdict == "no evidence"


@pytest.mark.slow
def test_real_training_is_told(tmp_path):
    """Descent past the critical rate on a small network: a catapult by the recorded evidence."""
    import dynascope as ds
    from dynascope import dynamics, models, probes, record, tasks

    task, model = tasks.LowRank("rank-2", 30, 60, 4), models.MLP(2, 256, parameterization="ntk")
    run = ds.simulate(
        task, model, dynamics.GradientDescent(dynamics.Piecewise((1.0, 10.0), (0, 40))), steps=160,
        probes=[probes.Loss(), probes.KernelSplit()], record=record.Every(1), progress=False,
    )  # fmt: skip
    norm, top, _ = np.moveaxis(run["kernel_split"].values[0], -1, 0)
    found = explain_spikes({
        "step": run["step"].values, "loss": run["loss"].values[0], "critical_rate": 60 / norm,
        "kernel_norm": norm, "learning_rate": np.where(run["step"] < 40, 1.0, 10.0),
        "top_loss": top,
    })  # fmt: skip
    highest = run["step"].values[run["loss"].values[0].argmax()]
    # After the raise, when the loss has left its level by more than its noise; before its top.
    assert found and found[0].verdict == "catapult" and 40 <= found[0].step <= highest


def test_charts_have_a_panel_for_what_was_recorded():
    whole = make_log(log())
    chart = spikes_chart(whole, explain_spikes(whole))
    assert [p.y_label for p in chart.panels] == [
        "loss",
        "learning rate",
        "norm of the tangent kernel",
    ]
    assert "1 catapult" in chart.title
    bare = make_log({"step": range(20), "loss": np.ones(20)})
    assert len(spikes_chart(bare, explain_spikes(bare)).panels) == 1


def test_logs_are_read_from_both_kinds_of_files(tmp_path):
    csv, lines = tmp_path / "a.csv", tmp_path / "a.jsonl"
    csv.write_text("Step,train_loss,lr,other\n0,1.0,0.5,x\n5,2.0,,y\n")
    lines.write_text('{"step": 0, "loss": 1.0}\n{"iteration": 9}\n{"step": 5, "loss": NaN}\n')
    read = read_log(csv)
    assert read["step"].tolist() == [0, 5] and np.isnan(read["learning_rate"][1])
    assert len(read_log(lines)) == 2 and np.isnan(read_log(lines)["loss"][1])


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "step,loss\n0,1\n5,2\n3,1\n", "3 after 5"),
        ("a.csv", "step,loss\n0,1\n,2\n3,1\n", "row 2"),
        ("a.csv", "step,loss\n0,1\n", "at least two"),
        ("a.csv", "step,loss\n", "one line a step"),
        ("a.csv", "step,value\n0,1\n1,2\n", "no loss"),
        ("a.csv", "step,loss\n0,1\n1,abc\n", "abc"),
        ("a.csv", "step,loss\n0,nan\n1,nan\n", "no finite value"),
        ("a.csv", "step,loss\n0,0\n1,-1\n", "above 0"),
        ("a.csv", "step,loss,lr\n0,1,-1\n1,1,1\n", "numbers from 0"),
        ("a.jsonl", '{"step": 0, "loss": 1}\nnot json\n', "one JSON object a line"),
        ("a.jsonl", "[1, 2]\n", "one JSON object a line"),
        ("a.log", "step,loss\n", "log format"),
    ],
)
def test_bad_logs_are_refused_in_one_line(tmp_path, name, text, told):
    (tmp_path / name).write_text(text)
    with pytest.raises(BadInput, match=told) as caught:
        explain_spikes(read_log(tmp_path / name))
    assert "\n" not in str(caught.value)


def test_other_bad_input():
    with pytest.raises(BadInput, match="exists"):
        read_log("nowhere.csv")
    with pytest.raises(BadInput, match="did you mean 'loss'"):
        explain_spikes({"step": [0, 1], "los": [1, 2]})
    with pytest.raises(BadInput, match="factor above 1"):
        find_spikes(np.ones(9), least=0.9)
    with pytest.raises(BadInput, match="as the loss has"):
        explain_spikes({"step": [0, 1, 2], "loss": [1, 2]})


def test_of_two_columns_that_mean_the_same_the_plain_name_counts(tmp_path):
    loss, train = [3.0, 2.0], [9.0, 8.0]
    for names in (("loss", "train_loss"), ("train_loss", "loss")):
        values = {"loss": loss, "train_loss": train}
        log = make_log({"step": [0, 1], **{name: values[name] for name in names}})
        assert log["loss"].tolist() == loss
        rows = zip((0, 1), *(values[name] for name in names), strict=True)
        file = tmp_path / "log.csv"
        lines = [("step", *names), *rows]
        file.write_text("\n".join(",".join(map(str, line)) for line in lines))
        assert read_log(file)["loss"].tolist() == loss
    empty = make_log({"step": [0, 1], "loss": None, "train_loss": train})
    assert empty["loss"].tolist() == train


def test_a_plain_curve_and_other_names_of_columns_are_understood():
    loss = [1.0] * 20 + [5.0, 2.0] + [0.5] * 20
    (alone,) = explain_spikes(loss)
    assert (alone.step, alone.verdict) == (20, "no evidence")
    columns = {"iteration": range(42), "train_loss": loss, "lr": [0.5] * 42}
    (named,) = explain_spikes(columns)
    assert named.spike == alone.spike
    with pytest.raises(BadInput, match="one loss a step"):
        explain_spikes(np.ones((3, 4)))
    with pytest.raises(BadInput, match="learning_rate"):
        explain_spikes({**columns, "learning_rat": [0.5] * 42})


@pytest.mark.parametrize(
    ("column", "before", "crossed", "ratio"),
    [
        ("critical_rate", [np.nan, 0.25, np.nan], True, 2.0),
        ("critical_rate", [np.nan, 2.0, 2.0], None, 0.25),
        ("critical_rate", [np.inf, np.inf, np.inf], False, 0.0),
        ("critical_rate", [2.0, 0.0, 2.0], True, np.inf),
        ("sharpness", [np.nan, 1.0, 1.0], None, 0.25),
        ("sharpness", [0.0, -1.0, 1.0], False, 0.25),
    ],
)
def test_a_rate_crosses_where_it_is_known_to(column, before, crossed, ratio):
    """The rows from just before the spike to its peak at step 30; all others are 2."""
    values = np.full(60, 2.0)
    values[28:31] = before
    columns = log()
    columns = {n: columns[n] for n in ("step", "loss", "learning_rate")} | {column: values}
    (found,) = explain_spikes(columns)
    assert found.spike.start == 29 and found.spike.peak == 30
    assert found.evidence["rate above critical"] is crossed
    assert found.evidence["rate over critical"] == ratio
