"""The five tools, called by a client itself: with the safety of a turn, without its judgements.

A text that is long or describes a patient is treated as a case, so that only medical words of it reach PubMed; what
speaks to machines is left out, as the agent's own selector and filter leave it out, and named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from prompts.errors import InputError
from tools.contract import Notice, Outcome, Severity, ToolArtifact, ToolContext

if TYPE_CHECKING:
    from agent.agent import Agent
    from tools.contract import Tool
    from tools.evidence import Evidence

NARRATIVE = 3  # ours: from as many sentences on a text is read as a case, as `anamnesis search` does
LEFT_OUT = "Left out, because this text gives orders to whoever reads it by machine: {titles}. Look at it yourself."
RETRIEVING = frozenset({"search_literature", "retrieve_passages", "find_answered_question", "lookup_differential"})


async def call(agent: Agent, name: str, arguments: BaseModel, found: list[Evidence]) -> ToolArtifact:
    """Carry out a call.

    Args:
        arguments: validated, of the tool's own schema.
        found: what earlier calls of this client found.

    Raises:
        InputError: the configuration does not offer the tool.
        ToolError: the arguments must be mended.
        ServiceError: an outside service failed.
    """
    from agent.loop import arun

    tool = next((t for t in agent.parts.tools if t.name == name), None)
    if tool is None:
        raise InputError(
            f"The configuration in use does not offer {name}.", "`tools/list` names the tools that it does."
        )
    return _safe(await arun(_untraced(agent, tool, arguments, found)))


async def _untraced(agent: Agent, tool: Tool, arguments: BaseModel, found: list[Evidence]) -> ToolArtifact:
    from agent.settings import untraced

    with untraced(agent.settings):
        return await _run(agent, tool, arguments, found)


async def _run(agent: Agent, tool: Tool, arguments: BaseModel, found: list[Evidence]) -> ToolArtifact:
    from prompts.metering import Meter, metered
    from tools.text.spaces import without_gaps

    texts = {field: without_gaps(value) for field, value in arguments if isinstance(value, str)}
    settled = arguments.model_copy(update=texts)
    with metered(Meter(agent.settings.budget, agent.settings.prices)):
        return await tool.run(settled, _context(tool.name, settled, found))


def _context(name: str, arguments: Any, found: list[Evidence]) -> ToolContext:
    """What a turn would lend to the tool, as far as the call tells it."""
    from tools.text.language import language_of

    text = next(str(getattr(arguments, field)) for field in ("query", "case", "question") if hasattr(arguments, field))
    text = text or "; ".join(getattr(arguments, "findings", ()))
    kind = "case" if name == "lookup_differential" or _is_case(text) else "evidence"
    return ToolContext(question=text, kind=kind, language=language_of(text), evidence=found, retrieved=bool(found))


def _is_case(text: str) -> bool:
    from graphs.triage.local import describes_patient
    from tools.text.sentences import sentences

    return len(sentences(text)) >= NARRATIVE or describes_patient(text)


def _safe(artifact: ToolArtifact) -> ToolArtifact:
    """The result without what speaks to machines, and with a notice that names it."""
    from graphs.judging.orders import instructing

    everything = [*artifact.evidence, *(a.evidence for a in artifact.answered)]
    ids = instructing(everything)
    if not ids:
        return artifact
    titles = dict.fromkeys(e.title or e.document_id for e in everything if e.id in ids)
    text = LEFT_OUT.format(titles="; ".join(titles))
    evidence = [e for e in artifact.evidence if e.id not in ids]
    return artifact.model_copy(
        update={
            "evidence": evidence,
            "answered": [a for a in artifact.answered if a.evidence.id not in ids],
            "gaps": [
                g.model_copy(update={"covered_by": tuple(c for c in g.covered_by if c not in ids)})
                for g in artifact.gaps
            ],
            "notices": [*artifact.notices, Notice(code="speaks_to_machines", text=text, severity=Severity.WARNING)],
            "outcome": artifact.outcome if evidence or artifact.outcome is not Outcome.OK else Outcome.NOTHING_FOUND,
        }
    )
