"""Bad input, each through the real entry: one line on stderr, nothing on stdout, exit code 2."""

from __future__ import annotations

import errno
import os

import pytest

from dynascope.store import Store

RUN, SWEEP = ("run", "swing-by", "--scale", "smoke"), ("sweep", "--seeds", "2")
BAD = {
    "unknown study": (("run", "swing-bi"), "did you mean 'swing-by'"),
    "unknown scale": (("run", "swing-by", "--scale", "labtop"), "did you mean 'laptop'"),
    "unknown parameter": ((*RUN, "--set", "sedes=3"), "did you mean 'seeds'"),
    "unknown inner parameter": ((*RUN, "--set", "task.mean=[1,2]"), "did you mean 'means'"),
    "negative scale": ((*RUN, "--set", "task.scales=[-1,0.05]"), "task.scales[0]: got -1.0"),
    "NaN scale": ((*RUN, "--set", "task.scales=[NaN,0.05]"), "task.scales[0]: got nan"),
    "more clusters than dimensions": ((*RUN, "--set", "task.dimension=1"), "at least 2"),
    "no seeds": ((*RUN, "--seeds", "0"), "seed"),
    "seeds twice": ((*RUN, "--seeds", "3", "--set", "seeds=4"), "twice"),
    "zero steps": ((*SWEEP, "--steps", "0"), "steps: got 0"),
    "zero steps of a study": ((*RUN, "--set", "network_steps=0"), "steps: got 0"),
    "learning rate that is no number": (
        (*SWEEP, "--set", "dynamics.learning_rate=fast"),
        "dynamics.learning_rate: got 'fast', expected a Schedule or a number",
    ),
    "learning rate that is missing": ((*SWEEP, "--dynamics", "Adam"), "needs learning_rate"),
    "negative learning rate": ((*SWEEP, "--set", "dynamics.learning_rate=-1"), "above 0"),
    "negative initial scale": ((*SWEEP, "--set", "model.init_scale=-1"), "model.init_scale"),
    "axis that does not exist": ((*SWEEP, "--over", "model.init_scal=1,2"), "'init_scale'"),
    "axis that is no setting": (
        (*SWEEP, "--over", "steps=1,2"),
        "Known: best, dynamics, model, probes, stop, task",
    ),
    "axis value that is bad": ((*SWEEP, "--over", "model.init_scale=-1,1"), "init_scale"),
    "axis beyond the end": ((*SWEEP, "--over", "task.means[7]=1"), "an index below 2"),
    "range that is none": ((*SWEEP, "--over", "model.width=1:3"), "first:last:count"),
    "unknown model": ((*SWEEP, "--model", "TideLinear"), "did you mean 'TiedLinear'"),
    "unknown probe": ((*SWEEP, "--probe", "Los"), "did you mean 'Loss'"),
    "model that needs code": ((*SWEEP, "--model", "FunctionModel"), "needs init"),
    "unknown kind of things": (("list", "model"), "did you mean 'models'"),
    "unknown kind of records": (("runs", "--kind", "studies"), "did you mean 'study'"),
    "unknown record": (("show", "deadbeef"), "unknown record 'deadbeef'"),
    "unknown record to export": (("export", "deadbeef"), "unknown record"),
    "unknown record to forget": (("forget", "deadbeef", "--yes"), "unknown record"),
}


def check(answer, said: str) -> None:
    assert answer.code == 2, answer.err
    assert answer.out == ""
    lines = [line for line in answer.err.splitlines() if line.startswith("dynascope: ")]
    assert len(lines) == 1 and answer.err.endswith(lines[0] + "\n")
    assert "Traceback" not in answer.err
    assert said in lines[0], lines[0]


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_code_2(cli, home, case):
    words, said = BAD[case]
    check(cli(*words), said)
    assert not (home / "records").exists()


@pytest.mark.parametrize("words", [(*SWEEP, "--steps", "5"), RUN])
def test_a_results_folder_that_cannot_be_written_is_one_line(cli, tmp_path, monkeypatch, words):
    (tmp_path / "file").touch()
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path / "file" / "home"))
    check(cli(*words), f"cannot write {tmp_path / 'file' / 'home'}")


def test_a_results_folder_that_is_no_local_folder_is_one_line(cli, monkeypatch):
    monkeypatch.setenv("DYNASCOPE_HOME", "s3://bucket/results")
    check(cli("runs"), "a local folder")


def test_a_disk_that_fills_up_is_one_line_and_nothing_stored_is_lost(cli, full, monkeypatch, ids):
    before = Store().load(ids["sweep"])

    def refuse(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        check(cli(*SWEEP, "--steps", "30", "--set", "record.points=5"), "No space left on device")
    assert Store().load(ids["sweep"]).identical(before)
    assert {e.id for e in Store().runs() if not e.damaged} >= set(ids.values())
    assert cli(*SWEEP, "--steps", "30", "--set", "record.points=5").code == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a disk that is full")
def test_a_report_on_a_full_disk_is_one_line(cli, full, ids):
    check(cli("report", ids["study"], "--out", "/dev/full"), "No space left on device")
