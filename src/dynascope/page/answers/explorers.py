"""Explorers: the list, the page of one, and what it shows at some values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dynascope.core.errors import bad
from dynascope.explorers import BUDGET, Choice, Click, Drag, Explorer, Slider, Words, explorers
from dynascope.explorers.moves import name_of
from dynascope.page.answers.pages import body
from dynascope.page.drawing import drawn
from dynascope.page.links import LiveLinks
from dynascope.report.html.gallery import heading
from dynascope.report.html.links import Links
from dynascope.report.html.parts import escaped
from dynascope.report.library import CARTESIAN

ABOUT = "Small experiments with sliders: each change is computed, and the address holds them all."


def listing() -> dict[str, Any]:
    """All explorers by phenomenon."""
    shown = cards(lambda name: f"/explore/{name}")
    return body("Explorers", f"<h1>Explorers</h1>\n<p>{ABOUT}</p>\n{shown}")


def cards(link: Any) -> str:
    """A card for each explorer."""
    shown = "\n".join(
        f'<li><a class="card" href="{escaped(link(e.name))}"><strong>{escaped(e.title)}</strong>'
        f'<span class="small">{escaped(heading(e.phenomenon))}</span>'
        f'<span class="small">{escaped(e.about.partition(". ")[0])}.</span></a></li>'
        for e in explorers
    )
    return f'<ul class="cards">\n{shown}\n</ul>'


def page(name: str) -> dict[str, Any]:
    """The page of an explorer: its words, its controls, a place for its chart."""
    explorer = explorers.get(name)
    about = json.dumps(described(explorer)).replace("<", "\\u003c")
    html = f"""{words(explorer, LiveLinks())}
<div class="explorer"><form id="moves" class="moves">{_controls(explorer)}
<p class="controls"><button type="button" id="first">As at first</button></p></form>
<figure id="shown"><p id="numbers" role="status">The first picture is being computed.</p>
<p id="cut" class="notice" role="status" hidden></p>
<div class="plot" tabindex="0" role="group" aria-label="{escaped(explorer.title)}"
aria-describedby="numbers caption"><div id="chart"></div></div>
<figcaption id="caption"></figcaption></figure></div>
<section><h2>In Python</h2><pre><code id="python"></code></pre>
<p id="work" class="small"></p></section>
<script type="application/json" id="about">{about}</script>"""
    return body(explorer.title, html, CARTESIAN, ("explore.js",))


def words(explorer: Explorer, links: Links) -> str:
    """Title, what to look for, and the studies behind it."""
    named = ", ".join(f'<a href="{escaped(links.study(s))}">{escaped(s)}</a>'
                      for s in explorer.studies)  # fmt: skip
    return f"""<h1>{escaped(explorer.title)}</h1>
<p>{escaped(explorer.about)}</p>
<p class="source">Measured in the study {named}.</p>"""


def described(explorer: Explorer) -> dict[str, Any]:
    """What the script must know: values at first, scales, where to drag and click."""
    drags = [{"panel": m.panel, "x": name_of(m.x), "y": name_of(m.y), "above": m.above}
             for m in explorer.moves if isinstance(m, Drag)]  # fmt: skip
    clicks = [{"panel": m.panel, "x": name_of(m.x), "y": name_of(m.y)}
              for m in explorer.moves if isinstance(m, Click)]  # fmt: skip
    return {"name": explorer.name, "values": explorer.values(), "drags": drags, "clicks": clicks}


def _controls(explorer: Explorer) -> str:
    values = explorer.values()
    parts = []
    for move in explorer.moves:
        if isinstance(move, Drag):
            parts.append(_box(move))
        if isinstance(move, Drag | Click):
            continue
        name = name_of(move.path)
        unit = f" ({escaped(move.unit)})" if isinstance(move, Slider) and move.unit else ""
        label = f'<label for="{name}">{escaped(move.words)}{unit}</label>'
        if isinstance(move, Slider):
            whole = isinstance(values[name], int)
            parts.append(f"""<div class="move">{label}
<input type="range" id="{name}" data-name="{name}" data-low="{move.low}" data-high="{move.high}"
data-scale="{move.scale}" data-whole="{"yes" if whole else ""}" min="0" max="1000" step="1">
<input type="number" data-number="{name}" min="{move.low}" max="{move.high}"
step="{1 if whole else "any"}" aria-label="{escaped(move.words)}, as a number"></div>""")
        elif isinstance(move, Choice):
            options = "".join(f'<option value="{escaped(json.dumps(o))}">{escaped(o)}</option>'
                              for o in move.options)  # fmt: skip
            parts.append(f'<div class="move">{label}<select id="{name}" data-name="{name}">'
                         f"{options}</select></div>")  # fmt: skip
        else:
            parts.append(_text(move, name, label))
    return "\n".join(parts)


BUTTONS = (
    ("data-zoom", "0.5", "Closer", "closer"), ("data-zoom", "2", "Farther", "farther"),
    ("data-pan", "-1 0", "←", "to the left"), ("data-pan", "1 0", "→", "to the right"),
    ("data-pan", "0 1", "↑", "up"), ("data-pan", "0 -1", "↓", "down"),
    ("data-whole", "", "Whole", "the whole diagram"),
)  # fmt: skip


def _box(move: Drag) -> str:
    """What a mouse drags, for whoever has none: the ends as numbers, and buttons that move them."""
    rows = "".join(
        f'<div class="ends"><span>{escaped(words)}</span>' + "".join(
            f'<input type="number" step="any" data-end="{name_of(path)}" data-place="{place}" '
            f'aria-label="{escaped(words)}, {end}">' for place, end in enumerate(("from", "to"))
        ) + "</div>"
        for words, path in zip(move.words, (move.x, move.y), strict=True)
    )  # fmt: skip
    buttons = "".join(
        f'<button type="button" {kind}="{amount}" aria-label="{words}">{label}</button>'
        for kind, amount, label, words in BUTTONS
    )
    return f"""<fieldset class="box"><legend>part that is drawn</legend>{rows}
<p class="controls">{buttons}</p></fieldset>"""


def _text(move: Words, name: str, label: str) -> str:
    if not move.file:
        kind = f'type="text" id="{name}" data-name="{name}" maxlength="{move.longest}"'
        return f'<div class="move">{label}<input {kind} spellcheck="false"></div>'
    return f"""<div class="move">{label}<textarea id="{name}" data-name="{name}" rows="8"
spellcheck="false" data-drop="yes"></textarea><input type="file" data-file="{name}"
aria-label="{escaped(move.words)} from a file"></div>"""


def explore(name: str, values: Any, narrow: bool) -> bytes:
    """What an explorer shows, as JSON."""
    if not isinstance(values, dict) or not all(isinstance(k, str) for k in values):
        raise bad("values", values, "values by name")
    found, work = explorers.get(name).within(BUDGET, values)
    shown = {**drawn(found.chart, narrow), "numbers": found.numbers, "cut": found.cut}
    shown["work"] = f"{work.total:,} of {BUDGET:,} steps x lanes x size that a picture may take."
    return json.dumps(shown, allow_nan=False, separators=(",", ":")).encode()


def warm_up() -> Iterator[None]:
    """Every explorer at first and with each of its choices: what a move would compile."""
    for explorer in explorers:
        explorer()
        yield
    for explorer in explorers:
        for name, (_, move) in explorer.named().items():
            for option in move.options if isinstance(move, Choice) else ():
                if option != explorer.values()[name]:
                    explorer(**{name: option})
                    yield
