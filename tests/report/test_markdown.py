from dataclasses import replace

from dynascope.report import claim_table

from .example import example
from .marks import HOSTILE


def cells(line):
    return [c.strip() for c in line.replace("\\|", "").strip("|\n").split("|")]


def test_every_claim_is_a_row_of_five_cells():
    lines = claim_table(example()).splitlines()
    assert len(lines) == 2 + len(example().claims)
    assert {len(cells(line)) for line in lines} == {5}
    assert cells(lines[2])[1:3] == ["0.970 (95 %: 0.930 to 1.000, n = 64)", "≥ 0.9"]
    assert [cells(line)[4] for line in lines[2:]] == [
        "holds",
        "fails",
        "undecided",
        "not applicable",
    ]


def test_hostile_words_stay_in_their_cell():
    claim = replace(example().claims[0], statement=HOSTILE + "\n| a | b |", note=HOSTILE)
    lines = claim_table(replace(example(), claims=(claim,))).splitlines()
    assert len(lines) == 3 and len(cells(lines[2])) == 5
    assert "<" not in lines[2]
