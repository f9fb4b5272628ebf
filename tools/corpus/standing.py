"""Finished parts made a collection: indexed, catalogued, and put in the place of the one before at one instant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tools.corpus.catalogue import write_catalogue
from tools.corpus.contract import Counts, Progress, Recipe, key_of
from tools.corpus.folder import LOCK_WAIT, Folder, Standing
from tools.corpus.parts import read_manifest, read_rows
from tools.files import locked
from tools.indexes.contract import Backend, Part
from tools.mirror.writer import now
from tools.readers.contract import Problem

TOLD = 20  # ours: problems of a build that are told in words; all are counted


def stand(
    folder: Folder, recipe: Recipe, keys: Sequence[str], backend: Backend, progress: Progress | None
) -> tuple[Counts, list[Problem]]:
    """Index finished parts and let them stand; gives what they hold and their first problems.

    Each content has an index of its own name, so none is changed while it is in use.
    """
    counts, problems = _counted(folder, keys)
    identity = key_of(recipe.model_dump_json(), *keys)
    before, index = folder.standing(), f"{folder.name}-{identity[:12]}"
    if folder.indexing() not in ("", index, before.index if before else ""):
        backend.delete(folder.indexing())  # of another source, and never finished
    folder.put_indexing(index)
    backend.build(
        index,
        parts_of(folder, keys),
        encoder=recipe.encoder,
        dimension=recipe.dimension,
        source=identity,
        progress=progress,
    )
    catalogue = f"catalogue-{identity[:16]}.npy"
    write_catalogue(folder.root / catalogue, folder.parts, keys)
    plan = folder.plan()
    files = plan.files if plan is not None else ()
    folder.put_standing(
        Standing(
            name=folder.name,
            identity=identity,
            recipe=recipe,
            files=files,
            parts=tuple(keys),
            counts=counts,
            catalogue=catalogue,
            index=index,
            built=now(),
        )
    )
    folder.put_indexing("")
    if before is not None and before.index != index:
        backend.delete(before.index)
        (folder.root / before.catalogue).unlink(missing_ok=True)
    return counts, problems


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
        standing = folder.standing()
        for index in filter(None, {standing.index if standing else "", folder.indexing()}):
            backend.delete(index)
        return folder.delete()


def parts_of(folder: Folder, keys: Sequence[str]) -> Iterator[Part]:
    """Finished parts as an index takes them."""
    return (Part(name=key, read=partial(read_rows, folder.parts, key)) for key in keys)
