"""Planning without a model: a fixed plan for each kind of turn, round by round, each call with its reason."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

from graphs.planning.contract import PlannedCall, Planner, ResearchView
from graphs.triage.asked import subject
from graphs.triage.local import describes_patient
from prompts.tool_arguments import MAX_QUERY
from tools.contract import Differential, Outcome, unique
from tools.evidence import Origin
from tools.gaps.requirements import requirements
from tools.medicines.constraints import without_allergens
from tools.text.questions import is_question, parts, without_given
from tools.text.tokens import STOP, WORD

LITERATURE, PASSAGES, DIFFERENTIAL = "search_literature", "retrieve_passages", "lookup_differential"
GAPS, ANSWERED = "fill_knowledge_gaps", "find_answered_question"
LEADING = 3  # ours: diseases whose documents are read
TERMS = 6  # ours: leading findings that become search terms
DOCUMENTS = 5  # ours: best documents that are read closely
LIMIT, RELAXED_LIMIT = 8, 16  # ours: documents asked of the literature, and after it gave nothing
RELAXED_TERMS = 3  # ours: terms of the relaxed search
MOST_REQUIREMENTS = 10  # the limit of the gap tool's schema
LEADS = 0.5  # ours: share of belief from which the first disease itself is searched for
FAILED = (Outcome.NOTHING_FOUND, Outcome.UNAVAILABLE)
# A question that every case asks; no stored question answers it.
GENERIC = re.compile(
    r"^\W*(?:what(?:'s| is| are| could| might| may| do| would)?|which|likely|any|is it|why|who|most|could|"
    r"can)\b(?!.*\b(?:safe|take|dose|drug|treat\w*|"
    r"test|antibiotic\w*|vaccine|contagious|need)\b)[^?]{0,60}\??\W*$|^[^?]{0,12}\b(?:likely|cause|differential|"
    r"diagnosis)\b[^?]{0,20}\??$|"
    r"什么(?:问题|病|原因)|可能是|怎么回事|诊断是",
    re.IGNORECASE,
)


class PlannerLocal:
    """Plans by kind: two rounds, and a third only to try once more, more widely, what gave nothing.

    Args:
        has_document: whether a document of this id can be read (``library:gerd``).
    """

    def __init__(self, has_document: Callable[[str], bool]) -> None:
        self._has_document = has_document

    async def plan(self, view: ResearchView) -> list[PlannedCall]:
        """The calls of this round; an empty list ends research."""
        return self.plan_now(view)

    def plan_now(self, view: ResearchView) -> list[PlannedCall]:
        """The same, for callers without an event loop."""
        first = {"case": _first_for_case, "multiple_choice": _first_for_choice}.get(view.kind, _first_for_question)
        if view.round <= 1:
            return first(view)
        if view.round == 2:
            return self._second(view)
        return self._third(view) if view.round == 3 else []

    def _second(self, view: ResearchView) -> list[PlannedCall]:
        """Read closely what was found, and fill the gaps; with nothing found, search once more instead."""
        documents, why = self._documents(view)
        calls = [_passages(view, documents, why)] if documents else []
        leading = _leading_topics(view)
        if leading and leading[0] in documents:
            calls.append(_about_leading(*leading))
        return calls or self._gaps(view) or _relaxed(view)

    def _third(self, view: ResearchView) -> list[PlannedCall]:
        """Fill the gaps that are left; with nothing found at all, search once more, wider."""
        outcomes = [outcome for tool, outcome in view.outcomes if tool == LITERATURE]
        if len(outcomes) == 1 and outcomes[0] in FAILED:
            return _relaxed(view)
        return [] if any(tool == GAPS for tool, _ in view.outcomes) else self._gaps(view)

    def _gaps(self, view: ResearchView) -> list[PlannedCall]:
        if not any(e.origin is Origin.RETRIEVED for e in view.evidence):
            return []
        reason = "see what is still missing to answer, and look for it"
        arguments: dict[str, Any] = {"question": _question(view)}
        leading = _likely(view) if view.kind == "case" else []
        if leading:
            wanted = requirements(view.question, view.kind, view.language, view.options, leading)
            arguments["requirements"] = wanted[:MOST_REQUIREMENTS]
        return [PlannedCall(tool=GAPS, arguments=arguments, reason=reason)]

    def _documents(self, view: ResearchView) -> tuple[list[str], str]:
        """The documents worth reading closely that can be read, and why these."""
        ranking = view.differential.ranking if view.differential else ()
        if view.kind == "case" and ranking:
            leading = [f"library:{d.disease}" for d in ranking[:LEADING] if self._has_document(f"library:{d.disease}")]
            if leading:
                return leading, f"read about the leading diagnoses: {', '.join(d.name for d in ranking[:LEADING])}"
        found = unique([e.document_id for e in view.evidence if e.origin is Origin.RETRIEVED])
        return [d for d in found if self._has_document(d)][:DOCUMENTS], "read the best documents found closely"


def _first_for_case(view: ResearchView) -> list[PlannedCall]:
    calls = [
        PlannedCall(
            tool=DIFFERENTIAL, arguments={"case": _question(view)}, reason="rank diagnoses by the case's findings"
        ),
        _literature(view, leading_terms(view.differential), "search by the leading findings of the case"),
    ]
    asked = specific_question(view.question)
    if asked:
        reason = "the case ends in a question that may have been answered"
        calls.append(PlannedCall(tool=ANSWERED, arguments={"question": asked}, reason=reason))
    return calls


def _first_for_question(view: ResearchView) -> list[PlannedCall]:
    reason = "look whether a document is known to answer this question"
    answered = PlannedCall(tool=ANSWERED, arguments={"question": _question(view)}, reason=reason)
    return [answered, _literature(view, [], "search the literature for the question")]


def _first_for_choice(view: ResearchView) -> list[PlannedCall]:
    whole = " ".join([view.question, *view.options.values()])
    asked = " ".join(s for s in parts(view.question) if is_question(s)) or view.question
    reason = "search the literature for the stem and its options"
    calls = [
        PlannedCall(tool=LITERATURE, arguments={"query": whole[:MAX_QUERY], "limit": LIMIT}, reason=reason),
        PlannedCall(tool=ANSWERED, arguments={"question": asked[:MAX_QUERY]}, reason="look for the stem's question"),
    ]
    if describes_patient(view.question):
        reason = "the stem describes a patient"
        calls.append(PlannedCall(tool=DIFFERENTIAL, arguments={"case": _question(view)}, reason=reason))
    return calls


def _literature(view: ResearchView, terms: list[str], reason: str) -> PlannedCall:
    arguments = {"query": _question(view), "limit": LIMIT, **({"terms": terms} if terms else {})}
    return PlannedCall(tool=LITERATURE, arguments=arguments, reason=reason)


def _passages(view: ResearchView, documents: list[str], reason: str) -> PlannedCall:
    return PlannedCall(tool=PASSAGES, arguments={"query": _question(view), "documents": documents}, reason=reason)


def _leading_topics(view: ResearchView) -> tuple[str, str] | None:
    """Document and name of the leading diagnosis of a case."""
    ranking = view.differential.ranking if view.differential else ()
    return (f"library:{ranking[0].disease}", ranking[0].name) if view.kind == "case" and ranking else None


def _likely(view: ResearchView) -> list[str]:
    """Names of the first diseases that together hold half of the belief: what one must know about."""
    names: list[str] = []
    belief = 0.0
    for disease in (view.differential.ranking if view.differential else ())[:LEADING]:
        names.append(disease.name)
        belief += disease.score
        if belief >= LEADS:
            break
    return names


def _about_leading(document: str, name: str) -> PlannedCall:
    query = f"{name}: how is it diagnosed and which tests, how is it treated, when to seek urgent help?"
    reason = f"read how {name} is confirmed and treated, and what makes it urgent"
    return PlannedCall(tool=PASSAGES, arguments={"query": query, "documents": [document]}, reason=reason)


def _relaxed(view: ResearchView) -> list[PlannedCall]:
    """A wider search: fewer words, more documents."""
    terms = leading_terms(view.differential)[:RELAXED_TERMS] or key_words(view.question)
    query = subject(view.question) or ", ".join(terms) or _question(view)
    arguments = {"query": query[:MAX_QUERY], "limit": RELAXED_LIMIT, **({"terms": terms} if terms else {})}
    return [PlannedCall(tool=LITERATURE, arguments=arguments, reason="nothing was found yet: search once more, wider")]


def leading_terms(differential: Differential | None) -> list[str]:
    """Names of the findings of the leading disease, then of the case's others; first the disease, where it leads."""
    if differential is None:
        return []
    best = differential.ranking[0] if differential.ranking else None
    stated = [f for f in differential.findings if f.id and f.present]
    known = best.findings_for if best else ()
    ordered = sorted(stated, key=lambda f: (f.name not in known and f.id not in known, -f.score))
    named = [best.name] if best and best.score >= LEADS else []
    return unique([*named, *(f.name for f in ordered)])[:TERMS]


def specific_question(text: str) -> str:
    """The question that a case ends in, unless it only asks what the matter is; "" without one."""
    asked = [s for s in parts(text) if is_question(s) and not GENERIC.search(s)]
    return asked[-1][:MAX_QUERY] if asked else ""


def key_words(text: str) -> list[str]:
    """The longest words of a question, in its order: usually what it is about. None for a Chinese text."""
    words = unique([w for w in WORD.findall(text.lower()) if w not in STOP and w.isascii() and len(w) > 3])
    longest = sorted(words, key=len, reverse=True)[:RELAXED_TERMS]
    return [w for w in words if w in longest]


def _question(view: ResearchView) -> str:
    return (without_given(without_allergens(view.question)) if view.kind == EVIDENCE else view.question)[:MAX_QUERY]


# The short way: a question that a stored one answers is answered from there, and nothing else is searched (QB-RAG).

EVIDENCE = "evidence"  # a case, or a multiple-choice question, is never answered by one stored question


class PlannerShortWay:
    """Looks first whether a stored question asks the same; else the planner that stands behind it plans.

    It plans too where the short way brought nothing that is kept: one round later, with one round less.

    Args:
        inner: plans the long way. answers: whether the collection answers a question directly: one search by meaning,
            without a language model.
        keeps: whether the selection of documents keeps anything of what was found.
    """

    def __init__(
        self, inner: Planner, answers: Callable[[str], bool], keeps: Callable[[ResearchView], Awaitable[bool]]
    ) -> None:
        self._inner, self._answers, self._keeps = inner, answers, keeps

    async def plan(self, view: ResearchView) -> list[PlannedCall]:
        """The one call of the short way, and nothing after it; else the calls of the long way."""
        question = _question(view)
        first = [call.tool for call in view.made if call.round == 1]
        if view.kind != EVIDENCE or (view.round > 1 and first != [ANSWERED]):
            return await self._inner.plan(view)
        if not await asyncio.to_thread(self._answers, question):
            return await self._inner.plan(view)
        if view.round == 1:
            reason = "the collection is known to answer this question"
            return [PlannedCall(tool=ANSWERED, arguments={"question": question}, reason=reason)]
        if view.round == 2 and view.evidence and await self._keeps(view):
            return []
        return await self._inner.plan(view.model_copy(update={"round": view.round - 1}))
