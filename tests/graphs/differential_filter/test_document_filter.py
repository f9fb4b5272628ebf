"""The contract of a document filter, held against all twins, and what is the local one's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from graphs.differential_filter.by_model import DocumentFilterByModel
from graphs.differential_filter.contract import DocumentFilter, Stance, Verdict
from graphs.differential_filter.local import DocumentFilterLocal
from graphs.judging.key_terms import KeyTerms
from graphs.kads.by_model import ChooserByModel
from graphs.kads.local import SelectorInOrder
from support.judging_models import chooses_by_words, judges_by_words, model_by
from support.ranked import ranked
from tools.contract import Differential, Finding
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin, Status

CASE = "Sharp chest pain on breathing in and breathlessness since this morning, no fever."


def finding(name: str, present: bool | None = True, **more: object) -> Finding:
    return Finding.model_validate(
        {"id": name.replace(" ", "-"), "name": name, "clause": name, "present": present, **more}
    )


def document(name: str, text: str, **more: object) -> Evidence:
    return Evidence.model_validate(
        {"id": f"library:{name}@0-{len(text)}", "text": text, "kind": "condition", "origin": Origin.RETRIEVED, **more}
    )


FINDINGS = [finding("pleuritic chest pain"), finding("breathlessness"), finding("fever", present=False)]
DIFFERENTIAL = Differential(
    ranking=(
        ranked(
            "spontaneous-pneumothorax",
            0.6,
            name="Spontaneous pneumothorax",
            name_zh="自发性气胸",
            findings_for=("dyspnoea",),
        ),
        ranked("pneumonia", 0.2, name="Pneumonia", findings_for=("dyspnoea",)),
    )
)
PNEUMOTHORAX = document(
    "spontaneous-pneumothorax",
    "Sudden pleuritic chest pain with breathlessness is typical. Fever is absent.",
    title="Spontaneous pneumothorax",
)
PNEUMONIA = document(
    "pneumonia", "Fever is typical and most adults have it, with a productive cough.", title="Pneumonia"
)
HERNIA = document("inguinal-hernia", "A lump in the groin that appears on standing.", title="Inguinal hernia")


@pytest.fixture(params=["local", "model", "one call"])
def document_filter(request: pytest.FixtureRequest, encoder: Encoder) -> Iterator[DocumentFilter]:
    local = DocumentFilterLocal(encoder)
    if request.param == "local":
        yield local
        return
    one_call = request.param == "one call"
    with model_by("filter", chooses_by_words if one_call else judges_by_words) as (model, _):
        yield ChooserByModel(model, SelectorInOrder(), local) if one_call else DocumentFilterByModel(model, local)


def judge(
    document_filter: DocumentFilter,
    documents: Sequence[Evidence],
    kind: str = "case",
    question: str = CASE,
    findings: Sequence[Finding] = FINDINGS,
) -> list[Verdict]:
    differential = DIFFERENTIAL if kind == "case" else None
    return asyncio.run(document_filter.judge(question, kind, findings, differential, documents))


def test_one_verdict_a_document_in_order(document_filter: DocumentFilter) -> None:
    documents = [HERNIA, PNEUMOTHORAX, PNEUMONIA]
    verdicts = judge(document_filter, documents)
    assert [v.evidence_id for v in verdicts] == [d.id for d in documents]
    assert all(0 <= v.support <= 1 and v.reason for v in verdicts)
    assert judge(document_filter, []) == []


def test_a_case_keeps_what_supports_and_drops_the_rest(document_filter: DocumentFilter) -> None:
    hernia, pneumothorax = judge(document_filter, [HERNIA, PNEUMOTHORAX])
    assert (hernia.keep, hernia.stance) == (False, Stance.IRRELEVANT)
    assert (pneumothorax.keep, pneumothorax.stance) == (True, Stance.SUPPORTS)
    assert pneumothorax.support > hernia.support


def test_a_conflict_is_named(document_filter: DocumentFilter) -> None:
    (verdict,) = judge(document_filter, [PNEUMONIA])
    assert (verdict.keep, verdict.stance) == (False, Stance.CONFLICTS)
    assert "fever" in verdict.reason.lower()


def test_a_retracted_document_never_stays(document_filter: DocumentFilter) -> None:
    retracted = PNEUMOTHORAX.model_copy(update={"status": Status.RETRACTED})
    for kind in ("case", "evidence"):
        (verdict,) = judge(document_filter, [retracted], kind, "What is typical of pneumothorax?")
        assert not verdict.keep


def test_an_evidence_question_keeps_what_refutes(document_filter: DocumentFilter) -> None:
    refuting = document("a", "Antibiotics do not help acute bronchitis and cause side effects.")
    supporting = document("b", "Antibiotics help people with acute bronchitis recover sooner.")
    question = "Do antibiotics help acute bronchitis?"
    no, yes, off = judge(document_filter, [refuting, supporting, HERNIA], "evidence", question, [])
    assert (no.keep, yes.keep) == (True, True)
    assert (off.keep, off.stance) == (False, Stance.IRRELEVANT)


def test_a_finding_that_the_document_denies_conflicts_with_one_that_is_present(encoder: Encoder) -> None:
    denied = document("x", "Fever is absent and there is no cough.", title="Spontaneous pneumothorax")
    (verdict,) = judge(DocumentFilterLocal(encoder), [denied], findings=[finding("fever"), finding("cough")])
    assert verdict.stance is Stance.CONFLICTS
    assert "conflict on fever" in verdict.reason


def test_findings_denied_on_both_sides_agree(encoder: Encoder) -> None:
    denied = document("x", "Fever is absent.", title="Spontaneous pneumothorax")
    (verdict,) = judge(DocumentFilterLocal(encoder), [denied], findings=[finding("fever", present=False)])
    assert verdict.keep
    assert "agrees on fever" in verdict.reason


def test_what_is_said_of_other_diseases_is_no_conflict(encoder: Encoder) -> None:
    text = "Fever is typical of pneumonia."
    others = document("x", text, title="Spontaneous pneumothorax", section="Confused with")
    (verdict,) = judge(DocumentFilterLocal(encoder), [others])
    assert verdict.keep
    assert "conflict" not in verdict.reason


def test_a_document_about_no_leading_disease_needs_two_findings(encoder: Encoder) -> None:
    two = document("y", "Pleuritic chest pain and breathlessness bring many people to hospital.")
    one = document("z", "Breathlessness brings many people to hospital.")
    kept, left = judge(DocumentFilterLocal(encoder), [two, one])
    assert kept.keep
    assert not left.keep
    assert "states only breathlessness" in left.reason


def test_wordings_of_the_graph_are_recognised(encoder: Encoder) -> None:
    wordings = {"dyspnoea": ("short of breath",), "fever": ()}
    document_filter = DocumentFilterLocal(encoder, lambda name: wordings.get(name, ()))
    text = document("y", "People are short of breath and have a stabbing pain.", title="Spontaneous pneumothorax")
    (verdict,) = judge(document_filter, [text], findings=[finding("dyspnoea", id="dyspnoea")])
    assert "agrees on dyspnoea" in verdict.reason


def test_a_chinese_document_is_recognised_by_the_chinese_name(encoder: Encoder) -> None:
    text = document("zh", "自发性气胸常见突发胸痛。", language="zh", title="自发性气胸")
    (verdict,) = judge(DocumentFilterLocal(encoder), [text])
    assert verdict.keep
    assert "Spontaneous pneumothorax" in verdict.reason


def test_what_may_be_absent_or_looks_normal_is_no_conflict(encoder: Encoder) -> None:
    text = "Fine crackles on both sides are heard. Some older people have no fever."
    passage = document("x", text, title="Spontaneous pneumothorax")
    (verdict,) = judge(DocumentFilterLocal(encoder), [passage], findings=[finding("fever"), finding("crackles")])
    assert verdict.keep
    assert "conflict" not in verdict.reason


def test_a_document_that_holds_a_name_which_no_vector_knows_is_relevant(encoder: Encoder) -> None:
    asked = "Which diseases are related to mutations of the gene QRV25A46?"
    named = document("a", "In crops of barley the yield rose where QRV25A46 had been sprayed.", title="Yields")
    other = document("b", "In crops of barley the yield rose.", title="Yields")
    plain = DocumentFilterLocal(encoder)
    knowing = DocumentFilterLocal(encoder, strange=KeyTerms(encoder).strange)
    assert [v.keep for v in judge(plain, [named, other], "evidence", asked)] == [False, False]
    assert [v.keep for v in judge(knowing, [named, other], "evidence", asked)] == [True, False]


def test_a_page_on_children_is_none_on_a_grown_man(encoder: Encoder) -> None:
    page = document("a", "Cystitis is treated for three days.", title="Cystitis in children")
    asked = "How is cystitis treated"
    kept = [judge(DocumentFilterLocal(encoder), [page], "evidence", asked + who)[0].keep for who in ("?", " in men?")]
    assert kept == [True, False]
