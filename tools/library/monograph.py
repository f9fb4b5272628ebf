"""A monograph: a Markdown file with front matter, as docs/knowledge-format.md describes it."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from prompts.errors import DataError
from tools.evidence import Frozen
from tools.readers.contract import QuestionSpan as QuestionSpan
from tools.readers.contract import Section as Section
from tools.text.sentences import Span

COLLECTION = "library"
FRONT_MATTER = re.compile(r"\A---\n(?P<front>.*?)\n---\n(?P<body>.*)\Z", re.DOTALL)
HEADING = re.compile(r"^## +(?P<title>.+?) *$", re.MULTILINE)
PARAGRAPH = re.compile(r"^(?!#)\S[^\n]*", re.MULTILINE)
CONFUSED = "Confused with"  # the section on a disease's neighbours


class FrontMatter(Frozen):
    """What stands before the body."""

    id: str = Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$")
    title: str = Field(min_length=2)
    kind: str = Field(pattern="^(?:condition|evidence|medicine|presentation)$")
    icd10: tuple[str, ...] = ()
    must_not_miss: tuple[str, ...] = ()  # of a presentation: ids of the graph's diseases
    language: str = Field(default="en", pattern="^(?:en|zh)$")
    written: date
    review_by: date
    clinically_reviewed: bool
    questions: tuple[QuestionSpan, ...] = ()


class Monograph(Frozen):
    """A parsed monograph. ``text`` is the body: offsets of evidence count its characters."""

    front: FrontMatter
    text: str

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections in order."""
        return sections(self.text)


def parse_monograph(raw: str, name: str) -> Monograph:
    """Read a monograph.

    Args:
        raw: the file's content.
        name: the file's name without suffix, for messages.

    Raises:
        DataError: no front matter, broken YAML, or a field that is missing, unknown or of a wrong kind.
    """
    match = FRONT_MATTER.match(raw.replace("\r\n", "\n").removeprefix("\ufeff"))
    if match is None:
        raise DataError(f"{name} has no front matter.", "Begin the file with --- lines as in docs/knowledge-format.md.")
    try:
        front = FrontMatter.model_validate(yaml.load(match["front"], yaml.CSafeLoader))
    except yaml.YAMLError as error:
        raise DataError(f"The front matter of {name} is not YAML.", "Quote texts that hold a colon.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DataError(f"{name}: {where}: {first['msg']}.", "See docs/knowledge-format.md.") from error
    return Monograph(front=front, text=match["body"].strip("\n"))


def read_monograph(path: Path) -> Monograph:
    """Read a monograph from its file; raises DataError as `parse_monograph` does, and for text that is not UTF-8."""
    try:
        raw = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} is not UTF-8.", "Save it as UTF-8.") from error
    return parse_monograph(raw, path.stem)


def sections(text: str) -> tuple[Section, ...]:
    """The sections of a body; a body without headings is one section without a title."""
    starts = [(h["title"], h.end(), h.start()) for h in HEADING.finditer(text)]
    if not starts or text[: starts[0][2]].strip():
        starts.insert(0, ("", 0, 0))
    ends = [*(heading for _, _, heading in starts[1:]), len(text)]
    found = []
    for (title, start, _), end in zip(starts, ends, strict=True):
        content = text[start:end]
        begin = start + len(content) - len(content.lstrip())
        if content.strip():
            found.append(Section(title=title, start=begin, end=start + len(content.rstrip())))
    return tuple(found)


def paragraphs(text: str) -> tuple[Span, ...]:
    """The paragraphs of a body, one line each; headings are none."""
    return tuple(Span(m.start(), m.start() + len(m[0].rstrip())) for m in PARAGRAPH.finditer(text))


def locate(text: str, span: str) -> tuple[Span, Span] | None:
    """Where an answering span stands, and its paragraph; None unless it stands in one paragraph, once."""
    places = [(p, p.start + p.of(text).find(span)) for p in paragraphs(text) if span in p.of(text)]
    if len(places) != 1 or text.count(span) != 1:
        return None
    paragraph, start = places[0]
    return Span(start, start + len(span)), paragraph


def unusable(monograph: Monograph, name: str) -> list[str]:
    """What makes a monograph unusable: an id that is not the file's name, or a span that is not in the body."""
    front = monograph.front
    problems = [] if front.id == name else [f"the id is {front.id}, the file {name}.md"]
    if not paragraphs(monograph.text):
        problems.append("the body has no paragraph")
    problems += [
        f"the span of {question.q!r} does not stand in exactly one paragraph, once"
        for question in front.questions
        if locate(monograph.text, question.span) is None
    ]
    return problems
