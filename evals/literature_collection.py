"""The literature collection ready to be searched: mirror and words, kept for the next run, and its vectors."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evals.contract import TaskContext
from evals.datasets.literature import LiteratureDocument
from tools.files import locked
from tools.indexes.lexical import Lexicon

if TYPE_CHECKING:
    from tools.encoders import Encoder, Vectors
    from tools.mirror.records import MirrorRecord

FORMAT = 1  # raised with every change of what is built here
CHUNK = 1024  # ours: documents embedded between two steps of the progress bar


def text_of(document: LiteratureDocument) -> str:
    """What is embedded and searched by words: the title, where there is one, and the abstract."""
    return f"{document.title}\n{document.abstract}" if document.title else document.abstract


def prepare(folder: Path, documents: Sequence[LiteratureDocument], context: TaskContext) -> tuple[Path, Lexicon]:
    """The folder of the mirror, and the words of the collection; built the first time.

    Args:
        folder: where both are kept; its name must change with the documents.
    """
    from tools.mirror.database import FORMAT as MIRROR

    done = folder / f"built-{FORMAT}-{MIRROR}"
    with locked(folder):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _build(folder, documents, context)
            done.touch()
    return folder / "mirror", Lexicon.load(folder / "words", len(documents))


def vectors_of(documents: Sequence[LiteratureDocument], encoder: Encoder, context: TaskContext) -> Vectors:
    """Array (len(documents), dimension); what was embedded before comes from the cache.

    Texts are embedded by length, because a batch is as slow as its longest text.
    """
    order = sorted(range(len(documents)), key=lambda i: len(text_of(documents[i])))
    vectors = np.empty((len(documents), encoder.dimension), dtype=np.float32)
    starts = range(0, len(order), CHUNK)
    for at in context.tick(starts, "vectors", len(starts)):
        places = order[at : at + CHUNK]
        vectors[places] = encoder.encode_documents([text_of(documents[i]) for i in places])
    return vectors


def _build(folder: Path, documents: Sequence[LiteratureDocument], context: TaskContext) -> None:
    from tools.mirror.load import load_records

    rows = context.tick(documents, "mirror", len(documents))
    load_records(folder / "mirror", _records(rows), source="literature evaluation")
    Lexicon([text_of(d) for d in context.tick(documents, "words", len(documents))]).save(folder / "words")


def _records(documents: Iterator[LiteratureDocument]) -> Iterator[MirrorRecord]:
    yield from map(mirror_record, documents)


def mirror_record(document: LiteratureDocument) -> MirrorRecord:
    """A document as a record of a mirror."""
    from tools.mirror.records import MeshHeading, MirrorRecord

    names = dict.fromkeys(name.partition("/")[0].strip("*") for name in document.mesh)
    return MirrorRecord(
        pmid=document.pmid,
        title=document.title,
        abstract=document.abstract,
        date=str(document.year or ""),
        journal=document.journal,
        publication_types=document.publication_types,
        mesh=tuple(MeshHeading(name=name) for name in names if name),
    )
