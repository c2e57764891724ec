"""`dynascope rank`: how much of a transformer's heads changed between checkpoints, by rank."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit, say, table

PRODUCTS = {"kq": "W_K W_Q^T", "vo": "W_V W_O^T"}


def rank(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="BEFORE AFTER...",
            help="Checkpoints in order: .safetensors, .npz, llama2.c .bin, or folders with them.",
        ),
    ],
    heads: Annotated[
        int | None,
        typer.Option(metavar="N", help="Attention heads, where no config.json tells it."),
    ] = None,
    energy: Annotated[
        float, typer.Option(metavar="E", help="Share of the change that a LoRA should hold.")
    ] = 0.9,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the growth of the spectrum (png, svg, pdf)."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say of what rank a transformer's heads have changed.

    For every head the change of W_K W_Q^T and of W_V W_O^T since the first checkpoint is
    decomposed, without forming the products. The stable rank is the sum of the squared singular
    values over the largest, squared. Knows the names of GPT-2, GPT-NeoX, Llama,
    ViT (Hugging Face and timm), llama2.c and of dynascope's own transformers.

    \b
    Examples
      dynascope rank start.safetensors end.safetensors
      dynascope rank step0/ step1000/ step143000/ --out growth.png --json
    """  # noqa: D301
    from dynascope.instruments.ranks.describing import describe_ranks
    from dynascope.instruments.ranks.measuring import measure_ranks

    options.check_picture(out)
    series = measure_ranks(files, heads)
    found = describe_ranks(series, energy)
    for note in found["notes"]:
        say(note)
    if out is not None:
        from dynascope.instruments.ranks.drawing import growth_chart
        from dynascope.report import save

        found["out"] = str(save(growth_chart(series), out).resolve())
    if as_json:
        emit(found)
    else:
        _show(found)


def _show(found: dict[str, Any]) -> None:
    print(f"{found['family']}: {found['layers']} layers, {found['heads']} heads\n")
    rows = []
    for number, name in enumerate(found["checkpoints"]):
        for layer in range(found["layers"]):
            cells = [_cell(found["change"][p][number][layer]) for p in PRODUCTS]
            starts = [_cell(found["start"][p][layer]) for p in PRODUCTS]
            rows.append((name, str(layer), cells[0], starts[0], cells[1], starts[1]))
    columns = [word for p in PRODUCTS.values() for word in (f"change of {p}", "before")]
    table(("checkpoint", "layer", *columns), rows)
    lora = found["lora"]
    if "out" in found:
        print(f"\nchart: {found['out']}")
    print(
        f"\nsuggestion: a LoRA of rank {lora['rank']} would hold {lora['energy']:.0%} of the "
        f"squared change of every query, key, value and output matrix (half of them need "
        f"{lora['median']:g} or less); read off the change, not trained"
    )


def _cell(entry: dict[str, Any]) -> str:
    if entry["mean"] is None:
        return "no change"
    return f"{entry['mean']:.2f} +- {entry['spread']:.2f}"
