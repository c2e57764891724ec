"""What every study keeps, walked from the registry."""

from __future__ import annotations

import pytest

from dynascope.core.spec import fingerprint, from_plain, to_plain
from dynascope.studies import studies
from dynascope.studies.base import SCALES

ALL = list(studies)


@pytest.mark.parametrize("study", ALL, ids=lambda s: s.name)
def test_every_study_keeps_the_contract(study):
    assert set(study.scales) == set(SCALES)
    assert study.title and study.source and study.__doc__
    statements = study.claims()
    assert statements, "a study without a claim decides nothing"
    slugs = [s.slug for s in statements]
    assert len(set(slugs)) == len(slugs)
    for said in statements:
        assert said.words.endswith(".") and said.source, said.slug


@pytest.mark.parametrize("data", ["built in", pytest.param("all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("study", ALL, ids=lambda s: s.name)
def test_every_scale_has_a_valid_plan_of_its_own(study, data, monkeypatch, tmp_path):
    """With the built-in data, and, where plans measure networks on it, with what is there."""
    if data == "built in":
        monkeypatch.setenv("DYNASCOPE_DATA", str(tmp_path))
    prints = set()
    for scale in SCALES:
        setting = study.at(scale)
        assert from_plain(to_plain(setting)) == setting
        assert bool(setting.plan()) == study.needs_runs, "a study runs something, or says no"
        prints.add(fingerprint(setting))
    # What is counted exactly in seconds needs no smaller setting.
    assert len(prints) == len(SCALES) or not study.needs_runs, "two scales are the same"


def test_unknown_names_give_the_nearest():
    from dynascope.core.errors import UnknownName

    with pytest.raises(UnknownName, match="did you mean 'swing-by'"):
        studies.get("swing-bye")
    with pytest.raises(UnknownName, match="did you mean 'laptop'"):
        studies.get("swing-by").at("labtop")
