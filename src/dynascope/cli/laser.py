"""`dynascope laser`: truncate one matrix of a language model, and see what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dynascope.cli import options
from dynascope.cli.talk import emit, say, table
from dynascope.core.errors import bad, unknown

TASKS = ("ioi", "facts", "prepositions")


def laser(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="A folder or file of weights, or a name such as stories15M; several are "
            "checkpoints in order, and the last is edited.",
        ),
    ],
    task: Annotated[str, typer.Option(metavar="TASK", help="ioi, facts or prepositions.")] = "ioi",
    prompts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your own: lines prompt<TAB>answer<TAB>generic."),
    ] = None,
    count: Annotated[
        int | None, typer.Option(metavar="N", help="How many prompts of the task.")
    ] = None,
    layer: Annotated[
        int | None, typer.Option(metavar="N", help="Layer from 0; the last by default.")
    ] = None,
    matrix: Annotated[
        str, typer.Option(metavar="NAME", help="mlp_in, mlp_gate, mlp_out, q, k, v or o.")
    ] = "mlp_out",
    keep: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of singular values that stay.")
    ] = 0.05,
    search: Annotated[
        bool,
        typer.Option("--search", help="Choose layer, matrix and share on half of the prompts."),
    ] = False,
    tokenizer: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where it does not lie beside the weights.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the edited model, factored and so smaller."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw who writes the generic token.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Truncate a matrix of a language model; see which answers stay.

    Prompts have an answer that must be read from the context or known, and a generic token, "the".
    The table has the most likely next tokens before and after; the ratio is p(answer) /
    p(generic), geometric mean over prompts. Who writes the generic token is what each block adds
    to its logit over the answer's. Llama, GPT-2, GPT-NeoX (Pythia), Phi-3, llama2.c and GGUF are
    read without torch.

    \b
    Examples
      dynascope laser stories15M --layer 5 --matrix mlp_out --keep 0.05
      dynascope laser my-model/ --task facts --search --save smaller/ --json
    """  # noqa: D301
    options.check_picture(out)
    _check(task, keep, matrix)
    from dynascope.data.models import MODELS, find_model
    from dynascope.instruments.laser.examining import examine
    from dynascope.language.prompts import SETS, read_prompts

    places = [
        (m, find_model(m) if m in MODELS and not Path(m).exists() else Path(m)) for m in models
    ]
    asked = read_prompts(prompts) if prompts else SETS[task](*([count] if count else []))
    found, chart = examine(
        places, asked, layer=layer, matrix=matrix, keep=keep, searching=search,
        tokenizer=tokenizer, save=save, drawing=out is not None, say=say,
    )  # fmt: skip
    if chart is not None and out is not None:
        from dynascope.report import save as save_chart

        found["out"] = str(save_chart(chart, out).resolve())
    if as_json:
        emit(found)
    else:
        _show(found)


def _check(task: str, keep: float, matrix: str) -> None:
    from dynascope.edits.families import MATRICES

    if task not in TASKS:
        raise unknown("task", task, TASKS)
    if matrix not in MATRICES:
        raise unknown("matrix", matrix, MATRICES)
    if not 0 <= keep <= 1:
        raise bad("--keep", keep, "a share from 0 to 1")


def _show(found: dict[str, Any]) -> None:
    before, after = found["before"], found["after"]
    rank, size = after["rank"], min(after["shape"])
    print(f"{after['edit']} (rank {rank} of {size}, {after['energy']:.1%} of the energy)\n")
    rows = []
    for old, new in zip(before["top"], after["top"], strict=True):
        rows.append((_tail(old["prompt"]), _tokens(old["tokens"]), _tokens(new["tokens"])))
    table(("prompt", "before", "after"), rows)
    names = {
        "answer": "mean p(answer)", "generic": "mean p(generic)", "other": "mean p(other)",
        "ratio": "p(answer) / p(generic)", "generic_rank": "rank of the generic token",
    }  # fmt: skip
    print(f"\nover {found['prompts']} prompts")
    told = [(words, n) for n, words in names.items() if before[n] is not None]
    table(("", "before", "after"), [(w, f"{before[n]:.3g}", f"{after[n]:.3g}") for w, n in told])
    if "search" in found:
        _show_search(found["search"])
    for one in found["attribution"]:
        print(f"\nwho writes the generic token in {one['model']}: the logit difference is "
              f"{one['difference']:+.2f}")  # fmt: skip
        strongest = [(f"{r['part']} {r['layer']}", f"{r['writes']:+.2f}", f"{r['without']:+.2f}")
                     for r in one["parts"][:5]]  # fmt: skip
        table(("part, layer", "writes", "difference without it"), strongest)
    for name in ("saved", "out"):
        if name in found:
            print(f"\n{name}: {found[name]}")


def _show_search(search: dict[str, Any]) -> None:
    print(f"\nchosen among {search['edits_tried']} truncations on {search['chosen_on']} prompts, "
          f"judged on {search['held_out']} others:")  # fmt: skip
    rows = [("the choice: " + search["best"]["edit"], search["best"])]
    rows += list(search["controls"].items())
    table(
        ("edit", "ratio times", "ratio rises in", "p(answer)", "p(generic)"),
        [(w, f"{h['gain']:.3g}", f"{h['raised']:.0%}", f"{h['answer']:.3g}",
          f"{h['generic']:.3g}") for w, h in rows],
    )  # fmt: skip


def _tail(text: str) -> str:
    return text if len(text) <= 40 else "..." + text[-37:]


def _tokens(pairs: list) -> str:
    return " ".join(f"{token.strip() or repr(token)} {p:.3f}" for token, p in pairs)
