"""`dynascope list`: everything that is there, walked from the registries."""

from __future__ import annotations

import dataclasses
import json

import pytest

from dynascope.core.quantities import quantities
from dynascope.core.sources import cited
from dynascope.runner import catalogue
from dynascope.runner.pieces import PACKAGES
from dynascope.studies import studies


def test_every_study_is_listed_with_title_source_and_number_of_claims(cli):
    text, found = cli("list").out, json.loads(cli("list", "--json").out)["studies"]
    assert sorted(s["name"] for s in found) == sorted(studies.names())
    for study in studies:
        listed = next(s for s in found if s["name"] == study.name)
        source = cited(study.sources)
        assert listed["claims"] == len(study.claims) and listed["source"] == source
        assert listed["phenomenon"] == study.phenomenon
        line = next(row for row in text.splitlines() if row.split()[:1] == [study.name])
        assert f" {len(study.claims)} " in line and study.title in line and source in line
    assert "yang2025: Yang, Park" in text, "handles are explained"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_piece_is_listed_with_its_fields_and_defaults(cli, package):
    text, found = cli("list", package).out, json.loads(cli("list", package, "--json").out)[package]
    assert {p["name"] for p in found} == set(catalogue(package)) != set()
    for piece in found:
        fields = dataclasses.fields(catalogue(package)[piece["name"]])
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
