"""Every study runs once a worker at smoke scale; a test file names its own in `STUDY`."""

from __future__ import annotations

import pytest

from dynascope.runner import run
from dynascope.store import Store


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory):
    """Outcomes of studies at smoke scale, each run once."""
    known = {}

    def outcome(name: str):
        if name not in known:
            store = Store(tmp_path_factory.mktemp("home"))
            known[name] = run(name, "smoke", store=store, progress=False)
        if not known[name].charts:  # it has nothing to draw where all its data are missing
            assert {c.verdict for c in known[name].claims} == {"not_applicable"}
            why = next(note for note in known[name].result.notes if "is not there" in note)
            pytest.skip(f"nothing of {name} is judged: {why}")
        return known[name]

    return outcome


@pytest.fixture(scope="module")
def outcome(request, outcomes):
    """The outcome of the study that the test file names."""
    return outcomes(request.module.STUDY)


@pytest.fixture(scope="module")
def claims(outcome):
    """Its claims by the last part of their id."""
    return {claim.id.split("/")[1]: claim for claim in outcome.claims}
