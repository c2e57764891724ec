"""The settings of a study as a form: every path that `--set` understands, with type and value."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

from dynascope.core.plain import to_plain
from dynascope.core.spec import Spec
from dynascope.report.html.parts import escaped


@dataclasses.dataclass(frozen=True)
class Field:
    """One setting."""

    path: str
    value: str  # as it is written behind `--set path=`
    type: str
    about: str


def fields(spec: Any, path: str = "") -> list[Field]:
    """Every setting of a spec that is a plain value, those inside other settings too.

    Example:
        >>> from dynascope.tasks import IdentityMapping
        >>> first = fields(IdentityMapping((1.0, 2.0), (0.1, 0.1)))[0]
        >>> first.path, first.value, first.type
        ('means', '[1.0, 2.0]', 'tuple[float, ...]')
        >>> first.about
        'Distance of each cluster from the origin, one per concept.'
    """
    found = []
    about = _arguments(type(spec))
    for field in dataclasses.fields(spec):
        value, name = getattr(spec, field.name), f"{path}.{field.name}".lstrip(".")
        if isinstance(value, Spec):
            found += fields(value, name)
            continue
        plain = to_plain(value)
        if "spec" not in json.dumps(plain):  # a list of settings has no line of its own
            words = about.get(field.name, "")
            found.append(Field(name, json.dumps(plain), _type(field.type), words))
    return found


def _type(annotation: Any) -> str:
    choices = re.sub(r"Literal\[(.*?)\]", lambda m: m[1].replace(", ", " | "), str(annotation))
    return choices.replace('"', "")


def _arguments(cls: type) -> dict[str, str]:
    """What the docstring says of each field."""
    text = (cls.__doc__ or "").partition("Args:\n")[2]
    found = re.findall(r"^ +(\w+): (.+(?:\n {12,}.+)*)", text, re.MULTILINE)
    return {name: re.sub(r"\s+", " ", words) for name, words in found}


def form(study: str, scale: str, scales: tuple[str, ...], settings: Any) -> str:
    """The form as HTML; `run.js` sends what was changed."""
    options = "".join(
        f'<option value="{s}"{" selected" if s == scale else ""}>{s}</option>' for s in scales
    )
    rows = "\n".join(
        f'<label class="setting"><code>{escaped(f.path)}</code>'
        f'<input name="{escaped(f.path)}" value="{escaped(f.value)}" '
        f'data-first="{escaped(f.value)}" autocomplete="off" spellcheck="false">'
        f'<span class="small">{escaped(f.type)}{". " if f.about else ""}{escaped(f.about)}</span>'
        "</label>"
        for f in fields(settings)
    )
    return f"""<form id="run" data-study="{escaped(study)}">
<p class="controls"><label>scale <select name="scale">{options}</select></label>
<button type="submit">Run</button> <button type="button" id="cancel" hidden>Cancel</button></p>
<p id="run-says" role="status" aria-live="polite"></p>
<div id="run-bar" hidden><progress max="1" value="0"></progress> <span></span></div>
<div id="growing"></div>
<details><summary>Change settings</summary><div class="settings">{rows}</div></details>
</form>"""
