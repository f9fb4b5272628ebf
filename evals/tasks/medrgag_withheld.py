"""The explorer when evidence is withheld: does it name the gap, and does the search for it bring the evidence back?

A question of the starter library is asked of the gap tool twice: with what a search for it gives and the other parts of
its monograph, once without every window that holds its answering sentence (``withheld``) and once with it. ``named`` is
the share in which the explorer calls the point of the question a gap when it is withheld, ``false_alarm`` when it is
there; ``brought_back`` the share in which, when withheld, the new evidence holds the answering sentence whole;
``nothing_useful`` how often each is told to hold nothing useful.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evals.contract import Figure, TaskContext
from evals.statistics import share
from prompts.tool_arguments import FillKnowledgeGaps as Arguments
from tools.contract import ToolArtifact, ToolContext
from tools.evidence import Evidence, EvidenceId
from tools.gaps.requirements import intents, requirements
from tools.recorder import NullRecorder

if TYPE_CHECKING:
    from tools.gaps.tool import FillKnowledgeGaps
    from tools.library.collection import Library
    from tools.library.document import Document, LibraryQuestion

MOST = 200  # ours: questions at most; more would not make the interval much narrower
HITS = 8  # ours: documents of the search, as many as the planner asks for


class Explored(NamedTuple):
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


def figures(context: TaskContext) -> list[Figure]:
    """The local explorer over questions of the library."""
    from agent.assembly import assemble
    from agent.sessions import Home
    from evals.agent_runs import cached
    from tools.encoders import Encoder
    from tools.library.collection import Library

    home = Home(context.settings.home).prepare()
    opened: list[Encoder] = []

    def wrap(encoder: Any) -> Encoder:
        opened.append(cached(encoder, home))
        return opened[0]

    tool: Any = next(t for t in assemble(context.settings, home, wrap=wrap).tools if t.name == "fill_knowledge_gaps")
    library = Library.open(home.indexes / "library", opened[0])
    asked = context.sample_of([(d, q) for d in library.documents for q in d.questions], min(context.limit, MOST))
    rows = [explored(tool, library, d, q) for d, q in context.tick(asked, "withheld", len(asked))]
    return figures_of(rows)


def figures_of(rows: Sequence[Explored]) -> list[Figure]:
    """The figures of the questions."""
    return [
        *share("withheld.local.named", [r.missing_withheld for r in rows]),
        *share("withheld.local.false_alarm", [r.missing_given for r in rows]),
        *share("withheld.local.brought_back", [r.brought_back for r in rows]),
        *share("withheld.local.nothing_useful", [r.useless_withheld for r in rows]),
        *share("given.local.nothing_useful", [r.useless_given for r in rows]),
    ]


def explored(tool: FillKnowledgeGaps, library: Library, document: Document, question: LibraryQuestion) -> Explored:
    """Both calls for a question."""
    whole = [document.evidence(w.start, w.end) for w in document.windows]
    found = [hit.evidence() for hit in library.search(question.text, HITS) if hit.document.id != document.id]
    without = [e for e in whole if not _overlaps(e, question)]
    missing, artifact = _called(tool, question.text, [*without, *found])
    missing_given, given = _called(tool, question.text, [*whole, *found])
    own = [e for e in artifact.evidence if e.document_id == document.id]
    return Explored(
        missing_withheld=missing,
        missing_given=missing_given,
        brought_back=any(_holds(e, question) for e in own),
        useless_withheld=_useless(artifact),
        useless_given=_useless(given),
    )


def _called(tool: FillKnowledgeGaps, question: str, evidence: list[Evidence]) -> tuple[bool, ToolArtifact]:
    """Whether what the question itself asks was missing, and the tool's result."""
    events = GapEvents()
    given = ToolContext(question=question, kind="evidence", evidence=evidence, retrieved=True, recorder=events)
    artifact = asyncio.run(tool.run(Arguments(question=question), given))
    point = requirements(question, "evidence", "en", {}, [])[: len(intents(question))]
    return any(p in events.missing for p in point), artifact


def _useless(artifact: ToolArtifact) -> bool:
    return any(n.code == "nothing_useful_retrieved" for n in artifact.notices)


def _overlaps(evidence: Evidence, question: LibraryQuestion) -> bool:
    span = EvidenceId.parse(evidence.id)
    return (span.start or 0) < question.end and question.start < (span.end or 0)


def _holds(evidence: Evidence, question: LibraryQuestion) -> bool:
    span = EvidenceId.parse(evidence.id)
    return (span.start or 0) <= question.start and question.end <= (span.end or 0)
