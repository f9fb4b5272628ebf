"""Where a noun phrase of a report ends: at a verb, a pronoun, a new clause or the clause's own end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

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
