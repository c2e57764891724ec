"""What is needed around a run: the form, a look at the settings before, charts while it grows."""

from __future__ import annotations

from typing import Any

import xarray as xr

from dynascope.core.choices import SCALES
from dynascope.core.errors import StoreError, unknown
from dynascope.core.values import value
from dynascope.page.drawing import drawn
from dynascope.page.forms import form
from dynascope.page.record_charts import variable_chart, variables
from dynascope.runner import configure
from dynascope.store import Store
from dynascope.studies import studies

GROWING = 2  # charts of an unfinished run


def settings_form(name: str, scale: str) -> str:
    """The form of a study's settings at a scale."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    return form(name, scale, SCALES, studies.get(name).at(scale))


def check(name: str, scale: str, texts: dict[str, str]) -> dict[str, Any]:
    """Values by path, as the runner takes them; raises what is wrong with them in one line."""
    changes = {path: value(text) for path, text in texts.items()}
    configure(name, scale, changes)
    return changes


def growing(name: str, since: str, width: int, narrow: bool) -> list[dict[str, Any]]:
    """Charts of the newest run of a study that is not finished or made since a time, if any."""
    store = Store()
    studies.get(name)
    for entry in store.runs("run", name):
        new = entry.outcome == "unfinished" or (since and entry.created >= since)
        if new and not entry.damaged:
            try:
                run = store.load(entry.id)
            except StoreError:  # no rows yet, or finished meanwhile
                continue
            if isinstance(run, xr.Dataset):
                curves = [v.name for v in variables(run) if v.kind == "curve"][:GROWING]
                charts = [variable_chart(run, v, 0, width) for v in curves]
                return [{**drawn(c, narrow), "label": entry.label} for c in charts]
    return []
