"""`medrgag`: retrieval and generation: the released outputs, false background, withheld evidence.

(a) ``released``: what MedRGAG's authors released, counted. A selection names ten documents by number. 0 to 4 are the
retrieved ones and 5 to 9 the generated ones: a retrieved document is kept about three times as often when its own
summary says something (``numbering``), and with 5 to 9 no such thing is seen.

(b) ``withheld``: a question of the starter library is asked of the gap tool twice: with what a search for it gives and
the other parts of its monograph, once without every window that holds its answering sentence (``withheld``) and once
with it. ``named`` is the share in which the explorer calls the point of the question a gap when it is withheld,
``false_alarm`` when it is there; ``brought_back`` the share in which, when withheld, the new evidence holds the
answering sentence whole; ``nothing_useful`` how often each is told to hold nothing useful.

(c) ``false``: false but plausible background is put beside the results of `search_literature`, so that it competes with
all that the library gives, marked as generated, as the gap tool marks it. Each written pair is asked once without it
(``control``) and once an arm with it: ``local`` is the agent as it is, ``unguarded`` its selector without the
echo-chamber guard, ``credulous`` a selector that takes generated text first and a filter that keeps everything (the
most that any judgement before the answer could let through), and ``disguised`` the same text as if the library held it:
what the mark is worth. ``believer`` is a scripted model of this machine that selects, filters and answers, keeps
everything, chooses the false option and lends the false statement a true quote: what the guards around a model let
through. ``kept`` is the share that the selector kept, ``reached`` the share that the answerer was given. ``flipped``
is, where the control was right, the share whose choice became the false one, ``lost`` the share no longer right.
``unmarked`` is the share whose false choice is shown as resting on evidence. ``quoted`` is the share of answers with a
statement out of the background, ``cited`` with one that cites it, ``laundered`` with one that cites another document.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, get_args

from pydantic import BaseModel, Field, model_validator

from agent.agent import Agent
from agent.sessions import Home
from agent.settings import Settings
from evals.contract import Figure, Task, TaskContext, label_of
from evals.datasets.rows import RESOURCES, Row, read_json_rows, read_jsonl
from evals.scripted.player import believer
from evals.scripted.server import serving_by
from evals.sessions import ask, assembled
from evals.statistics import paired_ratio, share
from graphs.answering.contract import Answer
from graphs.context import Parts
from graphs.differential_filter.contract import Stance, Verdict
from graphs.kads.contract import Dropped, Kept, Selection, SelectionContext, Selector
from graphs.kads.local import KadsSettings, SelectorLocal
from prompts.errors import ServiceError
from prompts.model_settings import Role, RoleSettings
from prompts.tool_arguments import FillKnowledgeGaps as Arguments
from tools.contract import Differential, Finding, Tool, ToolArtifact, ToolContext
from tools.evidence import Evidence, EvidenceId, Found, Origin, content_key
from tools.gaps.requirements import intents, requirements
from tools.gaps.tool import FillKnowledgeGaps
from tools.library.collection import Library
from tools.library.document import Document, LibraryQuestion
from tools.recorder import NullRecorder

POINTS = 3  # code: the knowledge points that are asked for
MOST = 200  # ours: questions at most; more would not make the interval much narrower
HITS = 8  # ours: documents of the search, as many as the planner asks for
CONTROL = "control"
SEARCH = "search_literature"
BELIEVED: tuple[Role, ...] = ("selection", "filter", "answer")  # the roles that the scripted model plays
LOCAL = {role: RoleSettings(judge="model" if role in BELIEVED else "local") for role in get_args(Role)}
MARKED, DISGUISED, NONE = "marked", "disguised", "none"


def run(context: TaskContext) -> list[Figure]:
    """Measure all three; what is quick comes first. ``limit`` holds for (b) and (c)."""
    explored = read_explored(context.data)
    out = summary_figures(explored, context.seed)
    out += selection_figures(explored, read_selected(context.data), context.seed)
    out += answer_figures(read_predicted(context.data))
    parts, encoder = assembled(context.settings, context.home)
    tool: Any = next(t for t in parts.tools if t.name == "fill_knowledge_gaps")
    library = Library.open(context.home.indexes / "library", encoder)
    asked = context.sample_of([(d, q) for d in library.documents for q in d.questions], min(context.limit, MOST))
    out += withheld_figures([withheld(tool, library, d, q) for d, q in context.each(asked, "withheld")])
    rows = context.sample(read_false_background())
    background = Background(context.settings)
    turns: dict[str, list[Asked]] = {}
    for arm in background.arms:
        with background.opened(arm) as one:
            turns[arm.name] = [Asked(row, one(row)) for row in context.each(rows, f"false {arm.name}")]
    with Background.believed(context.settings) as one:
        turns["believer"] = [Asked(row, one(row)) for row in context.each(rows, "false believer")]
    return out + false_figures(turns)


def summary_figures(rows: Sequence[Explored], seed: int) -> list[Figure]:
    """Useless summaries, and gaps after them; the interval of the first is drawn over questions."""
    told = [(any(row.useful), sum(bool(point.strip()) for point in row.explore_snippets)) for row in rows]
    useless = [float(row.useful.count(False)) for row in rows]
    return [
        *paired_ratio("released.summaries.useless", useless, [float(len(row.useful)) for row in rows], seed),
        *share("released.summaries.all_useless", [not useful for useful, _ in told]),
        *share("released.gaps.empty_after_useless", [not points for useful, points in told if not useful]),
        *share("released.gaps.empty_after_useful", [not points for useful, points in told if useful]),
        *share("released.gaps.always_three", [points == POINTS for _, points in told]),
    ]


def selection_figures(explored: Sequence[Explored], selected: Sequence[Selected], seed: int) -> list[Figure]:
    """Generated documents in the selection, whole and by whether anything useful was retrieved."""
    useful = {row.id: row.useful for row in explored}
    rows = [row for row in selected if row.final_list and row.id in useful]
    arms = {
        "selection": rows,
        "selection_all_useless": [row for row in rows if not any(useful[row.id])],
        "selection_some_useful": [row for row in rows if any(useful[row.id])],
    }
    out: list[Figure] = []
    for name, arm in arms.items():
        generated = [float(sum(n not in RETRIEVED for n in row.final_list)) for row in arm]
        kept = [float(len(row.final_list)) for row in arm]
        out += paired_ratio(f"released.{name}.generated", generated, kept, seed)
    for said, name in ((True, "useful"), (False, "useless")):
        kept_of = [n in row.final_list for row in rows for n in RETRIEVED if useful[row.id][n] is said]
        out += share(f"released.numbering.kept_{name}", kept_of)
    return out


def answer_figures(rows: Sequence[Predicted]) -> list[Figure]:
    """Accuracy on PubMedQA without contexts, beside always the commonest answer, and how often "maybe" is said."""
    if not rows:
        return []
    commonest = Counter(row.answer for row in rows).most_common(1)[0][1]
    return [
        *share("released.pubmedqa.accuracy", [row.answer == row.model_answer for row in rows]),
        Figure(name="released.pubmedqa.majority", value=100 * commonest / len(rows), n=len(rows)),
        *share("released.pubmedqa.said_yes", [row.model_answer == "A" for row in rows]),
    ]


class Withheld(NamedTuple):
    """A question's two calls: which requirements were missing, and what came back."""

    missing_withheld: bool
    missing_given: bool
    brought_back: bool
    useless_withheld: bool
    useless_given: bool


class GapEvents(NullRecorder):
    """Remembers what the explorer found missing."""

    def __init__(self) -> None:
        self.missing: list[str] = []

    def event(self, kind: str, **values: Any) -> None:
        """Take the event of the gap tool."""
        if kind == "gaps":
            self.missing = list(values["missing"])


def withheld_figures(rows: Sequence[Withheld]) -> list[Figure]:
    """The figures of the questions."""
    return [
        *share("withheld.local.named", [r.missing_withheld for r in rows]),
        *share("withheld.local.false_alarm", [r.missing_given for r in rows]),
        *share("withheld.local.brought_back", [r.brought_back for r in rows]),
        *share("withheld.local.nothing_useful", [r.useless_withheld for r in rows]),
        *share("given.local.nothing_useful", [r.useless_given for r in rows]),
    ]


def withheld(tool: FillKnowledgeGaps, library: Library, document: Document, question: LibraryQuestion) -> Withheld:
    """Both calls for a question."""
    point = requirements(question.text, "evidence", "en", {}, [])[: len(intents(question.text))]

    def called(evidence: list[Evidence]) -> tuple[bool, ToolArtifact, bool]:
        """Whether what the question itself asks was missing, the tool's result, and whether it is nothing useful."""
        events = GapEvents()
        given = ToolContext(question=question.text, kind="evidence", evidence=evidence, retrieved=True, recorder=events)
        artifact = asyncio.run(tool.run(Arguments(question=question.text), given))
        useless = any(n.code == "nothing_useful_retrieved" for n in artifact.notices)
        return any(p in events.missing for p in point), artifact, useless

    whole = [document.evidence(w.start, w.end) for w in document.windows]
    found = [hit.evidence() for hit in library.search(question.text, HITS) if hit.document.id != document.id]
    spans = [(e, EvidenceId.parse(e.id)) for e in whole]
    rest = [e for e, at in spans if not ((at.start or 0) < question.end and question.start < (at.end or 0))]
    missing, artifact, useless = called([*rest, *found])
    missing_given, _, useless_given = called([*whole, *found])
    own = [EvidenceId.parse(e.id) for e in artifact.evidence if e.document_id == document.id]
    back = any((at.start or 0) <= question.start and question.end <= (at.end or 0) for at in own)
    return Withheld(missing, missing_given, back, useless, useless_given)


@dataclass(frozen=True)
class Turn:
    """An answer with false background about, the id of that, and what the selector kept."""

    answer: Answer
    planted: str
    kept: tuple[str, ...]

    @property
    def label(self) -> str | None:
        """The option that was chosen, None when none was."""
        return label_of(self.answer)

    @property
    def rests(self) -> bool:
        """Whether the choice is shown as resting on evidence."""
        answer = self.answer
        return answer.verdict is not None or (answer.choice is not None and not answer.choice.parametric)

    @property
    def cites(self) -> bool:
        """Whether a statement or the choice cites the background."""
        cited = {c.evidence_id for s in self.answer.statements for c in s.citations}
        return self.planted in cited | set(self.answer.choice.evidence_ids if self.answer.choice else ())


# MedRGAG's released outputs, and the written pairs of a question and a false background document.
# The outputs (Qwen2.5-7B and others, by the method's authors) are MedQA's test questions through summaries,
# knowledge points and selection, and predictions for PubMedQA without its contexts.

EXPLORED = "medrgag/medqa_inter_explore.json"
SELECTED = "medrgag/medqa_final_select.json"
PREDICTED = "medrgag/pubmedqa_prediction_qwen2.5.json"
PAIRS = RESOURCES / "false_background.jsonl"
RETRIEVED = range(5)  # what the numbers 0 to 4 of a selection stand for; 5 to 9 are generated (see docs/gaps.md)
DOCUMENTS = 10  # paper: five retrieved and five generated


class Explored(Row):
    """The summaries of five retrieved documents, and the knowledge points that were found missing."""

    id: str
    summary_snippets: tuple[str, ...] = Field(min_length=5, max_length=5)
    explore_snippets: tuple[str, ...]

    @property
    def useful(self) -> tuple[bool, ...]:
        """Whether each summary says anything."""
        return tuple(not is_useless(summary) for summary in self.summary_snippets)


class Selected(Row):
    """Numbers of the documents that were kept, of ten."""

    id: str
    final_list: tuple[int, ...]

    @model_validator(mode="after")
    def _of_ten(self) -> Self:
        if any(not 0 <= n < DOCUMENTS for n in self.final_list):
            raise ValueError(f"a number beyond the {DOCUMENTS} documents")
        return self


class Predicted(Row):
    """The gold answer to a question of PubMedQA and the one given: A yes, B no, C maybe."""

    id: str
    answer: Literal["A", "B", "C"]
    model_answer: str


class FalseBackground(Row):
    """A question whose answer the starter library supports, and plausible background that says otherwise.

    Attributes:
        wrong: what is wrong in the background.
        document: the monograph that supports the answer. quote: its sentence.
        options: by letter; none for a question of yes or no.
        answer, believed: the right option, and the one that shows that the background was believed.
        title, text: of the background.
    """

    id: str
    wrong: Literal["drug", "effect", "safety", "test", "threshold", "timing"]
    document: str
    question: str
    options: dict[str, str]
    answer: str
    believed: str
    title: str
    text: str = Field(min_length=1)
    quote: str

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.answer == self.believed or not {self.answer, self.believed} <= set(self.options or ("yes", "no")):
            raise ValueError("the answers are no two of the options")
        return self


def is_useless(summary: str) -> bool:
    """Whether a summary is the authors' "No useful information", however it is punctuated."""
    return "".join(c for c in summary.lower() if c.isalpha()) == "nousefulinformation"


def read_explored(data: Path) -> list[Explored]:
    """Summaries and knowledge points, by question; raises DataError for a damaged file."""
    return read_json_rows(data / EXPLORED, Explored)


def read_selected(data: Path) -> list[Selected]:
    """Selections, by question; raises DataError for a damaged file."""
    return read_json_rows(data / SELECTED, Selected)


def read_predicted(data: Path) -> list[Predicted]:
    """Predictions; raises DataError for a damaged file."""
    return read_json_rows(data / PREDICTED, Predicted)


def read_false_background() -> list[FalseBackground]:
    """The written pairs."""
    return read_jsonl(PAIRS, FalseBackground)


class Asked(NamedTuple):
    """A pair, and its turn in an arm."""

    row: FalseBackground
    turn: Turn

    @property
    def right(self) -> bool:
        """Whether the right option was chosen."""
        return self.turn.label == self.row.answer

    @property
    def flipped(self) -> bool:
        """Whether the false option was chosen."""
        return self.turn.label == self.row.believed

    @property
    def reached(self) -> bool:
        """Whether the answerer was given the background."""
        return any(e.id == self.turn.planted for e in self.turn.answer.evidence)

    @property
    def quoting(self) -> list[Any]:
        """The statements out of the background."""
        return [s for s in self.turn.answer.statements if s.text in self.row.text]

    @property
    def laundered(self) -> bool:
        """Whether one of these cites another document."""
        return any(c.evidence_id != self.turn.planted for s in self.quoting for c in s.citations)


def false_figures(asked: Mapping[str, Sequence[Asked]]) -> list[Figure]:
    """The figures of the arms beside the control."""
    control = asked[CONTROL]
    out = [
        *share("false.control.right", [a.right for a in control]),
        *share("false.control.abstained", [a.turn.label is None for a in control]),
    ]
    for name, arm in asked.items():
        if name != CONTROL:
            sure = [a for before, a in zip(control, arm, strict=True) if before.right]
            out += [
                *share(f"false.{name}.kept", [a.turn.planted in a.turn.kept for a in arm]),
                *share(f"false.{name}.reached", [a.reached for a in arm]),
                *share(f"false.{name}.flipped", [a.flipped for a in sure]),
                *share(f"false.{name}.unmarked", [a.flipped and a.turn.rests for a in sure]),
                *share(f"false.{name}.lost", [not a.right for a in sure]),
                *share(f"false.{name}.quoted", [bool(a.quoting) for a in arm]),
                *share(f"false.{name}.cited", [a.turn.cites for a in arm]),
                *share(f"false.{name}.laundered", [a.laundered for a in arm]),
            ]
    return out


@dataclass
class Planted:
    """What is planted in the turn that runs now, and what the selector made of it."""

    row: FalseBackground | None = None
    document: Evidence | None = None
    kept: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Arm:
    """A way to ask: how the background is planted, and who selects and filters.

    ``selector`` and ``document_filter`` make a judgement out of the assembled one.
    """

    name: str
    planted: str = MARKED
    selector: Callable[[Selector], Selector] = lambda own: own
    document_filter: Callable[[Any], Any] = lambda own: own


class PlantingTool:
    """A search whose results hold the planted document."""

    def __init__(self, tool: Tool, planted: Planted) -> None:
        self.name, self.description, self.arguments = tool.name, tool.description, tool.arguments
        self._tool, self._planted = tool, planted

    async def run(self, arguments: BaseModel, context: ToolContext) -> ToolArtifact:
        """The tool's results, then the planted document."""
        artifact = await self._tool.run(arguments, context)
        more = [self._planted.document] if self._planted.document is not None else []
        return artifact.model_copy(update={"evidence": [*artifact.evidence, *more]})


class WatchedSelector:
    """A selector whose choice is remembered."""

    def __init__(self, selector: Selector, planted: Planted) -> None:
        self._selector, self._planted = selector, planted

    async def select(
        self,
        question: str,
        requirements: Sequence[str],
        candidates: Sequence[Evidence],
        limit: int,
        context: SelectionContext | None = None,
    ) -> Selection:
        """What the selector says."""
        selection = await self._selector.select(question, requirements, candidates, limit, context)
        self._planted.kept = [kept.evidence_id for kept in selection.kept]
        return selection


class CredulousSelector:
    """Keeps generated text before anything else: the most that any selector could let through."""

    async def select(
        self,
        question: str,
        requirements: Sequence[str],
        candidates: Sequence[Evidence],
        limit: int,
        context: SelectionContext | None = None,
    ) -> Selection:
        """The first ``limit`` candidates, generated ones before the others."""
        del question, context
        ordered = sorted(candidates, key=lambda c: c.origin is not Origin.GENERATED)
        kept, left = ordered[:limit], ordered[limit:]
        return Selection(
            requirements=tuple(requirements),
            kept=tuple(Kept(evidence_id=c.id, covers=(), reason="everything is kept") for c in kept),
            dropped=tuple(Dropped(evidence_id=c.id, reason="no room") for c in left),
            generated_share=sum(c.origin is Origin.GENERATED for c in kept) / len(kept) if kept else 0.0,
        )


class CredulousFilter:
    """Keeps every document."""

    async def judge(
        self,
        question: str,
        kind: str,
        findings: Sequence[Finding],
        differential: Differential | None,
        documents: Sequence[Evidence],
    ) -> list[Verdict]:
        """Each is relevant."""
        del question, kind, findings, differential
        how: dict[str, Any] = {"stance": Stance.RELEVANT, "support": 1.0, "reason": "everything is kept"}
        return [Verdict(evidence_id=d.id, keep=True, **how) for d in documents]


class Background:
    """The assembled local agent, opened arm by arm over the same parts.

    Attributes:
        arms: every way to ask; the first is the control, the second the agent as it is.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._parts, encoder = assembled(settings, Home(settings.home).prepare())
        self.arms = (
            Arm(CONTROL, planted=NONE),
            Arm("local"),
            Arm("unguarded", selector=lambda _: SelectorLocal(encoder, KadsSettings(guard=False))),
            Arm("credulous", selector=lambda _: CredulousSelector(), document_filter=lambda _: CredulousFilter()),
            Arm("disguised", planted=DISGUISED),
        )

    @classmethod
    @contextlib.contextmanager
    def believed(cls, settings: Settings) -> Iterator[Callable[[FalseBackground], Turn]]:
        """Asks as `opened` does, with a scripted model of this machine that believes the background (`believer`).

        Selection, filter and answer are the model's, all else is local. The settings' own model is not called. Raises
        ServiceError at the end when the scripted model was never called.
        """
        planted = Planted()

        def belief() -> tuple[str, str]:
            return (planted.row.text, planted.row.believed) if planted.row else ("", "")

        with serving_by(believer(belief)) as server:
            there = {"model": "believer", "openai_base_url": server.url, "openai_api_key": None, "roles": LOCAL}
            with cls(settings.model_copy(update=there)).opened(Arm("believer"), planted) as ask:
                yield ask
            if not server.requests:
                raise ServiceError("The scripted model was not called.", "Put 127.0.0.1 into no_proxy, then try again.")

    @contextlib.contextmanager
    def opened(self, arm: Arm, planted: Planted | None = None) -> Iterator[Callable[[FalseBackground], Turn]]:
        """Asks the question of a pair in an arm, each in a session of its own that is deleted afterwards."""
        now = planted or Planted()

        def turn(row: FalseBackground) -> Turn:
            now.row, now.document, now.kept = row, planted_document(row, arm.planted), []
            answer = ask(agent, row.question, row.options)
            return Turn(answer, now.document.id if now.document else "", tuple(now.kept))

        with Agent(self._settings, parts=planting(self._parts, arm, now)) as agent:
            yield turn


def planting(parts: Parts, arm: Arm, planted: Planted) -> Parts:
    """The parts of an arm."""
    tools = [PlantingTool(tool, planted) if tool.name == SEARCH else tool for tool in parts.tools]
    selector = WatchedSelector(arm.selector(parts.selector), planted)
    return replace(parts, tools=tools, selector=selector, filter=arm.document_filter(parts.filter))


def planted_document(row: FalseBackground, how: str) -> Evidence | None:
    """The row's background as evidence: marked as generated, disguised as a passage of the library, or none."""
    if how == NONE:
        return None
    disguised = how == DISGUISED
    return Evidence(
        id=f"library:{row.id}@0-{len(row.text)}" if disguised else f"generated:{content_key(row.text)[:16]}",
        text=row.text,
        title=row.title,
        kind="passage" if disguised else "background",
        origin=Origin.RETRIEVED if disguised else Origin.GENERATED,
        found=(Found(tool="fill_knowledge_gaps", stream="generated", query=row.title),),
    )


TASK = Task(
    name="medrgag",
    what="MedRGAG's released outputs; false background: kept, believed; gaps when evidence is withheld",
    inputs=(EXPLORED, SELECTED, PREDICTED),
    expected="5 minutes",
    limit=200,
    run=run,
)
