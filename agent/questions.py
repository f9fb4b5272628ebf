"""The question indexes of a data folder: where they lie, what they are built from, and the tool that asks them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.sessions import Home
from agent.settings import Settings
from graphs.context import Parts
from graphs.nodes.filter import documents
from graphs.planning.contract import ResearchView
from graphs.planning.local import PlannerShortWay
from prompts.errors import DataError, InputError
from prompts.language_model import LanguageModels
from tools.contract import Tool
from tools.encoders import Encoder
from tools.evidence import content_key
from tools.files import locked
from tools.indexes.generations import MANIFEST
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.names import Names
from tools.library.collection import Library
from tools.library.contract import SearchableLibrary
from tools.library.shelf import Shelf, shelf_file
from tools.literature.tool import SearchLiterature
from tools.medicines.blame import States
from tools.medicines.names import other_names
from tools.questions.collection import Collection, Progress, of_library, of_paths
from tools.questions.contract import AnswerabilityJudge, Question, QuestionsReport, SourceDocument
from tools.questions.index import PreparedQuestions
from tools.questions.learning import Learning, accepted, review_file
from tools.questions.sentences import MedicineQuestions, SentenceQuestions
from tools.questions.settings import SearchSettings
from tools.questions.stored import AGAIN, Stored, read
from tools.questions.tool import FindAnsweredQuestion
from tools.readers.contract import Problem
from tools.reading.contract import Reader
from tools.reading.reader import TrainedReader

if TYPE_CHECKING:
    from tools.questions.local import Names as OtherNames
    from tools.questions.testset import ProbeSet, Rewriter, SetName

STARTER, OWN = "starter", "own"
FIRST_QUESTION = "The first question builds what the library is known to answer, once: minutes on two idle cores ..."
COLLECTIONS = f"Name {STARTER}, {OWN}, or a file or folder."


def folder_of(home: Home, collection: str) -> Path:
    """Where the index of a collection lies: that of the starter library beside it, all others by their own name."""
    if collection == STARTER:
        return home.indexes / "questions"
    name = collection
    if collection != OWN:
        path = Path(collection).resolve()
        name = f"{re.sub(r'[^A-Za-z0-9._-]', '_', path.name)}-{content_key(str(path))[:8]}"
    return home.root / "questions" / name


def documents_of(home: Home, collection: str, encoder: Encoder) -> tuple[list[SourceDocument], list[Problem]]:
    """The documents of a collection, and what could not be read of it.

    Raises:
        InputError: there is no such collection. DataError: the library cannot be read.
    """
    if collection == STARTER:
        return of_library(Library.open(home.indexes / "library", encoder).documents), []
    if collection == OWN:
        if not shelf_file(home.library).exists():
            raise InputError("There are no documents of your own yet.", "Add some with `anamnesis library add PATH`.")
        shelf = Shelf(home.library, encoder)
        try:
            return of_library(shelf.document(row.id) for row in shelf.documents()), []
        finally:
            shelf.close()
    if not Path(collection).exists():
        raise InputError(f"There is no collection {collection!r}.", COLLECTIONS)
    return of_paths([Path(collection)])


def other_names_of(graph: Path) -> OtherNames:
    """Everyday and clinical names: those of the graph's diseases and findings, and those of medicines."""
    names = Names(read_graph(graph))

    def found(text: str) -> dict[str, Sequence[str]]:
        return {**{k: v for k, v in names.found_in(text).items() if v}, **other_names(text)}

    return found


async def build_questions(
    settings: Settings,
    home: Home,
    collection: str,
    documents: Sequence[SourceDocument],
    encoder: Encoder,
    models: LanguageModels | None = None,
    progress: Progress | None = None,
) -> QuestionsReport:
    """Build the index of a collection. With ``models`` a language model writes and judges, else the local twins."""
    from agent.knowledge_graph import STARTER_GRAPH
    from tools.questions.building import build
    from tools.questions.by_model import JudgeByModel, WriterByModel

    report = await build(
        documents,
        _by_rule(settings, folder_of(home, collection)),
        encoder,
        settings.question_index,
        writer=None if models is None else WriterByModel(models.of("questions")),
        judge=None if models is None else JudgeByModel(models.of("questions"), encoder),
        names=other_names_of(STARTER_GRAPH),
        given=learnt_of(settings, home),
        progress=progress,
    )
    if collection == STARTER:
        _changed(home).unlink(missing_ok=True)
    return report


def _by_rule(settings: Settings, folder: Path) -> Path:
    """Where an index lies: one by the published rule beside that of the product, which it leaves as it is."""
    return folder if settings.question_index.judge == "round_trip" else folder.with_name(f"{folder.name}-pair")


def _asked(settings: Settings, folder: Path) -> Path:
    """The index of a collection that is asked: by the rule of the settings where it was built, else the product's."""
    own = _by_rule(settings, folder)
    return own if (own / MANIFEST).exists() else folder


def learnt_of(settings: Settings, home: Home) -> list[Question]:
    """The questions learnt from use that a person has accepted; none unless that is switched on."""
    return accepted(review_file(home.root)) if settings.questions.learn else []


def described(home: Home, encoder: Encoder) -> str:
    """What is built, for `doctor`. Raises DataError for an index that is damaged, or of another encoder."""
    told = []
    for collection in (STARTER, OWN):
        folder = folder_of(home, collection)
        if (folder / MANIFEST).exists():
            manifest = read(folder, encoder).manifest
            told.append(f"{manifest.count} for {manifest.documents} documents of {collection}")
    return "; ".join(told) or "none; `anamnesis questions build` writes some"


async def make_testset(
    folder: Path,
    documents: Sequence[SourceDocument],
    encoder: Encoder,
    models: LanguageModels | None,
    count: int,
    seed: int,
) -> dict[SetName, ProbeSet]:
    """Test sets against a built index; with ``models`` a language model words and judges them.

    Raises:
        DataError: the collection has no index yet, or has changed since.
    """
    from agent.knowledge_graph import STARTER_GRAPH
    from tools.questions.by_model import JudgeByModel
    from tools.questions.round_trip import RoundTrip
    from tools.questions.testset import SETS, RewriterByModel, RewriterLocal, make_set

    held = read(folder, encoder)
    if not _same_documents(held, documents):
        raise DataError("The collection has changed since its questions were written.", AGAIN)
    indexed = [held.question(row) for row in range(len(held.lines))]
    collection = Collection(documents)
    if models is None:
        collection.embed(encoder)
        rewriter: Rewriter = RewriterLocal(collection.rarity, other_names_of(STARTER_GRAPH), seed)
        judge: AnswerabilityJudge = RoundTrip(collection, encoder)
    else:
        rewriter, judge = RewriterByModel(models.of("questions")), JudgeByModel(models.of("questions"), encoder)
    return {kind: await make_set(kind, indexed, documents, rewriter, judge, count, seed) for kind in SETS}


class StarterQuestions:
    """The index of the starter library's generated questions, built where the settings ask for these alone.

    Beside written questions and the head of sentences they add little (docs/questions.md) and take half of the time of
    a set-up. They are built by the local twins where they never were, or are of another library; what a model has
    written for just this library stays.
    """

    def __init__(self, settings: Settings, home: Home, encoder: Encoder, say: Callable[[str], None]) -> None:
        self._settings, self._home, self._encoder, self._say = settings, home, encoder, say

    @staticmethod
    def due(settings: Settings, home: Home) -> bool:
        """Whether the settings ask for them, and they were not built from the library that is there."""
        built = (folder_of(home, STARTER) / MANIFEST).exists() and not _changed(home).exists()
        return settings.questions.stored == "generated" and not built

    @staticmethod
    def forget(home: Home) -> None:
        """The library is another: the index is made again when it is next asked for."""
        _changed(home).touch(mode=0o600)

    def build(self, *, again: bool = False) -> None:
        """Build them where they are asked for and are not there; whoever finds them being built waits.

        Args:
            again: where they are asked for, look whether they are of these documents and settings, too.
        """
        if self._settings.questions.stored != "generated" or not (again or self.due(self._settings, self._home)):
            return
        with locked(self._home.root / "build"):
            if again or self.due(self._settings, self._home):
                self._say("questions that the library answers ..." if again else FIRST_QUESTION)
                self._build()

    def _build(self) -> None:
        documents, _ = documents_of(self._home, STARTER, self._encoder)
        writer = _model_written(folder_of(self._home, STARTER), documents, self._encoder)
        if writer:
            self._say(f"questions: those that {writer} has written are kept")
            _changed(self._home).unlink(missing_ok=True)
        else:
            index = self._settings.question_index.model_copy(update={"judge": "round_trip"})  # whatever runs first
            settings = self._settings.model_copy(update={"question_index": index})
            asyncio.run(build_questions(settings, self._home, STARTER, documents, self._encoder))


def _changed(home: Home) -> Path:
    return home.indexes / "questions.due"


def _model_written(folder: Path, documents: Sequence[SourceDocument], encoder: Encoder) -> str:
    """The model that wrote a sound index of just these documents, "" where there is no such index."""
    from tools.questions.local import LOCAL

    try:
        held = read(folder, encoder)
    except DataError:  # none, damaged, or of another encoder: it is built
        return ""
    writer = held.manifest.report.writer
    return writer if not writer.startswith(f"{LOCAL}@") and _same_documents(held, documents) else ""


def _same_documents(held: Stored, documents: Sequence[SourceDocument]) -> bool:
    """Whether an index was made from just these texts."""
    return dict(zip(held.documents, held.texts, strict=True)) == {d.id: content_key(d.text) for d in documents}


def question_tool(
    settings: Settings,
    home: Home,
    library: SearchableLibrary,
    encoder: Encoder,
    names: OtherNames = lambda _text: {},
    ensure: Callable[[], None] = lambda: None,
    reader: Reader | None = None,
    states: States | None = None,
) -> FindAnsweredQuestion:
    """The tool `find_answered_question`, with the generated questions of what has been built.

    Args:
        names: other names of what a title names.
        ensure: builds what is not built, before it is searched.
        reader: what the records of medicines are read by; the shipped one when not given.
        states: ids of the findings that a text states, by which a medicine is blamed.
    """
    search = SearchSettings(coverage=settings.questions.coverage)
    if not settings.questions.guards:  # QB-RAG's own order: by the nearest question alone
        search = SearchSettings.published(settings.questions.coverage)
    folders = [_asked(settings, folder_of(home, collection)) for collection in (STARTER, OWN)]
    prepared = PreparedQuestions(library, folders, encoder, search, ensure)
    learn = Learning(review_file(home.root), library.public_words.frequencies) if settings.questions.learn else None
    sentences = SentenceQuestions(library, names) if settings.questions.guards else None
    guarded = settings.questions.guards
    medicines = MedicineQuestions(library, reader or TrainedReader(), states) if guarded else None
    return FindAnsweredQuestion(
        library, settings=settings.questions, prepared=prepared, sentences=sentences, medicines=medicines, learn=learn
    )


def short_way(parts: Parts, settings: Settings, tool: FindAnsweredQuestion) -> Parts:
    """The parts with the short way before their planner, where the settings switch it on."""
    if not settings.questions.short_way or settings.pipeline.steps:
        return parts

    async def keeps(view: ResearchView) -> bool:
        """Whether the selector keeps any of the documents found so far, as it will when research ends."""
        wanted = [gap.requirement for gap in view.gaps]
        wanted = wanted or parts.requirements(view.question, view.kind, view.language, view.options, [])
        found = documents(list(view.evidence))
        return bool((await parts.selector.select(view.question, wanted, found, parts.limits.selected)).kept)

    return replace(parts, planner=PlannerShortWay(parts.planner, tool.answers, keeps))


def searched_ahead(search: SearchLiterature, settings: Settings, models: LanguageModels | None) -> Tool:
    """The literature search; for the comparators of QB-RAG the nearest documents, to the question or to a text that a
    model writes first."""
    if settings.questions.ahead == "off" and not settings.questions.nearest_documents:
        return search
    from tools.questions.by_model import NearestDocuments, SearchedAhead

    nearest = NearestDocuments(search.library) if settings.questions.nearest_documents else search
    if settings.questions.ahead == "off":
        return nearest
    if models is None:
        raise InputError("A text to search with is written by a language model.", "Set ANAMNESIS_MODEL.")
    return SearchedAhead(nearest, models.of("background"), settings.questions.ahead)
