"""Random experiments in Python: any task, model, dynamics and probes, at odd settings.

Each runs, or is refused in one line; no number that is not finite comes back unmarked.
"""

from __future__ import annotations

import random
from pathlib import Path

from campaign.worker import Worker, wrong

HEAD = """
import numpy as np
from dynascope import dynamics, models, probes, record, simulate, tasks
run = {call}
for probe in {probes}:
    values = run[probe.stored_as].transpose("seed", "step", ...).values
    odd = ~np.isfinite(values.reshape(*values.shape[:2], -1)).all(-1)
    at = run["diverged_step"].values
    marked = (at != -1)[:, None] & (run["step"].values[None] >= at[:, None])
    assert probe.undefined or not (odd & ~marked).any(), probe
"""
NUMBERS = {
    "float": ("0.0", "1.0", "0.1", "-1.0", "1e-30", "1e30", "1e300", "float('inf')"),
    "int": ("0", "1", "2", "3", "5", "-1", "10**20", "17"),
}


class Field:
    def __init__(self, folder: Path) -> None:
        self.worker = Worker(folder / "home")

    def __enter__(self):
        from dynascope.runner.pieces import catalogue

        self.pieces = {p: catalogue(p) for p in ("tasks", "models", "dynamics", "probes")}
        return self

    def __exit__(self, *_):
        self.worker.__exit__()

    def attempt(self, draw: random.Random) -> list[str]:
        task, model, rule = (self.piece(draw, p) for p in ("tasks", "models", "dynamics"))
        measured = f"[{', '.join(self.piece(draw, 'probes') for _ in range(draw.randrange(1, 3)))}]"
        # A flow is recorded a thousand times by default, and may take many small steps.
        flow, steps = "time=0.05, record=record.Evenly(20)", f"steps={draw.choice((1, 2, 5))}"
        length = flow if "Flow" in rule else steps
        call = f"simulate({task}, {model}, {rule}, {length}, probes={measured}, seeds=2, progress=False)"  # noqa: E501
        code = HEAD.format(call=call, probes=measured)
        found = wrong(self.worker.ask(code=code))
        return [f"{found}\n    code: {call}"] if found else []

    def piece(self, draw: random.Random, package: str) -> str:
        """A class of the catalogue with its needed fields, and sometimes an odd one."""
        import dataclasses

        name, cls = draw.choice(list(self.pieces[package].items()))
        given = {}
        for field in dataclasses.fields(cls):
            needed = field.default is field.default_factory is dataclasses.MISSING
            kind = "int" if "int" in str(field.type) else "float"
            if needed and field.name == "learning_rate":
                given[field.name] = draw.choice(("0.01", "0.1", "10.0", "1e30"))
            elif needed or (draw.random() < 0.08 and str(field.type) in NUMBERS):
                given[field.name] = draw.choice(NUMBERS[kind])
        return f"{package}.{name}({', '.join(f'{k}={v}' for k, v in given.items())})"
