"""What may leave this machine: only words that are known to be medical or general, where they are no name.

`clear` judges every word of a text in its place. What is not known is held, whatever it is: a name in small letters, in
capitals or in another script, a place, an employer, a number. Words that are known and may be names too (Mark, Wells,
Crohn) leave only where they are none. `check_out` is the gate that every request to the E-utilities passes: it knows
no text, and refuses a query that holds a word which no list knows, or which was held in this turn.

What it cannot catch: a name that is a word of medicine and stands where such a word would stand, in small letters and
without anything personal beside it; and who somebody is by the illness alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from itertools import dropwhile
from pathlib import Path
from typing import Any, NamedTuple

from tools.contract import unique
from tools.literature.adapt_e.entries import american, singular, spellings, wordings
from tools.literature.failures import Reason, failure
from tools.literature.vocabulary import EVERYDAY, GREEK, KnownWords, Vocabulary, asks, folded, known_words
from tools.messages import messages, shortened
from tools.text.frequency import zipf
from tools.text.language import HAN
from tools.text.sentences import sentences
from tools.text.tokens import STOP
from tools.yaml_files import read_patterns

MASK = " | "  # what replaces held text: a break of terms that ends no sentence
RARE = 3.0  # ours: Zipf frequency below which four and more capitals are no common name
TALK = -0.7  # ours: words of talk and names lie below this `Vocabulary.technical`, words of medicine above
CLEARLY = 0.5  # ours: as high a word must lie where somebody is spoken of and no capital tells names
GENERAL = -1.3  # ours: as low as words of a plain question may lie that speaks of nobody
SHAPED, SHAPED_PLAINLY = 3.0, 1.5  # ours: `KnownWords.shape` of an unknown word, and where nobody is spoken of
SHOWN = 12  # ours: held words that a notice names
NARRATIVE = 3  # ours: from as many sentences on a text is read as strictly as a case: stories are about persons
RULES = read_patterns(Path(__file__).with_name("privacy.yaml"))
RELEASE = re.compile(r"(?<!\S)send:(?:\"([^\"\n]{1,80})\"|([^\s\"]{1,80}))")  # send:Wells, send:"van Buren"

BOUND_TO = r"(?:type|factor|phase|stage|vitamin|hepatitis|group|grade)"
TYPED = re.compile(
    rf"\b({BOUND_TO}) (\d|[IVX]{{1,4}}|[A-EK]\d{{0,2}})\b", re.IGNORECASE
)  # a number that belongs to a term
TOKEN = re.compile(r"[^\W_](?:[\w'’]|-(?=\w))*")
MIXED = re.compile(
    r"(?!(?:Mc|Mac|De|Di|Da|La|Le|Al|El|Van|Von|Fitz|O)[A-Z])(?=\w*[a-z])(?=\w*\w[A-Z])\w+|mi[rR]\d{1,4}\w?"
)
CUT_CODE = re.compile(r"mir\d{0,4}[a-z]?|\d{1,3}[a-z]?")  # a code without its hyphen, which no name is
ACRONYM = re.compile(r"[A-Z]{2,5}s?")
LONG_CODE = re.compile(r"[A-Z]{2,5}-?\d{5,8}")  # CRT0066101: only where a noun says what it is
LOOSE_CODE = re.compile(r"[A-Za-z]{2,4}-?\d{1,4}[A-Za-z]?")  # AZD8601, Nup153: where only a thing can stand
HANDLE = re.compile(r"(?<!\w)\w*_\w*")
LONG_GENE = re.compile(r"[A-Z]{3,6}\d{1,2}[A-Z]?")  # where nobody is spoken of, no cue is needed
GENE = re.compile(r"[A-Z]{2,6}\d{1,2}[A-Z]?|[a-z]{2,4}\d{1,2}|[A-Z]-?\d{1,2}[A-Z]?\d?")  # PRDM9, rab7, H1N1
ROMAN = frozenset("ii iii iv vi vii viii ix xi xii".split())
SILENT = frozenset(  # held and not worth a word to the user
    "i im ive mr mrs ms miss dr dob nhs id no january february march april june july august september october "
    "november december monday tuesday wednesday thursday friday saturday sunday".split()
)
OWN = frozenset(  # illnesses that are called by the possessive alone: her Parkinson's
    "parkinson alzheimer crohn huntington hodgkin hashimoto cushing raynaud tourette sjogren addison behcet asperger "
    "meniere wegener kawasaki dupuytren wilson bechterew bell barrett".split()
)
ALONE = frozenset(  # and those, borne by hardly anybody, that are called so without it: she has Gaucher
    "takayasu gaucher duchenne hashimoto crohn parkinson alzheimer behcet raynaud sjogren kawasaki korsakoff dravet "
    "reiter hodgkin huntington tourette marfan fabry pompe meniere dupuytren".split()
)
AFTER_OWN = re.compile(r"['’]s(?!\s+(?:[A-Z]|daughter|son|wife|husband|mother|father|doctor|gp|house|result|"
                       r"appointment|test|blood|care|case|request|question|letter|scan|chart|note))")  # fmt: skip
OWNS = re.compile(r"['’]s$")  # after "Llewellyn's", as after a number, only another capital goes on a name
JOINED = (" and ", " & ")  # Kofi and Ama
SHORT = 4  # ours: letters of a short form, which may be a name in other letters
INSTITUTES = frozenset(  # what ends the name of a place where people are looked after or taught
    "surgery clinic centre center hospital infirmary practice primary school elementary academy college".split()
)
STARTS = re.compile(r"(?:^|[.!?\n]\s*)$")  # the beginning of a sentence alone
BEGINS = re.compile(r"(?:^|[.!?:;\n\"“(•*-]\s*|\d[.)]\s*)$")
# ours: words of grammar that have 's without being somebody's name
CONTRACTED = frozenset(
    "what who where when why how it that there here he she let this one someone everyone anyone nobody somebody today"
    " yesterday tomorrow other another people children".split()
)
PAIRED = re.compile(  # the same names with a space between: Osgood Schlatter
    rf"\b(?:{'|'.join(p.replace('-', ' ') for p in re.findall(r'[a-z]+(?:-[a-z]+)+', RULES['pairs'].pattern))})\b",
    re.IGNORECASE,
)
QUERY_WORD = re.compile(r"[^\W_](?:[\w'’]|-(?=\w))*\*?")
TAG = re.compile(r"\[[a-z /:~\d]{1,30}\]", re.IGNORECASE)
DATE = re.compile(r"\b\d{4}(?:/\d{2}){0,2}\b")
NUMBERED = re.compile(r"\b\d{1,8}\[uid\]")  # a record by its PMID, which leaves as the id of a request does


class Cleared(NamedTuple):
    """A text whose held words are gone, what was held in order, and unknown words that may be slips of the pen.

    ``least``: the `Vocabulary.technical` from which a word that no list has may be asked for.
    """

    text: str
    held: tuple[str, ...] = ()
    slips: tuple[str, ...] = ()
    least: float = TALK


class Turn(NamedTuple):
    """What the present turn holds back, what its user released, and what was let pass where it stands."""

    held: frozenset[str] = frozenset()
    released: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()


_TURN: ContextVar[Turn] = ContextVar("privacy_turn", default=Turn())  # noqa: B039 - it is frozen


class _Place(NamedTuple):
    """A word and where it stands: what is before and after it, whether its capital tells, and its neighbours."""

    word: str
    before: str
    after: str
    telling: bool
    begins: bool
    held_before: bool

    def after_a(self, rule: str) -> bool:
        """Whether a rule of ``privacy.yaml`` is met directly before the word."""
        return RULES[rule].search(self.before) is not None

    def before_a(self, rule: str) -> bool:
        """Whether one is met directly after it."""
        return RULES[rule].match(self.after) is not None


def is_narrative(text: str) -> bool:
    """Whether a text is long enough to tell of somebody: it is read as a case is."""
    return len(sentences(text)) >= NARRATIVE


def released_in(text: str) -> tuple[str, tuple[str, ...]]:
    """A message without its marks ``send:WORD``, and the words that they release."""
    words = tuple(" ".join(m.group(1, 2)[m[1] is None].split()).strip(".,;!?") for m in RELEASE.finditer(text))
    return RELEASE.sub(lambda m: m[1] or m[2], text), words


def begin(text: str, vocabulary: Vocabulary, released: Sequence[str] = ()) -> Cleared:
    """Begin a turn: what its text holds is held in every query of it, except what its user released."""
    free = frozenset(w for phrase in released for w in _words(phrase))
    _TURN.set(Turn(released=free | _in_plain_words(text)))
    return clear(text, vocabulary)


def plain_syndromes(text: str) -> list[str]:
    """Names of illnesses in everyday words (visual snow syndrome), as written: at least two in a row before the word
    for an illness, none of them a given name, and not each a family's."""
    known, found = known_words(), []
    for match in RULES["plain_syndrome"].finditer(text):
        words: list[str] = []
        for word in match[1].split():
            words = [] if word.lower() in STOP else [*words, word]
        words = list(dropwhile(lambda word: asks(word.lower()), words))
        low = [word.lower() for word in words]
        borne = [w in known.surnames or w in known.borne for w in low]
        if len(words) > 1 and not all(borne) and all(zipf(w) >= RARE and w not in known.names for w in low):
            found.append(" ".join([*words, match[2]]))
    return found


def _in_plain_words(text: str) -> frozenset[str]:
    """The words of `plain_syndromes` that stand nowhere else in a text."""
    found = Counter(w.lower() for name in plain_syndromes(text) for w in name.split()[:-1])
    said = Counter(_plain(m[0]) for m in TOKEN.finditer(text))
    return frozenset(word for word, times in found.items() if said[word] == times)


def clear(text: str, vocabulary: Vocabulary) -> Cleared:
    """A text without the words that may not leave. They are held for the rest of the turn, too."""
    turn = _TURN.get()
    text = unicodedata.normalize("NFKC", text)
    handles = HANDLE.findall(text)
    text = PAIRED.sub(lambda m: m[0].replace(" ", "-"), TYPED.sub(r"\1_\2", HANDLE.sub(MASK, text)))
    judged = _judged(text, vocabulary, turn.held)
    named = {low for _, low, free in judged if not free} & {low for _, low, free in judged if free}
    named = {n for n in named if n not in known_words().eponyms and not asks(n)}  # once a name, always one
    if named:
        judged = _judged(text, vocabulary, turn.held | named)
    kept: list[str] = []
    held, at = list(handles), 0
    passed: set[str] = set()
    for match, _, free in judged:
        if free:
            passed.update(_words(match[0]))
            continue
        kept += [text[at : match.start()], MASK]
        at = match.end()
        if _worth_telling(match):
            held.append(match[0])
    personal = _personal(text)
    least = CLEARLY if personal and not any(c.isupper() for c in text) else TALK if personal or held else GENERAL
    new = {w for h in held for w in _words(h)} - passed
    _TURN.set(turn._replace(held=turn.held | new, passed=turn.passed | passed))
    clean = re.sub(rf"\b({BOUND_TO})_(\w+)", r"\1 \2", "".join([*kept, text[at:]]), flags=re.IGNORECASE)
    slips = [h for h in held if h.islower() and h.isascii() and h.isalpha()]
    return Cleared(clean, tuple(unique(held)), tuple(unique(slips)), least)


def _judged(
    text: str, vocabulary: Vocabulary, held: frozenset[str] | set[str]
) -> list[tuple[re.Match[str], str, bool]]:
    """Every word of a text, its plain form, and whether it may leave where it stands."""
    known, released = known_words(), _TURN.get().released
    telling, personal = _capitals_tell(text), _personal(text)
    masked, lay = [m.span() for m in RULES["identifying"].finditer(text)], wordings(text)
    judged: list[tuple[re.Match[str], str, bool]] = []
    # where the last held word ends, whether any word may go on a name after it, and whether it is like a name itself
    end_held, begun, named = -1, True, False
    for match in TOKEN.finditer(text):
        word, low = match[0], _plain(match[0])
        gap = text[end_held : match.start()] if end_held >= 0 else "."
        beside = len(gap) <= 3 and not gap.strip(" -'’") and (begun or word.istitle())
        place = _place(text, match, telling=telling, held_before=beside)
        inside = _within(match.start(), masked)
        if low in released or "_" in word:
            free = True
        elif inside or low in held:
            free = inside and asks(low) and word[0].islower()
        else:
            said = _within(match.start(), lay) and low not in known.eponyms and word[0].islower()
            free = said or _may_leave(place, vocabulary, known, text, personal=personal)
            second = named and gap in JOINED and telling and word.istitle()
            medical = len(low) > SHORT and known.listed(low)
            free = free and not (second and not medical and low not in known.eponyms)
        if not free:
            end_held, begun, named = match.end(), not (word[0].isdigit() or OWNS.search(word)), word.istitle()
        judged.append((match, low, free))
    return [(m, low, free and not _before_a_name(at, judged, text)) for at, (m, low, free) in enumerate(judged)]


def _before_a_name(at: int, judged: Sequence[tuple[re.Match[str], str, bool]], text: str) -> bool:
    """Whether a word that somebody bears stands right before one that is held, both with a capital: they are one name,
    or names in a row."""
    known, (match, low, _) = known_words(), judged[at]
    if at + 1 == len(judged) or not match[0][0].isupper() or asks(low):
        return False
    following, _, free = judged[at + 1]
    beside = not free and following[0][0].isupper() and text[match.end() : following.start()] in (" ", ", ")
    if beside and RULES["label"].search(text[max(0, match.start() - 40) : match.start()]):
        return True
    if known.listed(low) or low in known.eponyms:
        return False
    return beside and any(low in names for names in known.people)


def _place(text: str, match: re.Match[str], *, telling: bool, held_before: bool) -> _Place:
    before, after = text[max(0, match.start() - 40) : match.start()], text[match.end() : match.end() + 60]
    return _Place(match[0], before, after, telling, BEGINS.search(before[-6:]) is not None, held_before)


def _within(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def _personal(text: str) -> bool:
    """Whether a text speaks of somebody; what is not English is taken to."""
    return RULES["personal"].search(text) is not None or HAN.search(text) is not None


def _owns(word: str, low: str) -> bool:
    """Whether a word of grammar stands as a name: with a capital, and something of its own ("Will's asthma")."""
    return word[0].isupper() and OWNS.search(word) is not None and low not in CONTRACTED


def _worth_telling(match: re.Match[str]) -> bool:
    """Whether a user needs to see that a word is held: no grammar, and no everyday word beside an address."""
    word, low = match[0], _plain(match[0])
    if asks(low) and _owns(word, low):
        return True
    if low in SILENT or (asks(low) and not word[0].isupper()):
        return False
    known = known_words()
    if word.islower() and zipf(low) >= EVERYDAY and not any(low in n for n in (known.names, known.borne, known.places)):
        return False
    return not (asks(low) and BEGINS.search(match.string[max(0, match.start() - 6) : match.start()]))


def worth_asking(word: str, vocabulary: Vocabulary, least: float) -> bool:
    """Whether a word of a cleared text may be part of a term; ``least`` is the text's own (`Cleared`)."""
    known, low = known_words(), _plain(word)
    if (
        TYPED.fullmatch(word)
        or all(p in known.eponyms for p in low.split("-"))
        or low in _TURN.get().released
        or known.code(word)
    ):
        return True
    if any(c.isdigit() for c in word):
        return True  # `clear` let it pass
    if MIXED.fullmatch(word) or (least < TALK and not known.any(word) and zipf(low) < EVERYDAY):
        return True  # `clear` let it pass
    if known.shape(low) >= SHAPED_PLAINLY:
        return True
    return all(_medical(p, vocabulary, known, least=least) for p in low.split("-") if len(p) > 1 and p not in GREEK)


def not_sent(held: Sequence[str]) -> str:
    """What a search did not send, for its user; "" when that is nothing but numbers."""
    words = unsent(held, "en")
    return messages("en").say("notice.not_sent", detail=words) if words else ""


def unsent(held: Sequence[str], language: str) -> str:
    """The words that a search did not send, as a notice names them; "" when they are nothing but numbers."""
    words = unique([h for h in held if not (h[0].isdigit() and len(h) < 5)])
    return shortened([f"“{w}”" for w in words], SHOWN, language)


def check_out(parameters: Mapping[str, Any]) -> None:
    """The gate before every request: its terms hold known words alone, its ids are numbers.

    Raises:
        EUtilitiesError: a word may not leave; nothing was sent.
    """
    ids = parameters.get("id", ())
    for one in ids.split(",") if isinstance(ids, str) else ids:
        if not str(one).isascii() or not str(one).isdigit():
            raise failure(Reason.HELD, "An id that is no number was not sent.")
    held = unique(list(_held_in(str(parameters.get("term", "")))))
    if held:
        raise failure(Reason.HELD, f"The query was not sent, because of {', '.join(f'“{w}”' for w in held[:SHOWN])}.")


def release(words: Sequence[str]) -> None:
    """Let words pass the gate for the rest of this turn, as their user wishes."""
    turn = _TURN.get()
    free = frozenset(w for phrase in words for w in _words(phrase))
    _TURN.set(turn._replace(held=turn.held - free, released=turn.released | free))


def repeat(queries: Sequence[str], released: Sequence[str] = ()) -> None:
    """Begin a turn that repeats queries: a word that is known in one of them is, too, where another one cuts it."""
    _TURN.set(Turn())
    release(released)
    known = known_words()
    whole = {_plain(w) for q in queries for w in _query_words(q) if not w.endswith("*") and _passes(w, Turn(), known)}
    _TURN.set(_TURN.get()._replace(passed=frozenset(whole)))


def leaves(name: str) -> bool:
    """Whether a query with this name would be sent: a brand that no list knows holds its whole query back."""
    return not any(_held_in(name))


def _held_in(query: str) -> Iterator[str]:
    """The words of a query that may not leave."""
    turn, known = _TURN.get(), known_words()
    yield from (w for w in _query_words(query) if not _passes(w, turn, known))


def _query_words(query: str) -> Iterator[str]:
    plain = DATE.sub(" ", TAG.sub(" ", TYPED.sub(" ", NUMBERED.sub(" ", query))))
    for match in QUERY_WORD.finditer(unicodedata.normalize("NFKC", plain)):
        yield from filter(None, match[0].split("-"))


def _passes(word: str, turn: Turn, known: KnownWords) -> bool:
    low = _plain(word.rstrip("*"))
    forms = {low, f"{low}s", low.removesuffix("s"), american(singular(low)), *spellings(low)}
    if forms & turn.released or not low:
        return True
    if low in turn.held:
        return False
    if word.endswith("*"):
        return known.begins(low) or any(w.startswith(low) for w in turn.passed | turn.released)
    if forms & turn.passed or len(low) == 1 or low in GREEK or low in ROMAN or (low.isdigit() and len(low) <= 3):
        return True
    if any(known.any(f) for f in (word, *forms)) or known.shape(low) >= SHAPED_PLAINLY or _acronym(word, low, known):
        return True
    return any(pattern.fullmatch(word) for pattern in (GENE, MIXED)) or CUT_CODE.fullmatch(low) is not None


def _may_leave(place: _Place, vocabulary: Vocabulary, known: KnownWords, text: str, *, personal: bool) -> bool:
    """Whether a word may leave where it stands."""
    word = re.sub(r"['’]s?$", "", place.word)
    low = _plain(word)
    if asks(low) and (word.islower() or not place.telling or place.begins) and not place.after_a("title"):
        return not _owns(place.word, low)
    if len(low) == 1 and word.isalpha():
        return low in GREEK or (not word.isupper() or not personal) or _phrase(place)
    if any(c.isdigit() for c in word):
        named = LONG_CODE.fullmatch(word) is not None and place.after_a("code_noun")
        loose = not place.held_before and (named or (LOOSE_CODE.fullmatch(word) is not None and _object(place)))
        thing = loose and not personal and not _subject(place)
        return thing or _code(word, vocabulary, known, text, personal=personal)
    if not all(c.isascii() or c in GREEK for c in re.sub("['’]", "", folded(word))):
        return False
    if low in known.everyday and word.istitle() and (place.telling or personal) and not STARTS.search(place.before):
        return False  # honey and scorpions have no capital
    if _named(place, low, vocabulary, known, personal=personal):
        return False
    as_disease = _disease(place, low, vocabulary, known, personal=personal)
    if as_disease is not None:
        return as_disease
    if known.code(word) and not (word.isupper() and (not place.telling or place.held_before)):
        return True
    if word in known.acronyms and not place.held_before and zipf(low) < RARE:
        return True  # in a text all in capitals, too
    alone = not personal and not _subject(place)
    return (alone and _thing(place, word, low, known)) or _of_known_parts(place, word, vocabulary, known, alone=alone)


def _disease(place: _Place, low: str, vocabulary: Vocabulary, known: KnownWords, *, personal: bool) -> bool | None:
    """Whether the name of a person stands as that of a disease or a rule; None where a word is no such name, or is so
    much a word of medicine that it is judged as one."""
    paired = RULES["pairs"].fullmatch(low) is not None
    if not paired and low not in known.eponyms and not any(p in known.eponyms for p in low.split("-")):
        return None
    surname = low in known.surnames or low in known.names
    borne = surname or low in known.borne
    plainly = not personal and not place.after_a("title") and not borne
    if _eponym(place, low, known) or (plainly and _before_medical(place, vocabulary, known)):
        return True
    if not personal and not borne and vocabulary.collected(low) and _medical(low, vocabulary, known):
        return True
    return False if surname or not _medical(low, vocabulary, known, least=CLEARLY) else None


def _thing(place: _Place, word: str, low: str, known: KnownWords) -> bool:
    """Whether an unknown word of a text that speaks of nobody is a thing, by its capitals or by where it stands."""
    if not word.isascii() or place.held_before or low in known.borne or low in known.places:
        return False
    coded = MIXED.fullmatch(word) is not None or all(_acronym(p, p.lower(), known) for p in word.split("-"))
    return (place.telling and coded) or (_object(place) and not place.after_a("title"))


def _of_known_parts(place: _Place, word: str, vocabulary: Vocabulary, known: KnownWords, *, alone: bool) -> bool:
    """Whether every part of a word is known; one with a capital inside a sentence must be a word of medicine."""
    parts = [p if known.code(p) else _plain(p) for p in re.split(r"['’-]", word) if len(p) > 1] or [_plain(word)]
    if not all(_known(p, vocabulary, known, SHAPED_PLAINLY if alone else SHAPED) for p in parts):
        return alone and word.istitle() and place.telling and place.before_a("named_rule")
    if word.istitle() and not place.begins:
        return all(known.listed(p) or known.shape(p) >= SHAPED_PLAINLY or known.code(p) or asks(p) for p in parts)
    return True


def _named(place: _Place, low: str, vocabulary: Vocabulary, known: KnownWords, *, personal: bool) -> bool:
    """Whether a known word is a name here: by a title, a name beside it, a list of names, or what stands around it."""
    capital = place.word[0].isupper() and place.telling
    medical = _medical(low, vocabulary, known, least=0.0)
    if _introduced(place, low, known, capital=capital, medical=medical):
        return True
    named = low in known.names or low in known.surnames or low in known.eponyms
    clear_cut = known.code(place.word) or vocabulary.technical(low) >= CLEARLY
    if place.held_before and low in INSTITUTES:
        return True
    if place.held_before and (capital or not place.telling or named) and (named or (capital and not clear_cut)):
        return True
    if place.held_before and personal and not known.listed(low) and not asks(low) and known.shape(low) < SHAPED:
        return True  # what follows a name is mostly the rest of it
    if low in known.names:
        return not _eponym(place, low, known)
    if low in known.places and place.after_a("place") and (capital or not medical or low in ("bath", "reading")):
        return True
    both = low in known.words_and_names
    if capital and not place.begins and not known.listed(low) and (both or low in known.borne):
        return not _eponym(place, low, known)
    if both and place.begins and not _before_medical(place, vocabulary, known):
        return True
    if (both or low in known.surnames) and not asks(low):
        alone = place.after_a("auxiliary") or place.begins
        return alone and place.before_a("subject") and (both or not medical)
    return False


def _introduced(place: _Place, low: str, known: KnownWords, *, capital: bool, medical: bool) -> bool:
    """Whether what stands before a word says that it is a name: a title, "last name", an initial, "my friend"."""
    if place.after_a("title") or place.after_a("named_as"):
        return True
    borne = any(low in names for names in (*known.people, known.eponyms))
    if capital and place.after_a("initial") and borne:
        return True
    if not place.after_a("kin"):
        return False
    if place.before_a("whose") and not (medical and known.listed(low)):
        return True  # "my friend dot who works at ..."
    return (capital or low in known.names) and not (medical and low not in known.names)


def _eponym(place: _Place, low: str, known: KnownWords) -> bool:
    """Whether the name of a person stands as the name of a disease, a sign or a rule: Wells score, her Parkinson's."""
    parts = [p for p in low.split("-") if p]
    if place.after_a("title") or place.after_a("kin"):
        return False
    if RULES["pairs"].fullmatch(low) is not None:
        return True
    if not all(p in known.eponyms or p in OWN for p in parts):
        return False
    after = ("'s" if re.search(r"['’]s?$", place.word) else "") + place.after
    head = RULES["head"].match(after)
    if head is not None:
        inner = [_plain(w) for w in TOKEN.findall(head[0])][:-1]
        return all(w in known.eponyms or known.listed(w) or w in ("s", "like", "and") for w in inner)
    if RULES["rare_head"].match(after) and not any(p in names for p in parts for names in known.people):
        return True
    if low in ALONE and place.after_a("has") and not place.held_before and not place.before_a("subject"):
        return True
    if low not in OWN:
        return False
    return (AFTER_OWN.match(after) is not None and not place.held_before) or (
        place.word.lower().rstrip("s'’") in OWN and place.word.lower().endswith("s") and not place.before_a("subject")
    )


def _before_medical(place: _Place, vocabulary: Vocabulary, known: KnownWords) -> bool:
    following = re.match(r"(?:['’]s)?[ -]([\w-]+)", place.after)
    return following is not None and _medical(_plain(following[1]), vocabulary, known, least=0.5)


def _phrase(place: _Place) -> bool:
    """Whether a single letter belongs to a phrase such as vitamin D, or hepatitis B."""
    return re.search(rf"\b{BOUND_TO}\s+$|\b(?:group|class|strep|type)\s+$", place.before, re.IGNORECASE) is not None


def _medical(low: str, vocabulary: Vocabulary, known: KnownWords, *, least: float = TALK) -> bool:
    """Whether a word is medical: an ontology has it, it has the ending, or published medical text has it far more."""
    if known.listed(low) or (low in vocabulary.words and low not in known.eponyms):
        return True
    return vocabulary.collected(low) > 0 and vocabulary.technical(low) >= least


def _subject(place: _Place) -> bool:
    """Whether a word stands where a person would: does X need, in X, X's."""
    after = place.before_a("subject")
    return (place.after_a("auxiliary") and after) or place.after_a("there")


def _object(place: _Place) -> bool:
    """Whether a word stands where only a thing can: what is X, role of X, is X effective, the X gene."""
    return place.after_a("object_before") or place.before_a("object_after")


def _acronym(word: str, low: str, known: KnownWords) -> bool:
    return ACRONYM.fullmatch(word) is not None and low not in known.names and (len(low) < 4 or zipf(low) < RARE)


def _known(low: str, vocabulary: Vocabulary, known: KnownWords, shaped: float = SHAPED) -> bool:
    if (known.frequency(low) and known.sure(low)) or known.listed(low) or asks(low) or known.code(low) or low in GREEK:
        return True
    if (low in vocabulary.words and low not in known.eponyms) or _medical(low, vocabulary, known):
        return True
    return low not in known.eponyms and known.shape(low) >= shaped


def _code(word: str, vocabulary: Vocabulary, known: KnownWords, text: str, *, personal: bool) -> bool:
    if word[0].isdigit():
        return False
    parts = RULES["of_code"].sub("", word).split("-")
    if known.code(word) or all(known.code(p) or known.listed(p.lower()) or (p.isdigit() and len(p) < 3) for p in parts):
        return True
    if vocabulary.collection is not None and vocabulary.collected(word):
        return True
    if not personal and LONG_GENE.fullmatch(word):
        return True
    return (
        not personal
        and all(GENE.fullmatch(p) or known.listed(p.lower()) for p in parts)
        and bool(RULES["code_cue"].search(text))
    )


def _capitals_tell(text: str) -> bool:
    """Whether capitals mean something: not in a text all in capitals, or with a capital at nearly every word."""
    words = [m for m in TOKEN.finditer(text) if len(m[0]) > 1 and m[0].isalpha() and m[0].isascii()]
    small = sum(m[0].islower() for m in words)
    capital = sum(m[0].istitle() and not BEGINS.search(text[max(0, m.start() - 6) : m.start()]) for m in words)
    return small > 0 and capital < 0.6 * (small + capital)


def _plain(word: str) -> str:
    return re.sub(r"['’]s?$", "", folded(word).lower())


def _words(phrase: str) -> Iterator[str]:
    for match in TOKEN.finditer(unicodedata.normalize("NFKC", phrase)):
        plain = _plain(match[0])
        yield from unique([plain, plain.replace("-", ""), *(p for p in plain.split("-") if len(p) > 1)])
