"""What a run lends to every node: where texts are kept, where events go, and what the machine is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, Field, TypeAdapter

from graphs.answering.contract import Answerer
from graphs.completeness.contract import CompletenessGate
from graphs.differential_filter.contract import DocumentFilter
from graphs.kads.contract import Selector
from graphs.planning.contract import Planner
from graphs.reporting.contract import Reporter
from graphs.state import State
from graphs.triage.contract import Kind, Triage
from graphs.triage.facts import Fact, facts_of, text_of
from graphs.verification.contract import Verifier
from prompts.metering import Meter
from tools.contract import Differential, Finding, Tool
from tools.evidence import Evidence
from tools.library.contract import QuestionHit
from tools.library.document import Document
from tools.readers.contract import Record
from tools.recorder import NullRecorder, Recorder
from tools.spelling import mended
from tools.store import TextStore
from tools.summaries import Said, first_words

Passages = Callable[[Record, str, int], list[Evidence]]
Questions = Callable[[str, Sequence[str]], Sequence[QuestionHit]]

Model = TypeVar("Model", bound=BaseModel)
T = TypeVar("T")


class Limits(BaseModel):
    """Bounds of a turn. All ours.

    Attributes:
        rounds: rounds of research; a planning model has all but the last, which fills the gaps.
        tool_calls: tool calls in a turn.
        selected: documents that KADS keeps (5 of 10: MedRGAG, paper); without a language model, unless this is set, 8.
    """

    rounds: int = Field(default=4, ge=1, le=10)
    tool_calls: int = Field(default=12, ge=1, le=50)
    selected: int = Field(default=5, ge=1, le=20)


@dataclass(frozen=True)
class Parts:
    """The judgements and tools that the machine is assembled from.

    ``look_up`` is the graph's first look-up for the gate: (case, language, known findings) to a differential.
    ``requirements`` gives KADS what one must know: (question, kind, language, options, diseases) to phrases.
    ``said`` tells a planner what the documents of a result say: (question, evidence) to sentences by document.
    ``document`` gives a document of the library by the id of a slice of it, and raises InputError for one that is gone.
    ``weighs``: what was read raises and lowers the diagnoses (`graphs.nodes.filter`).
    ``passages`` of a document that a user put into the session, for a question: (record, question, limit) to evidence.
    ``questions`` that were written with some documents, nearest to one asked first: (asked, ids of documents) to hits.
    """

    triage: Triage
    gate: CompletenessGate
    planner: Planner
    tools: Sequence[Tool]
    selector: Selector
    filter: DocumentFilter
    answerer: Answerer
    verifier: Verifier
    reporter: Reporter
    look_up: Any
    requirements: Any
    limits: Limits = field(default_factory=Limits)
    said: Said = first_words
    document: Callable[[str], Document] | None = None
    weighs: bool = False
    passages: Passages | None = None
    questions: Questions | None = None


@dataclass(frozen=True)
class TurnContext:
    """What belongs to one run. ``meter`` counts what its model calls cost; ``listened_to``: its steps are streamed."""

    session: str
    run: str
    store: TextStore
    recorder: Recorder = field(default_factory=NullRecorder)
    meter: Meter = field(default_factory=Meter)
    listened_to: bool = True

    def keep(self, value: BaseModel) -> str:
        """Keep a model in the content store; returns its key."""
        return self.store.put(self.session, value.model_dump_json())

    def keep_list(self, kind: Any, values: Sequence[Any]) -> str:
        """Keep a list of models as one text; returns its key."""
        return self.store.put(self.session, TypeAdapter(list[kind]).dump_json(list(values)).decode())

    def load(self, kind: type[Model], key: str) -> Model | None:
        """The model under a key, None for the empty key."""
        return kind.model_validate_json(self.store.get(key)) if key else None

    def load_list(self, kind: type[T], key: str) -> list[T]:
        """The list of models under a key, empty for the empty key."""
        return TypeAdapter(list[kind]).validate_json(self.store.get(key)) if key else []  # type: ignore[valid-type]

    def text(self, key: str) -> str:
        """The text under a key, "" for the empty key."""
        return self.store.get(key) if key else ""

    def asked(self, state: State) -> str:
        """The turn's question as it is read: of a question of evidence misspelt words are put right."""
        question = self.text(state["question_key"])
        return mended(question) if state["kind"] == Kind.EVIDENCE else question

    def keep_evidence(self, items: Sequence[Evidence]) -> dict[str, str]:
        """Keep evidence; returns id -> key."""
        keys = self.store.put_all(self.session, [item.model_dump_json() for item in items])
        return {item.id: key for item, key in zip(items, keys, strict=True)}

    def load_evidence(self, state: State, ids: Iterable[str]) -> list[Evidence]:
        """The evidence of the session with these ids, in order; ids that the session does not hold are left out."""
        known = state.get("evidence", {})
        texts = self.store.get_all(known[key] for key in ids if key in known)
        return [Evidence.model_validate_json(text) for text in texts]


def case_facts(state: State, context: TurnContext) -> tuple[Fact, ...]:
    """The facts of the session's case; of a session that was stored without them its whole text is one."""
    facts, case = context.load_list(Fact, state.get("facts_key", "")), context.text(state.get("case_key", ""))
    return tuple(facts) if text_of(facts) == case else facts_of(case)


def findings_of(state: State, differential: Differential | None) -> list[Finding]:
    """Findings of the case: those that the look-up understood and that a planner read, then those that answers settled;
    what was asked and not known is told by the case where it tells it."""
    stated = [*differential.findings, *differential.added] if differential is not None else []
    told = {f.id for f in stated if f.present is not None}
    settled = [Finding.model_validate(f) for f in state.get("findings", [])]
    settled = [f for f in settled if f.present is not None or f.id not in told]
    ids = {f.id for f in settled}
    return [f for f in stated if f.id not in ids] + settled
