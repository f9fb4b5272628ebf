"""The tool `retrieve_passages`: documents read closely, in two stages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from prompts.errors import DataError, ToolError
from prompts.tool_arguments import RetrievePassages as Arguments
from prompts.tool_arguments import description
from tools.contract import Notice, Outcome, Severity, ToolArtifact, ToolContext, unique
from tools.evidence import Evidence, EvidenceId, Origin, facts_of
from tools.files import REBUILD
from tools.messages import messages
from tools.notices import noted
from tools.passages.contract import ROOM, DocumentSource, FullTexts, Passage, StoredDocument, Strategy, context_of
from tools.passages.counted_reading import TOOL, CountedReader, CrossEncoder, important, select, units_for
from tools.passages.pool import PassagePool
from tools.passages.search import Ranked, rank, rows_of

# The last look of the second stage: a cross-encoder reads the best passages together with the query.
DEPTH = 32  # ours: passages that are read together with the query, as MedRGAG reranks 32 of a source
STREAM = "cross_encoder"


def reranked(query: str, ranked: Sequence[Ranked], reader: CrossEncoder | None, depth: int = DEPTH) -> list[Ranked]:
    """The first ``depth`` passages in the cross-encoder's order, each with its rank and score there; then the rest.

    Equal scores keep the order of before. Without a cross-encoder nothing changes.
    """
    if reader is None or not ranked:
        return list(ranked)
    head = ranked[:depth]
    scores = reader.rerank(query, [r.row.passage.embedded_text(r.row.document.text) for r in head])
    order = np.argsort(-scores, kind="stable").tolist()
    best = [
        head[i]._replace(streams={**head[i].streams, STREAM: (place, float(scores[i]))})
        for place, i in enumerate(order, start=1)
    ]
    return [*best, *ranked[depth:]]


DOCUMENTS = 8  # ours: documents read when none are named
KNOWN_IDS = "Use ids of documents that a tool returned, or leave documents empty to read the best ones for the query."
MAX_DOCUMENTS = 50  # ours: documents that one call may name
# ours: documents of a collection whose chunks are all searched by sentences; of a larger one (its index would be made
# anew in every process: 7 s for 1,149 documents) those that the sentences find, MAX_DOCUMENTS each
EVERY = 3000


class _Named(NamedTuple):
    """The documents to read, entries of the knowledge graph to hand on whole, and what the caller must know."""

    documents: list[StoredDocument]
    entries: list[Evidence]
    remarks: list[str]


class _Reading(NamedTuple):
    """How many passages are relevant, those to return, and whether no sentence of the case was important."""

    relevant: int
    evidence: list[Evidence]
    whole_text: bool = False


class RetrievePassages:
    """Cuts documents into passages and returns those that best answer a query.

    Args:
        source: where documents come from.
        pool: cuts documents and keeps their passages; its encoder ranks them.
        found_documents: documents read when the call names none.
        strategy: ``two_stage`` (CoMeta), or ``chunk_counted`` (ICA-RAG) and its arms (`CountedReader`), which hand on
            documents, not passages.
        room: tokens of all passages of a call together.
        reader: a cross-encoder that orders the best passages, None without one.
        guard: leave documents out that are far from the query (ours, of ICA-RAG's strategies).
        texts: the full texts of named documents of which only pieces are known; None reads the pieces.
    """

    name = TOOL
    arguments = Arguments

    def __init__(
        self,
        source: DocumentSource,
        pool: PassagePool,
        found_documents: int = DOCUMENTS,
        *,
        strategy: Strategy = "two_stage",
        room: int = ROOM,
        reader: CrossEncoder | None = None,
        guard: bool = True,
        texts: FullTexts | None = None,
    ) -> None:
        self._source, self._pool, self._room, self._reader, self._texts = source, pool, room, reader, texts
        self._found_documents = found_documents
        counted = strategy != "two_stage"
        self._counted = CountedReader(pool.encoder, guard=guard, strategy=strategy, reader=reader) if counted else None

    @cached_property
    def description(self) -> str:
        """What a planner is told about the tool."""
        return description(self.name)

    async def run(self, arguments: Arguments, context: ToolContext) -> ToolArtifact:
        """Passages as evidence with exact spans.

        A document that the source does not hold is read in full where that can be had, else from what the turn has
        found of it (an abstract of PubMed, parts of a full text). Ids that are not known and full texts that failed
        are told beside the passages of the others; a failure is never "nothing found".

        Raises:
            ToolError: no document that is named is known, or too many are named.
            DataError: the source finds a document that it does not hold.
        """
        given = await self._in_full(arguments, context)
        documents, entries, remarks = await asyncio.to_thread(self._documents, arguments, context, given)
        failed = {name: why for name, why in given.items() if isinstance(why, str)}
        readable = [d for d in documents if d.status.usable]
        if readable:
            context.tell("documents", n=len(readable))
        read = await asyncio.to_thread(self._read, arguments, readable, context)
        read = read._replace(evidence=[*read.evidence, *entries])
        whole = self._counted is not None and not arguments.documents  # a whole collection was searched
        context.recorder.event(
            "passages",
            documents=unique([e.document_id for e in read.evidence]) if whole else [d.id for d in readable],
            relevant=read.relevant,
            passages=[e.id for e in read.evidence],
        )
        return ToolArtifact(
            tool=self.name,
            outcome=Outcome.of(read.evidence, failed=bool(failed)),
            evidence=read.evidence,
            notices=_notices(documents, read, context.language),
            remarks=[*remarks, *(f"The full text of {name} could not be read: {why}" for name, why in failed.items())],
        )

    async def _in_full(self, arguments: Arguments, context: ToolContext) -> Mapping[str, list[Evidence] | str]:
        """What `FullTexts` gives of the documents that are named and that the source does not hold."""
        if self._texts is None:
            return {}
        names = _names(arguments)
        lacking = await asyncio.to_thread(lambda: [n for n in names if self._source.get_document(n) is None])
        pieces = [e for e in context.evidence if e.document_id in lacking]
        return await self._texts(pieces, context) if pieces else {}

    def _documents(
        self, arguments: Arguments, context: ToolContext, given: Mapping[str, list[Evidence] | str]
    ) -> _Named:
        """The documents that are named, else the best for the query, or those that its sentences are searched in."""
        named = _names(arguments)
        if len(named) > MAX_DOCUMENTS:
            raise ToolError(f"{len(named)} documents are too many.", f"Name at most {MAX_DOCUMENTS}.")
        found, ids = context.evidence, named or self._unnamed(arguments.query, context)
        documents: dict[str, StoredDocument] = {}  # an article that is named by two ids is one full text
        entries: list[Evidence] = []
        unknown: list[str] = []
        for name in ids:
            of_turn = [e for e in found if e.document_id == name] if named else []
            pieces = given.get(name, of_turn)
            document = self._source.get_document(name) or document_of(of_turn if isinstance(pieces, str) else pieces)
            if document is not None:
                documents[document.id] = document
            elif graph := [e for e in of_turn if e.origin is Origin.KNOWLEDGE_GRAPH]:
                entries += graph
            else:
                unknown.append(name)
        if not unknown:
            return _Named(list(documents.values()), entries, [])
        told = f"These documents are not known: {', '.join(unknown)}."
        if not named:
            raise DataError(f"The search names documents that are not stored: {', '.join(unknown)}.", REBUILD)
        if not documents and not entries:
            raise ToolError(told, KNOWN_IDS)
        return _Named(list(documents.values()), entries, [told])

    def _unnamed(self, query: str, context: ToolContext) -> list[str]:
        if self._counted is None:
            return self._source.find_documents(query, self._found_documents)
        every = self._source.every_document(EVERY)
        if every is not None:
            return every
        sentences = important(units_for(query, context)) or [query]
        return unique([d for sentence in sentences for d in self._source.find_documents(sentence, MAX_DOCUMENTS)])

    def _read(self, arguments: Arguments, documents: Sequence[StoredDocument], context: ToolContext) -> _Reading:
        query, limit = arguments.query, arguments.limit
        if self._counted is not None:
            found = self._counted.read(query, units_for(query, context), documents, limit, self._room)
            return _Reading(found.relevant, found.evidence, found.whole_text)
        cuts = self._pool.cut(documents)
        ranked = reranked(query, rank(query, documents, cuts, self._pool.encoder), self._reader)
        return _Reading(len(ranked), select(ranked, rows_of(documents, cuts), query, limit, self._tokens, self._room))

    def _tokens(self, text: str) -> int:
        return self._pool.encoder.count_tokens([text])[0]


def _names(arguments: Arguments) -> list[str]:
    """The ids of the documents that a call names."""
    return unique([name.strip().partition("@")[0] for name in arguments.documents if name.strip()])


def document_of(pieces: Sequence[Evidence]) -> StoredDocument | None:
    """A document as far as pieces of it are known; None without any that was retrieved.

    Its text has the pieces where the whole has them, so that spans mean the same, and spaces for what is not known. A
    text that is known from its beginning is cut like any other; parts of a longer one are passages as they are.
    """
    spans = [(EvidenceId.parse(p.id), p) for p in pieces if p.origin is Origin.RETRIEVED]
    placed = sorted(((at.start or 0, at.end or len(p.text), p) for at, p in spans), key=lambda s: (s[0], -s[1]))
    parts = [(start, end, p) for i, (start, end, p) in enumerate(placed) if all(end > e for _, e, _ in placed[:i])]
    if not parts:
        return None
    text, passages = "", list[Passage]()
    for start, end, part in parts:
        core, context = max(start, len(text)), context_of(part.title, part.section)
        passages.append(
            Passage(start=start, end=end, core_start=core, core_end=end, section=part.section, context=context)
        )
        text = text.ljust(start)[:start] + part.text
    first = parts[0][2]
    if len(parts) == 1 and parts[0][0] == 0:
        passages = []
    return StoredDocument(id=first.document_id, text=text, kind=first.kind, passages=tuple(passages), **facts_of(first))


def _notices(documents: Sequence[StoredDocument], read: _Reading, language: str) -> list[Notice]:
    notices = []
    retracted = messages(language)["gate.comma"].join(d.id for d in documents if not d.status.usable)
    if retracted:
        notices.append(noted("retracted_left_out", language, Severity.WARNING, detail=retracted))
    if read.whole_text:
        notices.append(noted("whole_text_searched", language))
    if not read.evidence:
        notices.append(noted("no_relevant_passage", language))
    return notices
