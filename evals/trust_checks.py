"""What each statement of an answer is held to: its quotes against the stored source, and its words against its quotes.

Quotes are compared with the source itself (the library's file, the graph's entry, the text that was given), not with
the copy that the answer carries. `CheckedStatement.supported` is the project's own check, that of its verifier;
`strictly` asks that every word of the statement, names in titles and the house's own frames aside, stands in its
quotes, so that other words for the same thing count as unsupported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.asked import Item
from graphs.answering.contract import Answer
from graphs.verification.support import check
from prompts.errors import InputError
from tools.evidence import Citation, Evidence, EvidenceId, Statement, Status
from tools.readers.normal import normalise

if TYPE_CHECKING:
    from graphs.verification.quoted import QuoteCheck
    from tools.knowledge_graph.schema import Graph
    from tools.library.collection import Library

CONCERN = (Status.CONCERN,)


@dataclass(frozen=True)
class CheckedStatement:
    """A cited statement.

    Attributes:
        exact: of each citation, whether its quote stands in the source where it says.
        supported, strictly: see the module. unusable: it cites a retracted work or the notice of one.
        concern: it cites a work of concern.
    """

    exact: tuple[bool, ...]
    supported: bool
    strictly: bool
    unusable: bool
    concern: bool


class Sources:
    """The stored texts that answers cite.

    Args:
        library: the starter library. graph: the graph whose entries are cited.
    """

    def __init__(self, library: Library, graph: Graph) -> None:
        self._library, self._graph = library, graph

    def holds(self, citation: Citation, item: Item, language: str) -> bool:
        """Whether the quote stands in its source, at its place where the id names one; not where none is known."""
        at = EvidenceId.parse(citation.evidence_id)
        if at.collection in ("own", "given"):
            return any(citation.quote in text for text in _brought(item))
        text = self._text(at, language)
        if text is None:
            return False
        start = (at.start or 0) + citation.start
        return text[start : start + len(citation.quote)] == citation.quote

    def _text(self, at: EvidenceId, language: str) -> str | None:
        """The whole stored text; None where it is of no known source."""
        from tools.knowledge_graph.entries import evidence_of

        if at.collection == "library":
            try:
                return self._library.document(at.document_id).text
            except InputError:
                return None
        disease = self._graph.disease.get(at.name.rpartition("/")[2])
        if at.collection != "graph" or disease is None or self._graph.entry_id(disease.id) != at.document_id:
            return None
        return evidence_of(self._graph, disease, language).text


def _brought(item: Item) -> tuple[str, ...]:
    """What came with an item: texts given, and the document on the shelf, as readers make text."""
    texts = [*item.given, *([item.document[1]] if item.document is not None else [])]
    return tuple(form for text in texts for form in (text, normalise(text)))


def checked(answer: Answer, item: Item, sources: Sources, support: QuoteCheck) -> Iterator[CheckedStatement]:
    """Every cited statement of an answer, those of its report among them."""
    known = {e.id: e for e in answer.evidence}
    for statement in cited_statements(answer):
        cited = [known.get(c.evidence_id) for c in statement.citations]
        languages = [e.language if e is not None else answer.language for e in cited]
        exact = tuple(
            sources.holds(c, item, language) for c, language in zip(statement.citations, languages, strict=True)
        )
        there = [e for e in cited if e is not None]
        whole = len(there) == len(cited)
        yield CheckedStatement(
            exact=exact,
            supported=whole and not support.fault(statement, known),
            strictly=whole and strictly_supported(statement, there),
            unusable=any(not e.status.usable for e in there),
            concern=any(e.status in CONCERN for e in there),
        )


def cited_statements(answer: Answer) -> list[Statement]:
    """The statements of an answer and of its report that cite anything."""
    report = answer.report
    more = [s.statement for s in report.statements] if report is not None else []
    return [s for s in [*answer.statements, *more] if s.citations]


def strictly_supported(statement: Statement, cited: list[Evidence]) -> bool:
    """Whether every word, number and negation of a statement stands in its quotes."""
    found = check(statement, cited)
    return not found.disagrees and (found.quoted or found.share == 1.0)
