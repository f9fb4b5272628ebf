"""`anamnesis dev passages`: how SEOS cuts a file, with its breakpoints, overlaps and curve."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any, Literal, NamedTuple

import typer
from rich.markup import escape

from agent.assembly import open_encoder
from agent.cli.console import JsonOption, console, open_home, print_json, table, tell
from prompts.errors import DataError, InputError
from tools.embedding_cache import unkept
from tools.encoders import Encoder
from tools.files import write_atomic
from tools.passages.contract import Passage, StoredDocument
from tools.passages.drawing import curve_picture
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
    plot: Annotated[Path | None, typer.Option(help="Draw the continuity curve in this file (.svg).")] = None,
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
        write_atomic(plot, picture.encode())
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
