"""The index of answered questions on disk: texts, answers and vectors in one generation of a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from prompts.errors import DataError
from tools.encoders import Encoder, Vectors
from tools.evidence import Frozen, content_key
from tools.indexes.generations import checksum, generation_name, publish, read_current, unfinished
from tools.indexes.lexical import Lexicon
from tools.questions.contract import Answer, Question, QuestionsReport, SourceDocument

FORMAT = 2  # raised with every change of the files
AGAIN = "Run `anamnesis questions build` again."
Numbers = NDArray[np.int64]


class QuestionsManifest(Frozen):
    """What an index says about itself. ``checksum`` is over all files of the generation, ``content`` over what it was
    made from and how.
    """

    format: int
    encoder: str
    dimension: int
    count: int
    documents: int
    content: str
    checksum: str
    built: str
    report: QuestionsReport


class Stored(NamedTuple):
    """An index as it lies on disk.

    Attributes:
        lines: a JSON object with text and writer a question.
        vectors: (questions, dimension) float16.
        first: (questions + 1,) where the answers of each question begin.
        answers: (answers, 3) number of the document, start and end. support, judged: (answers,).
        spans: (answers, dimension) float16, of the words that answer.
        documents, dates, texts: id, ISO date and sha256 of the text, by number.
    """

    manifest: QuestionsManifest
    lines: list[bytes]
    vectors: NDArray[np.float16]
    first: Numbers
    answers: Numbers
    support: NDArray[np.float32]
    judged: NDArray[np.bool_]
    spans: NDArray[np.float16]
    documents: list[str]
    dates: list[str]
    texts: list[str]
    lexicon: Lexicon

    def question(self, row: int) -> Question:
        """The question of a row, with all its answers."""
        line = json.loads(self.lines[row])
        places = range(int(self.first[row]), int(self.first[row + 1]))
        return Question(text=line["text"], writer=line["writer"], answers=tuple(self.answer(place) for place in places))

    def answer(self, place: int) -> Answer:
        """The answer at a place of ``answers``."""
        number, start, end = (int(n) for n in self.answers[place])
        support, judged = float(self.support[place]), bool(self.judged[place])
        return Answer(document=self.documents[number], start=start, end=end, support=support, judged=judged)


def write(
    folder: Path,
    questions: Sequence[Question],
    vectors: Vectors,
    spans: Vectors,
    documents: Sequence[SourceDocument],
    encoder: Encoder,
    report: QuestionsReport,
    content: str = "",
) -> QuestionsManifest:
    """Write an index so that a reader sees the old one or the new one, never a part; the caller holds the lock.

    Args:
        vectors: (questions, dimension). spans: of the words of each answer in order, (answers, dimension).
    """
    numbers = {d.id: n for n, d in enumerate(documents)}
    places = [(numbers[a.document], a.start, a.end) for q in questions for a in q.answers]
    with unfinished(folder) as temporary:
        with (temporary / "questions.jsonl").open("wb") as file:
            for question in questions:
                file.write(json.dumps({"text": question.text, "writer": question.writer}, ensure_ascii=False).encode())
                file.write(b"\n")
        np.save(temporary / "vectors.npy", np.asarray(vectors, dtype=np.float16), allow_pickle=False)
        np.save(temporary / "spans.npy", np.asarray(spans, dtype=np.float16), allow_pickle=False)
        np.savez(
            temporary / "answers.npz",
            first=np.cumsum([0, *(len(q.answers) for q in questions)], dtype=np.int64),
            answers=np.array(places, dtype=np.int64).reshape(-1, 3),
            support=np.array([a.support for q in questions for a in q.answers], dtype=np.float32),
            judged=np.array([a.judged for q in questions for a in q.answers], dtype=bool),
        )
        listed = [[d.id, d.date, content_key(d.text)] for d in documents]
        (temporary / "documents.json").write_text(json.dumps(listed), encoding="utf-8")
        Lexicon([q.text for q in questions]).save(temporary / "bm25")
        built = datetime.now(UTC).isoformat(timespec="microseconds")
        manifest = QuestionsManifest(
            format=FORMAT, encoder=encoder.name, dimension=encoder.dimension, count=len(questions),
            documents=len(documents), content=content, checksum=checksum(temporary), built=built, report=report,
        )  # fmt: skip
        generation = generation_name(manifest.checksum, built)
        publish(folder, temporary, generation, manifest.model_dump_json(indent=1).encode())
    return manifest


def current(folder: Path, content: str) -> QuestionsManifest | None:
    """The manifest of a sound index that was made from just this; None where there is none."""
    try:
        manifest = read_report(folder)
    except DataError:  # nothing there, or damaged: building mends it
        return None
    files = folder / generation_name(manifest.checksum, manifest.built)
    sound = manifest.format == FORMAT and manifest.content == content and files.is_dir()
    return manifest if sound and checksum(files) == manifest.checksum else None


def read(folder: Path, encoder: Encoder) -> Stored:
    """Read an index back.

    Raises:
        DataError: there is none, it is damaged, of another format, or made with another encoder.
    """
    return read_current(folder, lambda raw: _read(folder, _manifest(folder, raw, encoder)))


def read_report(folder: Path) -> QuestionsManifest:
    """The manifest alone; raises DataError when there is none or it is damaged."""
    return read_current(folder, lambda raw: _parsed(folder, raw))


def _parsed(folder: Path, raw: bytes) -> QuestionsManifest:
    try:
        return QuestionsManifest.model_validate_json(raw)
    except ValidationError as error:
        raise DataError(f"The manifest of the question index {folder.name} is damaged.", AGAIN) from error


def _manifest(folder: Path, raw: bytes, encoder: Encoder) -> QuestionsManifest:
    manifest = _parsed(folder, raw)
    if manifest.format != FORMAT:
        raise DataError(f"The question index {folder.name} has format {manifest.format}, not {FORMAT}.", AGAIN)
    if (manifest.encoder, manifest.dimension) != (encoder.name, encoder.dimension):
        made = f"The question index {folder.name} was made with {manifest.encoder}, not with {encoder.name}."
        raise DataError(made, AGAIN)
    return manifest


def _read(folder: Path, manifest: QuestionsManifest) -> Stored:
    files = folder / generation_name(manifest.checksum, manifest.built)
    if not files.is_dir():
        raise FileNotFoundError(files)
    if checksum(files) != manifest.checksum:
        raise DataError(f"The question index {folder.name} is damaged.", AGAIN)
    lines = (files / "questions.jsonl").read_bytes().splitlines()
    with np.load(files / "answers.npz", allow_pickle=False) as held:
        first, answers, support, judged = (held[name] for name in ("first", "answers", "support", "judged"))
    documents = json.loads((files / "documents.json").read_bytes())
    vectors, spans = (np.load(files / f"{name}.npy", allow_pickle=False) for name in ("vectors", "spans"))
    ids, dates, texts = ([row[n] for row in documents] for n in range(3))
    lexicon = Lexicon.load(files / "bm25", len(lines))
    return Stored(manifest, lines, vectors, first, answers, support, judged, spans, ids, dates, texts, lexicon)
