"""Bodies of the native endpoints: what may be sent, and what comes back beside answers and session records."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from agent.messages import MOST
from agent.sessions import SessionRecord, TurnRecord
from agent.sessions.contract import LONGEST_REASON, LONGEST_TITLE
from agent.sessions.documents import SessionDocument

OPTIONS = 26  # ours: options of a question
SESSION = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"  # as agent.trace.SESSION_NAME

# What agent.messages takes, for the description alone: there the refusal is told in words.
PLAIN = r"[^\u0000-\u0008\u000e-\u001f\ufffe\uffff]"
TEXT = rf"^{PLAIN}*[^\u0000-\u001f\ufffe\uffff\s]{PLAIN}*$"
Text = Annotated[str, Field(json_schema_extra={"pattern": TEXT}, description="Plain text with a visible character.")]
OF_OPTIONS = {
    "type": "object",
    "maxProperties": OPTIONS,
    "propertyNames": {"pattern": TEXT},
    "additionalProperties": {"type": "string", "pattern": TEXT},
}
DocumentId = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
Lettered = Annotated[dict[str, str], Field(max_length=OPTIONS), WithJsonSchema(OF_OPTIONS)]
Title = Annotated[str, Field(max_length=LONGEST_TITLE, json_schema_extra={"pattern": TEXT})]


class Sent(BaseModel):
    """What a client sends: an unknown field is a mistake, and is named."""

    model_config = ConfigDict(extra="forbid")


class NewSession(Sent):
    """A session to be opened. Without a title it gets the first words of its first message."""

    title: Title | Literal[""] = ""


class NewTitle(Sent):
    """A session's new title."""

    title: Title


class NewTurn(Sent):
    """A message with what comes with it: see `Agent.ask`."""

    text: Text
    options: Lettered | None = Field(default=None, description="Of a multiple-choice question: letter to text.")
    given: list[Text] = Field(default=[], max_length=MOST, description="Texts to answer from, for this turn.")
    report: bool = Field(default=False, description="For a case, a report beside the answer.")
    ask: bool = Field(
        default=False,
        description="With events: the next best question may be asked before a case is researched; POST .../reply.",
    )
    documents: list[DocumentId] = Field(default=[], max_length=MOST, description="Of the session, to answer from too.")
    replaces: int = Field(default=0, ge=0, description="The last turn, whose place the message takes; 0 for none.")


class NewReply(Sent):
    """The reply to a question that a turn waits at; an empty one leaves it open."""

    text: Text | Literal[""] = ""


class NewVerdict(Sent):
    """A clinician's verdict on an answer."""

    verdict: Literal["accepted", "rejected"]
    correction: Literal[""] = ""


class NewCorrection(Sent):
    """A clinician's verdict on an answer, and what it should say."""

    verdict: Literal["corrected"]
    correction: Text


NewReview = Annotated[NewVerdict | NewCorrection, Field(discriminator="verdict")]


class Shown(Sent):
    """Whether what comes back says how the page shows it, too; that form is not stable."""

    view: bool = False


class NewFeedback(Sent):
    """Whether an answer helped."""

    helpful: bool
    reason: Annotated[str, Field(max_length=LONGEST_REASON, json_schema_extra={"pattern": f"^{PLAIN}*$"})] = ""


class Key(Sent):
    """A key to log in with."""

    key: Annotated[str, Field(min_length=1, max_length=200)]


class SessionList(BaseModel):
    """Sessions, last used first."""

    sessions: list[SessionRecord]


class DocumentList(BaseModel):
    """The documents of a session, in the order in which they were put in."""

    documents: list[SessionDocument]


class SessionWhole(BaseModel):
    """A session with its turns; ``views``: how the page shows their answers, by turn, where that was asked for."""

    session: SessionRecord
    turns: list[TurnRecord]
    views: dict[int, dict[str, Any]] = {}


class Trace(BaseModel):
    """What a run did, an object an event: see docs/architecture.md."""

    events: list[dict[str, Any]]


class Me(BaseModel):
    """Who calls. ``authentication`` is false where the server asks for no key."""

    id: str
    name: str
    scopes: list[str]
    authentication: bool
    version: str


class State(BaseModel):
    """Whether the server is alive, or ready, and what is not."""

    status: Literal["ok", "unready"]
    problems: list[str] = []
