"""Whether a medicine may be taken, as the pages of medicines have it (`tools.medicines.checks`)."""

from __future__ import annotations

from prompts.errors import InputError
from tools.library.contract import QuestionHit, SearchableLibrary
from tools.library.document import LibraryQuestion
from tools.library.monograph import COLLECTION
from tools.medicines.answering import answer_of
from tools.medicines.checks import Answer, check
from tools.reading.contract import Reader

MOST = 4  # ours: checks that are told of one question


class MedicineQuestions:
    """Finds what the pages of medicines say to whether one may be taken.

    Args:
        library: holds the pages; one without a page says nothing of its medicine.
        reader: what the words of a page say of the question (`tools.medicines.answering`).
    """

    def __init__(self, library: SearchableLibrary, reader: Reader) -> None:
        self._library, self._reader = library, reader

    def search(self, question: str, told: str = "") -> list[QuestionHit]:
        """What may not be taken and why, the gravest first, and what that answers; none where the question is about
        something else. Where the gravest answers nothing for sure, none does.

        Args:
            told: what is told of the patient beside the question.
        """
        found = check(question, told)
        answer = answer_of(question, told, found, self._reader)
        answers = [answer, *(found.answer(c) if answer else "" for c in found.checks[1:MOST])]
        hits = [self._hit(c.page, c.beside, c.says, a) for c, a in zip(found.checks, answers, strict=False)]
        return [hit for hit in hits if hit is not None]

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
        return QuestionHit(document=document, question=known, similarity=1.0, lexical=1.0, direct=True, answer=answer)
