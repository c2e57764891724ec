"""Questions to a warm process: in turn, overtaken ones dropped, a dead process replaced."""

import asyncio
import multiprocessing
import threading
import time
from types import SimpleNamespace

import pytest

from dynascope.page.pool import Refused, Worker
from dynascope.page.worker import Rest, answered, serve, unless_overtaken, warm
from dynascope.runtime import process
from dynascope.runtime.progress import Progress


class Pretended(Worker):
    """A worker without a process: its pipe is a function."""

    def _start(self):
        self._overtaken = SimpleNamespace(value=0)
        self.started = getattr(self, "started", 0) + 1
        self.go, self.seen = threading.Event(), []

    def stop(self):
        pass

    def _round(self, number, name, options):
        self.seen.append(options.get("value"))
        if name == "dies":
            raise EOFError
        self.go.wait(5)
        return ("ok", options.get("value")) if name == "fine" else ("bad", "that is wrong")


def test_what_is_overtaken_is_never_computed():
    async def scene():
        worker = Pretended("explorer")
        asked = [asyncio.create_task(worker.ask("fine", client="a", value=0))]
        await asyncio.sleep(0.05)  # it is under way
        asked += [asyncio.create_task(worker.ask("fine", client="a", value=i)) for i in range(1, 5)]
        asked.append(asyncio.create_task(worker.ask("fine", client="b", value="other")))
        await asyncio.sleep(0.05)
        worker.go.set()
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert found[0] == 0 and found[4] == 4 and found[5] == "other"
        assert [f.status for f in found[1:4]] == [409, 409, 409]
        assert worker.seen == [0, 4, "other"]

    asyncio.run(scene())


def test_errors_have_a_status_and_a_dead_process_is_replaced():
    async def scene():
        worker = Pretended("reader")
        worker.go.set()
        with pytest.raises(Refused) as wrong:
            await worker.ask("unfit")
        assert (wrong.value.status, wrong.value.line) == (400, "that is wrong")
        with pytest.raises(Refused) as ended:
            await worker.ask("dies")
        assert ended.value.status == 503 and "has ended" in ended.value.line
        assert worker.started == 2
        worker.go.set()
        assert await worker.ask("fine", value=3) == 3

    asyncio.run(scene())


def test_whoever_stops_waiting_leaves_the_next_answer_to_the_next():
    async def scene():
        worker = Pretended("reader")
        left = asyncio.create_task(worker.ask("fine", value="first"))
        await asyncio.sleep(0.05)
        left.cancel()
        following = asyncio.create_task(worker.ask("fine", value="second"))
        await asyncio.sleep(0.05)
        assert worker.seen == ["first"]  # the pipe is still in use
        worker.go.set()
        assert await following == "second"

    asyncio.run(scene())


class Sooner(Pretended):
    """Like a process that leaves what is overtaken."""

    def _round(self, number, name, options):
        self.seen.append(options["value"])
        for _ in range(1000):
            if self._overtaken.value == number:
                return "overtaken", "Overtaken"
            if self.go.wait(0.005):
                break
        return "ok", options["value"]


def test_what_is_under_way_is_left_for_a_newer_question_of_the_same_client():
    async def scene():
        worker = Sooner("explorer")
        first = asyncio.create_task(worker.ask("fine", client="a", value=0))
        await asyncio.sleep(0.05)
        other = asyncio.create_task(worker.ask("fine", client="b", value="other"))
        await asyncio.sleep(0.05)
        assert not first.done()  # somebody else's question waits
        newer = asyncio.create_task(worker.ask("fine", client="a", value=1))
        with pytest.raises(Refused) as left:
            await asyncio.wait_for(first, 2)
        assert left.value.status == 409
        worker.go.set()
        assert await other == "other" and await newer == 1
        assert worker.seen == [0, "other", 1]

    asyncio.run(scene())


def test_a_computation_is_left_where_it_tells_of_its_progress(monkeypatch):
    shared, reached = SimpleNamespace(value=0), []

    def counts():
        with Progress("counting", 10, enabled=False) as bar:
            for i in range(10):
                shared.value = 7 if i == 3 else shared.value
                bar.update(i)
                reached.append(i)
        return "all"

    monkeypatch.setattr("dynascope.page.answers.ANSWERS", {"counts": counts})
    assert unless_overtaken(7, shared, "counts", {})[0] == "overtaken"
    assert reached == [0, 1, 2]
    assert unless_overtaken(8, shared, "counts", {}) == ("ok", "all")  # number 7 is meant
    assert answered("counts", {}) == ("ok", "all")  # nobody looks any more


def test_a_question_does_not_wait_for_what_warms_up(monkeypatch):
    """The program of a warm process, in this one: a piece ends only after the answer has come."""

    def leave(code):
        raise SystemExit(code)

    begun, answered_first, found = threading.Event(), threading.Event(), []

    def piece(kind):
        begun.set()
        answered_first.wait(20)
        yield

    ours, theirs = multiprocessing.Pipe()

    def parent():
        begun.wait(20)
        ours.send((1, "fine", {}))
        found.append(ours.poll(10) and ours.recv())
        answered_first.set()
        ours.close()

    monkeypatch.setattr("dynascope.page.answers.warm_up", piece)
    monkeypatch.setattr("dynascope.page.answers.ANSWERS", {"fine": lambda: 3})
    monkeypatch.setattr(process, "begin", lambda: None)
    monkeypatch.setattr(process, "leave", leave)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    threading.Thread(target=parent).start()
    with pytest.raises(SystemExit):
        serve(theirs, "explorer", SimpleNamespace(value=0))
    assert found == [("ok", 3)]


def test_what_warms_up_begins_nothing_between_the_moves_of_a_slider(monkeypatch):
    """Neither while a question is answered nor shortly after one; at first and after a rest."""
    monkeypatch.setattr("dynascope.page.worker.REST", 0.5)
    rest, done, goes_on = Rest(), [], threading.Event()

    def pieces():
        for i in range(3):
            done.append(i)
            goes_on.wait(20)  # it is still at its first piece when the first question comes
            yield

    thread = threading.Thread(target=warm, args=(pieces(), rest))
    thread.start()
    until = time.monotonic() + 20
    while not done and time.monotonic() < until:
        time.sleep(0.01)
    assert done == [0]  # nothing has been asked yet
    rest.ends()
    goes_on.set()
    for _ in range(8):  # moves that follow each other, longer than a rest in all
        rest.ends()
        time.sleep(0.02)
        rest.begins()
        time.sleep(0.1)
    assert done == [0]
    thread.join(20)
    assert done == [0, 1, 2] and not thread.is_alive()


@pytest.mark.slow
def test_a_long_run_in_a_warm_process_is_interrupted():
    """A long descent and its long theory: overtaken in either, it is not finished first."""

    async def scene():
        worker = Worker("explorer")
        try:
            values = {"steps": 500_000, "learning_rate": 0.05, "width": 8}
            ask = {"name": "swing-by", "narrow": False}
            whole = 0.0
            for seed in (1, 2):  # the first one compiles
                begun = time.monotonic()
                await worker.ask("explore", values={**values, "seed": seed}, **ask)
                whole = time.monotonic() - begun
            for share in (0.05, 0.5):
                asked = worker.ask("explore", client="a", values={**values, "seed": 3}, **ask)
                slow = asyncio.create_task(asked)
                await asyncio.sleep(share * whole)
                begun = time.monotonic()
                found = await worker.ask("explore", client="a", values={"seed": 4}, **ask)
                took = time.monotonic() - begun
                with pytest.raises(Refused) as left:
                    await slow
                assert left.value.status == 409 and b'"figure"' in found
                left_over = (1 - share) * whole  # what the first one would still have taken
                assert took < 0.8 * left_over, (share, took, whole)
        finally:
            worker.stop()

    asyncio.run(scene())
