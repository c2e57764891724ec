from __future__ import annotations

import json

import pytest

from dynascope.instruments.orbits import describing

QUARTIC = "(x**2-1)**2/4"


def answer(cli, *words):
    found = cli("orbit", *words, "--json")
    assert found.code == 0, found.err
    return json.loads(found.out)


def test_period_two_with_its_points(cli):
    found = answer(cli, QUARTIC, "--near", "1", "--learning-rate", "1.05")
    assert list(found) == [
        "function", "minimum", "stability_limit", "criticality", "learning_rate", "verdict",
        "period", "points", "multiplier", "lyapunov", "theory",
    ]  # fmt: skip
    assert found["verdict"] == "period-2" and found["period"] == 2
    assert found["points"] == pytest.approx([0.8728715609, 1.0910894512], abs=1e-9)
    assert found["theory"]["points"] == pytest.approx(found["points"], abs=1e-12)
    assert found["multiplier"] == pytest.approx(0.595, abs=1e-9)


def test_period_four_and_divergence_as_values(cli):
    found = answer(cli, QUARTIC, "--near", "1", "--learning-rate", "1.237")
    assert found["period"] == 4 and found["theory"]["period"] == 4
    gone = cli("orbit", QUARTIC, "--near", "1", "--learning-rate", "2.01", "--json")
    assert (gone.code, gone.err) == (0, "")
    assert json.loads(gone.out)["verdict"] == "diverges" and json.loads(gone.out)["points"] == []


@pytest.mark.parametrize("rate", ["1e-14", "1e-300"])
def test_a_rate_at_which_nothing_moves_has_not_converged(cli, rate):
    found = answer(cli, QUARTIC, "--near", "1", "--learning-rate", rate)
    assert found["verdict"] == "undecided" and found["points"] == [] and found["period"] is None
    assert found["theory"] == {"verdict": "converges", "period": 1, "points": [1.0]}


def test_the_start_matters(cli):
    found = answer(cli, QUARTIC, "--near", "1", "--learning-rate", "0.9", "--start", "-0.5")
    assert found["points"] == pytest.approx([-1.0]) and found["minimum"] == 1


def test_without_a_rate_only_the_edge_is_told(cli):
    found = answer(cli, "2*sin(x)", "--near", "-1.5")
    assert found["stability_limit"] == pytest.approx(1) and found["verdict"] is None
    said = cli("orbit", "x**2", "--near", "1")
    assert "no orbit" in said.out
    assert "higher derivatives" in cli("orbit", "x**2/2-x**8", "--near", "0.1").out


def test_a_range_is_a_table_and_a_picture(cli, tmp_path, monkeypatch):
    monkeypatch.setitem(describing.DIAGRAM, "columns", 40)
    monkeypatch.setitem(describing.DIAGRAM, "bins", 30)
    out = tmp_path / "diagram.png"
    said = cli("orbit", QUARTIC, "--near", "1", "--from", "0.9", "--to", "1.3", "--out", out)
    assert said.code == 0 and out.read_bytes()[:4] == b"\x89PNG"
    assert "period-2" in said.out and str(out) in said.out
    found = answer(cli, QUARTIC, "--near", "1", "--from", "0.9", "--to", "1.3")
    assert [row["verdict"] for row in found["learning_rates"]][:2] == ["converges", "converges"]
    assert len(found["learning_rates"]) == 9


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("sinn(x)", "--near", "1"), "did you mean 'sin'"),
        (("y", "--near", "1"), "unknown name 'y'"),
        (("x^2", "--near", "1"), "powers are written **"),
        ((QUARTIC, "--near", "0"), "ended at x = 0"),
        ((QUARTIC, "--near", "nan"), "near"),
        ((QUARTIC, "--near", "1", "--learning-rate", "nan"), "finite number above 0"),
        ((QUARTIC, "--near", "1", "--learning-rate", "inf"), "finite number above 0"),
        ((QUARTIC, "--near", "1", "--learning-rate", "-1"), "finite number above 0"),
        ((QUARTIC, "--near", "1", "--start", "inf", "--learning-rate", "1"), "--start"),
        (("log(x)**2", "--near", "1.1", "--start", "-1"), "are finite"),
        (("x-0.05*log(x)", "--near", "0.06"), "start: got -0.05"),
        (("x-0.05*log(x)", "--near", "-1"), "where the function is finite"),
        (("__import__('os').system('true')", "--near", "1"), "expected only x"),
        ((QUARTIC, "--near", "1", "--from", "1"), "both --from and --to"),
        ((QUARTIC, "--near", "1", "--from", "2", "--to", "1"), "below --to"),
        ((QUARTIC, "--near", "1", "--from", "1", "--to", "2", "--learning-rate", "1"), "either"),
        ((QUARTIC, "--near", "1", "--out", "a.gif"), "picture format"),
        ((QUARTIC, "--near", "1", "--out", "no/such/folder/a.png"), "a folder that exists"),
        ((QUARTIC,), "--near"),
        ((QUARTIC, "--near", "one"), "Invalid value for '--near'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(cli, words, told):
    found = cli("orbit", *words)
    assert found.code == 2 and found.out == ""
    assert told in found.err and found.err.count("\n") == 1
