"""What the tools need of a library, whatever holds its documents, and what a search gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from tools.evidence import Evidence, Found, Frozen
from tools.indexes.contract import Filter
from tools.library.document import Document, LibraryQuestion, Window


class LibraryHit(Frozen):
    """A document that was found: its best window, its fused score, and each way in which it was found."""

    document: Document
    window: Window
    score: float
    found: tuple[Found, ...]

    def evidence(self) -> Evidence:
        """The best window as evidence, an exact slice of the document."""
        return self.document.evidence(self.window.start, self.window.end, self.found)


class QuestionHit(Frozen):
    """A question of the library near the one asked: their cosine, and BM25 as a share of the best question's, 0..1.

    ``generated``: it was written offline for the document, not with it. ``judged`` is false where nobody judged that
    the document answers it (`tools.questions.matrix`). ``direct``: the span was found for the question asked itself,
    and ``similarity`` is the probability that it answers. ``answer``: what it answers a closed question, "" where it
    only tells.
    """

    document: Document
    question: LibraryQuestion
    similarity: float
    lexical: float
    generated: bool = False
    judged: bool = True
    direct: bool = False
    answer: Literal["", "yes", "no", "depends"] = ""


class PublicWords(NamedTuple):
    """Words of texts that name no patient, each with the number of documents that hold it, and all documents."""

    frequencies: Mapping[str, int]
    documents: int


class SearchableLibrary(Protocol):
    """Documents that are searched by words and by meaning. Retracted ones are held, and never found."""

    def __len__(self) -> int:
        """Number of documents."""

    @property
    def frequencies(self) -> Mapping[str, int]:
        """Every word in lower case, with the number of documents that hold it."""

    @property
    def public_words(self) -> PublicWords:
        """The words of the starter collection: they may tell a search term that is sent to PubMed from a name.

        A user's own documents may name patients and colleagues, so their words never do.
        """

    @property
    def question_titles(self) -> Sequence[str]:
        """Titles of the documents that take part in the search for questions."""

    def document(self, id: str) -> Document:
        """The document with this id, or with the id of a slice of it; else InputError."""

    def ids(self) -> list[str] | None:
        """The id of every document that can be found; None where they cannot be listed."""

    def search(
        self,
        query: str,
        limit: int,
        where: Filter | None = None,
        *,
        also: Sequence[str] = (),
        tool: str = "search_literature",
        nearest: bool = False,
    ) -> list[LibraryHit]:
        """Documents for a query, best first; ``also`` are other wordings, ``where`` restricts documents.

        With ``nearest`` by cosine alone, and however far.
        """

    def by_words(self, query: str, limit: int, *, tool: str = "search_literature") -> dict[str, list[LibraryHit]]:
        """At most ``limit`` documents of each of its collections by BM25 alone, by the collection's name."""

    def search_questions(self, question: str, limit: int) -> list[QuestionHit]:
        """The questions nearest to one asked, by cosine."""
