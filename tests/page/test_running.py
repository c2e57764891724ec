"""Runs from the page: the form, its errors, growing charts, the queue."""

import asyncio
import dataclasses

import numpy as np
import pytest
import xarray as xr

from dynascope.core.errors import bad
from dynascope.core.spec import Spec
from dynascope.page import jobs as running
from dynascope.page.forms import fields, form
from dynascope.page.pool import Refused
from dynascope.store import Store
from dynascope.studies import studies

from .served import ask, post, serving


@pytest.fixture(scope="module")
def port():
    with serving() as found:
        yield found


@pytest.fixture(autouse=True)
def _home(monkeypatch, tmp_path):
    monkeypatch.setenv("DYNASCOPE_HOME", str(tmp_path))


@pytest.mark.parametrize("name", ["swing-by", "balance", "catapult-gd"])
def test_every_field_of_the_form_can_be_set_to_itself(name):
    """What the form shows is what `--set` understands."""
    from dynascope.page.answers.running import check

    found = fields(studies.get(name).at("smoke"))
    assert found and all(f.type for f in found)
    check(name, "smoke", {f.path: f.value for f in found})


@dataclasses.dataclass(frozen=True)
class Limited(Spec):
    """Settings with limits of every wording."""

    seeds: int = 3
    share: float = 0.5
    rate: float = 0.1
    few: int = 2
    free: float = -5.0

    def check(self):
        for name, fine, words in (
            ("seeds", self.seeds >= 1, "a whole number of at least 1"),
            ("share", 0 <= self.share <= 1, "a number from 0 to 1"),
            ("rate", self.rate > 0, "a finite number above 0"),
            ("few", self.few <= 7, "at most 7 of them"),
        ):
            if not fine:
                raise bad(name, getattr(self, name), words)


def test_limits_are_those_of_the_spec():
    found = {f.path: (f.type, f.limits, f.low, f.high) for f in fields(Limited())}
    assert found == {
        "seeds": ("int", "a whole number of at least 1", "1", ""),
        "share": ("float", "a number from 0 to 1", "0", "1"),
        "rate": ("float", "a finite number above 0", "", ""),
        "few": ("int", "at most 7 of them", "", "7"),
        "free": ("float", "", "", ""),
    }
    html = form("name", "smoke", ("smoke",), Limited())
    assert 'type="number" step="any" min="0" max="1" name="share"' in html
    assert "float, a number from 0 to 1" in html


@pytest.mark.parametrize("name", studies.names())
def test_no_study_begins_outside_the_limits_of_its_own_form(name):
    for f in fields(studies.get(name).at("smoke")):
        assert not f.low or float(f.low) <= float(f.value), f
        assert not f.high or float(f.value) <= float(f.high), f


def test_the_form_follows_the_scale(port):
    texts = [ask(port, path=f"/form/balance?scale={s}")[1] for s in ("smoke", "paper")]
    assert 'value="5000"' in texts[0] and 'value="100000"' in texts[1]


def test_a_wrong_setting_names_the_nearest(port):
    status, found = post(port, "/run/balance", {"scale": "smoke", "changes": {"sedes": "3"}})
    assert status == 400 or status == 404
    assert "did you mean" in found["error"] and "\n" not in found["error"]
    status, found = post(port, "/run/balance", {"scale": "smoke", "changes": {"seed": "many"}})
    assert status == 400 and found["error"].startswith("seed")


def test_a_run_that_is_being_written_is_drawn(port):
    assert ask(port, path="/growing/balance")[1] == "[]"
    part = xr.Dataset({"loss": (("seed", "step"), np.ones((1, 3)))},
                      {"seed": [0], "step": [0, 1, 2]})  # fmt: skip
    sink = Store().sink({"a": 1}, "ab" * 8, "balance: a run", study="balance")
    sink.append(part, b"state")
    status, text, _ = ask(port, path="/growing/balance?width=300")
    assert status == 200 and "balance: a run" in text and '"scatter"' in text
    sink.finish({"seconds": 0.1, "seeds": 1})
    assert ask(port, path="/growing/balance")[1] == "[]"  # it is an old one
    assert "balance: a run" in ask(port, path="/growing/balance?since=2000-01-01")[1]
    assert ask(port, path="/growing/balance?since=2999-01-01")[1] == "[]"


def test_two_at_once_and_the_others_wait(monkeypatch):
    """No process is started: what is tested is the queue."""

    async def scene():
        jobs, going = running.Jobs(), asyncio.Event()

        async def follow(job):
            await going.wait()
            job.state = "finished"

        monkeypatch.setattr(jobs, "_follow", follow)
        made = [jobs.start("balance", "smoke", {"seed": i}) for i in range(5)]
        assert jobs.start("balance", "smoke", {"seed": 0}) is made[0]  # the same is one job
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        states = [job.state for job in made]
        assert states == ["running", "running", "waiting", "waiting", "waiting"]
        assert jobs.cancel(made[4].id).state == "cancelled"
        with pytest.raises(Refused):
            jobs.cancel(99)
        for i in range(100, 100 + running.WAITING - 2):
            jobs.start("balance", "smoke", {"seed": i})
        with pytest.raises(Refused) as full:
            jobs.start("balance", "smoke", {"seed": 999})
        assert full.value.status == 429
        going.set()
        await asyncio.sleep(0.05)
        assert all(job.state in running.ENDED for job in jobs.jobs.values())

    asyncio.run(scene())


def test_a_run_is_cancelled_while_its_process_is_being_made(monkeypatch):
    async def scene():
        jobs, made = running.Jobs(), asyncio.create_subprocess_exec

        async def cancelled_first(*words, **options):
            jobs.cancel(job.id)
            return await made(*words, **options)

        monkeypatch.setattr(asyncio, "create_subprocess_exec", cancelled_first)
        job = jobs.start("balance", "smoke", {})
        async with asyncio.timeout(20):
            while job.state not in running.ENDED:
                await asyncio.sleep(0.01)
        assert job.state == "cancelled" and job.process.returncode is not None

    asyncio.run(scene())


def test_whoever_listens_is_told_of_changes_until_the_server_hangs_up(monkeypatch):
    async def scene():
        jobs = running.Jobs()

        async def follow(job):
            job.state = "finished"

        monkeypatch.setattr(jobs, "_follow", follow)
        events = jobs.events()
        first = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        jobs.start("balance", "smoke", {})
        assert (await first)["state"] in ("waiting", "running", "finished")
        await asyncio.sleep(0.05)
        jobs.hang_up()
        async with asyncio.timeout(5):
            assert [e["state"] async for e in events][-1:] == ["finished"]

    asyncio.run(scene())
