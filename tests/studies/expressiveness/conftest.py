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
