"""Small adapters: what one room offers, in the form that another room asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.sessions.documents import passage
from prompts.errors import InputError, ServiceError
from prompts.tool_arguments import SearchLiterature as SearchArguments
from tools.contract import Outcome, ToolContext
from tools.corpus.pipeline import window_passages
from tools.encoders import Encoder
from tools.evidence import Evidence, Found, facts_of
from tools.fusion import reciprocal_rank_fusion
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.library.contract import LibraryHit, QuestionHit, SearchableLibrary
from tools.library.document import Document
from tools.library.own import paragraph_windows
from tools.library.search import words_of
from tools.literature.tool import SearchLiterature
from tools.passages.contract import StoredDocument
from tools.passages.search import rank_sentences
from tools.readers.contract import Record, Section
from tools.recorder import SEARCHED

# ours: cosine from which a question of unknown words is on a subject of the library. Thirty-two messages of other
# fields reach 0.32 at most, eighty questions on its subjects 0.52 at least.
ON_SUBJECT = 0.45
COMPARED = 64  # ours: passages of a document that are compared by meaning, half a second on two cores
CLOSELY = ("condition", "evidence")  # ours: kinds of documents of which answers are made sentence by sentence


class LibraryDocuments:
    """The library as a source of documents for the passage tool."""

    def __init__(self, library: SearchableLibrary) -> None:
        self._library = library

    def get_document(self, id: str) -> StoredDocument | None:
        """The document, None when the library does not hold it."""
        try:
            document = self._library.document(id)
        except InputError:
            return None
        return StoredDocument(
            id=document.id,
            text=document.text,
            kind=document.kind,
            passages=window_passages(document) if document.source else (),
            **facts_of(document),
        )

    def find_documents(self, query: str, limit: int) -> list[str]:
        """Ids of the best documents for a query."""
        return [hit.document.id for hit in self._library.search(query, limit)]

    def every_document(self, most: int) -> list[str] | None:
        """Ids of all documents; None where there are more than ``most``, or a collection cannot list them."""
        return self._library.ids() if len(self._library) <= most else None

    def whole(self, id: str) -> str:
        """Title and text of a document; "" for one that the library does not hold."""
        document = self.get_document(id)
        return f"{document.title}. {document.text}" if document is not None else ""

    def said(self, id: str, text: str) -> Evidence | None:
        """A part of a document's text as evidence; None where the library has no such document, or it no such part."""
        document = self.get_document(id)
        start = document.text.find(text) if document is not None else -1
        return self._library.document(id).evidence(start, start + len(text)) if start >= 0 else None

    def prepared(self, id: str) -> list[tuple[str, Evidence]]:
        """Questions that a document was written to answer, each with its answer; none for one that is not held."""
        if self.get_document(id) is None:
            return []
        document = self._library.document(id)
        return [(q.text, document.evidence(q.start, q.end)) for q in document.questions]

    def monograph(self, id: str) -> str:
        """Text of a document of the house, whose sentences are often embedded already; "" for another."""
        document = self.get_document(id)
        return document.text if document is not None and document.kind in CLOSELY else ""

    def sections(self, id: str) -> list[Evidence]:
        """The pieces of a document with their sections, in order; none for one that the library does not hold."""
        try:
            document = self._library.document(id)
        except InputError:
            return []
        return [document.evidence(w.start, w.end) for w in document.windows]

    def on_subject(self, text: str) -> bool:
        """Whether a question or a window of the library is near a text."""
        questions = self._library.search_questions(text, 1)
        if questions and questions[0].similarity >= ON_SUBJECT:
            return True
        return any(f.stream == "dense" and (f.score or 0.0) >= ON_SUBJECT for f in _ways(self._library.search(text, 3)))

    def holds(self, id: str) -> bool:
        """Whether the library holds a document."""
        return self.get_document(id) is not None


def _ways(hits: Sequence[LibraryHit]) -> list[Found]:
    return [f for hit in hits for f in hit.found]


class GraphTexts:
    """The graph's entries for the answerer, in its own language; ``rare`` gives those of the phenotype ontology."""

    def __init__(self, graph: KnowledgeGraph, rare: Callable[[str], Evidence | None] = lambda _: None) -> None:
        self._graph, self._rare = graph, rare
        self._known = {d.id for d in graph.graph.diseases}

    def entry(self, disease: str, language: str) -> Evidence | None:
        """The entry of a disease, of a rare one from the phenotype ontology; None when neither has one.

        A diagnosis that only records have is cited to a record.
        """
        known = disease in self._known or self._graph.of_records(disease)
        return self._graph.evidence_for(disease, language) if known else self._rare(disease)

    def sentence_for(self, disease: str, finding: str, language: str) -> tuple[int, int] | None:
        """Characters of the entry's sentence on a finding."""
        return self._graph.findings_sentence(disease, finding, language) if disease in self._known else None

    def wordings(self, finding: str) -> Sequence[str]:
        """Wordings of a finding by its id."""
        node = self._graph.graph.finding.get(finding)
        return [node.name, *node.say, node.zh, *node.say_zh] if node is not None else []


class SentenceRanking:
    """The ranking of sentences with one encoder."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def __call__(self, query: str, texts: Sequence[str]) -> Sequence[tuple[int, int, int, float]]:
        """(index, start, end, score) of every sentence, best first."""
        return rank_sentences(query, texts, self._encoder)


class GapSearch:
    """One targeted search for a gap, by the literature tool."""

    def __init__(self, tool: SearchLiterature) -> None:
        self._tool = tool

    async def __call__(self, query: str, limit: int, context: ToolContext) -> list[Evidence]:
        """Evidence for a query; raises ServiceError when the search failed and gave nothing."""
        # a topic, not the patient's story; the question stays, so that what it holds back is held here too
        topic = replace(context, kind="evidence", findings=[])
        artifact = await self._tool.run(SearchArguments(query=query, limit=limit), topic)
        context.recorder.event(SEARCHED, query=query, strategy=artifact.strategy)
        if artifact.outcome is Outcome.UNAVAILABLE:
            raise ServiceError("; ".join(n.text for n in artifact.notices) or "The literature search failed.")
        return artifact.evidence


class DocumentPassages:
    """Which passages of a document that a user put into a session a question is answered from."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def of(self, record: Record, question: str, limit: int) -> list[Evidence]:
        """The ``limit`` passages that are nearest to the question by meaning and by words, in the document's order.

        By words those are chosen that are compared by meaning, so that a question costs the same whatever the length.
        """
        sections = record.sections or (Section(title="", start=0, end=len(record.text)),)
        windows = list(paragraph_windows(record.title, record.text, sections, self._encoder))
        if len(windows) > limit:
            near = _by_words(question, [record.text[w.start : w.end] for w in windows])[:COMPARED]
            texts = [record.text[windows[n].start : windows[n].end] for n in near]
            cosines = self._encoder.encode_documents(texts) @ self._encoder.encode_queries([question])[0]
            meant = [near[n] for n in sorted(range(len(near)), key=lambda n: -float(cosines[n]))]
            fused = reciprocal_rank_fusion({"words": [str(n) for n in near], "meaning": [str(n) for n in meant]})
            windows = [windows[n] for n in sorted(int(f.id) for f in fused[:limit])]
        return [passage(record, w.start, w.end) for w in windows]


class DocumentQuestions:
    """The questions that were written with documents of the library."""

    def __init__(self, library: SearchableLibrary, encoder: Encoder) -> None:
        self._library, self._encoder = library, encoder

    def of(self, asked: str, ids: Sequence[str]) -> list[QuestionHit]:
        """Those of some documents on the subject of one asked, nearest first; none of a document that is not held."""
        known = [(d, q) for d in map(self._document, ids) if d is not None for q in d.questions]
        if not known:
            return []
        cosines = self._encoder.encode_documents([q.text for _, q in known]) @ self._encoder.encode_queries([asked])[0]
        near = [min(1.0, float(cosine)) for cosine in cosines]
        hits = [
            QuestionHit(document=d, question=q, similarity=n, lexical=0.0)
            for (d, q), n in zip(known, near, strict=True)
        ]
        return sorted((h for h in hits if h.similarity >= ON_SUBJECT), key=lambda h: -h.similarity)

    def _document(self, id: str) -> Document | None:
        try:
            return self._library.document(id)
        except InputError:
            return None


def _by_words(question: str, texts: Sequence[str]) -> list[int]:
    """Places of texts, best first, by the question's words that they hold; a rare word counts for more."""
    held = [words_of("", text) for text in texts]
    asked = words_of("", question)
    rare = {word: 1 / (1 + sum(word in h for h in held)) for word in asked}
    return sorted(range(len(texts)), key=lambda n: (-sum(rare[w] for w in asked & held[n]), n))
