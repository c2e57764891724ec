"""A process that runs command lines and snippets one after the other, and what became of each.

Importing jax takes seconds; one process that is told what to do next makes a thousand cases
cheap. One that hangs or dies is replaced, which is a finding.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

LONGEST = 120.0  # seconds of the processor for one case; a busy machine is no finding
PATIENCE = 900.0  # seconds for one case
TESTS = Path(__file__).parents[1]


class Answer(NamedTuple):
    code: int | str  # an exit code, "hangs" or "died"
    out: str
    err: str


class Worker:
    """Used as a context manager; `ask` gives the answer of one command line or snippet."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.environment = {**os.environ, "DYNASCOPE_HOME": str(home), "DYNASCOPE_MEMORY": "2G",
                            "PYTHONWARNINGS": "ignore", **environment}  # fmt: skip
        self.folder = home.parent
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def ask(self, words: list[str] | None = None, code: str = "") -> Answer:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-c", "from campaign.worker import serve; serve()"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, env={**self.environment, "PYTHONPATH": self._path()}, cwd=self.folder,
            )  # fmt: skip
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(json.dumps({"words": words, "code": code}) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self._end()
            return Answer("died", "", "")
        ready = self._ready()
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self._end()
            return Answer("died" if ready else "hangs", "", "")
        return Answer(*json.loads(line))

    def _ready(self) -> bool:
        """Wait for the answer, or until the process has had its time."""
        assert self.process and self.process.stdout
        end, used = time.monotonic() + PATIENCE, processor_seconds(self.process.pid)
        while time.monotonic() < end:
            if select.select([self.process.stdout], [], [], 2.0)[0]:
                return True
            if processor_seconds(self.process.pid) - used > LONGEST:
                return False
        return False

    def _path(self) -> str:
        return os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])

    def _end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def processor_seconds(pid: int) -> float:
    """What a process has used so far; the clock where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve() -> None:
    """The other side: reads requests from stdin, answers on stdout."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else prints does not reach the answers
    for line in sys.stdin:
        asked = json.loads(line)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = _command(asked["words"]) if asked["words"] else _snippet(asked["code"])
        answers.write(json.dumps([code, out.getvalue()[-20000:], err.getvalue()[-20000:]]) + "\n")
        answers.flush()


def _command(words: list[str]) -> int:
    from dynascope.cli import main

    try:
        return main(words)
    except SystemExit as end:
        return int(end.code or 0)


def _snippet(code: str) -> int:
    """0 if it runs, 2 for an error of ours that is meant, 70 for any other."""
    from dynascope.core.errors import DynascopeError

    try:
        exec(compile(code, "case", "exec"), {"time": time})
    except DynascopeError as error:
        print(f"dynascope: {error}", file=sys.stderr)
        return 2
    except Exception as error:
        print(f"{type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
        return 70
    return 0


def wrong(answer: Answer) -> str | None:
    """What is wrong with an answer, or None: exit code 0, 1 or 2, one line, nothing steering."""
    if answer.code not in (0, 1, 2):
        told = answer.err.strip().splitlines()[-1:] or [""]
        return f"exit code {answer.code}: {told[0][:200]}"
    told = [line for line in answer.err.splitlines() if line.startswith("dynascope: ")]
    if answer.code == 2 and len(told) != 1:
        return f"{len(told)} lines of error: {answer.err[:200]!r}"
    if "Traceback" in answer.err:
        return "a traceback"
    if any(c in answer.out + answer.err for c in "\x1b\x07\x9b"):
        return "control characters on the terminal"
    return None
