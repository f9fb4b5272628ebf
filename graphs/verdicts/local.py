"""Verdicts by the trained reader: a sentence of results or conclusions that answers, and none that says otherwise."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graphs.judging.orders import speaks_to_machines
from graphs.verdicts.certainty import certainty_of, effect_of, population_of, reason_of
from graphs.verdicts.contract import Ruling, Sentence, Verdict, VerdictValue
from tools.encoders import Encoder
from tools.evidence import Evidence, Frozen, Origin
from tools.reading.answered import Answered, known_answers
from tools.reading.contract import ANSWERS, Direction, Pair, Reader, Reading, Stance
from tools.text.sentences import Span, sentences, unlabelled
from tools.text.tokens import tokens

VALUE = {
    Stance.SUPPORTS: VerdictValue.YES,
    Stance.REFUTES: VerdictValue.NO,
    Stance.MIXED: VerdictValue.DEPENDS,
    Stance.UNSETTLED: VerdictValue.INSUFFICIENT,
}
# Words of closed questions that name nothing a sentence could be about; ours.
PLAIN = frozenset(
    tokens(
        "do does is are can could should will would may has have it true wrong safe there any with for in of the a an"
        " and or to be by from on at as than that this what when who everyone people person adults someone anybody my"
        " i me you your always never only just really ever get got give given take taken make made use used using need"
        " needed"
        " enough better worse good bad help useless pointless harmful dangerous avoid avoided"
    )
)
OPPOSITE = {Stance.SUPPORTS: Stance.REFUTES, Stance.REFUTES: Stance.SUPPORTS}
SHORT_ANSWER = "short answer"  # the section of a monograph that outranks its others


class VerdictSettings(Frozen):
    """Settings of the policy. All ours, chosen on our own development questions.

    Attributes:
        pairs: sentences that are compared with the question, and read, at most.
        besides: of those that cannot lead, how many are read to be shown beside, the nearest in meaning first.
        telling: probability of being a result or a conclusion from which a sentence may carry a verdict.
        sure, sure_given: probability of its answer from which a sentence carries one by itself; of a text that was
            given with the question, or found for it alone.
        words, in_context: share of the question's own words that such a sentence must hold, by itself and with its
            title and the sentence before. near: cosine of the embeddings that it needs with the question. What was
            given with the question is about it: then these three are not asked.
        plain_words, plain_near: the same, from which it answers in the question's own words; then plain is enough
            where the opposite is less probable than unopposed.
        heard: probability from which a sentence counts as saying otherwise, or as carrying it too.
        side: sentences that are quoted for each answer, beside the leading one.
        relevant, near_relevant: relevance from which a sentence is shown beside; one that may lead needs less.
        beside: sentences shown beside at most.
        carried: probability from which quotes carry a verdict that a model gave.
        alike: cosine from which a closed question that a sentence of the library is known to answer is taken for the
            user's, or its reverse; compared, known: how many are compared, and read, the likest first.
        agreed: probability from which the reader, given that question with its answer, carries a verdict; against:
            probability of the opposite, read from the sentence itself, from which it does not; seconded: probability
            from which both readings together carry it.
    """

    pairs: int = 48
    besides: int = 8
    telling: float = 0.5
    sure: float = 0.95
    sure_given: float = 0.85
    words: float = 0.4
    in_context: float = 0.4
    near: float = 0.5
    plain_words: float = 0.75
    plain_near: float = 0.7
    plain: float = 0.5
    unopposed: float = 0.1
    heard: float = 0.6
    side: int = 2
    relevant: float = 0.6
    near_relevant: float = 0.2
    beside: int = 3
    carried: float = 0.5
    alike: float = 0.7
    compared: int = 64
    known: int = 8
    agreed: float = 0.95
    against: float = 0.6
    seconded: float = 0.8


OUTRIGHT = re.compile(r"(yes|no)[,.;:]\s", re.IGNORECASE)  # how a sentence opens that answers outright


class Said(NamedTuple):
    """A sentence, its reading, whether it is plainly about what the question names, and whether a known question is."""

    sentence: Sentence
    reading: Reading
    about: bool = True
    known: bool = False
    plain: bool = False

    @property
    def answer(self) -> Stance:
        """The likeliest answer."""
        return _answers(self.reading)[1]

    @property
    def p(self) -> float:
        """Its probability."""
        return _answers(self.reading)[0]

    def rank(self) -> tuple[bool, bool, float]:
        """What leads: what a known question carries, what answers outright, what is surest."""
        return self.known, self.outright, self.p

    @property
    def given(self) -> bool:
        """Whether its text came with the question."""
        return self.sentence.evidence.origin is Origin.CASE

    def speaks_for(self, other: Said) -> bool:
        """Whether the other is of the same document and says otherwise: of a text that was given the surest sentence
        decides, because its results are told one by one."""
        same = self.sentence.evidence.document_id == other.sentence.evidence.document_id
        return same and self.answer is not other.answer

    @property
    def outright(self) -> bool:
        """Whether it opens with yes or no, and the reader leans the same way: its own question may be the reverse."""
        led = OUTRIGHT.match(self.sentence.text)
        return led is not None and self.answer is (Stance.SUPPORTS if led[1].lower() == "yes" else Stance.REFUTES)


class VerdictJudgeLocal:
    """Judges by the reader.

    Args:
        reader: reads a question and a sentence in its context.
        encoder: how near a sentence is to a question: the reader alone takes sentences of other things for answers.
            None where all evidence was chosen for the question already.
    """

    def __init__(self, reader: Reader, encoder: Encoder | None = None, settings: VerdictSettings | None = None) -> None:
        self._reader, self._encoder = reader, encoder
        self.settings = settings or VerdictSettings()

    def judge(self, question: str, evidence: Sequence[Evidence]) -> Ruling:
        """The ruling on a question; sentences of the pieces in their order, as many as may be read.

        A sentence that several pieces hold is read once; one that speaks to a machine is not read.
        """
        told_by: dict[str, tuple[Evidence, Span, str]] = {}
        for e in evidence:
            for span, before in in_context(e.text):
                told_by.setdefault(" ".join(span.of(e.text).split()), (e, span, before))
        pieces = [p for text, p in told_by.items() if not speaks_to_machines(text)][: self.settings.pairs]
        alike = self._alike(question, pieces)
        about, plain, rest = self._about(question, pieces)
        chosen = sorted({at for at, may in enumerate(about) if may} | {at for at, _ in alike} | set(rest))
        pairs = [Pair(question, s.of(e.text), e.title, b) for e, s, b in (pieces[at] for at in chosen)]
        readings = dict(zip(chosen, self._reader.read(pairs), strict=True))
        known = self._known(question, alike, pieces, readings)
        said = [
            Said(Sentence(e, s.start, s.end, r.relevance), known.get(at, r), about[at], at in known, plain[at])
            for at, r in readings.items()
            for e, s, _ in [pieces[at]]
        ]
        told = [s for s in said if s.known or s.reading.telling >= self.settings.telling]
        carrying = self._carrying(told)
        own = self.settings
        least = own.relevant if self._encoder is None else own.near_relevant
        beside = [s for s in told if s not in carrying and s.reading.relevance >= (least if s.about else own.relevant)]
        beside.sort(key=lambda s: -s.reading.relevance)
        return Ruling(
            self._verdict(carrying),
            [s.sentence for s in carrying],
            [s.sentence for s in beside[: self.settings.beside]],
        )

    def _about(
        self, question: str, pieces: Sequence[tuple[Evidence, Span, str]]
    ) -> tuple[list[bool], list[bool], list[int]]:
        """Of each sentence whether it may lead, and whether it answers in the question's own words; and the nearest of
        those that may not lead.

        One that may lead shares words and meaning with the question, or was given with it.
        """
        if not pieces or self._encoder is None:
            return [True] * len(pieces), [False] * len(pieces), []
        texts = [s.of(e.text) for e, s, _ in pieces]
        near = (self._encoder.encode_documents(texts) @ self._encoder.encode_queries([question])[0]).tolist()
        own = self.settings
        held = [words_held(question, text) for text in texts]
        around = [words_held(question, f"{e.title} {b} {s.of(e.text)}") for e, s, b in pieces]
        about = [
            e.origin is Origin.CASE or (cosine >= own.near and words >= own.words and more >= own.in_context)
            for (e, _, _), cosine, words, more in zip(pieces, near, held, around, strict=True)
        ]
        rest = sorted((at for at, may in enumerate(about) if not may), key=lambda at: -near[at])[: own.besides]
        return about, [c >= own.plain_near and w >= own.plain_words for c, w in zip(near, held, strict=True)], rest

    def _alike(self, question: str, pieces: Sequence[tuple[Evidence, Span, str]]) -> list[tuple[int, Answered]]:
        """Questions like this one that sentences are known to answer, each with its sentence's place."""
        own = self.settings
        asked = [(at, a) for at, (e, s, _) in enumerate(pieces) for a in known_answers(s.of(e.text))]
        asked = sorted(asked, key=lambda told: -words_held(question, told[1].question))[: own.compared]
        if not asked or self._encoder is None:
            return []
        vectors = self._encoder.encode_queries([question, *(a.question for _, a in asked)])
        near = vectors[1:] @ vectors[0]
        return [asked[i] for i in near.argsort()[::-1][: own.known] if near[i] >= own.alike]

    def _known(
        self,
        question: str,
        alike: Sequence[tuple[int, Answered]],
        pieces: Sequence[tuple[Evidence, Span, str]],
        readings: Mapping[int, Reading],
    ) -> dict[int, Reading]:
        """Of sentences that are known to answer a question like this one: what the reader makes of that answer."""
        own = self.settings
        if not alike:
            return {}
        read = self._reader.read([Pair(question, a.told, pieces[at][0].title) for at, a in alike])
        out: dict[int, Reading] = {}
        for at, reading in sorted(zip((at for at, _ in alike), read, strict=True), key=lambda r: _answers(r[1])[0]):
            p, answer = _answers(reading)
            opposite, own_words = OPPOSITE.get(answer), readings[at]
            agreed = p >= own.agreed and (opposite is None or own_words.stance(opposite) < own.against)
            if agreed or min(p, own_words.stance(answer)) >= own.seconded:
                out[at] = reading
        return out

    def carries(self, question: str, value: VerdictValue, quotes: Sequence[tuple[Evidence, str]]) -> bool:
        """Whether one of the quotes, each a slice of its evidence, entails the verdict."""
        readings = self._reader.read([Pair(question, quote, e.title) for e, quote in quotes])
        wanted = [s for s in ANSWERS if _near(VALUE[s], value)]
        return any(sum(r.stance(s) for s in wanted) >= self.settings.carried for r in readings)

    def _carrying(self, told: Sequence[Said]) -> list[Said]:
        """The sentences that carry a verdict, the leading one first; both sides where sources disagree."""
        short = [s for s in told if (s.sentence.evidence.section or "").lower() == SHORT_ANSWER]
        for pool in (short, told):
            sure = [s for s in pool if s.known or (s.about and (s.outright or s.p >= self._bar(s)))]
            if sure:
                lead = max(sure, key=Said.rank)
                least = self._bar(lead) if lead.known else self.settings.heard
                others = [s for s in pool if s is not lead and not (lead.given and lead.speaks_for(s))]
                heard = [s for s in others if s.known or (s.about and s.p >= least)]
                heard.sort(key=lambda s: -s.p)
                return [lead, *(s for a in ANSWERS for s in [h for h in heard if h.answer is a][: self.settings.side])]
        return []

    def _bar(self, said: Said) -> float:
        """From which probability a sentence carries a verdict."""
        opposite = OPPOSITE.get(said.answer)
        if said.plain and (opposite is None or said.reading.stance(opposite) < self.settings.unopposed):
            return self.settings.plain
        given = self._encoder is None or said.given
        return self.settings.sure_given if given else self.settings.sure

    def _verdict(self, carrying: Sequence[Said]) -> Verdict | None:
        if not carrying:
            return None
        sides: dict[Stance, list[Said]] = defaultdict(list)
        for said in carrying:
            sides[said.answer].append(said)
        value = value_of(sides)
        shown = [s.sentence for s in carrying]
        return Verdict(
            value=value,
            statements=tuple(s.text for s in shown),
            effect=effect_of(shown[0].text),
            population=population_of(shown[0]),
            certainty=certainty_of(shown, disputed=len(sides) > 1),
            reason=reason_of(shown),
        )


def _answers(reading: Reading) -> tuple[float, Stance]:
    """The likeliest answer and its probability."""
    return max((reading.stance(a), a) for a in ANSWERS)


def words_held(question: str, text: str) -> float:
    """Share of a question's own words that a text holds, 0..1; 1 when it has none."""
    wanted = set(tokens(question)) - PLAIN
    return len(wanted & set(tokens(text))) / len(wanted) if wanted else 1.0


def value_of(sides: dict[Stance, list[Said]]) -> VerdictValue:
    """The verdict of what was heard on each side.

    Both yes and no: of one document that was found it depends, of several they conflict. Else what is surest; a "no"
    because nothing differed is "no difference".
    """
    yes, no = sides.get(Stance.SUPPORTS, []), sides.get(Stance.REFUTES, [])
    if yes and no:
        documents = {s.sentence.evidence.document_id for s in (*yes, *no)}
        return VerdictValue.DEPENDS if len(documents) == 1 else VerdictValue.CONFLICTING
    lead = max((s for side in sides.values() for s in side), key=Said.rank)
    if lead.answer is Stance.REFUTES and lead.reading.direction is Direction.NO_DIFFERENCE:
        return VerdictValue.NO_DIFFERENCE
    return VALUE[lead.answer]


def in_context(text: str) -> list[tuple[Span, str]]:
    """The sentences of a text, each with the one before it on its line, "" for a line's first."""
    out: list[tuple[Span, str]] = []
    for span in sentences(text):
        last = out[-1][0] if out else None
        joined = last is not None and "\n" not in text[last.end : span.start]
        out.append((unlabelled(text, span), last.of(text) if last is not None and joined else ""))
    return out


def _near(left: VerdictValue, right: VerdictValue) -> bool:
    """Whether two verdicts say the same as far as one sentence can tell."""
    groups = (
        {VerdictValue.YES},
        {VerdictValue.NO, VerdictValue.NO_DIFFERENCE},
        {VerdictValue.DEPENDS, VerdictValue.CONFLICTING, VerdictValue.INSUFFICIENT},
    )
    return any(left in g and right in g for g in groups)
