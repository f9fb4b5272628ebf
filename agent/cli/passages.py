"""`anamnesis dev passages`: how SEOS cuts a file, with its breakpoints, overlaps and curve."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any, Literal, NamedTuple
from xml.sax.saxutils import escape as xml_escape

import typer
from rich.markup import escape

from agent.assembly import open_encoder
from agent.cli.console import JsonOption, console, open_home, print_json, table, tell, write_text
from prompts.errors import DataError, InputError
from tools.embedding_cache import unkept
from tools.encoders import Encoder
from tools.files import named_file
from tools.passages.contract import Passage, StoredDocument
from tools.passages.seos import BUDGET, SPECIAL, SectionCut, SeosSettings, examine
from tools.readers.contract import Problem, Record
from tools.readers.reading import read

WORDS = 12  # ours: characters of a passage that are shown at least
HEADING = 26  # ours: characters of a heading that are shown
PICTURE = ".svg"
COLUMNS = ("", "Section", "Characters", "Tokens", "Break", "Shared", "Begins")
OTHERS = 70  # ours: characters of a row of the table without the first words of its passage


class _Document(NamedTuple):
    """A document as it was cut, and the tokens of each of its passages as they are embedded."""

    document: StoredDocument
    cuts: list[SectionCut]
    tokens: list[int]

    @property
    def passages(self) -> list[Passage]:
        return [p for cut in self.cuts for p in cut.passages]


def passages(
    file: Annotated[Path, typer.Argument(help="Any file that `library add` reads.")],
    method: Annotated[Literal["seos", "seos_paper"], typer.Option(help="Exact, or the published rule.")] = "seos",
    budget: Annotated[int | None, typer.Option(help="Tokens of an average passage, in the encoder's own.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the continuity curve in this file (.svg).", callback=named_file)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """`anamnesis dev passages`. Nothing is kept on disk: the file may be a patient's.

    Raises InputError for a bad budget or picture, DataError for a file of which nothing can be read.
    """
    if plot is not None and plot.suffix.lower() != PICTURE:
        raise InputError(f"{plot.name} is no {PICTURE} file.", f"Name the picture with the ending {PICTURE}.")
    records, problems = _read(file)
    if plot is not None and len(records) > 1:
        raise InputError(f"{file.name} holds {len(records)} documents.", "A picture shows one: give a file with one.")
    settings, home = open_home()
    with contextlib.closing(open_encoder(settings, home)) as encoder, unkept():
        chosen = _settings(method, budget, encoder)
        documents = [_cut(record, encoder, chosen) for record in records]
    if plot is not None:
        picture = curve_picture(documents[0].document.title, documents[0].document.text, documents[0].cuts)
        write_text(plot, picture)
    if as_json:
        print_json([_as_data(d) for d in documents])
    else:
        for document in documents:
            _show(document, chosen, encoder)
    for problem in problems:
        sys.stderr.write(f"anamnesis: {file.name}: {_told(problem)}\n")
    raise typer.Exit(int(bool(problems)))


def _read(file: Path) -> tuple[list[Record], list[Problem]]:
    found = list(read(file))
    records = [item for item in found if isinstance(item, Record)]
    problems = [item for item in found if isinstance(item, Problem)]
    if not records:
        raise DataError(f"{file}: {problems[0].what}", problems[0].advice)
    return records, problems


def _settings(method: Literal["seos", "seos_paper"], budget: int | None, encoder: Encoder) -> SeosSettings:
    room = encoder.limit - SPECIAL
    if budget is not None and not 1 <= budget <= room:
        raise InputError(
            f"A budget of {budget} tokens cannot be kept.",
            f"The encoder {encoder.name} reads {room}: give 1 to {room}.",
        )
    return SeosSettings(method=method, budget=budget or min(BUDGET, room))


def _cut(record: Record, encoder: Encoder, chosen: SeosSettings) -> _Document:
    document = StoredDocument(id=record.id, title=record.title, text=record.text, language=record.language)
    cuts = examine(document, encoder, chosen)
    texts = [p.embedded_text(record.text) for cut in cuts for p in cut.passages]
    return _Document(document, cuts, encoder.count_tokens(texts) if texts else [])


def _show(found: _Document, chosen: SeosSettings, encoder: Encoder) -> None:
    out = console()
    out.print(f"[bold]{escape(found.document.title or found.document.id)}[/]  {escape(found.document.id)}")
    rows: list[tuple[str, ...]] = []
    words = max(WORDS, out.width - OTHERS)
    tokens = iter(found.tokens)
    for cut in found.cuts:
        breaks = {b.at: b for b in cut.breaks}
        for passage in cut.passages:
            at = breaks.get(passage.core_start)
            begins = found.document.text[passage.core_start : passage.core_end]
            row = (
                str(len(rows) + 1),
                shorten(cut.section.title or "", HEADING, placeholder="..."),
                f"{passage.start}-{passage.end}",
                str(next(tokens)),
                "" if at is None else f"{at.continuity:.2f}",
                "" if at is None else str(at.shared),
                shorten(begins, words, placeholder="..."),
            )
            rows.append(row)
    out.print(table(COLUMNS, rows, box=None, pad_edge=False))
    breaks_in_all = sum(len(cut.breaks) for cut in found.cuts)
    core = sum(cut.tokens for cut in found.cuts)
    tell(
        f"Passages: {len(rows)}; breakpoints: {breaks_in_all} ({chosen.method}, budget {chosen.budget} of the "
        f"{encoder.limit} tokens that {encoder.name} reads). The text has {core} tokens, the passages with overlap, "
        f"title, section and lead {sum(found.tokens)}."
    )


def _as_data(found: _Document) -> dict[str, Any]:
    tokens = iter(found.tokens)
    return {
        "id": found.document.id,
        "title": found.document.title,
        "sections": [
            {
                "title": cut.section.title,
                "start": cut.section.start,
                "end": cut.section.end,
                "tokens": cut.tokens,
                "curve": [[at, round(float(v), 4)] for at, v in zip(cut.gaps, cut.curve, strict=True)],
                "breaks": [{**b._asdict(), "continuity": round(b.continuity, 4)} for b in cut.breaks],
                "passages": [
                    {
                        "start": p.start,
                        "end": p.end,
                        "core_start": p.core_start,
                        "lead": p.lead,
                        "tokens": next(tokens),
                    }
                    for p in cut.passages
                ],
            }
            for cut in found.cuts
        ],
    }


def _told(problem: Problem) -> str:
    where = f"{problem.where}: " if problem.where else ""
    return f"{where}{problem.what} {problem.advice}"


# The continuity curve of a document as a picture (SVG), with its breakpoints.

# ours: pixels of the picture and of its frame
WIDTH, HEIGHT = 1000, 320
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 40, 56
SHORT = 28  # ours: characters of a heading that fit under its part of the curve
LINES = 4  # ours: parts into which lines divide the height


class _Scale(NamedTuple):
    """From characters of the text and continuity to pixels."""

    length: int
    low: float
    high: float

    def x(self, character: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * character / max(1, self.length)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)


def curve_picture(title: str, text: str, cuts: Sequence[SectionCut]) -> str:
    """SVG: continuity over the characters of the text, a line at each breakpoint, the overlaps as bars, the headings.

    A section that is one passage has no curve; it is drawn as an empty part.
    """
    values = [float(v) for cut in cuts for v in cut.curve]
    scale = _Scale(len(text), min(values, default=0.0), max(values, default=1.0))
    titles = [None, *(cut.section.title for cut in cuts)]
    body = [
        _grid(scale),
        *(_section(c, scale, titled=c.section.title != t) for c, t in zip(cuts, titles, strict=False)),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="11"><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
        f'<text x="{LEFT}" y="20" font-size="14">{xml_escape(title)}</text>'
        f'<text x="{LEFT}" y="34" fill="#666">continuity between neighbouring sentences; red: breakpoints; '
        "bars: text that two passages share</text>"
    )
    return "\n".join([head, *body, "</svg>", ""])


def _grid(scale: _Scale) -> str:
    marks = []
    for step in range(LINES + 1):
        value = scale.low + (scale.high - scale.low) * step / LINES
        y = scale.y(value)
        marks.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eee"/>')
        marks.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#666">{value:.2f}</text>')
    return "".join(marks)


def _section(cut: SectionCut, scale: _Scale, *, titled: bool) -> str:
    floor = HEIGHT - BOTTOM
    start = scale.x(cut.section.start)
    parts = [f'<line x1="{start:.1f}" x2="{start:.1f}" y1="{TOP}" y2="{floor}" stroke="#bbb" stroke-dasharray="2 3"/>']
    if len(cut.curve):
        points = " ".join(f"{scale.x(c):.1f},{scale.y(v):.1f}" for c, v in zip(cut.gaps, cut.curve, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="#1f5fa8" stroke-width="1.2"/>')
    for found in cut.breaks:
        x = scale.x(found.at)
        parts.append(
            f'<line class="break" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{floor}" stroke="#c33" stroke-width="0.8"/>'
        )
    for p in cut.passages:
        if p.start < p.core_start:
            x, width = scale.x(p.start), scale.x(p.core_start) - scale.x(p.start)
            parts.append(
                f'<rect class="overlap" x="{x:.1f}" y="{floor - 6}" width="{width:.1f}" height="6" fill="#e8a33d"/>'
            )
    heading = (cut.section.title or "")[:SHORT] if titled else ""
    parts.append(
        f'<text x="{start:.1f}" y="{floor + 12}" fill="#444" transform="rotate(20 {start:.1f} {floor + 12})">'
        f"{xml_escape(heading)}</text>"
    )
    return "".join(parts)
