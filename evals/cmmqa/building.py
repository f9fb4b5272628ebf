"""Builds the file of narratives: reads both collections, filters, tells each question, goes on where it was ended."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evals.cmmqa.rewriting import Rewritten, SourceQuestion, told
from evals.cmmqa.terms import CancerTerms
from evals.datasets.cmmqa import NarrativeQuestion
from prompts.errors import DataError, InputError
from tools.files import locked, write_atomic

AT_ONCE = 8  # ours: questions told at once; a kill loses these at most
JOURNAL = ".journal"  # beside the file; it is there while the work is not done
NO_TERM = "no cancer term"
TWICE = "a question that stood before"
Say = Callable[[str], None]


@dataclass
class Built:
    """What a build came to: rows written, of these with options, taken from the journal, and what was left out."""

    rows: int = 0
    choices: int = 0
    kept: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def source_questions(healthsearchqa: Path | None, mirage: Path | None, built: Built) -> Iterator[SourceQuestion]:
    """The questions of both files, in the formats of their releases; what cannot be read is a problem.

    Raises:
        InputError: no file is given, or there is no such file.
    """
    from evals.datasets.conversion import find_original

    given = {"healthsearchqa": healthsearchqa, "mirage": mirage}
    if not any(given.values()):
        raise InputError("No questions are given.", "Name a file with --healthsearchqa or --mirage.")
    for name, path in given.items():
        if path is None:
            continue
        if not path.exists():
            raise InputError(f"There is no {path}.", "`anamnesis eval data` says where it is to be had.")
        for found in find_original(name).read(path):
            if hasattr(found, "what"):
                built.problems.append(str(found))
            else:
                yield _question(name, found.row)


def _question(name: str, row: object) -> SourceQuestion:
    from evals.datasets.mirage import ExamQuestion

    if isinstance(row, ExamQuestion):
        return SourceQuestion(f"{row.dataset}-{row.id}", row.dataset, row.question, row.options, row.answer)
    return SourceQuestion(f"hsqa-{getattr(row, 'id')}", name, str(getattr(row, "question")))  # noqa: B009


def chosen(questions: Iterable[SourceQuestion], terms: CancerTerms, built: Built) -> list[SourceQuestion]:
    """Those that name a cancer in the question or in the right option, each wording once."""
    out: dict[str, SourceQuestion] = {}
    for each in questions:
        headings = terms.found_in(f"{each.question} {each.options.get(each.answer, '')}")
        if not headings:
            built.left_out[NO_TERM] += 1
        elif (key := f"{each.question.casefold()} {each.listed}") in out:
            built.left_out[TWICE] += 1
        else:
            out[key] = SourceQuestion(each.id, each.source, each.question, each.options, each.answer, headings)
    return list(out.values())


def build(questions: Sequence[SourceQuestion], writer: Rewritten, out: Path, built: Built, say: Say) -> Built:
    """Tell every question and write the file; what was told before by the same writer is taken from the journal.

    Raises:
        InputError: the file is there already, or nothing is left to write.
        ServiceError: the model failed; what was told so far is kept, and the next run goes on there.
    """
    if out.exists():
        raise InputError(f"{out} is there already.", "Give another name with --out, or move it away.")
    out.parent.mkdir(parents=True, exist_ok=True)
    journal = out.with_name(out.name + JOURNAL)
    with locked(journal):
        kept = _read(journal)
        keys = {question.id: _key(question, writer) for question in questions}
        open_ = [q for q in questions if keys[q.id] not in kept]
        built.kept = len(questions) - len(open_)
        if built.kept:
            say(f"{built.kept:,} questions were told before and are kept.")
        asyncio.run(_tell(open_, writer, journal, keys, kept, say))
        rows = [row for q in questions if (row := _row(q, kept[keys[q.id]], writer.name, built)) is not None]
        if not rows:
            raise InputError("No question is left to write.", "Give more questions, or other terms with --mesh.")
        built.rows, built.choices = len(rows), sum(bool(row.options) for row in rows)
        write_atomic(out, "".join(f"{row.model_dump_json()}\n" for row in rows).encode())
        journal.unlink(missing_ok=True)
    return built


async def _tell(
    questions: Sequence[SourceQuestion],
    writer: Rewritten,
    journal: Path,
    keys: dict[str, str],
    kept: dict[str, dict[str, str]],
    say: Say,
) -> None:
    """Each into the journal as soon as it is told; a batch that fails keeps those of it that were told."""
    for start in range(0, len(questions), AT_ONCE):
        group = questions[start : start + AT_ONCE]
        found = await asyncio.gather(*(told(q, writer) for q in group), return_exceptions=True)
        failed = [f for f in found if isinstance(f, BaseException)]
        with journal.open("a", encoding="utf-8") as file:
            for question, outcome in zip(group, found, strict=True):
                if not isinstance(outcome, BaseException):
                    row = {"key": keys[question.id], "narrative": outcome[0], "lost": outcome[1]}
                    kept[row["key"]] = row
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
        if failed:
            raise failed[0]
        say(f"{start + len(group):,} of {len(questions):,} told")


def _row(question: SourceQuestion, kept: dict[str, str], writer: str, built: Built) -> NarrativeQuestion | None:
    if kept["lost"]:
        built.left_out[kept["lost"]] += 1
        return None
    return NarrativeQuestion.model_validate(
        {
            "id": question.id,
            "source": question.source,
            "question": question.question,
            "narrative": kept["narrative"],
            "writer": writer,
            "options": dict(question.options),
            "answer": question.answer,
            "headings": question.headings,
        }
    )


def _key(question: SourceQuestion, writer: Rewritten) -> str:
    """What a narrative was made of: another text, other options, another model or prompt make another one."""
    told = f"{writer.name}\0{question.id}\0{question.question}\0{question.listed}\0{question.answer}"
    return hashlib.sha256(told.encode()).hexdigest()


def _read(journal: Path) -> dict[str, dict[str, str]]:
    """What was told before; a last line that a kill cut is taken off."""
    if not journal.exists():
        return {}
    whole, _, cut = journal.read_text(encoding="utf-8").rpartition("\n")
    if cut:
        write_atomic(journal, f"{whole}\n".encode() if whole else b"")
    try:
        rows = [json.loads(line) for line in whole.split("\n") if line]
        return {row["key"]: {"narrative": row["narrative"], "lost": row["lost"]} for row in rows}
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{journal} is damaged.", "Delete it: the questions will be told again.") from error
