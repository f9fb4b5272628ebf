"""Collections that were built at scale: where they lie, how they are built, and those that the agent searches."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from agent.models import encoder_is_bf16
from agent.sessions import Home
from agent.settings import Settings
from prompts.errors import DataError, InputError
from tools.corpus.collection import Corpus
from tools.corpus.contract import BLOCK, Engine, MakeEncoder, Method, Progress, Recipe, checked_name
from tools.corpus.folder import STANDING, Folder
from tools.embedding_cache import CachedEncoder
from tools.encoders import Encoder, load_encoder
from tools.indexes.backends import backend_for
from tools.indexes.contract import Backend, IndexSettings

if TYPE_CHECKING:
    from tools.corpus.building import Report

EngineName = Literal["local", "ray"]
SOURCES = "knowledge-"  # the names of collections of imported sources begin with this
INDEXES = ".indexes"  # below the folder of the collections; no collection has such a name
PLACES = 4  # ours: backends that a process keeps, each with its one connection; it rarely has more than one


def corpora_folder(settings: Settings) -> Path:
    """The folder of all collections."""
    return settings.corpora or Home(settings.home).corpora


def backend(settings: Settings) -> Backend:
    """Where their indexes lie: one backend, and so one connection, for the same settings."""
    return _backend(settings.index, corpora_folder(settings).absolute() / INDEXES)


@lru_cache(PLACES)
def _backend(settings: IndexSettings, folder: Path) -> Backend:
    return backend_for(settings, folder)


def chosen(settings: Settings) -> list[str]:
    """The collections that the settings name, each once; raises InputError for one that cannot be."""
    return [checked_name(name) for name in dict.fromkeys(filter(None, map(str.strip, settings.corpus.split(","))))]


def imported(settings: Settings) -> list[str]:
    """The sources of `anamnesis knowledge` that were imported, by name, whether they are searched or not."""
    found = corpora_folder(settings).glob(f"{SOURCES}*/{STANDING}")
    return sorted(path.parent.name.removeprefix(SOURCES) for path in found)


def folder_of(settings: Settings, source: str) -> Folder:
    """The folder of an imported source's collection."""
    return Folder(corpora_folder(settings), SOURCES + source)


def opened(settings: Settings, encoder: Encoder) -> Opened:
    """The collections that the settings name, and the imported sources that they search.

    Raises DataError or InputError for one that cannot be searched.
    """
    return Opened(settings, encoder)


class Opened(Sequence[Corpus]):
    """Collections as they are searched: a source that another process imports or removes is seen by the next look."""

    def __init__(self, settings: Settings, encoder: Encoder) -> None:
        self._settings, self._encoder = settings, encoder
        self._lock = threading.Lock()
        self._known: dict[str, Corpus] = {}
        self._now()

    def __len__(self) -> int:
        """Number of collections."""
        return len(self._now())

    def __iter__(self) -> Iterator[Corpus]:
        """Those of one look."""
        return iter(self._now())

    @overload
    def __getitem__(self, place: int) -> Corpus: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Corpus]: ...

    def __getitem__(self, place: int | slice) -> Corpus | Sequence[Corpus]:
        """By place, the settings' own first."""
        return self._now()[place]

    def _now(self) -> list[Corpus]:
        sources = [SOURCES + name for name in imported(self._settings) if self._settings.knowledge.searches(name)]
        names = dict.fromkeys([*chosen(self._settings), *sources])
        with self._lock:
            self._known = {name: self._known.get(name) or self._open(name) for name in names}
            return list(self._known.values())

    def _open(self, name: str) -> Corpus:
        try:
            return Corpus(corpora_folder(self._settings), name, self._encoder, backend(self._settings))
        except (DataError, InputError) as error:
            if name.startswith(SOURCES):
                advice = f"Run `anamnesis knowledge update {name.removeprefix(SOURCES)}`."
                raise type(error)(error.what, advice) from error
            raise


def build_collection(
    settings: Settings,
    name: str,
    paths: Sequence[Path],
    *,
    engine: EngineName,
    workers: int | None,
    method: Method,
    afresh: bool,
    verify: bool,
    progress: Progress | None = None,
    block: int = BLOCK,
    cached: bool = False,
) -> Report:
    """Build a collection with the encoder of the settings; raises as `tools.corpus.building.build` does.

    Args:
        block: steps of a file a part, which is what a kill costs.
        cached: keep the vectors of texts by content too, so that a text that comes again is not embedded again.
    """
    from tools.corpus.building import Wanted, build

    alone = engine == "local" and (workers or 1) == 1
    make = encoder_maker(settings, threads=None if alone else 1)
    own = make()
    if cached:
        own = CachedEncoder(own, Home(settings.home).cache / "embeddings", public=True)
    recipe = Recipe(encoder=own.name, dimension=own.dimension, method=method, block=block)
    wanted = Wanted(name, paths, recipe, afresh, verify)
    with _engine(settings, engine, workers) as running:
        opener = (lambda: own) if alone else make  # in this process no second one is needed
        return build(corpora_folder(settings), wanted, running, opener, backend(settings), progress)


def delete_collection(settings: Settings, name: str) -> bool:
    """Delete a collection with its index; whether there was any."""
    from tools.corpus.building import delete

    return delete(corpora_folder(settings), name, backend(settings))


def encoder_maker(settings: Settings, threads: int | None) -> MakeEncoder:
    """What opens the encoder of the settings in any process, for so many threads; None for one a processor."""
    bf16 = encoder_is_bf16(settings, Home(settings.home))
    return partial(load_encoder, settings.encoder, bf16=bf16, threads=threads)


def described(settings: Settings, encoder: Encoder) -> str:
    """What the collections of the settings hold, in a line; raises as `opened` does."""
    found = [one for one in opened(settings, encoder) if not one.name.startswith(SOURCES)]
    return "; ".join(f"{one.name}: {len(one):,} publications" for one in found)


@contextmanager
def _engine(settings: Settings, name: EngineName, workers: int | None) -> Iterator[Engine]:
    if name == "local":
        from tools.corpus.local_engine import LocalEngine

        yield LocalEngine(workers or 1)
        return
    from tools.corpus.ray_engine import RayEngine

    with RayEngine(settings.ray, workers or os.cpu_count() or 1) as engine:
        yield engine
