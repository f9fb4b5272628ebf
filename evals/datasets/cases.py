"""Cases that this project wrote: the shipped ones, Chinese ones in two sets, and cases with reference reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypeVar

from pydantic import Field, model_validator

from evals.datasets.rows import RESOURCES, read_jsonl, read_yaml_rows
from prompts.errors import DataError
from tools.evidence import EvidenceId, Frozen

if TYPE_CHECKING:
    from graphs.answering.contract import Answer


DIFFERENTIAL, EMERGENCIES, EVIDENCE, DECLINE = "differential*.yaml", "emergencies.yaml", "evidence.yaml", "decline.yaml"
FIRST, SECOND = RESOURCES / "chinese_cases.yaml", RESOURCES / "chinese_cases_second.yaml"
REPORTS, SAMPLE = "*.jsonl", RESOURCES / "report_references"


class WrittenCase(Frozen):
    """A message and its language."""

    id: str = Field(min_length=1)
    language: Literal["en", "zh"]
    text: str = Field(min_length=1)


class DifferentialCase(WrittenCase):
    """A case of one disease of the starter graph, worded unlike the graph."""

    disease: str = Field(min_length=1)


class EmergencyCase(WrittenCase):
    """An emergency, or something that only sounds like one."""

    emergency: bool


class EvidenceCase(WrittenCase):
    """An evidence question, and the id of the monograph that answers it."""

    monograph: str = Field(min_length=1)


class DeclineCase(WrittenCase):
    """What must not be answered: small talk, what is out of scope, and what there is no evidence for."""

    kind: Literal["small_talk", "out_of_scope", "no_evidence"]


Written = TypeVar("Written", bound=WrittenCase)


class ChineseCase(Frozen):
    """A case of one disease of the starter graph.

    Attributes:
        sentences: the complete case, a unit each. sparse: what is left of it when most is not told.
        labels: the letter that each sentence should have; "" where none was judged.
        terms: words of the case that must stay whole as tokens.
    """

    id: str = Field(min_length=1)
    disease: str = Field(min_length=1)
    department: str
    style: Literal["lay", "clinical"]
    sentences: tuple[str, ...] = Field(min_length=2)
    sparse: str = Field(min_length=1)
    labels: str = Field(default="", pattern="^[ABC]*$")
    terms: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.labels and len(self.labels) != len(self.sentences):
            raise ValueError("labels: one letter a sentence")
        lost = [t for t in self.terms if t not in self.text]
        if lost:
            raise ValueError(f"terms that the case does not hold: {', '.join(lost)}")
        return self

    @property
    def text(self) -> str:
        """The complete case."""
        return "".join(self.sentences)


class ReportCase(Frozen):
    """A case as it is told to the agent, and the report that a person wrote about it; of a file that the user gives."""

    id: str = Field(min_length=1)
    case: str = Field(min_length=1)
    report: str = Field(min_length=1)


def read_cases(data: Path, pattern: str, model: type[Written]) -> list[Written]:
    """The cases of every file of this name, in the order of the names."""
    return [case for path in sorted(data.glob(pattern)) for case in read_yaml_rows(path, model)]


def read_chinese(path: Path) -> list[ChineseCase]:
    """The cases, in the order of the file; raises DataError when a row is damaged."""
    return read_yaml_rows(path, ChineseCase)


def read_report_cases(folder: Path) -> list[ReportCase]:
    """The rows of every file of JSON lines of a folder, by name.

    Raises:
        DataError: a row is damaged, or two have one id.
    """
    rows = [row for path in sorted(folder.glob(REPORTS)) for row in read_jsonl(path, ReportCase)]
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise DataError(f"Two cases have the id {row.id!r}.", "Give each case an id of its own.")
        seen.add(row.id)
    return rows


# The written conversations: what each turn must hold, and what an answer lacks of it.

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
