"""A collection's folder: what is planned, what is finished, and what stands."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.corpus.contract import Counts, Recipe, SourceFile, checked_name, key_of
from tools.evidence import Frozen
from tools.files import write_atomic

FORMAT = 1  # raised with every change of these files
PLAN, STANDING, INDEXES, PARTS, SURVEYS = "plan.json", "collection.json", "indexes", "parts", "surveys"
LOCK_WAIT = 5.0  # ours: seconds; a build takes long, so a second one is told rather than kept waiting
AFRESH = "Build it again with --afresh."


class Plan(Frozen):
    """What a build was begun with: how, and from which files. ``sha256`` of a file that cannot be read is empty."""

    format: int = FORMAT
    recipe: Recipe
    files: tuple[SourceFile, ...]


class Standing(Frozen):
    """A finished collection.

    Attributes:
        identity: sha256 over recipe and parts. parts: the keys of its parts, in order.
        catalogue: name of the file that tells where each document lies. index: the name by which the backend has it.
    """

    format: int = FORMAT
    name: str
    identity: str
    recipe: Recipe
    files: tuple[SourceFile, ...]
    parts: tuple[str, ...]
    counts: Counts
    catalogue: str
    index: str
    built: str


Model = TypeVar("Model", Plan, Standing)


class Folder:
    """The folder of a collection below that of all collections."""

    def __init__(self, corpora: Path, name: str) -> None:
        self.name = checked_name(name)
        self.root = corpora / name
        self.parts, self.surveys = self.root / PARTS, self.root / SURVEYS

    def prepare(self) -> None:
        """Make what is not there; raises DataError when it cannot be."""
        try:
            for folder in (self.root, self.parts, self.surveys):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise DataError(f"The folder {self.root} cannot be used: {error.strerror}.", "Check its rights.") from error

    def plan(self) -> Plan | None:
        """What was begun, None when nothing was."""
        return _read(self.root / PLAN, Plan)

    def put_plan(self, plan: Plan) -> None:
        """Note what is begun."""
        write_atomic(self.root / PLAN, plan.model_dump_json().encode())

    def standing(self) -> Standing | None:
        """The finished collection, None before there is one."""
        return _read(self.root / STANDING, Standing)

    def put_standing(self, standing: Standing) -> None:
        """Let a finished collection stand in the place of the one before."""
        write_atomic(self.root / STANDING, standing.model_dump_json().encode())

    def indexes(self) -> set[str]:
        """Names of all indexes that were begun and not deleted yet, so that none is forgotten by a kill."""
        file = self.root / INDEXES
        return set(file.read_text(encoding="ascii").split()) if file.is_file() else set()

    def put_indexes(self, indexes: Iterable[str]) -> None:
        """Note which indexes there are, or will be."""
        write_atomic(self.root / INDEXES, "\n".join(sorted(indexes)).encode("ascii"))

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """What the system refuses to write or delete here, in words."""
        try:
            yield
        except OSError as error:
            raise DataError(
                f"The folder {self.root} cannot be written: {error.strerror or error}.",
                "Mend that (often there is too little room), and run the same again: it goes on from here.",
            ) from error

    def stamp(self) -> tuple[int, int]:
        """What changes whenever another collection stands here: (0, 0) when none does."""
        try:
            status = (self.root / STANDING).stat()
        except OSError:
            return (0, 0)
        return (status.st_mtime_ns, status.st_ino)

    def survey_of(self, file: SourceFile) -> Path:
        """Where the survey of a file lies; a changed file has another."""
        return self.surveys / f"{key_of(file.path, str(file.size), str(file.modified))[:32]}.npz"

    def forget(self) -> None:
        """Delete plan and surveys, and what cannot be read of a finished collection; one that stands is kept."""
        (self.root / PLAN).unlink(missing_ok=True)
        shutil.rmtree(self.surveys, ignore_errors=True)
        try:
            self.standing()
        except DataError:
            (self.root / STANDING).unlink(missing_ok=True)

    def delete(self) -> bool:
        """Delete everything; whether there was anything. Raises DataError when something cannot be deleted."""
        there = self.root.is_dir()
        with self.writing():
            (self.root / STANDING).unlink(missing_ok=True)
            for path in self.root.iterdir() if there else ():
                if path.is_dir():
                    shutil.rmtree(path)
                elif path.suffix != ".lock":  # held open meanwhile, which keeps it there on some shared storage
                    path.unlink()
        shutil.rmtree(self.root, ignore_errors=True)
        return there


def names(corpora: Path) -> list[str]:
    """Names of all collections, begun ones included."""
    if not corpora.is_dir():
        return []
    return sorted(p.name for p in corpora.iterdir() if (p / PLAN).is_file() or (p / STANDING).is_file())


def check_same(before: Plan, now: Plan, name: str) -> None:
    """Raise InputError unless what is to be built goes on with, or adds to, what was begun or built before."""
    if before.recipe != now.recipe:
        old, new = before.recipe.model_dump(), now.recipe.model_dump()
        changed = "; ".join(
            f"{field} was {old[field]}, is now {new[field]}" for field in old if old[field] != new[field]
        )
        raise InputError(f"{name} was begun otherwise: {changed}.", f"{AFRESH[:-1]}, or give another --name.")
    known = {file.name: file for file in now.files}
    gone = sorted(file.name for file in before.files if file.name not in known)
    if gone:
        raise InputError(
            f"{name} was begun from other files too: {gone[0]} is not given ({len(gone)} in all).",
            "Give all files again, with new ones after them; or build with --afresh or under another --name.",
        )
    changed_files = sorted(f.name for f in before.files if f.sha256 and known[f.name].sha256 not in ("", f.sha256))
    if changed_files:
        raise InputError(
            f"{changed_files[0]} is another file than the one that {name} was begun from.",
            "Fetch the first one again; or build with --afresh, which makes only the parts of changed files anew.",
        )


def _read(path: Path, model: type[Model]) -> Model | None:
    try:
        read = model.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise DataError(f"{path} is damaged or of another version.", AFRESH) from error
    if read.format != FORMAT:
        raise DataError(f"{path} is of format {read.format}, not {FORMAT}.", AFRESH)
    return read
