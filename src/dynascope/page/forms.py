"""The settings of a study as a form: every path that `--set` understands, with type and limits.

Limits stand in the specs' own checks and nowhere else: the form asks a spec with a value that is
likely out of range, and shows what the spec says it expects.
"""

from __future__ import annotations

import dataclasses
import json
import re
import typing
from typing import Any

from dynascope.core.errors import BadInput
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
    limits: str = ""  # in the words of the spec's own check

    @property
    def low(self) -> str:
        """The lowest value, if the limits name one."""
        return _number(r"(?:at least|from) ", self.limits)

    @property
    def high(self) -> str:
        """The highest value, if the limits name one."""
        return _number(r"(?:at most|up to|from [-+.e\d]+ to) ", self.limits)


NUMBER = r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w^*])"
UNLIKELY: dict[str, tuple[Any, ...]] = {"int": (-1, 0, 10**6), "float": (-1.0, 0.0, 1e6)}


def _number(before: str, words: str) -> str:
    found = re.search(
        before + NUMBER, re.split("[,;:]", words)[0]
    )  # what follows is another matter
    return found[1] if found else ""


def limits(spec: Any, name: str, kind: str) -> str:
    """What a field of a spec is expected to be, in the words of its check; nothing if not said.

    Example:
        >>> from dynascope.dynamics import GradientDescent
        >>> limits(GradientDescent(0.1), "learning_rate", "float")
        'a finite number above 0'
    """
    for value in UNLIKELY.get(kind, ()):
        try:
            dataclasses.replace(spec, **{name: value})
        except BadInput as error:
            told, _, words = str(error).partition(", expected ")
            if told.startswith(f"{name}: "):
                return words
    return ""


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
            kind, words = _type(field.type), about.get(field.name, "")
            known = limits(spec, field.name, kind)
            found.append(Field(name, json.dumps(plain), kind, words, known))
    return found


def _type(annotation: Any) -> str:
    if isinstance(annotation, type) and not typing.get_args(annotation):
        return annotation.__name__
    choices = re.sub(r"Literal\[(.*?)\]", lambda m: m[1].replace(", ", " | "), str(annotation))
    return re.sub(r"typing\.|[\"']", "", choices)


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
    rows = "\n".join(map(_row, fields(settings)))
    return f"""<form id="run" data-study="{escaped(study)}" novalidate>
<p class="controls"><label>scale <select name="scale">{options}</select></label>
<button type="submit">Run</button> <button type="button" id="cancel" hidden>Cancel</button></p>
<p id="run-says" role="status" aria-live="polite"></p>
<div id="run-bar" hidden><progress max="1" value="0"></progress> <span></span></div>
<div id="growing"></div>
<details><summary>Change settings</summary><div class="settings">{rows}</div></details>
</form>"""


def _row(field: Field) -> str:
    """A setting with its type, its limits and what it means."""
    shown = ". ".join(filter(None, [f"{field.type}, {field.limits}".rstrip(", "), field.about]))
    return (
        f'<label class="setting"><code>{escaped(field.path)}</code>'
        f'<input {_input(field)} name="{escaped(field.path)}" value="{escaped(field.value)}" '
        f'data-first="{escaped(field.value)}" autocomplete="off" spellcheck="false">'
        f'<span class="small">{escaped(shown)}</span></label>'
    )


def _input(field: Field) -> str:
    """A number with its limits where the field is one, else a text."""
    if field.type not in UNLIKELY:
        return 'type="text"'
    step = "1" if field.type == "int" else "any"
    ends = (("min", field.low), ("max", field.high))
    return " ".join([f'type="number" step="{step}"', *(f'{n}="{v}"' for n, v in ends if v)])
