"""plotly.js for a page: the smallest bundle that draws its charts.

A report has it inside, compressed, and its script unpacks it; the pages of a site load it as a
file. Most charts need the cartesian bundle, which lies in `assets/plotly`; charts in space need
the full library of the Python package plotly.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from dynascope.core.charts import Chart
from dynascope.report.checks import in_space

CARTESIAN, FULL = "plotly-cartesian.js", "plotly-full.js"


def bundle(charts: Iterable[Chart]) -> str:
    """The file name of the bundle that draws these charts."""
    return FULL if any(in_space(p) for c in charts for p in c.panels) else CARTESIAN


def library(charts: Iterable[Chart]) -> str:
    """The bundle that draws these charts, as base64 of gzip."""
    return _text(bundle(charts))


def script(name: str) -> bytes:
    """A bundle as a file of JavaScript."""
    return gzip.decompress(_packed(name))


@cache
def _text(name: str) -> str:
    return base64.b64encode(_packed(name)).decode()


def _packed(name: str) -> bytes:
    if name == CARTESIAN:
        assets = files("dynascope.report").joinpath("assets", "plotly")
        return assets.joinpath("plotly-cartesian.min.js.gz").read_bytes()
    from plotly.offline import get_plotlyjs

    return gzip.compress(get_plotlyjs().encode(), mtime=0)  # the same bytes every time
