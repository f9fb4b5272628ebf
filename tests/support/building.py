"""Small builds of the collection ``papers``, and what they left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from support.corpus_files import MemoryBackend, open_encoder
from tools.corpus.building import Report, Wanted, build
from tools.corpus.contract import Done, MakeEncoder, Recipe, Task
from tools.corpus.folder import Folder, Standing
from tools.corpus.local_engine import LocalEngine
from tools.corpus.parts import Catalogue

RECIPE = Recipe(encoder="counting", dimension=32, block=10)


class Counting(LocalEngine):
    """The local engine, which notes the parts that it makes and stops after so many."""

    def __init__(self, most: int = 10**6) -> None:
        super().__init__()
        self.made: list[str] = []
        self._most = most

    def make(self, tasks: Sequence[Task], encoder: MakeEncoder) -> Iterator[Done]:
        for done in super().make(tasks, encoder):
            if len(self.made) == self._most:
                raise KeyboardInterrupt
            self.made.append(done.key)
            yield done


def made(home: Path, *paths: Path, backend: MemoryBackend | None = None, engine: LocalEngine | None = None,
         **other: object) -> Report:  # fmt: skip
    wanted = Wanted("papers", paths, **{"recipe": RECIPE, **other})  # type: ignore[arg-type]
    return build(home, wanted, engine or LocalEngine(), open_encoder, backend or MemoryBackend())


def standing(home: Path) -> tuple[Standing, Catalogue]:
    folder = Folder(home, "papers")
    found = folder.standing()
    assert found is not None
    return found, Catalogue(folder.root / found.catalogue, folder.parts, found.parts)
