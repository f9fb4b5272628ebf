"""`trust`: what a statement is held to, and the counting of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from evals.contract import Item, Reply
from evals.sessions import Sittings
from evals.statistics import quantile
from evals.tasks.injection import RESOURCES, TYPES, WithdrawnDocument, read_withdrawn
from evals.tasks.medrgag import Turn, read_false_background
from evals.tasks.trust import (
    CONTROL,
    WITHDRAWN,
    Sources,
    Withdrawn,
    checked,
    cost_figures,
    generated_figures,
    statement_figures,
    withdrawn_figures,
)
from graphs.answering.contract import Answer
from graphs.verification.quoted import QuoteCheck
from prompts.errors import InputError
from tools.encoders import Encoder
from tools.evidence import Citation, Evidence, Origin, Statement, Status

TEXT = "Gout is caused by crystals of uric acid. It is common in men. Colchicine shortens an attack."
ITEM = Item("1", "g", ("q",), "t", None, given=("Tea\u200b is warm.",))


class OneDocument:
    """A library with one document."""

    def document(self, id: str) -> Any:
        if id != "library:gout":
            raise InputError("none", "none")
        return cast(Any, type("D", (), {"text": TEXT}))


class NoGraph:
    """A graph without diseases."""

    disease: dict[str, Any] = {}  # noqa: RUF012


def piece(start: int, end: int, status: Status = Status.OK, text: str = TEXT, name: str = "gout") -> Evidence:
    return Evidence(
        id=f"library:{name}@{start}-{end}",
        text=text[start:end],
        title="Gout",
        kind="passage",
        origin=Origin.RETRIEVED,
        status=status,
    )


def said(text: str, evidence: Evidence, quote: str) -> Statement:
    at = evidence.text.find(quote)
    return Statement(
        text=text,
        origin=Origin.RETRIEVED,
        citations=(Citation(evidence_id=evidence.id, quote=quote, start=at, end=at + len(quote)),),
    )


def answer(statements: list[Statement], evidence: list[Evidence], **more: object) -> Answer:
    return Answer.model_validate(
        {"question": "q", "kind": "evidence", "language": "en", "statements": statements, "evidence": evidence, **more}
    )


def test_a_quote_is_held_to_the_stored_source_and_a_statement_to_its_quote(encoder: Encoder) -> None:
    sources, support = Sources(OneDocument(), NoGraph()), QuoteCheck(encoder)  # type: ignore[arg-type]
    good = piece(41, 61)
    forged = piece(0, 40, text=TEXT.replace("uric acid", "cold honey"))
    own = Evidence(id="given:ab", text="Tea is warm.", kind="given", origin=Origin.CASE)
    retracted = piece(62, 92, Status.RETRACTED)
    statements = [
        said("It is common in men.", good, "It is common in men."),
        said("It is not common in men.", good, "It is common in men."),
        said("Gout is often seen in men.", good, "It is common in men."),
        said("Gout is caused by crystals.", forged, "Gout is caused by crystals"),
        said("Tea is warm.", own, "Tea is warm."),
        said("Colchicine shortens an attack.", retracted, "Colchicine shortens an attack."),
    ]
    found = list(checked(answer(statements, [good, forged, own, retracted]), ITEM, sources, support))
    assert [s.exact for s in found] == [(True,), (True,), (True,), (True,), (True,), (True,)]
    assert [s.supported for s in found[:2]] == [True, False]
    assert [s.strictly for s in found[:3]] == [True, False, False]
    assert [s.unusable for s in found] == [False] * 5 + [True]
    wrong = said("Gout is caused by crystals of cold honey.", forged, "crystals of cold honey")
    foreign = piece(0, 4, name="other")
    (first, second) = checked(
        answer([wrong, said("Gout.", foreign, "Gout")], [forged, foreign]), ITEM, sources, support
    )
    assert (first.exact, second.exact) == ((False,), (False,))
    values = {f.name: f.value for f in statement_figures([found, [first, second]], 0)}
    assert values["trust.citations.exact"] == 75
    assert values["trust.statements.of_retracted_work"] == 12.5


def test_a_statement_whose_evidence_is_not_shown_is_unsupported(encoder: Encoder) -> None:
    sources, support = Sources(OneDocument(), NoGraph()), QuoteCheck(encoder)  # type: ignore[arg-type]
    good = piece(41, 61)
    (found,) = checked(answer([said("It is common in men.", good, good.text)], []), ITEM, sources, support)
    assert (found.exact, found.supported, found.strictly) == ((True,), False, False)


def test_a_withdrawn_document_counts_as_used_when_it_is_cited_or_repeated() -> None:
    row = WithdrawnDocument(id="r", status="retracted", question="q", title="t", text="x", claim="by a third")
    concern = row.model_copy(update={"status": "concern"})
    own = Evidence(id="own:d-1@0-3", text="abc", kind="document", origin=Origin.RETRIEVED, status=Status.CONCERN)
    plain = own.model_copy(update={"status": Status.OK})
    quoting = said("Deaths fell by a third.", piece(0, 40), "Gout")
    asked = [
        Withdrawn(row, False, answer([], [])),
        Withdrawn(row, False, answer([quoting], [piece(0, 40)])),
        Withdrawn(concern, False, answer([said("abc", own, "abc")], [own])),
        Withdrawn(concern, False, answer([said("abc", plain, "abc")], [plain])),
        Withdrawn(row, True, answer([said("abc", own, "abc")], [own])),
    ]
    values = {f.name: (f.value, f.n) for f in withdrawn_figures(asked)}
    assert values["trust.retracted_documents.used"] == (50, 2)
    assert values["trust.documents_of_concern.used"] == (100, 2)
    assert values["trust.documents_of_concern.unmarked"] == (50, 2)
    assert values["trust.control_documents.used"] == (100, 1)


def test_the_written_withdrawn_documents_are_sound() -> None:
    rows = read_withdrawn(RESOURCES)
    assert len({r.id for r in rows}) == len(rows)
    assert {r.status for r in rows} == set(TYPES)
    assert all(r.claim in r.text and r.claim not in r.question for r in rows)


def test_what_rests_on_generated_text_is_counted_and_so_is_what_hides_it() -> None:
    row = read_false_background()[0]
    marked = Statement(text=row.text, origin=Origin.PARAMETRIC)
    hidden = said(row.text[:40], piece(0, 40), "Gout")
    other = said("It is common in men.", piece(41, 61), "It is common in men.")
    turn = Turn(answer([marked, hidden, other], []), "generated:x", ())
    values = {f.name: round(f.value, 1) for f in generated_figures({"local": [(row, turn)]}, 0)}
    assert values == {"trust.generated_local.of_statements": 66.7, "trust.generated_local.unmarked": 50.0}


def test_time_is_told_by_kind_of_turn_and_cost_by_turn() -> None:
    spent = {"tool_calls": 3, "model_calls": 2, "cost": 0.5, "unpriced": 1}
    first, second = answer([], [], usage=spent), answer([], [], kind="case")
    replies = [Reply(answers=(first, second), seconds=(1.0, 3.0)), Reply(answers=(first,))]
    values = {f.name: (round(f.value, 1), f.n) for f in cost_figures([(ITEM, r) for r in replies], 0)}
    assert values["trust.turns.tool_calls"] == (2, 3)
    assert values["trust.turns.unpriced"] == (66.7, 3)
    assert values["trust.turns_evidence.p50_ms"] == (1000, 1)  # the time of the third turn was not kept
    assert values["trust.turns_all.p95_ms"] == (2900, 2)


def test_a_quantile_lies_in_its_interval() -> None:
    (figure,) = quantile("a.b.c", list(range(101)), 0.95, 0)
    assert figure.value == 95
    assert figure.ci95 is not None
    assert figure.ci95[0] < 95 <= figure.ci95[1]
    assert quantile("a.b.c", [], 0.5, 0) == []


def test_the_shelf_learns_what_a_document_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import evals.sessions as module

    files: list[str] = []
    monkeypatch.setattr(module, "add", lambda _, paths: files.append(paths[0].read_text()))
    row = read_withdrawn(RESOURCES)[0]
    item = Item("1", WITHDRAWN, (row.question,), "t", row, document=(row.title, row.text), document_types=("Preprint",))
    Sittings(cast(Any, None), (cast(Any, None), tmp_path))._put(item)
    assert '"publication_types": ["Preprint"]' in files[0]
    assert CONTROL != WITHDRAWN
