"""Odd files for every command that reads one: empty, cut off, random, huge numbers, wrong kind."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

from campaign.worker import Worker, wrong

ENDINGS = (".txt", ".csv", ".npz", ".npy", ".graphml", ".graph", ".json", ".safetensors", ".bin",
           ".gguf", ".pt", ".py", "")  # fmt: skip
PIECES = (b"0 1\n1 2\n", b"0,1\n", b"1e400 2\n", b"a b c\n", b"\xff\xfe\0", b"PK\x03\x04", b"\x93NUMPY\x01\0",  # noqa: E501
          b"<graphml>", b"{", b"[" * 2000, b"99999999999999999999 1\n", b"-1 2\n", b"\n\n", b"# x\n",  # noqa: E501
          b"nan nan\n", b"GGUF\x03\0\0\0", b"\x80\x04c__builtin__\neval\n", b"import os\n")  # fmt: skip  # noqa: E501


class Field:
    def __init__(self, folder: Path) -> None:
        self.folder, self.worker = folder, Worker(folder / "home")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.worker.__exit__()

    def attempt(self, draw: random.Random) -> list[str]:
        parts = [draw.choice(PIECES) if draw.random() < 0.7 else draw.randbytes(draw.randrange(60))
                 for _ in range(draw.randrange(6))]  # fmt: skip
        file = self.folder / f"odd{draw.choice(ENDINGS)}"
        file.write_bytes(b"".join(parts))
        command = draw.choice(("graph", "graph", "rank", "network"))
        words = [command, str(file)]
        if command == "graph" and draw.random() < 0.5:
            words = [
                "graph",
                str(self.folder / "edges.txt"),
                draw.choice(("--target", "--features")),
                str(file),
            ]
            (self.folder / "edges.txt").write_text("0 1\n1 2\n")
        found = wrong(self.worker.ask(words))
        content = b"".join(parts)
        return (
            [f"{found}\n    line: dynascope {shlex.join(words)} with {content!r}"] if found else []
        )
