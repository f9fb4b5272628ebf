"""What is missing by one reading: a model reads all documents in one call, against numbered needs.

It sees numbered sentences and never an id. What it says is held to these numbers: an unknown one says nothing, and a
gap is known by its need's number, so that a need that is put into other words is not there twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from types import MappingProxyType

from prompts.language_model import InvalidReplyError, LanguageModel
from prompts.metering import or_local
from prompts.research import DocumentReply, ReadingReply
from prompts.shown import one_line
from tools.contract import DocumentReading, Gap
from tools.evidence import Evidence
from tools.fusion import RRF_K
from tools.gaps.by_model import LANGUAGES, POINT, QUESTION
from tools.gaps.contract import GapFinder, GapSurvey, Inquiry
from tools.gaps.local import nearest
from tools.gaps.requirements import query_of
from tools.passages.contract import context_of
from tools.passages.counted_reading import NEIGHBOUR
from tools.passages.counted_reading import TOOL as CLOSELY
from tools.text.language import language_of
from tools.text.numbered import each_once, numbered, within
from tools.text.sentences import sentences
from tools.text.tokens import tokens

ROOM = 24_000  # ours: characters of all documents together, some 6,000 tokens
REPEATED = 0.5  # ours: share of the question from which a need does not say it again
ASKED = "what is asked"  # stands for it there
SAME = "same page"  # stands for the title of the line before
LEAST = 3_000  # ours: characters that any document may have: a long abstract whole
QUESTIONED, FOR_QUESTION = "find_answered_question", 3  # ours: of what was found for a question, so many are its best


class GapFinderByModel:
    """Finds gaps by one reading of a language model.

    Args:
        model: in the role ``gaps``. local: finds them when the model fails, or says nothing at all.
        points: new needs that it may name.
    """

    def __init__(self, model: LanguageModel, local: GapFinder, points: int = 3) -> None:
        self._model, self._local, self._points = model, local, points

    async def find(self, inquiry: Inquiry, documents: Sequence[Evidence]) -> GapSurvey:
        """What each document says, which needs they answer, and what is missing; no call without a document."""
        if not documents:
            return await self._local.find(inquiry, documents)
        return await or_local(
            self._model.role,
            lambda: self._by_model(inquiry, documents),
            lambda: self._local.find(inquiry, documents),
        )

    async def _by_model(self, inquiry: Inquiry, documents: Sequence[Evidence]) -> GapSurvey:
        room = max(ROOM // len(documents), LEAST)
        needs = inquiry.requirements
        documents = by_page(documents)
        shown = each_once(documents, [within(d.text, room) for d in documents])
        reply, _ = await self._model.structured(
            "reading",
            ReadingReply,
            points=str(self._points),
            language=LANGUAGES["zh" if inquiry.language == "zh" else "en"],
            question=one_line(inquiry.asked, QUESTION),
            diseases="; ".join(one_line(d, POINT) for d in inquiry.diseases) or "none",
            needs="\n".join(f"{n}. {need_shown(need, inquiry.question)}" for n, need in enumerate(needs, start=1))
            or "not said",
            documents="\n".join(
                document_line(n, document, only, before=before)
                for n, document, only, before in zip(count(1), documents, shown, (None, *documents), strict=False)
            ),
        )
        if not (reply.documents or reply.needs or reply.missing):
            raise InvalidReplyError("The language model said nothing of the documents.", "Try again.")
        covers = {n: _covering(reply, n, documents) for n in range(1, len(needs) + 1)}
        readings = _readings(reply, inquiry, documents, {i for ids in covers.values() for i in ids})
        useful = frozenset(r.evidence_id for r in readings if r.stance != "silent")
        return GapSurvey(useful=useful, gaps=self._gaps(reply, inquiry, covers, useful), readings=tuple(readings))

    def _gaps(
        self, reply: ReadingReply, inquiry: Inquiry, covers: dict[int, tuple[str, ...]], useful: frozenset[str]
    ) -> tuple[Gap, ...]:
        """What is missing in the model's order, each need once by its number; then what is covered.

        A need that nothing covers is a gap where the model says so. Where the planner named it, or nothing is useful,
        it is one anyway. What is missing of a need that documents cover in part is a point of its own.
        """
        needs = inquiry.requirements
        missing: dict[int | str, Gap] = {}
        for item in reply.missing:
            query, said = one_line(item.query, POINT), one_line(item.said, POINT)
            said = said if said and language_of(said) == inquiry.language else ""
            need = needs[item.need - 1] if item.need in covers else ""
            if need and not covers[item.need]:
                missing.setdefault(item.need, Gap(requirement=need, query=query or query_of(need), said=said))
            elif not _adds(query, need, inquiry.question):
                continue
            elif sum(isinstance(key, str) for key in missing) < self._points:
                missing.setdefault(query.casefold(), Gap(requirement=query, query=query, said=said, part_of=need))
        if inquiry.named or not useful:
            for n, need in enumerate(needs, start=1):
                if not covers[n]:
                    missing.setdefault(n, Gap(requirement=need, query=query_of(need)))
        covered = [
            Gap(requirement=needs[n - 1], query=needs[n - 1], covered_by=ids) for n, ids in covers.items() if ids
        ]
        return (*missing.values(), *covered)


def _adds(query: str, need: str, question: str) -> bool:
    """Whether a phrase is a point of its own: beside a covered need more than one word, and one that neither the need,
    nor what is searched for it, nor the question has."""
    words = set(tokens(query))
    return bool(query) and (
        not need or (len(words) > 1 and not words <= set(tokens(f"{need} {query_of(need)} {question}")))
    )


def need_shown(need: str, question: str) -> str:
    """A need on one line; what it repeats of the question, which stands above it, is not said again."""
    asked, colon, aspect = need.partition(": ")
    again = question != need and len(asked) >= REPEATED * len(question) and asked.casefold() in question.casefold()
    return one_line(f"{ASKED}{colon}{aspect}" if again else need, POINT)


def most_wanted(
    documents: Sequence[Evidence], near: Mapping[str, float] = MappingProxyType({}), most: int | None = None
) -> list[Evidence]:
    """What a planner asked to read closely first, a passage of each page in turn; then what was found most often and
    highest, all searches fused by their ranks. Of equals the nearer one, by ``near``.

    Among the first ``most``, which alone are read, is the best of every call: many passages of one page push out
    nothing that another tool brought. A piece that only asks says nothing, and stands last.
    """
    nearer = sorted(documents, key=lambda d: -near.get(d.id, 0.0))
    turns: Counter[str] = Counter()

    def place(document: Evidence) -> tuple[bool, float]:
        if not asked_for(document):
            return True, -_often(document)
        turns[document.document_id] += 1
        return False, turns[document.document_id]

    ordered = sorted(sorted(nearer, key=place), key=_only_asks)
    if most is None:
        return ordered
    best = _best_of_calls([d for d in ordered if not _only_asks(d)])
    first = {d.id for d in sorted(ordered, key=lambda d: d.id not in best)[:most]}
    return sorted(ordered, key=lambda d: d.id not in first)


def _only_asks(document: Evidence) -> bool:
    return all(span.of(document.text).endswith(("?", "？")) for span in sentences(document.text))


def _best_of_calls(documents: Sequence[Evidence]) -> set[str]:
    """Ids of what each call found highest; of what was found for a question of some."""
    places: dict[tuple[str, str], dict[str, int]] = {}
    for document in documents:
        for way in document.found:
            if way.rank is not None and way.stream != NEIGHBOUR:
                of = places.setdefault((way.tool, way.query), {})
                of[document.id] = min(way.rank, of.get(document.id, way.rank))
    best: set[str] = set()
    for (tool, _), ranks in places.items():
        best.update(sorted(ranks, key=lambda name: ranks[name])[: FOR_QUESTION if tool == QUESTIONED else 1])
    return best


def asked_for(document: Evidence) -> bool:
    """Whether a planner asked to read it closely; what stands beside such a passage it did not ask for."""
    return any(way.tool == CLOSELY and way.stream != NEIGHBOUR for way in document.found)


def _often(document: Evidence) -> float:
    """The sum over the searches that found a document of 1 / (k + its best rank there)."""
    best: dict[tuple[str, str], int] = {}
    for way in document.found:
        if way.rank is not None:
            search = way.tool, way.query
            best[search] = min(way.rank, best.get(search, way.rank))
    return sum(1 / (RRF_K + rank) for rank in best.values())


def by_page(documents: Sequence[Evidence]) -> list[Evidence]:
    """The documents in their order, the sections of a page behind its first one."""
    places = {document.document_id: place for place, document in reversed(list(enumerate(documents)))}
    return sorted(documents, key=lambda document: places[document.document_id])


def document_line(
    number: int,
    document: Evidence,
    only: Sequence[int],
    remark: str = "",
    before: Evidence | None = None,
) -> str:
    """A document on one line: its number, title and section, a remark, and its numbered sentences. A section of the
    page ``before`` it has no title: that stands on the line above."""
    same = before is not None and (before.document_id, before.title) == (document.document_id, document.title)
    title = SAME if same and document.section else document.title
    named = one_line(context_of(title, document.section), 300)
    return " | ".join(
        part for part in (f"[{number}] {named}".strip(), remark, numbered(number, document.text, only)) if part
    )


def reading_of(reply: DocumentReply, document: Evidence, otherwise: Sequence[int]) -> DocumentReading:
    """What a reply says of a document; ``otherwise``: the sentences of one that speaks and of which it names none."""
    last = len(sentences(document.text))
    named = tuple(sorted({n for n in reply.sentences if 1 <= n <= last}))
    if reply.stance == "silent":
        return DocumentReading(evidence_id=document.id)
    return DocumentReading(evidence_id=document.id, stance=reply.stance, sentences=named or tuple(otherwise))


def _covering(reply: ReadingReply, need: int, documents: Sequence[Evidence]) -> tuple[str, ...]:
    """Ids of the documents that answer a need, each once."""
    said = [n for item in reply.needs if item.number == need for n in item.documents]
    return tuple(dict.fromkeys(documents[n - 1].id for n in said if 1 <= n <= len(documents)))


def _readings(
    reply: ReadingReply, inquiry: Inquiry, documents: Sequence[Evidence], covering: set[str]
) -> list[DocumentReading]:
    """One reading a document; what answers a need says something, whatever the model said of it elsewhere."""
    said = {item.number: item for item in reversed(reply.documents)}
    out = []
    for n, document in enumerate(documents, start=1):
        told = said.get(n, DocumentReply(number=n, stance="silent"))
        if told.stance == "silent" and document.id in covering:
            told = told.model_copy(update={"stance": "speaks"})
        out.append(reading_of(told, document, nearest(inquiry, document)))
    return out
