"""Adding files to a shelf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from prompts.errors import DataError, InputError
from tools.evidence import EvidenceId, Frozen, Status
from tools.files import locked
from tools.library import records
from tools.library.document import Document
from tools.library.files import Candidate, Content, candidates, content_of, is_changed
from tools.library.own import BATCH, embed_together, fingerprint, own_document
from tools.library.shelf import LOCK_WAIT, Shelf
from tools.readers.contract import Problem, Record
from tools.readers.files import unpacked_together
from tools.readers.reading import read, suffix_of, suffixes, unknown_kind


# What became of each file that was to be added.
class Outcome(StrEnum):
    """What became of a file.

    ``duplicate``: its documents were there already, from another file. ``partly``: some of it could not be read.
    ``skipped``: a file of another kind in a folder.
    """

    ADDED = "added"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"
    DUPLICATE = "duplicate"
    PARTLY = "partly"
    FAILED = "failed"
    SKIPPED = "skipped"


class FileRow(Frozen):
    """A file, what became of it, how many documents it gives, and if something is wrong: what, and what to do."""

    path: str
    outcome: Outcome
    documents: int
    reason: str = ""
    advice: str = ""


class AddReport(Frozen):
    """A row a file, in the order in which they were taken."""

    rows: tuple[FileRow, ...]

    @property
    def counts(self) -> Counter[str]:
        """Files of each outcome."""
        return Counter(row.outcome.value for row in self.rows)

    @property
    def wrong(self) -> tuple[FileRow, ...]:
        """The files that were not taken in whole."""
        return tuple(row for row in self.rows if row.outcome in (Outcome.FAILED, Outcome.PARTLY))

    @property
    def skipped(self) -> dict[str, list[str]]:
        """Paths of what folders hold and is not read, by the reason."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if row.outcome is Outcome.SKIPPED:
                found.setdefault(row.reason, []).append(row.path)
        return found

    @property
    def exit_code(self) -> int:
        """0 when all went in, 1 when something did not, 2 when nothing could be read."""
        if not self.wrong:
            return 0 if any(row.outcome is not Outcome.SKIPPED for row in self.rows) else 2
        read = [row for row in self.rows if row.outcome not in (Outcome.FAILED, Outcome.SKIPPED)]
        return 1 if read else 2


PROBLEMS = 5  # ours: problems of one file that its row spells out
RESERVED = {"library", "graph", "generated", "record", "given"}  # collections of other rooms (tools/evidence.py)
Progress = Callable[[int, int, int], None]
"""Called with files done, files in all, and documents stored so far."""


@dataclass
class _Reading:
    """A file while it is read."""

    path: str
    content: Content
    before: frozenset[str]
    ids: dict[str, None] = field(default_factory=dict)
    fresh: int = 0
    problems: list[Problem] = field(default_factory=list)
    more_problems: int = 0

    def trouble(self, problem: Problem) -> None:
        """Note a problem; beyond a few only their number."""
        if len(self.problems) < PROBLEMS:
            self.problems.append(problem)
        else:
            self.more_problems += 1

    @property
    def outcome(self) -> Outcome:
        """What became of the file."""
        if not self.ids:
            return Outcome.FAILED
        if self.problems:
            return Outcome.PARTLY
        if self.before:
            return Outcome.REPLACED if self.fresh or self.before - self.ids.keys() else Outcome.UNCHANGED
        return Outcome.ADDED if self.fresh else Outcome.DUPLICATE


@dataclass(frozen=True)
class _Waiting:
    """A document that waits for its vectors, or with none the end of its file."""

    reading: _Reading
    document: Document | None = None
    fingerprint: str = ""


def add(shelf: Shelf, paths: Iterable[Path], progress: Progress | None = None) -> AddReport:
    """Take in files and folders; a file that cannot be read is a row of the report.

    A file whose content is known is not read again, and no text is embedded twice. What a changed file gave before is
    replaced in one transaction. Interrupted, what is finished stays, and adding the same paths again goes on.

    Raises:
        DataError: another process is adding, or the shelf cannot be written.
    """
    with locked(shelf.store.file, LOCK_WAIT), unpacked_together():
        files = candidates(paths)
        adding = _Adding(shelf, len(files), progress)
        for candidate in files:
            adding.tell()
            adding.take(candidate)
            adding.done += 1
        adding.flush()
    return AddReport(rows=tuple(adding.rows[path] for path in (str(c.path) for c in files)))


class _Adding:
    """One run of `add`.

    Attributes:
        done: files read, of ``files``. stored: documents.
    """

    def __init__(self, shelf: Shelf, files: int, progress: Progress | None) -> None:
        self._shelf, self._known = shelf, suffixes()
        self._files, self._progress, self.done = files, progress, 0
        self._waiting: list[_Waiting] = []
        self._texts = 0
        self.rows: dict[str, FileRow] = {}
        self.stored = 0

    def tell(self) -> None:
        """Tell how far it is, where that is asked."""
        if self._progress is not None:
            self._progress(self.done, self._files, self.stored)

    def take(self, candidate: Candidate) -> None:
        """Read a file, unless its content is known."""
        path = str(candidate.path)
        if candidate.problem is not None:
            self._fail(path, candidate.problem)
        elif not candidate.named and candidate.path.is_dir():
            self._tell(path, Outcome.SKIPPED, 0, reason="A link to a folder is not followed.", advice="Add the folder.")
        elif not candidate.named and suffix_of(candidate.path) not in self._known:
            self._tell(path, Outcome.SKIPPED, 0, reason=unknown_kind(candidate.path))
        else:
            try:
                content = content_of(candidate.path)
            except DataError as error:
                self._fail(path, error)
            else:
                self._take(candidate.path, content)

    def _take(self, file: Path, content: Content) -> None:
        path = str(file)
        if any(w.reading.content.sha256 == content.sha256 for w in self._waiting):
            self.flush()  # the same content under another name, which shall be known
        with self._shelf.store.read() as db:
            known = records.files(db, "path", path)
            before = frozenset(records.given_by(db, path))
            twins = [f for f in records.files(db, "sha256", content.sha256) if f.outcome != Outcome.PARTLY]
            held = records.given_by(db, twins[0].path) if twins else []
        if known and known[0].sha256 == content.sha256 and known[0].outcome != Outcome.PARTLY:
            self._tell(path, Outcome.UNCHANGED, len(before))
            return
        reading = _Reading(path, content, before)
        if held:
            reading.ids = dict.fromkeys(held)
            self._finish(reading)
        elif before:
            self.flush()
            with self._shelf.store.write():  # what it gave before is replaced whole, or not at all
                self._read(file, reading)
                self.flush()
        else:
            self._read(file, reading)

    def flush(self) -> None:
        """Embed what waits in one call, and store it in one transaction."""
        waiting, self._waiting, self._texts = self._waiting, [], 0
        documents = [w.document for w in waiting if w.document is not None]
        embedded = iter(embed_together(documents, self._shelf.encoder))
        with self._shelf.store.write() as db:
            for item in waiting:
                if item.document is None:
                    self._finish(item.reading)
                else:
                    self._shelf.put(next(embedded), item.fingerprint)
                    records.link(db, item.reading.path, [item.document.id])
                    self.stored += 1
        self.tell()

    def _read(self, file: Path, reading: _Reading) -> None:
        for item in read(file):
            if isinstance(item, Problem):
                reading.trouble(item)
                continue
            wrong = _unusable(item)
            if wrong is not None:
                reading.trouble(wrong)
            else:
                self._take_record(item, reading)
        if is_changed(file, reading.content):
            reading.trouble(Problem(where="", what="The file changed while it was read.", advice="Add it again."))
        self._waiting.append(_Waiting(reading))

    def _take_record(self, record: Record, reading: _Reading) -> None:
        print_of = fingerprint(record)
        with self._shelf.store.read() as db:
            stored = records.fingerprint_of(db, record.id)
            status = records.status_of(db, record.id)
        for waiting in self._waiting:
            if waiting.document is not None and waiting.document.id == record.id:
                stored, status = waiting.fingerprint, waiting.document.status
        if print_of == stored:
            reading.ids[record.id] = None
            return
        if status == Status.RETRACTED and record.status is not Status.RETRACTED:
            what = f"{record.id} is stored as retracted, and stays so."
            reading.trouble(Problem(where=record.id, what=what, advice="Remove it first if that is wrong."))
            return
        document = own_document(record, self._shelf.encoder)
        if not document.windows:
            reading.trouble(Problem(where=record.id, what="There is no text in it.", advice="Leave it out."))
            return
        reading.ids[record.id] = None
        reading.fresh += 1
        self._waiting.append(_Waiting(reading, document, print_of))
        self._texts += len(document.windows) + len(document.questions)
        if self._texts >= BATCH:
            self.flush()

    def _finish(self, reading: _Reading) -> None:
        """Keep what the file is known by, and drop what it gave before and gives no more."""
        outcome = reading.outcome
        if reading.ids:
            with self._shelf.store.write() as db:
                records.link(db, reading.path, list(reading.ids))
                self._shelf.drop(records.unlink(db, reading.path, sorted(reading.before - reading.ids.keys())))
                records.put_file(
                    db, records.KnownFile(path=reading.path, outcome=outcome.value, **reading.content._asdict())
                )
        kept = f" What it gave before ({len(reading.before)}) is kept." if reading.before and not reading.ids else ""
        self._tell(reading.path, outcome, len(reading.ids), *_in_words(reading, kept))

    def _fail(self, path: str, error: DataError) -> None:
        self._tell(path, Outcome.FAILED, 0, error.what, error.advice)

    def _tell(self, path: str, outcome: Outcome, documents: int, reason: str = "", advice: str = "") -> None:
        self.rows[path] = FileRow(path=path, outcome=outcome, documents=documents, reason=reason, advice=advice)


def _in_words(reading: _Reading, kept: str) -> tuple[str, str]:
    if not reading.problems:
        return kept.strip(), ""
    told = [f"{p.where}: {p.what}" if p.where else p.what for p in reading.problems]
    more = f" And {reading.more_problems} more." if reading.more_problems else ""
    return " ".join(told) + more + kept, reading.problems[0].advice


def _unusable(record: Record) -> Problem | None:
    """What makes a record unusable: an id that is none or another room's, or a section outside its text."""
    try:
        collection = EvidenceId.parse(record.id).collection
    except InputError as error:
        return Problem(where=record.id, what=error.what, advice=error.advice)
    if collection in RESERVED or "@" in record.id:
        return Problem(where=record.id, what=f"{record.id} is an id of another kind.", advice="Give it another id.")
    if any(not 0 <= s.start <= s.end <= len(record.text) for s in record.sections):
        return Problem(where=record.id, what="A section lies outside the text.", advice="Report this file.")
    return None
