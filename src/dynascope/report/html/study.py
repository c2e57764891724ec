"""The page of a study in a site: claims, charts, differences from the document, settings."""

from __future__ import annotations

from dynascope.report.html.claims import badge, claims_table
from dynascope.report.html.differences import difference_sheet
from dynascope.report.html.entry import StudyEntry, tally
from dynascope.report.html.figures import headline, other_charts
from dynascope.report.html.links import Links
from dynascope.report.html.parts import anchor, bullets, contents, escaped, rows, section
from dynascope.report.html.report import provenance
from dynascope.report.settings import setting_rows
from dynascope.report.words import summary

OUTDATED = (
    "This result was judged by other words, bounds or code than today's: "
    "dynascope run judges it anew, on the stored runs."
)
NOT_RUN = "Nothing is stored of this study: the claims below have no verdicts yet. Run it:"


def study_page(entry: StudyEntry, links: Links) -> str:
    """The body of a study's page.

    Args:
        entry: The study, with its result if there is one.
        links: Where other pages are.

    Returns:
        HTML for `shell.whole_page`; it has charts if the result has any.
    """
    result = entry.result
    sheet = difference_sheet(entry.claims, lambda i: f"#claim-{anchor(i.partition('/')[2])}")
    notes = result.notes if result else entry.notes
    settings = result.settings if result else entry.settings
    sections = [
        section("headline", "Headline", headline(result) if result else ""),
        section("verdicts", "Claims", claims_table(entry.claims)),
        section("differences", "What we read differently", sheet),
        section("charts", "Charts", other_charts(result) if result else ""),
        section("notes", "Notes", bullets(notes)),
        section("settings", "Settings", rows(setting_rows(settings), "Settings")),
        section("provenance", "Provenance", provenance(result, entry.command) if result else ""),
    ]
    shown = [s for s in sections if s]
    return "\n".join((_header(entry, links), contents(shown), *(body for _, _, body in shown)))


def _header(entry: StudyEntry, links: Links) -> str:
    handles = " · ".join(
        f'<a href="{escaped(links.document(h))}">{escaped(h)}</a>' for h in entry.documents
    )
    scale = f" · scale <code>{escaped(entry.result.scale)}</code>" if entry.result else ""
    return f"""<h1>{escaped(entry.title)}</h1>
<p class="source">study <code>{escaped(entry.name)}</code> · {escaped(entry.source)}{scale}</p>
<p class="source">{handles}</p>
{_state(entry)}"""


def _state(entry: StudyEntry) -> str:
    """What is known: the tally of verdicts, or the command that gives it."""
    if entry.result is None:
        return (
            f'<div class="notice"><p>{NOT_RUN}</p>'
            f"<pre><code>{escaped(entry.command)}</code></pre></div>"
        )
    badges = " ".join(badge(verdict, n) for verdict, n in tally(entry.claims))
    old = "" if entry.current else f'<p class="notice">{OUTDATED}</p>\n'
    return (
        f'{old}<p class="tally">{badges}</p>\n'
        f'<p class="summary">{escaped(summary(entry.result.claims))}</p>'
    )
