"""Building the index of answered questions: written, judged, merged, indexed (QB-RAG, offline)."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from prompts.errors import InputError
from tools.encoders import Encoder, Vectors
from tools.evidence import content_key
from tools.files import locked
from tools.questions import stored
from tools.questions.collection import Collection, Progress, bag
from tools.questions.contract import (
    Answer,
    AnswerabilityJudge,
    Nearness,
    Question,
    QuestionsReport,
    QuestionWriter,
    QuotedAnswer,
    SourceDocument,
)
from tools.questions.local import Names, WriterLocal
from tools.questions.matrix import Matrix, check_size, with_matrix
from tools.questions.outline import is_english
from tools.questions.round_trip import RoundTrip
from tools.questions.settings import BuildSettings
from tools.questions.work import WORK, Drafts, Work, keep_answered, keys_of, write_questions

# Near-duplicates become one question that keeps all their documents.
LARGEST = 4000  # ours: questions of one subject that are compared with each other; beyond, only equal texts are merged
PREFIX = 4  # ours: letters that forms of one word share at least (diagnosed, diagnosis)
ASKING = re.compile(r"[^\W_]+")
ASKS = frozenset("what which who whom whose when where why how".split())  # English: words that one asks with
ENDING = 2  # ours: letters of the shorter form that may be its ending: intramuscular is no form of intravenous


class _Form(NamedTuple):
    """A question to be compared: its first word and what it asks with, and its content words in order, each once."""

    asks: tuple[str, ...]
    words: dict[str, None]

    @classmethod
    def of(cls, text: str) -> _Form:
        first, *rest = ASKING.findall(text.lower()) or [""]
        return cls((first, *(word for word in rest if word in ASKS)), dict.fromkeys(bag(text)))


def merge(questions: Sequence[Question], vectors: Vectors, least: float, rarity: Callable[[str], float]) -> list[int]:
    """For each question the number of the one that stands for it, the first of its group.

    Two are one when their cosine is at least ``least`` and their words are the same, but for forms of one word: an
    encoder puts "type 2" beside "type 5". They begin with one word, ask with the same words (what, why, ...), and the
    others stand in one order: whether a raises b is not whether b raises a. What differs in nothing but case is one.
    Only questions that share their rarest word are compared otherwise.

    Args:
        vectors: (questions, dimension).
    """
    first: dict[str, int] = {}
    equal = [first.setdefault(question.text.casefold(), number) for number, question in enumerate(questions)]
    forms = {number: _Form.of(questions[number].text) for number in first.values()}
    groups: dict[str, list[int]] = defaultdict(list)
    for number, form in forms.items():
        groups[max(form.words, key=lambda t: (rarity(t), t), default="")].append(number)
    stands = list(range(len(questions)))
    for members in groups.values():
        if 1 < len(members) <= LARGEST:
            _merge_near(members, forms, vectors, least, stands)
    return [stands[number] for number in equal]


def _merge_near(
    members: Sequence[int], forms: Mapping[int, _Form], vectors: Vectors, least: float, stands: list[int]
) -> None:
    rows = np.asarray(vectors[list(members)], dtype=np.float32)
    near = np.triu(rows @ rows.T >= least, 1)
    for place, other in zip(*np.nonzero(near), strict=True):  # by place: what stands for another is settled before it
        left, right = members[place], members[other]
        if stands[left] == left and stands[right] == right and _alike(forms[left], forms[right]):
            stands[right] = left


def _alike(left: _Form, right: _Form) -> bool:
    """Whether two questions hold the same words, one of them in another form at most, and ask the same way round."""
    mine, yours = left.words.keys() - right.words.keys(), right.words.keys() - left.words.keys()
    if left.asks != right.asks or len(mine) != len(yours) or len(mine) > 1:
        return False
    other = dict(zip(yours, mine, strict=True))
    if not all(_forms_of_one(a, b) for a, b in other.items()):
        return False
    return list(left.words) == [other.get(word, word) for word in right.words]


def _forms_of_one(left: str, right: str) -> bool:
    """Whether two words are forms of one, by the letters that they begin with."""
    short = min(len(left), len(right))
    least = max(PREFIX, short - ENDING)
    return short > PREFIX and left[:least] == right[:least]


def merged(questions: Sequence[Question], stands: Sequence[int]) -> list[tuple[int, Question]]:
    """(number of the first, question with the documents of all), in order.

    The document that the first was written for stands first, then the better supported.
    """
    answers: dict[int, dict[str, Answer]] = defaultdict(dict)
    for number, question in enumerate(questions):
        of = answers[stands[number]]
        for answer in question.answers:
            known = of.get(answer.document)
            if known is None or answer.support > known.support:
                of[answer.document] = answer
    out = []
    for number, found in sorted(answers.items()):
        own = [answer.document for answer in questions[number].answers[:1]]
        order = sorted(found.values(), key=lambda a: (a.document not in own, -a.support))
        one = questions[number]
        same = len(order) == 1 and one.answers == tuple(order)
        out.append((number, one if same else one.model_copy(update={"answers": tuple(order)})))
    return out


T = TypeVar("T")
# What a build tells of itself: coverage, diversity, and how alike questions and documents are (QB-RAG, appendix E).
LOW_COVERAGE = 5.0  # ours: with 2 questions a document the paper falls below plain retrieval, with 8 it stands above
LOW_SHARE = 0.3  # ours: the paper keeps 0.6; half of that says that the documents answer little of what was written
SAMPLE = 1000  # ours: questions of the table of likeness; its means move by less than 0.01 with another sample
SEED = 20  # ours: of the sample


def diversity(by_document: Sequence[Sequence[Question]]) -> float:
    """Different content words over all content words of a document's questions, mean over documents; 0 without any."""
    ratios = []
    for questions in by_document:
        words = [token for question in questions for token in bag(question.text)]
        if words:
            ratios.append(len(set(words)) / len(words))
    return round(sum(ratios) / len(ratios), 4) if ratios else 0.0


def nearness(questions: Sequence[Question], vectors: Vectors, collection: Collection) -> Nearness:
    """The table of likeness, of a sample of the kept questions.

    Args:
        vectors: (questions, dimension).
    """
    if not questions:
        return Nearness()
    draw = np.random.default_rng(SEED)
    rows = np.sort(draw.choice(len(questions), min(SAMPLE, len(questions)), replace=False))
    chosen = np.asarray(vectors[rows], dtype=np.float32)
    documents = collection.nearness(chosen)
    own = [collection.number[questions[row].answers[0].document] for row in rows]
    columns = np.arange(len(rows))
    mine = documents[own, columns]
    others = (documents.sum(axis=0) - mine) / max(1, len(documents) - 1)
    same, other = _between(chosen, own)
    return Nearness(
        question_own_document=_mean(mine),
        question_other_document=_mean(others) if len(documents) > 1 else None,
        question_question_same_document=same,
        question_question_other_document=other,
    )


def siblings(questions: Sequence[Question], vectors: Vectors) -> float | None:
    """Mean cosine of two questions of one document, over a sample of documents; None where none has two."""
    rows: dict[str, list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        rows[question.answers[0].document].append(number)
    several = [members for _, members in sorted(rows.items()) if len(members) > 1]
    if not several:
        return None
    draw = np.random.default_rng(SEED)
    picked = draw.choice(len(several), min(SAMPLE, len(several)), replace=False)
    means = []
    for place in picked:
        held = np.asarray(vectors[several[place]], dtype=np.float32)
        near = held @ held.T
        count = len(held)
        means.append((near.sum() - np.trace(near)) / (count * (count - 1)))
    return _mean(np.array(means))


def warnings(share: float, coverage: float, empty: int, documents: int, foreign: int, lost: int) -> tuple[str, ...]:
    """What the reader must know of a build."""
    found = []
    if coverage < LOW_COVERAGE:
        found.append(
            f"Coverage is low: {coverage:.1f} questions a document, fewer than {LOW_COVERAGE:.0f}. Questions that were "
            "not foreseen are found better by a direct search: keep the fusion with it, or write more."
        )
    if share < LOW_SHARE:
        found.append(f"Only {share:.0%} of the questions were found answered.")
    if empty:
        found.append(f"{empty} of {documents} documents have no question; only a direct search finds them.")
    if foreign:
        found.append(
            f"{foreign} documents are not in English: the local writer has written no questions for them. "
            "A language model writes them (`--writer model`)."
        )
    if lost:
        found.append(
            f"{lost} given answers were left out, because their documents no longer hold them. "
            "Review the learnt questions."
        )
    return tuple(found)


def _between(vectors: Vectors, own: Sequence[int]) -> tuple[float | None, float | None]:
    """Mean cosine of pairs of one document, and of pairs of two."""
    near = vectors @ vectors.T
    same = np.equal.outer(np.array(own), np.array(own))
    pairs = np.triu(np.ones_like(same), 1).astype(bool)
    return _mean(near[same & pairs]), _mean(near[~same & pairs])


def _mean(values: Vectors) -> float | None:
    return round(float(values.mean()), 4) if values.size else None


def standing(given: Sequence[Question], collection: Collection) -> tuple[list[Question], int]:
    """The questions all of whose documents are here, each with the answers that still stand there.

    A quoted answer whose document has changed is found again by its words, where they stand once.

    Returns:
        The questions that keep an answer, and the number of answers that were left out.
    """
    kept, lost = [], 0
    for question in given:
        if not all(a.document in collection.number for a in question.answers):
            continue
        places = [_place(a, collection.documents[collection.number[a.document]].text) for a in question.answers]
        answers = tuple(place for place in places if place is not None)
        lost += len(places) - len(answers)
        if answers:
            kept.append(question.model_copy(update={"answers": answers}))
    return kept, lost


def _place(answer: Answer, text: str) -> Answer | None:
    """The answer where it stands in the text today, None where it does not."""
    start, end = answer.start, answer.end
    if isinstance(answer, QuotedAnswer) and text[start:end] != answer.quote:
        if not answer.quote or text.count(answer.quote) != 1:
            return None
        start = text.index(answer.quote)
        end = start + len(answer.quote)
    if not 0 <= start < end <= len(text):
        return None
    return Answer(document=answer.document, start=start, end=end, support=answer.support)


class TimedEncoder:
    """An encoder that counts the seconds spent in it."""

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.dimension, self.limit = encoder.name, encoder.dimension, encoder.limit
        self._encoder = encoder
        self.seconds = 0.0

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        return self._timed(self._encoder.encode_queries, texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        return self._timed(self._encoder.encode_documents, texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text; tokenising is the encoder's time too."""
        return self._timed(self._encoder.count_tokens, texts)

    def _timed(self, task: Callable[[Sequence[str]], T], texts: Sequence[str]) -> T:
        started = time.perf_counter()
        done = task(texts)
        self.seconds += time.perf_counter() - started
        return done


async def build(
    documents: Sequence[SourceDocument],
    folder: Path,
    encoder: Encoder,
    settings: BuildSettings | None = None,
    *,
    writer: QuestionWriter | None = None,
    judge: AnswerabilityJudge | None = None,
    names: Names | None = None,
    given: Sequence[Question] = (),
    progress: Progress | None = None,
) -> QuestionsReport:
    """Write questions for documents, keep those that they answer, and index them.

    What was written before for the same content is taken over; a build that was killed goes on.

    Args:
        folder: of the index; its work lies beside it (``<folder>.work.sqlite``).
        writer: None writes from the documents' own words. judge: None judges by a round trip through the collection.
        names: other names of what a text mentions, for the local writer.
        given: questions that are known to be answered: a library's own, and reviewed ones from use, each with its
            answers; those of other documents are left out, and those whose words the document no longer holds.
        progress: called with (stage, done, total).

    Raises:
        InputError: there is no document, two have one id, or the matrix of the settings would be too large.
        DataError: the folder is somebody else's, or the work is damaged.
    """
    chosen = settings or BuildSettings()
    check(documents)
    timed = TimedEncoder(encoder)
    started = time.perf_counter()
    collection = Collection(documents)
    own = writer or WriterLocal(collection.rarity, names)
    check_size(sum(chosen.wanted(d.text) for d in documents) + len(given), len(documents), chosen.matrix)
    content = _content(documents, own, judge, chosen, given, encoder)
    with locked(folder):
        held = stored.current(folder, content)
        if held is not None:
            return held.report.model_copy(update={"reused": len(documents)})
        work = Work(folder.with_name(f"{folder.name}{WORK}"), encoder.dimension)
        try:
            drafts, reused = await write_questions(collection, own, chosen, timed, work, progress)
            collection.embed(timed, progress)
            judging = judge or _local_judge(collection, timed, chosen)
            kept = await keep_answered(collection, drafts, judging, work, progress)
            written = (len(drafts.questions), len(kept.questions))
            kept, lost = _with_given(kept, given, collection, timed)
            report, rows = _merge(collection, written, kept, chosen, lost)
            vectors = kept.vectors[[number for number, _ in rows]]
            matrix = Matrix(collection, judging, work, progress)
            questions = await with_matrix([q for _, q in rows], vectors, matrix, chosen.matrix)
            spans = collection.spans([a for q in questions for a in q.answers], timed)
            report = report.model_copy(
                update={
                    "reused": reused,
                    "writer": own.name,
                    "judge": judging.name,
                    "seconds": round(time.perf_counter() - started, 3),
                    "encoder_seconds": round(timed.seconds, 3),
                }
            )
            stored.write(folder, questions, vectors, spans, documents, encoder, report, content)
        finally:
            work.close()
    return report


def check(documents: Sequence[SourceDocument]) -> None:
    """Raise InputError where there is no document, or two have one id."""
    if not documents:
        raise InputError("There are no documents to write questions for.", "Name a collection that holds some.")
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise InputError(f"Two documents have the id {document.id}.", "Give each its own.")
        seen.add(document.id)


def _local_judge(collection: Collection, encoder: Encoder, settings: BuildSettings) -> RoundTrip:
    """The judge without a model: by the published rule no other document matters, however much better it answers."""
    if settings.judge == "round_trip":
        return RoundTrip(collection, encoder, settings.rank)
    judge = RoundTrip(collection, encoder, len(collection.documents))
    judge.name = f"pair of {judge.name}"
    return judge


def _content(
    documents: Sequence[SourceDocument],
    writer: QuestionWriter,
    judge: AnswerabilityJudge | None,
    settings: BuildSettings,
    given: Sequence[Question],
    encoder: Encoder,
) -> str:
    """sha256 over all that an index is made from."""
    told = settings.model_dump_json(exclude={"judge"} if settings.judge == "round_trip" else None)
    parts = [f"{stored.FORMAT} {encoder.name} {judge.name if judge else RoundTrip.name} {told}"]
    keys = keys_of(documents, writer, settings, encoder)
    parts += [key + d.date + d.language for key, d in zip(keys, documents, strict=True)]
    parts += [q.model_dump_json(serialize_as_any=True) for q in given]  # with the words of a quoted answer
    return content_key("\n".join(parts))


def _with_given(
    kept: Drafts, given: Sequence[Question], collection: Collection, encoder: Encoder
) -> tuple[Drafts, int]:
    """What was kept with what was given, and how many given answers no longer stand in their documents."""
    held, lost = standing(given, collection)
    if not held:
        return kept, lost
    vectors = encoder.encode_queries([q.text for q in held]).astype(np.float16)
    owners = [collection.number[q.answers[0].document] for q in held]
    return Drafts(kept.questions + held, kept.owners + owners, np.concatenate((kept.vectors, vectors))), lost


def _merge(
    collection: Collection, written: tuple[int, int], kept: Drafts, settings: BuildSettings, lost: int
) -> tuple[QuestionsReport, list[tuple[int, Question]]]:
    stands = merge(kept.questions, kept.vectors, settings.merge, collection.rarity)
    rows = merged(kept.questions, stands)
    count = len(collection.documents)
    by_document: list[list[Question]] = [[] for _ in range(count)]
    for question, owner in zip(kept.questions, kept.owners, strict=True):
        by_document[owner].append(question)
    empty = sum(not questions for questions in by_document)
    share = written[1] / max(1, written[0])
    coverage = sum(len(q.answers) for _, q in rows) / count
    foreign = sum(
        not is_english(d) and not questions for d, questions in zip(collection.documents, by_document, strict=True)
    )
    likeness = nearness(kept.questions, kept.vectors, collection)
    likeness = likeness.model_copy(update={"question_question_same_document": siblings(kept.questions, kept.vectors)})
    report = QuestionsReport(
        documents=count,
        empty=empty,
        written=written[0],
        kept=written[1],
        given=len(kept.questions) - written[1],
        merged=len(kept.questions) - len(rows),
        questions=len(rows),
        share_kept=round(share, 4),
        coverage=round(coverage, 4),
        diversity=diversity(by_document),
        nearness=likeness,
        warnings=warnings(share, coverage, empty, count, foreign, lost),
    )
    return report, rows
