"""Answerers to hold against their contract, and what they are asked; a twin joins by adding its factory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from agent.loop import run
from graphs.answering.contract import Answerer, AnswerView, Draft
from graphs.answering.local import AnswererLocal
from graphs.answering.ports import NoPages, Pages
from graphs.verdicts.local import VerdictJudgeLocal
from support.ranked import ranked
from support.scripted_reader import BESIDE, YES, ScriptedReader
from tools.contract import Differential, FollowUpQuestion, RankedDisease
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin, verify_citation
from tools.reading.contract import Reading
from tools.text.sentences import sentences
from tools.text.tokens import tokens

CROUP = (
    "Yes, a single dose of dexamethasone relieves the symptoms of croup within hours. "
    "It does not apply to children with epiglottitis. Croup is caused by a virus."
)
# What the reader says of it when it is asked whether dexamethasone helps.
READ = {
    "Yes, a single dose of dexamethasone relieves the symptoms of croup within hours.": YES,
    "It does not apply to children with epiglottitis.": BESIDE,
}

ENTRY = (
    "Spontaneous pneumothorax (自发性气胸) is air in the pleural space. Shortness of breath is usual. "
    "Chest pain that is worse on breathing in is usual. Fever is absent. Bluish lips are a red flag. 常有呼吸困难。"
)


def rank(query: str, texts: Sequence[str]) -> list[tuple[int, int, int, float]]:
    """Sentences by shared words: enough of a ranker for these tests."""
    wanted = set(tokens(query))
    spans = [(i, s.start, s.end, s.of(t)) for i, t in enumerate(texts) for s in sentences(t)]
    scored = [(i, a, b, len(wanted & set(tokens(t))) / max(len(wanted), 1)) for i, a, b, t in spans]
    return sorted(scored, key=lambda r: (-r[3], r[0], r[1]))


class Graph:
    """Entries of a graph with one disease."""

    def entry(self, disease: str, language: str) -> Evidence | None:
        return graph_entry() if disease == "spontaneous-pneumothorax" else None

    def sentence_for(self, disease: str, finding: str, language: str) -> tuple[int, int] | None:
        start = ENTRY.find("Shortness of breath")
        return (start, ENTRY.find(".", start) + 1) if finding == "dyspnoea" else None


def synonyms(text: str) -> dict[str, tuple[str, ...]]:
    return {
        name: english for name, english in {"喉炎": ("croup",), "地塞米松": ("dexamethasone",)}.items() if name in text
    }


Factory = Callable[[Encoder], Answerer]


class MethotrexatePage(NoPages):
    """The page of a medicine, which says whatever is looked for."""

    def said(self, id: str, text: str) -> Evidence | None:
        return document("methotrexate", text, title="Methotrexate") if id == "library:methotrexate" else None


def local(encoder: Encoder, table: Mapping[str, Reading] = READ, pages: Pages | None = None) -> AnswererLocal:
    judge, pages = VerdictJudgeLocal(ScriptedReader(table)), pages or MethotrexatePage()
    return AnswererLocal(rank, encoder, judge, Graph(), synonyms, lambda: date(2027, 1, 1), pages=pages)


FACTORIES: list[Factory] = [local]


def document(name: str, text: str, **more: Any) -> Evidence:
    fields: dict[str, Any] = {"kind": "condition", "origin": Origin.RETRIEVED, **more}
    return Evidence(id=f"library:{name}@0-{len(text)}", text=text, **fields)


def graph_entry() -> Evidence:
    return Evidence(
        id="graph:starter/spontaneous-pneumothorax",
        text=ENTRY,
        title="Spontaneous pneumothorax",
        kind="disease",
        origin=Origin.KNOWLEDGE_GRAPH,
    )


def differential(*more: RankedDisease) -> Differential:
    leader = ranked(
        "spontaneous-pneumothorax", 0.7, name="Spontaneous pneumothorax", name_zh="自发性气胸", icd10="J93.1",
        severity="emergency", findings_for=("dyspnoea", "chest pain that is worse on breathing in"),
        findings_against=("fever",), red_flags=("bluish lips",),
    )  # fmt: skip
    questions = tuple(FollowUpQuestion(finding=f"f{i}", text=f"Question {i}?", gain=1 - i / 10) for i in range(5))
    return Differential(ranking=(leader, *more), questions=questions)


def view(question: str, *evidence: Evidence, **more: Any) -> AnswerView:
    fields: dict[str, Any] = {"kind": "evidence", "language": "en", "path": "researched", **more}
    return AnswerView(question=question, evidence=evidence, **fields)


def answer(answerer: Answerer, asked: AnswerView, *, parametric: bool = False) -> Draft:
    """The draft, held to the contract; ``parametric`` allows statements without a citation that say so."""
    draft = run(answerer.answer(asked))
    known = {e.id: e for e in [*asked.evidence, *draft.evidence, *(a.evidence for a in asked.answered)]}
    for statement in draft.statements:
        assert statement.citations or parametric
        assert all(verify_citation(c, known[c.evidence_id]) for c in statement.citations)
    assert draft.abstained == all(s.text.startswith("General knowledge, not retrieved") for s in draft.statements)
    return draft


def codes(draft: Draft) -> set[str]:
    return {n.code for n in draft.notices}
