"""`dynascope network`: how linear a network on a graph is, and becomes as it widens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit, table
from dynascope.core.errors import bad

PLAIN = ("layers", "width", "hessian_norm", "kernel_drift", "slope")


def network(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Edge list of a directed acyclic graph.")
    ],
    widen: Annotated[
        str,
        typer.Option(metavar="K,K,...", help="Copies to make of every hidden vertex."),
    ] = "1,2,4,8",
    seeds: Annotated[int, typer.Option(metavar="N", help="Random starts.")] = 5,
    as_json: options.Json = False,
) -> None:
    """Say how linear a network of any wiring is, as it widens.

    FILE has one edge per line: the vertex that feeds and the one that is fed. Vertices that
    nothing feeds are inputs, those that feed nothing are outputs. Widening by K replaces every
    hidden vertex by K copies that are joined to all copies of its neighbours. Weights start
    standard normal, sums are over the square root of the in-degree, tanh between the layers.

    \b
    Examples
      dynascope network edges.txt
      dynascope network edges.txt --widen 1,2,4,8,16 --seeds 10 --json
    """  # noqa: D301
    factors = _factors(widen)
    from dynascope.instruments.network.describing import describe_network
    from dynascope.models.wiring_files import read_wiring

    found = describe_network(read_wiring(file), factors, seeds)
    if as_json:
        emit({name: found[name] for name in PLAIN})
    else:
        _show(found, seeds)


def _factors(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise bad("--widen", text, "whole numbers with commas between them, such as 1,2,4,8")
    return [int(part) for part in parts]


def _show(found: dict[str, Any], seeds: int) -> None:
    layers = found["layers"]
    print(f"layers        {len(layers)}: {_layer_words(layers)}")
    print(f"width         {found['width']}, the smallest in-degree from the second layer on")
    print(f"Hessian norm  {found['hessian_norm']:.4g}, of an output, mean over {seeds} starts\n")
    rows = zip(found["hessian_norms"], found["kernel_drift"], strict=True)
    table(
        ("width", "Hessian norm", "95 %", "kernel drift", "95 %"),
        [(str(h["width"]), *_cells(h), *_cells(d)) for h, d in rows],
    )
    for name, words in (("hessian_slope", "Hessian norm"), ("slope", "kernel drift")):
        if found[name] is not None:
            print(f"{words} ~ width^{found[name]:.2f}")


def _layer_words(layers: list[list[str]]) -> str:
    shown = [" ".join(layer[:6]) + (" ..." if len(layer) > 6 else "") for layer in layers]
    return " | ".join(shown)


def _cells(row: dict[str, float]) -> tuple[str, str]:
    return f"{row['value']:.4g}", f"{row['low']:.3g} to {row['high']:.3g}"
