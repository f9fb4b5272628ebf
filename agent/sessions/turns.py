"""A turn's record: written before the first step runs, and again with the answer; its session's title, its searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agent.messages import check_message
from agent.sessions.contract import LONGEST_TITLE, Database, Statement
from agent.sessions.ids import now
from graphs.state import new_turn
from graphs.triage.facts import Fact
from prompts.errors import DataError, InputError
from tools.contract import Notice
from tools.evidence import Evidence
from tools.literature.privacy import released_in
from tools.store import TextStore


class Begun(BaseModel):
    """All that starts a turn. It is kept until the turn has its answer, so that a killed turn can start again."""

    model_config = ConfigDict(extra="forbid")

    text: str
    options: dict[str, str] | None = None
    given: list[Evidence] = Field(default_factory=list)
    report: bool = False
    asks: bool = False
    notices: list[Notice] = Field(default_factory=list)

    def state(self, texts: TextStore, session: str, turn: int, before_key: str = "") -> dict[str, Any]:
        """The machine's input, its texts in the content store; ``before_key``: as in `new_turn`."""
        text, released = released_in(self.text)
        key = texts.put(session, text)
        keys = {e.id: texts.put(session, e.model_dump_json()) for e in self.given}
        more: dict[str, Any] = {"report": self.report, "asks": self.asks, "before_key": before_key}
        return new_turn(turn, key, self.options, self.notices, keys, released=released, **more)


class TurnRow(NamedTuple):
    """A turn as the table has it; ``answer_key`` is "" while it has no answer, ``begun`` is "" once it has one."""

    turn: int
    turn_key: str
    asked: str
    asked_at: str
    begun: str
    answer_key: str
    answered_at: str
    searches: str

    def start(self) -> Begun:
        """What started it; raises DataError where that was never kept."""
        if not self.begun:
            raise DataError("What started the turn was not kept.", "Ask the question again.")
        return Begun.model_validate_json(self.begun)


COLUMNS = ", ".join(TurnRow._fields)


class Turns:
    """The turns' rows. Whoever writes one holds the session's lock."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, session: str) -> list[TurnRow]:
        """Every turn, in order."""
        sql = f"select {COLUMNS} from turns where session = ? order by turn"
        return [TurnRow(*row) for row in (await self._database.execute((sql, (session,))))[0]]

    async def last(self, session: str) -> TurnRow | None:
        """The last turn, None where there is none."""
        sql = f"select {COLUMNS} from turns where session = ? order by turn desc limit 1"
        rows = (await self._database.execute((sql, (session,))))[0]
        return TurnRow(*rows[0]) if rows else None

    async def keyed(self, session: str, turn_key: str) -> TurnRow | None:
        """The turn that was begun under an idempotency key."""
        sql = f"select {COLUMNS} from turns where session = ? and turn_key = ? order by turn limit 1"
        rows = (await self._database.execute((sql, (session, turn_key))))[0] if turn_key else []
        return TurnRow(*rows[0]) if rows else None

    async def begin(
        self, session: str, turn: int, begun: Begun, turn_key: str = "", replaced: TurnRow | None = None
    ) -> TurnRow:
        """Keep a turn that begins; the session's first message is its title until it is renamed.

        ``replaced``: a turn that goes with it, and all that was said of its answer.
        """
        row = TurnRow(turn, turn_key, begun.text, now(), begun.model_dump_json(), "", "", "")
        named = "update sessions set updated = ?, title = case when title = '' then ? else title end where id = ?"
        gone: list[Statement] = []
        if replaced is not None:
            tables = ("turns", "reviews", "feedback")
            gone = [(f"delete from {t} where session = ? and turn = ?", (session, replaced.turn)) for t in tables]
            unnamed = "update sessions set title = '' where id = ? and title = ?"
            gone += [(unnamed, (session, title_of(replaced.asked)))] if replaced.turn == 1 else []
        began = _insert(session, row), (named, (row.asked_at, title_of(begun.text), session))
        await self._database.execute(*gone, *began)
        return row

    async def end(self, session: str, turn: int, answer_key: str, *, asks_review: bool, searches: str = "") -> None:
        """Keep the answer's key; what started the turn is no longer needed."""
        at = now()
        ended = (
            "update turns set answer_key = ?, answered_at = ?, asks_review = ?, searches = ?, begun = ''"
            " where session = ? and turn = ?"
        )
        await self._database.execute(
            (ended, (answer_key, at, int(asks_review), searches, session, turn)),
            ("update sessions set updated = ? where id = ?", (at, session)),
        )

    async def retitle(self, session: str, turn: int, superseded: Sequence[Fact]) -> None:
        """Let the session's title follow what a turn put right in its first message, unless it was renamed."""
        if not any(fact.by == turn for fact in superseded):
            return
        first = (await self.all(session))[0].asked
        before = title_corrected(first, [f for f in superseded if f.by != turn])
        sql = "update sessions set title = ? where id = ? and title = ?"
        await self._database.execute((sql, (title_corrected(first, superseded), session, before)))

    async def add(self, session: str, rows: Sequence[tuple[TurnRow, bool]]) -> None:
        """Take over turns that have no record, each with whether it asks for review."""
        await self._database.execute(*[_insert(session, row, asks, " on conflict do nothing") for row, asks in rows])


def check_turn_key(turn_key: str) -> str:
    """The idempotency key, when it can be one; raises InputError otherwise."""
    if len(turn_key) > LONGEST_KEY or not turn_key.isprintable():
        raise InputError("That is no turn key.", f"Use at most {LONGEST_KEY} printable characters.")
    return turn_key


def other_message() -> InputError:
    """The error for an idempotency key that comes again with another message."""
    return InputError("This turn key was used for another message.", "Use a new key for a new message.")


LONGEST_KEY = 200  # ours: characters, several times a UUID


def _insert(session: str, row: TurnRow, asks_review: bool = False, otherwise: str = "") -> Statement:
    sql = f"insert into turns (session, asks_review, {COLUMNS}) values (?, ?{', ?' * len(row)}){otherwise}"
    return sql, (session, int(asks_review), *row)


# Titles of sessions: the first words of the first message, or what the user names it.

FIRST_WORDS = 60  # ours: characters of a message that name it, one line of a list


def title_of(message: str) -> str:
    """The first words of a message, on one line."""
    line = " ".join(message.split())
    if len(line) <= FIRST_WORDS:
        return line
    cut = line[: FIRST_WORDS - 1]
    words, space, _ = cut.rpartition(" ")
    whole = words if space and len(words) > FIRST_WORDS // 2 else cut  # Chinese has no spaces
    return whole.rstrip(" ,.;:，。；：、") + "…"


def title_corrected(message: str, superseded: Sequence[Fact]) -> str:
    """The title of a first message of which something was put right since: what is so now stands in its place."""
    places = [(f.span, f.now) for f in superseded if f.turn == 1 and f.span is not None and f.now]
    for (start, end), since in sorted(places, reverse=True):
        message = message[:start] + since + message[end:]
    return title_of(message)


def check_title(title: str) -> str:
    """A title on one line; raises InputError for an empty one, one that is too long, or no text."""
    return " ".join(check_message(title, LONGEST_TITLE, "The title", raised=False).split())


# What a turn looked up: its tool calls, each with the key of what came back, for the export.


class Call(BaseModel):
    """A tool call of a turn. ``key`` is that of its artefact in the content store, "" where it was refused."""

    model_config = ConfigDict(extra="forbid")

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    outcome: str = "refused"
    key: str = ""


CALLS = TypeAdapter(list[Call])


def calls_of(messages: Sequence[Any]) -> str:
    """The calls among a turn's planning messages (LangChain's), as JSON; "" where there are none."""
    asked = {call["id"]: call["args"] for m in messages for call in getattr(m, "tool_calls", ())}
    made = [
        Call(
            tool=m.name or "",
            arguments=asked.get(m.tool_call_id, {}),
            **{k: v for k, v in (m.artifact or {}).items() if k in ("outcome", "key")},
        )
        for m in messages
        if m.type == "tool"
    ]
    return CALLS.dump_json(made).decode() if made else ""
