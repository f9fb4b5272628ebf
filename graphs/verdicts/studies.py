"""What a study found on a question: whether it asked the same, which sentence tells its outcome, what its figures say.

A report tells its outcome in words of its own ("the score on day 7 was 12.4 and 9.8, p = 0.01"), so that no sentence of
it holds the question's words. What the whole report is about is known from its title and text; which of its results is
meant, from nearness to the outcome that is asked for, and from its place: the main outcome is told first, with figures.
Whether a difference was shown at all is read from p values and intervals, which the trained reader cannot calculate.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from graphs.verdicts.certainty import is_own, is_published
from graphs.verdicts.contract import WRITTEN, Sentence, VerdictValue
from tools.encoders import Encoder
from tools.evidence import Evidence, EvidenceId, Frozen, Origin
from tools.medicines.names import medicines_in
from tools.reading.contract import ANSWERS, DIRECTIONS, STANCES, Direction, Reading, Stance
from tools.text.questions import AUXILIARY
from tools.text.sentences import Span
from tools.text.tokens import tokens

LEVEL = 0.05  # paper: the usual bound of statistical significance
NUMBER = r"[-−–]?\d{0,7}[.·]?\d{1,7}"
P_VALUE = re.compile(
    r"\b[pP](?:[- ]?values?)?\s?(?P<sign>[<>=≤≥])\s?(?P<value>0?[.·]\d+|[01](?:[.·]0+)?)(?P<after>(?:\s\w+){0,3})"
)
OTHER_TEST = re.compile(r"interaction|trend|heterogeneity|subgroup", re.I)  # a p value of something else
INTERVAL = re.compile(
    rf"\b(?:CI|CrI)\b|\b(?:confidence|credible) (?:interval|limit)s?|\b9[059]\s?%(?= ?[\[(:]?{NUMBER})"
)
BOUNDS = re.compile(rf"({NUMBER})\s?%?\s?(?:to|-|–|,|;|and)\s?({NUMBER})(?!\d)")
RATIO = re.compile(r"\b(?:[Rr]atio|I?RR|a?OR|a?HR|aRR|[Rr]elative [Rr]isk|[Oo]dds|[Hh]azard)\b")
OF_DIFFERENCE = re.compile(
    r"\b(?:difference|reduction|effect size|S?MD|change|points?|fraction|gain|increment)\b", re.I
)
TYPE_NEAR = 15  # ours, characters: a word of a difference must stand so much nearer to outweigh a ratio
BOUNDS_NEAR, BARE_NEAR = 25, 45  # ours, characters between an interval's name, or a ratio's, and its bounds
HIGHEST_RATIO = 20.0  # ours: bounds beyond are no ratio's
WITHIN = re.compile(r"\bwithin (?:the|each|both)\b|\bfrom baseline\b|\bin both\b", re.I)  # no difference between groups
REFERS = re.compile(r"(?:this|the|that) difference\b|(?:these|those|the) differences\b|this effect\b", re.I)

# A closed question in its parts: what is given, and what it should change; ours.
# ours: words of which a report of a study has some, and a leaflet or a guideline on the same thing may have none
OF_A_STUDY = re.compile(
    r"\b(?:trials?|stud(?:y|ies)|randomi[sz]\w+|placebo|participants?|volunteers|enrol\w+|cohort|controls?|allocated|"
    r"assigned|compared|versus|patients? (?:were|was|who)|baseline|follow-?up|weeks|months)\b",
    re.I,
)
OPENING = re.compile(rf"^\W*{AUXILIARY}(?:n't)?\s+(?:there\s+)?(?:adding|taking|giving|using|the use of)?\s*", re.I)
EFFECT_VERB = re.compile(
    r"\b(?:reduc|improv|lower|prevent|increas|shorten|decreas|slow|speed|reliev|help|enhanc|rais|allow|protect|cause|"
    r"affect|worsen|lessen|eas|cur|treat|promot|accelerat|delay|prolong|limit|cut|boost|harm|work|benefit)"
    r"(?:e|es|ed|s|ing)?\b(?: up)?|\b(?:effective|better|superior|beneficial|helpful|useful|safe|associated|worse)\b",
    re.I,
)
LINKED = re.compile(
    r"(?:\s+(?:than|to)\s[\w\s-]{2,50}?\b(?=(?:for|in|at|against)\b))?\s*(?:(?:in|for|against|at|of|from|with)\b)?\s*",
    re.I,
)
SAMENESS = re.compile(
    r"\bas (?:effective|good|safe|well|much|likely)\b|\bsimilar|\bsame\b|non-?inferior|equivalent|\bdiffer|"
    r"\bno (?:effect|difference|worse)\b|\bnot\b|n't\b",
    re.I,
)
SUBGROUP = re.compile(
    r"\b(?:in|among|for|of) (?:those|the (?:women|men|children|elderly)|people|patients|women|men|children|adults|"
    r"carriers|non-carriers)\b[^,;]{0,40}\b(?:with|without|who|under|over|of|living|treated|aged|free|younger|older|"
    r"lacking)\b|\bwhereas\b|\bby contrast\b|\bbut not\b|\bsubgroup|\bnon-\w+s\b|\bwithout such\b",
    re.I,
)

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
WAYS = {  # what a question that asks which way is answered by
    Direction.INCREASED: VerdictValue.YES,
    Direction.DECREASED: VerdictValue.NO,
    Direction.NO_DIFFERENCE: VerdictValue.NO_DIFFERENCE,
    Direction.UNCLEAR: VerdictValue.INSUFFICIENT,
}
SHORT_ANSWER = "short answer"  # the section of a monograph that outranks its others


class StudySettings(Frozen):
    """Settings of what studies say. All ours, chosen on the made-up trials of `evals/data/dev/own_documents.jsonl`.

    Attributes:
        relevant: relevance that a sentence of such a document needs.
        whole, worded: weights of the question's nearness beside the outcome's, and of the outcome's words.
        first, figures: what is added for the first result with a test of significance, and for any other with one.
        sure, tested: probability of its answer from which the main result carries a verdict; with a test that agrees.
        opposed, band: probability from which another result of the document speaks against the main one, and how much
            farther from the question it may be; any distance where one of both is told of a part of the people.
        several, alike: studies with a sure main result, and the share of these that answer alike, from which the others
            do not speak.
        told: of a question that asks which way, the sum of a direction over the studies from which it is the answer.
    """

    relevant: float = 0.5
    whole: float = 0.3
    worded: float = 0.2
    first: float = 0.3
    figures: float = 0.1
    sure: float = 0.8
    tested: float = 0.55
    opposed: float = 0.6
    band: float = 0.05
    several: int = 3
    alike: float = 0.66
    told: float = 0.5


def words_held(question: str, text: str) -> float:
    """Share of a question's own words that a text holds, 0..1; 1 when it has none."""
    wanted = set(tokens(question)) - PLAIN
    return len(wanted & set(tokens(text))) / len(wanted) if wanted else 1.0


class Asked(NamedTuple):
    """The parts of a closed question: what it asks about, the outcome, and whether it asks if nothing differs."""

    subject: str
    outcome: str
    sameness: bool


def parts_of(question: str) -> Asked:
    """A closed question in its parts; where no verb of effect is found both parts are the whole."""
    opened = OPENING.match(question)
    begin = opened.end() if opened else 0
    verb = EFFECT_VERB.search(question, begin + 1)
    sameness = SAMENESS.search(question) is not None
    if verb is None:
        return Asked(question, question, sameness)
    linked = LINKED.match(question, verb.end())
    outcome = question[linked.end() if linked else verb.end() :].strip(" ?.")
    return Asked(question[begin : verb.start()].strip() or question, outcome or question, sameness)


def significance(text: str) -> bool | None:
    """Whether a sentence states a difference between groups as statistically significant; None where it tests none.

    By its p value, else by whether a confidence interval leaves out no effect: 1 of a ratio, 0 of a difference.
    """
    shown = _by_p(text)
    if shown is None:
        shown = _by_interval(text)
    return None if shown and WITHIN.search(text) else shown


def _by_p(text: str) -> bool | None:
    for m in P_VALUE.finditer(text):
        if OTHER_TEST.search(text[max(0, m.start() - 25) : m.start()]) or OTHER_TEST.search(m["after"]):
            continue
        value = _number(m["value"])
        if m["sign"] in "<≤":
            return value <= LEVEL
        if m["sign"] in ">≥":
            return False if value >= LEVEL else None
        return value < LEVEL
    return None


def _by_interval(text: str) -> bool | None:
    named = INTERVAL.search(text)
    if named is not None:
        bounds = BOUNDS.search(text, named.end())
        if bounds is None or bounds.start() - named.end() > BOUNDS_NEAR:
            return None
        low, high = _number(bounds[1]), _number(bounds[2])
        if high < low:  # "26-10": the sign of the second is a dash
            high = abs(high)
        ratio = max((m.start() for m in RATIO.finditer(text, 0, named.start())), default=-1)
        difference = max((m.start() for m in OF_DIFFERENCE.finditer(text, 0, named.start())), default=-1)
        of_ratio = ratio >= 0 and ratio >= difference - TYPE_NEAR and low >= 0
        return not low <= (1.0 if of_ratio else 0.0) <= high
    ratio_named = RATIO.search(text)
    bounds = BOUNDS.search(text, ratio_named.end()) if ratio_named is not None else None
    if ratio_named is None or bounds is None or bounds.start() - ratio_named.end() > BARE_NEAR:
        return None
    low, high = _number(bounds[1]), _number(bounds[2])
    return not low <= 1.0 <= high if 0 < low < high < HIGHEST_RATIO else None


def _number(text: str) -> float:
    return float(re.sub("[−–]", "-", text).replace("·", "."))


def significances(sentences: Sequence[str]) -> list[bool | None]:
    """`significance` of each sentence of a text; what "this difference" is said of, the sentence before has too."""
    out = [significance(text) for text in sentences]
    for at in range(1, len(sentences)):
        if out[at - 1] is None and out[at] is not None and REFERS.match(sentences[at]):
            out[at - 1] = out[at]
    return out


def as_tested(reading: Reading, significant: bool | None) -> Reading:
    """A reading of a result in the light of its own test.

    Without significance nothing differed: what the reader took for support refutes. With it something differed: what
    was taken for "no difference" counts for nothing.
    """
    if significant is None:
        return reading
    yes, no = (STANCES.index(s) for s in (Stance.SUPPORTS, Stance.REFUTES))
    same, unclear = (DIRECTIONS.index(d) for d in (Direction.NO_DIFFERENCE, Direction.UNCLEAR))
    stances, directions = list(reading.stances), list(reading.directions)
    silent = STANCES.index(Stance.NOT_SHOWN)
    if significant:
        lost = stances[no] * directions[same]
        kept = stances[yes] + stances[no] - lost
        told = kept >= LEAST
        scale = (stances[yes] + stances[no]) / kept if told else 0.0
        moved = stances[yes] + stances[no] - scale * kept
        stances[yes], stances[no] = scale * stances[yes], scale * (stances[no] - lost)
        stances[silent] += moved
        directions[unclear] += directions[same]
        directions[same] = 0.0
    else:
        stances[no] += stances[yes]
        stances[yes] = 0.0
        directions = [float(at == same) for at in range(len(directions))]
    return Reading(tuple(stances), tuple(directions), reading.roles)


LEAST = 0.25  # ours: what is left of a reading that its test contradicts; below, it tells nothing


def as_directed(reading: Reading) -> Reading:
    """A reading of a question that asks which way: that the outcome rose supports, that it did not refutes."""
    rises, falls, same, unclear = reading.directions
    told = 1.0 - reading.stance(Stance.UNRELATED)
    given = {
        Stance.SUPPORTS: told * rises,
        Stance.REFUTES: told * (falls + same),
        Stance.NOT_SHOWN: told * unclear,
        Stance.UNRELATED: 1.0 - told,
    }
    return reading._replace(stances=tuple(given.get(s, 0.0) for s in STANCES))


def medicines_of(text: str) -> frozenset[str]:
    """The medicines that a text names, with the classes that they are of."""
    return frozenset(n for m in medicines_in(text) for n in (m.generic, m.family) if n)


def of_a_part(text: str) -> bool:
    """Whether a sentence tells a result of a part of the people, beside another part."""
    return SUBGROUP.search(text) is not None


class Document(NamedTuple):
    """A document as far as it was found: its title, and the sentences of its pieces by their places among all."""

    title: str
    places: tuple[int, ...]
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it in one."""
        return " ".join((self.title, *self.sentences))

    @property
    def is_study(self) -> bool:
        """Whether it has a word or a test of significance that a report of a study has."""
        return OF_A_STUDY.search(self.text) is not None or any(significance(s) is not None for s in self.sentences)

    @property
    def opening(self) -> str:
        """What stands for its title: the title, else its first sentence."""
        return self.title or next(iter(self.sentences), "")


OUTRIGHT = re.compile(r"(yes|no)[,.;:]\s", re.IGNORECASE)  # how a sentence opens that answers outright


class Told(NamedTuple):
    """A sentence of a study that asks what the question asks: how near it is to the outcome, its test, whether it is
    the first with one, whether the first test of its document, whatever tells it, shows no difference, and whether it
    was taken for the main result."""

    near: float
    tested: bool | None
    first: bool
    null: bool = False
    main: bool = False


class Said(NamedTuple):
    """A sentence, its reading, whether it is plainly about what the question names, and whether a known question is.

    ``study``: what is known of it where its document is a study of the very question.
    """

    sentence: Sentence
    reading: Reading
    about: bool = True
    known: bool = False
    plain: bool = False
    study: Told | None = None

    @property
    def answer(self) -> Stance:
        """The likeliest answer."""
        return likeliest(self.reading)[1]

    @property
    def p(self) -> float:
        """Its probability."""
        return likeliest(self.reading)[0]

    def rank(self) -> tuple[bool, bool, bool, bool, float]:
        """What leads: a short answer, what was weighed and is sure, what answers outright, what is the main result or
        of no study, what is surest; of what was weighed, what is most about the question too."""
        sure = self.p * (self.sentence.score if self.known else 1.0)
        return self.short, self.known, self.outright, self.study is None or self.study.main, sure

    @property
    def short(self) -> bool:
        """Whether it is of a monograph's short answer."""
        return (self.sentence.evidence.section or "").lower() == SHORT_ANSWER

    @property
    def document(self) -> str:
        """The id of its document."""
        return self.sentence.evidence.document_id

    @property
    def of_a_study(self) -> bool:
        """Whether its document may be a study: it is no page of the library and no entry of the graph."""
        return EvidenceId.parse(self.sentence.evidence.id).collection not in WRITTEN

    @property
    def given(self) -> bool:
        """Whether its text came with the question."""
        return self.sentence.evidence.origin is Origin.CASE

    def speaks_for(self, other: Said) -> bool:
        """Whether the other is of the same document and says otherwise: of a text that was given the surest sentence
        decides, because its results are told one by one."""
        return self.document == other.document and self.answer is not other.answer

    @property
    def outright(self) -> bool:
        """Whether it opens with yes or no, and the reader leans the same way: its own question may be the reverse."""
        led = OUTRIGHT.match(self.sentence.text)
        return led is not None and self.answer is (Stance.SUPPORTS if led[1].lower() == "yes" else Stance.REFUTES)


def likeliest(reading: Reading) -> tuple[float, Stance]:
    """The likeliest answer and its probability."""
    return max((reading.stance(a), a) for a in ANSWERS)


def _near(said: Said) -> float:
    return said.study.near if said.study is not None else 0.0


def documents_of(pieces: Sequence[tuple[Evidence, Span, str]]) -> dict[str, Document]:
    """The documents of sentences that were published or are the user's own, by their ids."""
    found: dict[str, list[int]] = defaultdict(list)
    for at, (e, _, _) in enumerate(pieces):
        if e.origin is not Origin.CASE and (is_published(e) or is_own(e)):
            found[e.document_id].append(at)
    return {
        name: Document(
            pieces[places[0]][0].title, tuple(places), tuple(pieces[at][1].of(pieces[at][0].text) for at in places)
        )
        for name, places in found.items()
    }


class Studies:
    """How near each sentence of a study is to the outcome that is asked for, and what the study says in all.

    Args:
        encoder: of meaning; None where all documents were chosen for the question, which is then near by its words.
        telling, heard, side: as the policy has them (`graphs.verdicts.local.VerdictSettings`).
    """

    def __init__(
        self,
        encoder: Encoder | None,
        settings: StudySettings | None = None,
        *,
        telling: float = 0.5,
        heard: float = 0.6,
        side: int = 2,
    ) -> None:
        self._encoder = encoder
        self._telling, self._heard, self._side = telling, heard, side
        self.settings = settings or StudySettings()

    def near(self, question: str, documents: Sequence[Document]) -> dict[int, float]:
        """Of sentences of studies that ask what the question asks how near each is to its outcome, by their places."""
        asked, own = parts_of(question), self.settings
        if self._encoder is None:
            return {
                place: words_held(question, text)
                for d in documents
                for place, text in zip(d.places, d.sentences, strict=True)
            }
        whole, outcome = self._encoder.encode_queries([question, asked.outcome])
        out: dict[int, float] = {}
        for document in documents:
            vectors = self._encoder.encode_documents(document.sentences)
            meant = (1 - own.whole) * (vectors @ outcome) + own.whole * (vectors @ whole)
            worded = [own.worded * words_held(asked.outcome, text) for text in document.sentences]
            out |= zip(document.places, (meant + worded).tolist(), strict=True)
        return out

    def tested(
        self,
        question: str,
        near: Mapping[int, float],
        pieces: Sequence[tuple[Evidence, Span, str]],
        readings: Mapping[int, Reading],
    ) -> dict[int, Told]:
        """What is known of each sentence of a study: its nearness, its test, whether it is the first with one."""
        if not near:
            return {}
        same = parts_of(question).sameness
        places = sorted(near)
        tests = dict(zip(places, significances([pieces[at][1].of(pieces[at][0].text) for at in places]), strict=True))
        out: dict[int, Told] = {}
        begun: set[str] = set()
        opening: dict[str, bool | None] = {}
        for at in places:
            if tests[at] is not None:
                opening.setdefault(pieces[at][0].document_id, tests[at])
        for at in places:
            document = pieces[at][0].document_id
            result = tests[at] is not None and readings[at].telling >= self._telling
            null = not same and opening.get(document) is False
            out[at] = Told(near[at], None if same else tests[at], result and document not in begun, null)
            if result:
                begun.add(document)
        return out

    def pool(self, told: Sequence[Said], sure: Callable[[Said], bool]) -> tuple[list[Said], bool]:
        """What may speak, and whether studies do not: of one its main result and what stands beside it, for all of it.

        Of studies of which most answer alike those that answer otherwise do not speak: they stay to be shown beside.
        """
        studies: dict[str, list[Said]] = defaultdict(list)
        for said in told:
            if said.study is not None:
                studies[said.document].append(said)
        found = [own for each in studies.values() if (own := self._findings(each))]
        votes = Counter(own[0].answer for own in found if sure(own[0]))
        outvoted = False
        usual, most = votes.most_common(1)[0] if votes else (None, 0)
        if votes.total() >= self.settings.several and most >= self.settings.alike * votes.total():
            found = [own for own in found if own[0].answer is usual or not sure(own[0])]
            outvoted = most < votes.total()
        return [s for s in told if s.study is None] + [s for own in found for s in own], outvoted

    def _findings(self, told: Sequence[Said]) -> list[Said]:
        """The main result of a study, the one nearest to what is asked that answers; then one that says otherwise.

        None where it supports and the first test of the document shows no difference: the main outcome is told first.
        """
        own = self.settings
        able = [s for s in told if s.reading.relevance >= own.relevant and s.study is not None]
        able.sort(key=lambda s: -self._key(s))
        lead = next((s for s in able if s.p >= self.bar(s)), None)
        if lead is None:
            return able[:1]
        if lead.answer is Stance.SUPPORTS and lead.study is not None and lead.study.null:
            return []
        others = [s for s in able if s is not lead]
        along = [s for s in others if s.answer is lead.answer and s.p >= self._heard]
        parted = of_a_part(lead.sentence.text)
        against = [
            s
            for s in others
            if s.answer is not lead.answer
            and s.p >= own.opposed
            and (parted or of_a_part(s.sentence.text) or _near(s) >= _near(lead) - own.band)
        ]
        main = lead._replace(study=lead.study._replace(main=True)) if lead.study is not None else lead
        return [main, *along, *against[:1]]

    def _key(self, said: Said) -> float:
        """How likely a sentence of a study tells its main result on what is asked."""
        own, study = self.settings, said.study
        if study is None:
            return 0.0
        figures = own.first if study.first else own.figures if study.tested is not None else 0.0
        return study.near + figures

    def directed(self, told: Sequence[Said]) -> tuple[list[Said], VerdictValue | None]:
        """What carries the answer to a question that asks which way, and the answer: yes where the outcome is higher.

        Such a question names its outcome, so that of each study the sentence speaks that is most surely about it and a
        result. Their directions are summed as far as they are; where none has most of the sum it is not settled.
        """
        rising = sorted((s for s in told if s.study is not None), key=lambda s: s.reading.relevance * s.reading.telling)
        mains = list({s.document: s for s in rising}.values())
        total: dict[Direction, float] = dict.fromkeys(DIRECTIONS, 0.0)
        for said in mains:
            for way in DIRECTIONS:
                part = said.reading.directions[DIRECTIONS.index(way)]
                total[way] += said.reading.relevance * said.reading.telling * part
        way = max(total, key=total.__getitem__)
        carrying = sorted((s for s in mains if s.reading.direction is way), key=lambda s: -s.p)
        if not carrying or total[way] < self.settings.told:
            return [], None
        return carrying[: 1 + self._side], WAYS[way]

    def bar(self, said: Said) -> float:
        """From which probability the main result of a study carries a verdict."""
        tested = said.study is not None and said.study.tested is not None
        return self.settings.tested if tested else self.settings.sure
