"""Sentences under numbers, as a model is shown a document: it names ``3.2``, and code knows whose words those are.

Where a document is longer than its room, sentences are left out in order: background and aims first, then methods, then
what stands before the results' end. Its conclusions are never left out. Every gap is marked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from prompts.shown import one_line
from tools.evidence import Evidence, EvidenceId
from tools.text.sentences import sentences
from tools.text.tokens import tokens

LONGEST = 1200  # ours: characters of one sentence that are shown; a longer one is a table or a list
GAP = "[… {} left out]"
# Headings of structured abstracts, in the order in which their sentences are left out; ours.
HEADINGS = (
    re.compile(
        r"(?:background|introduction|context|rationale|objectives?|aims?|purpose|目的|背景)\b[^:：]{0,40}[:：]", re.I
    ),
    re.compile(
        r"(?:(?:materials? and )?methods?|design|setting|participants|patients|interventions?|方法)\b[^:：]{0,40}[:：]",
        re.I,
    ),
    re.compile(r"(?:(?:main )?results?|findings|结果)\b[^:：]{0,40}[:：]", re.I),
    re.compile(r"(?:conclusions?|interpretation|implications|结论)\b[^:：]{0,40}[:：]", re.I),
)
UNLABELLED = 2  # a sentence before any heading counts as one of the results
CONCLUSION = 3


def numbered(number: int, text: str, only: Collection[int] | None = None) -> str:
    """``[3.1] One sentence. [3.2] Another.``: the sentences of a document on one line, each after its number.

    Args:
        number: of the document.
        only: numbers of the sentences that are shown, from 1; all of them by default. How many lie between is told.
    """
    spans = sentences(text)
    parts: list[str] = []
    left = 0
    for n, span in enumerate(spans, start=1):
        if only is not None and n not in only:
            left += 1
            continue
        if left:
            parts.append(GAP.format(left))
            left = 0
        parts.append(f"[{number}.{n}] {one_line(span.of(text), LONGEST)}")
    return " ".join([*parts, GAP.format(left)] if left else parts)


def within(text: str, room: int) -> list[int]:
    """Numbers of the sentences, from 1, that are shown of a text in so many characters; its conclusions in any case."""
    spans = sentences(text)
    sizes = [min(span.end - span.start, LONGEST) for span in spans]
    kept = dict.fromkeys(range(len(spans)))
    over = sum(sizes) - room
    ranks = _ranks([span.of(text) for span in spans])
    for at in sorted(kept, key=lambda at: (ranks[at], at)):
        if over <= 0 or ranks[at] == CONCLUSION:
            break
        del kept[at]
        over -= sizes[at]
    return [at + 1 for at in kept]


def telling(text: str, room: int, wanted: Collection[str]) -> list[int]:
    """Numbers of the sentences, from 1, that are shown of a page in so many characters: those that hold most of the
    wanted tokens, the first of equal ones, and one at least. A text under the headings of an abstract is cut as such.
    """
    said = [span.of(text) for span in sentences(text)]
    if any(heading.match(sentence) for sentence in said for heading in HEADINGS):
        return within(text, room)
    kept: list[int] = []
    for at in sorted(range(len(said)), key=lambda at: (-len(set(tokens(said[at])) & set(wanted)), at)):
        room -= min(len(said[at]), LONGEST)
        if kept and room < 0:
            break
        kept.append(at + 1)
    return sorted(kept)


def _ranks(said: Sequence[str]) -> list[int]:
    """For each sentence the place of its section in the order of leaving out; the last sentence is a conclusion."""
    ranks: list[int] = []
    rank = UNLABELLED
    for sentence in said:
        rank = next((place for place, heading in enumerate(HEADINGS) if heading.match(sentence)), rank)
        ranks.append(rank)
    return [*ranks[:-1], CONCLUSION] if ranks else []


# Pieces of one document side by side, as a model is shown them: they overlap, and a sentence is shown once.


def without_repeats(documents: Sequence[Evidence]) -> list[Evidence]:
    """The documents, without those all of whose sentences stand in ones before."""
    fresh = each_once(documents, [range(1, len(sentences(d.text)) + 1) for d in documents])
    return [d for d, own in zip(documents, fresh, strict=True) if own]


def each_once(documents: Sequence[Evidence], numbers: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Of each document those of its sentences, by number from 1, that no document before it shows."""
    known: set[tuple[str, int, int]] = set()
    out: list[tuple[int, ...]] = []
    for document, own in zip(documents, numbers, strict=True):
        spans, begin = sentences(document.text), EvidenceId.parse(document.id).start or 0
        places = {n: (document.document_id, begin + spans[n - 1].start, begin + spans[n - 1].end) for n in own}
        out.append(tuple(n for n in own if places[n] not in known))
        known.update(places.values())
    return out
