"""The command or the code behind a record makes exactly that record."""

from __future__ import annotations

import html
import json
import shlex
import sys
from dataclasses import replace

import pytest

from dynascope.core.plain import fingerprint, from_plain, to_plain
from dynascope.dynamics import SGD, Adam, Cosine, GradientDescent, GradientFlow, Multiple
from dynascope.engine import Experiment
from dynascope.engine.experiment import make_experiment
from dynascope.engine.record import At, Evenly, Keep, Stop
from dynascope.models import MLP, FunctionModel, Linear, TiedLinear
from dynascope.probes import Loss, OutputAt, TestLoss
from dynascope.runner.evaluation import Evaluation
from dynascope.runner.remake import python_code, remake, remake_study, sweep_command
from dynascope.store import Store
from dynascope.studies import studies
from dynascope.studies.nodes import RunNode
from dynascope.tasks import IdentityMapping

pytestmark = pytest.mark.usefixtures("tiny")
TASK = IdentityMapping((1.0, 2.0, 0.1 + 0.2), (0.05, 0.05, 1e-17), dimension=4)


def remade(cli, record: str) -> str:
    return json.loads(cli("show", record, "--json").out)["remake"]


def test_the_command_of_a_study_answers_from_the_store(cli, home):
    words = ["--scale", "smoke", "--set", "task.means=[1, 0.30000000000000004]", "--set",
             "task.scales[1]=1e-17", "--seeds", "1"]  # fmt: skip
    made = json.loads(cli("run", "tiny", *words, "--json").out)["record"]
    command = shlex.split(remade(cli, made))
    assert command[:5] == ["dynascope", "run", "tiny", "--scale", "smoke"]
    report = (home / "reports" / f"{made}.html").read_text(encoding="utf-8")
    assert html.escape(remade(cli, made)) in report
    again = cli(*command[1:])
    assert "answered from the store" in again.out and made in again.out


def test_the_command_of_a_sweep_answers_from_the_store(cli, full, ids):
    command = shlex.split(remade(cli, ids["sweep"]))
    found = json.loads(cli(*command[1:], "--json").out)
    assert found["from_store"] is True and found["record"] == ids["sweep"]


def test_the_code_of_a_run_makes_the_same_experiment(cli, full, ids):
    assert remade(cli, ids["fast"]).startswith("dynascope sweep ")
    assert (
        rebuilt(python_code(experiment_of(ids["fast"])))
        == Store().manifest(ids["fast"])["fingerprint"]
    )


def experiment_of(record: str) -> Experiment:
    return from_plain(Store().manifest(record)["spec"])


def rebuilt(code: str) -> str:
    """The fingerprint of the experiment that a call of `ds.sweep` describes."""
    seen = []

    def sweep(task, model, dynamics, *, store, steps=None, time=None, **rest):
        seen.append(make_experiment(task, model, dynamics, steps=steps, time=time, **rest))

    before = sys.modules["dynascope.runner"].sweep
    sys.modules["dynascope.runner"].sweep = sweep
    try:
        exec(code, {})
    finally:
        sys.modules["dynascope.runner"].sweep = before
    return fingerprint(seen[0])


EXPERIMENTS = {
    "all default": (IdentityMapping(), TiedLinear(), GradientDescent(0.1), {"steps": 7}),
    "odd numbers": (TASK, Linear(1 / 3), Adam(1e-3), {"steps": 7, "seeds": (3, 5)}),
    "a flow": (TASK, TiedLinear(4), GradientFlow(1e-6), {"time": 0.1, "dtype": "float32"}),
    "samples and batches": (
        IdentityMapping(samples_per_cluster=50), MLP(3, 5, "tanh"), SGD(0.1, 10, "random"),
        {"steps": 7, "record": Evenly(33)},
    ),
    "a schedule": (TASK, TiedLinear(4), GradientDescent(Cosine(0.1, 9)), {"steps": 9}),
    "named probes": (
        TASK, TiedLinear(4), GradientDescent(0.1),
        {"steps": 7, "probes": (OutputAt((1.0, 0, 0, 0), name="weak"), OutputAt())},
    ),
    "a renamed probe": (
        TASK, TiedLinear(4), GradientDescent(0.1), {"steps": 7, "probes": (Loss(name="goal"),)},
    ),
    "chosen places": (TASK, TiedLinear(4), GradientDescent(0.1), {"steps": 7, "record": At((2,))}),
    "axes": (
        IdentityMapping(), MLP(2, 4, "linear"), GradientDescent(0.1),
        {"steps": 7, "over": (("model.activation", ("linear", "linear")),
                              ("task.scales", ((0.1, 0.2), (0.3, 0.4))))},
    ),
    "rules and what is kept": (
        TASK, TiedLinear(4), GradientDescent(Multiple("loss", 0.5, every=3)),
        {"steps": 7, "stop": (Stop("loss", below=0.1),), "keep": Keep(at=(0, 3), best="loss")},
    ),
    "a matrix": (
        IdentityMapping(), TiedLinear(2, initial_jacobian=((1, 0.5), (0.5, 1))),
        GradientDescent(0.1), {"steps": 7},
    ),
}  # fmt: skip
BEYOND_THE_COMMAND = {
    "a schedule", "named probes", "a renamed probe", "chosen places", "rules and what is kept",
}  # fmt: skip


@pytest.mark.parametrize("case", EXPERIMENTS)
def test_code_and_command_say_all_of_an_experiment(cli, home, case):
    task, model, dynamics, rest = EXPERIMENTS[case]
    spec = Experiment(task, model, dynamics, **{"probes": (Loss(), TestLoss()), **rest})
    assert rebuilt(python_code(spec)) == fingerprint(spec)
    command = sweep_command(spec)
    assert (command is None) == (case in BEYOND_THE_COMMAND)
    if command:
        plan = json.loads(cli(*shlex.split(command)[1:], "--dry-run", "--json").out)
        assert plan["nodes"][0]["lanes"] == len(spec.grid()) * len(spec.seeds)


def test_every_experiment_of_every_study_can_be_made_again(tmp_path):
    count = 0
    for study in studies:
        values = Evaluation(study, study.at("smoke"), Store(tmp_path), progress=False)
        for node in study.nodes:
            if isinstance(node, RunNode) and not node.inputs:
                for spec in values.named(node).values():
                    assert rebuilt(python_code(spec)) == fingerprint(spec)
                    count += 1
    assert count > 10


def test_code_of_your_own_is_said_to_be_missing(home):
    model = FunctionModel(init=lambda key: 1.0, apply=lambda p, x: p * x)
    task = IdentityMapping((1.0,), (0.1,), samples_per_cluster=3)
    spec = Experiment(task, model, GradientDescent(0.1), (Loss(),), steps=2)
    said = remake(Store(), "some", {"kind": "run", "spec": to_plain(spec)})
    assert said.startswith("(cannot be told: ") and "rebuild" in said


def test_a_study_that_is_not_installed_is_said_to_be_missing(cli, home):
    made = json.loads(cli("run", "tiny", "--scale", "smoke", "--json").out)["record"]
    gone = replace(Store().load(made), study="gone")
    assert remake_study(gone).startswith("(cannot be told: ")
