"""Turns that ask about what was said: no search, the session's own material, quotes that hold."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.settings import Settings
from graphs.answering.contract import Answer, AnswerView, Said
from graphs.answering.local import AnswererLocal
from graphs.answering.presentation import present
from graphs.triage.contract import Aspect, Explain
from graphs.verdicts.contract import Certainty, Verdict, VerdictValue
from graphs.verdicts.local import VerdictJudgeLocal
from graphs.verification.local import VerifierLocal
from support.answerers import local
from support.machine_parts import Scripted, parts
from support.scripted_reader import ScriptedReader
from tools.contract import Differential, Finding, FollowUpQuestion, RankedDisease
from tools.encoders import MiniLMEncoder
from tools.evidence import Evidence, Origin, Statement, cite

TEXTS = {
    "croup": "Croup usually presents with barking cough. Croup is made less likely by rash. "
    "Croup usually presents with fever.",
    "asthma": "Asthma usually presents with wheeze. Asthma often presents with cough.",
}


class Entries:
    def entry(self, disease: str, language: str) -> Evidence | None:
        if disease not in TEXTS:
            return None
        return Evidence(
            id=f"graph:t/{disease}",
            text=TEXTS[disease],
            title=disease.title(),
            kind="graph_entry",
            origin=Origin.KNOWLEDGE_GRAPH,
        )

    def sentence_for(self, disease: str, finding: str, language: str) -> tuple[int, int] | None:
        at = TEXTS[disease].find(f" {finding}.")
        if at < 0:
            return None
        return TEXTS[disease].rfind(". ", 0, at) + 2 if ". " in TEXTS[disease][:at] else 0, at + len(finding) + 2


CROUP = RankedDisease(
    disease="croup", name="Croup", icd10="J05", l2="x", l1="y", score=0.8, severity="routine",
    evidence_id="graph:t/croup",
    findings_for=("barking cough",), missing=("fever",),
)  # fmt: skip
QUESTION = FollowUpQuestion(finding="fever", text="Is there fever?", gain=0.4)
FOUND = (Finding(id="cough", name="cough", clause="has a cough"),)


def explained(
    aspect: Aspect, about: str = "", differential: Differential | None = None
) -> tuple[set[str], list[str], bool]:
    """Codes, statements that the verifier keeps, and whether the turn abstains."""
    ranked = differential or Differential(ranking=(CROUP,), findings=FOUND, questions=(QUESTION,))
    said = Said(asked=Explain(aspect=aspect, about=about, named=about), case="has a cough")
    if differential is not None and not differential.ranking:
        said = Said(asked=said.asked)
    view = AnswerView(question="why?", kind="explain", language="en", path="session", differential=ranked, said=said)
    encoder = MiniLMEncoder(bf16=False)
    draft = asyncio.run(
        AnswererLocal(lambda _q, _t: [], encoder, VerdictJudgeLocal(ScriptedReader({})), Entries()).answer(view)
    )
    verified = asyncio.run(VerifierLocal(encoder).verify(draft, {}))
    return {n.code for n in verified.notices}, [s.text for s in verified.statements], verified.abstained


def test_why_quotes_what_fits_and_what_else_is_usual() -> None:
    codes, (line,), _ = explained(Aspect.WHY)
    assert "Fits this case: Croup usually presents with barking cough." in line
    assert "Also usual: Croup usually presents with fever." in line
    assert "read_from_case" in codes


def test_a_disease_outside_the_ranking_is_compared_with_the_case() -> None:
    codes, lines, _ = explained(Aspect.WHY, "asthma")
    assert "not_ranked" in codes
    assert "Fits this case: Asthma often presents with cough." in lines[0]


@pytest.mark.parametrize(("about", "code"), [("unheard-of", "no_entry"), ("", "nothing_said_before")])
def test_what_the_session_does_not_hold_is_not_invented(about: str, code: str) -> None:
    codes, lines, abstained = explained(Aspect.WHY, about, None if about else Differential())
    assert (code in codes, lines, abstained) == (True, [], True)


def monograph(name: str, text: str) -> Evidence:
    level = "monograph (not clinically reviewed)"
    named = f"library:{name}@0-{len(text)}"
    return Evidence(id=named, text=text, title=name, kind="monograph", origin=Origin.RETRIEVED, level=level)


SAID = monograph("bronchitis", "Antibiotics hardly shorten acute bronchitis. They often do harm.")
DOUBTFUL = monograph("cough", "In acute bronchitis the benefit of antibiotics is uncertain.")


@pytest.mark.parametrize(
    ("beside", "verdict", "told", "lines"),
    [
        ([], None, "it rests on one source (monograph (not clinically reviewed)); its sources state no doubt", 1),
        ([DOUBTFUL], None, "what its sources say of doubt is quoted", 2),
        ([], Certainty.LOW, "The certainty of the evidence is low: 2 small trials; its sources state no doubt", 1),
    ],
)
def test_how_sure_an_answer_from_evidence_is_is_told_and_the_answer_not_repeated(
    beside: list[Evidence], verdict: Certainty | None, told: str, lines: int
) -> None:
    graded = (
        Verdict(value=VerdictValue.NO, statements=("x",), certainty=verdict, reason="2 small trials")
        if verdict
        else None
    )
    first, second = (0, 44), (45, 64)
    statements = [
        Statement(text=SAID.text[a:b], origin=SAID.origin, citations=(cite(SAID, a, b),)) for a, b in (first, second)
    ]
    answer = Answer(
        question="Do antibiotics help in acute bronchitis?", kind="evidence", language="en", statements=statements,
        evidence=[SAID, *beside], verdict=graded,
    )  # fmt: skip
    said = Said(asked=Explain(aspect=Aspect.SURE, of_case=False), answer=answer)
    view = AnswerView(question="How sure are you?", kind="explain", language="en", path="session", said=said)
    draft = asyncio.run(local(MiniLMEncoder(bf16=False)).answer(view))
    (notice,) = [n for n in draft.notices if n.code.startswith("certainty_")]
    assert told in notice.text
    assert len(draft.statements) == lines, "the rest of the answer is told once more"
    assert statements[0] in draft.statements
    told_on = {"kind": "explain", "statements": [*draft.statements], "notices": [*draft.notices], "verdict": None}
    shown = present(answer.model_copy(update=told_on))
    assert shown.lead.head == notice.text


def test_the_turn_goes_past_research_and_keeps_the_question_asked(tmp_path: Path) -> None:
    script = Scripted()
    with Agent(Settings(home=tmp_path / "home"), parts=parts(script)) as agent:
        session = agent.session()
        session.ask("case: this is enough")
        script.log.clear()
        answer: Answer = session.ask("why")
        assert script.log == ["triage", "answer", "verify"]
        assert (answer.kind, answer.usage.tool_calls) == ("explain", 0)
        assert script.views[-1].said.answer is None  # the case had no ranked disease
        session.ask("yes")
    assert script.views[-1].kind == "case"


def test_questions_that_were_shown_and_not_answered_are_known_as_asked(tmp_path: Path) -> None:
    script = Scripted()
    with Agent(Settings(home=tmp_path / "home"), parts=parts(script)) as agent:
        session = agent.session()
        session.ask("case: this is enough")  # ends with questions about fever and cough
        assert "look up with 0 known" in script.log
        session.ask("case: this is enough too")
    assert script.log[-1] != "look up with 0 known"
    assert "look up with 2 known" in script.log
