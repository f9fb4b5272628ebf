"""Questions without a model: out of a document's own questions, statements and headings, and its key terms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tools.questions.bags import bag
from tools.questions.contract import Answer, Question, SourceDocument
from tools.questions.english import is_english
from tools.questions.kinds import Kind as Said
from tools.questions.kinds import kinds, kinds_of, shares, weigh
from tools.questions.outline import Kind, Piece, in_full, outline
from tools.questions.spread import in_turns, spread
from tools.questions.statements import questions_of
from tools.questions.topic import EMPTY, is_disease, sentence_case, subjects
from tools.text.tokens import STOP, tokens

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
        told = [p for p in pieces if p.kind is Kind.STATEMENT]
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
        if piece.kind is Kind.QUESTION:
            answer = next((p for p in pieces[at + 1 :] if p.kind is Kind.STATEMENT), None)
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


def _fits(said: Said, subject: str) -> bool:
    """Whether a kind is asked of a subject: "how is it treated" not of a measure, "does it work" not of a disease."""
    if is_disease(subject):
        return said.of != "thing"
    return said.of != "disease" or MEASURE.search(subject) is None


def _forms(said: Said, share: float, about: Sequence[str]) -> list[str]:
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
        if piece.kind is not Kind.STATEMENT or not heading or heading.endswith("?") or seen[heading]:
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
