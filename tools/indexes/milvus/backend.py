"""Milvus as the place of collections: built beside the one in use, which an alias then leaves for the new."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from prompts.errors import DataError, InputError
from tools.evidence import Frozen
from tools.files import locked
from tools.indexes.contract import IndexSettings, Manifest, Part, check_made_with
from tools.indexes.milvus.connection import Connection, NoCollectionError
from tools.indexes.milvus.index import FORMAT, MilvusIndex, create, literal, new_manifest

# What Anamnesis notes in Milvus itself about its collections: manifests, and which parts of a build are done.
REGISTER = "anamnesis_register"
MANIFEST = ""  # the part under which a collection's manifest is noted; parts have names
VECTOR = [1.0, 0.0]  # Milvus takes no collection without a vector
FIELDS = {"id": 1024, "generation": 255, "part": 512, "body": 4096}  # bytes; 255 is Milvus's bound on names


class Made(Frozen):
    """How a collection was made: its manifest, and whether its vectors are compared exactly."""

    manifest: Manifest
    exact: bool


class Register:
    """Notes by generation and part. Safe to use from threads.

    Args:
        connection: to the Milvus.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection, self._there = connection, False

    def note_made(self, generation: str, made: Made) -> None:
        """Note how a generation was made; what was noted before is replaced."""
        self._note(generation, MANIFEST, made.model_dump_json())

    def note_part(self, generation: str, part: str, rows: int) -> None:
        """Note a finished part."""
        self._note(generation, part, str(rows))

    def _note(self, generation: str, part: str, body: str) -> None:
        self._ready()
        row = {"id": f"{generation}/{part}", "generation": generation, "part": part, "body": body, "vector": VECTOR}
        with self._connection.writing:
            self._connection.call("upsert", REGISTER, [row])

    def made(self, generation: str) -> Made:
        """How a generation was made; DataError when that is not noted or cannot be read."""
        found = self._rows(generation, f" and part == {literal(MANIFEST)}")
        try:
            return Made.model_validate_json(found[0]["body"] if found else "")
        except ValueError as error:
            raise DataError(f"The manifest of {generation} in Milvus is damaged.", "Build the index again.") from error

    def parts(self, generation: str) -> dict[str, int]:
        """The parts noted as finished, and their rows."""
        return {row["part"]: int(row["body"]) for row in self._rows(generation, f" and part != {literal(MANIFEST)}")}

    def forget_parts(self, generation: str) -> None:
        """Forget which parts are finished."""
        self._delete(f"generation == {literal(generation)} and part != {literal(MANIFEST)}")

    def forget(self, generation: str) -> None:
        """Forget a generation."""
        self._delete(f"generation == {literal(generation)}")

    def _delete(self, which: str) -> None:
        self._ready()
        with self._connection.writing:
            self._connection.call("delete", REGISTER, filter=which)

    def _rows(self, generation: str, more: str) -> list[dict[str, Any]]:
        self._ready()
        which = f"generation == {literal(generation)}{more}"
        return self._connection.rows(REGISTER, which, ["part", "body"])

    def _ready(self) -> None:
        if self._there:
            return
        try:
            self._connection.call("load_collection", REGISTER)
        except NoCollectionError:
            self._create()
        self._there = True

    def _create(self) -> None:
        from pymilvus import DataType, MilvusClient

        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        for field, length in FIELDS.items():
            schema.add_field(field, DataType.VARCHAR, is_primary=field == "id", max_length=length)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=len(VECTOR))
        indexes = MilvusClient.prepare_index_params()
        indexes.add_index("vector", index_type="FLAT", metric_type="IP")
        self._connection.call("create_collection", REGISTER, schema=schema, num_shards=1, consistency_level="Strong")
        self._connection.call("create_index", REGISTER, indexes, sync=False)
        self._connection.call("load_collection", REGISTER)


PREFIX = "anamnesis_"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")  # ours; Milvus's names have at most 255 characters
PATIENCE = 5.0  # ours: seconds to wait for another build of the collection, which takes minutes at least
BUILD = "Build it first: anamnesis index build."
Progress = Callable[[str, int, int], None]


class MilvusBackend:
    """A `tools.indexes.contract.Backend`.

    A collection is an alias of a generation, whose name tells the source that it was built from. The parts that are
    done are noted in Milvus, so that a build goes on after a kill, on any machine. Two machines must not build the
    same collection at once; on one, a lock holds the second back.

    Args:
        settings: where the Milvus is.
        folder: of the embedded engine and of this machine's locks.

    Methods raise InputError for a missing package, ServiceError where the Milvus does not serve.
    """

    def __init__(self, settings: IndexSettings, folder: Path) -> None:
        self._settings, self._folder = settings, folder
        self._exact = settings.vectors == "exact"
        self._opened: tuple[Connection, Register] | None = None
        self._opening = threading.Lock()

    def build(
        self,
        name: str,
        parts: Iterable[Part],
        *,
        encoder: str,
        dimension: int,
        source: str,
        progress: Progress | None = None,
    ) -> MilvusIndex:
        """Build the collection, or go on where a build of the same source was stopped: no part is taken twice.

        Until it is whole, `open` gives the collection as it was before. An unfinished build of another source is kept
        until this one is whole.

        Args:
            source: identity of the whole source; another one is not continued. progress: told of every step.

        Raises:
            InputError: a part that cannot be taken. DataError: this machine builds the collection already.
        """
        alias, say = _alias(name), progress or (lambda *_: None)
        made_from = json.dumps([FORMAT, source, encoder, dimension, self._exact])
        with locked(self._folder / f"{alias}.build", PATIENCE):
            published = self._generation(alias)
            generation = next(g for g in _generations(alias, made_from) if g != published)
            self._fill(generation, parts, encoder, dimension, say)
            self._connection.call("alter_alias" if published else "create_alias", generation, alias)
            self._register.forget_parts(generation)
            self._tidy(alias, keep=generation)
        return self.open(name, encoder=encoder, dimension=dimension)

    def open(self, name: str, *, encoder: str, dimension: int) -> MilvusIndex:
        """Open a collection; DataError where there is none, it is damaged, or was made with another encoder."""
        fitting = partial(self._fitting, name, encoder, dimension)
        generation, made = fitting()
        connection, exact = self._connection, made.exact
        return MilvusIndex(connection, generation, made.manifest, exact=exact, again=lambda: fitting()[0])

    def delete(self, name: str) -> bool:
        """Delete a collection, finished or not; whether there was any."""
        alias = _alias(name)
        with locked(self._folder / f"{alias}.build", PATIENCE):
            if self._generation(alias):
                self._connection.call("drop_alias", alias)
            return self._tidy(alias)

    def close(self) -> None:
        """Close the connection; it is opened again when it is needed."""
        with self._opening:
            if self._opened is not None:
                self._opened[0].close()
                self._opened = None

    def _fitting(self, name: str, encoder: str, dimension: int) -> tuple[str, Made]:
        """The generation that a name stands for, loaded, when it was made with this encoder."""
        generation = self._generation(_alias(name))
        if not generation:
            raise DataError(f"There is no collection {name} in Milvus.", BUILD)
        made = self._register.made(generation)
        check_made_with(made.manifest, name, encoder, dimension, FORMAT)
        self._connection.call("load_collection", generation, long=True)
        return generation, made

    def _fill(self, generation: str, parts: Iterable[Part], encoder: str, dimension: int, say: Progress) -> None:
        there = self._connection.call("has_collection", generation)
        done = self._register.parts(generation) if there else {}
        if not done:  # nothing to go on with; what lies there is half a part, or long replaced
            self._connection.call("drop_collection", generation)
            self._register.forget(generation)
            create(self._connection, generation, dimension, exact=self._exact)
        index = MilvusIndex(self._connection, generation, new_manifest(encoder, dimension), exact=self._exact)
        for part in parts:
            if part.name not in done:
                entries, vectors = part.read()
                index.add(entries, vectors)
                self._register.note_part(generation, part.name, len(entries))
                done[part.name] = len(entries)
            say("store", sum(done.values()), 0)
        say("write", 0, 0)
        index.flush()
        say("load", 0, 0)
        self._connection.call("load_collection", generation, long=True)
        manifest = new_manifest(encoder, dimension).model_copy(update={"count": len(index)})
        self._register.note_made(generation, Made(manifest=manifest, exact=self._exact))

    def _tidy(self, alias: str, keep: str = "") -> bool:
        """Drop the generations of a collection but one; whether there were any."""
        ours = re.compile(re.escape(alias) + "_[0-9a-f]{12}")
        names = [name for name in self._connection.call("list_collections") if ours.fullmatch(name) and name != keep]
        for name in names:
            self._connection.call("drop_collection", name)
            self._register.forget(name)
        return bool(names)

    def _generation(self, alias: str) -> str:
        """What an alias stands for, "" for none."""
        try:
            return str(self._connection.call("describe_alias", alias)["collection_name"])
        except NoCollectionError:
            return ""

    @property
    def _connection(self) -> Connection:
        return self._open_connection()[0]

    @property
    def _register(self) -> Register:
        return self._open_connection()[1]

    def _open_connection(self) -> tuple[Connection, Register]:
        with self._opening:
            if self._opened is None:
                connection = Connection.open(self._settings, self._folder / "lite")
                self._opened = connection, Register(connection)
            return self._opened


def _generations(alias: str, made_from: str) -> list[str]:
    """Two names for what is built from a source, so that one is free while the other is in use."""
    return [f"{alias}_{hashlib.sha256(f'{n}:{made_from}'.encode()).hexdigest()[:12]}" for n in range(2)]


def _alias(name: str) -> str:
    """The alias of a collection: its name in letters that Milvus takes, told apart where that changes it."""
    if not NAME.fullmatch(name):
        raise InputError(f"{name!r} is no name for a collection.", "Use letters, digits, '-', '_' and '.'.")
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return PREFIX + plain + ("" if plain == name else "_" + hashlib.sha256(name.encode()).hexdigest()[:8])
