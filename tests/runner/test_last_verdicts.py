"""What stored results say of claims, also where studies have changed since."""

from __future__ import annotations

import dataclasses

import pytest

from dynascope.core.plain import to_plain
from dynascope.runner import claim_rows
from dynascope.runner.last_verdicts import is_current
from dynascope.runner.request import configure, request
from dynascope.store import Store
from dynascope.studies import studies
from store.samples import study as sample

CLAIM = studies.get("swing-by").claims[0].id


def result(**settings):
    """A stored result of today's code, with some settings changed in the file."""
    own = configure("swing-by", "smoke")
    print_ = request(studies.get("swing-by"), own, "smoke")
    claim = dataclasses.replace(sample().claims[0], id=CLAIM)
    return dataclasses.replace(
        sample(), settings=to_plain(own) | settings, fingerprint=print_, claims=(claim,)
    )


@pytest.mark.parametrize(
    "settings", [{"gone": 1}, {"steps": "many"}, {"task": {"spec": "tasks.Gone"}}]
)
def test_a_result_whose_settings_cannot_be_made_today_is_outdated(tmp_path, settings):
    assert is_current(result())
    store = Store(tmp_path)
    store.put_study(result(**settings))
    [row] = [r for r in claim_rows(store) if r["id"] == CLAIM]
    assert (row["verdict"], row["last"]) == ("outdated", "holds")


def test_a_result_of_a_study_that_is_gone_is_not_current():
    assert not is_current(dataclasses.replace(result(), study="gone"))
