"""Building a collection: survey the source, make the parts that are missing, index them, let the whole stand.

A finished part is never made again: its key says all that decides what it holds. So a build that was stopped, whose
file was mended, or to which files were added, makes what is missing and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from prompts.errors import DataError
from tools.corpus.contract import (
    Block,
    Counts,
    Done,
    Engine,
    MakeEncoder,
    Progress,
    Recipe,
    SourceFile,
    SurveyTask,
    Task,
    key_of,
)
from tools.corpus.folder import LOCK_WAIT, Folder, Plan, Standing, check_same
from tools.corpus.parts import check_part, has_part, read_manifest, read_rows, remove_part, sweep, write_catalogue
from tools.corpus.reading import Survey, blocks_of, kept_steps, read_survey, source_files
from tools.evidence import Frozen
from tools.files import locked
from tools.indexes.contract import Backend, Part
from tools.mirror.sources import now
from tools.readers.contract import Problem

# Finished parts made a collection: indexed, catalogued, and put in the place of the one before at one instant.
TOLD = 20  # ours: problems of a build that are told in words; all are counted


def stand(
    folder: Folder, recipe: Recipe, keys: Sequence[str], backend: Backend, progress: Progress | None, *, anew: bool
) -> tuple[Counts, list[Problem]]:
    """Index finished parts and let them stand; gives what they hold and their first problems.

    Each content has an index of its own name, so none is changed while it is in use, and one that opens is whole.

    Args:
        anew: make the index even so.
    """
    counts, problems = _counted(folder, keys)
    identity, index = _named(folder, recipe, keys)
    catalogue = f"catalogue-{identity[:16]}.npy"
    before = folder.standing()
    used = {before.index, index} if before is not None else {index}
    _forget(folder, backend, keep=used)  # of another source, and never finished; or left by a kill
    if anew or not is_indexed(folder, recipe, keys, backend):
        backend.build(
            index,
            parts_of(folder, keys),
            encoder=recipe.encoder,
            dimension=recipe.dimension,
            source=identity,
            progress=progress,
        )
    plan = folder.plan()
    standing = Standing(
        name=folder.name,
        identity=identity,
        recipe=recipe,
        files=plan.files if plan is not None else (),
        parts=tuple(keys),
        counts=counts,
        catalogue=catalogue,
        index=index,
        built=now(),
    )
    with folder.writing():
        write_catalogue(folder.root / catalogue, folder.parts, keys)
        folder.put_standing(standing)
    _forget(folder, backend, keep={index})
    for other in folder.root.glob("*catalogue-*.npy"):
        if other.name != catalogue:
            other.unlink(missing_ok=True)
    return counts, problems


def is_indexed(folder: Folder, recipe: Recipe, keys: Sequence[str], backend: Backend) -> bool:
    """Whether the index of these parts is whole. Raises what the backend says when it does not serve."""
    try:
        backend.open(_named(folder, recipe, keys)[1], encoder=recipe.encoder, dimension=recipe.dimension)
    except DataError:  # there is none, or it is damaged
        return False
    return True


def _named(folder: Folder, recipe: Recipe, keys: Sequence[str]) -> tuple[str, str]:
    """The identity of a content, and the name of its index."""
    identity = key_of(recipe.model_dump_json(), *keys)
    return identity, f"{folder.name}-{identity[:12]}"


def _forget(folder: Folder, backend: Backend, keep: set[str]) -> None:
    """Delete the indexes of the collection but some, which are noted before they are made."""
    noted = folder.indexes()
    with folder.writing():
        folder.put_indexes(noted | keep)
    for index in sorted(noted - keep):
        backend.delete(index)
    with folder.writing():
        folder.put_indexes(keep)


def _counted(folder: Folder, keys: Sequence[str]) -> tuple[Counts, list[Problem]]:
    """What the parts hold together, and their first problems."""
    counts = Counts()
    problems: list[Problem] = []
    for key in keys:
        part = read_manifest(folder.parts, key)
        counts += part.counts
        problems += part.problems[: TOLD - len(problems)]
    return counts, problems


def delete(corpora: Path, name: str, backend: Backend) -> bool:
    """Delete a collection, finished or not; whether there was any. Raises DataError while it is built."""
    folder = Folder(corpora, name)
    if not folder.root.is_dir():
        return False
    with locked(folder.root / "build", LOCK_WAIT):
        for index in sorted(folder.indexes()):
            backend.delete(index)
        return folder.delete()


def parts_of(folder: Folder, keys: Sequence[str]) -> Iterator[Part]:
    """Finished parts as an index takes them."""
    return (Part(name=key, read=partial(read_rows, folder.parts, key)) for key in keys)


AGAIN = "Mend what is named and build again: finished parts are kept."


class Report(Frozen):
    """A finished build: parts of the collection, those made by this build, what they hold, the first problems."""

    name: str
    parts: int
    made: int
    counts: Counts
    problems: tuple[Problem, ...] = ()


class Wanted(NamedTuple):
    """What is to be built.

    Attributes:
        name: of the collection. paths: files and folders of the source. recipe: how.
        afresh: take another source or recipe than before; parts that are the same are kept all the same.
        verify: read every byte of finished parts, make damaged ones anew, and the index.
    """

    name: str
    paths: Sequence[Path]
    recipe: Recipe
    afresh: bool = False
    verify: bool = False


def build(
    corpora: Path,
    wanted: Wanted,
    engine: Engine,
    encoder: MakeEncoder,
    backend: Backend,
    progress: Progress | None = None,
) -> Report:
    """Build a collection, or go on where a build was stopped. Until it is whole, the one before stands.

    Args:
        corpora: the folder of all collections.
        progress: called with a step, how much of it is done, and how much there is.

    Raises:
        InputError: it was begun from another source or otherwise. DataError: files or blocks cannot be read (the
            others are finished and kept), or another process builds it.
    """
    folder = Folder(corpora, wanted.name)
    folder.prepare()
    with locked(folder.root / "build", LOCK_WAIT):
        blocks = _planned(folder, wanted, engine, progress)
        keys = [block.key for block in blocks]
        is_indexed(folder, wanted.recipe, keys, backend)  # a backend that does not serve is told before hours of work
        made = _make(folder, wanted, blocks, engine, encoder, progress)
        counts, problems = stand(folder, wanted.recipe, keys, backend, progress, anew=wanted.verify)
    return Report(name=wanted.name, parts=len(blocks), made=made, counts=counts, problems=tuple(problems))


def _planned(folder: Folder, wanted: Wanted, engine: Engine, progress: Progress | None) -> list[Block]:
    """All blocks of the source, once every file is surveyed."""
    files = source_files(wanted.paths)
    if wanted.afresh:
        folder.forget()
        folder.prepare()
    before = folder.plan()
    failed = _survey(folder, files, engine, progress)
    surveys: dict[int, Survey] = {}
    for file in files:
        found = read_survey(folder.survey_of(file))
        if found is not None:
            surveys[file.number] = found
    known = [f.model_copy(update={"sha256": surveys[f.number].sha256}) if f.number in surveys else f for f in files]
    plan = Plan(recipe=wanted.recipe, files=tuple(known))
    if before is not None:
        check_same(before, plan, wanted.name)
    with folder.writing():
        folder.put_plan(plan)
    if failed:
        raise DataError(f"{len(failed)} of {len(files)} files failed: {_first(failed)}", AGAIN)
    kept = kept_steps([surveys[f.number] for f in known])
    return [b for f, bits in zip(known, kept, strict=True) for b in blocks_of(f, bits, wanted.recipe)]


def _survey(folder: Folder, files: Sequence[SourceFile], engine: Engine, progress: Progress | None) -> list[Done]:
    tasks = []
    for file in files:
        target = folder.survey_of(file)
        if not target.is_file():
            tasks.append(SurveyTask(key=target.name, file=file, target=str(target)))
    done = list(_told(engine.survey(tasks), "survey", len(files) - len(tasks), len(files), progress))
    return _failures(done, [t.key for t in tasks])


def _make(
    folder: Folder,
    wanted: Wanted,
    blocks: Sequence[Block],
    engine: Engine,
    encoder: MakeEncoder,
    progress: Progress | None,
) -> int:
    """Make what is missing and say how many parts that was."""
    standing = folder.standing()
    sweep(folder.parts, frozenset(b.key for b in blocks) | frozenset(standing.parts if standing else ()))
    if wanted.verify:
        for block in blocks:
            if has_part(folder.parts, block.key) and not check_part(folder.parts, block.key):
                remove_part(folder.parts, block.key)
    tasks = [
        Task(block=b, parts=str(folder.parts), method=wanted.recipe.method)
        for b in blocks
        if not has_part(folder.parts, b.key)
    ]
    there = len(blocks) - len(tasks)
    done = list(_told(engine.make(tasks, encoder), "parts", there, len(blocks), progress))
    failed = _failures(done, [t.key for t in tasks])
    if failed:
        raise DataError(f"{len(failed)} of {len(blocks)} blocks failed: {_first(failed)}", AGAIN)
    return len(tasks)


def _told(found: Iterator[Done], step: str, there: int, of: int, progress: Progress | None) -> Iterator[Done]:
    """The outcomes as they come, each told."""
    if progress is not None:
        progress(step, there, of)
    for n, done in enumerate(found, there + 1):
        if progress is not None:
            progress(step, n, of)
        yield done


def _failures(done: Sequence[Done], keys: Sequence[str]) -> list[Done]:
    """What failed, and what never came."""
    outcomes = {d.key: d for d in done}
    lost = Done(key="", what="Its process was ended again and again, or failed without a word.", advice="See docs.")
    return [d for d in (outcomes.get(key, lost) for key in keys) if d.what]


def _first(failed: Sequence[Done]) -> str:
    """What went wrong first, and how often the same was said."""
    said = failed[0]
    others = len({d.what for d in failed}) - 1
    return f"{said.what} {said.advice}".strip() + (f" And {others} other faults." if others else "")
