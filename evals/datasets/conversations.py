"""The written conversations: what each turn must hold, and what an answer lacks of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from evals.datasets.rows import read_yaml_rows
from tools.evidence import EvidenceId, Frozen

if TYPE_CHECKING:
    from graphs.answering.contract import Answer

CONVERSATIONS = "conversations.yaml"


class Turn(Frozen):
    """A message and what its answer must hold; what is not given is not asked.

    Attributes:
        say: the message. kind: of the turn.
        leads: the leading diagnosis is one of these. cites: whether a statement is cited.
        emergency: whether a red flag is shown. asks: whether a question is asked back.
        says: each stands in the answer, its notices or its stand-alone question; ``|`` between alternatives.
        never: none of these does.
        notices: codes of notices. documents: a statement cites one of these by name.
        fits, against: findings named for and against the leading diagnosis.
    """

    say: str = Field(min_length=1)
    kind: str = ""
    leads: tuple[str, ...] = ()
    cites: bool | None = None
    emergency: bool | None = None
    asks: bool | None = None
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    fits: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


class Conversation(Frozen):
    """Turns of one session."""

    id: str = Field(min_length=1)
    who: str = ""
    language: Literal["en", "zh"] = "en"
    turns: tuple[Turn, ...] = Field(min_length=1)


def read_conversations(data: Path) -> list[Conversation]:
    """The conversations of a folder; raises DataError for a damaged file."""
    return read_yaml_rows(data / CONVERSATIONS, Conversation)


def lacks(turn: Turn, answer: Answer) -> list[str]:
    """What an answer lacks of what its turn must hold, each in a few words; empty when it is right."""
    found: list[str] = []
    for name, wanted, is_so in (
        ("cites", turn.cites, any(s.citations for s in answer.statements)),
        ("emergency", turn.emergency, bool(answer.emergency)),
        ("asks", turn.asks, bool(answer.follow_up_questions)),
    ):
        if wanted is not None and wanted != is_so:
            found.append(f"{name} is {is_so}")
    if turn.kind and answer.kind != turn.kind:
        found.append(f"kind is {answer.kind}")
    return found + _diagnosis(turn, answer) + _words(turn, answer)


def _diagnosis(turn: Turn, answer: Answer) -> list[str]:
    lead = answer.differential[0] if answer.differential else None
    found: list[str] = []
    if turn.leads and (lead is None or lead.disease not in turn.leads):
        found.append(f"leads: {lead.disease if lead else 'nothing'}")
    speaks_for, against = (lead.findings_for, lead.findings_against) if lead else ((), ())
    found += [f"fits lacks {f}" for f in turn.fits if f not in speaks_for]
    found += [f"against lacks {f}" for f in turn.against if f not in against]
    return found


def _words(turn: Turn, answer: Answer) -> list[str]:
    told = "\n".join([answer.question, answer.text, *(n.text for n in answer.notices)]).lower()
    # a notice of a correction names what went, so it does not count for what must not be said
    held = "\n".join([answer.question, answer.text, *(n.text for n in answer.notices if n.code != "case_corrected")])
    cited = {EvidenceId.parse(c.evidence_id).name for s in answer.statements for c in s.citations}
    codes = {n.code for n in answer.notices}
    found = [f"says lacks {w}" for w in turn.says if not any(p.lower() in told for p in w.split("|"))]
    found += [f"says {w}" for w in turn.never if w.lower() in held.lower()]
    found += [f"notice lacks {code}" for code in turn.notices if code not in codes]
    if turn.documents and not cited.intersection(turn.documents):
        found.append(f"cites {', '.join(sorted(cited)) or 'nothing'}")
    return found
