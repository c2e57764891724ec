"""A body as a page of the server: the site's shell with our navigation, token and modules."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from dynascope.page.links import LiveLinks
from dynascope.report.html.parts import asset as site_asset
from dynascope.report.html.parts import escaped
from dynascope.report.html.shell import whole_page
from dynascope.report.library import CARTESIAN, FULL, script

NAVIGATION = (("Studies", "/"), ("Explorers", "/explorers"), ("Records", "/records"))


def live_page(found: dict[str, Any], token: str) -> str:
    """The text of a page.

    Args:
        found: What `answers.pages.body` made.
        token: That its requests carry.

    Returns:
        HTML.
    """
    links = LiveLinks()
    scripts = [found["charts"]] if found["charts"] else []
    scripts += ["report.js"] if "data-chart=" in found["html"] else []  # draws them at once
    plain = "\n".join(f'<script src="{links.asset(name)}" defer></script>' for name in scripts)
    modules = "\n".join(
        f'<script type="module" src="{links.asset(name)}"></script>'
        for name in ("connection.js", *(["tools.js"] if scripts else []), *found["scripts"])
    )
    head = f"""<link rel="stylesheet" href="{links.asset("page.css")}">
<meta name="token" content="{escaped(token)}">
{plain}
{modules}
</head>"""
    return whole_page(found["title"], found["html"], links, NAVIGATION).replace("</head>", head, 1)


@cache
def asset(name: str) -> tuple[bytes, str] | None:
    """A file that pages share and its type; None for other names."""
    kinds = {"js": "text/javascript", "css": "text/css"}
    own = {f.name for f in files("dynascope.page").joinpath("assets").iterdir()}
    if name in (CARTESIAN, FULL):
        return script(name), kinds["js"]
    if name == "site.css":
        return (site_asset("report.css") + site_asset("site.css")).encode(), kinds["css"]
    if name == "report.js":
        return site_asset(name).encode(), kinds["js"]
    if name not in own:
        return None
    path = files("dynascope.page").joinpath("assets", name)
    return path.read_bytes(), kinds[name.rpartition(".")[2]]
