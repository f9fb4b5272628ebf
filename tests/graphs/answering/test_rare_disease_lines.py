"""Rare diseases in an answer: quoted from their entries, verified as any statement; a case that asks is a case."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from graphs.answering.contract import AnswerView, Draft
from graphs.answering.differential_answer import RareWriter
from graphs.triage.contract import Kind, SessionView
from graphs.triage.local import classify
from graphs.verification.local import VerifierLocal
from support.small_hpo import write_small_hpo
from tools.contract import Differential
from tools.encoders import Encoder
from tools.evidence import Origin, verify_citation
from tools.knowledge_graph.hpo.compiled import build
from tools.knowledge_graph.hpo.lookup import RareDiseases


@pytest.fixture
def rare(tmp_path: Path) -> RareDiseases:
    """The small ontology's diseases."""
    return RareDiseases(build(write_small_hpo(tmp_path)))


def test_each_line_quotes_its_entry_and_stands_verification(rare: RareDiseases, encoder: Encoder) -> None:
    ranking = rare.rank_terms(["HP:0000012", "HP:0000021"], limit=2).ranking
    entries = [rare.evidence_for(r.disease) for r in ranking]
    view = AnswerView(
        question="q", kind="case", language="en", path="researched", evidence=tuple(entries),
        differential=Differential(rare=ranking),
    )  # fmt: skip
    statements, cited = RareWriter().lines(view)
    assert cited == entries
    assert statements[0].text.startswith(
        "Nuclear lens disease. Rare disease to consider: Nuclear cataract is reported in 9"
    )
    assert statements[0].origin is Origin.KNOWLEDGE_GRAPH
    assert all(verify_citation(c, e) for s, e in zip(statements, cited, strict=True) for c in s.citations)
    draft = Draft(statements=tuple(statements), evidence=tuple(cited))
    checked = asyncio.run(VerifierLocal(encoder).verify(draft, {}))
    assert checked.statements == draft.statements


def test_without_a_section_there_is_no_line() -> None:
    view = AnswerView(question="q", kind="case", language="en", path="direct", differential=Differential())
    assert RareWriter().lines(view) == ([], [])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("My son is 8. His fingers are very long and his lenses slipped. Could this be a rare disease?", Kind.CASE),
        ("My son is 8. He has a rare disease. Which treatments are there?", Kind.EVIDENCE),
    ],
)
def test_a_patient_whose_rare_disease_is_asked_for_is_a_case(text: str, kind: Kind) -> None:
    assert (classify(text, SessionView()).kind is Kind.CASE) is (kind is Kind.CASE)
