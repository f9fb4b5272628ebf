"""Statements taken from evidence word for word: the best sentences of what was kept, each with an exact citation."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from graphs.answering.ports import SentenceRanker, WholeText
from graphs.judging.key_terms import Subject, about, mentions, mentions_all
from graphs.judging.orders import speaks_to_machines
from graphs.judging.relevance import Relevance, jaccard, lexical
from graphs.verdicts.contract import Sentence
from tools.contract import AnsweredQuestion
from tools.evidence import Evidence, EvidenceId, Frozen, Statement, cite
from tools.passages.contract import evidence_text
from tools.text.sentences import Span, sentences, unlabelled
from tools.text.tokens import tokens

# The numbers of the extractive answer.


class Fit(Frozen):
    """Chance that a document is the one that answers a question: a logistic regression. Ours, from 364 questions.

    Attributes:
        piece: weight of its best piece, by meaning. beginning: that of its beginning. words: that of the share of the
            question's words that it holds, by rarity among the documents found. bias: its constant.
    """

    piece: float = 6.17
    beginning: float = 3.71
    words: float = 2.0
    bias: float = -6.73

    def __call__(self, piece: float, beginning: float, words: float) -> float:
        """The chance, 0..1, from three values 0..1."""
        told = self.piece * piece + self.beginning * beginning + self.words * words + self.bias
        return 1 / (1 + math.exp(-told))


class ExtractSettings(Frozen):
    """Settings of the extractive answer. All ours.

    Attributes:
        limit: statements at most, qualifying sentences left out of the count.
        pool: ranked sentences that are scored.
        fit: of a whole document. whole: its weight beside that of the sentence, where texts are quoted as an answer.
        prepared: least chance that a document fits which has an answered question that leads (of ours 69 of 91 fitted).
        named: least fit of a document that holds every name of the query that the encoder does not know.
        document: weight of its document, title and best piece, in the relevance of a sentence.
        elsewhere: weight of a sentence that is not about what the question names, where another is.
        floor: relevance from which a sentence may be stated.
        lead: what a sentence needs with its document's fit to be stated; where the best has less nothing was found.
        band: how far below the best sentence a further one may lie.
        answered: similarity from which an answered question leads. near: from which its span competes.
        asked: bonus of such a span, and of a document with a sentence that the judge of closed questions names.
        same: share of words from which two sentences say the same.
    """

    limit: int = 6
    pool: int = 24
    fit: Fit = Fit()
    whole: float = 0.5
    prepared: float = 0.76
    named: float = 0.5
    document: float = 0.3
    elsewhere: float = 0.8
    floor: float = 0.36
    lead: float = 0.34
    band: float = 0.30
    answered: float = 0.75
    near: float = 0.55
    asked: float = 0.04
    same: float = 0.75


# Sentences that qualify the one before them, and sentences that cannot stand without it; ours.
QUALIFIES = re.compile(
    r"^(?:however|but|except|unless|only (?:if|when)|although|even (?:so|then)|in contrast|otherwise|caution"
    r"|exceptions?|(?:it|this|that|these|they) (?:do(?:es)? not|is not|are not|has not|have not|applies|apply"
    r"|should not|must not))\b"
    r"|^(?:但|然而|除非|除外|不过|仅当)",
    re.IGNORECASE,
)
STEP = 1e-6  # by which what is as good, but comes later, stands below
BEGINNING = 300  # ours: characters of a document that tell what it is about
LEANS = re.compile(r"^(?:however|but|it|this|these|they|those|such|its|their)\b|^(?:但|然而|它|这|其)", re.IGNORECASE)


class Extractor:
    """Finds and scores sentences.

    Args:
        ranker: proposes sentences, best first.
        relevance: scores the proposed ones on one scale for every ranker.
    """

    def __init__(self, ranker: SentenceRanker, relevance: Relevance, settings: ExtractSettings | None = None) -> None:
        self._ranker = ranker
        self.relevance = relevance
        self.settings = settings or ExtractSettings()

    def scored(
        self,
        query: str,
        evidence: Sequence[Evidence],
        answered: Sequence[AnsweredQuestion] = (),
        *,
        subjects: Sequence[Subject] = (),
    ) -> list[Sentence]:
        """Sentences for a query, best first: spans of answered questions beside ranked sentences of evidence.

        ``subjects`` are the names in the query: what is not about them counts less, where something is.
        """
        told = [self.told(a) for a in answered]
        spans = [s for said in told for s in said]
        fresh = [p for p in self.proposed(query, evidence) if not any(_overlap(p, s) for s in spans)]
        pool = [*spans, *fresh]
        (row,) = self.rescored([query], pool)
        on_subject = about([(s.evidence.title, s.text) for s in row], query, subjects)
        elsewhere = self.settings.elsewhere
        row = [s if yes else s._replace(score=elsewhere * s.score) for s, yes in zip(row, on_subject, strict=True)]
        near = self.settings.asked
        lifted = [s._replace(score=max(p.score, s.score + near)) for p, s in zip(spans, row, strict=False)]
        return by_score([*self._in_order(told, lifted), *row[len(spans) :]])

    def _in_order(self, told: Sequence[Sequence[Sentence]], lifted: Sequence[Sentence]) -> list[Sentence]:
        """What was told, in its order, with its scores: none above a sentence that leads alone before it. A cosine and
        a probability are on no one scale, but what was found for the question comes best first; a section whole."""
        out, most = list[Sentence](), math.inf
        for said in told:
            own = [s._replace(score=min(most, s.score)) for s in lifted[len(out) : len(out) + len(said)]]
            if len(said) == 1 and said[0].score >= self.settings.answered:
                most = own[0].score - STEP
            out += own
        return out

    def fitted(
        self, query: str, scored: Sequence[Sentence], whole: WholeText, *, strange: Sequence[str] = ()
    ) -> list[Sentence]:
        """The sentences that may be stated, half of each score how well its whole document fits the query; best first.

        A sentence that happens to be near is often of a text that is about something else: its beginning, its best
        piece and the words that it holds in all tell that (`Fit`). ``strange`` are names in the query that the encoder
        does not know: of a document that holds them all a sentence that holds one is near, whatever its vector says.
        """
        pieces: dict[str, list[Evidence]] = {}
        for item in {s.evidence.id: s.evidence for s in scored}.values():
            pieces.setdefault(item.document_id, []).append(item)
        if not pieces:
            return []
        texts = [whole(document) or of[0].text for document, of in pieces.items()]
        near = self.relevance.score([query], [evidence_text(e) for of in pieces.values() for e in of]).dense[0]
        begun = self.relevance.score([query], [text[:BEGINNING] for text in texts]).dense[0]
        words, rest, fits = lexical([query], texts)[0], iter(near), {}
        prepared = {s.evidence.document_id for s in scored if s.score >= self.settings.answered}
        named = {
            d
            for (d, of), text in zip(pieces.items(), texts, strict=True)
            if mentions_all(f"{of[0].title}. {text}", strange)
        }
        for n, (document, of) in enumerate(pieces.items()):
            fit = self.settings.fit(max(float(next(rest)) for _ in of), float(begun[n]), float(words[n]))
            least = self.settings.prepared if document in prepared else self.settings.named * (document in named)
            fits[document] = max(fit, least)
        share, floor, band = self.settings.whole, self.settings.floor, self.settings.band
        near_by_name = [
            d in named and any(mentions(t, n) for n in strange)
            for d, t in ((s.evidence.document_id, s.text) for s in scored)
        ]
        scored = [s._replace(score=max(s.score, floor * by)) for s, by in zip(scored, near_by_name, strict=True)]
        best: dict[str, float] = {}
        for sentence in scored:
            best[sentence.evidence.document_id] = max(sentence.score, best.get(sentence.evidence.document_id, 0.0))
        return by_score(
            [
                s._replace(score=share * fits[s.evidence.document_id] + (1 - share) * min(1.0, s.score))
                for s in scored
                if s.score >= max(floor, best[s.evidence.document_id] - band)
            ]
        )

    def rescored(self, queries: Sequence[str], pool: Sequence[Sentence]) -> list[list[Sentence]]:
        """For each query the pool, in its order, with its relevance to the query, that of its document included."""
        table = self.relevance.score(queries, [p.text for p in pool]).relevance
        whole = self._documents(queries, pool)
        share = self.settings.document
        return [
            [
                p._replace(score=float((1 - share) * row[i] + share * documents[p.evidence.document_id]))
                for i, p in enumerate(pool)
            ]
            for row, documents in zip(table, whole, strict=True)
        ]

    def _documents(self, queries: Sequence[str], pool: Sequence[Sentence]) -> list[dict[str, float]]:
        """For each query the relevance of each document of the pool: that of its best piece with its title."""
        pieces = list({p.evidence.id: p.evidence for p in pool}.values())
        table = self.relevance.score(queries, [evidence_text(e) for e in pieces]).relevance
        out: list[dict[str, float]] = []
        for row in table:
            best: dict[str, float] = {}
            for item, value in zip(pieces, row, strict=True):
                best[item.document_id] = max(float(value), best.get(item.document_id, 0.0))
            out.append(best)
        return out

    def choose(self, scored: Sequence[Sentence], limit: int = 0) -> list[Sentence]:
        """The sentences to state, best first; none when the best is not relevant enough."""
        limit = limit or self.settings.limit
        if not scored or scored[0].score < self.settings.lead:
            return []
        least = max(self.settings.lead, scored[0].score - self.settings.band)
        chosen: list[Sentence] = []
        for sentence in scored:
            if sentence.score < least or len(chosen) == limit:
                break
            if not any(self.same(sentence, c) for c in chosen):
                chosen.append(sentence)
        return self._with_conditions(chosen)

    def same(self, left: Sentence, right: Sentence) -> bool:
        """Whether two sentences overlap or say the same in nearly the same words."""
        if _overlap(left, right):
            return True
        a, b = set(tokens(left.text)), set(tokens(right.text))
        return jaccard(a, b) >= self.settings.same

    def proposed(self, query: str, evidence: Sequence[Evidence]) -> list[Sentence]:
        """The ranker's first sentences, trimmed, each piece of a document once."""
        if not evidence:
            return []
        out: list[Sentence] = []
        for index, start, end, score in self._ranker(query, [e.text for e in evidence])[: self.settings.pool]:
            sentence = _trimmed(Sentence(evidence[index], start, end, score))
            if sentence is not None and not any(_overlap(sentence, o) for o in out):
                out.append(sentence)
        return out

    def told(self, answered: AnsweredQuestion) -> list[Sentence]:
        """The sentences of an answered question; none where it may not be cited."""
        return self._spans(answered) if self._usable(answered) else []

    def _usable(self, answered: AnsweredQuestion) -> bool:
        return (
            answered.evidence.citable
            and (answered.direct or answered.similarity >= self.settings.near)
            and 0 <= answered.start < answered.end <= len(answered.evidence.text)
        )

    def _spans(self, answered: AnsweredQuestion) -> list[Sentence]:
        """The sentences of an answer; those of one that leads share its score, those of a section lead."""
        leads = answered.direct or answered.similarity >= self.settings.answered
        score = max(answered.similarity, self.settings.answered) if leads else 0.0
        at, said = answered.start, sentences(answered.evidence.text[answered.start : answered.end])
        found = [_trimmed(Sentence(answered.evidence, at + s.start, at + s.end, score)) for s in said]
        return [sentence for sentence in found if sentence is not None]

    def _with_conditions(self, chosen: Sequence[Sentence]) -> list[Sentence]:
        """The chosen sentences, each followed by the one that qualifies it and preceded by the one it leans on."""
        out: list[Sentence] = []
        for sentence in chosen:
            before, after = _neighbours(sentence)
            group = [before] if before is not None and LEANS.match(sentence.text) else []
            group.append(sentence)
            if after is not None and QUALIFIES.match(after.text):
                group.append(after)
            out += [g for g in group if not any(_overlap(g, o) for o in out)]
        return out


def by_score(sentences_: Sequence[Sentence]) -> list[Sentence]:
    """Best first; ties by id and place."""
    return sorted(sentences_, key=lambda s: (-s.score, s.evidence.id, s.start))


def statement(sentence: Sentence) -> Statement:
    """A statement that is the sentence, cited exactly."""
    citation = cite(sentence.evidence, sentence.start, sentence.end)
    return Statement(text=sentence.text, origin=sentence.evidence.origin, citations=(citation,))


def _neighbours(sentence: Sentence) -> tuple[Sentence | None, Sentence | None]:
    """The sentences before and after it in the same line of its evidence, questions left out."""
    text = sentence.evidence.text
    spans = [s for s in sentences(text) if not s.of(text).rstrip().endswith(("?", "？"))]
    before = [s for s in spans if s.end <= sentence.start and "\n" not in text[s.end : sentence.start]]
    after = [s for s in spans if s.start >= sentence.end and "\n" not in text[sentence.end : s.start]]
    first = sentence._replace(start=before[-1].start, end=before[-1].end) if before else None
    last = sentence._replace(start=after[0].start, end=after[0].end) if after else None
    return first, last


def _trimmed(sentence: Sentence) -> Sentence | None:
    """The sentence without surrounding white space, list marks and labels; None without a word, for an order, and for a
    question, which states nothing."""
    text = sentence.text
    start = sentence.start + len(text) - len(text.lstrip())
    end = sentence.start + len(text.rstrip())
    start = unlabelled(sentence.evidence.text, Span(start, end)).start
    said = sentence.evidence.text[start:end]
    states = tokens(said) and not said.endswith(("?", "？")) and not speaks_to_machines(said)
    return sentence._replace(start=start, end=end) if states else None


def _overlap(left: Sentence, right: Sentence) -> bool:
    """Whether two sentences share more than half of the shorter one, in the stored document."""
    if left.evidence.document_id != right.evidence.document_id:
        return False
    a, b = _absolute(left), _absolute(right)
    shared = min(a[1], b[1]) - max(a[0], b[0])
    return shared > 0.5 * min(a[1] - a[0], b[1] - b[0])


def _absolute(sentence: Sentence) -> tuple[int, int]:
    base = EvidenceId.parse(sentence.evidence.id).start or 0
    return base + sentence.start, base + sentence.end
