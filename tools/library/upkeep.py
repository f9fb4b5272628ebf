"""The upkeep of a shelf: documents removed, all embedded again, and everything checked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.evidence import Frozen, Status, content_key
from tools.files import locked
from tools.library import records
from tools.library.adding import Progress
from tools.library.document import Document
from tools.library.files import absolute, content_of, near
from tools.library.own import embed_each, paragraph_windows
from tools.library.shelf import LOCK_WAIT, REEMBED, Shelf


def remove(shelf: Shelf, names: Sequence[str]) -> list[str]:
    """Remove documents by id, or all that files or folders gave, by path; returns the ids of what is gone.

    Raises:
        InputError: a name is not known; nothing is removed. DataError: another process is adding.
    """
    with locked(shelf.store.file, LOCK_WAIT), shelf.store.write() as db:
        paths, ids = _resolve(shelf, names)
        orphans = list(ids)
        for key in ids:
            db.execute("delete from files where path in (select path from sources where id = ?)", (key,))
            db.execute("delete from sources where id = ?", (key,))
        for path in paths:
            orphans += records.unlink(db, path, records.given_by(db, path))
            db.execute("delete from files where path = ?", (path,))
        gone = list(dict.fromkeys(orphans))
        shelf.drop(gone)
    return sorted(gone)


def rebuild(shelf: Shelf, progress: Progress | None = None) -> int:
    """Cut and embed every stored text again with the shelf's encoder, in one transaction; returns the documents.

    For a shelf opened with ``check_encoder=False``: after a change of encoder.
    """
    with locked(shelf.store.file, LOCK_WAIT), shelf.store.write() as db:
        for index in (shelf.texts, shelf.windows, shelf.questions):
            index.reset(shelf.encoder.name, shelf.encoder.dimension)
        ids = records.document_ids(db)
        again = (_cut_again(shelf, key) for key in ids)
        for done, embedded in enumerate(embed_each(again, shelf.encoder), 1):
            records.put_body(db, embedded.document)
            shelf.index(embedded)
            if progress is not None:
                progress(done, len(ids), done)
    return len(ids)


def _cut_again(shelf: Shelf, id: str) -> Document:
    document = shelf.document(id)
    windows = paragraph_windows(document.title, document.text, document.sections, shelf.encoder)
    return document.model_copy(update={"windows": tuple(windows)})


def _resolve(shelf: Shelf, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names as paths of files and ids of documents; raises InputError for the unknown ones, with the near ones."""
    with shelf.store.read() as db:
        ids = set(records.document_ids(db))
        files = records.paths(db)
    paths: list[str] = []
    chosen: list[str] = []
    unknown: list[str] = []
    for name in names:
        whole = str(absolute(name))
        inside = [path for path in files if path == whole or path.startswith(f"{whole}/")]
        if name.partition("@")[0] in ids:
            chosen.append(name.partition("@")[0])
        elif inside:
            paths += inside
        else:
            unknown.append(name)
    if unknown:
        alike = [a for name in unknown for a in near(name, [*ids, *files])]
        hint = f"Did you mean {', '.join(alike)}?" if alike else "`anamnesis library list` shows ids and files."
        raise InputError(f"Not in your library: {', '.join(unknown)}. Nothing was removed.", hint)
    return list(dict.fromkeys(paths)), list(dict.fromkeys(chosen))


# Checking a shelf: the database, the vectors, the texts, the windows, and the files that the documents came from.

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
