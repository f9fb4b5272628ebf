"""Labels of units by masking (ICA-RAG, annotation): diagnose with the whole text and without each unit.

Where the diagnosis of the whole text is right, a unit without which it is wrong is A, any other C (strategy 1). Where
it is wrong, a unit that by itself retrieves a document of the reference disease is B, any other C (strategy 2). A unit
is masked by leaving it out. Its known weakness stays: what is told twice is critical in neither place.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, Field, ValidationError

from graphs.completeness.contract import Label, Unit
from prompts.errors import InputError
from tools.evidence import Frozen
from tools.files import write_atomic
from tools.text.sentences import Span, sentences

UNDOCUMENTED = "no document is about the disease"
BY_PERSON = "by a person"  # begins the reason of a label that a reviewer set


class Case(Frozen):
    """A case to annotate. ``reference``: its diagnosis in words."""

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    reference: str = Field(min_length=1)


class AnnotatedCase(Case):
    """A case with a label for every unit.

    Attributes:
        diagnoser: who diagnosed. diagnosis: of the whole text, "" for none. right: it is the reference.
        units: in the order of the text, each with its label and why.
    """

    diagnoser: str
    diagnosis: str
    right: bool
    units: tuple[Unit, ...]


class Diagnoser(Protocol):
    """Names the leading diagnosis of a text.

    Attributes:
        name: who, for people. version: everything that its diagnoses depend on beside the text.
    """

    name: str
    version: str

    async def diagnose(self, text: str) -> str:
        """The diagnosis in words, "" for none; raises ServiceError when it cannot be made."""


class Reference(Protocol):
    """Tells whether a diagnosis is the reference, and which documents are about it."""

    def same(self, diagnosis: str, reference: str) -> bool:
        """Whether both name one disease, whatever the spelling, the abbreviation or the language."""

    def documented(self, reference: str) -> bool:
        """Whether there is any document of the disease."""

    def retrieved_by(self, unit: str, text: str, reference: str) -> str:
        """Title of a document of the reference disease that the unit by itself retrieves, "" for none.

        ``text`` is the whole, which decides what the unit's abbreviations mean.
        """


async def annotate(case: Case, diagnoser: Diagnoser, reference: Reference) -> AnnotatedCase:
    """Label every unit of a case; raises ServiceError as the diagnoser does."""
    spans = sentences(case.text)
    diagnosis = await diagnoser.diagnose(case.text)
    right = reference.same(diagnosis, case.reference)
    by_strategy = _by_masking if right else _by_retrieval
    units = await by_strategy(case, spans, diagnoser, reference)
    return AnnotatedCase(
        **case.model_dump(), diagnoser=diagnoser.name, diagnosis=diagnosis, right=right, units=tuple(units)
    )


def masked(text: str, span: Span) -> str:
    """The text without a unit."""
    return f"{text[: span.start].rstrip()} {text[span.end :].lstrip()}".strip()


async def _by_masking(case: Case, spans: Sequence[Span], diagnoser: Diagnoser, reference: Reference) -> list[Unit]:
    """Strategy 1: what the diagnosis cannot do without is critical."""
    rest = [masked(case.text, span) for span in spans]
    named = await asyncio.gather(*(_diagnosis(diagnoser, text) for text in rest))
    out = []
    for span, without in zip(spans, named, strict=True):
        if reference.same(without, case.reference):
            out.append(_unit(case, span, Label.C, "the diagnosis stands without it"))
        else:
            out.append(_unit(case, span, Label.A, f"without it: {without or 'no diagnosis'}"))
    return out


async def _by_retrieval(case: Case, spans: Sequence[Span], diagnoser: Diagnoser, reference: Reference) -> list[Unit]:
    """Strategy 2: what finds a document of the disease helps retrieval."""
    del diagnoser
    if not reference.documented(case.reference):
        return [_unit(case, span, Label.C, UNDOCUMENTED) for span in spans]
    out = []
    for span in spans:
        title = reference.retrieved_by(span.of(case.text), case.text, case.reference)
        label = Label.B if title else Label.C
        out.append(_unit(case, span, label, f"retrieves: {title}" if title else "retrieves nothing of the disease"))
    return out


async def _diagnosis(diagnoser: Diagnoser, text: str) -> str:
    """The diagnosis of a text; of nothing there is none."""
    return await diagnoser.diagnose(text) if text else ""


def _unit(case: Case, span: Span, label: Label, reason: str) -> Unit:
    return Unit(text=span.of(case.text), start=span.start, end=span.end, label=label, reason=reason)


# Annotates many cases at once, bounded, each case when its diagnoses are made.
WINDOW = 4  # ours: cases at work at once for each diagnosis at once; more only wait
Progress = Callable[[int, int], None]


class Counted(NamedTuple):
    """Cases, those whose diagnosis was right, those without a document of their disease, units by label."""

    cases: int
    right: int
    undocumented: int
    labels: dict[str, int]


async def annotate_all(
    cases: Sequence[Case],
    diagnoser: Diagnoser,
    reference: Reference,
    *,
    jobs: int,
    progress: Progress = lambda *_: None,
) -> list[AnnotatedCase]:
    """Every case annotated, in order.

    Args:
        jobs: diagnoses at once that the diagnoser is good for. progress: is told the cases done, and of how many.

    Raises:
        ServiceError: the diagnoser failed; what it has diagnosed stays with `DiagnoserKept`, so run it again.
    """
    turn = asyncio.Semaphore(max(1, WINDOW * jobs))
    done = 0

    async def one(case: Case) -> AnnotatedCase:
        nonlocal done
        async with turn:
            annotated = await annotate(case, diagnoser, reference)
        done += 1
        progress(done, len(cases))
        return annotated

    tasks = [asyncio.ensure_future(one(case)) for case in cases]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:  # after a failure the others are not begun
            task.cancel()


def counted(cases: Sequence[AnnotatedCase]) -> Counted:
    """What an annotation holds."""
    labels = Counter(unit.label.value for case in cases for unit in case.units)
    undocumented = sum(bool(c.units) and all(u.reason == UNDOCUMENTED for u in c.units) for c in cases)
    return Counted(len(cases), sum(c.right for c in cases), undocumented, dict(sorted(labels.items())))


# Files of annotation: cases in, annotated cases out, and the table that a person goes through.
Row = TypeVar("Row", bound=BaseModel)
NAMES = ("reference", "diagnosis", "pathology", "gold_diagnosis")  # of the diagnosis in a row of cases
COLUMNS = ("case", "unit", "start", "end", "reference", "text", "label", "reason", "correction")
SHOWN = 5  # ours: bad rows named in one message
CASES_ADVICE = 'Each line is a JSON object with text and reference (or diagnosis), and an id: {"text": ..., ...}.'
ANNOTATED_ADVICE = "Give a file that `anamnesis dev gate annotate` wrote."
REVIEW_ADVICE = "Write A, B or C into the column correction of the review file, and leave the others as they are."


class Correction(NamedTuple):
    """A label that a person set: of which unit (its text as it was shown), and at which line of the review file."""

    line: int
    case: str
    start: int
    text: str
    label: Label


def read_cases(path: Path) -> list[Case]:
    """The cases of a file of JSON lines; a case without an id is named by its line.

    Raises:
        InputError: no such file, no case in it, an id that stands twice, or damaged lines, with their numbers.
    """
    return _read(path, _case, CASES_ADVICE)


def read_annotated(path: Path) -> list[AnnotatedCase]:
    """The cases that `write_annotated` wrote; raises InputError as `read_cases`."""
    return _read(path, _annotated, ANNOTATED_ADVICE)


def write_annotated(path: Path, cases: Sequence[AnnotatedCase]) -> None:
    """One JSON line a case; a reader sees the old file or the new one."""
    write_atomic(path, "".join(f"{case.model_dump_json()}\n" for case in cases).encode())


def write_review(path: Path, cases: Sequence[AnnotatedCase]) -> None:
    """A CSV table of every unit with its label and why, and an empty column for a person's correction."""
    table = io.StringIO(newline="")
    rows = csv.writer(table)
    rows.writerow(COLUMNS)
    for case in cases:
        for number, unit in enumerate(case.units, start=1):
            told = (case.reference, unit.text, unit.label.value, unit.reason, "")
            rows.writerow([case.id, number, unit.start, unit.end, *map(_plain, told)])
    write_atomic(path, ("\ufeff" + table.getvalue()).encode())  # the mark by which spreadsheets know UTF-8


def read_review(path: Path) -> list[Correction]:
    """The corrections of a review file; raises InputError with the number of each damaged line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")  # line ends as they are: a unit may hold a lone carriage return
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        rows = [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read as a review file: {error}.", REVIEW_ADVICE) from None
    if missing := [name for name in COLUMNS if name not in (reader.fieldnames or ())]:
        raise InputError(f"{path.name}, line 1: the columns {', '.join(missing)} are missing.", REVIEW_ADVICE)
    out, problems = [], []
    for line, row in rows:
        if (row["correction"] or "").strip():
            try:
                out.append(_correction(line, row))
            except (ValueError, TypeError) as error:
                problems.append(f"line {line}: {error}")
    _raise(path, problems, REVIEW_ADVICE)
    return out


def corrected(cases: Sequence[AnnotatedCase], corrections: Sequence[Correction], name: str) -> list[AnnotatedCase]:
    """The cases with a person's labels in place of the others; raises InputError for a unit that is not among them."""
    given = {(c.case, c.start): c for c in corrections}
    known = {(case.id, unit.start): unit.text for case in cases for unit in case.units}
    lost = [c for c in corrections if _plain(known.get((c.case, c.start), "")) != c.text]
    _raise(Path(name), [f"line {c.line}: case {c.case} has no such unit" for c in lost], REVIEW_ADVICE)

    def unit_of(case: AnnotatedCase, unit: Any) -> Any:
        own = given.get((case.id, unit.start))
        return unit if own is None else unit.model_copy(update={"label": own.label, "reason": BY_PERSON})

    return [c.model_copy(update={"units": tuple(unit_of(c, u) for u in c.units)}) for c in cases]


def _read(path: Path, parse: Callable[[int, Any], Row], advice: str) -> list[Row]:
    out: list[Row] = []
    problems: list[str] = []
    for line, raw in _lines(path, advice):
        try:
            out.append(parse(line, json.loads(raw)))
        except ValidationError as error:
            said = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'row'}: {e['msg']}" for e in error.errors()[:2])
            problems.append(f"line {line}: {said}")
        except (ValueError, RecursionError) as error:
            problems.append(f"line {line}: {error}")
    times = Counter(getattr(row, "id", "") for row in out)
    problems += [f"the id {i!r} stands {n} times" for i, n in sorted(times.items()) if n > 1]
    _raise(path, problems, advice)
    if not out:
        raise InputError(f"{path.name} holds no case.", advice)
    return out


def _lines(path: Path, advice: str) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as UTF-8 text: {error}.", advice) from None
    return ((n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip())


def _case(line: int, row: Any) -> Case:
    if not isinstance(row, dict):
        raise ValueError("it is no JSON object")
    reference = next((row[name] for name in NAMES if row.get(name)), None)
    if not isinstance(reference, str) or not reference.strip():
        raise ValueError(f"it has no {', '.join(NAMES[:-1])} or {NAMES[-1]}")
    text = row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("it has no text")
    return Case(id=str(row.get("id") or line), text=text, reference=reference.strip())


def _annotated(line: int, row: Any) -> AnnotatedCase:
    del line
    case = AnnotatedCase.model_validate(row)
    if any(case.text[u.start : u.end] != u.text for u in case.units) or not case.units:
        raise ValueError("its units are not those of its text")
    if len(case.units) != len(sentences(case.text)):
        raise ValueError("it has another number of units than its text")
    return case


def _correction(line: int, row: dict[str, str]) -> Correction:
    label = row["correction"].strip().upper()
    if label not in Label.__members__:
        raise ValueError(f"the correction {label!r} is none of A, B, C")
    if not (row["start"] or "").strip().isdigit():
        raise ValueError("the column start is no number")
    return Correction(line, row["case"] or "", int(row["start"]), row["text"] or "", Label(label))


def _plain(value: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{value}" if value[:1] in ("=", "+", "-", "@") else value


def _raise(path: Path, problems: Sequence[str], advice: str) -> None:
    if problems:
        more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise InputError(f"{path.name} is damaged: {'; '.join(problems[:SHOWN])}{more}.", advice)
