"""`dynascope list`: everything that is there, walked from the registries."""

from __future__ import annotations

import dataclasses
import json

import pytest

from dynascope.core.quantities import quantities
from dynascope.studies import studies
from dynascope.sweeps import catalogue
from dynascope.sweeps.pieces import ROOMS


def test_every_study_is_listed_with_title_source_and_number_of_claims(cli):
    text, found = cli("list").out, json.loads(cli("list", "--json").out)["studies"]
    assert [s["name"] for s in found] == sorted(studies.names())
    for study in studies:
        listed = next(s for s in found if s["name"] == study.name)
        assert listed["claims"] == len(study.claims()) and listed["source"] == study.source
        line = next(row for row in text.splitlines() if row.split()[0] == study.name)
        assert f" {len(study.claims())} " in line and study.title in line and study.source in line


@pytest.mark.parametrize("room", ROOMS)
def test_every_piece_is_listed_with_its_fields_and_defaults(cli, room):
    text, found = cli("list", room).out, json.loads(cli("list", room, "--json").out)[room]
    assert {p["name"] for p in found} == set(catalogue(room)) != set()
    for piece in found:
        fields = dataclasses.fields(catalogue(room)[piece["name"]])
        assert [f["name"] for f in piece["fields"]] == [f.name for f in fields]
        assert piece["meaning"] in text
        for field, listed in zip(fields, piece["fields"], strict=True):
            needed = field.default is field.default_factory is dataclasses.MISSING
            assert ("default" not in listed) == needed


def test_choices_are_shown_as_they_are_typed(cli):
    assert "eq2.1 | mean" in cli("list", "tasks").out.replace("'", "")
    assert "(needed)" in cli("list", "dynamics").out


def test_every_quantity_is_listed_with_its_meaning(cli):
    text = cli("list", "quantities").out
    assert all(q.name in text and q.meaning in text for q in quantities)
    found = json.loads(cli("list", "quantities", "--json").out)["quantities"]
    assert [q["name"] for q in found] == quantities.names()
