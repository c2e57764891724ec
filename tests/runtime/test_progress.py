"""Progress: silent when quick, lines where nobody watches a bar, no estimate from the compiler."""

from __future__ import annotations

import time

from dynascope.runtime import progress
from dynascope.runtime.progress import Progress


def test_quick_jobs_say_nothing(capsys):
    with Progress("quick", 10) as bar:
        bar.update(5)
    assert capsys.readouterr().err == ""


def test_long_jobs_say_share_and_estimate_in_a_log(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with Progress("long", 100) as bar:
        now[0] = 15.0
        bar.update(0, "compiling")
        now[0] = 20.0
        bar.update(10)  # the first of the work: compilation took the time before it
        now[0] = 30.0
        bar.update(50)  # 40 in 10 s
    assert capsys.readouterr().err.splitlines() == [
        "long: 0% after 15 s compiling",
        "long: 50% after 30 s, about 12 s left",
    ]
    with Progress("mute", 100, enabled=False) as bar:
        now[0] = 99.0
        bar.update(50)
    assert capsys.readouterr().err == ""


def test_work_that_takes_longer_than_expected_promises_nothing(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "in_notebook", lambda: True)  # a line at every half second
    with progress.Progress("job", 1) as bar, progress.moving(bar, 0.0, expected=0.2):
        time.sleep(1.7)
    said = capsys.readouterr().err
    assert "95%" in said and "takes longer than expected" in said
    assert "left" not in said
