"""Failed samples are put down to the first node that lost the answer, and to no later one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from agent.settings import Settings
from evals.contract import Item, Reply
from evals.losses import ANSWER, FILTER, GATE, KADS, TOOLS, TRIAGE, Gold, followed, gold_of, lost_by, table_of
from evals.sessions import Sittings
from graphs.answering.contract import Answer, Choice
from support.machine_parts import Scripted, SearchTool, parts
from support.ranked import ranked
from support.traces import read_trace
from tools.evidence import Evidence, Origin, Statement, cite

TEXT = "Croup is treated with dexamethasone."
ID = f"library:croup@0-{len(TEXT)}"
SOURCE = Evidence(id=ID, text=TEXT, kind="passage", origin=Origin.RETRIEVED)
CITED = Statement(text=TEXT, origin=Origin.RETRIEVED, citations=(cite(SOURCE, 0, 5),))
CROUP = Gold("document", "croup")
RETRIEVE: dict[str, Any] = {"kind": "gate", "decision": "retrieve", "reason": "more is needed"}
KEPT: dict[str, Any] = {"kind": "selection", "kept": [{"evidence_id": ID}], "dropped": []}
DROPPED: dict[str, Any] = {"kind": "selection", "kept": [], "dropped": [{"evidence_id": ID, "reason": "beyond five"}]}
REFUSED: dict[str, Any] = {"kind": "filter", "verdicts": [{"evidence_id": ID, "keep": False, "reason": "irrelevant"}]}


def reply(found: tuple[str, ...] = (ID,), **answer: Any) -> Reply:
    fields = {"question": "q", "kind": "evidence", "language": "en", **answer}
    return Reply(answers=(Answer.model_validate(fields),), found=found)


def test_each_node_is_told_from_the_next() -> None:
    direct = {"kind": "gate", "decision": "direct", "reason": "enough"}
    triage = {"kind": "triage", "reason": "no medical word"}
    other = reply(found=("library:asthma@0-9",))
    cases: list[tuple[Reply, list[dict[str, Any]], str, str, str]] = [
        (reply(kind="out_of_scope"), [triage], TRIAGE, "turned away", "no medical word"),
        (reply(), [direct], GATE, "answered directly", "enough"),
        (other, [RETRIEVE, KEPT], TOOLS, "not retrieved", "1 other"),
        (reply(), [RETRIEVE, DROPPED, REFUSED], KADS, "dropped by KADS", "beyond five"),
        (reply(), [RETRIEVE, KEPT, REFUSED], FILTER, "dropped by the filter", "irrelevant"),
        (reply(), [RETRIEVE, KEPT, {"kind": "verified", "dropped": 2}], ANSWER, "not used in the answer", "2 dropped"),
    ]
    for said, events, node, how, why in cases:
        loss = lost_by(CROUP, said, events)
        assert loss is not None
        assert (loss.node, loss.how) == (node, how)
        assert why in loss.why
    assert lost_by(CROUP, reply(statements=[CITED], evidence=[SOURCE]), [RETRIEVE, DROPPED]) is None


def test_one_piece_of_the_document_that_stayed_is_enough_to_blame_a_later_node() -> None:
    second = "library:croup@50-60"
    half = {**DROPPED, "kept": [{"evidence_id": second}]}
    loss = lost_by(CROUP, reply(found=(ID, second)), [RETRIEVE, half])
    assert loss is not None
    assert loss.node == ANSWER


def test_a_disease_is_lost_by_triage_the_gate_or_the_ranking() -> None:
    gold = Gold("disease", "croup")
    asthma, both = [ranked("asthma")], [ranked("asthma"), ranked("croup")]
    direct = {"kind": "gate", "decision": "direct", "reason": "enough"}
    assert lost_by(gold, reply(kind="case", differential=[ranked("croup")]), [RETRIEVE]) is None
    lost = [
        lost_by(gold, reply(kind="evidence"), [RETRIEVE]),
        lost_by(gold, reply(kind="case", differential=both), [direct]),
        lost_by(gold, reply(kind="case", differential=asthma), [RETRIEVE]),
        lost_by(gold, reply(kind="case", differential=both), [RETRIEVE]),
    ]
    assert [(x.node, x.how) for x in lost if x] == [
        (TRIAGE, "turned away"), (GATE, "answered directly"), (TOOLS, "not ranked"), (TOOLS, "ranked below another")
    ]  # fmt: skip
    assert lost[3] is not None
    assert "place 2" in lost[3].why


def test_an_option_is_lost_where_nothing_was_left_or_another_was_chosen() -> None:
    gold = Gold("choice", "B")
    chosen = {label: Choice(label=label, text=label, reason="r") for label in "AB"}
    assert lost_by(gold, reply(choice=chosen["B"]), [RETRIEVE, KEPT]) is None
    none, other = lost_by(gold, reply(), [RETRIEVE, KEPT]), lost_by(gold, reply(choice=chosen["A"]), [RETRIEVE, KEPT])
    assert (none.how if none else "", other.how if other else "") == ("chose no option", "chose another option")
    nothing = lost_by(gold, reply(found=()), [RETRIEVE])
    assert nothing is not None
    assert nothing.how == "not retrieved"


@pytest.mark.parametrize(("query", "node"), [("croup", None), ("asthma", TOOLS)])
def test_real_turns_are_followed_and_grouped(tmp_path: Path, query: str, node: str | None) -> None:
    script = Scripted(plan_of={1: [query]})
    with Agent(Settings(home=tmp_path), parts=parts(script, SearchTool(log=script.log))) as agent:
        held = Sittings(agent).hold(Item("evidence/1", "evidence", ("how is croup treated?",), "croup", None))
        assert not list((agent.home.traces).glob("*/*")), "the trace is gone with the session"
    samples = [("evidence/1", "evidence", "croup", held.reply, list(held.events[-1]))]
    unknown = [("decline/1", "decline", "declined", held.reply, [])]
    found = followed("cases", [*samples, *unknown])
    assert found.samples == 1
    assert [x.node for x in found.lost] == ([node] if node else [])
    rows = table_of(found)
    assert rows == ([(TOOLS, "not retrieved", 1, "evidence/1")] if node else [])


def test_gold_is_known_by_task_and_group_only() -> None:
    assert gold_of("cases", "differentials", "croup") == Gold("disease", "croup")
    assert gold_of("answers", "exam.medqa", "B") == Gold("choice", "B")
    assert gold_of("cases", "emergencies", "a red flag") is None
    assert gold_of("literature", "evidence", "x") is None


def test_a_trace_names_what_was_kept(tmp_path: Path) -> None:
    """The page and the evaluations find every text by the key that the trace has."""
    script = Scripted(plan_of={1: ["croup"]})
    with Agent(Settings(home=tmp_path), parts=parts(script, SearchTool(log=script.log))) as agent:
        answer = agent.ask("how is croup treated?", given=["Croup: given once."])
        events = read_trace(agent.home.traces, answer.run)
    kept = {c: k for e in events if e["kind"] == "step_finished" for c, k in e["kept"].items()}
    assert {"question_key", "gate_key", "selection_key", "verdicts_key", "draft_key", "answer_key"} <= set(kept)
    triage = next(e for e in events if e["kind"] == "triage")
    assert [i for i in triage["given"] if i.startswith("given:")]
    assert triage["message_key"]
