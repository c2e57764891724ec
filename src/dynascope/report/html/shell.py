"""A body as a whole page of a site: title, navigation, and the files that all pages share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dynascope.core.charts import Chart
from dynascope.report.html.links import Links
from dynascope.report.html.parts import asset, escaped
from dynascope.report.library import bundle, script

Navigation = Sequence[tuple[str, str]]  # words, address


def whole_page(
    title: str,
    body: str,
    links: Links,
    navigation: Navigation = (),
    *,
    charts: Iterable[Chart] = (),
    aside: str = "",
) -> str:
    """A page of a site.

    Args:
        title: What the browser's tab says.
        body: What `study_page`, `gallery` or `document_page` made.
        links: Where the shared files are.
        navigation: What the head of the page links to.
        charts: Those in the body; they decide which plotly.js is loaded, if any.
        aside: HTML of a list of further pages, beside the body on a wide screen.

    Returns:
        The text of an HTML file.
    """
    items = "".join(
        f'<li><a href="{escaped(to)}">{escaped(words)}</a></li>' for words, to in navigation
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="dynascope">
<title>{escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{links.asset("site.css")}">
</head>
<body class="{"with-aside" if aside else "plain"}">
<a class="skip" href="#main">Skip to the page</a>
<header class="top"><a class="brand" href="{links.page("index")}">dynascope</a>
<nav aria-label="Site"><ul>{items}</ul></nav></header>
<div class="columns">
<main id="main">
{body}
</main>
{f"<aside>{aside}</aside>" if aside else ""}</div>
{_scripts(tuple(charts), links)}
</body>
</html>
"""


def _scripts(charts: tuple[Chart, ...], links: Links) -> str:
    if not charts:
        return ""
    names = (bundle(charts), "report.js")
    return "\n".join(f'<script src="{links.asset(name)}"></script>' for name in names)


def assets(charts: Iterable[Chart]) -> dict[str, bytes]:
    """The files in the folder `assets` of a site, by name.

    Args:
        charts: All charts of the site; without any in space the small plotly.js is enough.

    Returns:
        Bytes by file name.
    """
    styles = asset("report.css") + asset("site.css")
    found = {"site.css": styles.encode(), "report.js": asset("report.js").encode()}
    return found | {name: script(name) for name in {bundle((chart,)) for chart in charts}}
