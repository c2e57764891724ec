"""Two warm processes that answer questions, each started again when it ends.

The *reader* knows studies and records, the *explorer* moves explorers: neither waits for the
other. A question of a client that has asked a newer one meanwhile is dropped before it starts,
or left on the way.
"""

from __future__ import annotations

import asyncio
import ctypes
import multiprocessing
import sys
from typing import Any

from dynascope.page.worker import OVERTAKEN, serve

LONGEST = 120.0  # seconds for one answer, the first one after a start included
LEAVING = 1.0  # seconds to leave in order; locks of libraries would else be reported as leaked


class Refused(Exception):
    """A question that has no answer: an HTTP status and one line."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status, self.line = status, line


STATUS = {"unknown": 404, "gone": 404, "bad": 400, "error": 500, "overtaken": 409}
ENDED = "The process that worked on this has ended; a new one is being started. Try again."
TOO_LONG = f"This takes longer than {LONGEST:.0f} s and was stopped; try something smaller."


class Worker:
    """One warm process and the pipe to it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._turn = asyncio.Lock()
        self._newest: dict[str, int] = {}
        self._count = 0
        self._under_way = 0, ""  # number and client of the question that is being answered
        self.ready = asyncio.Event()  # it has answered something: its imports are done
        self._start()

    def _start(self) -> None:
        self.ready.clear()
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._overtaken = context.RawValue(ctypes.c_longlong, 0)
        words = (theirs, self.kind, self._overtaken)
        self.process = context.Process(target=serve, args=words, daemon=True)
        self.process.start()
        theirs.close()

    async def ask(self, question: str, /, client: str = "", **options: Any) -> Any:
        """The answer to a question, or `Refused`.

        Args:
            question: Its name, see `answers`.
            client: Whose question it is; a newer one of the same client overtakes it.
            options: Of the question.
        """
        self._count += 1
        mine = self._count
        if client:
            self._newest[client] = mine
            if self._under_way[1] == client:
                self._overtaken.value = self._under_way[0]
        # Whoever stops waiting leaves the pipe in order: the answer is still taken out of it.
        return _understood(await asyncio.shield(self._in_turn(mine, client, question, options)))

    async def _in_turn(
        self, mine: int, client: str, question: str, options: dict[str, Any]
    ) -> tuple[str, Any]:
        try:
            async with self._turn:
                if client and self._newest.get(client) != mine:
                    raise Refused(409, OVERTAKEN)
                self._under_way = mine, client
                return await self._exchange(mine, question, options)
        finally:
            if self._under_way[0] == mine:
                self._under_way = 0, ""
            if self._newest.get(client) == mine:
                del self._newest[client]

    async def _exchange(self, number: int, name: str, options: dict[str, Any]) -> tuple[str, Any]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(LONGEST):
                found = await loop.run_in_executor(None, self._round, number, name, options)
                self.ready.set()
                return found
        except TimeoutError:
            self.stop()
            self._start()
            raise Refused(503, TOO_LONG) from None
        except (EOFError, OSError):
            print(f"page: the {self.kind} process ended and is started again", file=sys.stderr)
            self.stop()
            self._start()
            raise Refused(503, ENDED) from None

    def _round(self, number: int, name: str, options: dict[str, Any]) -> tuple[str, Any]:
        self._pipe.send((number, name, options))
        return self._pipe.recv()

    def stop(self) -> None:
        """End the process: one that waits for questions leaves in order when none can come."""
        if not self._under_way[0]:
            self._pipe.close()
            self.process.join(LEAVING)
        self.process.kill()
        self.process.join(5)
        self._pipe.close()


def _understood(reply: tuple[str, Any]) -> Any:
    kind, value = reply
    if kind == "ok":
        return value
    raise Refused(STATUS[kind], value)


class Pool:
    """The reader and the explorer."""

    def __init__(self) -> None:
        self.reader, self.explorer = Worker("reader"), Worker("explorer")

    def stop(self) -> None:
        """End both."""
        self.reader.stop()
        self.explorer.stop()
