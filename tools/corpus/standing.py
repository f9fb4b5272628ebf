"""Finished parts made a collection: indexed, catalogued, and put in the place of the one before at one instant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from prompts.errors import DataError
from tools.corpus.catalogue import write_catalogue
from tools.corpus.contract import Counts, Progress, Recipe, key_of
from tools.corpus.folder import LOCK_WAIT, Folder, Standing
from tools.corpus.parts import read_manifest, read_rows
from tools.files import locked
from tools.indexes.contract import Backend, Part
from tools.mirror.sources import now
from tools.readers.contract import Problem

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
