"""The model's planner: the same plan, its terms named by a language model (CoMeta, Adapt-E).

The model sees the text. What it names passes the same sieve as everything else before it leaves for PubMed, and the
rungs are built and linted by the same rules. When the model fails, the local planner plans, and a notice says so. Terms
that came with the call are planned by the rules, without asking the model again, as long as one of them may be sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial

from prompts.errors import ServiceError
from prompts.language_model import LanguageModel
from prompts.research import QueryPlanReply, TermReply
from tools.contract import Severity
from tools.literature.adapt_e.contract import (
    DateRange,
    Group,
    Intent,
    PlannedTerm,
    QueryPlanner,
    Rungs,
    SearchPlan,
    pico_of,
)
from tools.literature.adapt_e.entries import entry_of
from tools.literature.adapt_e.expressions import expressions
from tools.literature.adapt_e.limits import limits_in
from tools.literature.adapt_e.local import SYNONYMS
from tools.literature.privacy import clear
from tools.literature.terms import MAX_TERMS, clean_terms, word_weight
from tools.literature.vocabulary import Vocabulary
from tools.notices import noted
from tools.text.language import language_of


class QueryPlannerByModel:
    """Plans by a language model.

    Args:
        model: who names the terms.
        local: who plans when the model fails, or when terms that may be sent are named already.
        vocabulary: what is known of words, for the sieve.
        rungs: what the abstraction is made of.
    """

    def __init__(
        self, model: LanguageModel, local: QueryPlanner, vocabulary: Vocabulary, *, rungs: Rungs = "terms"
    ) -> None:
        self._model, self._local, self._vocabulary, self._rungs = model, local, vocabulary, rungs

    async def plan(self, text: str, *, case: bool, terms: Sequence[str] = ()) -> SearchPlan:
        """The plan of a text; see `QueryPlanner`."""
        if terms:
            named = await self._local.plan(text, case=case, terms=terms)
            if named.terms:
                return named
        try:
            cleared = clear(text, self._vocabulary)  # what it holds is held in the model's terms too
            reply, _ = await self._model.structured("query_plan", QueryPlanReply, question=text)
        except ServiceError as error:
            return await self._fallen_back(text, error.what, case=case)
        planned = self._planned(reply.terms)
        if not planned:
            return await self._fallen_back(text, "None of the model's terms may be sent.", case=case)
        dates, limits = _dates(reply), limits_in(text, case=case)
        weight = partial(word_weight, vocabulary=self._vocabulary)
        rungs, rejected = expressions(planned, dates, self._rungs, weight, limits)
        return SearchPlan(
            terms=tuple(planned),
            intent=Intent(reply.intent),
            pico=pico_of(planned),
            dates=dates,
            limits=tuple(limits),
            expressions=tuple(rungs),
            rejected=tuple(rejected),
            planner=self._model.name,
            held=cleared.held,
        )

    async def _fallen_back(self, text: str, what: str, *, case: bool) -> SearchPlan:
        plan = await self._local.plan(text, case=case)
        notice = noted("search_planned_locally", language_of(text), Severity.WARNING, detail=what)
        return plan.model_copy(update={"notices": (*plan.notices, notice)})

    def _planned(self, named: Sequence[TermReply]) -> list[PlannedTerm]:
        """The terms that pass the sieve, as strictly as a case's: the model may have copied from one."""
        planned: dict[str, PlannedTerm] = {}
        for place, item in enumerate(named):
            for term in self._clean([item.text])[:1]:
                entry = entry_of(term)
                others = [s for s in self._clean(item.synonyms) if s.lower() != term.lower()]
                planned.setdefault(
                    term.lower(),
                    PlannedTerm(
                        text=term,
                        group=Group(item.group),
                        synonyms=tuple((*(entry.also if entry else ()), *others)[:SYNONYMS]),
                        broader=next(iter(self._clean([item.broader])), "") if item.broader else "",
                        mesh=entry.mesh if entry else "",  # a heading that a model typed is not trusted
                        weight=float(len(named) - place),
                    ),
                )
        return list(planned.values())[:MAX_TERMS]

    def _clean(self, terms: Sequence[str]) -> list[str]:
        return [t.text for t in clean_terms(terms, self._vocabulary, case=True)]


def _dates(reply: QueryPlanReply) -> DateRange | None:
    first, last = reply.since, reply.until
    if first is None and last is None:
        return None
    if first is not None and last is not None and first > last:
        first, last = last, first
    return DateRange(
        since=date(first, 1, 1) if first else None, until=date(last, 12, 31) if last else None, because="the model"
    )
