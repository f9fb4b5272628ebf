"""The filter switched off: everything stays but retracted work, and no verdict says anything of a document."""

from __future__ import annotations

import asyncio

from graphs.differential_filter.local import DocumentFilterOff
from tools.evidence import Evidence, Origin, Status


def document(name: str, status: Status) -> Evidence:
    return Evidence(id=f"library:{name}@0-4", text="text", kind="condition", origin=Origin.RETRIEVED, status=status)


def test_all_but_retracted_work_stays() -> None:
    documents = [document("a", Status.OK), document("b", Status.RETRACTED), document("c", Status.CONCERN)]
    verdicts = asyncio.run(DocumentFilterOff().judge("q", "case", [], None, documents))
    assert [(v.evidence_id, v.keep) for v in verdicts] == [
        (documents[0].id, True),
        (documents[1].id, False),
        (documents[2].id, True),
    ]
    assert verdicts[0].reason == "kept without judgement: the filter is switched off"
    assert verdicts[0].support == 0.0
