"""Questions to a warm process: in turn, overtaken ones dropped, a dead process replaced."""

import asyncio
import threading

import pytest

from dynascope.page.pool import Refused, Worker


class Pretended(Worker):
    """A worker without a process: its pipe is a function."""

    def _start(self):
        self.started = getattr(self, "started", 0) + 1
        self.go, self.seen = threading.Event(), []

    def stop(self):
        pass

    def _round(self, name, options):
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
