"""What a document is about: its title, else the name that its own sentences speak of most."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from tools.questions.outline import Kind, Piece
from tools.text.definitions import definitions
from tools.text.tokens import STOP, tokens

# ours: words that end a name when a sentence goes on behind it
BREAK = frozenset(
    """is are was were be been has have had can could may might must should will would do does did who whom whose which
    that this these those it its they their them there and or but if when while because since as than then so in on at
    to by from for with without about into after before during between through over under not no often usually also
    sometimes typically commonly generally rarely most many some several few all both each any one such other affected
    include includes including included occur occurs cause causes caused affect affects result results resulting refers
    appear appears develop develops vary varies depend depends characterized characterised associated treated diagnosed
    inherited called known need needs help helps you your we our he she his her i lead leads require requires become
    becomes make makes made involve involves used given however although""".split()
)
VERBS = frozenset(
    """is are was were can could may might must should has have affects affect causes cause occurs occur refers includes
    include appears develops results varies usually often typically rarely also generally commonly""".split()
)
LEADING = frozenset("a an the this these those most many some people patients individuals treatment your".split())
# ours: what a text calls its subject without naming it, and words that name no subject
EMPTY = frozenset(
    """condition conditions disease diseases disorder disorders syndrome syndromes illness problem problems patient
    patients people person individuals individual children child adults adult women men doctor doctors treatment
    treatments symptom symptoms signs sign cause causes risk case cases type types form forms cell cells gene
    genes body test tests blood medicine medicines surgery family families health care life time years year age
    number group study studies information researchers research infants babies parents part parts level levels
    change changes mutation mutations protein proteins prognosis outlook diagnosis following things summary
    example way ways others same affected frequency prevalence inheritance pattern list table resources registry
    encyclopedia terms features feature history""".split()
)
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9'’/+-]|\.(?=\d))*")
PHRASE_END = re.compile(r"[,;:!?()\[\]\"“”]|\.(?=\s|$)")
WORDS = 8  # ours: words of the longest name
# ours: what stands before the name of what is spoken of, and how much that tells
PEOPLE = (
    "people|patients|individuals|children|adults|persons?|someone|anyone|women|men|those|infants|born|diagnosed|living"
)
HEADS = (
    "signs|symptoms|treatments?|diagnosis|causes?|prognosis|outlook|types?|forms?|kinds?|risk|cases?|features|prevalence"
    "|incidence|frequency|stages?|management|complications|therapy|inheritance|severity|onset|history"
)
ACTS = (
    "have|has|had|having|get|getting|develop|developing|treat|treating|prevent|preventing|diagnose|diagnosing|causes?"
    "|caused|called|for"
)
ARTICLE = r"(?:an? |the )?"
BEFORE = (
    (re.compile(rf"\b(?:{PEOPLE})\s+(?:who have |with ){ARTICLE}"), 2.0),
    (re.compile(rf"\b(?:{HEADS})\s+(?:of|for)\s+{ARTICLE}"), 2.0),
    (re.compile(rf"\b(?:{ACTS})\s+{ARTICLE}"), 1.0),
)
OPENING = 3.0  # ours: the subject of the first sentence
SUBJECT = 1.5  # ours: the subject of any other
ASKED = 4.0  # ours: what a question in the text asks about
# ours: where the subject of a question stands, whatever else is asked of it
IN_QUESTION = re.compile(
    r"^(?:\w+ )?(?:is|are|does|do|can|could|might|may|should|causes?|prevents?)(?: an?| the)? (?P<name>.+?)"
    r"(?: be| get| occur| develop)? "
    r"(?:inherited|diagnosed|treated|managed|caused|prevented|genetic|contagious|called)?\?$",
    re.IGNORECASE,
)
# ours: heads and endings of the names of diseases
DISEASE = re.compile(
    r"\b(?:syndromes?|diseases?|cancers?|tumou?rs?|fever|infections?|disorders?|deficiency|dystrophy|anaemia|anemia|failure"
    r"|lymphoma|leuk\w+|type \w+|diabetes|\w+(?:itis|osis|oma|emia|pathy|plasia|algia|uria))$",
    re.IGNORECASE,
)
SECOND = 0.35  # ours: a second subject is one when it is worth at least this share of the first
DISEASE_WORTH = 1.6  # ours: a text tells more often of a disease than of anything else it names
LONGER = 0.25  # ours: "breast cancer" before "cancer"
VERB_BEHIND = 0.1  # ours: the beginning of a sentence that no known verb follows may be anything
TITLE_END = re.compile(r"\s*[:|–]\s.*$|\s*\([^)]*\)")
Weigh = Callable[[str], float]


def subjects(title: str, text: str, pieces: Sequence[Piece], weigh: Weigh) -> list[str]:
    """What a document is about, best first; empty when nothing tells. An abbreviation is written out where defined.

    Args:
        weigh: how rare a token is.
    """
    if title.strip():
        short = TITLE_END.sub("", title).strip() or title.strip()
        return [sentence_case(short, text)]
    found: dict[str, float] = defaultdict(float)
    written: dict[str, str] = {}
    for phrase, weight in _candidates(pieces):
        key = " ".join(tokens(phrase))
        if key and not set(phrase.lower().split()) <= EMPTY:
            found[key] += weight
            written.setdefault(key, phrase)
    known = definitions(text)
    counts = _mentions(found, text)
    worth = {key: found[key] * _worth(key, weigh) * counts[key] * _named(written[key]) for key in found}
    best = sorted(found, key=lambda key: (-worth[key], key))
    kept = [key for key in best[:2] if worth[key] >= SECOND * worth[best[0]]]
    named = [known.get(written[key], written[key]) for key in kept]
    return [sentence_case(name, text) for name in dict.fromkeys(named)]


def sentence_case(name: str, text: str = "") -> str:
    """A name as it stands within a sentence: its first letter small, unless the word is a name or an abbreviation.

    What the text writes with a capital within its sentences is a name.
    """
    first, _, rest = name.partition(" ")
    plain = (first == "A" or (first[:1].isupper() and first[1:].islower())) and not first.endswith(("'s", "’s"))
    if not plain or (first in text and re.search(rf"[a-z,] {re.escape(first)}\b", text)):
        return name
    return f"{first.lower()} {rest}".strip()


def is_disease(name: str) -> bool:
    """Whether a name ends as the names of diseases do."""
    return DISEASE.search(name) is not None


def _worth(key: str, weigh: Weigh) -> float:
    """Rare words name a subject: the mean weight, and a little for each further word."""
    words = key.split()
    mean = sum(map(weigh, words)) / len(words)
    return math.sqrt(mean) * (1 + LONGER * (len(words) - 1))


def _named(phrase: str) -> float:
    return DISEASE_WORTH if is_disease(phrase) else 1.0


def _mentions(keys: Iterable[str], text: str) -> dict[str, float]:
    """1 + log of how often each key stands in the text."""
    body = f" {' '.join(tokens(text))} "
    return {key: 1 + math.log(max(1, body.count(f" {key} "))) for key in keys}


def _candidates(pieces: Sequence[Piece]) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    opened = False
    for piece in pieces:
        if piece.kind is Kind.HEADING:
            continue
        asks = piece.kind is Kind.QUESTION
        if not asks:
            name = name_at(piece.words, 0)
            if name:
                sure = 1.0 if _verb_behind(piece.words, name) else VERB_BEHIND
                found.append((name, sure * (SUBJECT if opened else OPENING)))
            opened = True
        else:
            asked = IN_QUESTION.match(piece.words)
            if asked:
                found.append((asked["name"].strip(), ASKED))
        for pattern, weight in BEFORE:
            names = (name_at(piece.words, m.end()) for m in pattern.finditer(piece.words))
            found += [(name, ASKED if asks else weight) for name in names if name]
    return found


def _verb_behind(words: str, name: str) -> bool:
    behind = NAME.search(words, words.find(name) + len(name))
    return behind is not None and behind[0].lower() in VERBS


def name_at(words: str, at: int) -> str:
    """The name that begins at a place of a sentence, "" when none does: up to a verb, a pronoun or punctuation."""
    end = PHRASE_END.search(words, at)
    kept: list[str] = []
    for match in NAME.finditer(words, at, end.start() if end else len(words)):
        word = match[0].lower()
        if not kept and word in LEADING:
            continue
        if word in BREAK or len(kept) == WORDS:
            break
        kept.append(match[0])
    while kept and kept[-1].lower() in ("of", "the", "a", "an"):
        kept.pop()
    if not kept or all(w.lower() in STOP or w.isdigit() for w in kept) or kept[0].lower() == "of":
        return ""
    return _without_head(kept)


def _without_head(words: list[str]) -> str:
    """``family history of asthma`` -> asthma: words that name nothing, and the preposition behind them, go."""
    while "of" in words and all(w.lower() in EMPTY | LEADING for w in words[: words.index("of")]):
        words = words[words.index("of") + 1 :]
        while words and words[0].lower() in LEADING:
            words = words[1:]
    return " ".join(words)
