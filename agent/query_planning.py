"""The query planner of this configuration: by a language model when one is named, else by rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent.mirror import mirror_source, words_of
from agent.settings import Settings
from prompts.errors import InputError
from prompts.language_model import LanguageModels
from tools.encoders import Encoder
from tools.icd10 import load_icd10
from tools.knowledge_graph.schema import Graph
from tools.library.contract import SearchableLibrary
from tools.literature.adapt_e.by_model import QueryPlannerByModel
from tools.literature.adapt_e.contract import QueryPlanner, SearchPlan
from tools.literature.adapt_e.local import OtherNames, QueryPlannerLocal
from tools.literature.by_meaning import ByMeaning
from tools.literature.client import EUtilities, PubMed
from tools.literature.full_text import full_text_sources
from tools.literature.live import LiveResult, LiveSearch
from tools.literature.privacy import begin, not_sent, released_in
from tools.literature.settings import LiteratureSettings
from tools.literature.strategy import Source
from tools.literature.vocabulary import Collection, Vocabulary, technical_words
from tools.spelling import corrected


def search_vocabulary(library: SearchableLibrary, graph: Graph, icd10: Path) -> Vocabulary:
    """The words that are known to be medical: of the published library, the graph's names and the ICD-10 table."""
    names = [name for d in graph.diseases for name in (d.name, *d.aliases)]
    names += [f.name for f in graph.findings]
    names += load_icd10(icd10).names()
    return Vocabulary(**library.public_words._asdict(), words=technical_words(names))


def query_planner(
    models: LanguageModels | None,
    vocabulary: Vocabulary,
    other_names: OtherNames | None = None,
    *,
    collection: Collection | None = None,
    settings: LiteratureSettings | None = None,
) -> QueryPlanner:
    """The planner; ``collection`` are the words of what is searched, None for those of published medical prose."""
    known = vocabulary if collection is None else replace(vocabulary, collection=collection)
    chosen = settings or LiteratureSettings()
    local = QueryPlannerLocal(
        known, other_names=other_names, rungs=chosen.rungs, correct=corrected if chosen.spelling == "text" else None
    )
    if models is None or not models.judged_by_model("query_plan"):
        return local
    return QueryPlannerByModel(models.of("query_plan"), local, known, rungs=chosen.rungs)


class OpenSearch:
    """The literature search of a configuration, without a turn.

    Args:
        library: gives the full texts that it holds; it is not searched.
        meaning: the imported vectors of PubMed, where there are any.
        mirror: folder of a local mirror to search in this process; None for the E-utilities of the settings.

    Attributes:
        pubmed: what is searched. source: its name in a strategy.
    """

    def __init__(
        self,
        settings: Settings,
        models: LanguageModels | None,
        encoder: Encoder,
        vocabulary: Vocabulary,
        other_names: OtherNames,
        library: SearchableLibrary,
        meaning: ByMeaning | None = None,
        mirror: Path | None = None,
    ) -> None:
        self.pubmed: PubMed
        collection = None
        if mirror is None:
            self.pubmed = EUtilities(settings.literature)
            self.source = Source(kind="pubmed", name=settings.literature.base_url)
        else:
            from tools.mirror.engine import Mirror

            self.pubmed = opened = Mirror.open(mirror)
            self.source, collection = mirror_source(opened, mirror), words_of(opened)
        self._vocabulary = vocabulary
        self.planner = query_planner(
            models, vocabulary, other_names, collection=collection, settings=settings.literature
        )
        texts = full_text_sources(library, self.pubmed, settings.literature)
        self._live = LiveSearch(self.pubmed, encoder, self.source, settings.literature, texts, meaning)

    async def plan(self, text: str, *, case: bool) -> SearchPlan:
        """What a search would send, and what it holds back. Raises InputError as `search` does."""
        said, released = released_in(text)
        begin(said, self._vocabulary, released)
        plan = await self.planner.plan(said, case=case)
        if not plan.expressions:
            what = f"The text gives no search terms that may be sent. {not_sent(plan.held)}"
            raise InputError(what.strip(), "Name the illness or the treatment.")
        return plan

    async def search(self, text: str, *, case: bool, limit: int) -> LiveResult:
        """Plan, climb, fuse, and read the best ``limit`` at their depth.

        Raises:
            InputError: the text has no terms that may be sent.
            ServiceError: the source failed.
        """
        plan = await self.plan(text, case=case)
        return await self._live.search(plan, released_in(text)[0], limit=limit, tool="search")
