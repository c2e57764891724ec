"""One language model, one truncation: what it says before and after, and who writes the generic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dynascope.core.charts import Chart
from dynascope.core.errors import bad
from dynascope.edits import Truncate, apply
from dynascope.instruments.laser import describing
from dynascope.instruments.laser.drawing import attribution_chart, series_chart
from dynascope.language import attribute, encoded, load_model, model_size, save_model, search
from dynascope.language.prompts import Prompt
from dynascope.language.saving import check_target


def examine(
    places: Sequence[tuple[str, Path]],
    prompts: Sequence[Prompt],
    *,
    layer: int | None = None,
    matrix: str = "mlp_out",
    keep: float = 0.05,
    searching: bool = False,
    tokenizer: Path | None = None,
    save: Path | None = None,
    drawing: bool = False,
    say: Callable[[str], None] = print,
) -> tuple[dict[str, Any], Chart | None]:
    """Truncate a matrix of a model, or search for the truncation that helps.

    Args:
        places: Names, and folders or files of weights; several are checkpoints in order, and the
            last is edited.
        prompts: What the model is asked.
        layer: From 0; the last by default, all of them for a search.
        matrix: "mlp_in", "mlp_gate", "mlp_out", "q", "k", "v" or "o".
        keep: Share of singular values that stay.
        searching: Whether to choose layer, matrix and share on half of the prompts.
        tokenizer: Where it does not lie beside the weights.
        save: Folder for the edited model.
        drawing: Whether to draw who writes the generic token.
        say: Told what a reader should know on the way.

    Returns:
        Plain data (`before`, `after`, `attribution`, and `search`, `saved` where asked for), and
        the chart. Wrong arguments are refused before anything is computed.
    """
    answered = all(prompt.answer for prompt in prompts)
    if not answered and (searching or drawing):
        raise bad("prompts", "no answers", "a task with answers for a search or a picture: ioi")
    if save is not None:
        check_target(save)
    series = []
    for name, place in places:
        say(f"{name}: {model_size(place)}")
        model = load_model(place, tokenizer=tokenizer)
        if layer is not None and not 0 <= layer < model.layers:
            raise bad("layer", layer, f"a whole number from 0 to {model.layers - 1}")
        asked = encoded(model, prompts)
        if answered:
            series.append((name, attribute(model, asked)))
    for note in asked.notes:
        say(note)
    if model.packed:
        say(f"weights are packed as {model.packed}: spectra have the noise of rounding in them")
    found: dict[str, Any] = {"model": name, "prompts": len(prompts)}
    edit: Any = Truncate(model.layers - 1 if layer is None else layer, matrix, keep=keep)
    if searching:
        chosen = search(model, asked, None if layer is None else [layer])
        found["search"] = describing.describe_search(chosen)
        edit = chosen.best.edit
    found["before"] = describing.describe_model(model, asked)
    found["after"] = describing.describe_edit(model, asked, edit)
    found["attribution"] = describing.describe_attribution(series)
    if save is not None:
        found["saved"] = str(save_model(apply(model, edit), save).resolve())
    if not drawing:
        return found, None
    title = f"Who writes the generic token in {Path(name).name}"
    several = len(series) > 1
    return found, series_chart(series) if several else attribution_chart(series[0][1], title)
