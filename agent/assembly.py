"""Assembly: the machine's parts out of the settings, and what is built once at set-up."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agent.adapters import DocumentPassages, DocumentQuestions, GapSearch, GraphTexts, LibraryDocuments, SentenceRanking
from agent.corpus import opened as opened_corpora
from agent.icd10 import TABLE, build_icd10, build_icd10_names
from agent.knowledge_graph import open_graph
from agent.mirror import mirror_source, searched, used_in, words_of
from agent.models import check_needs, encoder_is_bf16, open_models
from agent.questions import StarterQuestions, question_tool, searched_ahead, short_way
from agent.rare_diseases import RareSection, are_built, build_rare_diseases
from agent.sessions import Home
from agent.settings import Settings
from graphs.answering.local import AnswererLocal
from graphs.completeness.local import open_gate
from graphs.context import Limits, Parts
from graphs.differential_filter.contract import DocumentFilter
from graphs.differential_filter.local import DocumentFilterLocal, DocumentFilterOff
from graphs.judging.orders import instructing
from graphs.kads.contract import Selector
from graphs.kads.local import KadsSettings, SelectorInOrder, SelectorLocal
from graphs.planning.contract import Planner
from graphs.planning.fixed import PlannerFixed, uses
from graphs.planning.local import PlannerLocal
from graphs.reporting.local import ReporterLocal
from graphs.triage.local import TriageLocal
from graphs.verdicts.local import VerdictJudgeLocal
from graphs.verification.local import VerifierLocal
from prompts.errors import DataError, InputError
from prompts.language_model import LanguageModels
from tools.contract import Tool
from tools.embedding_cache import CachedEncoder
from tools.encoders import MINILM, Encoder, MiniLMEncoder, load_encoder
from tools.files import locked, write_atomic
from tools.gaps.contract import GapSettings
from tools.gaps.requirements import requirements
from tools.gaps.tool import FillKnowledgeGaps
from tools.icd10 import load_icd10
from tools.knowledge_graph.lookup import KnowledgeGraph, LookupDifferential
from tools.knowledge_graph.names import Names
from tools.knowledge_graph.schema import Graph
from tools.library.build import build_library
from tools.library.collection import Library
from tools.library.contract import SearchableLibrary
from tools.library.document import Document
from tools.library.english import InEnglish
from tools.library.joined import JoinedLibrary
from tools.library.shelf import Shelf, shelf_file
from tools.literature.adapt_e.contract import QueryPlanner, SearchPlan
from tools.literature.adapt_e.local import OtherNames, QueryPlannerLocal
from tools.literature.adapt_e.typed import has_prose, typed, words_of_typed
from tools.literature.by_meaning import FOLDER, ByMeaning, imported
from tools.literature.client import EUtilities, PubMed
from tools.literature.full_text import full_text_sources
from tools.literature.live import LiveResult, LiveSearch
from tools.literature.privacy import begin, not_sent, released_in
from tools.literature.settings import LiteratureSettings
from tools.literature.strategy import Source
from tools.literature.tool import ON_SUBJECT, READ_BY_MODEL, Reranker, SearchLiterature
from tools.literature.vocabulary import Collection, Vocabulary, several_words, technical_words
from tools.medicines.pages import starter_pages
from tools.passages.contract import DocumentSource, FullTexts
from tools.passages.pool import PassagePool
from tools.passages.seos import SeosSettings
from tools.passages.tool import RetrievePassages
from tools.reading.reader import RelevanceReranker, TrainedReader
from tools.spelling import corrected
from tools.summaries import TellingSentences

if TYPE_CHECKING:
    from tools.literature.medcpt.published import MedCPTReranker

ROOT = Path(__file__).resolve().parent.parent
STARTER_LIBRARY = ROOT / "tools" / "library" / "starter"
SELECTED = 8  # ours, on our questions over the library (docs/architecture.md): 5 cite the right document less often

Say = Callable[[str], None]


def assemble(
    settings: Settings,
    home: Home,
    wrap: Callable[[CachedEncoder], Encoder] | None = None,
    say: Say = lambda _: None,
    *,
    everything: bool = False,
) -> Parts:
    """The machine of the settings. What was never built is built first, and ``say`` is told how far that is.

    Args:
        wrap: stands another encoder before the opened one (evaluations keep the vectors of their queries).
        everything: what only some messages need is built now too, not when the first of them asks for it.

    Raises:
        DataError: what was built is damaged, or of another encoder.
        InputError: the configuration needs what is not there.
    """
    check_needs(settings)
    _build_once(settings, home, say, everything=everything)
    opened = open_encoder(settings, home)
    encoder: Encoder = opened if wrap is None else wrap(opened)
    graph = open_graph(settings, home, encoder)
    library = _open_library(settings, home, encoder)
    documents = LibraryDocuments(library)
    rare = RareSection(home, encoder, always=settings.rare_diseases, say=say)
    texts = GraphTexts(graph, rare.entry)
    names = Names(graph.graph)
    vocabulary = search_vocabulary(library, graph.graph, _icd10(home))
    source = searched(settings.literature)
    models = open_models(settings, home)
    search = SearchLiterature(
        library,
        encoder,
        **source._asdict(),
        planner=query_planner(
            models, vocabulary, names.found_in, collection=words_of(source.pubmed), settings=settings.literature
        ),
        vocabulary=vocabulary,
        meaning=imported(home.indexes / FOLDER, encoder),
        reranker=reranker(settings),
        least=READ_BY_MODEL if models is not None and models.judged_by_model("research") else ON_SUBJECT,
    )
    # A gap is a phrase to search for already: a plan by a model would only stand on the turn's critical path.
    by_rules = query_planner(None, vocabulary, names.found_in, collection=words_of(source.pubmed))
    reader = TrainedReader()
    answerer = AnswererLocal(
        SentenceRanking(encoder),
        encoder,
        VerdictJudgeLocal(reader, encoder),
        texts,
        names.found_in,
        pages=documents,
        known=library.frequencies,
        diseases=names.diseases_named,
    )
    titles = {disease.zh: disease.name for disease in graph.graph.diseases}
    in_english = InEnglish(names.found_in, library.by_words, titles, library.frequencies)
    starter = StarterQuestions(settings, home, encoder, say)
    answered = question_tool(
        settings, home, library, encoder, names.found_in, ensure=starter.build, reader=reader, states=graph.stated
    )
    parts = Parts(
        triage=TriageLocal(
            lambda text: in_english.knows(text) or documents.on_subject(text),
            names.diseases_in,
            in_english,
            graph.stated,
            hypotheses=models is not None and models.judged_by_model("answer"),
            grave=graph.grave_share,
            beside_known=graph.without_known,
        ),
        gate=open_gate(settings.gate, encoder),
        planner=planner(settings, PlannerLocal(documents.holds)),
        tools=offered(
            settings,
            [
                searched_ahead(search, settings, models),
                passage_tool(settings, documents, encoder, search.full_texts),
                rare.tool(LookupDifferential(graph)),
                _gap_tool(GapSearch(search.planned_by(by_rules)), encoder, settings, models, documents),
                answered,
            ],
        ),
        selector=selector(settings, encoder),
        filter=document_filter(settings, DocumentFilterLocal(encoder, texts.wordings, strange=answerer.terms.strange)),
        answerer=answerer,
        verifier=VerifierLocal(encoder, says=answerer.judge.says),
        reporter=ReporterLocal(answerer, documents.sections),
        look_up=rare.look_up(lambda case, language, known: graph.look_up(case, language, known=known)),
        requirements=requirements,
        limits=limits(settings),
        document=library.document,
        weighs=settings.evidence_weighs,
        passages=DocumentPassages(encoder).of,
        questions=DocumentQuestions(library, encoder).of,
    )
    if models is not None:
        from agent.judgements import by_models

        parts = by_models(parts, settings, models, encoder, gap_settings(settings))
        if models.judged_by_model("research") and not settings.pipeline.steps:
            parts = replace(parts, said=TellingSentences(encoder, documents.monograph))
    return short_way(parts, settings, answered)


# The local parts as the settings choose them, and the arms of ablations.


def planner(settings: Settings, local: Planner) -> Planner:
    """The planner that chooses, or the fixed order of tools of a published method."""
    return PlannerFixed(settings.pipeline) if settings.pipeline.steps else local


def offered(settings: Settings, tools: list[Tool]) -> list[Tool]:
    """The tools of this configuration: a fixed order offers no others."""
    names = uses(settings.pipeline, [tool.name for tool in tools])
    return [tool for tool in tools if tool.name in names]


def limits(settings: Settings) -> Limits:
    """The bounds of a turn; every round of a fixed order has its place in them.

    Unless it is set, the local selector keeps more than a language model: nothing that it keeps has to be sent.
    """
    own = settings.limits
    selected = own.selected if settings.model or "selected" in own.model_fields_set else SELECTED
    return own.model_copy(update={"rounds": max(own.rounds, len(settings.pipeline.rounds)), "selected": selected})


def selector(settings: Settings, encoder: Encoder) -> Selector:
    """The local selector, or none of a kind where the settings switch it off."""
    if settings.selection.method == "in_order":
        return SelectorInOrder()
    return SelectorLocal(encoder, KadsSettings(guard=settings.selection.guard))


def document_filter(settings: Settings, local: DocumentFilter) -> DocumentFilter:
    """The local filter, or one that keeps everything where the settings switch it off."""
    return local if settings.document_filter else DocumentFilterOff()


def _gap_tool(
    search: GapSearch,
    encoder: Encoder,
    settings: Settings,
    models: LanguageModels | None,
    documents: LibraryDocuments,
) -> FillKnowledgeGaps:
    """The gap tool, its judgements a model's where one is named."""
    own = gap_settings(settings)
    if models is None:
        return FillKnowledgeGaps(search, encoder, own, refused=instructing)
    from agent.judgements import gap_tool

    return gap_tool(search, encoder, own, models, instructing, documents.sections)


def gap_settings(settings: Settings) -> GapSettings:
    """The gap tool's settings with the policy of generated background, which several parts share."""
    return settings.gaps.model_copy(update={"generated": settings.generated})


def open_search(settings: Settings, home: Home, mirror: Path | None = None, say: Say = lambda _: None) -> OpenSearch:
    """The literature search by itself, over live PubMed or a mirror on disk. Raises DataError as `assemble` does."""
    _build_once(settings, home, say)
    encoder = open_encoder(settings, home)
    graph = open_graph(settings, home, encoder).graph
    library = _open_library(settings, home, encoder)
    vocabulary = search_vocabulary(library, graph, _icd10(home))
    meaning = imported(home.indexes / FOLDER, encoder)
    folder = mirror or settings.literature.mirror
    models = open_models(settings, home)
    return OpenSearch(settings, models, encoder, vocabulary, Names(graph).found_in, library, meaning, folder)


def library_documents(settings: Settings, home: Home, say: Say = lambda _: None) -> Callable[[str], Document]:
    """Gives documents of the library by the id of a slice; it is opened, and where need be built, at the first one."""

    @cache
    def library() -> JoinedLibrary:
        _build_once(settings, home, say)
        return _open_library(settings, home, open_encoder(settings, home))

    return lambda name: library().document(name)


def _build_once(settings: Settings, home: Home, say: Say, *, everything: bool = False) -> None:
    """Build what was never built."""
    if not _library(home).exists():
        say("The first use builds the library and its indexes, once:")
        build(settings, home, rebuild=False, say=say, everything=everything)
    elif everything and (StarterQuestions.due(settings, home) or not are_built(home)):
        build_rest(settings, home, say)


def build(settings: Settings, home: Home, *, rebuild: bool, say: Say, everything: bool = True) -> None:
    """Build what is slow to build once: graph, library, ICD-10 table. What is up to date is left.

    Args:
        everything: build also what `build_rest` does, which else is built when a message first needs it.
    """
    with locked(home.root / "build"):
        if rebuild:
            _forget_indexes(home)
            home.encoder_choice.unlink(missing_ok=True)
        home.indexes.mkdir(parents=True, exist_ok=True, mode=0o700)
        _measure_encoder(settings, home, say)
        with contextlib.closing(open_encoder(settings, home)) as encoder:
            say("knowledge graph ...")
            KnowledgeGraph(encoder, home.indexes).edge.build()  # compiled where it is not, or not of these files
            say("library ...")
            if build_library(STARTER_LIBRARY, _library(home), encoder, more=starter_pages()):
                StarterQuestions.forget(home)
            if shelf_file(home.library).exists():
                _embed_own(home, encoder, rebuild=rebuild, say=say)
            build_icd10(home, say)
    if everything:
        build_rest(settings, home, say)


def build_rest(settings: Settings, home: Home, say: Say) -> None:
    """Build what only some messages need: names of ICD-10, rare diseases, generated questions where they are set."""
    with contextlib.closing(open_encoder(settings, home)) as encoder:
        StarterQuestions(settings, home, encoder, say).build(again=True)
        build_icd10_names(home, say)
        build_rare_diseases(home, encoder, say)


def open_encoder(settings: Settings, home: Home) -> CachedEncoder:
    """The encoder that the settings name, its document vectors kept under the data folder."""
    encoder = load_encoder(settings.encoder, bf16=encoder_is_bf16(settings, home))
    return CachedEncoder(encoder, home.cache / "embeddings")


def _open_library(settings: Settings, home: Home, encoder: Encoder) -> JoinedLibrary:
    """The starter collection, the user's documents, and the built collections of the settings."""
    starter = Library.open(_library(home), encoder)
    return JoinedLibrary(starter, home.library, encoder, opened_corpora(settings, encoder))


def _forget_indexes(home: Home) -> None:
    """Delete what set-up builds.

    The imported vectors of PubMed stay, because importing them takes hours, and the work of question writers, because
    a model's is paid for: `anamnesis questions build --writer model` takes it over.
    """
    import shutil

    from tools.questions.work import WORK

    for path in home.indexes.iterdir() if home.indexes.is_dir() else ():
        if not path.name.startswith(FOLDER) and WORK not in path.name:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _library(home: Home) -> Path:
    return home.indexes / "library"


def _icd10(home: Home) -> Path:
    return home.indexes / TABLE


def _measure_encoder(settings: Settings, home: Home, say: Say) -> None:
    if settings.encoder not in ("", MINILM) or home.encoder_choice.exists():
        return
    say("encoder ...")
    chosen = {"bf16": MiniLMEncoder(bf16=None).bf16}
    write_atomic(home.encoder_choice, json.dumps(chosen).encode())


def _embed_own(home: Home, encoder: Encoder, *, rebuild: bool, say: Say) -> None:
    """Embed the user's documents again when that is asked for, or when the encoder has changed; none is lost."""
    from tools.library.upkeep import rebuild as embed_again

    shelf = Shelf(home.library, encoder, check_encoder=False)
    if rebuild or shelf.made_with != (encoder.name, encoder.dimension):
        say("your own documents ...")
        embed_again(shelf)
    shelf.close()


# The query planner of this configuration: by a language model when one is named, else by rules.


def search_vocabulary(library: SearchableLibrary, graph: Graph, icd10: Path) -> Vocabulary:
    """The words that are known to be medical: of the published library, the graph's names and the ICD-10 table."""
    names = [name for d in graph.diseases for name in (d.name, *d.aliases)]
    names += [f.name for f in graph.findings]
    names += load_icd10(icd10).names()
    words, phrases = technical_words(names), several_words(names)
    return Vocabulary(**library.public_words._asdict(), words=words, names=phrases)


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
    from tools.literature.adapt_e.by_model import QueryPlannerByModel

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
        self._vocabulary, self._collection = vocabulary, collection
        self.planner = query_planner(
            models, vocabulary, other_names, collection=collection, settings=settings.literature
        )
        texts = full_text_sources(library, self.pubmed, settings.literature)
        self._live = LiveSearch(self.pubmed, encoder, self.source, settings.literature, texts, meaning)

    async def plan(self, text: str, *, case: bool) -> SearchPlan:
        """What a search would send, and what it holds back. Raises InputError as `search` does.

        What is typed as a query is sent as it stands: its words are its author's choice, but for prose in it.
        """
        said, released = released_in(text)
        asked = typed(said) if not case else None
        begin(said, self._vocabulary, released)
        if asked is not None and not has_prose(said, self._vocabulary):
            begin(said, self._vocabulary, [*released, said])
            return asked
        in_use = used_in(said, self._collection, self._vocabulary) if self._collection is not None and not case else []
        begin(said, self._vocabulary, [*released, *in_use])
        plan = await self.planner.plan(said, case=case)
        if not plan.expressions:
            what = f"The text gives no search terms that may be sent. {not_sent(plan.held)}"
            raise InputError(what.strip(), "Name the illness or the treatment.")
        return plan

    async def search(self, text: str, *, case: bool, limit: int, every: bool = False) -> LiveResult:
        """Plan, climb, fuse, and read the best ``limit`` at their depth; ``every``: list all that is found.

        Raises:
            InputError: the text has no terms that may be sent.
            ServiceError: the source failed.
        """
        plan, said = await self.plan(text, case=case), released_in(text)[0]
        said = said if plan.terms else words_of_typed(said)
        return await self._live.search(plan, said, limit=limit, tool="search", every=every)


# How documents are read closely: the passage tool out of the settings, and what `doctor` tells of it.

READ = ("two_stage", "chunk_reranked")  # strategies in which a cross-encoder reads
HOW = {
    "chunk_counted": "chunks counted",
    "chunk_reranked": "chunks reranked",
    "whole_documents": "whole documents by words",
}


def passage_tool(
    settings: Settings, source: DocumentSource, encoder: Encoder, texts: FullTexts | None = None
) -> RetrievePassages:
    """The tool `retrieve_passages`; only the strategy ``two_stage`` reads ``texts``.

    Raises:
        DataError: a cross-encoder's folder is set and has no model.
    """
    return RetrievePassages(
        source,
        PassagePool(encoder, SeosSettings(method=settings.passage_method)),
        strategy=settings.passage_search,
        room=settings.passage_tokens,
        reader=cross_encoder(settings.encoder) if settings.passage_search in READ else None,
        guard=settings.passage_guard,
        texts=texts if settings.passage_search == "two_stage" else None,
    )


def cross_encoder(setting: str) -> MedCPTReranker | None:
    """The cross-encoder of an encoder setting; None when it names none, or NCBI's and that one is not on disk."""
    from tools.literature.medcpt.published import load_reranker

    try:
        return load_reranker(setting)
    except DataError:
        if setting == "medcpt":
            return None
        raise


def reranker(settings: Settings) -> Reranker | None:
    """What orders the documents of all sources where they are retrieved per source: MedCPT's cross-encoder where the
    encoder setting names it, else the trained reader's relevance head; None where the settings do not retrieve so."""
    if settings.literature.method != "per_source":
        return None
    return cross_encoder(settings.encoder) or RelevanceReranker(TrainedReader())


def passages_described(settings: Settings) -> str:
    """The strategy, the room and the cross-encoder, in words."""
    reader = "with" if cross_encoder(settings.encoder) is not None else "without"
    how = HOW.get(settings.passage_search, f"two stages, {reader} a cross-encoder")
    return f"{how}, at most {settings.passage_tokens} tokens"
