"""Verdicts by the trained reader: a sentence of results or conclusions that answers, and none that says otherwise."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from graphs.judging.key_terms import Subject, is_of_another
from graphs.judging.orders import speaks_to_machines
from graphs.verdicts.certainty import PUBLISHED, certainty_of, reason_of
from graphs.verdicts.contract import WRITTEN, Leaning, Ruling, Sentence, Stage, Verdict, VerdictValue
from graphs.verdicts.overall import Part, overall
from graphs.verdicts.stated import effect_of, population_of
from graphs.verdicts.studies import (
    OPPOSITE,
    SHORT_ANSWER,
    Document,
    Said,
    Studies,
    StudySettings,
    as_directed,
    as_tested,
    documents_of,
    likeliest,
    medicines_of,
    of_a_part,
    significance,
    words_held,
)
from graphs.verdicts.topical import is_caveat, likens_to_another, of_another_matter, topical
from graphs.verdicts.warrant import Candidate, Known, warrants
from tools.encoders import Encoder
from tools.evidence import Evidence, EvidenceId, Frozen, Origin
from tools.literature.article import PROTOCOL
from tools.medicines.names import medicines_in
from tools.reading.answered import Answered, asks_the_same, known_answers, turned_round
from tools.reading.contract import ANSWERS, ROLES, STANCES, Direction, Pair, Reader, Reading, Role, Stance
from tools.text.questions import WHICH_WAY
from tools.text.sentences import Span, sentences, unlabelled

VALUE = {
    Stance.SUPPORTS: VerdictValue.YES,
    Stance.REFUTES: VerdictValue.NO,
    Stance.MIXED: VerdictValue.DEPENDS,
    Stance.UNSETTLED: VerdictValue.INSUFFICIENT,
}
OF_A_REPORT = 3  # ours: sentences that a study given with a question has at least to be weighed as a whole
SILENT = (Role.TITLE, Role.QUESTION, Role.AIM, Role.METHOD)  # roles of sentences that state nothing
# ours: how a study's title ends, which the reader may take for a result
TITLED = re.compile(r":\s+(?:an?|the)\s[^.!?]*\b(?:trial|study|review|analysis|cohort|survey|protocol)$", re.IGNORECASE)
AIMED = re.compile(  # an aim, without a sentence around it or with
    r"^\W*(?:(?:To [a-z]+|Whether)\b[^,;:]*[.?]?$|(?:The|Our) (?:main |primary )?(?:aims?|objectives?|purpose|goal) of "
    r"(?:this|the|our) (?:\w+ )?(?:study|trial|review|analysis|paper|report|investigation) (?:was|is|were|are) to\b)"
)
ROLE_ASKED = "Is the treatment effective?"  # ours: a role hangs on no question; the head learned it beside closed ones


class VerdictSettings(Frozen):
    """Settings of the policy. All ours, chosen on our own development questions.

    Attributes:
        pairs: sentences that are compared with the question, and read, at most.
        besides: of those that cannot lead, how many are read to be shown beside, the nearest in meaning first.
        telling: probability of being a result or a conclusion from which a sentence may carry a verdict.
        sure, sure_given: probability of its answer from which a sentence of a publication or a user's document carries
            one by itself; of a text that was given with the question, or found for it alone.
        words, in_context: share of the question's own words that such a sentence must hold, by itself and with its
            title and the sentence before. near: cosine of the embeddings that it needs with the question. What was
            given with the question is about it: then these three are not asked.
        plain_words, plain_near: the same, from which it answers in the question's own words; then plain is enough
            where the opposite is less probable than unopposed.
        heard: probability from which a sentence counts as saying otherwise, or as carrying it too.
        side: sentences that are quoted for each answer, beside the leading one.
        relevant, near_relevant: relevance from which a sentence is shown beside; one that may lead needs less.
        beside: sentences shown beside at most.
        carried: probability from which a sentence of the quotes carries a verdict that a model gave; the model chose
            it for the question, so that it needs to be near, and to hold no share of its words.
        on_point: share of the question's own words, as `in_context`, from which a sentence that says that something is
            not settled says it of this question.
        silent: probability of being a title, a question, an aim or a method from which a sentence is never quoted.
        overall: probability of its answer from which a study that was given with the question, all its results weighed
            together, carries a verdict (`graphs.verdicts.overall`).
        topical, topical_own: probability of being about what is asked from which a study may speak, and a document that
            the user chose.
        alike: cosine from which a closed question that a sentence of the library is known to answer is read beside it;
            compared, known: how many are compared, and read, the likest first.
        warranted: probability of its answer (`graphs.verdicts.warrant`) from which a sentence of the library carries a
            verdict; chosen: of one that a model chose, from which it may.
        said: probability that quotes support a statement from which they say it in other words; that it refutes them,
            from which they do not.
        studies: of documents that ask what the question asks (`graphs.verdicts.studies`).
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
    plain: float = 0.8
    unopposed: float = 0.05
    heard: float = 0.6
    side: int = 2
    relevant: float = 0.6
    near_relevant: float = 0.2
    beside: int = 3
    carried: float = 0.35
    on_point: float = 0.4
    silent: float = 0.5
    overall: float = 0.55
    topical: float = 0.93
    topical_own: float = 0.85
    alike: float = 0.55
    compared: int = 128
    known: int = 10
    warranted: float = 0.85
    chosen: float = 0.5
    said: float = 0.75
    studies: StudySettings = StudySettings()


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
        own = self.settings
        self._studies = Studies(encoder, own.studies, telling=own.telling, heard=own.heard, side=own.side)

    def judge(self, question: str, evidence: Sequence[Evidence], subjects: Sequence[Subject] = ()) -> Ruling:
        """The ruling on a question; sentences of the pieces in their order, as many as may be read.

        A sentence that several pieces hold is read once; one that speaks to a machine is not read. One of the library
        that names none of the ``subjects``, nor does its title, tells nothing of them.
        """
        told_by: dict[str, tuple[Evidence, Span, str]] = {}
        for e in evidence:
            for span, before in in_context(e.text) if e.level != PROTOCOL else ():
                told_by.setdefault(" ".join(span.of(e.text).split()), (e, span, before))
        which_way = WHICH_WAY.search(question) is not None
        may = [p for text, p in told_by.items() if not speaks_to_machines(text)]
        pieces = self._shared_out(question, may) if which_way else may[: self.settings.pairs]
        alike = self._alike(question, pieces)
        about, plain, rest = self._about(question, pieces)
        documents = documents_of(pieces)
        off_topic = self._off_topic(question, documents)
        about = [may and e.document_id not in off_topic for may, (e, _, _) in zip(about, pieces, strict=True)]
        near = self._studies.near(
            question, [d for name, d in documents.items() if name not in off_topic and d.is_study]
        )
        chosen = sorted({at for at, may in enumerate(about) if may} | {at for at, _ in alike} | {*rest, *near})
        pairs = [Pair(question, s.of(e.text), e.title, b) for e, s, b in (pieces[at] for at in chosen)]
        readings = dict(zip(chosen, self._reader.read(pairs), strict=True))
        if which_way:
            readings = {at: as_directed(reading) for at, reading in readings.items()}
        studies = self._studies.tested(question, near, pieces, readings)
        readings |= {at: as_tested(readings[at], told.tested) for at, told in studies.items()}
        weighed = self._weighed(question, alike, pieces, readings)
        leads, silenced = self._given(question, pieces, readings)
        about = [may and at not in silenced for at, may in enumerate(about)]
        relevance = {at: r.relevance for at, r in readings.items()}
        readings |= weighed | leads
        own = self.settings
        sure = {at for at, r in weighed.items() if likeliest(r)[0] >= own.warranted}
        known = {at for at in sure if relevance[at] >= own.near_relevant}  # what is not about it carries nothing
        known |= {at for at, r in leads.items() if likeliest(r)[0] >= own.overall}
        told = [
            said
            for at, r in readings.items()
            for e, s, before in [pieces[at]]
            for sentence in [Sentence(e, s.start, s.end, relevance[at])]
            for said in [Said(sentence, r, about[at], at in known, plain[at], studies.get(at))]
            if self._tells(question, said, before)
            and not (at in weighed and is_of_another(f"{e.title}. {sentence.text}", subjects))
        ]
        if any(s.answer in OPPOSITE and self._sure(s) for s in told):  # a result is not undone by a wish for more
            told = [s for s in told if s.answer is not Stance.UNSETTLED or not is_caveat(s.sentence.text)]
        pool, outvoted = self._studies.pool(told, self._sure)
        carrying, value = self._studies.directed(told) if which_way else (self._carrying(pool), None)
        least = own.relevant if self._encoder is None else own.near_relevant
        carried = [s.sentence for s in carrying]
        beside = [
            s for s in told if s.sentence not in carried and s.sentence.score >= (least if s.about else own.relevant)
        ]
        beside.sort(key=lambda s: -s.sentence.score)
        return Ruling(
            self._verdict(carrying, disputed=outvoted, value=value),
            carried,
            [s.sentence for s in beside[: self.settings.beside]],
            self._leaning(pool),
            _stage(told, carrying, bool(pieces), any(about) or bool(alike) or bool(studies)),
        )

    def _about(
        self, question: str, pieces: Sequence[tuple[Evidence, Span, str]], *, chosen: bool = False
    ) -> tuple[list[bool], list[bool], list[int]]:
        """Of each sentence whether it may lead, and whether it answers in the question's own words; and the nearest of
        those that may not lead.

        One that may lead shares words and meaning with the question, or was given with it; what a model chose for it,
        meaning alone.
        """
        if not pieces or self._encoder is None:
            return [True] * len(pieces), [False] * len(pieces), []
        texts = [s.of(e.text) for e, s, _ in pieces]
        near = (self._encoder.encode_documents(texts) @ self._encoder.encode_queries([question])[0]).tolist()
        own = self.settings
        held = [words_held(question, text) for text in texts]
        around = [words_held(question, f"{e.title} {b} {s.of(e.text)}") for e, s, b in pieces]
        about = [
            e.origin is Origin.CASE
            or (cosine >= own.near and (chosen or (words >= own.words and more >= own.in_context)))
            for (e, _, _), cosine, words, more in zip(pieces, near, held, around, strict=True)
        ]
        rest = sorted((at for at, may in enumerate(about) if not may), key=lambda at: -near[at])[: own.besides]
        return about, [c >= own.plain_near and w >= own.plain_words for c, w in zip(near, held, strict=True)], rest

    def _off_topic(self, question: str, documents: Mapping[str, Document]) -> set[str]:
        """The documents, by their ids, that are not about what the question asks (`graphs.verdicts.topical`)."""
        if self._encoder is None:
            return set()
        chances = topical(question, list(documents.values()), self._encoder)
        own = self.settings
        least = {n: own.topical if EvidenceId.parse(n).collection in PUBLISHED else own.topical_own for n in documents}
        return {name for name, p in zip(documents, chances, strict=True) if p < least[name]}

    def _alike(self, question: str, pieces: Sequence[tuple[Evidence, Span, str]]) -> list[tuple[int, Answered]]:
        """Questions like this one that sentences are known to answer, each with its sentence's place."""
        own = self.settings
        asked = [
            (at, a)
            for at, (e, s, _) in enumerate(pieces)
            for a in known_answers(s.of(e.text))
            if not turned_round(question, a.question)
        ]
        asked = sorted(asked, key=lambda told: -words_held(question, told[1].question))[: own.compared]
        if not asked or self._encoder is None:
            return []
        vectors = self._encoder.encode_queries([question, *(a.question for _, a in asked)])
        near = vectors[1:] @ vectors[0]
        return [asked[i] for i in near.argsort()[::-1][: own.known] if near[i] >= own.alike]

    def _weighed(
        self,
        question: str,
        alike: Sequence[tuple[int, Answered]],
        pieces: Sequence[tuple[Evidence, Span, str]],
        readings: Mapping[int, Reading],
    ) -> dict[int, Reading]:
        """Of sentences of the library, by their places, how probable each answer is with all that is known of them."""
        places = [at for at in readings if _is_weighed(pieces[at][0])]
        if self._encoder is None or not places:
            return {}
        texts = [pieces[at][1].of(pieces[at][0].text) for at in places]
        vectors = self._encoder.encode_queries([question, *(a.question for _, a in alike)])
        cosines = (self._encoder.encode_documents(texts) @ vectors[0]).tolist()
        same = asks_the_same(question, [a.question for _, a in alike], self._encoder)
        read = self._reader.read([Pair(question, a.told, pieces[at][0].title) for at, a in alike])
        known: dict[int, list[Known]] = defaultdict(list)
        for (at, a), near, reading, this in zip(alike, (vectors[1:] @ vectors[0]).tolist(), read, same, strict=True):
            known[at].append(Known(a, near, reading, this))
        ranks = {d: n for n, d in enumerate(dict.fromkeys(e.document_id for e, _, _ in pieces))}
        candidates = [
            Candidate(
                text,
                e.title,
                f"{e.title} {before} {text}",
                e.section or "",
                ranks[e.document_id],
                near,
                readings[at],
                tuple(known[at]),
            )
            for at, text, near in zip(places, texts, cosines, strict=True)
            for e, _, before in [pieces[at]]
        ]
        chances = warrants(question, candidates, self._encoder)
        return {at: _as_weighed(readings[at], told) for at, told in zip(places, chances, strict=True)}

    def _given(
        self, question: str, pieces: Sequence[tuple[Evidence, Span, str]], readings: Mapping[int, Reading]
    ) -> tuple[dict[int, Reading], set[int]]:
        """Of studies that were given with the question: the sentence that says best what each answers in all, by its
        place and as probable as that is; and the places of their others, which carry nothing by themselves."""
        if self._encoder is None:
            return {}, set()
        by_document: dict[str, list[int]] = defaultdict(list)
        for at in readings:
            if pieces[at][0].origin is Origin.CASE:
                by_document[pieces[at][0].document_id].append(at)
        leads: dict[int, Reading] = {}
        silenced: set[int] = set()
        for places in by_document.values():
            told_in = [(pieces[at][0].text, pieces[at][1]) for at in places]
            document = Document(pieces[places[0]][0].title, tuple(places), tuple(s.of(text) for text, s in told_in))
            if len(places) < OF_A_REPORT or not document.is_study:
                continue
            told = overall(question, parts_of(told_in, [readings[at] for at in places]), self._encoder)
            answer = max(told.chances, key=lambda a: told.chances[a])
            near = {places[n]: max(cosine, 0.0) for n, cosine in told.near.items()}
            lead = max(near, key=lambda at: near[at] * _says(readings[at], answer))
            silenced |= {*places} - {lead}
            if _says(readings[lead], answer) >= self.settings.carried:
                leads[lead] = _as_weighed(readings[lead], told.chances)
            else:
                silenced.add(lead)
        return leads, silenced

    def _tells(self, question: str, said: Said, before: str) -> bool:
        """Whether a sentence tells a result or a conclusion on what is asked, not of other medicines alone than the
        question names and of no other matter; that something is not settled, of what is asked."""
        asked, told = medicines_of(question), medicines_of(said.sentence.text)
        if said.of_a_study and asked and told and not asked & told:
            return False
        if said.of_a_study and of_another_matter(question, said.sentence.text):
            return False
        if said.of_a_study and said.answer is Stance.REFUTES and likens_to_another(question, said.sentence.text):
            return False
        if not said.known and (said.reading.telling < self.settings.telling or TITLED.search(said.sentence.text)):
            return False
        if said.answer is not Stance.UNSETTLED or said.given or self._encoder is None:
            return True
        around = f"{said.sentence.evidence.title} {before} {said.sentence.text}"
        held = medicines_of(around)
        named = all(m.generic in held or (not m.generic and m.family in held) for m in medicines_in(question))
        return named and words_held(question, around) >= self.settings.on_point

    def carries(self, question: str, value: VerdictValue, quotes: Sequence[Sentence]) -> list[Sentence]:
        """The quotes that carry a verdict by the policy of `judge`; none where they do not, or speak against it too."""
        pieces = [
            (q.evidence, span, before, q)
            for q in quotes
            for span, before in in_context(q.evidence.text)
            if span.start < q.end and q.start < span.end and not speaks_to_machines(span.of(q.evidence.text))
        ]
        plainly = [p[:3] for p in pieces]
        read = self._reader.read([Pair(question, s.of(e.text), e.title, b) for e, s, b in plainly])
        about, plain, _ = self._about(question, plainly, chosen=True)
        weighed = self._weighed(question, self._alike(question, plainly), plainly, dict(enumerate(read)))
        heard: list[tuple[Said, Sentence]] = []
        for at, (e, s, before, quote) in enumerate(pieces):
            sentence = Sentence(e, s.start, s.end, read[at].relevance)
            reading = weighed.get(at, read[at])
            may = at in weighed and likeliest(reading)[0] >= self.settings.chosen
            said = Said(sentence, reading, about[at], may, plain[at])
            if (said.about or said.known) and said.p >= self.settings.carried and self._tells(question, said, before):
                heard.append((said, quote))
        kept = _sides(value, [said for said, _ in heard])
        return [q for q in quotes if any(quote is q and any(s is said for s in kept) for said, quote in heard)]

    def says(self, statement: str, quotes: Sequence[str]) -> bool:
        """Whether the quotes, read in a row, support the statement, and it does not refute them."""
        body = " ".join(quotes)
        said, back = self._reader.read([Pair(statement, body), Pair(body, statement)])
        least = self.settings.said
        return said.stance(Stance.SUPPORTS) >= least > back.stance(Stance.REFUTES)

    def states(self, quotes: Sequence[Sentence]) -> list[bool]:
        """Of each sentence whether it states something: it is no title, question, aim or method of its document.

        What was written as statements is not read; nor is what the reader cannot read, which stays.
        """
        own = [q for q in quotes if EvidenceId.parse(q.evidence.id).collection not in WRITTEN]
        pairs = [Pair(ROLE_ASKED, q.text, q.evidence.title, _before(q)) for q in own]
        silent = {
            at
            for at, (q, r) in enumerate(zip(own, self._reader.read(pairs), strict=True))
            if sum(r.roles[ROLES.index(role)] for role in SILENT) >= self.settings.silent
            or TITLED.search(q.text)
            or AIMED.match(q.text)
            or q.evidence.level == PROTOCOL
            or _plain(q.text) == _plain(q.evidence.title)
        }
        return [not any(own[at] is q for at in silent) for q in quotes]

    def _carrying(self, told: Sequence[Said]) -> list[Said]:
        """The sentences that carry a verdict, the leading one first; both sides where sources disagree."""
        led = {s.document for s in told if s.short and self._sure(s)}  # a short answer outranks its document's others
        pool = [s for s in told if s.short or s.document not in led]
        sure = [s for s in pool if self._sure(s)]
        if not sure:
            return self._unsettled(pool)
        lead = max(sure, key=Said.rank)
        least = self._bar(lead) if lead.known else self.settings.heard
        others = [s for s in pool if s is not lead and not (lead.given and lead.speaks_for(s))]
        if lead.short:  # no sentence of another document speaks against it that is not as sure
            others = [s for s in others if s.answer is lead.answer or self._sure(s)]
        heard = [s for s in others if s.known or (self._by_itself(s) and s.p >= least)]
        heard.sort(key=lambda s: -s.p)
        agreed = {s.document for s in (lead, *heard) if s.answer is lead.answer}
        if len(agreed) > 1:  # a further outcome of one of the documents that agree is no source that says otherwise
            opposite = OPPOSITE.get(lead.answer)
            aside = [s for s in heard if s.answer is opposite and s.document in agreed]
            heard = [s for s in heard if s not in aside or of_a_part(s.sentence.text)]
        return [lead, *(s for a in ANSWERS for s in [h for h in heard if h.answer is a][: self.settings.side])]

    def _unsettled(self, told: Sequence[Said]) -> list[Said]:
        """Of studies that speak for both sides without one that is sure: the likeliest of each side; else none."""
        heard = [s for s in told if s.about and s.of_a_study and s.p >= self.settings.heard]
        sides = [max((s for s in heard if s.answer is a), key=lambda s: s.p, default=None) for a in OPPOSITE]
        both = [s for s in sides if s is not None]
        return both if len({s.document for s in both}) == len(OPPOSITE) else []

    def _sure(self, said: Said) -> bool:
        """Whether a sentence carries a verdict by itself."""
        return said.known or (self._by_itself(said) and (said.outright or said.p >= self._bar(said)))

    def _by_itself(self, said: Said) -> bool:
        """Whether the reader alone decides what a sentence says: it is none of those that are weighed."""
        weighed = self._encoder is not None and _is_weighed(said.sentence.evidence)
        return not weighed and (said.about or said.study is not None)

    def _bar(self, said: Said) -> float:
        """From which probability a sentence carries a verdict."""
        if said.study is not None:
            return self._studies.bar(said)
        opposite = OPPOSITE.get(said.answer)
        if said.plain and (opposite is None or said.reading.stance(opposite) < self.settings.unopposed):
            return self.settings.plain
        given = self._encoder is None or said.given
        return self.settings.sure_given if given else self.settings.sure

    def _leaning(self, told: Sequence[Said]) -> Leaning | None:
        """What the surest sentence that may lead says, whether or not it is sure enough."""
        lead = max((s for s in told if s.known or s.about or s.study is not None), key=Said.rank, default=None)
        return Leaning(value_of({lead.answer: [lead]}), lead.p) if lead is not None else None

    def _shared_out(
        self, question: str, pieces: Sequence[tuple[Evidence, Span, str]]
    ) -> list[tuple[Evidence, Span, str]]:
        """As many sentences as may be read, of each document as many: those with a test first, then by words."""
        places: dict[str, list[int]] = defaultdict(list)
        for at, (e, _, _) in enumerate(pieces):
            places[e.document_id].append(at)
        each = max(1, self.settings.pairs // max(len(places), 1))

        def rank(at: int) -> tuple[bool, float]:
            text = pieces[at][1].of(pieces[at][0].text)
            return significance(text) is not None, words_held(question, text)

        kept = [at for own in places.values() for at in sorted(own, key=rank, reverse=True)[:each]]
        return [pieces[at] for at in sorted(kept)][: self.settings.pairs]

    def _verdict(
        self, carrying: Sequence[Said], *, disputed: bool, value: VerdictValue | None = None
    ) -> Verdict | None:
        if not carrying:
            return None
        sides: dict[Stance, list[Said]] = defaultdict(list)
        for said in carrying:
            sides[said.answer].append(said)
        if value is None:
            value = value_of(sides) if any(map(self._sure, carrying)) else VerdictValue.INSUFFICIENT
        shown = [s.sentence for s in carrying]
        return Verdict(
            value=value,
            statements=tuple(s.text for s in shown),
            effect=effect_of(shown[0].text),
            population=population_of(shown[0]),
            certainty=certainty_of(shown, disputed=disputed or len(sides) > 1),
            reason=reason_of(shown),
            sides=tuple(VALUE[s.answer] for s in carrying),
        )


def _stage(told: Sequence[Said], carrying: Sequence[Said], read: bool, about: bool) -> Stage:
    """How far the sentences came; ``read``: there were any, ``about``: some of them are about the question."""
    if carrying or not read:
        return Stage.VERDICT if carrying else Stage.NOTHING
    able = [s for s in told if s.about or s.known or s.study is not None]
    if not about or not able:
        return Stage.SILENT if about else Stage.ELSEWHERE
    answers = (max(s.reading.stances) == s.p for s in able)
    return Stage.UNSURE if any(answers) else Stage.NOT_SHOWN


def value_of(sides: dict[Stance, list[Said]]) -> VerdictValue:
    """The verdict of what was heard on each side, the leading sentence's side first.

    Both yes and no: of documents one of which says only the one and another only the other they conflict; else it
    depends. Else what leads; a "no" because nothing differed is "no difference".
    """
    yes, no = sides.get(Stance.SUPPORTS, []), sides.get(Stance.REFUTES, [])
    if yes and no:
        for_it, against = {s.document for s in yes}, {s.document for s in no}
        return VerdictValue.CONFLICTING if for_it - against and against - for_it else VerdictValue.DEPENDS
    lead = next(iter(sides.values()))[0]
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


def _sides(value: VerdictValue, heard: Sequence[Said]) -> list[Said]:
    """Of the sentences that were heard those that carry a verdict; none where the other side is heard too."""
    by = {stance: [s for s in heard if s.answer is stance] for stance in ANSWERS}
    yes, no = by[Stance.SUPPORTS], by[Stance.REFUTES]
    both = [*yes, *no] if yes and no else []
    several = len({s.document for s in both}) > 1
    if value is VerdictValue.CONFLICTING:
        return both if several else []
    if value is VerdictValue.DEPENDS:
        return by[Stance.MIXED] or ([] if several else both)
    if value is VerdictValue.INSUFFICIENT:
        return by[Stance.UNSETTLED]
    if both:
        return []
    if value is VerdictValue.NO_DIFFERENCE:
        return [s for s in no if s.reading.direction in (Direction.NO_DIFFERENCE, Direction.UNCLEAR)]
    return yes if value is VerdictValue.YES else no


def _before(quote: Sentence) -> str:
    """The sentence before a quote on its line, "" for a line's first."""
    return next((b for span, b in in_context(quote.evidence.text) if span.start <= quote.start < span.end), "")


def _is_weighed(evidence: Evidence) -> bool:
    """Whether it was found in what was written as statements, and is no short answer to the question of its page."""
    written = evidence.origin is not Origin.CASE and EvidenceId.parse(evidence.id).collection in WRITTEN
    return written and (evidence.section or "").lower() != SHORT_ANSWER


def _as_weighed(reading: Reading, chances: Mapping[Stance, float]) -> Reading:
    """A reading whose answers are as probable as they were weighed to be; the rest is shared out as before."""
    best = max(chances.values(), default=0.0)
    others = sum(chances.values()) - best
    scale = min(1.0, (1.0 - best) / others) if others else 1.0
    answers = {a: p if p == best else scale * p for a, p in chances.items()}
    silent = [reading.stance(s) for s in (Stance.NOT_SHOWN, Stance.UNRELATED)]
    rest = max(0.0, 1.0 - sum(answers.values())) / (sum(silent) or 1.0)
    left = {Stance.NOT_SHOWN: rest * silent[0], Stance.UNRELATED: rest * silent[1]}
    return reading._replace(stances=tuple((answers | left).get(s, 0.0) for s in STANCES))


def parts_of(told: Sequence[tuple[str, Span]], readings: Sequence[Reading]) -> list[Part]:
    """The sentences of a study, each in the text that it stands in, as `graphs.verdicts.overall` weighs them."""
    lines = [text[text.rfind("\n", 0, span.start) + 1 : span.end] for text, span in told]
    return [Part(s.of(text), line, r) for (text, s), line, r in zip(told, lines, readings, strict=True)]


def _says(reading: Reading, answer: Stance) -> float:
    """How probable it is that a sentence says what its study answers in all; what is open, "it depends" is shown by."""
    said = reading.stance(answer)
    return max(said, reading.stance(Stance.UNSETTLED)) if answer is Stance.MIXED else said


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().strip(" .")
