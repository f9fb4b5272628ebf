"""Questions about medicines, answered by their pages: whether one may be taken (`tools.medicines.checks`), and what is
asked of one by itself, by the nearest of the ways in which people ask it (QB-RAG, with the name masked)."""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path

from prompts.errors import InputError
from tools.encoders import Encoder, Vectors
from tools.library.contract import QuestionHit, SearchableLibrary
from tools.library.document import LibraryQuestion
from tools.library.monograph import COLLECTION
from tools.medicines.checks import Answer, asks_of_studies, check, record_of
from tools.medicines.names import medicines_in
from tools.medicines.pages import parts, slug
from tools.medicines.records import Record
from tools.yaml_files import read_yaml

TABLE = Path(__file__).with_suffix(".yaml")
MOST = 4  # ours: checks that are told of one question
# ours: cosine to the nearest way of asking from which a part of a page answers
SAME_ASKING = 0.7
NEAREST = 3  # ours: parts of a page that are read beside what was found


class MedicineQuestions:
    """Finds what the page of a medicine says to a question.

    Args:
        library: holds the pages; one without a page says nothing of its medicine.
        encoder: compares a question, its medicine masked, with the ways in which people ask.
    """

    def __init__(self, library: SearchableLibrary, encoder: Encoder) -> None:
        self._library, self._encoder = library, encoder

    def search(self, question: str, told: str = "") -> list[QuestionHit]:
        """What may not be taken and why, the gravest first, each with what it answers; else what is asked of one
        medicine; none where the question is about something else.

        Args:
            told: what is told of the patient beside the question.
        """
        found = check(question, told)
        checks = [self._hit(c.page, c.beside, c.says, found.answer(c)) for c in found.checks[:MOST]]
        return [hit for hit in checks or [self._fact(question)] if hit is not None]

    def beside(self, question: str) -> list[QuestionHit]:
        """The parts of a medicine's page that are nearest to a question that names it, as evidence; none where it asks
        for what studies show, or names several."""
        record = self._record(question)
        if record is None or asks_of_studies(question):
            return []
        told = [(name, " ".join(sentences)) for name, sentences in parts(record) if sentences]
        near = self._encoder.encode_documents([said for _, said in told]) @ self._encoder.encode_queries([question])[0]
        best = sorted(range(len(told)), key=lambda at: -near[at])[:NEAREST]
        hits = [self._hit(slug(record.name), told[at][0], told[at][1], "") for at in best]
        return [h.model_copy(update={"section": False, "similarity": 0.0}) for h in hits if h is not None]

    @staticmethod
    def _record(question: str) -> Record | None:
        named = medicines_in(question)
        return record_of(named[0]) if len({m.generic for m in named}) == 1 else None

    def _fact(self, question: str) -> QuestionHit | None:
        named, record = medicines_in(question), self._record(question)
        if record is None:
            return None
        masked = question
        for medicine in reversed(named):
            masked = masked[: medicine.start] + "it" + masked[medicine.start + len(medicine.written) :]
        names, ways = self._ways
        near = ways @ self._encoder.encode_queries([masked])[0]
        best = int(near.argmax())
        said = " ".join(s for name, sentences in parts(record) if name == names[best] for s in sentences)
        if near[best] < SAME_ASKING or not said:
            return None
        return self._hit(slug(record.name), names[best], said, "")

    @cached_property
    def _ways(self) -> tuple[list[str], Vectors]:
        """The part that each way of asking is for, and their vectors (n, dimension)."""
        rows = [(name, way) for name, ways in _table().items() for way in ways]
        return [name for name, _ in rows], self._encoder.encode_queries([way for _, way in rows])

    def _hit(self, page: str, about: str, said: str, answer: Answer) -> QuestionHit | None:
        try:
            document = self._library.document(f"{COLLECTION}:{page}")
        except InputError:
            return None
        start = document.text.find(said)
        if start < 0:
            return None
        end = start + len(said)
        asked = f"{document.title}: {about.replace('_', ' ')}?"
        known = LibraryQuestion(text=asked, start=start, end=end, paragraph_start=start, paragraph_end=end)
        return QuestionHit(document=document, question=known, similarity=1.0, lexical=1.0, section=True, answer=answer)


@lru_cache(maxsize=1)
def _table() -> dict[str, list[str]]:
    table: dict[str, list[str]] = read_yaml(TABLE)
    return table
