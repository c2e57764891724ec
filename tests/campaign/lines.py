"""Random command lines: real options with likely, odd and absurd values."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

from campaign.worker import Worker, wrong

ODD = ("", "0", "-1", "1", "2", "3", "0.5", "1e30", "1e-30", "nan", "inf", "-inf", "99999999999999999999",  # noqa: E501
       str(2**31), str(2**63), "None", "null", "[]", "[1,2]", "{}", "x", "..", "/", "\x1b[31m", "é", "a" * 300,  # noqa: E501
       "--", "1:2:3", "log:1:2:3", "0:0:0", "true")  # fmt: skip
PATHS = ("task.means", "task.scales", "model.width", "model.init_scale", "dynamics.learning_rate",
         "record.points", "seeds", "steps", "task.means[0]", "task.means[9]", "x.y", "dtype", "model",  # noqa: E501
         "task.samples_per_cluster", "dynamics.batch_size", "network_steps")  # fmt: skip


class Field:
    """Short commands only: whatever would train is planned with --dry-run or cut short."""

    def __init__(self, folder: Path) -> None:
        (folder / "edges.txt").write_text("0 1\n1 2\n2 0\n")
        self.worker = Worker(folder / "home")

    def __enter__(self):
        from dynascope.cli.root import _COMMANDS
        from dynascope.runner.pieces import catalogue
        from dynascope.studies import studies

        self.options = {name: _words(command) for name, command in _COMMANDS.items()}
        del self.options["page"]  # serves until it is ended
        self.studies = [s.name for s in studies]
        self.pieces = {p: list(catalogue(p)) for p in ("tasks", "models", "dynamics", "probes")}
        return self

    def __exit__(self, *_):
        self.worker.__exit__()

    def attempt(self, draw: random.Random) -> list[str]:
        words = self.line(draw)
        found = wrong(self.worker.ask(words))
        return [f"{found}\n    line: dynascope {shlex.join(words)}"] if found else []

    def line(self, draw: random.Random) -> list[str]:
        """A command, some of its options, values that are right about half of the time."""
        name = draw.choice(list(self.options))
        words = [name]
        if name in ("run", "claims"):
            words += [draw.choice(self.studies)] if name == "run" else []
        elif name in ("graph", "orbit", "rank", "network", "new-study"):
            words += [draw.choice(["edges.txt", "nothing", *ODD[:6]])]
        elif name in ("show", "report", "export", "forget"):
            words += [draw.choice(["last", "01234567", *ODD])]
        for option in draw.sample(
            self.options[name], min(len(self.options[name]), draw.randrange(4))
        ):
            words += [option] if draw.random() < 0.3 else [option, self.value(draw, option)]
        if name in ("run", "sweep"):
            words += ["--dry-run"]
        return [w for w in words if "\0" not in w and w != "--open"]

    def value(self, draw: random.Random, option: str) -> str:
        if option in ("--set", "--over"):
            return f"{draw.choice(PATHS)}={draw.choice(ODD)}"
        plural = {
            "--task": "tasks",
            "--model": "models",
            "--dynamics": "dynamics",
            "--probe": "probes",
        }
        if option in plural and draw.random() < 0.8:
            return draw.choice(self.pieces[plural[option]])
        if option == "--scale" and draw.random() < 0.7:
            return "smoke"
        return draw.choice(ODD)


def _words(command) -> list[str]:
    """The options of a command, as they are typed."""
    import typer

    app = typer.Typer(add_completion=False)
    app.command()(command)
    params = typer.main.get_command(app).params
    return [name for p in params for name in p.opts if name.startswith("--")]
