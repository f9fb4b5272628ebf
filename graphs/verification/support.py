"""Whether quotes support a statement: its words, numbers and negations against theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from tools.evidence import Evidence, Frozen, Statement
from tools.medicines.names import medicines_in
from tools.text.language import language_of
from tools.text.negation import DENIES, prose_clauses
from tools.text.tokens import tokens

# A figure that stands alone: not the digits of a code (J93.1) or of a name (CA19).
NUMBER = re.compile(r"(?<![A-Za-z\d.,])\d+(?:[.,]\d+)*")
NUMBER_WORDS = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15",
    "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "thirty": "30",
    "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90", "half": "0.5",
    "twice": "2",
}  # fmt: skip
# What denies in a clause: the words of negation, and what a graph's entry says of a finding that speaks against.
DENIAL = re.compile(
    rf"(?:{DENIES.pattern})|\b(?:made |makes |make )?less likely\b|\b(?:rare|uncommon)\b|不支持", re.IGNORECASE
)
DENIED = 0.6  # ours: share of a denied clause's words that makes a clause say the same without the denial
# Words of which one cannot stand for the other; ours.
OPPOSITES = tuple(
    (re.compile(left, re.IGNORECASE), re.compile(right, re.IGNORECASE))
    for left, right in (
        (r"\b(?:over|above|older than|more than|at least)\b", r"\b(?:under|below|younger than|less than|at most)\b"),
        (
            r"\b(?:increas|rais|rise|rising|worsen|higher|greater)\w*",
            r"\b(?:decreas|reduc|lower|improv|relie[fv]|shorten|fall|fell|drop)\w*",
        ),
        (r"\b(?:common|frequent|usual|often)\w*", r"\b(?:rare(?:ly)?|uncommon|seldom|unusual)\b"),
        (r"\bmild\w*", r"\b(?:severe|moderate)\w*"),
        (r"\bbefore\b", r"\bafter\b"),
        (r"\bsafe(?:ly)?\b", r"\b(?:unsafe|harmful|dangerous)\b"),
        (r"增加|升高|加重", r"减少|降低|减轻|缓解"),
    )
)
# Words that leave no doubt: a statement has them only where its quotes do; ours.
ABSOLUTE = re.compile(
    r"\b(?:always|never|every|all (?:of|people|patients|children|adults|women|men|cases)|certainly|definitely|proven|"
    r"guarantees?|cures?)\b|总是|从不|一定|所有|必定|证实|根治",
    re.IGNORECASE,
)
STOP = re.compile(r"(?<=[.!?])\s+")
CODE = re.compile(r"\b[A-Z]\d\d(?:\.\w+)?\b")  # an ICD-10 code
# Words of the house's own frames around quotes; see graphs.answering.differential_answer.
FRAMES = {
    "en": "fits this case against watch also usual rare disease to consider",
    "zh": "符合本例 与本例不符 警示 通常还有",
}
# What a model says of a diagnosis and of the case itself: no claim about what it cites. Ours.
JUDGED = re.compile(
    r"\b(?:un|less |more |most )?likel(?:y|ier|iest)\b|\b(?:speaks?|argues?|against|fits?|favou?rs?|excluded?|"
    r"ruled out|mentioned|reported|told|stated|described|explains?|consistent|suggests?)\b"
    r"|不支持|不符|支持|可能|未提及",
    re.IGNORECASE,
)
JUDGING = frozenset(
    tokens(
        "likely likelier likeliest unlikely best most more less fit explain explained suggest point support speak argue"
        " favour against consistent typical probable possible diagnosis diagnoses patient here because since with and"
    )
)
LACKING = re.compile(r"\s+(?:(?:and|but|or|with)\s+)?(?=(?:no|not|without|neither|nor)\s)", re.IGNORECASE)
# How the answer marks a diagnosis of the model's own, which the verifier does not read; as the catalogues have it.
MARKS = re.compile(r"\s*[(（](?:not in the knowledge graph|知识图谱中没有)[)）]")


class SupportSettings(Frozen):
    """Settings of the check. All ours.

    Attributes:
        words: share of a statement's words that its quotes must hold to support it outright.
        near: cosine that a statement in other words needs with its quotes whatever words they share: a long quote holds
            the words of much that it does not say.
        least: share from which the embeddings may make up for other wording. dense: the cosine that this needs.
        guessed: share for quotes that were chosen by the words that they share.
    """

    words: float = 0.7
    guessed: float = 0.9
    near: float = 0.5
    least: float = 0.5
    dense: float = 0.6


@dataclass(frozen=True)
class Check:
    """The outcome of the checks that need no encoder.

    ``share`` of words held, what disagrees ("" nothing), and whether the statement is its quotes word for word, with
    nothing beside them but names and the house's own frames.
    """

    share: float
    disagrees: str
    quoted: bool = False


@lru_cache(maxsize=2)
def _frame(language: str) -> frozenset[str]:
    """Words of the frames in one language: the dictionary that cuts Chinese is not loaded for English."""
    return frozenset(tokens(FRAMES[language]))


def frame_words(text: str) -> frozenset[str]:
    """Words of the frames in the language of a text: they say nothing that a quote must hold."""
    return _frame(language_of(text))


def identical(statement: str, quotes: Sequence[str]) -> bool:
    """Whether a statement is one of its quotes, or its quotes in a row, white space and a final stop aside."""
    plain = _plain(statement)
    return any(plain == _plain(q) for q in quotes) or plain == _plain(" ".join(quotes))


def check(statement: Statement, evidence: Sequence[Evidence], told: str = "") -> Check:
    """A statement against its quotes and the titles of what it cites.

    ``told`` is the case that a model answers: a statement may repeat its words and figures, and say what fits it.
    """
    quotes = [c.quote for c in statement.citations]
    text = MARKS.sub("", statement.text)
    rest = _without(text, quotes)
    names = {t for e in evidence for t in _names(e)}
    wanted = set(tokens(CODE.sub(" ", rest))) - frame_words(rest) - (JUDGING if told else frozenset())
    if identical(text, quotes) or (rest != text and wanted <= names):
        return Check(1.0, "", quoted=True)
    said = [*quotes, *([told] if told else [])]
    held = {t for s in said for t in tokens(s)} | names
    share = len(wanted & held) / len(wanted) if wanted else 1.0
    if numbers(rest) - {n for s in (*said, *(e.title for e in evidence)) for n in numbers(s)}:
        return Check(share, "numbers")
    if _turned(rest, quotes, told) or _opposed(rest, said):
        return Check(share, "negation")
    if _other_medicine(rest, [*said, *(e.title for e in evidence)]):
        return Check(share, "medicine")
    if {m[0].lower() for m in ABSOLUTE.finditer(rest)} - {m[0].lower() for m in ABSOLUTE.finditer(" ".join(said))}:
        return Check(share, "strength")
    return Check(share, "")


def numbers(text: str) -> set[str]:
    """The figures in a text, number words among them, thousands separators dropped."""
    found = {m[0].replace(",", "").rstrip(".") for m in NUMBER.finditer(CODE.sub(" ", text))}
    return found | {NUMBER_WORDS[w] for w in re.findall(r"[a-z]+", text.lower()) if w in NUMBER_WORDS and w != "one"}


def _denies(text: str) -> bool:
    return len(DENIAL.findall(text)) % 2 == 1


def _turned(text: str, quotes: Sequence[str], told: str = "") -> bool:
    """Whether a clause of the text affirms what a clause of the quotes denies, or denies what they rather affirm.

    A clause is denied by one whose words, the denial's own aside, it holds for the most part. What a clause says of the
    case as it was told, or judges of a diagnosis, is not held against the quotes.
    """
    affirmed, denied = _sides(quotes)
    had, lacked = _sides(LACKING.split(told)) if told else ([], [])
    for clause in (c for part in (LACKING.split(text) if told else [text]) for c in prose_clauses(part)):
        words = set(tokens(DENIAL.sub(" ", clause)))
        of_case = _shared(words, lacked if _denies(clause) else had) >= DENIED * len(words)
        if told and (of_case or JUDGED.search(clause)):
            continue
        if _denies(clause):
            if _shared(words, affirmed) > _shared(words, denied):
                return True
        elif any(len(words & d) >= DENIED * len(d) for d in denied):
            return True
    return False


def _sides(texts: Sequence[str]) -> tuple[list[set[str]], list[set[str]]]:
    """The words of the clauses of some texts: those that affirm, and those that deny."""
    clauses = [c for t in texts for s in STOP.split(t) for c in prose_clauses(s)] or list(texts)
    denied = [words for c in clauses if _denies(c) and (words := set(tokens(DENIAL.sub(" ", c))))]
    return [set(tokens(c)) for c in clauses if not _denies(c)], denied


def _shared(words: Set[str], others: Iterable[Set[str]]) -> int:
    """Words shared with the one of several that shares most."""
    return max((len(words & other) for other in others), default=0)


def _opposed(text: str, quotes: Sequence[str]) -> bool:
    """Whether the text has one of two opposites where the quotes have only the other."""
    body = " ".join(quotes)
    ways = [(a, b) for pair in OPPOSITES for a, b in (pair, pair[::-1])]
    return any(a.search(text) and not a.search(body) and b.search(body) and not b.search(text) for a, b in ways)


def _other_medicine(text: str, quotes: Sequence[str]) -> bool:
    """Whether the text names a medicine that the quotes name neither so nor by another of its names."""
    named = {m.generic or m.family for q in quotes for m in medicines_in(q)}
    body = " ".join(quotes).casefold()
    return any(
        (m.generic or m.family) not in named and not any(name.casefold() in body for name in m.names)
        for m in medicines_in(text)
        if not m.everyday
    )


def _without(text: str, quotes: Sequence[str]) -> str:
    """What a statement says beside its quotes."""
    for quote in sorted(quotes, key=len, reverse=True):
        text = text.replace(quote, " ")
    return text


def _names(evidence: Evidence) -> list[str]:
    """Words of the title, and of the first line, where an entry of the graph gives its names."""
    return tokens(evidence.title) + tokens(evidence.text.split("\n", 1)[0])


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".。").casefold()
