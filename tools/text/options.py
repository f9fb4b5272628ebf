"""The options of a multiple-choice question, read from its text."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import NamedTuple

LETTERS = "ABCDEFGHIJ"
UPPER = re.compile(r"(?:(?<=[\s,;。,;?？])|^|(?<=\())(?:\()?([A-J])\s?[\).:、．）：](?=\s*\S)", re.MULTILINE)
LOWER = re.compile(r"(?:(?<=[\s,;?？])|^)\(?([a-j])\)(?=\s*\S)", re.MULTILINE)
LINE = re.compile(r"^\s*(?:[-*•]\s*)?([A-J])\s+(?=\S)", re.MULTILINE)
OBJECT = re.compile(r"\{[^{}]*\}", re.DOTALL)
PAIR = re.compile(r"[\"']?\b([A-Ja-j])\b[\"']?\s*[:=]\s*[\"']([^\"']+)[\"']|\b([A-J])\b\s*[:=]\s*([^,{}\"']+)")
LABEL = re.compile(r"(?:\b(?:the )?(?:options?|choices?|answers?)(?: are)?|选项|答案)\s*[:：]?\s*$", re.IGNORECASE)


class Parsed(NamedTuple):
    """A stem and its options by letter; no options when the text has none."""

    stem: str
    options: dict[str, str]


def parse_options(text: str) -> Parsed:
    """Split a multiple-choice question. Fewer than two options, or letters out of order, are no options."""
    parsed = _object(text)
    if parsed is not None:
        return parsed
    for pattern in (UPPER, LOWER, LINE):
        parsed = _marked(text, pattern)
        if parsed is not None:
            return parsed
    return Parsed(text.strip(), {})


def _marked(text: str, pattern: re.Pattern[str]) -> Parsed | None:
    marks: list[re.Match[str]] = []
    for match in pattern.finditer(text):
        letter = match[1].upper()
        if letter == LETTERS[len(marks)] if len(marks) < len(LETTERS) else False:
            marks.append(match)
        elif letter == "A":  # a letter of the stem came first
            marks = [match]
    if len(marks) < 2:
        return None
    ends = [*(b.start() for _, b in pairwise(marks)), len(text)]
    values = [_tidy(text[m.end() : end]) for m, end in zip(marks, ends, strict=True)]
    if not all(values):
        return None
    return Parsed(_stem(text[: marks[0].start()]), dict(zip(LETTERS, values, strict=False)))


def _object(text: str) -> Parsed | None:
    match = OBJECT.search(text)
    if match is None:
        return None
    options = _json(match[0]) or {(m[1] or m[3]).upper(): _tidy(m[2] or m[4]) for m in PAIR.finditer(match[0])}
    if len(options) < 2 or list(options) != list(LETTERS[: len(options)]):
        return None
    return Parsed(_stem(text[: match.start()] + text[match.end() :]), options)


def _json(text: str) -> dict[str, str]:
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    return {str(k).strip().upper(): _tidy(str(v)) for k, v in read.items()}


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(" ,;|，；（(")


def _stem(text: str) -> str:
    return LABEL.sub("", text.strip().rstrip("(（").strip()).strip()
