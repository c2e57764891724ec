"""Progress: silent when quick, lines where nobody watches a bar, no estimate from the compiler."""

from __future__ import annotations

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
