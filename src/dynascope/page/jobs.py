"""Runs of studies: at most two at once, the others wait; everybody may listen to their events."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from dynascope.page.pool import Refused

AT_ONCE, WAITING = 2, 20
REMEMBERED = 50  # jobs that have ended
PATIENCE = 20.0  # seconds after an interrupt before it is killed
ENDED = ("finished", "cancelled", "failed")


@dataclass
class Job:
    """A run of a study and how it stands."""

    id: int
    study: str
    scale: str
    changes: dict[str, Any]
    began: str  # when it was asked for, as records write it
    state: str = "waiting"  # waiting, running, cancelling, finished, cancelled, failed
    label: str = ""
    share: float = 0.0
    note: str = ""
    line: str = ""
    record: str = ""
    tally: dict[str, int] = field(default_factory=dict)
    process: asyncio.subprocess.Process | None = field(default=None, repr=False)

    def plain(self) -> dict[str, Any]:
        """What pages may know."""
        return {k: v for k, v in self.__dict__.items() if k not in ("process", "changes")}


class Jobs:
    """All jobs of a server."""

    def __init__(self) -> None:
        self.jobs: dict[int, Job] = {}
        self._room = asyncio.Semaphore(AT_ONCE)
        self._listeners: set[asyncio.Queue[Job | None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, study: str, scale: str, changes: dict[str, Any]) -> Job:
        """Put a run into the queue."""
        waiting = sum(job.state == "waiting" for job in self.jobs.values())
        if waiting >= WAITING:
            raise Refused(429, f"{waiting} runs are waiting already; cancel one or try later.")
        same = [j for j in self.jobs.values() if (j.study, j.scale, j.changes, j.state in ENDED)
                == (study, scale, changes, False)]  # fmt: skip
        if same:
            return same[0]
        now = datetime.now(UTC).isoformat()
        job = Job(max(self.jobs, default=0) + 1, study, scale, changes, now)
        self.jobs[job.id] = job
        task = asyncio.create_task(self._run(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._tell(job)
        for old in [j.id for j in self.jobs.values() if j.state in ENDED][:-REMEMBERED]:
            del self.jobs[old]
        return job

    def cancel(self, number: int) -> Job:
        """Interrupt a run, as Ctrl-C does, or take it out of the queue."""
        job = self.jobs.get(number)
        if job is None:
            raise Refused(404, f"There is no job {number}.")
        if job.state == "waiting":
            job.state = "cancelled"
        elif job.state == "running":
            job.state, job.line = "cancelling", "stopping; what is recorded stays"
            if job.process:
                job.process.send_signal(signal.SIGINT)
                asyncio.get_running_loop().call_later(PATIENCE, _kill, job)
        self._tell(job)
        return job

    async def _run(self, job: Job) -> None:
        async with self._room:
            if job.state != "waiting":
                return
            job.state = "running"
            self._tell(job)
            try:
                await self._follow(job)
            except Exception as error:
                print(f"page: job {job.id}: {error!r}", file=sys.stderr)
                job.state, job.line = "failed", "The run could not be started."
            self._tell(job)

    async def _follow(self, job: Job) -> None:
        """Start the process and take over its events until it ends."""
        job.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "dynascope.page.job", stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, limit=2**20, start_new_session=True,
        )  # fmt: skip
        assert job.process.stdin and job.process.stdout
        if job.state == "cancelling":  # while the process was being made
            job.process.kill()
            await job.process.wait()
            job.state, job.line = "cancelled", ""
            return
        asked = {"study": job.study, "scale": job.scale, "changes": job.changes}
        job.process.stdin.write(json.dumps(asked).encode() + b"\n")
        await job.process.stdin.drain()
        async for line in job.process.stdout:
            self._take(job, json.loads(line))
        await job.process.wait()
        if job.state not in ENDED:
            stopped = job.state == "cancelling"
            job.state = "cancelled" if stopped else "failed"
            job.line = "" if stopped else "The process of the run ended; run it again to go on."

    def _take(self, job: Job, event: dict[str, Any]) -> None:
        kind = event.pop("event")
        if kind in ENDED:
            job.state = kind
        if kind in ("line", "failed"):
            job.share = 0.0 if kind == "line" else job.share
        for name in ("label", "share", "note", "line", "record", "tally"):
            if name in event:
                setattr(job, name, event[name])
        self._tell(job)

    def _tell(self, job: Job) -> None:
        for queue in self._listeners:
            queue.put_nowait(job)

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """How every job stands that is not over, then each change."""
        queue: asyncio.Queue[Job | None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            for job in list(self.jobs.values()):
                if job.state not in ENDED:
                    yield job.plain()
            while (changed := await queue.get()) is not None:
                yield changed.plain()
        finally:
            self._listeners.discard(queue)

    def hang_up(self) -> None:
        """End the events of every listener: the server is being stopped."""
        for queue in self._listeners:
            queue.put_nowait(None)

    def stop(self) -> None:
        """Interrupt everything: what is recorded stays."""
        for job in self.jobs.values():
            if job.process and job.process.returncode is None:
                job.process.send_signal(signal.SIGINT)


def _kill(job: Job) -> None:
    if job.process and job.process.returncode is None:
        os.kill(job.process.pid, signal.SIGKILL)
