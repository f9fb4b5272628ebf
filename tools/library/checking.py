"""Checking a shelf: the database, the vectors, the texts, the windows, and the files that the documents came from."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from prompts.errors import DataError
from tools.evidence import Frozen, Status, content_key
from tools.files import locked
from tools.library import records
from tools.library.document import Document
from tools.library.files import content_of
from tools.library.shelf import LOCK_WAIT, REEMBED, Shelf

UNUSABLE = tuple(s.value for s in Status if not s.usable)  # kept out of the indexes
NAMED = 10  # ours: files or documents that a line of the examination names
RESTORE = "Restore a copy of the library's folder, or remove the documents and add their files again."


class Checked(Frozen):
    """One line of the examination. ``ok`` is False when something is damaged; a changed source file is not damage."""

    name: str
    ok: bool
    found: str
    advice: str = ""


def check(shelf: Shelf) -> list[Checked]:
    """Examine everything; nothing is changed.

    Raises DataError when another process is adding, or the database cannot be read at all.
    """
    with locked(shelf.store.file, LOCK_WAIT):
        found = [_database(shelf), _encoder(shelf), _documents(shelf), _counts(shelf)]
        wrong = [p for index in (shelf.texts, shelf.windows, shelf.questions) for p in index.problems()]
        found.append(_line("indexes", wrong, "vectors and words as they were added", REEMBED))
        found.append(_sources(shelf))
    return found


def _database(shelf: Shelf) -> Checked:
    with shelf.store.read() as db:
        said = [row for (row,) in db.execute("pragma quick_check")]
    return _line("database", [] if said == ["ok"] else said, "intact", RESTORE)


def _encoder(shelf: Shelf) -> Checked:
    made_with = shelf.made_with
    own = (shelf.encoder.name, shelf.encoder.dimension)
    name = made_with[0] if made_with else own[0]
    wrong = [f"embedded with {name}, the setting says {own[0]}"] if made_with not in (None, own) else []
    return _line("encoder", wrong, name, REEMBED)


def _documents(shelf: Shelf) -> Checked:
    with shelf.store.read() as db:
        ids = records.document_ids(db)
        wrong = [f"{key}: {what}" for key in ids for what in _wrong_in(shelf, key)]
    unusable = sum(not Status(d.status).usable for d in shelf.documents())
    kept = f", {unusable} of them retracted or the notice of it, and never searched" if unusable else ""
    return _line("documents", wrong, f"{len(ids)}, texts as they were added{kept}", RESTORE)


def _wrong_in(shelf: Shelf, key: str) -> list[str]:
    with shelf.store.read() as db:
        body, expected = db.execute("select body, text_sha256 from documents where id = ?", (key,)).fetchone()
    try:
        document = Document.model_validate_json(body)
    except ValidationError:
        return ["it cannot be read"]
    wrong = [] if content_key(document.text) == expected else ["its text has changed"]
    if any(not 0 <= w.start < w.end <= len(document.text) for w in document.windows):
        wrong.append("a window lies outside its text")
    return wrong


def _counts(shelf: Shelf) -> Checked:
    with shelf.store.read() as db:
        documents, windows, questions = db.execute(
            "select count(*), coalesce(sum(windows), 0), coalesce(sum(questions), 0) from documents"
            f" where status not in ({', '.join('?' * len(UNUSABLE))})",
            UNUSABLE,
        ).fetchone()
    wrong = []
    for name, index, wanted in (
        ("documents", shelf.texts, documents),
        ("windows", shelf.windows, windows),
        ("questions", shelf.questions, questions),
    ):
        if len(index) != wanted:
            wrong.append(f"{len(index)} {name} are indexed, {wanted} are stored")
    return _line("counts", wrong, f"{windows} windows, {questions} questions", REEMBED)


def _sources(shelf: Shelf) -> Checked:
    """Files that are gone or changed since: told, for the stored texts do not need them."""
    with shelf.store.read() as db:
        files = records.files(db)
    there = [f for f in files if Path(f.path).exists()]
    gone = sorted({f.path for f in files} - {f.path for f in there})
    changed = [f.path for f in there if _is_changed(f)]
    parts = [f"{len(files)} files"]
    for what, paths in (("gone", gone), ("changed", changed)):
        if paths:
            parts.append(f"{len(paths)} {what}: {_named(paths)}")
    advice = "Add what has changed again; `anamnesis library remove PATH` takes out what is gone." if parts[1:] else ""
    return Checked(name="files", ok=True, found="; ".join(parts), advice=advice)


def _is_changed(file: records.KnownFile) -> bool:
    path = Path(file.path)
    try:
        status = path.stat()
        if (status.st_size, status.st_mtime_ns) == (file.size, file.modified):
            return False
        return content_of(path).sha256 != file.sha256
    except (OSError, DataError):  # it cannot be read now, so it is not what it was
        return True


def _named(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _line(name: str, wrong: list[str], well: str, advice: str) -> Checked:
    if not wrong:
        return Checked(name=name, ok=True, found=well)
    return Checked(name=name, ok=False, found=_named(wrong), advice=advice)
