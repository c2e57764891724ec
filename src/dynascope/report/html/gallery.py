"""The gallery: all studies by phenomenon, each with a small picture and its tally of verdicts."""

from __future__ import annotations

import io
from collections.abc import Iterable
from itertools import groupby

from dynascope.core.records import StudyResult
from dynascope.report.headline import with_close_up
from dynascope.report.html.claims import badge
from dynascope.report.html.entry import StudyEntry, tally
from dynascope.report.html.links import Links
from dynascope.report.html.parts import anchor, contents, escaped

WIDTH, HEIGHT = 3.6, 2.4  # inches, at 160 dots: 576 x 384 pixels


def gallery(entries: Iterable[StudyEntry], links: Links) -> str:
    """The body of the gallery.

    Args:
        entries: The studies, those that were never run too.
        links: Where other pages and the thumbnails are.

    Returns:
        HTML for `shell.whole_page`, without scripts.
    """
    ordered = sorted(entries, key=lambda e: (e.phenomenon, e.name))
    groups = [(p, tuple(g)) for p, g in groupby(ordered, key=lambda e: e.phenomenon)]
    listed = contents([(anchor(p), escaped(heading(p)), "") for p, _ in groups])
    return f"{listed}\n" + "\n".join(
        f'<section id="{anchor(phenomenon)}"><h2>{escaped(heading(phenomenon))}</h2>\n'
        f"{cards(group, links)}</section>"
        for phenomenon, group in groups
    )


def cards(entries: Iterable[StudyEntry], links: Links) -> str:
    """Some studies, a card for each."""
    shown = "\n".join(card(e, links) for e in entries)
    return f'<ul class="cards">\n{shown}\n</ul>'


def heading(phenomenon: str) -> str:
    """A phenomenon in words.

    Example:
        >>> heading("rank-increase")
        'Rank increase'
    """
    return phenomenon.replace("-", " ").replace("_", " ").capitalize()


def card(entry: StudyEntry, links: Links) -> str:
    """A study in the gallery: picture, title, tally; the whole of it is a link."""
    badges = " ".join(badge(verdict, n) for verdict, n in tally(entry.claims))
    if entry.result and entry.result.charts:
        src, words = links.thumbnail(entry.name), entry.result.charts[0].title
        picture = f'<img src="{escaped(src)}" alt="{escaped(words)}" loading="lazy"'
        picture += ' width="576" height="384">'
    else:
        picture = '<span class="blank">not run yet</span>'
    old = "" if entry.current else " · outdated"
    scale = f"scale {escaped(entry.result.scale)}{old}" if entry.result else ""
    return f"""<li><a class="card" href="{escaped(links.study(entry.name))}">
{picture}
<strong>{escaped(entry.title)}</strong>
<span class="small"><code>{escaped(entry.name)}</code> {scale}</span>
<span class="tally">{badges}</span></a></li>"""


def thumbnail(result: StudyResult) -> bytes | None:
    """What a study's first chart shows as a small PNG, without words; None without charts."""
    if not result.charts:
        return None
    from dynascope.report.matplotlib_charts import without_words

    chart = result.charts[0]
    closer = with_close_up(chart) if result.headline else chart
    panel = closer.panels[len(closer.panels) > len(chart.panels)]  # the close-up is the second
    file = io.BytesIO()
    without_words(panel, WIDTH, HEIGHT).savefig(file, format="png", dpi=160)
    return file.getvalue()
