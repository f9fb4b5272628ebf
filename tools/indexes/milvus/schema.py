"""What a collection looks like in Milvus: its fields and indexes, and rows to entries and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prompts.errors import InputError
from tools.encoders import Vectors
from tools.indexes.contract import Entry
from tools.indexes.lexical import K1, B
from tools.indexes.milvus.connection import Connection
from tools.text.tokens import tokens

FIELDS = list(Entry.model_fields)
LONGEST = {"id": 1024, "text": 65_535, "words": 65_535}  # bytes; code: 65,535 is Milvus's own bound
LONGEST_FIELD = 512  # ours: bytes of collection, kind, date and language
FILTERED = ("collection", "kind", "date", "language")
LINKS, REACH, LOOK = 16, 200, 128  # ours: M, efConstruction and ef of HNSW, the usual middle of recall and time


def create(connection: Connection, name: str, dimension: int, *, exact: bool) -> None:
    """Make an empty collection with its indexes, not yet loaded for search.

    Words are weighed by the engine's BM25 over the field ``words``, which holds our tokens: the same words as in the
    local index. One shard, because Milvus counts a word's documents by shard.
    """
    from pymilvus import DataType, Function, FunctionType, MilvusClient

    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=LONGEST["id"])
    schema.add_field("text", DataType.VARCHAR, max_length=LONGEST["text"])
    for field in FILTERED:
        schema.add_field(field, DataType.VARCHAR, max_length=LONGEST_FIELD)
    analysed = {"enable_analyzer": True, "analyzer_params": {"tokenizer": "standard"}}
    schema.add_field("words", DataType.VARCHAR, max_length=LONGEST["words"], **analysed)
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_field("dense", DataType.FLOAT_VECTOR, dim=dimension)
    schema.add_function(Function("bm25", FunctionType.BM25, ["words"], ["sparse"]))
    connection.call("create_collection", name, schema=schema, num_shards=1, consistency_level="Session")
    connection.call("create_index", name, _indexes(exact=exact), sync=False)


def search_options(*, exact: bool) -> dict[str, dict[str, Any]]:
    """How each field is searched."""
    look = {} if exact else {"ef": LOOK}
    return {"dense": {"metric_type": "IP", "params": look}, "sparse": {"metric_type": "BM25"}}


def words_of(text: str) -> str:
    """The tokens of a text as words that every analyser leaves whole: Chinese ones as hexadecimal."""
    return " ".join(t if t.isascii() else "z" + "".join(f"{ord(c):x}" for c in t) for t in tokens(text))


def rows_of(entries: Sequence[Entry], vectors: Vectors) -> list[dict[str, Any]]:
    """Rows of Milvus; InputError for an entry with more text than a field takes."""
    rows = []
    for entry, vector in zip(entries, vectors, strict=True):
        row = entry.model_dump() | {"words": words_of(entry.text)}
        for field, value in row.items():
            bound = LONGEST.get(field, LONGEST_FIELD)
            if len(value.encode()) > bound:
                raise InputError(
                    f"The {field} of {entry.id[:80]} has more than {bound} bytes.", "Cut the text into passages."
                )
        rows.append(row | {"dense": vector})
    return rows


def entry_of(row: dict[str, Any]) -> Entry:
    """The entry of a row of Milvus."""
    return Entry(**{field: row[field] for field in FIELDS})


def _indexes(*, exact: bool) -> Any:
    from pymilvus import MilvusClient

    indexes = MilvusClient.prepare_index_params()
    weights = {"bm25_k1": K1, "bm25_b": B}
    indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=weights)
    if exact:
        indexes.add_index("dense", index_type="FLAT", metric_type="IP")
    else:
        graph = {"M": LINKS, "efConstruction": REACH}
        indexes.add_index("dense", index_type="HNSW", metric_type="IP", params=graph)
    for field in FILTERED:
        indexes.add_index(field, index_type="INVERTED")
    return indexes
