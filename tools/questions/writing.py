"""The first step of a build: questions for every document, written where they are not there yet."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from prompts.errors import AnamnesisError
from tools.encoders import Encoder, Vectors
from tools.questions.collection import Collection, Progress
from tools.questions.contract import Question, QuestionWriter, SourceDocument
from tools.questions.judging import Candidates
from tools.questions.settings import BuildSettings
from tools.questions.work import Work, Written, written_key

CHUNK = 64  # ours: documents written and embedded between two commits; so many are lost by a kill


def keys_of(
    documents: Sequence[SourceDocument], writer: QuestionWriter, settings: BuildSettings, encoder: Encoder
) -> list[str]:
    """The key of each document's questions in the work."""
    return [written_key(d, writer.name, settings.wanted(d.text), encoder.name) for d in documents]


async def write_questions(
    collection: Collection,
    writer: QuestionWriter,
    settings: BuildSettings,
    encoder: Encoder,
    work: Work,
    progress: Progress | None,
) -> tuple[Candidates, int]:
    """The questions of every document, and the number of documents that had theirs already.

    Raises:
        AnamnesisError: the writer's; what was written for other documents is kept.
    """
    documents = collection.documents
    keys = keys_of(documents, writer, settings, encoder)
    questions: list[Question] = []
    owners: list[int] = []
    vectors: list[Vectors] = []
    reused = 0
    for at in range(0, len(documents), CHUNK):
        part, of = documents[at : at + CHUNK], keys[at : at + CHUNK]
        known = work.written(of)
        reused += len(known)
        missing = [(key, document) for key, document in zip(of, part, strict=True) if key not in known]
        fresh, failed = await _written(missing, writer, settings, encoder)
        work.put_written(fresh, dict(missing))
        if failed is not None:
            raise failed
        known |= fresh
        for number, key in enumerate(of, start=at):
            questions += known[key].questions
            owners += [number] * len(known[key].questions)
            vectors.append(known[key].vectors.astype(np.float16))
        if progress is not None:
            progress("questions", min(at + CHUNK, len(documents)), len(documents))
    work.keep_only(documents)
    return Candidates(questions, owners, _stacked(vectors, encoder.dimension)), reused


def _stacked(parts: Sequence[Vectors], dimension: int) -> Vectors:
    return np.concatenate(parts) if parts else np.empty((0, dimension), dtype=np.float16)


async def _written(
    missing: Sequence[tuple[str, SourceDocument]], writer: QuestionWriter, settings: BuildSettings, encoder: Encoder
) -> tuple[dict[str, Written], AnamnesisError | None]:
    """What was written by key, and the first failure: what another document got is kept all the same."""
    tries = await asyncio.gather(*(_tried(writer, document, settings.wanted(document.text)) for _, document in missing))
    failed = next((found for found in tries if isinstance(found, AnamnesisError)), None)
    done = [(key, found) for (key, _), found in zip(missing, tries, strict=True) if isinstance(found, list)]
    vectors = encoder.encode_queries([q.text for _, questions in done for q in questions])
    out, at = {}, 0
    for key, questions in done:
        out[key] = Written(questions, vectors[at : at + len(questions)])
        at += len(questions)
    return out, failed


async def _tried(writer: QuestionWriter, document: SourceDocument, wanted: int) -> list[Question] | AnamnesisError:
    try:
        return await writer.write(document, wanted)
    except AnamnesisError as error:
        return error
