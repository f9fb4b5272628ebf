"""KADS by a language model (MedRGAG): one call maps the documents to the requirements and keeps a few.

The model sees numbers, never ids; what it invents, repeats or leaves out is set right here. An order drawn by the
question is ours, and off in the published configuration. The default selects and filters in one call:
`ChooserByModel`.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from graphs.differential_filter.by_model import case_told
from graphs.differential_filter.contract import DocumentFilter, Stance, Verdict, unusable
from graphs.differential_filter.local import is_case
from graphs.kads.contract import Dropped, Kept, Selection, SelectionContext, Selector, usable_and_dropped
from prompts.language_model import InvalidReplyError, LanguageModel
from prompts.metering import or_local
from prompts.research import ChoosingReply, ChosenReply, KeptReply, SelectionReply
from prompts.shown import one_line
from tools.contract import Differential, DocumentReading, Finding, Gap, unique
from tools.encoders import Encoder
from tools.evidence import Evidence, Frozen, Origin
from tools.gaps.local import COLON, USEFUL, coverage_matrix
from tools.gaps.reading import asked_for, by_page, document_line, most_wanted, need_shown
from tools.text.numbered import each_once, telling, within, without_repeats
from tools.text.sentences import sentences
from tools.text.tokens import tokens

QUESTION = 4000  # ours: characters of the question that the model is shown; a case of a page
REASON = 300  # ours: characters of a reason that are kept


class ModelSelectorSettings(Frozen):
    """Settings of the selector by a model. The defaults are ours; `PUBLISHED` is MedRGAG's.

    Attributes:
        shown: most documents that one call shows; further ones are dropped, by the order in which they were found.
        characters: of a document that are shown.
        shuffle: show the documents in an order drawn by the question, against the favour of the first places.
        neutral: the prompt says nothing for retrieved text and against generated text.
    """

    shown: int = 40
    characters: int = 1000
    shuffle: bool = True
    neutral: bool = False


PUBLISHED = ModelSelectorSettings(shuffle=False, neutral=True)


class Chosen(NamedTuple):
    """A document that a reply keeps, the requirements that it covers, why, and the reply's own words on it."""

    document: Evidence
    covers: tuple[str, ...]
    reason: str
    reply: KeptReply


class SelectorByModel:
    """Selects by a language model.

    Args:
        model: in the role ``selection``.
        local: selects when the model fails or keeps nothing.
    """

    def __init__(self, model: LanguageModel, local: Selector, settings: ModelSelectorSettings | None = None) -> None:
        self._model, self._local = model, local
        self._settings = settings or ModelSelectorSettings()

    async def select(
        self,
        question: str,
        requirements: Sequence[str],
        candidates: Sequence[Evidence],
        limit: int,
        context: SelectionContext | None = None,
    ) -> Selection:
        """At most ``limit`` candidates, by one call; each is kept or dropped, once, with a reason in words."""
        del context
        wanted = unique([r for r in requirements if r.strip()]) or [question]
        documents, unusable = usable_and_dropped(candidates)
        if not documents:
            return selection_of(wanted, [], unusable)
        return await or_local(
            self._model.role,
            lambda: self._by_model(question, wanted, documents, unusable, limit),
            lambda: self._local.select(question, requirements, candidates, limit),
        )

    async def _by_model(
        self, question: str, wanted: list[str], documents: list[Evidence], unusable: list[Dropped], limit: int
    ) -> Selection:
        shown = documents[: self._settings.shown]
        if self._settings.shuffle:
            shown = drawn(shown, question)
        reply, _ = await self._model.structured(
            "selection_neutral" if self._settings.neutral else "selection",
            SelectionReply,
            limit=str(limit),
            question=one_line(question, QUESTION),
            requirements=listed(wanted),
            documents="\n".join(_numbered(n, d, self._settings.characters) for n, d in enumerate(shown, start=1)),
        )
        chosen = chosen_of(reply.keep, shown, wanted)
        if not chosen:
            raise InvalidReplyError("The language model kept no document.", "Try again, or set another model.")
        return selection_of(wanted, chosen[:limit], [*unusable, *reasons(documents, shown, chosen, limit)])


def drawn(documents: Sequence[Evidence], question: str) -> list[Evidence]:
    """The documents in an order drawn by the question, however they came."""
    out = sorted(documents, key=lambda d: d.id)
    random.Random(question).shuffle(out)  # noqa: S311  an order, no secret
    return out


def listed(wanted: Sequence[str]) -> str:
    """What is needed, by number, one a line."""
    return "\n".join(f"{n}. {one_line(r, QUESTION)}" for n, r in enumerate(wanted, start=1))


def chosen_of(keep: Sequence[KeptReply], shown: Sequence[Evidence], wanted: Sequence[str]) -> list[Chosen]:
    """The documents that a reply keeps, in its order: unknown numbers and repeats are dropped."""
    out: dict[int, Chosen] = {}
    for item in keep:
        if 1 <= item.number <= len(shown) and item.number not in out:
            covers = tuple(unique([wanted[c - 1] for c in item.covers if 1 <= c <= len(wanted)]))
            reason = one_line(item.reason, REASON) or "kept by the model, which gave no reason"
            out[item.number] = Chosen(shown[item.number - 1], covers, reason, item)
    return list(out.values())


def _numbered(number: int, document: Evidence, characters: int) -> str:
    """A document on one line: its number and origin, its title and section, its text."""
    origin = "generated" if document.origin is Origin.GENERATED else "retrieved"
    named = one_line(". ".join(p for p in (document.title, document.section or "") if p), characters)
    return f"[{number}] {origin} | {named} | {one_line(document.text, characters)}"


def reasons(
    documents: Sequence[Evidence], shown: Sequence[Evidence], chosen: Sequence[Chosen], limit: int
) -> list[Dropped]:
    """Why each document that is not kept was left out."""
    seen = {d.id for d in shown}
    kept, beyond = ({c.document.id for c in part} for part in (chosen[:limit], chosen[limit:]))

    def why(document: Evidence) -> str:
        if document.id not in seen:
            return f"beyond the {len(shown)} documents that the model is shown"
        return f"beyond the {limit} documents that are kept" if document.id in beyond else "left out by the model"

    return [Dropped(evidence_id=d.id, reason=why(d)) for d in documents if d.id not in kept]


def selection_of(wanted: Sequence[str], chosen: Sequence[Chosen], dropped: Sequence[Dropped]) -> Selection:
    """The selection of what was chosen."""
    generated = sum(c.document.origin is Origin.GENERATED for c in chosen)
    return Selection(
        requirements=tuple(wanted),
        kept=tuple(Kept(evidence_id=c.document.id, covers=c.covers, reason=c.reason) for c in chosen),
        dropped=tuple(dropped),
        generated_share=generated / len(chosen) if chosen else 0.0,
    )


# KADS and the differential filter in one call of a language model (ours).
#
# It is shown the needs and the documents, each with what the reading said of it, and says which are kept, what each
# covers, what it does to the question or in the case, and how far it helps. The filter's node takes these verdicts
# over. A document that the reading found silent is not shown again, and nothing that the model left out comes back.
# Generated background is no candidate: it stands beside what is kept, in nobody's place.

SILENT = "a first reading found nothing in it on the question"
FAR = "far from the question and from all that is needed"
REPEATED = "its sentences stand in others"
BESIDE = "background, beside what was retrieved and in the place of none of it"
LEFT_OUT = "left out by the model"


class ChoosingSettings(Frozen):
    """Settings of the choice. All ours.

    Attributes:
        shown: most documents that one call shows; further ones are dropped: not read nor asked for, found least.
        room: characters of all documents together that were not read; given: the same of texts that came with the
            message. least: characters that any of them may have.
        fewest: documents that are shown however far from the question and the needs they are, the nearest first.
        shuffle: show the documents in an order drawn by the question, against the favour of the first places.
        leading: diseases of the differential that a document may be about; as many as the local filter's.
    """

    shown: int = 24
    room: int = 8000
    given: int = 24_000
    least: int = 400
    fewest: int = 8
    shuffle: bool = True
    leading: int = 5


class ChooserByModel:
    """Selects and filters by one call of a language model; also a filter of texts that no selector saw.

    Args:
        model: in the role ``selection``, or ``filter`` as a filter.
        selector, document_filter: the local twins, which both judge when the model fails.
        encoder: tells what is far from the question and the needs; None: everything is shown.
    """

    def __init__(
        self,
        model: LanguageModel,
        selector: Selector,
        document_filter: DocumentFilter,
        settings: ChoosingSettings | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        self._model, self._selector, self._filter, self._encoder = model, selector, document_filter, encoder
        self._settings = settings or ChoosingSettings()

    async def select(
        self,
        question: str,
        requirements: Sequence[str],
        candidates: Sequence[Evidence],
        limit: int,
        context: SelectionContext | None = None,
    ) -> Selection:
        """At most ``limit`` retrieved candidates, each with a verdict, and beside them what was generated."""
        context = context or SelectionContext()
        wanted = unique([r for r in requirements if r.strip()]) or [question]
        usable, dropped = usable_and_dropped(candidates)
        background = [d for d in usable if d.origin is Origin.GENERATED]
        read = {r.evidence_id: r for r in context.readings}
        silent = [d for d in usable if _silent(read.get(d.id))]
        unspoken = {d.id for d in (*silent, *background)}
        speaking = [d for d in usable if d.id not in unspoken]
        dropped += [Dropped(evidence_id=d.id, reason=SILENT) for d in silent]
        chosen = selection_of(wanted, [], [])
        if speaking:
            chosen = await or_local(
                self._model.role,
                lambda: self._of_near(question, wanted, speaking, silent, limit, context),
                lambda: self._locally(question, wanted, speaking, limit, context),
            )
        return _with_background(chosen, dropped, background)

    async def judge(
        self,
        question: str,
        kind: str,
        findings: Sequence[Finding],
        differential: Differential | None,
        documents: Sequence[Evidence],
    ) -> list[Verdict]:
        """One verdict a document, in order: one call for all of them."""
        refused = {v.evidence_id: v for v in unusable(documents)}
        left = list({d.id: d for d in documents if d.id not in refused}.values())
        if not left:
            return [refused[d.id] for d in documents]
        context = SelectionContext(kind=kind, findings=tuple(findings), differential=differential)

        async def by_model() -> list[Verdict]:
            chosen = await self._by_model(question, [question], left, len(left), context, self._settings.given)
            return [*chosen.verdicts, *(_left_out(d.evidence_id) for d in chosen.dropped)]

        given = await or_local(
            self._model.role,
            by_model,
            lambda: self._filter.judge(question, kind, findings, differential, left),
        )
        by_id = refused | {v.evidence_id: v for v in given}
        return [by_id[d.id] for d in documents]

    async def _of_near(
        self,
        question: str,
        wanted: list[str],
        documents: list[Evidence],
        silent: list[Evidence],
        limit: int,
        context: SelectionContext,
    ) -> Selection:
        """What the model chooses of the documents that are not plainly of something else, and repeat nothing, not what
        a reading found to say nothing either."""
        read = {r.evidence_id for r in context.readings}
        fresh = without_repeats([*silent, *sorted(documents, key=lambda d: d.id not in read)])
        own = {d.id for d in fresh} | read
        near = await asyncio.to_thread(self._near, question, wanted, [d for d in documents if d.id in own], context)
        chosen = selection_of(wanted, [], [])
        if near:
            chosen = await self._by_model(question, wanted, near, limit, context, self._settings.room, silent)
        shown = {d.id for d in near}
        left = [d for d in documents if d.id not in shown]
        dropped = [Dropped(evidence_id=d.id, reason=FAR if d.id in own else REPEATED) for d in left]
        return chosen.model_copy(update={"dropped": (*chosen.dropped, *dropped)})

    def _near(
        self, question: str, wanted: list[str], documents: list[Evidence], context: SelectionContext
    ) -> list[Evidence]:
        """The documents that were read or asked for, the nearest ones, and the others that may say something."""
        if self._encoder is None or len(documents) <= self._settings.fewest:
            return documents
        ranking = context.differential.ranking if context.differential is not None else ()
        diseases = [d.name for d in ranking[: self._settings.leading]]
        queries = [COLON.sub(" ", question), *wanted, *diseases]
        best = coverage_matrix(queries, documents, self._encoder).max(axis=0)
        nearest = {documents[at].id for at in best.argsort()[::-1][: self._settings.fewest]}
        kept = {r.evidence_id for r in context.readings} | nearest | {d.id for d in documents if asked_for(d)}
        return [d for d, near in zip(documents, best, strict=True) if d.id in kept or near >= USEFUL]

    async def _by_model(
        self,
        question: str,
        wanted: list[str],
        documents: list[Evidence],
        limit: int,
        context: SelectionContext,
        room: int,
        silent: Sequence[Evidence] = (),
    ) -> Selection:
        read = {r.evidence_id: r for r in context.readings}
        first = sorted(most_wanted(documents), key=lambda d: d.id not in read)[: self._settings.shown]
        shown = drawn(first, question) if self._settings.shuffle else [d for d in documents if d in first]
        shown = by_page(shown)
        case = is_case(context.kind, context.findings, context.differential)
        told = case_told(question, context.findings, context.differential, self._settings.leading)
        reply, _ = await self._model.structured(
            "choosing",
            ChoosingReply,
            limit=str(limit),
            asked=told if case else f"Question: {one_line(question, QUESTION)}",
            needs=listed(_needs(wanted, context.gaps, question)),
            documents=self._shown(
                shown, silent, read, room, _answers(context.gaps, wanted), " ".join([question, *wanted])
            ),
        )
        chosen = chosen_of(reply.keep, shown, wanted)
        if reply.keep and not chosen:
            raise InvalidReplyError("The language model kept no document that was shown.", "Try again.")
        selection = selection_of(wanted, chosen[:limit], reasons(documents, shown, chosen, limit))
        said = [(c, c.reply) for c in chosen[:limit] if isinstance(c.reply, ChosenReply)]
        verdicts = tuple(_verdict(c, reply, case=case) for c, reply in said)
        readings = [_reading(c, reply) for c, reply in said if c.document.id not in read]
        named = tuple(r for r in readings if r.sentences)
        return selection.model_copy(update={"verdicts": verdicts, "readings": named})

    def _shown(
        self,
        documents: Sequence[Evidence],
        silent: Sequence[Evidence],
        read: Mapping[str, DocumentReading],
        room: int,
        answers: Mapping[str, Sequence[int]],
        asked: str,
    ) -> str:
        """The documents, one a line, with what the reading said of each, the needs that it answers, and the sentences
        that it named, whole; of one that was not read, what tells most, fits and stands in no other."""
        share = max(room // max(sum(d.id not in read for d in documents), 1), self._settings.least)
        first = [*silent, *sorted(documents, key=lambda d: d.id not in read)]
        own = each_once(first, [range(1, len(sentences(d.text)) + 1) for d in first])
        wanted = set(tokens(asked))
        fresh: dict[str, tuple[int, ...]] = {}
        for d, numbers in zip(first, own, strict=True):
            best = _telling(d, share, wanted) if d.id not in read else ()
            fresh[d.id] = tuple(n for n in numbers if n in best) or numbers[:1]
        lines = []
        for n, (document, before) in enumerate(zip(documents, (None, *documents), strict=False), start=1):
            reading = read.get(document.id)
            if reading is None:
                lines.append(document_line(n, document, fresh[document.id], "not read", before=before))
            else:
                needs = ", ".join(map(str, answers.get(document.id, ())))
                remark = f"{reading.stance} | answers {needs}" if needs else reading.stance
                lines.append(document_line(n, document, reading.sentences, remark, before=before))
        return "\n".join(lines)

    async def _locally(
        self,
        question: str,
        wanted: list[str],
        documents: list[Evidence],
        limit: int,
        context: SelectionContext,
    ) -> Selection:
        """What both local twins say."""
        chosen = await self._selector.select(question, wanted, documents, limit)
        kept = {k.evidence_id for k in chosen.kept}
        verdicts = await self._filter.judge(
            question, context.kind, context.findings, context.differential, [d for d in documents if d.id in kept]
        )
        return chosen.model_copy(update={"verdicts": tuple(verdicts)})


def _needs(wanted: Sequence[str], gaps: Sequence[Gap], question: str) -> list[str]:
    """The needs as they are shown; what is missing of another one says so."""
    of = {g.requirement: wanted.index(g.part_of) + 1 for g in gaps if g.part_of in wanted}
    return [need_shown(w, question) + (f" (still missing of {of[w]})" if w in of else "") for w in wanted]


def _answers(gaps: Sequence[Gap], wanted: Sequence[str]) -> dict[str, list[int]]:
    """Numbers of the needs that each document answers by the reading, by its id."""
    out: dict[str, list[int]] = {}
    for gap in gaps:
        for document in gap.covered_by if gap.requirement in wanted else ():
            out.setdefault(document, []).append(wanted.index(gap.requirement) + 1)
    return out


def _telling(document: Evidence, room: int, wanted: Collection[str]) -> list[int]:
    """Numbers of the sentences of a document that was not read that are shown in so many characters."""
    return within(document.text, room) if document.kind == "abstract" else telling(document.text, room, wanted)


def _silent(reading: DocumentReading | None) -> bool:
    return reading is not None and reading.stance == "silent"


def _verdict(chosen: Chosen, reply: ChosenReply, *, case: bool) -> Verdict:
    """The verdict on a document that the model keeps. In a case what conflicts is named and does not stay."""
    stance = Stance(reply.stance)
    if stance in (Stance.REFUTES, Stance.CONFLICTS):
        stance = Stance.CONFLICTS if case else Stance.REFUTES
    keep = stance not in (Stance.CONFLICTS, Stance.IRRELEVANT)
    support = round(reply.support, 4)
    return Verdict(evidence_id=chosen.document.id, keep=keep, stance=stance, support=support, reason=chosen.reason)


def _left_out(evidence_id: str) -> Verdict:
    return Verdict(evidence_id=evidence_id, keep=False, stance=Stance.IRRELEVANT, support=0.0, reason=LEFT_OUT)


def _reading(chosen: Chosen, reply: ChosenReply) -> DocumentReading:
    """What the choice says of a document that had not been read."""
    last = len(sentences(chosen.document.text))
    named = tuple(sorted({n for n in reply.sentences if 1 <= n <= last}))
    stance = reply.stance if reply.stance in ("supports", "refutes") else "speaks"
    return DocumentReading(evidence_id=chosen.document.id, sentences=named, stance=stance)


def _with_background(selection: Selection, dropped: Sequence[Dropped], background: Sequence[Evidence]) -> Selection:
    """The selection with what was dropped before it, and with the background beside it."""
    kept = [*selection.kept, *(Kept(evidence_id=d.id, covers=(), reason=BESIDE) for d in background)]
    verdicts = [
        Verdict(evidence_id=d.id, keep=True, stance=Stance.RELEVANT, support=0.0, reason=BESIDE) for d in background
    ]
    return selection.model_copy(
        update={
            "kept": tuple(kept),
            "dropped": (*dropped, *selection.dropped),
            "verdicts": (*selection.verdicts, *verdicts),
            "generated_share": len(background) / max(len(kept), 1),
        }
    )
