"""What a source states of a study: the size of its effect, who was studied, what was compared; in its own words.

Each is a whole phrase of the source, or nothing: a figure with its name or with what it is of, a number of people with
what they have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from graphs.verdicts.contract import WRITTEN, Sentence
from tools.evidence import EvidenceId, Origin

# All patterns are ours.
NUMBER = r"\d(?:[\d,]{0,15}\d)?(?:[.·]\d{1,9})?"
UNITS = "one|two|three|four|five|six|seven|eight|nine"
TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
SPELT = rf"\b(?:(?:{TENS})(?:[- ](?:{UNITS}))?|{TEENS}|{UNITS})"
COUNT = rf"(?:(?<![\w.])(?:{NUMBER})|{SPELT}\b)"
TO = r"\s?(?:to|-|–|—|,|;|and)\s?"
P_VALUE = r"\bp\s?(?:[<>]\s?or\s?=|[<=>≤≥])\s?0?[.·]\d{1,9}"
INTERVAL = (
    r"(?:\b9[059]\s?%\s?)?(?:\bCI\b|\bCrI\b|\b(?:confidence|credible) (?:intervals?|limits?))"
    rf"[\s,:=\[(]{{0,3}}(?:(?:of|from|between|was)\s)?[-−]?{NUMBER}\s?%?{TO}[-−]?{NUMBER}(?:\s?%)?"
)
P = re.compile(P_VALUE, re.IGNORECASE)
# What may stand behind a figure and belong to it: a bracket, or its interval and its p value.
BESIDE = re.compile(
    rf"\s?[(\[][^()\[\]]{{0,80}}[)\]]|[,;]?\s(?:with an?\s)?{INTERVAL}(?:[,;]\s?{P_VALUE})?|[,;]\s?{P_VALUE}",
    re.IGNORECASE,
)
TESTED = re.compile(rf"{INTERVAL}|{P_VALUE}|{NUMBER}{TO}{NUMBER}", re.IGNORECASE)
# A ratio or a difference by its name; the short form in capitals alone, because "or" is mostly the conjunction.
FIGURE = re.compile(
    r"(?:(?i:\b(?:(?:adjusted|crude|pooled|relative|absolute|standardi[sz]ed|weighted)\s){0,2}"
    r"(?:(?:hazards?|odds|risks?|incidence(?: rate)?|rate|prevalence) ratio|relative risk|risk (?:difference|reduction)"
    r"|mean difference|numbers? needed to (?:treat|harm)))"
    r"|\b(?:adj|[ac])?(?:HR|OR|I?RR|[SW]?MD|NN[TH]|ARR|RRR)\b)"
    r"(?:\s?[(\[][a-z]{0,3}[A-Z]{2,4}[)\]])?"
    r"(?:\s(?:for|of|in)\s[\w-]{1,20}(?:\s[\w-]{1,20}){0,4}?(?=\s(?:was|were|is|=)\s|[,:]|\s\d{1,3}[.·]\d))?"
    rf"(?:\s?(?:[,:=(\[]|\b(?:was|were|is|of|by)\b)){{0,2}}\s?(?:(?:about|only)\s)?[-−]?{NUMBER}(?:\s?%)?"
)
UNIT = re.compile(r"(?:\s[A-Za-z%µ/]{1,12}){1,3}(?=\s?[,;(\[]\s?(?:9[059]\s?%|CI\b|[pP]\b))")
FOR = re.compile(r"\sfor\s(?=[a-z])")
# A figure without a name, with its interval: "12.5 mL more than with placebo (95% CI, 0.9-23.9 mL)".
MEASURED = re.compile(
    rf"(?<![\w.])[-−]?{NUMBER}(?:\s?%)?[^.;:()\[\]\d]{{0,60}}[(\[][^()\[\]]{{0,20}}?{INTERVAL}[^()\[\]]{{0,40}}[)\]]",
    re.IGNORECASE,
)
SHARES = re.compile(
    rf"(?:(?<![\w.]){NUMBER}(?:\s?%?\s?(?:-|–|to)\s?{NUMBER})?|{SPELT})\s?(?:%|per ?cent\b)"
    r"(?!\s?(?:CI\b|CrI\b|confidence|credible))",
    re.IGNORECASE,
)
ALONG = re.compile(r",\s|,?\s(?:and|or|to)\s(?:from\s|to\s)?", re.IGNORECASE)  # between percentages of one list
AGAINST = re.compile(
    r"[^.;()%]{0,60}?\b(?:versus|vs\.?|compared (?:with|to)|against)\s(?:[a-z]{1,12}\s){0,3}", re.IGNORECASE
)
TAIL = re.compile(
    r"\s(?=(?:of|for|in|with|among|on|after|at|who)\s)"
    r"|\s(?:treated with|(?:assigned|allocated|randomi[sz]ed) to|receiving|taking|given)\s",
    re.IGNORECASE,
)
OPENED = re.compile(r"\s?[(\[][^()\[\]%]{0,12}$")  # the bracket that a percentage stands in, alone
OUT_OF = re.compile(rf"(?:\b\d[\d,]{{0,8}}|{SPELT}) (?:out )?of (?:the )?$", re.IGNORECASE)  # "40 of 88 (45%)"
EQUALS = re.compile(
    r"\s(?:was|were|is|are|reached|averaged)\s(?:(?:only|about|approximately|at least|nearly|almost|up|to)\s){0,2}$"
)
CHANGED = re.compile(r"\b(?:by|from)\s$")  # a change needs no more: "fell by 30 %"
CLOSED = re.compile(r"[^()\[\]%]{0,12}[)\]]")
# Who was taken in, or how groups were before: such figures are no effect.
OF_THE_SAMPLE = re.compile(
    r"\b(?:were|was) (?:enrolled|recruited|screened|approached|eligible)\b|\brefused to\b"
    r"|\b(?:mean|median)\b[^.;]{0,20}\bage\b|\bbaseline (?:characteristics|demographics)\b",
    re.IGNORECASE,
)
PEOPLE = (
    r"(?:adults|children|infants|neonates|newborns|women|men|patients|participants|people|persons|adolescents"
    r"|volunteers|subjects|girls|boys|individuals|smokers|survivors|outpatients|inpatients|mothers|babies|residents)"
)
OF_PEOPLE = re.compile(rf"\b{PEOPLE}$", re.IGNORECASE)
DID = re.compile(
    r"\s(?:(?:were|was|had|have|has)\s)?(?:[a-z]{3,20}ed\b|(?:were|was|had|became|felt|remained)\b)"
)  # what a share of people did
ANYBODY = re.compile(r"(?:patients|participants|people|persons|subjects|individuals|volunteers)", re.IGNORECASE)
DESCRIBED = (  # a word before people that says what people
    r"(?!(?:of|in|with|for|on|at|to|and|or|the|an?|than|from|per|by|among|who|studies|trials?|study|studied|life|hours?"
    r"|days?|weeks?|months?|years?|mg|most|some|all|both|fewer|several|no|every|each|these|those|other|more|less|many|few|included"
    r"|enrolled|groups?|arms?)\b)[\w-]{2,24}"
)
COUNTED = re.compile(rf"({COUNT})\s(?:{DESCRIBED}\s){{0,3}}?{PEOPLE}\b", re.IGNORECASE)
NAMED = re.compile(
    rf"\b(?:in|among|for|of|(?<!compared )to)\s((?:{DESCRIBED}\s){{0,3}}?{PEOPLE})\b"
    rf"|(?:^|(?<=[.:\n]) ?)((?:{DESCRIBED}\s)?{PEOPLE})\b",
    re.IGNORECASE,
)
PART = re.compile(  # what stands before people of whom a part is told, not who was studied
    r"(?:%|\b(?:per ?cent|proportions?|percentages?|numbers?|groups?|rates?|fractions?|shares?|half|third|most|majority"
    rf"|minority|incidence|rest|{UNITS}|\d+))\s(?:of|in)(?:\s(?:the|these))?\s*$",
    re.IGNORECASE,
)
RATE = re.compile(  # what stands before people that a rate is told of: "1 in 10 patients", "per 1,000 people"
    rf"(?:\b(?:per|every|each)|{COUNT}\sin)\s$", re.IGNORECASE
)
LEFT_OUT = re.compile(r"\s?[(\[]\s?\d[\d.]{0,6}\s?%|\s(?:were|was) (?:excluded|not)\b")
CONDITION = re.compile(
    r"\s(?=(?:with|without|who|aged|after|undergoing|at|on|from|in|living|over|under|needing|requiring|awaiting"
    r"|admitted|hospitali[sz]ed|diagnosed|infected|suffering|having|presenting)\s)"
)
TIMED = re.compile(r"(?:after|at|in|on|from) (?:\d|baseline|one|two|three|four|six|eight|the (?:first|second|end))")
# How an arm of a trial was treated is not who was studied.
TREATED = frozenset("treated received receiving taking took given assigned allocated randomised randomized".split())
OF_AN_ARM = re.compile(r"\b(?:treated|groups?|arms?|placebo|controls?)\b", re.IGNORECASE)

# What stands between "versus" and the name of what was compared with, and what ends that name; both ours.
AT = r"(?:in|on|with|for|among|of)"
CONTROL = r"(?:placebo|controls?|usual care|standard care|no treatment|sham)\b"
COMPARED = re.compile(
    rf"\b(?:versus|vs\.?|(?:compared|comparison|relative) (?:with|to)"
    rf"|(?:against|than)(?= (?:that )?(?:{AT} )?(?:the |a )?{CONTROL}))\s"  # not "vaccines against measles"
    rf"(?:(?:{NUMBER}\s?%(?:\s\([^)]*\))?|{NUMBER}(?=\s{AT}\s)|the|an?|those|that|who|{AT}|to|given|using"
    rf"|received|receiving|took|taking|had|were|treated|assigned|allocated|randomi[sz]ed|{PEOPLE})\s)*+"
    r"(?!baseline)([^\W\d_][^.,;:()\[\]?]{1,80})",
    re.IGNORECASE,
)
AFTER = re.compile(
    r"\s(?:in|for|among|on|during|after|at|as|by|to|over|from|within|when|who|which|that|than|but|except|groups?|arms?"
    r"|and \d|(?:and )?(?:was|were|is|are|had|has|did|does|showed|shows|reduced|reduces|lowered|increased|improved"
    r"|decreased|included|significantly))\b.*",
    re.IGNORECASE,
)


class Share(NamedTuple):
    """Where a percentage stands with what it is of, and whether that stands before or behind it."""

    start: int
    end: int
    before: bool
    behind: bool


def effect_of(text: str) -> str:
    """The size of an effect as a sentence states it, in its own words: whole figures, each with its name or what it is
    of, and with its interval; "" when it states none."""
    if OF_THE_SAMPLE.search(text):
        return ""
    measured = [m.span() for m in MEASURED.finditer(text)]
    taken, kept = bytearray(len(text)), []
    for start, end in (*_figures(text), *_shares(text), *measured):
        if not any(taken[start:end]):
            taken[start:end] = b"1" * (end - start)
            kept.append((start, end))
    told = sorted(kept) or [m.span() for m in P.finditer(text)]  # a test alone is told where there is no size
    return "; ".join(dict.fromkeys(text[start:end] for start, end in told))


def population_of(sentence: Sentence) -> str:
    """Who was studied, in the words of the sentence, else of its evidence; "" when neither says.

    What was written as statements studied nobody: its other sentences may be of others.
    """
    item = sentence.evidence
    written = EvidenceId.parse(item.id).collection in WRITTEN and item.origin is not Origin.CASE
    return people_of((sentence.text,) if written else (sentence.text, item.text))


def people_of(texts: Iterable[str]) -> str:
    """Who was studied, in the words of the first text that says it; "" when none does.

    Of a text a number of people with what they have or are, else such people without a number; where no text has
    either, the largest number alone.
    """
    bare: list[tuple[int, str]] = []
    for text in texts:
        counted = [
            (m[1], phrase)
            for m in COUNTED.finditer(text)
            if not RATE.search(text[max(m.start() - 24, 0) : m.start()]) and (phrase := _people(text, m))
        ]
        named = [
            phrase
            for m in NAMED.finditer(text)
            if not PART.search(text[max(m.start() - 24, 0) : m.start(m.lastindex or 0)])
            and (phrase := _people(text, m))
            and not ANYBODY.fullmatch(phrase)
        ]
        whole = [phrase for count, phrase in counted if len(phrase.removeprefix(count).split()) > 1]
        if whole or named:
            return (whole or named)[0]
        bare += [(_size(count), phrase) for count, phrase in counted]
    return max(bare, key=lambda told: told[0], default=(0, ""))[1]


def sizes_of(text: str) -> list[int]:
    """The numbers of people that a text tells, in digits."""
    return [_size(m[1]) for m in COUNTED.finditer(text) if m[1][0].isdigit()]


def comparison_of(texts: Iterable[str]) -> str:
    """What was compared with, in the words of the first text that names it; "" when none does."""
    told = (AFTER.sub("", found[1]).strip() for text in texts for found in COMPARED.finditer(text))
    return next(filter(None, told), "")


def _figures(text: str) -> list[tuple[int, int]]:
    """Where ratios and differences stand that are named, with what belongs to each."""
    out = []
    for m in FIGURE.finditer(text):
        unit = UNIT.match(text, m.end())
        own = unit.end() if unit is not None else m.end()
        of = FOR.match(text, own)
        whole = phrase_end(text, of.end()) if of is not None else own
        end = _tested(text, whole)
        out.append((m.start(), end if end > whole else _tested(text, own)))
    return out


def _shares(text: str) -> list[tuple[int, int]]:
    """Where percentages stand with what they are of, those of one list or of a comparison in one piece."""
    out: list[Share] = []
    for m in SHARES.finditer(text):
        this = _share(text, m)
        last = out[-1] if out else None
        if last is not None and AGAINST.fullmatch(text, last.end, this.start):
            out[-1] = Share(last.start, this.end, before=True, behind=True)
        elif last is not None and not last.behind and ALONG.fullmatch(text, last.end, this.start):
            out[-1] = Share(last.start, this.end, before=last.before or this.before, behind=this.behind)
        else:
            out.append(this)
    return [(told.start, _tested(text, told.end)) for told in out if told.before or told.behind]


def _share(text: str, m: re.Match[str]) -> Share:
    """A percentage with what it is of: behind it, or before it where it stands in a bracket or says how much."""
    opened = OPENED.search(text, max(m.start() - 15, 0), m.start())
    closed = CLOSED.match(text, m.end())
    if opened is not None and closed is not None:
        start, end = owner_start(text, opened.start()), _tail(text, closed.end())
        named = any(c.isalpha() for c in text[start : opened.start()])
        counted = OUT_OF.search(text, max(start - 16, 0), start) if start < opened.start() else None
        return Share(counted.start() if counted else start, end, before=named, behind=end > closed.end())
    end = _tail(text, m.end())
    equals = EQUALS.search(text, max(m.start() - 40, 0), m.start()) if end == m.end() else None
    if equals is None:
        changed = CHANGED.search(text, max(m.start() - 8, 0), m.start()) is not None
        return Share(m.start(), end, before=changed, behind=end > m.end())
    start = owner_start(text, equals.start())
    return Share(start, end, before=start < equals.start(), behind=False)


def _tail(text: str, at: int) -> int:
    """Where what a figure is of ends, which follows it; ``at`` where nothing tells."""
    begun = TAIL.match(text, at)
    end = phrase_end(text, begun.end()) if begun is not None else at
    if begun is None or end == begun.end():
        return at
    did = DID.match(text, end) if OF_PEOPLE.search(text, begun.start(), end) else None
    if did is None:
        return end
    done = phrase_end(text, did.end() + 1)
    return max(done if done > did.end() + 1 else 0, did.end() if did[0].endswith("ed") else end)


def _tested(text: str, at: int) -> int:
    """Where the interval and the p value behind a figure end; ``at`` where it has none."""
    beside = BESIDE.match(text, at)
    return beside.end() if beside is not None and TESTED.search(beside[0]) else at


def _people(text: str, m: re.Match[str]) -> str:
    """People with what they have or are; "" for a part of those studied, such as an arm of a trial."""
    begun = CONDITION.match(text, m.end())
    end = m.end()
    if begun is not None and not TIMED.match(text, begun.end()):
        stop = phrase_end(text, begun.end(), TREATED)
        end = stop if stop > begun.end() else end
    phrase = text[m.start(m.lastindex or 0) : end]
    return "" if LEFT_OUT.match(text, end) or OF_AN_ARM.search(phrase) else phrase


def _size(count: str) -> int:
    return int(float(count.replace(",", "").replace("·", "."))) if count[0].isdigit() else 0


# Where a noun phrase of a report ends: at a verb, a pronoun, a new clause or the clause's own end.

# All word lists are ours: closed classes of English, and the verbs that reports of studies use.
TOKEN = re.compile(r"[^\W_]+(?:[-'’/.][^\W_]+){0,6}")
GAP = re.compile(r"\s(?:[≥≤<>]\s?)?")  # between two words of one phrase
CUT = ("-", "–", "/")  # a word before these is half of one ("10-, 20- and 40-mg doses")
OWNER = 80  # ours: characters of the phrase before a bracket
LONGEST = 14  # ours: words of a phrase; what is longer is cut before its last preposition
FINITE = frozenset(
    "is are was were be been being am has have had having do does did can could may might must shall should will would"
    " cannot took taken take takes got gets show shows shown fell rose felt found gave led went made became began came"
    " grew kept report reports suggest suggests indicate indicates improve improves reduce reduces increase increases"
    " decrease decreases achieve achieves develop develops die dies receive receives respond responds benefit benefits"
    " occur occurs remain remains appear appears seem seems tend tends require requires slept demonstrate demonstrates"
    " differ differs experience experiences underwent undergo lost met ran saw said fail fails need needs used uses"
    " continue continues include includes provide provides yield yields give gives lead leads help helps".split()
)
BREAKING = frozenset(
    "it its they them their theirs we our i he she his her him this these those there here you your one"
    " but while whereas because since although though than compared versus vs when if unless so then however that"
    " before until during over within through throughout via by per into despite respectively not"
    " as whether how what why where whom whose".split()
)
ASIDE = frozenset("at for to in from between".split())  # they begin another part of the sentence, but as below
PREPOSITIONS = frozenset("of in with without on among after at for from to and or between under above versus".split())
TRAILING = PREPOSITIONS | frozenset(
    "living suffering having"
    " the a an both also who which only more less most least very aged about approximately nearly almost either"
    " neither nor no not all each every any some other".split()
)
NUMBERED = frozenset("type stage grade class phase aged over least most score factor hepatitis vitamin".split())
ARTICLES = frozenset("the a an no its their this these those his her our each both all most".split())
TAKEN_WITH = frozenset(
    "mild moderate due allergic resistant refractory intolerant secondary prior unresponsive sensitive".split()
)
RISK = re.compile(
    r"(?:\s(?:an?|the|high|higher|low|lower|increased|moderate|average|very|substantial|great)){0,3}\srisk\b"
)
# Words in -ed that say what somebody has or is, not what was done.
PARTICIPLES = frozenset(
    "aged diagnosed infected affected complicated uncomplicated advanced decompensated controlled uncontrolled mixed"
    " delayed treated untreated elevated impaired inherited acquired related unrelated hospitalised hospitalized"
    " admitted limited displaced ruptured unresected vaccinated unvaccinated exposed undetected assigned allocated"
    " randomised randomized".split()
)


def phrase_end(text: str, start: int, stops: Set[str] = frozenset()) -> int:
    """Where the noun phrase ends that goes on with the word at ``start``; ``start`` itself where none does.

    Args:
        stops: words that end it too.
    """
    kept: list[tuple[str, int]] = []
    verbs = False  # after "who" its verbs belong to the phrase
    for word, end in _words(text, start):
        before = kept[-1][0] if kept else ""
        verb = _is_verb(word, before)
        if word in stops or _begins_anew(text, word, before, end, first=not kept) or (verb and not verbs):
            break
        verbs = word == "who" or (verbs and (verb or word.endswith("ly")))
        kept.append((word, end))
        if len(kept) > LONGEST:
            kept = kept[: max(n for n, (w, _) in enumerate(kept) if not n or w in PREPOSITIONS)]
            break
    if kept and text[kept[-1][1] : kept[-1][1] + 1] in CUT:
        kept.pop()
    while kept and _is_left_over(kept[-1][0]):
        kept.pop()
    return kept[-1][1] if kept else start


def owner_start(text: str, end: int) -> int:
    """Where the noun phrase begins that ends at ``end``, at most four words; ``end`` itself where none does."""
    begin = (text.find(" ", end - OWNER, end) + 1 or end) if end > OWNER else 0
    words = [(m[0].lower(), m.start(), m.end()) for m in TOKEN.finditer(text, begin, end)]
    start, right = end, end
    for word, at, stop in reversed(words[-4:]):
        if text[stop:right].strip() or _is_verb(word, "") or word in TRAILING | BREAKING | FINITE:
            break
        start = right = at
    return start


def _words(text: str, start: int) -> Iterator[tuple[str, int]]:
    """The words from a place on with nothing but a space between them, in small letters, and where each ends."""
    at = start
    for m in TOKEN.finditer(text, start):
        if m.start() != at and not (at > start and GAP.fullmatch(text, at, m.start())):
            return
        yield m[0].lower(), m.end()
        at = m.end()


def _begins_anew(text: str, word: str, before: str, end: int, *, first: bool) -> bool:
    """Whether another part of the sentence begins with a word; most prepositions do so but at the phrase's head."""
    if (word in BREAKING and not (first and word == "over")) or (
        before in ("and", "or") and (word in ARTICLES or word[0].isdigit())
    ):
        return True
    if word not in ASIDE or first:
        return word[0].isdigit() and not (first or before in PREPOSITIONS or before in NUMBERED)
    if word == "at" and before != "living":
        return RISK.match(text, end) is None
    if word == "to":
        return not (before in TAKEN_WITH or before[:1].isdigit() or "respon" in before)
    led = {
        "from": ("suffering", "recovering", "discharged"),
        "between": ("aged",),
        "at": ("living",),
        "in": ("living",),
    }
    return before not in led.get(word, ())


def _is_verb(word: str, before: str) -> bool:
    """Whether a word is a verb with a subject before it; in -ed after a preposition it is none ("of reduced size")."""
    if word in FINITE:
        return True
    past = word.endswith("ed") and not word.endswith("eed") and len(word) > 3 and "-" not in word
    past = past and word not in PARTICIPLES
    return past and (before not in TRAILING or before in ("and", "or"))


def _is_left_over(word: str) -> bool:
    """Whether a word ends no phrase: a preposition, an article, a verb without its object, an adverb."""
    adverb = word.endswith("ly") and len(word) > 5 and word not in ("elderly", "family", "anomaly")
    return word in TRAILING or word in FINITE or adverb
