"""``find_answered_question``: the nearest question that the library answers, with the sentence that does (QB-RAG)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import lru_cache

from prompts import tool_arguments
from prompts.errors import DataError
from tools.contract import AnsweredQuestion, Notice, Outcome, Severity, ToolArtifact, ToolContext, unique
from tools.evidence import Evidence, Found, content_key, merge_evidence
from tools.indexes.lexical import Lexicon
from tools.library.contract import QuestionHit, SearchableLibrary
from tools.library.document import Document, review_notices
from tools.library.search import lexical
from tools.literature.vocabulary import MEDICAL_ENDING, NO_TERM
from tools.medicines.names import other_names
from tools.notices import noted
from tools.questions.index import PreparedQuestions
from tools.questions.learning import Learning
from tools.questions.sections import ASKING
from tools.questions.sentences import MedicineQuestions, SentenceQuestions
from tools.questions.settings import QuestionSettings
from tools.text.demographics import about_others
from tools.text.tokens import stem, tokens

# Whether two questions that read alike are about the same thing.
#
# A general encoder puts "What causes myocarditis?" beside "What causes pericarditis?", and an overactive thyroid
# beside an underactive one. Answering one with the other would be wrong, so words decide: ours, the paper has no such
# check.

# ours: words that make a question another one; a pair in which each question has one side is two questions
OPPOSITES = (
    ("over", "under"), ("hyper", "hypo"), ("acute", "chronic"), ("child", "adult"), ("children", "adults"),
    ("baby", "adult"), ("left", "right"), ("before", "after"), ("start", "stop"), ("high", "low"), ("upper", "lower"),
    ("latent", "active"), ("stable", "unstable"), ("viral", "bacterial"), ("men", "women"), ("oral", "intravenous"),
    ("safe", "useful"), ("symptoms", "treatment"), ("symptoms", "causes"), ("causes", "treatment"),
    ("prevent", "treat"), ("diagnosed", "treated"),
)  # fmt: skip
SAME_WORD = 8  # ours: letters by which forms of one word are told (anaphylaxis, anaphylactic)
WORD = re.compile(r"[a-z]+\d[a-z]{2,}|[a-z]+|\d+")  # G6PD is one word
ABBREVIATION = re.compile(r"\b[A-Z][A-Z0-9]{1,5}\b")


def same_subject(asked: str, known: str, document: Document, subjects: frozenset[str]) -> bool:
    """Whether nothing in the words speaks against two questions being the same.

    A medical word of the question asked must stand in the known question or the title, a medicine by any of its names;
    an abbreviation, or a word of the title of any document, somewhere in the document. Numbers must not differ, there
    must be no opposites, and the document is not about children where a grown man is.

    Args:
        asked: the question asked. known: the question of the document.
        subjects: the words of the titles of the library (`subject_words`).
    """
    ours, theirs = _words(asked), _words(known)
    if _opposed(ours, theirs) or not _numbers(ours) <= _numbers(theirs) or about_others(asked, document.title):
        return False
    near, far = frozenset(tokens(f"{known} {document.title}")), _stems(document)
    abbreviations = {w.lower() for w in ABBREVIATION.findall(asked)}
    named = [w for w in ours if w in abbreviations or w in subjects]
    others = {written.lower(): names for written, names in other_names(asked).items()}
    return all(_holds_any(far, w, others) for w in named) and all(
        _holds_any(near, w, others) for w in ours if MEDICAL_ENDING.search(w)
    )


@lru_cache(maxsize=4)  # one library has one set of titles until it changes
def subject_words(titles: tuple[str, ...]) -> frozenset[str]:
    """The words of the titles, without those that name no subject."""
    return frozenset(w for title in titles for w in _words(title) if w not in NO_TERM and not w.isdigit())


def _opposed(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    return any(_side(ours, a, b) * _side(theirs, a, b) < 0 for a, b in OPPOSITES)


def _side(words: frozenset[str], a: str, b: str) -> int:
    """1 when only the first of two opposites is there, -1 when only the second, else 0."""
    has_a, has_b = (any(w == x or (len(x) > 3 and w.startswith(x)) or _prefixed(w, x) for w in words) for x in (a, b))
    return int(has_a) - int(has_b)


def _prefixed(word: str, prefix: str) -> bool:
    return prefix in ("over", "under", "hyper", "hypo") and word.startswith(prefix)


def _numbers(words: frozenset[str]) -> frozenset[str]:
    return frozenset(w for w in words if w.isdigit())


def _holds_any(stems: frozenset[str], word: str, others: Mapping[str, Sequence[str]]) -> bool:
    """Whether a word is held, or every word of another name of the medicine that it is."""
    return _holds(stems, word) or any(set(tokens(name)) <= stems for name in others.get(word, ()))


def _holds(stems: frozenset[str], word: str) -> bool:
    return (
        not tokens(word)
        or stem(word) in stems
        or (len(word) > SAME_WORD and any(s.startswith(word[:SAME_WORD]) for s in stems))
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower()))


@lru_cache(maxsize=1024)
def _stems(document: Document) -> frozenset[str]:
    questions = " ".join(q.text for q in document.questions)
    return frozenset(tokens(f"{document.title} {questions} {document.text}"))


# ours: cosine from which a question counts as the same. On tests/tools/questions/paraphrases.yaml, written for this
# purpose, the lowest of 29 rewordings has 0.81, and the highest of 26 questions that the library does not answer 0.69.
# Of 300 questions about the library and 60 about other things (docs/questions.md), all 86 that reach 0.75 are answered
# by the right document, and 107 of the 110 that reach 0.70.
SAME_QUESTION = 0.75
NEAR_QUESTION = 0.60  # ours: below this the paragraph of a near question is no evidence either
# ours: the same for generated questions whose paragraph holds the words asked for: 15 of the 15 that reach 0.75, and
# 27 of the 29 that reach 0.65
SAME_GENERATED = 0.75
OUTRIGHT = 0.95  # ours: cosine from which a written question stands before all that was found for the one asked
# ours: the same before sentences that were found: of 109 typed questions (`tools/reading/asked`) whose page has one as
# near, its words are those that answer in 96
ALIKE = 0.80
MARGIN = 0.08  # ours: what is further below the best one asks for something else beside it
HELD = 0.75  # ours: share of the words asked for that must be there; a synonym or two may be missing
NEAR = 4  # ours: decimals of a cosine beyond which two questions are equally near
LEXICAL_WEIGHT = 0.1  # ours: words decide between questions that are about equally near
SHORT = 3  # ours: stored questions that are looked at for the short way
POOL = 10  # ours: questions that are compared for each one wanted


class FindAnsweredQuestion:
    """Finds questions of the library that ask the same as the one given.

    What asks the same is in ``answered``, with the answering span inside the paragraph that is its evidence. A
    question that is only near gives its paragraph as evidence, with a notice, and no answer.

    Args:
        library: the library whose monographs carry the questions.
        today: the day against which review dates are read; None for the current day at each call.
        settings: which stored questions may stand for the one asked.
        prepared: generated questions beside those of the library; None for none.
        sentences: finds the sentences that answer a question; None does not look.
        medicines: finds what the page of a medicine says; None does not look.
        learn: notes questions of evidence that were answered, for review; None notes nothing.
    """

    name = "find_answered_question"
    arguments = tool_arguments.FindAnsweredQuestion

    def __init__(
        self,
        library: SearchableLibrary,
        today: date | None = None,
        settings: QuestionSettings | None = None,
        prepared: PreparedQuestions | None = None,
        sentences: SentenceQuestions | None = None,
        medicines: MedicineQuestions | None = None,
        learn: Learning | None = None,
    ) -> None:
        self.description = tool_arguments.description(self.name)
        self._library = library
        self._today = today
        self._settings = settings or QuestionSettings()
        self._prepared, self._sentences, self._learn = prepared, sentences, learn
        self._medicines = medicines

    async def run(self, arguments: tool_arguments.FindAnsweredQuestion, context: ToolContext) -> ToolArtifact:
        """The nearest questions; ``nothing_found`` when none is near."""
        told = "\n".join(unique([t for t in (context.case, context.question) if t and t != arguments.question]))
        hits, same = await asyncio.to_thread(self._search, arguments.question, arguments.limit, told)
        answered = [_answered(hit, arguments.question, rank) for rank, hit in enumerate(same, 1)]
        kept = same or hits
        evidence = [_evidence(hit, arguments.question, rank) for rank, hit in enumerate(kept, 1)]
        context.recorder.event("question_search", same=len(same), near=len(hits) - len(same))
        not_noted = await self._noted(arguments.question, context, same)
        return ToolArtifact(
            tool=self.name,
            outcome=Outcome.OK if kept else Outcome.NOTHING_FOUND,
            evidence=merge_evidence(evidence),
            answered=answered,
            notices=[*self._notices(kept, context.language, near=not same), *not_noted],
            strategy=[
                {
                    "step": "questions",
                    "question": h.question.text,
                    "document": h.document.id,
                    "similarity": round(h.similarity, 4),
                    "same": h in same,
                    "generated": h.generated,
                }
                for h in hits
            ],
        )

    def answers(self, question: str) -> bool:
        """Whether a stored question asks the same, so that it can be answered from there: the short way."""
        return self._settings.guards and bool(self._search(question, SHORT)[1])

    async def _noted(self, question: str, context: ToolContext, same: Sequence[QuestionHit]) -> list[Notice]:
        """Note a question that was answered; what keeps it from being noted is told, and does not fail the turn."""
        if self._learn is None or not same:
            return []
        try:
            await asyncio.to_thread(self._learn.note, question, context.kind, same[0])
        except DataError as error:
            return [noted("question_notes", context.language, Severity.WARNING, detail=error)]
        return []

    def _search(self, question: str, limit: int, told: str = "") -> tuple[list[QuestionHit], list[QuestionHit]]:
        """The best questions above the lower threshold that may be about the same subject, and of these the same ones.

        Each document comes once, with its best question, or with the sentences that answer; of equal ones the newer
        stands first, then the document that answers more questions, then the user's own (QB-RAG). What pages of
        medicines say comes before all.
        """
        checks = self._medicines.search(question, told) if self._medicines is not None else []
        blamed = self._medicines is not None and self._medicines.blames(question, told)
        hits = self._known(question, POOL * limit, told, read=not checks and not blamed)
        if not self._settings.guards:  # the nearest counts, whatever it asks
            nearest = _one_a_document(self._ranked(hits, lambda h: round(h.similarity, NEAR)))[:limit]
            return nearest, nearest
        subjects = subject_words(tuple(self._library.question_titles))
        about = [
            h
            for h in hits
            if h.direct
            or (h.similarity >= NEAR_QUESTION and same_subject(question, h.question.text, h.document, subjects))
        ]
        about = self._ranked(_with_words(about, question), lambda h: _score(h, question))
        same = _one_a_document(self._same(about, question))
        found = _one_a_document([*same, *about])[:limit]
        # beside what was asked for: they are short
        beside = self._sentences.beside(question) if self._sentences is not None and not (checks or same) else []
        return [*checks, *found, *beside], [*checks, *same[:limit]]

    def _ranked(self, hits: Sequence[QuestionHit], score: Callable[[QuestionHit], object]) -> list[QuestionHit]:
        """Best first, in one order whatever order they come in."""
        general = {d: self._general(h.document) for h in hits for d in [h.document.id]}

        def order(hit: QuestionHit) -> tuple[object, ...]:
            document = hit.document
            return score(hit), document.date, general[document.id], not document.is_starter, not hit.generated

        return sorted(sorted(hits, key=lambda h: (h.document.id, h.question.start)), key=order, reverse=True)

    def _general(self, document: Document) -> int:
        """How many questions a document answers."""
        return len(document.questions) + (self._prepared.answered(document.id) if self._prepared is not None else 0)

    def _known(self, question: str, limit: int, told: str, *, read: bool) -> list[QuestionHit]:
        """Questions written with the documents, generated ones, and where pages are ``read`` sentences that answer, as
        the settings have it."""
        written: list[QuestionHit] = []
        if self._settings.stored != "generated":
            written = [h for h in self._library.search_questions(question, limit) if self._counts(h)]
            written += self._sentences.search(question, told) if read and self._sentences is not None else []
        if self._prepared is None or self._settings.stored == "written":
            return written
        return written + self._prepared.search(question, limit)

    def _same(self, hits: Sequence[QuestionHit], asked: str) -> list[QuestionHit]:
        """Those that ask the same: near enough, and near the best; a generated one must hold the words asked too, and
        its answer must have been judged.
        """
        least = max((h.similarity for h in hits if not h.direct), default=0.0) - MARGIN
        written = {
            h.document.id for h in hits if not h.generated and (h.direct or h.similarity >= max(SAME_QUESTION, least))
        }
        return [
            h
            for h in hits
            if (h.direct or h.similarity >= max(SAME_GENERATED if h.generated else SAME_QUESTION, least))
            and not (h.generated and (h.document.id in written or not (h.judged and answers(asked, h))))
        ]

    def _counts(self, hit: QuestionHit) -> bool:
        """Whether a question is among those of its document that count."""
        if self._settings.coverage is None:
            return True
        drawn = sorted(hit.document.questions, key=lambda q: content_key(q.text))
        return hit.question in drawn[: self._settings.coverage]

    def _notices(self, hits: Sequence[QuestionHit], language: str, *, near: bool) -> list[Notice]:
        notices = review_notices([h.document for h in hits], language, self._today)
        if hits and near:
            notices.append(noted("near_question_only", language))
        problems = self._prepared.problems.values() if self._prepared is not None else ()
        notices += [noted("question_index", language, Severity.WARNING, detail=told) for told in problems]
        return notices


def answers(asked: str, hit: QuestionHit) -> bool:
    """Whether the paragraph, its title and its heading hold nearly all content words of the question asked."""
    wanted = set(tokens(asked)) - ASKING
    question, document = hit.question, hit.document
    heading = document.section_at(question.start) or ""
    paragraph = document.text[question.paragraph_start : question.paragraph_end]
    held = set(tokens(f"{document.title} {heading} {question.text} {paragraph}"))
    return len(wanted & held) >= HELD * len(wanted)


def _one_a_document(hits: Sequence[QuestionHit]) -> list[QuestionHit]:
    """The first hit of each document, and every sentence that was found for the question asked itself."""
    seen: set[str] = set()
    out = []
    for hit in hits:
        if hit.direct or hit.document.id not in seen:
            out.append(hit)
        seen.add(hit.document.id)
    return out


def _with_words(hits: Sequence[QuestionHit], asked: str) -> list[QuestionHit]:
    """Hits with BM25 among themselves: what each collection says of its own cannot be compared with another's."""
    words = Lexicon([hit.question.text for hit in hits]).scores(lexical(asked))
    most = max(float(words.max(initial=0.0)), 1e-9)
    return [h.model_copy(update={"lexical": float(share) / most}) for h, share in zip(hits, words, strict=True)]


def _holds_words(hit: QuestionHit, asked: str) -> bool:
    """Whether a stored question, with its title and its answer, holds every content word of the one asked."""
    said = hit.document.text[hit.question.start : hit.question.end]
    return set(tokens(asked)) - ASKING <= set(tokens(f"{hit.document.title} {hit.question.text} {said}"))


def _score(hit: QuestionHit, asked: str) -> tuple[int, float]:
    """What asks the same outright stands first, then a whole section that is asked for, what asks nearly the same and
    holds all words of the question asked, the sentences that answer, what asks the same, and what is near."""
    if hit.direct:
        section = hit.question.text != asked and hit.question.whole  # a sentence answers the question as it was asked
        return 4 if section else 2, round(hit.similarity, NEAR)
    score = (1 - LEXICAL_WEIGHT) * hit.similarity + LEXICAL_WEIGHT * hit.lexical
    if not hit.generated and hit.similarity >= OUTRIGHT:
        return 5, round(score, NEAR)
    if not hit.generated and hit.similarity >= ALIKE and _holds_words(hit, asked):
        return 3, round(score, NEAR)
    return int(hit.similarity >= (SAME_GENERATED if hit.generated else SAME_QUESTION)), round(score, NEAR)


def _evidence(hit: QuestionHit, asked: str, rank: int) -> Evidence:
    found = Found(
        tool=FindAnsweredQuestion.name, stream="question", query=asked, rank=rank, score=round(hit.similarity, 6)
    )
    return hit.document.evidence(hit.question.paragraph_start, hit.question.paragraph_end, [found])


def _answered(hit: QuestionHit, asked: str, rank: int) -> AnsweredQuestion:
    question = hit.question
    return AnsweredQuestion(
        question=question.text,
        similarity=min(1.0, round(hit.similarity, 6)),
        evidence=_evidence(hit, asked, rank),
        start=question.start - question.paragraph_start,
        end=question.end - question.paragraph_start,
        direct=hit.direct,
        answer=hit.answer,
    )
