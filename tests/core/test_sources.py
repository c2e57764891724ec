"""Sources: handles resolve, texts read as people cite, a handle is taken once."""

from __future__ import annotations

import pytest

from dynascope.core.errors import UnknownName
from dynascope.core.sources import (
    Document,
    chen2025,
    cited,
    derived,
    documents,
    yang2024,
    yang2025,
)


def test_the_five_documents_are_in_the_bibliography():
    assert {"yang2025", "yang2024", "chen2025", "boix2023", "zhu2024"} <= set(documents.names())
    assert all(d.title and d.authors and d.published for d in documents)


def test_sources_read_as_people_cite():
    both = yang2025("Fig. 5", how="corrects"), yang2024("app. E")
    assert cited(both) == "corrects yang2025 Fig. 5; yang2024 app. E"
    assert cited((derived(),)) == "derived"


def test_unknown_handles_give_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'chen2025'"):
        documents.get("chen2052")


def test_another_document_cannot_take_a_handle():
    other = Document("chen2025", "Somebody", "Something", 2025, "nowhere")
    with pytest.raises(ValueError, match="registered twice"):
        documents.add("chen2025", other)
    assert documents.get("chen2025") is chen2025
