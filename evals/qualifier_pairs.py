"""Finds where a condition and the statement that it governs may stand one to four sentences apart.

Five patterns propose, a reader decides: what was kept lies in `evals/resources/qualifier_pairs.jsonl` as places only.
To repeat it: ``python -m evals.qualifier_pairs DATA > proposals.txt``, read, and write the checksums of the right ones
to a file, one a line; ``python -m evals.qualifier_pairs DATA --keep FILE > qualifier_pairs.jsonl``.

Patterns, all over sentences of one section:

- ``group``: a statement about "these patients", "such cases" or "they", with the nearest sentence before that says who.
- ``condition``: a sentence that opens with a condition, and a recommendation or dose after it that names none itself.
- ``continued``: a sentence that opens with a condition, and a claim right after it that goes on without naming it.
- ``limit``: a finding, and after it a sentence that limits it ("This benefit was confined to ...").
- ``exception``: advice, and after it those for whom it does not hold ("However, in patients with ...").

Sentences and sections about how a study was done are passed over.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.passages.units import sections
from tools.text.sentences import Span, sentences

FARTHEST = 4  # the pairs that are asked for stand one to four sentences apart
A_DOCUMENT = 6  # ours: candidates of one document at most, so that no document speaks for many
LEAST = 40  # ours: characters; a shorter "sentence" is a heading or a fragment

PEOPLE = (
    r"(?:patients?|women|men|children|infants|neonates|adults|adolescents|individuals|subjects|participants|people"
    r"|persons|those|cases|pregnancies|survivors|recipients|carriers|males|females|boys|girls)"
)
WHO = re.compile(
    PEOPLE + r"\s+(?:\w+\s+){0,2}?(?:with|without|who|whose|aged|receiving|undergoing|taking|treated|in\s+whom|"
    r"older|younger|over|under)\b|\b(?:if|unless|when)\b",
    re.IGNORECASE,
)
OPENS = re.compile(
    r"(?:however,\s+)?(?:(?:in|for|among)\s+(?:the\s+|all\s+|most\s+|some\s+)?(?:\w+[\s-]){0,3}?" + PEOPLE
    + r"\s+(?:with|without|who|whose|aged|receiving|undergoing|taking|in\s+whom)"
    r"|if|unless|when|patients?\s+(?:with|who))\b",
    re.IGNORECASE,
)  # fmt: skip
THESE = re.compile(
    r"(?:(?:in|for|among|with)\s+(?:these|those|such|this)\s+(?:\w+\s+)?(?:" + PEOPLE
    + r"|group|groups|subgroup|subset|population|setting|situation|situations|circumstances|context|instances)\b"
    + r"|(?:these|those|such)\s+(?:\w+\s+)?" + PEOPLE + r"\b|they\s+(?:should|must|may|are|were|can|had|have)\b)",
    re.IGNORECASE,
)  # fmt: skip
CLAIM = re.compile(
    r"\b(?:should|must|recommended|contraindicated|indicated|avoided|dose|doses|mg|treatment|therapy|treated|risk"
    r"|mortality|survival|benefit|benefits|improved|improves|reduced|reduces|increased|effective|response|prognosis"
    r"|outcome|surgery|higher|lower)\b",
    re.IGNORECASE,
)
ADVICE = re.compile(
    r"\b(?:should|must|is\s+(?:recommended|contraindicated|indicated|advised|preferred)|are\s+(?:recommended"
    r"|contraindicated|indicated|advised|preferred)|may\s+be\s+(?:used|given|considered)|can\s+be\s+(?:used|given)"
    r"|the\s+(?:recommended\s+)?(?:starting\s+|initial\s+|daily\s+)?dose)\b",
    re.IGNORECASE,
)
LIMITS = re.compile(
    r"(?:however,\s+|but\s+|nevertheless,\s+)?(?:this|these|the|such)\s+(?:\w+\s+){0,3}?(?:effects?|benefits?"
    r"|differences?|associations?|improvements?|reductions?|increases?|results?|findings?|relationships?"
    r"|recommendations?|responses?|trends?|advantages?|risks?|correlations?)\b.{0,100}?\b(?:only|confined|limited\s+to"
    r"|restricted\s+to|except|not\s+(?:seen|observed|found|present|apply|significant|apparent|evident))\b",
    re.IGNORECASE,
)
EXCEPTS = re.compile(
    r"(?:however|but|nevertheless|conversely|in\s+contrast|by\s+contrast|yet|except|exceptions?)\b,?.{0,60}?\b"
    + PEOPLE + r"\s+(?:with|without|who|whose|aged|receiving|undergoing|taking|in\s+whom|older|younger)\b",
    re.IGNORECASE,
)  # fmt: skip
CARE = re.compile(
    r"\b(?:treat\w*|therap\w+|drugs?|dos\w+|mg|surg\w+|screen\w*|tests?|avoid\w*|monitor\w*|agents?|medications?"
    r"|vaccin\w+|\w+(?:mab|nib|pril|sartan|statin|olol|mycin|cillin|azole)s?)\b",
    re.IGNORECASE,
)
GOES_ON = re.compile(
    r"(?:(?:this|it|the)\s+(?:\w+\s+){0,2}?(?:risk|effect|difference|benefit|rate|improvement|reduction|increase"
    r"|treatment|therapy|drug|dose|regimen|approach|strategy|procedure|combination|response|prognosis|outcome)s?\b"
    r"|(?:overall\s+)?(?:mortality|survival|treatment|therapy|surgery)\b|(?:also|similarly|moreover|furthermore|in\s+addition)\b"
    r"|it\s+(?:is|was|may|can|should|also|reduce[sd]|improve[sd])\b)",
    re.IGNORECASE,
)
CONDUCT = re.compile(  # how a study was done is no medical statement
    r"\b(?:randomi[sz]\w+|will\s+be|eligib\w+|exclu\w+|inclusion|enrol\w+|recruit\w+|questionnaires?|allocated"
    r"|consent\w*|sample\s+size|should\s+be\s+(?:noted|interpreted)|this\s+(?:study|paper|article|review))\b",
    re.IGNORECASE,
)
CONDUCT_SECTION = re.compile(
    r"method|statistic|design|participant|procedure|data|eligib|outcome\s+measure", re.IGNORECASE
)


class Candidate(NamedTuple):
    """A proposed pair: which pattern, the document, and the two sentences, in whichever order they stand."""

    pattern: str
    document: str
    qualifier: Span
    statement: Span
    apart: int


def candidates(texts: Mapping[str, str], seed: int) -> list[Candidate]:
    """Every proposal, at most six a document, in an order drawn by the seed."""
    rng = random.Random(seed)  # noqa: S311
    found: list[Candidate] = []
    for document, text in texts.items():
        own = list(proposals(document, text))
        found += rng.sample(own, min(A_DOCUMENT, len(own)))
    rng.shuffle(found)
    return found


def proposals(document: str, text: str) -> Iterator[Candidate]:
    """The pairs of a document that a pattern proposes."""
    for part in sections(text):
        if part.title and CONDUCT_SECTION.search(part.title):
            continue
        units = [Span(part.start + s.start, part.start + s.end) for s in sentences(text[part.start : part.end])]
        lines = [unit.of(text) for unit in units]
        for pattern, told, governed in _places(lines):
            if told != governed and not CONDUCT.search(f"{lines[told]} {lines[governed]}"):
                yield Candidate(pattern, document, units[told], units[governed], abs(told - governed))


def _places(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """(pattern, place of the condition, place of the statement)."""
    for at, line in enumerate(lines):
        if len(line) < LEAST:
            continue
        yield "group", _told(lines, at), at
        yield "condition", at, _advised(lines, at)
        yield "continued", _opened(lines, at), at
        yield "limit", at, _before(lines, at, LIMITS, CLAIM)
        yield "exception", at, _before(lines, at, EXCEPTS, CARE)


def _told(lines: Sequence[str], at: int) -> int:
    """The nearest sentence before a statement about "these patients" that says who they are; else its own place."""
    if THESE.match(lines[at]) and CLAIM.search(lines[at]):
        for before in range(at - 1, max(-1, at - 1 - FARTHEST), -1):
            if WHO.search(lines[before]) and len(lines[before]) >= LEAST:
                return before
    return at


def _advised(lines: Sequence[str], at: int) -> int:
    """The nearest advice after a condition, before any other condition; else its own place."""
    if OPENS.match(lines[at]):
        for after in range(at + 1, min(len(lines), at + 1 + FARTHEST)):
            if WHO.search(lines[after]):
                break
            if ADVICE.search(lines[after]) and CARE.search(lines[after]) and len(lines[after]) >= LEAST:
                return after
    return at


def _opened(lines: Sequence[str], at: int) -> int:
    """The sentence with an opening condition right before a statement that goes on from it; else its own place."""
    fits = at and GOES_ON.match(lines[at]) and CLAIM.search(lines[at]) and not WHO.search(lines[at])
    return at - 1 if fits and OPENS.match(lines[at - 1]) and len(lines[at - 1]) >= LEAST else at


def _before(lines: Sequence[str], at: int, pattern: re.Pattern[str], governed: re.Pattern[str]) -> int:
    """The sentence right before one that limits it or makes an exception; else its own place."""
    fits = at and pattern.match(lines[at]) and governed.search(lines[at - 1]) and len(lines[at - 1]) >= LEAST
    return at - 1 if fits else at


def main() -> None:
    """The command; prints proposals to read, or the kept ones as places."""
    import argparse
    import sys

    from evals.datasets.qualifiers import Pair, read_texts

    parser = argparse.ArgumentParser(description="Find conditions and the statements that they govern.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--keep", type=Path, help="checksums of the right proposals, one a line")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    texts = {text.id: text.text for text in read_texts(given.data)}
    kept = set(given.keep.read_text(encoding="utf-8").split()) if given.keep else set()
    seen: set[str] = set()
    for one in candidates(texts, given.seed):
        text = texts[one.document]
        pair = Pair.of(one.document, text, one.qualifier, one.statement)
        if pair.check in seen:
            continue
        seen.add(pair.check)
        if pair.check in kept:
            sys.stdout.write(pair.model_dump_json() + "\n")
        elif not given.keep:
            told, governed = (" ".join(span.of(text).split()) for span in (one.qualifier, one.statement))
            sys.stdout.write(f"{pair.check} {one.pattern} {one.apart} {one.document}\n  Q {told}\n  S {governed}\n")


if __name__ == "__main__":
    main()
