"""The contract of a selector, held against all twins, and what is the local one's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from graphs.differential_filter.local import DocumentFilterLocal
from graphs.kads.by_model import ChooserByModel, SelectorByModel
from graphs.kads.contract import Selection, Selector
from graphs.kads.local import KadsSettings, SelectorLocal, spans_overlap
from support.judging_models import model_by, selects_by_words
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin, Status

TREATMENT = "A single oral dose of dexamethasone is the treatment of croup and relieves symptoms within hours."
DIAGNOSIS = "Croup is diagnosed by listening: a barking cough, hoarse voice and noisy breathing in make the diagnosis."
UNRELATED = "Inguinal hernia repair with mesh lowers recurrence compared with suture repair."
REQUIREMENTS = ["treatment of croup", "diagnosis of croup"]


def document(name: str, text: str, **more: object) -> Evidence:
    return Evidence.model_validate(
        {"id": f"library:{name}@0-{len(text)}", "text": text, "kind": "condition", "origin": Origin.RETRIEVED, **more}
    )


def generated(name: str, text: str) -> Evidence:
    return Evidence(id=f"generated:{name}", text=text, kind="background", origin=Origin.GENERATED)


def select(selector: Selector, candidates: Sequence[Evidence], wanted: Sequence[str], limit: int = 5) -> Selection:
    return asyncio.run(selector.select("How is croup recognised and treated?", wanted, candidates, limit))


@pytest.fixture(params=["local", "model", "one call"])
def selector(request: pytest.FixtureRequest, encoder: Encoder) -> Iterator[Selector]:
    local = SelectorLocal(encoder)
    if request.param == "local":
        yield local
        return
    with model_by("selection", selects_by_words) as (model, _):
        one_call = request.param == "one call"
        yield ChooserByModel(model, local, DocumentFilterLocal(encoder)) if one_call else SelectorByModel(model, local)


def test_every_candidate_is_kept_or_dropped_once(selector: Selector) -> None:
    candidates = [
        document("a", TREATMENT),
        document("b", DIAGNOSIS),
        document("c", UNRELATED),
        document("a", TREATMENT),
    ]
    selection = select(selector, candidates, REQUIREMENTS)
    ids = [k.evidence_id for k in selection.kept] + [d.evidence_id for d in selection.dropped]
    assert sorted(ids) == sorted({c.id for c in candidates})
    assert all(k.reason for k in selection.kept)
    assert all(d.reason for d in selection.dropped)


def test_one_document_for_each_requirement_within_the_limit(selector: Selector) -> None:
    more = document("d", "Dexamethasone treatment in croup: one dose of dexamethasone by mouth treats most children.")
    selection = select(selector, [document("a", TREATMENT), more, document("b", DIAGNOSIS)], REQUIREMENTS, limit=2)
    assert len(selection.kept) == 2
    assert {r for k in selection.kept for r in k.covers} == set(REQUIREMENTS)
    assert document("b", DIAGNOSIS).id in {k.evidence_id for k in selection.kept}


def test_unrelated_and_retracted_documents_are_dropped(selector: Selector) -> None:
    retracted = document("r", TREATMENT, status=Status.RETRACTED)
    selection = select(selector, [retracted, document("c", UNRELATED)], REQUIREMENTS)
    assert selection.kept == ()
    assert {d.evidence_id: d.reason for d in selection.dropped}[retracted.id] == "retracted"
    assert selection.generated_share == 0.0


def test_without_requirements_the_question_is_one(selector: Selector) -> None:
    selection = select(selector, [document("a", TREATMENT)], [])
    assert selection.requirements == ("How is croup recognised and treated?",)
    assert [k.evidence_id for k in selection.kept] == [document("a", TREATMENT).id]


def test_no_candidates(selector: Selector) -> None:
    selection = select(selector, [], REQUIREMENTS)
    assert (selection.kept, selection.dropped, selection.generated_share) == ((), (), 0.0)


def test_order_of_candidates_does_not_matter(encoder: Encoder) -> None:
    candidates = [document("b", TREATMENT), document("a", TREATMENT), document("c", DIAGNOSIS)]
    first = select(SelectorLocal(encoder), candidates, REQUIREMENTS)
    assert first == select(SelectorLocal(encoder), candidates[::-1], REQUIREMENTS)
    assert "library:a" in " ".join(k.evidence_id for k in first.kept)
    dropped = {d.evidence_id: d.reason for d in first.dropped}
    assert "near-duplicate of library:a" in dropped[document("b", TREATMENT).id]


def test_overlapping_spans_of_one_document(encoder: Encoder) -> None:
    text = f"{TREATMENT} {DIAGNOSIS}"
    whole = document("croup", text)
    part = Evidence(
        id=f"library:croup@10-{len(TREATMENT)}",
        text=text[10 : len(TREATMENT)],
        kind="condition",
        origin=Origin.RETRIEVED,
    )
    selection = select(SelectorLocal(encoder), [whole, part], REQUIREMENTS)
    assert len(selection.kept) == 1
    assert "overlaps the same span" in selection.dropped[0].reason
    assert spans_overlap("library:a@0-100", "library:a@80-180") == pytest.approx(0.2)
    assert spans_overlap("library:a@0-100", "library:b@0-100") == 0.0


def test_generated_text_never_outnumbers_retrieved_text(encoder: Encoder) -> None:
    candidates = [
        generated("1", "The treatment of croup is dexamethasone."),
        generated("2", "The diagnosis of croup rests on a barking cough."),
        document("a", "Croup treatment usually includes dexamethasone, with adrenaline in severe cases."),
    ]
    guarded = select(SelectorLocal(encoder), candidates, REQUIREMENTS)
    assert guarded.generated_share <= 0.5
    assert any("may not outnumber" in d.reason for d in guarded.dropped)
    free = select(SelectorLocal(encoder, KadsSettings(guard=False)), candidates, REQUIREMENTS)
    assert free.generated_share == pytest.approx(2 / 3)


def test_generated_text_stands_only_for_what_no_retrieved_text_covers(encoder: Encoder) -> None:
    background = generated("1", "The treatment of croup is dexamethasone, in one dose, and nebulised adrenaline.")
    kept = select(SelectorLocal(encoder), [document("a", TREATMENT), background], ["treatment of croup"]).kept
    assert [k.evidence_id for k in kept] == [document("a", TREATMENT).id]
    alone = select(SelectorLocal(encoder), [document("b", DIAGNOSIS), background], REQUIREMENTS)
    assert background.id in [k.evidence_id for k in alone.kept]


def test_reasons_name_requirement_gain_and_overlap(encoder: Encoder) -> None:
    selection = select(SelectorLocal(encoder), [document("a", TREATMENT), document("b", DIAGNOSIS)], REQUIREMENTS)
    assert "covers 'treatment of croup'" in " ".join(k.reason for k in selection.kept)
    assert "adds" in selection.kept[0].reason
    assert "overlaps" in selection.kept[1].reason
