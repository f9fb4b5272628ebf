"""Test questions for a collection: reworded ones, and ones that its index did not foresee (QB-RAG).

Both go through the answerability filter; what stands in the index, or in the document, word for word is left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from prompts.language_model import LanguageModel
from prompts.questions import WrittenReply
from prompts.shown import one_line
from tools.evidence import Frozen
from tools.questions.by_model import ASKED, SHOWN, TITLE
from tools.questions.contract import AnswerabilityJudge, Question, SourceDocument, Verdict
from tools.questions.kinds import kinds_of
from tools.questions.local import Names
from tools.questions.outline import PieceKind, outline
from tools.questions.round_trip import RoundTrip
from tools.text.tokens import tokens

RUN = 6  # ours: so many words in a row of the index or of the document are a leak; names are rarely as long
SetName = Literal["rephrase", "ood"]
SETS: tuple[SetName, ...] = ("rephrase", "ood")
HOW = {
    "rephrase": "Ask the same thing in quite other words.",
    "ood": "Ask for something else that the document answers too: from the view of someone with a concrete problem.",
}
Rarity = Callable[[str], float]


class Probe(Frozen):
    """A test question with the documents that answer it. ``source`` is the indexed question that it was made from."""

    kind: SetName
    question: str
    documents: tuple[str, ...]
    source: str


class ProbeSet(NamedTuple):
    """The questions, and how many were written, leaked word for word, or were not found answered."""

    questions: list[Probe]
    written: int
    leaked: int
    unanswered: int


class Rewriter(Protocol):
    """Writes another question that a document answers."""

    async def rewrite(self, question: Question, document: SourceDocument, kind: SetName) -> Question | None:
        """A question with its answer, None where there is none to be written."""


async def make_set(
    kind: SetName,
    indexed: Sequence[Question],
    documents: Sequence[SourceDocument],
    rewriter: Rewriter,
    judge: AnswerabilityJudge | RoundTrip,
    wanted: int,
    seed: int = 0,
) -> ProbeSet:
    """At most ``wanted`` test questions of a kind, in turns over the documents, drawn by ``seed``."""
    by_id = {d.id: d for d in documents}
    leaks = Leaks(indexed)
    made: list[Probe] = []
    written = leaked = unanswered = 0
    for question in _drawn(indexed, seed):
        if len(made) == wanted:
            break
        document = by_id[question.answers[0].document]
        other = await rewriter.rewrite(question, document, kind)
        if other is None:
            continue
        written += 1
        if leaks.holds(other.text, document):
            leaked += 1
        elif (await judge.judge([(other, document)]))[0].verdict is not Verdict.FULL:
            unanswered += 1
        else:
            leaks.add(other.text)
            answering = question.documents if kind == "rephrase" else (document.id,)  # only this one was judged
            made.append(Probe(kind=kind, question=other.text, documents=answering, source=question.text))
    return ProbeSet(made, written, leaked, unanswered)


class Leaks:
    """What a test question must not take over word for word."""

    def __init__(self, indexed: Sequence[Question]) -> None:
        self._bags = {frozenset(tokens(q.text)) for q in indexed}
        self._runs = {run for q in indexed for run in _runs(q.text)}

    def holds(self, text: str, document: SourceDocument) -> bool:
        """Whether a question stands in the index, or shares a run of words with it or with the document."""
        if frozenset(tokens(text)) in self._bags:
            return True
        mine = set(_runs(text))
        return bool(mine & self._runs) or bool(mine & set(_runs(document.text)))

    def add(self, text: str) -> None:
        """A question that was made stands for the next ones too."""
        self._bags.add(frozenset(tokens(text)))


class RewriterLocal:
    """Rewords by other names and other forms; for ``ood`` asks how two things hang together that a document tells of.

    Args:
        rarity: of a token. names: other names of what a text mentions.
    """

    def __init__(self, rarity: Rarity, names: Names | None = None, seed: int = 0) -> None:
        self._rarity, self._names = rarity, names or (lambda _text: {})
        self._draw = random.Random(seed)  # noqa: S311  no secret

    async def rewrite(self, question: Question, document: SourceDocument, kind: SetName) -> Question | None:
        """A question with its answer, None where there is none to be written."""
        made = self._reworded(question.text, document) if kind == "rephrase" else self._linked(document)
        if not made:
            return None
        return Question(text=made, answers=question.answers if kind == "rephrase" else (), writer="local test")

    def _reworded(self, text: str, document: SourceDocument) -> str:
        """Another form of the same kind of question, with another name where one is known."""
        named = {k: list(v) for k, v in self._names(text).items() if v}
        subject = max(named, key=len, default="") or document.title
        other = self._draw.choice(named[subject]) if subject in named else subject
        asked = kinds_of(text)
        if not subject or not asked:
            return ""
        forms = asked[0].forms[1:]
        return self._draw.choice(forms).format(s=other) if forms else ""

    def _linked(self, document: SourceDocument) -> str:
        statements = [p.words for p in outline(document.text) if p.kind is PieceKind.STATEMENT]
        if len(statements) < 2:
            return ""
        told = self._draw.choice(statements).split()
        words = [w.strip(".,;:()") for w in told]
        title = set(tokens(document.title))
        rare = [w for w in words if len(w) > 3 and set(tokens(w)) - title]
        best = sorted(set(rare), key=lambda w: (-sum(map(self._rarity, tokens(w))), w))[:3]
        if len(best) < 3 or not document.title:
            return ""
        first, second, third = sorted(best, key=words.index)
        return f"With {document.title.lower()}, what do {first.lower()} and {third.lower()} say about {second.lower()}?"


class RewriterByModel:
    """Rewords with a language model, in the role ``questions``. Raises ServiceError when it fails."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def rewrite(self, question: Question, document: SourceDocument, kind: SetName) -> Question | None:
        """A question with its answer, None where the model finds none."""
        reply, _ = await self._model.structured(
            "reworded",
            WrittenReply,
            how=HOW[kind],
            title=one_line(document.title, TITLE) or "none",
            document=one_line(document.text, SHOWN),
            question=one_line(question.text, ASKED),
        )
        text = one_line(reply.question, ASKED)
        return Question(text=text, answers=(), writer=self._model.name) if text else None


def _drawn(indexed: Sequence[Question], seed: int) -> Iterator[Question]:
    """The questions in a drawn order, one of each document before the second of any."""
    draw = random.Random(seed)  # noqa: S311  no secret
    by_document: dict[str, list[Question]] = {}
    for question in draw.sample(list(indexed), len(indexed)):
        by_document.setdefault(question.answers[0].document, []).append(question)
    rounds = max((len(found) for found in by_document.values()), default=0)
    for number in range(rounds):
        yield from (found[number] for found in by_document.values() if number < len(found))


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = [w.strip(".,;:()?!\"'").lower() for w in text.split()]
    return (tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1))
