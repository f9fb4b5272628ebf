"""The state of the machine. Long texts are keys into the content store; every value is a JSON type or a message.

Session-scoped channels stay from turn to turn. Turn-scoped channels are set afresh by `new_turn`, whatever the turn
before left in them. Session = thread_id; turn = one user message; run = session/turn.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AnyMessage
from langgraph.types import Overwrite

from prompts.errors import DataError
from prompts.metering import Usage
from tools.contract import Notice

STATE_SCHEMA = 2  # raised with every change of a channel's meaning; `check_schema` refuses what it cannot read


class State(TypedDict, total=False):
    """Channels. ``*_key`` values are keys into the content store."""

    schema: int
    # session-scoped
    messages: Annotated[list[dict[str, Any]], operator.add]  # {"role", "turn", "key"}
    case_key: str  # the patient's case as told so far: what its facts come to
    facts_key: str  # its facts, those superseded too; none in sessions of before
    subject: dict[str, str]  # {"kind", "question_key"} of the last medical turn; "about_case" of the leading diagnosis
    leading: str  # name of the session's leading diagnosis
    case_differential_key: str  # the case's differential as last ranked
    case_answer_key: str  # the last answer to the case
    last_answer_key: str  # the last answer to a medical message
    open_flags: list[dict[str, Any]]  # emergencies told of the session's patient, which stand
    findings: list[dict[str, Any]]  # what follow-up answers and corrections settled
    evidence: Annotated[dict[str, str], operator.or_]  # evidence id -> key of its record
    spent_before: dict[str, Any]  # what the models of all finished turns cost
    asked: dict[str, str] | None  # the follow-up question that ended the last turn
    offered: list[dict[str, str]]  # the other questions that were shown with it
    # turn-scoped
    turn: int
    before_key: str  # the session-scoped channels as they were before the turn: `undone` goes back to them
    message_key: str
    question_key: str
    kind: str
    language: str
    closed: bool
    options: dict[str, str]
    given: list[str]  # evidence ids of the texts that came with the message
    report: bool  # a report is asked for
    asks: bool  # the client can reply to a question within the turn
    released: list[str]  # words that PubMed may see, though they may be names
    red_flags: list[dict[str, Any]]
    replied: bool  # the message answers our question: the interview goes on, whatever its answers show
    explain: dict[str, Any] | None  # what is asked about what was said
    first_look_key: str
    gate_key: str
    path: str  # direct | researched | responded | session
    rounds: int
    calls: Annotated[list[AnyMessage], operator.add]
    merged: int  # how many of `calls` collect has merged
    found: list[str]  # evidence ids found in this turn, in order
    outcomes: list[list[str]]  # [tool, outcome]
    differential_key: str
    answered_key: str
    gaps_key: str
    readings_key: str  # what a model that read the documents says of each
    selection_key: str
    verdicts_key: str
    draft_key: str
    report_key: str
    answer_key: str
    notices: Annotated[list[dict[str, str]], operator.add]
    seconds: Annotated[dict[str, float], operator.or_]
    spent: Annotated[dict[str, dict[str, Any]], operator.or_]  # role -> what its model calls cost in this turn


def new_turn(
    turn: int,
    message_key: str,
    options: dict[str, str] | None = None,
    notices: Sequence[Notice] = (),
    given: Mapping[str, str] | None = None,
    *,
    report: bool = False,
    released: Sequence[str] = (),
    asks: bool = False,
    before_key: str = "",
) -> dict[str, Any]:
    """The input that starts a turn: the user's message, and every turn-scoped channel at its beginning.

    ``given``: id of each text that came with the message -> key of its record. ``report``: for a case, a report too.
    ``released``: words that PubMed may see in this turn, though they may be names. ``asks``: whoever sent it can reply
    to a question before the answer. ``before_key``: key of what `kept` gave before the turn.
    """
    return {
        "schema": STATE_SCHEMA,
        "messages": [{"role": "user", "turn": turn, "key": message_key}],
        "turn": turn,
        "before_key": before_key,
        "message_key": message_key,
        "question_key": "",
        "kind": "",
        "language": "en",
        "closed": False,
        "options": options or {},
        "evidence": dict(given or {}),
        "given": list(given or {}),
        "report": report,
        "released": list(released),
        "asks": asks,
        "red_flags": [],
        "replied": False,
        "explain": None,
        "first_look_key": "",
        "gate_key": "",
        "path": "",
        "rounds": 0,
        "calls": Overwrite([]),
        "merged": 0,
        "found": [],
        "outcomes": [],
        "differential_key": "",
        "answered_key": "",
        "gaps_key": "",
        "readings_key": "",
        "selection_key": "",
        "verdicts_key": "",
        "draft_key": "",
        "report_key": "",
        "answer_key": "",
        "notices": Overwrite([n.model_dump(mode="json") for n in notices]),
        "seconds": Overwrite({}),
        "spent": Overwrite({}),
    }


# what a turn that is taken back leaves of a session: each channel, with what it is where nothing was said before
STAYING: dict[str, Any] = {
    "turn": 0, "answer_key": "", "messages": [], "case_key": "", "facts_key": "", "subject": {}, "leading": "",
    "findings": [], "evidence": {}, "asked": None, "offered": [], "case_differential_key": "", "case_answer_key": "",
    "last_answer_key": "", "spent_before": {}, "open_flags": [],
}  # fmt: skip


def kept(values: Mapping[str, Any]) -> str:
    """What of a state a turn may have to be taken back to, as JSON."""
    return json.dumps({name: values[name] for name in sorted(STAYING) if name in values}, ensure_ascii=False)


def undone(before: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The update that takes a turn back: its session-scoped channels as `kept` found them. What was spent stays so.

    Args:
        before: what `kept` gave before the turn.
        values: the state now, in the turn or at its end.
    """
    held = json.loads(before)
    back = {name: held.get(name, blank) for name, blank in STAYING.items()}
    spent = Usage.model_validate(values.get("spent_before", {}))
    if not values.get("answer_key"):  # the turn's own calls are not among them yet
        spent = sum((Usage.model_validate(u) for u in values.get("spent", {}).values()), spent)
    back |= {"messages": Overwrite(back["messages"]), "evidence": Overwrite(back["evidence"])}
    return back | ({"spent_before": spent.model_dump()} if spent.calls else {})


def check_schema(values: Mapping[str, Any]) -> None:
    """Raise DataError when a checkpoint was written by another version of the state."""
    found = values.get("schema", STATE_SCHEMA)
    if found != STATE_SCHEMA:
        raise DataError(
            f"This session was written with state schema {found}; this version reads {STATE_SCHEMA}.",
            "Start a new session, or use the version that wrote it.",
        )
