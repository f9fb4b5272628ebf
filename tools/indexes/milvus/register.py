"""What Anamnesis notes in Milvus itself about its collections: manifests, and which parts of a build are done.

A small collection of its own, so that any machine that reaches the Milvus can open a collection or go on with a build.
"""

from __future__ import annotations

from typing import Any

from prompts.errors import DataError
from tools.evidence import Frozen
from tools.indexes.contract import Manifest
from tools.indexes.milvus.connection import Connection, NoCollectionError
from tools.indexes.milvus.filters import literal

NAME = "anamnesis_register"
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
            self._connection.call("upsert", NAME, [row])

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
            self._connection.call("delete", NAME, filter=which)

    def _rows(self, generation: str, more: str) -> list[dict[str, Any]]:
        self._ready()
        which = f"generation == {literal(generation)}{more}"
        return self._connection.rows(NAME, which, ["part", "body"])

    def _ready(self) -> None:
        if self._there:
            return
        try:
            self._connection.call("load_collection", NAME)
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
        self._connection.call("create_collection", NAME, schema=schema, num_shards=1, consistency_level="Strong")
        self._connection.call("create_index", NAME, indexes, sync=False)
        self._connection.call("load_collection", NAME)
