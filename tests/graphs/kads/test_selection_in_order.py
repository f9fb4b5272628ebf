"""A selection without KADS: in the order found, passages first, generated and retrieved text in turn."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from graphs.kads.contract import Selection
from graphs.kads.local import SelectorInOrder
from tools.evidence import Evidence, Found, Origin, Status


def document(name: str, tool: str = "search_literature", **more: object) -> Evidence:
    fields = {"id": f"library:{name}@0-4", "text": "text", "kind": "condition", "origin": Origin.RETRIEVED}
    return Evidence.model_validate({**fields, "found": [Found(tool=tool, stream="words", query="q", rank=1)], **more})


def written(name: str) -> Evidence:
    return Evidence(id=f"generated:{name}", text="text", kind="background", origin=Origin.GENERATED)


def select(candidates: Sequence[Evidence], limit: int) -> Selection:
    return asyncio.run(SelectorInOrder().select("q", ["treatment"], candidates, limit))


def test_every_candidate_is_kept_or_dropped_once_and_retracted_work_never_stays() -> None:
    candidates = [document("a", status=Status.RETRACTED), document("b"), document("c"), document("d"), document("b")]
    selection = select(candidates, 2)
    assert [k.evidence_id for k in selection.kept] == ["library:b@0-4", "library:c@0-4"]
    assert {d.evidence_id: d.reason for d in selection.dropped} == {
        "library:a@0-4": "retracted",
        "library:d@0-4": "beyond the first 2 in the order found",
    }


def test_passages_stand_first_and_the_two_kinds_take_turns() -> None:
    candidates = [document("a"), document("b"), document("p", "retrieve_passages"), written("g"), written("h")]
    selection = select(candidates, 4)
    order = ["library:p@0-4", "generated:g", "library:a@0-4", "generated:h"]
    assert [k.evidence_id for k in selection.kept] == order
    assert selection.generated_share == 0.5
    assert select([], 5).kept == ()


def test_passages_stand_for_their_documents_and_for_full_texts_handed_on_whole() -> None:
    text = "text " * 500
    whole = document("long", id=f"pmc:PMC1@0-{len(text)}", text=text, kind="full_text")
    beside = document("croup", id="library:croup@9-13")
    candidates = [whole, document("croup"), document("gout"), document("croup", "retrieve_passages", id=beside.id)]
    selection = select(candidates, 5)
    assert [k.evidence_id for k in selection.kept] == ["library:croup@9-13", "library:gout@0-4"]
    assert {d.evidence_id for d in selection.dropped} == {whole.id, "library:croup@0-4"}
    assert [k.evidence_id for k in select([whole], 5).kept] == [whole.id]
