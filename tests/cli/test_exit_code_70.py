"""Lines that once ended in an error of ours: now one line that says what was expected."""

from __future__ import annotations

import pytest

HUGE = "99999999999999999999999"
SWEEP = ("sweep", "--dry-run")
LINES = {
    "no seeds, planned": ("run", "quadratic-generalization", "--seeds", "0", "--dry-run"),
    "seeds beyond 64 bits": ("run", "swing-by", "--seeds", HUGE, "--dry-run"),
    "seeds beyond 64 bits in a sweep": (*SWEEP, "--seeds", HUGE),
    "seeds beyond memory": (*SWEEP, "--seeds", str(2**62)),
    "steps beyond 64 bits": (*SWEEP, "--steps", HUGE),
    "depth beyond 64 bits": (*SWEEP, "--model", "MLP", "--set", f"model.depth={HUGE}"),
    "depth beyond sense": (*SWEEP, "--model", "MLP", "--set", "model.depth=999999999"),
    "width beyond 64 bits": (*SWEEP, "--set", f"model.width={HUGE}"),
    "a number of 400 digits": (*SWEEP, "--set", f"model.init_scale={'9' * 400}"),
    "an axis of too many points": (*SWEEP, "--over", "model.init_scale=0:1:999999999999"),
    "depth of a graph": ("graph", "FILE", "--depth", HUGE),
    "nodes of a graph": ("graph", "FILE", "--nodes", HUGE),
}


@pytest.mark.parametrize("case", LINES)
def test_it_is_one_line_and_exit_code_2(cli, home, tmp_path, case):
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n")
    words = [tmp_path / "edges.txt" if w == "FILE" else w for w in LINES[case]]
    answer = cli(*words)
    told = [line for line in answer.err.splitlines() if line.startswith("dynascope: ")]
    assert answer.code == 2 and len(told) == 1 and len(told[0]) < 400, answer.err
