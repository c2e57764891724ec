"""A server for the tests: in this process for speed, or as the command for faults."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import uvicorn
import xarray as xr

from dynascope.page.pool import Worker, _understood
from dynascope.page.server import application
from dynascope.page.serving import listen
from dynascope.page.worker import answered
from dynascope.store import Store

TOKEN = "a-token-of-the-tests"


class Direct:
    """Answers like a warm process does, in a thread of this one."""

    def __init__(self):
        self._turn = threading.Lock()
        self.reader = self.explorer = self
        self.ready = threading.Event()
        self.ready.set()

    async def ask(self, question, /, client="", **options):
        def one():
            with self._turn:
                return answered(question, options)

        return _understood(await asyncio.to_thread(one))

    def stop(self):
        pass


class Holding(Worker):
    """A warm process in a thread of this one: while `hold` is set, what comes is held.

    A question that is held is answered only after a newer one of the same page has overtaken it.
    """

    def _start(self):
        self._overtaken = SimpleNamespace(value=0)
        self.hold, self.held = threading.Event(), threading.Event()
        self.reader = self.explorer = self
        self.seen = []
        self.ready.set()

    def _round(self, number, name, options):
        if name == "explore":
            self.seen.append(options["values"])
        if name == "explore" and self.hold.is_set():
            self.held.set()
            until = time.monotonic() + 20
            while self._overtaken.value != number and time.monotonic() < until:
                time.sleep(0.01)
            self.hold.clear()
            return "overtaken" if self._overtaken.value == number else "error", "it was held"
        return answered(name, options)

    def stop(self):
        pass


@contextlib.contextmanager
def serving(host="127.0.0.1", pool=None):
    """The port of a server in this process."""
    bound = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        application(pool or Direct(), TOKEN, host), log_level="error", access_log=False,
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])))
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)
        bound.close()


def ask(port, method="GET", path="/explorers", headers=None, body=None):
    """Status and text of an answer; a request as raw as it was written."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        given = {"host": f"127.0.0.1:{port}", **(headers or {})}
        if body is not None:
            given.setdefault("content-length", str(len(body)))
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        data = answer.read()
        if answer.headers.get("content-encoding") == "gzip":
            import gzip

            data = gzip.decompress(data)
        return answer.status, data.decode("utf-8", "replace"), answer.headers
    finally:
        connection.close()


def post(port, path, asked, token=TOKEN):
    """Status and JSON of an answer to our own page."""
    body = json.dumps(asked).encode()
    status, text, _ = ask(port, "POST", path, {"x-token": token}, body)
    return status, json.loads(text)


def put_run(label="sweep", steps=50, number=0, home=None, study=""):
    """A stored run with a curve, a spectrum and a matrix; its id."""
    fingerprint = f"{0xABCDEF00 + number:08x}{steps:08x}"
    step = np.arange(steps)
    loss = 1.0 / (1 + step)
    run = xr.Dataset(
        {
            "loss": (("seed", "step"), np.stack([loss, 2 * loss])),
            "spectrum": (("seed", "step", "rank"), np.ones((2, steps, 3)) * loss[:, None]),
            "matrix": (("seed", "step", "row", "column"), np.ones((2, steps, 2, 2))),
            "diverged": ("seed", [False, False]),
        },
        {"seed": [0, 1], "step": step},
    )
    sink = Store(home).sink({"steps": steps, "number": number}, fingerprint, label, study=study)
    sink.append(run, b"")
    sink.finish({"seconds": 0.1, "seeds": 2})
    return Store(home).find(fingerprint)


@contextlib.contextmanager
def command(home, *options):
    """The command `dynascope page` in a process of its own: its port, and the process."""
    environment = {**os.environ, "DYNASCOPE_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    words = [sys.executable, "-m", "dynascope", "page", "--no-open", *options]
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        link = process.stdout.readline()
        yield int(re.search(r":(\d+)/", link)[1]), process, link
    finally:
        if process.poll() is None:
            process.send_signal(2)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        process.stdout.close()
        process.stderr.close()
