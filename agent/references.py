"""The references of answers and searches, filled in from the records of PubMed that this machine holds."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from agent.mirror import searched
from agent.sessions.export import ExportedTurn
from graphs.answering.presentation import statements_of
from prompts.errors import AnamnesisError
from tools.literature.article import Article
from tools.literature.client import EUtilities
from tools.literature.settings import LiteratureSettings
from tools.references.contract import Collected, collected


async def references_of(turns: Sequence[ExportedTurn], settings: LiteratureSettings) -> Collected:
    """What the answers of some turns cite, each document once, in the order of the turns."""
    answers = [turn.answer for turn in turns if turn.answer is not None]
    cited = {c.evidence_id for a in answers for s in statements_of(a) for c in s.citations}
    items = [item for answer in answers for item in answer.evidence if item.id in cited]
    found = [d for turn in turns for search in turn.searches for s in search.strategies for d in s.documents]
    copies = {d.text: d.id.partition(":")[2] for d in found if d.text and d.text != d.id}
    named = [item.document_id.partition(":")[2] for item in items if item.id.startswith("pubmed:")]
    pmids = [*named, *(copies[item.document_id] for item in items if item.document_id in copies)]
    held, failed = await _held(pmids, settings)
    return collected(items, held, copies, failed)


async def _held(pmids: Sequence[str], settings: LiteratureSettings) -> tuple[dict[str, Article], str]:
    """Records by PMID out of the mirror of the settings and of what PubMed's answers left here; PubMed is not asked.

    A mirror that fails costs fields and not the export: what went wrong stands beside the records.
    """
    held: dict[str, Article] = {}
    if not pmids:
        return held, ""
    failed = ""
    if settings.mirror is not None:
        try:
            mirror = searched(settings).pubmed
            if mirror is not None:
                with contextlib.closing(mirror):
                    held = {a.pmid: a for a in await mirror.fetch(list(dict.fromkeys(pmids)))}
        except AnamnesisError as error:
            failed = str(error)
    return await EUtilities(settings).kept(pmids) | held, failed
