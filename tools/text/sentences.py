"""Sentences with exact offsets, English and Chinese, and runs of white space made short."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from tools.text.language import HAN, language_of

# Ends of sentences in medical English, where a general splitter errs: ends to leave out, to move and to add.
# Told to the splitter beside its own; without the last full stop, as it wants them.
ABBREVIATIONS = (
    "staph strep subsp spp sp nov approx resp temp conc suppl univ pts fig figs eq eqs ref refs sect cf ca vs al "
    "i.v i.m s.c p.o p.r b.i.d t.i.d q.i.d q.d p.r.n"
).split()

# No sentence ends here, whatever follows.
NEVER = re.compile(
    r"(?:^|[\s(\[])(?:figs?|eqs?|refs?|cf|suppl|vs|viz|approx|resp|temp|e\.g|i\.e|dr|mrs?|prof|staph|strep|sp|pts"
    r"|univ|conc|subsp|spp|nov)\.\s*$",
    re.IGNORECASE,
)
OPEN_NUMBER = re.compile(r"[=<>≤≥±~]\s*-?\d*\.\s*$")  # "P = 0. 028"
COUNTRY = re.compile(r"\bU\.\s?[SK]\.\s*$")
ACRONYM = re.compile(r"[A-Z]{2,}\b")
LIST_NUMBER = re.compile(r"^\W*\(?(?:\d{1,2}|[a-zA-Z])[.)]\s*$")  # a piece that is a number of a list and no more
CITATION = re.compile(r"\[\d[\d,;–-]*\]")  # set against the full stop: "shown.[1] Others"

STARTS = (
    r"(?:The|This|These|Those|It|They|He|She|We|I|In|On|At|As|For|If|When|After|Before|However|Patients|Then|No|There|"
    r"Other|Others|All|Both|Treatment)\b"
)
# A sentence ends where one of these does.
MISSED = re.compile(
    rf"""
    (?<=[a-z)\]%]{{2}}[.!?])\d{{1,3}}(?:[,–-]\d{{1,3}})*(?=\s+[A-Z])      # a citation set high: "shown.2,3 Others"
    | \d\s?[hdsgmL]\.(?=\s+[A-Z][a-z]*\s)                                  # a unit of one letter: "every 6 h. Then"
    | \b[a-z]+\s[A-Z]\.(?=\s+{STARTS})                                     # a name of a kind: "hepatitis B. It"
    | \b(?:stage|type|grade|class|group|phase|vitamin|hepatitis|factor|arm|part)\s(?:[A-Z]|[IVX]+)\.(?=\s+[A-Z])
    | \d\s?(?:y\W?o|years?|yrs?)?\W?\s?[MF]\.(?=\s+[A-Z])                 # age and sex: "45 yo M. My chest"
    | \b[A-Z]{{2,5}}\.(?=\s+[A-Z])                                           # "Denies CP. PMH: none"
    | \b(?:[btq]\.i\.d|i\.[vm]|s\.c|p\.[or]|p\.r\.n)\.(?=\s+{STARTS})      # how a medicine is given: "t.i.d. Others"
    | (?<=[a-z]{{3}}\.)(?=\s+(?:Mr|Mrs|Ms|Dr|Prof)\.\s+[A-Z])              # "cancer. Mr. A. was"
    | (?<=[a-z0-9)%]\.)(?=\s+(?:[a-z]{{1,3}}[A-Z]|miR-)\w*\s)              # a name that begins small: "fell. eGFR rose"
    | (?<=\s)(?:[a-z]{{4,}}|mmHg)\.(?=\s+[A-Z][a-z]*\s)                   # "the wall. High": elsewhere it abbreviates
    | (?<![\w./@:-])[A-Za-z]?[a-z]{{3,}}[.!?](?=[A-Z][a-z]*\s)             # no space between: "pain.He was"
    | (?<=[A-Za-z0-9)%][.!?])(?=\s+[\u4e00-\u9fff])                        # English, then Chinese
    | [。！？]+[”’」』）】》]*                                               # Chinese within English
    """,
    re.VERBOSE,
)


def adjusted(line: str, ends: Sequence[int]) -> list[int]:
    """The ends of the sentences of a line, from those that a splitter found; the last is the line's own end.

    Args:
        line: text without a line break.
        ends: where each sentence ends, in order, the white space after it included or not.
    """
    missed = [m.end() for m in MISSED.finditer(line)]
    kept: list[int] = []
    start = 0
    for end in sorted({*missed, *(_moved(line, end) for end in ends)} - {len(line)}):
        if end > start and _is_end(line[start:end], line[end:].lstrip()[:12]):
            kept.append(end)
            start = end
    return [*kept, len(line)]


def _moved(line: str, end: int) -> int:
    """The end behind a citation that is set against the full stop."""
    citation = CITATION.match(line, end)
    return citation.end() if citation else end


def _is_end(sentence: str, following: str) -> bool:
    tail = sentence[-24:]
    if OPEN_NUMBER.search(tail) and following[:1].isdigit():
        return False
    if COUNTRY.search(tail) and ACRONYM.match(following):
        return False
    if LIST_NUMBER.match(sentence):
        return False
    return not NEVER.search(tail)


CHINESE_END = re.compile(r"[^。！？；\n]*[。！？；]+[”’」』）】》\"']*|[^。！？；\n]+")
LATIN_END = re.compile(r"(?<=[a-z]{3})[.!?](?=\s+[A-Z\u4e00-\u9fff])")  # a sentence in English within Chinese
LINE = re.compile(r"[^\n]+")
LABEL = re.compile(
    r"[-*•#]+\s+|[A-Z][A-Z /&]{3,40}:\s+"
    r"|(?:Background|Introduction|Objectives?|Aims?|Purpose|Methods?|Design|Results?|Findings|Conclusions?|Interpretation):\s+"
)  # list marks, and labels of structured abstracts
KEPT = 1024  # ours: texts whose sentences are remembered; a turn asks again for those of its case and evidence


class Span(NamedTuple):
    """Characters ``start`` to ``end`` of a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The slice of the text."""
        return text[self.start : self.end]


def split_sentences(text: str) -> Iterator[Span]:
    """The sentences of a text in order, without surrounding white space; nothing is remembered.

    A line break always ends a sentence. English goes through nupunkt, to which medicine's abbreviations are told;
    what it still gets wrong is in `sentence_ends`. Chinese lines are cut at their own punctuation.
    ``text[s.start:s.end]`` is the sentence, exactly.
    """
    for line in LINE.finditer(text):
        words = line[0]
        chinese = HAN.search(words) is not None and language_of(words) == "zh"
        start = 0
        for end in _chinese(words) if chinese else _english(words):
            piece = words[start:end]
            if piece.strip():
                lead = len(piece) - len(piece.lstrip())
                yield Span(line.start() + start + lead, line.start() + start + len(piece.rstrip()))
            start = end


@lru_cache(maxsize=KEPT)
def sentences(text: str) -> tuple[Span, ...]:
    """What `split_sentences` gives, remembered: for texts of a turn that are asked for again and again."""
    return tuple(split_sentences(text))


def unlabelled(text: str, span: Span) -> Span:
    """A sentence without the list mark or the label of an abstract's section that it begins with."""
    label = LABEL.match(text, span.start, span.end)
    return Span(label.end(), span.end) if label is not None else span


def _chinese(line: str) -> list[int]:
    return sorted({m.end() for pattern in (CHINESE_END, LATIN_END) for m in pattern.finditer(line)})


def _english(line: str) -> list[int]:
    return adjusted(line, [end for _, (_, end) in _splitter().tokenize_with_spans(line)])


@lru_cache(maxsize=1)
def _splitter() -> Any:
    """A splitter of our own: the one that the library shares must not learn our abbreviations."""
    from nupunkt import PunktSentenceTokenizer, load_default_model

    splitter = PunktSentenceTokenizer.from_json(load_default_model().to_json())
    splitter.add_abbreviations(list(ABBREVIATIONS))
    return splitter


# Runs of white space, made short before any pattern reads them.

GAP = 8  # ours: a table keeps its columns; no pattern is slow on so few
LONG_GAP = re.compile(rf"[^\S\n]{{{GAP + 1},}}")
EMPTY_LINES = re.compile(r"\n(?:[^\S\n]{0,8}\n){3,}")


def without_gaps(text: str) -> str:
    """The text with every run of spaces at most `GAP` long, and at most two empty lines together."""
    return EMPTY_LINES.sub("\n\n\n", LONG_GAP.sub(" " * GAP, text))
