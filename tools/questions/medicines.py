"""Questions about medicines, answered by their pages: whether one may be taken (`tools.medicines.checks`), and what is
asked of one by itself, by the nearest of the ways in which people ask it (QB-RAG, with the name masked)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from prompts.errors import InputError
from tools.contract import unique
from tools.encoders import Encoder, Vectors
from tools.library.contract import QuestionHit, SearchableLibrary
from tools.library.document import LibraryQuestion
from tools.library.monograph import COLLECTION
from tools.medicines.checks import Answer, asks_of_studies, asks_openly, check, record_of
from tools.medicines.names import medicines_in
from tools.medicines.pages import parts, slug
from tools.medicines.records import Record
from tools.yaml_files import read_yaml

TABLE = Path(__file__).with_suffix(".yaml")
MOST = 4  # ours: checks that are told of one question
# ours: cosine to the nearest way of asking from which a part of a page answers
SAME_ASKING = 0.7
OTHER_ASKING = 0.55  # ours: cosine to a way of asking from which no part answers
NEAR_BOTH = 0.75  # ours: sum of the cosines to a way of asking and to a sentence, from which it answers too
LONG = 12  # words; ours: of a longer question a part answers only where it is asked for in so many words
FACTS = 2  # ours: parts that are told of what is asked
WHOLE, SENTENCES = 4, 2  # ours: sentences of a part that is told whole, and those told of a longer one
NONE = "none"  # in the table: what no part answers
NEAREST = 3  # ours: parts of a page that are read beside what was found


class _Said(NamedTuple):
    """Words of a page, and the part that they stand in."""

    part: str
    said: str


class _Near:
    """How near a page is to a question: its parts by how people ask for them (cosine by part) and by what they say
    (cosine of each unit)."""

    def __init__(self, ways: dict[str, float], units: Sequence[_Said], near: Sequence[float]) -> None:
        self._units, self._near = units, near
        held = {u.part: max(n for v, n in zip(units, near, strict=True) if v.part == u.part) for u in units}
        both = {part: ways.get(part, 0.0) + said for part, said in held.items()}
        self._order = sorted(both, key=both.__getitem__, reverse=True)
        self.asked = max(ways, key=ways.__getitem__)
        self.way, self.both = ways[self.asked], both[self._order[0]]
        self.sentence = units[max(range(len(units)), key=near.__getitem__)]

    def best(self, count: int) -> list[_Said]:
        """The nearest parts, each whole where it is short, else its nearest sentences one by one."""
        out: list[_Said] = []
        for part in self._order[:count]:
            held = sorted((-n, u) for u, n in zip(self._units, self._near, strict=True) if u.part == part)
            out += [self.whole(part)] if len(held) <= WHOLE else [u for _, u in held[:SENTENCES]]
        return out

    def whole(self, part: str) -> _Said:
        """All that the page says under a part."""
        return _Said(part, " ".join(u.said for u in self._units if u.part == part))


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
        return [hit for hit in checks or self._facts(question, told) if hit is not None]

    def beside(self, question: str) -> list[QuestionHit]:
        """The parts of a medicine's page that are nearest to a question that names it, as evidence; none where it asks
        for what studies show, or names several."""
        record = _record(question)
        if record is None or asks_of_studies(question):
            return []
        near = self._near(question, question, record)
        hits = [self._hit(slug(record.name), s.part, s.said, "") for s in near.best(NEAREST)]
        return [h.model_copy(update={"section": False, "similarity": 0.0}) for h in hits if h is not None]

    def _facts(self, question: str, told: str) -> list[QuestionHit | None]:
        """What the page says of what is asked: its parts that are nearest by both measures, and the nearest sentence.

        A medicine that the question does not name is the one that was named before.
        """
        record = _record(question) or (_record(told) if not medicines_in(question) else None)
        if record is None:
            return []
        near = self._near(question, _masked(question), record)
        if near.asked == NONE and near.way >= OTHER_ASKING:
            return []
        long = len(question.split()) > LONG  # it tells of circumstances, of which a page of a medicine knows nothing
        if near.way < SAME_ASKING and (long or asks_of_studies(question) or near.both < NEAR_BOTH):
            return []
        plain = near.way >= SAME_ASKING  # asked in so many words: its part alone, and whole
        said = [near.whole(near.asked)] if plain else unique([*near.best(FACTS), near.sentence])
        return [self._hit(slug(record.name), s.part, s.said, "") for s in said]

    def _near(self, question: str, masked: str, record: Record) -> _Near:
        names, ways = self._ways
        asked, whole = self._encoder.encode_queries([masked, question])
        cosine = ways @ asked
        way = {name: max(float(c) for n, c in zip(names, cosine, strict=True) if n == name) for name in {*names}}
        units = [_Said(name, sentence) for name, sentences in parts(record) for sentence in sentences]
        return _Near(way, units, (self._encoder.encode_documents([u.said for u in units]) @ whole).tolist())

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
        if start < 0 or not said:  # the page has no such part
            return None
        end = start + len(said)
        asked = f"{document.title}: {about.replace('_', ' ')}?"
        known = LibraryQuestion(text=asked, start=start, end=end, paragraph_start=start, paragraph_end=end)
        return QuestionHit(document=document, question=known, similarity=1.0, lexical=1.0, section=True, answer=answer)


def _record(question: str) -> Record | None:
    """The record of the one medicine that a question names; of the first of several where it asks openly."""
    named = medicines_in(question)
    one = len({m.generic for m in named}) == 1 or (named and asks_openly(question))
    return next((r for m in named if (r := record_of(m)) is not None), None) if one else None


def _masked(question: str) -> str:
    for medicine in reversed(medicines_in(question)):
        question = question[: medicine.start] + "it" + question[medicine.start + len(medicine.written) :]
    return question


@lru_cache(maxsize=1)
def _table() -> dict[str, list[str]]:
    table: dict[str, list[str]] = read_yaml(TABLE)
    return table
