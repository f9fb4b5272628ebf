"""The tool `retrieve_passages`: documents read closely, in two stages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property

from prompts.errors import DataError, ToolError
from prompts.tool_arguments import RetrievePassages as Arguments
from prompts.tool_arguments import description
from tools.contract import Notice, Outcome, Severity, ToolArtifact, ToolContext, unique
from tools.evidence import Evidence, Found, Origin
from tools.files import REBUILD
from tools.passages.contract import DocumentSource, StoredDocument
from tools.passages.neighbours import leans_back, leans_on_next
from tools.passages.pool import PassagePool
from tools.passages.search import Ranked, Row, rank, rows_of

DOCUMENTS = 8  # ours: documents read when none are named
MAX_DOCUMENTS = 50  # ours: documents that one call may name


class RetrievePassages:
    """Cuts documents into passages and returns those that best answer a query.

    Args:
        source: where documents come from.
        pool: cuts documents and keeps their passages; its encoder ranks them.
        found_documents: documents read when the call names none.
    """

    name = "retrieve_passages"
    arguments = Arguments

    def __init__(self, source: DocumentSource, pool: PassagePool, found_documents: int = DOCUMENTS) -> None:
        self._source, self._pool, self._found_documents = source, pool, found_documents

    @cached_property
    def description(self) -> str:
        """What a planner is told about the tool."""
        return description(self.name)

    async def run(self, arguments: Arguments, context: ToolContext) -> ToolArtifact:
        """Passages as evidence with exact spans.

        Raises:
            ToolError: a named document is unknown, or too many are named.
            DataError: the source finds a document that it does not hold.
        """
        documents = await asyncio.to_thread(self._documents, arguments)
        readable = [d for d in documents if d.status.usable]
        ranked, evidence = await asyncio.to_thread(self._read, arguments, readable)
        context.recorder.event(
            "passages", documents=[d.id for d in readable], relevant=ranked, passages=[e.id for e in evidence]
        )
        return ToolArtifact(
            tool=self.name,
            outcome=Outcome.OK if evidence else Outcome.NOTHING_FOUND,
            evidence=evidence,
            notices=_notices(documents, readable, evidence, context.language),
        )

    def _documents(self, arguments: Arguments) -> list[StoredDocument]:
        """The documents that are named, else the best for the query."""
        named = unique([name.partition("@")[0] for name in arguments.documents])
        if len(named) > MAX_DOCUMENTS:
            raise ToolError(f"{len(named)} documents are too many.", f"Name at most {MAX_DOCUMENTS}.")
        ids = named or self._source.find_documents(arguments.query, self._found_documents)
        found = {name: self._source.get_document(name) for name in ids}
        unknown = ", ".join(name for name, document in found.items() if document is None)
        if unknown and named:
            raise ToolError(
                f"These documents are not known: {unknown}.",
                "Use ids from search_literature, or leave documents empty to read the best ones for the query.",
            )
        if unknown:
            raise DataError(f"The search names documents that are not stored: {unknown}.", REBUILD)
        return [document for document in found.values() if document is not None]

    def _read(self, arguments: Arguments, documents: Sequence[StoredDocument]) -> tuple[int, list[Evidence]]:
        """How many passages are relevant, and those to return."""
        cuts = self._pool.cut(documents)
        ranked = rank(arguments.query, documents, cuts, self._pool.encoder)
        return len(ranked), select(ranked, rows_of(documents, cuts), arguments.query, arguments.limit)


def select(ranked: Sequence[Ranked], rows: Sequence[Row], query: str, limit: int) -> list[Evidence]:
    """At most ``limit`` passages, best first, each followed by the neighbours of its section that it leans on."""
    places = {(row.document.id, row.place): row for row in rows}
    chosen: dict[str, Evidence] = {}
    for position, item in enumerate(ranked, start=1):
        own = to_evidence(item.row, _streams(item, query))
        if own.id in chosen:
            chosen[own.id] = own.model_copy(update={"found": own.found + chosen[own.id].found})
        elif len(chosen) < limit:
            chosen[own.id] = own
        else:
            continue
        found = Found(tool=RetrievePassages.name, stream="neighbour", query=query, rank=position)
        for neighbour in leaned_on(item.row, places):
            if len(chosen) < limit:
                chosen.setdefault(neighbour.id, to_evidence(neighbour, (found,)))
    return list(chosen.values())


def leaned_on(row: Row, places: Mapping[tuple[str, int], Row]) -> list[Row]:
    """The passages before and after, in the same section, that a passage cannot be understood without."""
    text = row.document.text[row.passage.start : row.passage.end]
    wanted = [-1] * leans_back(text) + [1] * leans_on_next(text)
    near = [places.get((row.document.id, row.place + step)) for step in wanted]
    return [n for n in near if n is not None and n.passage.section == row.passage.section]


def to_evidence(row: Row, found: tuple[Found, ...]) -> Evidence:
    """A passage as evidence: an exact slice of the stored document."""
    document, passage = row.document, row.passage
    return Evidence(
        id=row.id,
        text=document.text[passage.start : passage.end],
        title=document.title,
        kind="passage",
        origin=Origin.RETRIEVED,
        publication_types=document.publication_types,
        level=document.level,
        status=document.status,
        date=document.date,
        review_by=document.review_by,
        section=passage.section,
        language=document.language,
        neighbours=passage.neighbours,
        found=found,
    )


def _streams(item: Ranked, query: str) -> tuple[Found, ...]:
    return tuple(
        Found(tool=RetrievePassages.name, stream=name, query=query, rank=place, score=score)
        for name, (place, score) in item.streams.items()
    )


def _notices(
    documents: Sequence[StoredDocument], readable: Sequence[StoredDocument], evidence: Sequence[Evidence], language: str
) -> list[Notice]:
    chinese = language == "zh"
    notices = []
    retracted = "、".join(d.id for d in documents if d not in readable)
    if retracted:
        text = f"已撤稿，未采用：{retracted}。" if chinese else f"Retracted, so not read: {retracted}."
        notices.append(Notice(code="retracted_left_out", text=text, severity=Severity.WARNING))
    if not evidence:
        text = (
            "所读文献中没有与问题相关的段落。"
            if chinese
            else "No passage of the documents read is relevant to the query."
        )
        notices.append(Notice(code="no_relevant_passage", text=text))
    return notices
