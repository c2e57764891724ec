"""The bibliography: documents by handle, and places in them.

A claim says where its statement stands: `yang2025("Fig. 5")` is a `Source`. `how` says what
was done with the place where it was not simply read ("corrects", "derived; sharpens").
"""

from __future__ import annotations

from dataclasses import dataclass

from dynascope.core.registry import Registry


@dataclass(frozen=True)
class Document:
    """A paper or thesis; called with a place in it, it gives a source."""

    handle: str
    authors: str
    title: str
    year: int
    published: str

    def __call__(self, place: str, how: str = "") -> Source:
        """A place in this document, such as a figure or a section."""
        return Source(place, self, how)

    def __str__(self) -> str:
        return f"{self.authors}: {self.title}. {self.published}, {self.year}"


@dataclass(frozen=True)
class Source:
    """A place in a document; without a document the statement is derived here.

    Example:
        >>> str(yang2025("Fig. 5")), str(zhu2024("Thm. B.7.1", how="derived; sharpens"))
        ('yang2025 Fig. 5', 'derived; sharpens zhu2024 Thm. B.7.1')
    """

    place: str = ""
    document: Document | None = None
    how: str = ""

    def __str__(self) -> str:
        handle = self.document.handle if self.document else ""
        return " ".join(filter(None, (self.how, handle, self.place)))


documents: Registry[Document] = Registry("document")


def document(handle: str, authors: str, title: str, year: int, published: str) -> Document:
    """Add a document to the bibliography; packages with studies of their own call this too."""
    return documents.add(handle, Document(handle, authors, title, year, published))


def derived(how: str = "derived") -> Source:
    """The source of a statement that no document makes."""
    return Source(how=how)


def cited(sources: tuple[Source, ...]) -> str:
    """Several sources as one text.

    Example:
        >>> cited((yang2025("Fig. 5"), yang2024("Fig. 3")))
        'yang2025 Fig. 5; yang2024 Fig. 3'
    """
    return "; ".join(map(str, sources))


yang2025 = document(
    "yang2025", "Yang, Park, Lubana, Okawa, Hu, Tanaka",
    "Swing-by Dynamics in Concept Learning and Compositional Generalization", 2025, "ICLR",
)  # fmt: skip
yang2024 = document(
    "yang2024", "the same authors, anonymously",
    "Structured Identity Mapping: A Model for Out-of-Distribution Generalization Dynamics", 2024,
    "an earlier version of yang2025",
)  # fmt: skip
chen2025 = document(
    "chen2025", "Lei Chen", "Simple structures in neural networks", 2025,
    "dissertation, New York University",
)  # fmt: skip
boix2023 = document(
    "boix2023", "Boix-Adserà, Littwin, Abbe, Bengio, Susskind",
    "Transformers learn through gradual rank increase", 2023, "preprint",
)  # fmt: skip
zhu2024 = document(
    "zhu2024", "Libin Zhu",
    "Toward understanding the dynamics of over-parameterized neural networks", 2024,
    "dissertation, UC San Diego",
)  # fmt: skip
