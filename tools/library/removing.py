"""Removing documents from a shelf, and embedding all of them again."""

from __future__ import annotations

from collections.abc import Sequence

from prompts.errors import InputError
from tools.files import locked
from tools.library import records
from tools.library.adding import Progress
from tools.library.document import Document
from tools.library.files import absolute, near
from tools.library.own import embed_each, paragraph_windows
from tools.library.shelf import LOCK_WAIT, Shelf


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
