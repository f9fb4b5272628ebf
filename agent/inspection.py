"""Looks at the built parts of a data folder, for `anamnesis doctor`."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from agent.assembly import open_encoder
from agent.corpus import described as corpora_described
from agent.corpus import imported
from agent.corpus import opened as opened_corpora
from agent.knowledge import described as sources_described
from agent.knowledge_graph import open_graph
from agent.loop import run
from agent.mirror import described
from agent.passages import described as passages_described
from agent.questions import described as questions_described
from agent.sessions import Home, open_database, typed_database_errors
from agent.settings import Settings
from prompts.errors import DataError
from tools.encoders import MINILM, minilm_folder
from tools.icd10 import load_icd10
from tools.library.collection import Library
from tools.library.shelf import Shelf, shelf_file


def inspect_parts(settings: Settings, home: Home) -> list[tuple[str, Callable[[], str]]]:
    """Named looks at the built parts, for `doctor`; each returns what it found or raises a typed error."""

    opened = cache(lambda: open_encoder(settings, home))  # it is held to its checksum at each opening

    def encoder() -> str:
        found = opened()
        where = f", from {minilm_folder().parent.name}, checksum verified" if found.name == MINILM else ""
        return f"{found.name}, {found.dimension} dimensions, {found.limit} tokens{where}"

    def library() -> str:
        found = Library.open(home.indexes / "library", opened())
        return f"{len(found)} documents (not clinically reviewed)"

    def graph() -> str:
        found = open_graph(settings, home, opened()).graph
        counted = f"{len(found.diseases)} diseases, {len(found.findings)} findings"
        return f"{found.about.name}, {counted} (not clinically reviewed)"

    def codes() -> str:
        return f"{len(load_icd10(home.indexes / 'icd10.json'))} ICD-10 codes"

    def database(file: Path) -> Callable[[], str]:
        def look() -> str:
            if not file.exists():
                return "none yet"
            with typed_database_errors(file), contextlib.closing(sqlite3.connect(file)) as db:
                said = str(db.execute("pragma quick_check").fetchone()[0])
            if said != "ok":
                raise DataError(f"{file.name} is damaged: {said.splitlines()[0]}", "Move it away, or restore a copy.")
            return "intact"

        return look

    def gate() -> str:
        theta1, theta2 = settings.gate.thresholds
        return f"theta1 {theta1}, theta2 {theta2}"

    return [
        ("encoder", encoder),
        ("library", library),
        ("user library", partial(_own_documents, settings, home)),
        ("generated questions", lambda: questions_described(home, opened())),
        ("passages", partial(passages_described, settings)),
        ("knowledge graph", graph),
        ("ontology table", codes),
        *([("mirror", partial(described, settings.literature.mirror))] if settings.literature.mirror else []),
        *([("built collections", partial(_corpora, settings, home))] if settings.corpus else []),
        *([("imported sources", partial(_sources, settings, home))] if imported(settings) else []),
        ("completeness gate", gate),
        *(
            [("session database", partial(_session_database, settings, home))]
            if settings.database is not None
            else [
                ("checkpoints", database(home.checkpoints)),
                ("content store", database(home.texts)),
                ("session records", database(home.records)),
            ]
        ),
    ]


def _session_database(settings: Settings, home: Home) -> str:
    async def look() -> str:
        opened = await open_database(settings, home)
        try:
            tables = (await opened.execute(("select version()", ())))[0]
        finally:
            await opened.close()
        return f"{str(tables[0][0]).split(' (')[0]}, reached"

    return run(look())


def _corpora(settings: Settings, home: Home) -> str:
    return corpora_described(settings, open_encoder(settings, home))


def _sources(settings: Settings, home: Home) -> str:
    opened_corpora(settings, open_encoder(settings, home))  # each is whole, and of this encoder
    return sources_described(settings)


def _own_documents(settings: Settings, home: Home) -> str:
    if not shelf_file(home.library).exists():
        return "none yet"
    with contextlib.closing(Shelf(home.library, open_encoder(settings, home))) as shelf:
        return f"{len(shelf.documents())} documents in {home.library}"
