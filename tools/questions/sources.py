"""Documents that questions are written for: of a library, or of files and folders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from prompts.errors import InputError
from tools.library.document import Document
from tools.library.files import candidates
from tools.questions.contract import Answer, Question, SourceDocument
from tools.readers.contract import Problem
from tools.readers.reading import read, suffix_of, suffixes

AUTHOR = "author"  # who wrote a document's own questions


def of_library(documents: Iterable[Document]) -> list[SourceDocument]:
    """The documents of a library; what is retracted is left out."""
    return [
        SourceDocument(id=d.id, title=d.title, text=d.text, date=d.date, language=d.language, windows=d.windows)
        for d in documents
        if d.status.usable
    ]


def own_questions(documents: Iterable[Document]) -> list[Question]:
    """The questions that were written with the documents of a library."""
    return [
        Question(text=q.text, answers=(Answer(document=d.id, start=q.start, end=q.end),), writer=AUTHOR)
        for d in documents
        if d.status.usable
        for q in d.questions
    ]


def of_paths(paths: Iterable[Path]) -> tuple[list[SourceDocument], list[Problem]]:
    """The documents of files and folders, each once, and what could not be read of them.

    Raises:
        InputError: a path is not there.
    """
    named = list(paths)
    for path in named:
        if not path.exists():
            raise InputError(f"There is no file or folder {path}.", "Check the path.")
    found: dict[str, SourceDocument] = {}
    problems: list[Problem] = []
    for candidate in candidates(named):
        if candidate.problem is not None:
            problems.append(Problem(where=str(candidate.path), what=candidate.problem.what, advice=""))
        elif candidate.named or suffix_of(candidate.path) in suffixes():
            for item in read(candidate.path):
                if isinstance(item, Problem):
                    problems.append(item.model_copy(update={"where": f"{candidate.path.name} {item.where}".strip()}))
                elif item.status.usable:
                    found.setdefault(
                        item.id,
                        SourceDocument(
                            id=item.id, title=item.title, text=item.text, date=item.date, language=item.language
                        ),
                    )
    return list(found.values()), problems
