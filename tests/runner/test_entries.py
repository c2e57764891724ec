"""Studies and documents with what the store says of them."""

from __future__ import annotations

from dynascope.core.sources import documents
from dynascope.runner import claim_rows, document_entries, study_entries
from dynascope.store import Store
from dynascope.studies import studies


def test_every_study_has_an_entry_without_a_store(tmp_path):
    entries = study_entries(Store(tmp_path))
    assert [e.name for e in entries] == list(studies.names())
    assert all(e.result is None and e.claims and e.title and e.documents for e in entries)
    claims = [c for e in entries for c in e.claims]
    assert {c.verdict for c in claims} == {"not_run"}
    assert [c.id for c in claims] == [row["id"] for row in claim_rows(Store(tmp_path))]
    assert all(c.must_fail and c.must_hold for c in claims)


def test_every_claim_says_what_its_number_is(tmp_path):
    """By the first sentence of its measuring function, or by `measures=`; readable alone."""
    claims = [c for e in study_entries(Store(tmp_path)) for c in e.claims]
    unnamed = [c.id for c in claims if len(c.quantity) < 10 or c.quantity.startswith("The same")]
    assert not unnamed


def test_every_document_has_an_entry():
    entries = document_entries()
    assert [d.handle for d in entries] == list(documents.names())
    known = {c.id for study in studies for c in study.claims}
    named = {claim for d in entries for item in d.items for claim in item.claims}
    assert named and named <= known
