"""A long text cut into pieces that an encoder reads whole: at sentence ends, else clause ends, else between words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from tools.text.sentences import Span, sentences

Count = Callable[[Sequence[str]], list[int]]
CLAUSE = re.compile(r"(?<=[,;:)\]])\s+|(?<=[，；：、])|\s+(?=(?:and|but|or|with|without|who|which|because)\b)")
WORD = re.compile(r"\s+")


def within_tokens(text: str, limit: int, count: Count) -> list[Span]:
    """Spans of the text in order, each of at most ``limit`` tokens; together they hold all that is not white space.

    Args:
        limit: tokens, special ones left out, at least 1.
        count: tokens of each of several texts, special ones left out.

    Neighbouring sentences share a span as long as they fit. Only a single character may be longer than the limit.
    """
    units = sentences(text)
    return list(_packed(text, _fitting(text, units, limit, count, (_clauses, _words, _halves)), limit, count))


def _fitting(
    text: str, units: Sequence[Span], limit: int, count: Count, cuts: tuple[Callable[[str], list[Span]], ...]
) -> list[Span]:
    """The units, those beyond the limit cut further."""
    lengths = count([unit.of(text) for unit in units]) if units else []
    fitting: list[Span] = []
    for unit, length in zip(units, lengths, strict=True):
        if length <= limit or unit.end - unit.start < 2:
            fitting.append(unit)
            continue
        parts = [Span(unit.start + s, unit.start + e) for s, e in cuts[0](unit.of(text))]
        fitting += _fitting(text, parts, limit, count, cuts[1:] or cuts)
    return fitting


def _packed(text: str, units: Sequence[Span], limit: int, count: Count) -> Iterable[Span]:
    """Neighbouring units put together as long as they fit."""
    lengths = count([unit.of(text) for unit in units]) if units else []
    at, used = 0, 0
    for n, length in enumerate(lengths):
        if n > at and used + length > limit:
            yield Span(units[at].start, units[n - 1].end)
            at, used = n, 0
        used += length
    if units:
        yield Span(units[at].start, units[-1].end)


def _clauses(text: str) -> list[Span]:
    return _split(text, CLAUSE)


def _words(text: str) -> list[Span]:
    return _split(text, WORD)


def _halves(text: str) -> list[Span]:
    middle = len(text) // 2
    return [Span(0, middle), Span(middle, len(text))]


def _split(text: str, where: re.Pattern[str]) -> list[Span]:
    """What lies between the matches; the white space of a match belongs to no part."""
    spans, at = [], 0
    for match in where.finditer(text):
        if match.start() > at:
            spans.append(Span(at, match.start()))
        at = match.end()
    return [*spans, Span(at, len(text))] if at < len(text) else spans
