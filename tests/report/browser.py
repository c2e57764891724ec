"""A real browser for the tests: the system's Chromium, driven by playwright."""

from __future__ import annotations

import io
import shutil
from contextlib import contextmanager

import numpy as np
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = ["--no-sandbox", "--force-color-profile=srgb", "--enable-unsafe-swiftshader"]


def needs_browser():
    """The path of a Chromium; skips the test where there is none."""
    pytest.importorskip("playwright", reason="needs playwright (pip install -e '.[test]')")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"needs a browser: none of {', '.join(NAMES)} is installed")
    return found


@contextmanager
def open_browser():
    """A function that opens a tab of some width which has seen nothing yet."""
    path = needs_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=OPTIONS)
        try:
            yield lambda width: browser.new_page(viewport={"width": width, "height": 1000})
        finally:
            browser.close()


def show(page, path):
    """Open a report and wait until its charts are drawn; returns what went wrong on it."""
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.goto(path.as_uri())
    page.wait_for_function("document.documentElement.dataset.drawn === 'yes'", timeout=60_000)
    return errors


def pixels(page, selector):
    """The picture of an element as an array (height, width, 3) from 0 to 255."""
    from matplotlib.image import imread

    element = page.locator(selector).first
    element.scroll_into_view_if_needed()
    box = element.bounding_box()
    picture = page.screenshot(clip=box)
    return np.round(imread(io.BytesIO(picture), format="png")[..., :3] * 255).astype(int)


def near(picture, colour, tolerance=36):
    """How many pixels have about this colour."""
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return int((np.abs(picture - wanted).max(-1) <= tolerance).sum())
