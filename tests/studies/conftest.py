"""Every study runs once a worker at smoke scale; a test file names its own in `STUDY`."""

from __future__ import annotations

import pytest

from dynascope.store import Store
from dynascope.sweeps import run


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory):
    """Outcomes of studies at smoke scale, each run once."""
    known = {}

    def outcome(name: str):
        if name not in known:
            store = Store(tmp_path_factory.mktemp("home"))
            known[name] = run(name, "smoke", store=store, progress=False)
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


@pytest.fixture(scope="session")
def verdicts(outcomes):
    """Verdicts of a study's claims by the last part of their id, controls checked."""

    def found(name: str) -> dict[str, str]:
        claims = outcomes(name).claims
        for claim in claims:
            if claim.verdict == "not_applicable":
                assert claim.control is None and claim.note
            else:
                assert claim.control.verdict == "fails", claim.id
        return {claim.id.split("/")[1]: claim.verdict for claim in claims}

    return found
