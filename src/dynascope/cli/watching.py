"""`dynascope watch`: the examples, and what a stored run of your own loop shows."""

from __future__ import annotations

from typing import Annotated

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit, table
from dynascope.core.errors import unknown

EXAMPLES = {
    "torch_mlp": "A PyTorch network whose sharpness climbs to 2 / learning rate.",
    "torch_transformer": "A small PyTorch transformer with Adam.",
    "jax_loop": "A jax loop that begins above its critical learning rate.",
}


def watch(
    what: Annotated[str, typer.Argument(metavar="examples|ID", help="Or the id of a record.")],
    as_json: options.Json = False,
) -> None:
    """Say what a watched training run did, or list examples."""
    if what == "examples":
        rows = [(n, t, f"python -m dynascope.watching.examples.{n}") for n, t in EXAMPLES.items()]
        if as_json:
            emit({"examples": [{"name": n, "about": t, "command": c} for n, t, c in rows]})
        else:
            table(("example", "what it shows", "run it"), rows)
        return
    from dataclasses import asdict

    import xarray as xr

    from dynascope.store import Store
    from dynascope.watching.diagnosis import diagnose
    from dynascope.watching.words import summary

    record = Store().load(what)
    if not isinstance(record, xr.Dataset) or "schedule" not in record.attrs:
        raise unknown("watched run", what, [e.id for e in Store().runs("run")][:10])
    if as_json:
        emit({"record": what, "findings": [asdict(f) for f in diagnose(record)]})
    else:
        print(summary(record))
