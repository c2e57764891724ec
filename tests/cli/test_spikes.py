from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def log(tmp_path):
    """A log with one catapult at step 300."""
    steps = np.arange(0, 600, 10)
    loss = np.where((steps >= 300) & (steps < 340), 5.0, 1.0)
    critical = np.where((steps >= 290) & (steps < 320), 0.3, 0.9)
    norm = np.where(steps > 310, 2.0, 4.0)
    rows = [f"{a},{b},0.5,{c},{d}" for a, b, c, d in zip(steps, loss, critical, norm, strict=True)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["step,loss,lr,batch_critical_rate,kernel_norm", *rows]))
    return path


def test_table_and_chart(cli, log, tmp_path):
    said = cli("spikes", log, "--out", tmp_path / "spikes.svg")
    assert said.code == 0, said.err
    assert "1 spike in 60 rows" in said.out and "catapult" in said.out and "-50%" in said.out
    assert (tmp_path / "spikes.svg").stat().st_size > 1000


def test_json_has_what_the_help_says(cli, log):
    found = json.loads(cli("spikes", log, "--json").out)
    (spike,) = found["spikes"]
    assert set(spike) == {"step", "peak", "before", "verdict", "evidence"}
    assert (spike["step"], spike["peak"], spike["before"]) == (300, 5.0, 1.0)
    assert spike["verdict"] == "catapult" and spike["evidence"]["rate above critical"] is True


def test_bad_input_is_one_line_and_exit_code_2(cli, log, tmp_path):
    def refused(told, *words):
        said = cli("spikes", *words)
        assert said.code == 2 and said.out == "" and told in said.err, said.err
        assert len([x for x in said.err.splitlines() if x.startswith("dynascope: ")]) == 1

    refused("exists", tmp_path / "none.csv")
    refused("picture format", log, "--out", tmp_path / "x.jpeg")
    refused("factor above 1", log, "--least", "0.5")
    lines = log.read_text().splitlines()
    log.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    refused("sort the rows", log)


def test_a_log_that_is_too_short_says_so(cli, tmp_path):
    (tmp_path / "log.csv").write_text("step,loss\n0,1.0\n1,nan\n")
    said = cli("spikes", tmp_path / "log.csv")
    assert said.code == 0 and "2 rows are too few" in said.err
