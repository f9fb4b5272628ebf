"""A differential by questions and answers: the ranking of a case, the next best question, and what a reply changes."""

from __future__ import annotations

from enum import StrEnum

from graphs.nodes.triage import overturned
from graphs.triage.asked import explained, read_asked
from graphs.triage.contract import AskedQuestion, Aspect, Kind, RedFlag, SessionView, TriageDecision
from graphs.triage.emergency import red_flags
from graphs.triage.facts import changes_in, facts_of, text_of
from graphs.triage.follow_up import says_yes
from graphs.triage.local import TriageLocal
from tools.contract import Differential, Finding, FollowUpQuestion
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.questions import PLACE
from tools.text.language import language_of

RANKED = 10  # diseases ranked; ours, as a look-up gives


class Read(StrEnum):
    """How a reply was taken."""

    ANSWER = "answer"
    MORE = "more"
    WHY = "why"
    OTHER_PATIENT = "other_patient"
    WHERE = "where"
    UNREAD = "unread"


class Interview:
    """One patient's case, question by question. Replies are read as in a chat session.

    Attributes:
        language: of the case, ``en`` or ``zh``.
        differential: the ranking now. emergency: signs of an emergency told so far.
    """

    def __init__(self, graph: KnowledgeGraph, case: str) -> None:
        self._graph, self._triage = graph, TriageLocal()
        self._facts, self._turn, self.language = facts_of(case, 1), 1, language_of(case)
        self._known: list[Finding] = []
        self.emergency: tuple[RedFlag, ...] = red_flags(case, self.language)
        self.differential: Differential = self._ranked()

    @property
    def case(self) -> str:
        """The case as told so far."""
        return text_of(self._facts)

    @property
    def question(self) -> FollowUpQuestion | None:
        """The next best question; None when no answer is expected to change much."""
        return next(iter(self.differential.questions), None)

    def reply(self, text: str) -> Read:
        """Take a reply to the question, or anything else that is told of the patient; the ranking is made anew."""
        question = self.question
        asked = None if question is None else AskedQuestion(finding=question.finding, text=question.text)
        self._turn += 1
        view = SessionView(
            messages=(self.case,), turn=self._turn, facts=self._facts, kind="case", question=self.case, asked=asked
        )
        explain = explained(text, read_asked(text, view), view)
        if explain is not None and explain.aspect in (Aspect.WHY, Aspect.QUESTION):
            return Read.WHY
        decision = self._triage.decide_now(text, view)
        if decision.new_case:
            return Read.OTHER_PATIENT
        if _only_yes(text, decision):
            return Read.WHERE
        put_right = changes_in(decision.facts, self._turn)
        if decision.answered is not None:
            self._known = [k for k in self._known if k.id != decision.answered.id] + [decision.answered]
        elif decision.kind is Kind.CASE and decision.case != self.case:
            self._known = [k for k in self._known if not overturned(k.name, put_right)]
        else:
            return Read.UNREAD
        before, self._facts = self._facts, decision.facts
        found = self._ranked()
        flagged = {f.code for f in decision.red_flags} - {f.code for f in self.emergency}
        told = decision.answered is not None or put_right or flagged
        if not told and _same(found, self.differential):
            self._facts = before
            return Read.UNREAD
        self.emergency, self.differential = decision.red_flags, found
        return Read.MORE if decision.answered is None else Read.ANSWER

    def _ranked(self) -> Differential:
        return self._graph.look_up(self.case, self.language, RANKED, self._known)


def _only_yes(text: str, decision: TriageDecision) -> bool:
    """Whether a place was asked for and none is named: a yes alone tells nothing."""
    answer = decision.answered
    return answer is not None and answer.id == PLACE and answer.present is None and says_yes(text)


def _same(one: Differential, other: Differential) -> bool:
    """Whether two rankings are equal: nothing that the graph knows was told between them."""
    return [(r.disease, r.score) for r in one.ranking] == [(r.disease, r.score) for r in other.ranking]
