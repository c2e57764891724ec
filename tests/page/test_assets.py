"""The scripts of the page: few, without a build step, and with nothing from elsewhere."""

import re
from importlib.resources import files

import pytest

SCRIPTS = [f for f in files("dynascope.page").joinpath("assets").iterdir() if f.name[-3:] == ".js"]


def test_they_are_few():
    assert sum(len(f.read_text(encoding="utf-8").splitlines()) for f in SCRIPTS) < 1500


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda f: f.name)
def test_words_never_become_html_and_nothing_comes_from_elsewhere(script):
    text = script.read_text(encoding="utf-8")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "//cdn"):
        assert way not in text
    assert re.findall(r"https?://", text) == []
    for name in re.findall(r'from "([^"]+)"', text):
        assert any(f"./{f.name}" == name for f in SCRIPTS)
