"""The short way: how often the question tool answers directly, and how often from the right document."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from evals.contract import Figure
from evals.datasets.answered_questions import read_own
from evals.statistics import share
from prompts.tool_arguments import FindAnsweredQuestion as Arguments
from tools.contract import ToolContext
from tools.evidence import EvidenceId
from tools.questions.collection import of_library

if TYPE_CHECKING:
    from agent.sessions import Home
    from evals.contract import TaskContext
    from tools.encoders import Encoder
    from tools.library.collection import Library
    from tools.questions.tool import FindAnsweredQuestion

KINDS = ("rephrase", "ood", "outside")


class Direct(NamedTuple):
    """A question's direct answer: the document of the first one, "" for none, and whether that document is gold."""

    kind: str
    document: str
    right: bool


def figures(context: TaskContext, home: Home, library: Library, encoder: Encoder) -> list[Figure]:
    """Ask every question of ours, and those that no document answers, at the shipped threshold."""
    from agent.questions import STARTER, build_questions, question_tool
    from agent.sessions import Home

    sources = of_library(library.documents)
    own = Home(home.cache / "evaluations" / "short_way").prepare()  # the user's index and notes stay as they are
    quiet = context.settings.questions.model_copy(update={"learn": False})
    settings = context.settings.model_copy(update={"questions": quiet})
    asyncio.run(build_questions(settings, own, STARTER, sources, encoder))
    tool = question_tool(settings, own, library, encoder)
    found: list[Direct] = []
    for kind in KINDS:
        asked = read_own(sources, kind, context.limit, context.seed).asked
        for question in context.tick(asked, f"short way: {kind}", len(asked)):
            document = asyncio.run(_answered(tool, question.text))
            found.append(Direct(kind, document, document in question.gold))
    return counted(found)


def counted(found: Sequence[Direct]) -> list[Figure]:
    """Precision over all direct answers, those outside the library counting as wrong; the share answered by kind."""
    given = [direct for direct in found if direct.document]
    out = share("short_way.library.precision", [direct.right for direct in given])
    inside = [direct for direct in found if direct.kind != "outside"]
    out += share("short_way.library.coverage", [bool(direct.document) for direct in inside])
    for kind in KINDS:
        of_kind = [direct for direct in found if direct.kind == kind]
        out += share(f"short_way.{kind}.answered", [bool(direct.document) for direct in of_kind])
        if kind != "outside":
            out += share(f"short_way.{kind}.precision", [direct.right for direct in of_kind if direct.document])
    return out


async def _answered(tool: FindAnsweredQuestion, question: str) -> str:
    """The document of the first direct answer, "" when the tool gives none."""
    artifact = await tool.run(Arguments(question=question, limit=3), ToolContext(question=question, kind="evidence"))
    return EvidenceId.parse(artifact.answered[0].evidence.id).document_id if artifact.answered else ""
