"""Questions without a model: out of a document's own questions, statements and headings, and its key terms."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.questions.collection import bag
from tools.questions.contract import Answer, Question, SourceDocument
from tools.questions.kinds import Kind, kinds, kinds_of, shares, weigh
from tools.questions.outline import Piece, PieceKind, in_full, in_turns, is_english, outline, spread
from tools.text.definitions import definitions
from tools.text.tokens import STOP, tokens
from tools.yaml_files import read_yaml

_WORDS = read_yaml(Path(__file__).with_name("local.yaml"))
# What a document is about: its title, else the name that its own sentences speak of most.
BREAK = frozenset(_WORDS["break"].split())
VERBS = frozenset(_WORDS["verbs"].split())
LEADING = frozenset(_WORDS["leading"].split())
EMPTY = frozenset(_WORDS["empty"].split())
NAME_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9'’/+-]|\.(?=\d))*")
PHRASE_END = re.compile(r"[,;:!?()\[\]\"“”]|\.(?=\s|$)")
WORDS = 8  # ours: words of the longest name
# ours: what stands before the name of what is spoken of, and how much that tells
ARTICLE = r"(?:an? |the )?"
BEFORE = (
    (re.compile(rf"\b(?:{'|'.join(_WORDS['people'])})\s+(?:who have |with ){ARTICLE}"), 2.0),
    (re.compile(rf"\b(?:{'|'.join(_WORDS['heads'])})\s+(?:of|for)\s+{ARTICLE}"), 2.0),
    (re.compile(rf"\b(?:{'|'.join(_WORDS['acts'])})\s+{ARTICLE}"), 1.0),
)
FIRST_SUBJECT = 3.0  # ours: the subject of the first sentence
SUBJECT = 1.5  # ours: the subject of any other
ASKED_SUBJECT = 4.0  # ours: what a question in the text asks about
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
        if piece.kind is PieceKind.HEADING:
            continue
        asks = piece.kind is PieceKind.QUESTION
        if not asks:
            name = name_at(piece.words, 0)
            if name:
                sure = 1.0 if _verb_behind(piece.words, name) else VERB_BEHIND
                found.append((name, sure * (SUBJECT if opened else FIRST_SUBJECT)))
            opened = True
        else:
            asked = IN_QUESTION.match(piece.words)
            if asked:
                found.append((asked["name"].strip(), ASKED_SUBJECT))
        for pattern, weight in BEFORE:
            names = (name_at(piece.words, m.end()) for m in pattern.finditer(piece.words))
            found += [(name, ASKED_SUBJECT if asks else weight) for name in names if name]
    return found


def _verb_behind(words: str, name: str) -> bool:
    behind = NAME_WORD.search(words, words.find(name) + len(name))
    return behind is not None and behind[0].lower() in VERBS


def name_at(words: str, at: int) -> str:
    """The name that begins at a place of a sentence, "" when none does: up to a verb, a pronoun or punctuation."""
    end = PHRASE_END.search(words, at)
    kept: list[str] = []
    for match in NAME_WORD.finditer(words, at, end.start() if end else len(words)):
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


# Statements turned into the questions that they answer: by their subject, their verb, and what is said behind it.

# ours: words of a question; one that takes a whole statement over would be found by the statement itself
LONGEST_QUESTION = 14
SHORTEST_QUESTION = 4  # ours: fewer words ask for nothing in particular
AUXILIARY = re.compile(
    r" (is|are|was|were|can|may|should|must|will) (?:also |usually |often |sometimes |generally |not )*"
)
PLAIN_VERBS = {form: verb for verb in _WORDS["plain"].split() for form in (verb, f"{verb}s", f"{verb}es")}
ACTIVE = re.compile(rf" ({'|'.join(sorted(PLAIN_VERBS, key=len, reverse=True))}) (?=[a-z0-9])")
DOERS = frozenset(_WORDS["doers"].split())
NOUN_OF = re.compile(
    r"^(?:The |An? )?((?:[a-z-]+ ){0,2}[a-z-]+) (of|for|in) (.+?) "
    r"(?:is|are|include|includes|depend|depends|vary|varies|may|can)\b",
    re.IGNORECASE,
)
CONDITION = re.compile(
    r"^(?:If|When) (?P<if>(?:you|someone|a person|people|a child|the|an?) [^,;]{8,70}), (?P<then>.+)"
)
ADVICE = re.compile(
    r"^(?P<do>Call|See|Seek|Ask|Tell|Avoid|Take|Use|Stop|Keep|Do not|Don't|Go|Get|Offer|Give|Check|Start) "
    r"(?P<rest>[^.;]{8,80})"
)
NO_SUBJECT = frozenset(_WORDS["no_subject"].split())
CLAUSE = frozenset(_WORDS["clause"].split())
NEGATED = ("Do not", "Don't")
CLAUSE_END = re.compile(
    r",|;|:| \(| because | although | but | which | whereas | so that | unless | when | who | – | — "
)
PRONOUN = re.compile(r"^(?:It|This|They|These|That|Those|This (?:condition|disease|disorder|test|syndrome|medicine))$")


def questions_of(words: str, subject: str) -> Iterator[str]:
    """The questions that a statement answers, the plainest first.

    Args:
        words: the statement. subject: what the document is about; it stands for a pronoun at the beginning.
    """
    statement = words.rstrip(" .").strip()
    for made in (
        *_noun_of(statement),
        *_inverted(statement, subject),
        *_active(statement, subject),
        *_advice(statement),
    ):
        count = len(made.split())
        if SHORTEST_QUESTION <= count <= LONGEST_QUESTION:
            yield made


def _noun_of(statement: str) -> Iterator[str]:
    """``The symptoms of X are ...`` -> what are the symptoms of X."""
    match = NOUN_OF.match(statement)
    if match is None or match[1].split()[0].lower() in EMPTY - {"symptoms", "signs", "treatment", "causes", "risk"}:
        return
    name = name_at(match[3], 0)
    if name and name.lower() not in EMPTY:
        head = match[1].lower()
        many = head.endswith("s") and not head.endswith(("ss", "is", "us"))
        yield f"What {'are' if many else 'is'} the {head} {match[2]} {sentence_case(name)}?"


def _inverted(statement: str, subject: str) -> Iterator[str]:
    """``X is caused by Y`` -> is X caused by Y; what is X caused by."""
    match = AUXILIARY.search(statement)
    if match is None:
        return
    doer, rest = _doer(statement[: match.start()], subject), _clipped(statement[match.end() :])
    if not doer or not rest:
        return
    helper = match[1].lower()
    yield f"{helper.capitalize()} {doer} {rest}?"
    passive = re.match(r"([a-z]+ed|found|given|made|known|seen|taken|done) (by|with|as|for|in|from|to|on|at)\b", rest)
    if passive:
        yield f"What {helper} {doer} {passive[1]} {passive[2]}?"


def _active(statement: str, subject: str) -> Iterator[str]:
    """``X lowers Y`` -> does X lower Y; what lowers Y; what does X lower."""
    match = ACTIVE.search(statement)
    if match is None:
        return
    doer, said = _doer(statement[: match.start()], subject), _clipped(statement[match.end() :])
    if not doer or not said:
        return
    plain = PLAIN_VERBS[match[1]]
    many = match[1] == plain
    yield f"{'Do' if many else 'Does'} {doer} {plain} {said}?"
    if plain in DOERS:
        yield f"What {plain}s {said}?"
    yield f"What {'do' if many else 'does'} {doer} {plain}?"


def _advice(statement: str) -> Iterator[str]:
    """``If A, do B`` -> what should I do if A; ``Call a doctor for A`` -> when should I call a doctor."""
    condition = CONDITION.match(statement)
    if condition:
        yield f"What should I do if {condition['if']}?"
    advice = ADVICE.match(statement)
    if advice:
        rest = _clipped(advice["rest"])
        if rest:
            asks = "When should I" if advice["do"] in ("Call", "See", "Seek", "Go", "Get") else "Should I"
            verb = "" if advice["do"] in NEGATED else f"{advice['do'].lower()} "
            yield f"{asks} {verb}{rest}?"


def _doer(before: str, subject: str) -> str:
    """Who a statement speaks of: the words before its verb; the document's subject for a pronoun; "" for a clause."""
    before = before.strip()
    if PRONOUN.match(before):
        return subject
    words = before.lower().split()
    if not words or words[0] in NO_SUBJECT or "," in before or len(words) > LONGEST_QUESTION // 2:
        return ""
    if set(words) <= EMPTY or any(w in CLAUSE for w in words[1:]):
        return ""
    return sentence_case(before)


def _clipped(said: str) -> str:
    """What is said, up to the end of its clause."""
    end = CLAUSE_END.search(said)
    return (said[: end.start()] if end else said).strip(" .")


LOCAL = "local"
NAME = f"{LOCAL}@4"  # raised with every change of what is written: what was kept of a build is then written anew
SEVERAL = 0.5  # ours: a kind with at least this share of the strongest one's weight is asked for in several wordings
FIRST = 4  # ours: kinds that are asked for before the statements, so that what a document mostly says is always asked
LONGEST = 45  # ours: words of a statement that is asked whole; the encoder reads some 200
TERMS = 3  # ours: rare words of a statement that make a question of key terms
OWN_WORDS = 0.9  # ours: support of a question that stands in the text, or under its heading
BY_TERMS = 0.4  # ours: support of a question of key terms
BY_STATEMENT = 0.7  # ours: support of a statement for the question made of it
MEASURE = re.compile(r"\w (?:for|in|after|before|versus|vs|against|during|to|with) \w")
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]{2,}")
Rarity = Callable[[str], float]
Names = Callable[[str], Mapping[str, Sequence[str]]]


class Draft(NamedTuple):
    """A question that was written: its words, the statement that answers it, and how well."""

    text: str
    piece: Piece
    support: float


class WriterLocal:
    """Writes questions from a document's own words (English).

    Args:
        rarity: weight of a token in the collection; None weighs all alike.
        names: other names of what a text mentions, for everyday and clinical wordings.
    """

    def __init__(self, rarity: Rarity | None = None, names: Names | None = None) -> None:
        self._rarity = rarity or (lambda _token: 1.0)
        self._names = names or (lambda _text: {})
        self.name = NAME

    async def write(self, document: SourceDocument, wanted: int) -> list[Question]:
        """At most ``wanted`` questions; none for a text in another language than English."""
        return self.write_now(document, wanted)

    def write_now(self, document: SourceDocument, wanted: int) -> list[Question]:
        """The same at once."""
        if not is_english(document):
            return []
        kept: dict[str, Question] = {}
        for draft in self._drafts(document):
            key = " ".join(dict.fromkeys(bag(draft.text))) + draft.text.partition(" ")[0].lower()  # in their order
            if len(kept) == wanted:
                break
            answer = Answer(document=document.id, start=draft.piece.start, end=draft.piece.end, support=draft.support)
            kept.setdefault(key, Question(text=draft.text, answers=(answer,), writer=NAME))
        return list(kept.values())

    def _drafts(self, document: SourceDocument) -> Iterator[Draft]:
        """All drafts: each source gives its best, in turns, so that none crowds out another."""
        pieces = outline(document.text)
        about = subjects(document.title, document.text, pieces, self._rarity)
        about += self._other_names(about)
        told = [p for p in pieces if p.kind is PieceKind.STATEMENT]
        if not told:
            return
        of_kinds = _of_kinds(told, about)
        subject = about[0] if about else ""
        statements = spread(told)
        yield from spread(_standing(pieces))
        yield from of_kinds[:FIRST]
        yield from _whole(statements, subject)
        yield from in_turns(of_kinds[FIRST:], spread([*_headings(pieces, subject)]), _said(statements, subject))
        yield from self._terms(statements, subject)

    def _other_names(self, about: Sequence[str]) -> list[str]:
        """One other name of what the document is about, the shortest: an everyday wording, or an abbreviation."""
        if not about:
            return []
        others = [name for names in self._names(about[0]).values() for name in names]
        return [n for n in sorted(others, key=lambda n: (len(n), n)) if n.lower() != about[0].lower()][:1]

    def _terms(self, statements: Sequence[Piece], subject: str) -> Iterator[Draft]:
        """The subject beside the rarest words of a statement, as one types them into a search box."""
        known = set(tokens(subject))
        for piece in statements:
            words = {
                w for w in WORD.findall(piece.words) if w.lower() not in STOP | EMPTY and not set(tokens(w)) <= known
            }
            rare = sorted(words, key=lambda w: (-sum(map(self._rarity, tokens(w))), w))[:TERMS]
            if len(rare) == TERMS:
                told = sorted(rare, key=piece.words.find)
                yield Draft(f"{subject} {' '.join(told)}".strip(), piece, BY_TERMS)


def _standing(pieces: Sequence[Piece]) -> list[Draft]:
    """Questions that stand in the text, each answered by the statement behind it."""
    found = []
    for at, piece in enumerate(pieces):
        if piece.kind is PieceKind.QUESTION:
            answer = next((p for p in pieces[at + 1 :] if p.kind is PieceKind.STATEMENT), None)
            if answer is not None:
                found.append(Draft(piece.words, answer, OWN_WORDS))
    return found


def _of_kinds(statements: Sequence[Piece], about: Sequence[str]) -> list[Draft]:
    """What the document says most of, asked of its subject; the strongest in several wordings and by other names."""
    if not about:
        return []
    found = weigh(enumerate(in_full(p) for p in statements))
    share = shares({name: weight for name, (weight, _) in found.items()})
    table = {kind.name: kind for kind in kinds()}
    asked = [name for name in found if _fits(table[name], about[0])]
    order = sorted(asked, key=lambda name: (-share[name], found[name][1], name))
    rounds: list[list[Draft]] = [[], [], []]
    for name in order:
        said, piece = table[name], statements[found[name][1]]
        for number, form in enumerate(_forms(said, share[name], about)):
            rounds[min(number, 2)].append(Draft(form, piece, round(share[name], 2)))
    return [draft for drafts in rounds for draft in drafts]


def _fits(said: Kind, subject: str) -> bool:
    """Whether a kind is asked of a subject: "how is it treated" not of a measure, "does it work" not of a disease."""
    if is_disease(subject):
        return said.of != "thing"
    return said.of != "disease" or MEASURE.search(subject) is None


def _forms(said: Kind, share: float, about: Sequence[str]) -> list[str]:
    first = said.forms[0].format(s=about[0])
    if share < SEVERAL:
        return [first]
    other = [said.forms[0].format(s=name) for name in about[1:]]
    return [first, *(form.format(s=about[0]) for form in said.forms[1:]), *other]


def _headings(pieces: Sequence[Piece], subject: str) -> Iterator[Draft]:
    """Each heading with the subject."""
    seen: Counter[str] = Counter()
    for piece in pieces:
        heading = piece.heading
        if piece.kind is not PieceKind.STATEMENT or not heading or heading.endswith("?") or seen[heading]:
            continue
        seen[heading] += 1
        asked = [kind.forms[0].format(s=subject) for kind in kinds_of(heading)] if subject else []
        named = set(tokens(subject)) <= set(tokens(heading))
        plain = sentence_case(heading) if named or not subject else f"{sentence_case(heading)} of {subject}"
        yield Draft(asked[0] if asked else f"What is known about {plain}?", piece, OWN_WORDS)


def _whole(statements: Sequence[Piece], subject: str) -> Iterator[Draft]:
    """Each statement whole, asked for its truth: no word of what the document says is lost."""
    about = set(tokens(subject))
    for piece in statements:
        words = sentence_case(piece.words.rstrip(" ."))
        if len(words.split()) <= LONGEST:
            of = "" if not subject or about <= set(tokens(words)) else f" of {subject}"
            yield Draft(f"Is it true{of} that {words}?", piece, BY_STATEMENT)


def _said(statements: Sequence[Piece], subject: str) -> Iterator[Draft]:
    """Statements turned into questions, one of each statement first, then their further wordings."""
    made = [[Draft(q, piece, BY_STATEMENT) for q in questions_of(piece.words, subject)] for piece in statements]
    yield from in_turns(*made)
