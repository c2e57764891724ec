import io
from dataclasses import replace

import pytest
from rich.console import Console

from dynascope.report import verdict_table

from .example import example
from .marks import HOSTILE


def printed(result, width, encoding="utf-8"):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    Console(file=stream, width=width).print(verdict_table(result))
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


@pytest.mark.parametrize("width", [30, 72, 100, 160])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_every_claim_is_there_at_every_width_in_every_encoding(width, encoding):
    text = printed(example(), width, encoding)
    words = "".join(text.split())
    for claim in example().claims:
        for part in claim.id.split("-"):
            assert part in words
    for word in ("holds", "fails", "undecided", "applicable", "0.97", "4claims"):
        assert word in words
    assert max(map(len, text.split("\n"))) <= width


def test_a_wide_console_gets_a_table_and_a_narrow_one_a_list():
    assert "│" in printed(example(), 120) and "│" not in printed(example(), 80)


def test_the_control_is_told_with_its_verdict():
    text = " ".join(printed(example(), 90).split())
    assert "the same with a large start (scale 1): 0.020 (95 %: 0.000 to 0.052, n = 64)" in text
    assert "n = 64); fails, as it must" in text
    assert "holds, though it must not" in text


def test_brackets_in_words_are_no_markup():
    claim = replace(example().claims[0], statement="[red]x[/red] " + HOSTILE, control=None)
    text = printed(replace(example(), claims=(claim,)), 90)
    assert "[red]x[/red]" in text and "none" in text


def test_a_study_without_claims_says_so():
    assert "No claims." in printed(replace(example(), claims=()), 80)


@pytest.mark.parametrize("width", [80, 140])
def test_a_measured_number_says_what_it_is(width):
    claim = replace(example().claims[0], quantity="Largest eigenvalue.")
    lines = printed(replace(example(), claims=(claim,)), width).split("\n")
    [line] = [line for line in lines if "Largest eigenvalue." in line]
    assert ("quantity: " in line) == (width == 80)
