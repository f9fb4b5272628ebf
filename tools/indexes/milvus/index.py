"""An index in a collection of Milvus: the engine searches, filters and fuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from prompts.errors import InputError
from tools.encoders import Vectors
from tools.indexes.contract import SIMILARITY, Entry, Filter, Hit, Manifest
from tools.indexes.lexical import K1, B
from tools.indexes.milvus.connection import Connection, NoCollectionError
from tools.indexes.vectors import DECIMALS, checked
from tools.text.tokens import tokens

# Filters as Milvus's expressions. Every value is written as a literal that can only be data.
ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def expression(where: Filter | None) -> str:
    """The rows that a filter admits; "" for all."""
    if where is None:
        return ""
    named = (("collection", where.collections), ("kind", where.kinds), ("language", where.languages), ("id", where.ids))
    conditions = [one_of(field, values) for field, values in named if values]
    if where.since:
        conditions.append(f"date >= {literal(where.since)}")
    if where.until:
        conditions.append(f'date != "" and date <= {literal(where.until)}')
    return " and ".join(conditions)


def one_of(field: str, values: Iterable[str]) -> str:
    """The rows whose field is one of these."""
    return f"{field} in [{', '.join(literal(value) for value in values)}]"


def literal(value: str) -> str:
    """A text in double quotes."""
    return f'"{value.translate(ESCAPES)}"'


# What a collection looks like in Milvus: its fields and indexes, and rows to entries and back.
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


FORMAT = 1  # raised with every change of what is kept there
MOST = 16_384  # code: rows that a search of Milvus returns at most
BATCH = 500  # ours: rows a request; some 3 MB with abstracts, far below a server's bound on messages
QUERIES = 64  # ours: vectors a request
Scored = tuple[float, str]


class MilvusIndex:
    """A `tools.indexes.contract.CollectionIndex` whose rows lie in Milvus. Safe to use from threads.

    Args:
        connection: to the Milvus.
        name: of the collection there.
        manifest: encoder, dimension and date; the count is asked for.
        exact: whether the collection was made for exact comparison of vectors.
        again: what the collection is called now, when it was replaced meanwhile; raises where it fits no longer.
    """

    def __init__(
        self,
        connection: Connection,
        name: str,
        manifest: Manifest,
        *,
        exact: bool = True,
        again: Callable[[], str] | None = None,
    ) -> None:
        self._connection, self._name, self._manifest = connection, name, manifest
        self._options, self._again = search_options(exact=exact), again

    @classmethod
    def create(
        cls, connection: Connection, name: str, encoder: str, dimension: int, *, exact: bool = True
    ) -> MilvusIndex:
        """Make an empty collection."""
        create(connection, name, dimension, exact=exact)
        connection.call("load_collection", name)
        return cls(connection, name, new_manifest(encoder, dimension), exact=exact)

    @property
    def manifest(self) -> Manifest:
        """What the index says about itself."""
        return self._manifest.model_copy(update={"count": len(self)})

    def __len__(self) -> int:
        """Number of rows."""
        return int(self._call("query", filter="", output_fields=["count(*)"])[0]["count(*)"])

    def get(self, id: str) -> Entry | None:
        """The row with this id."""
        rows = self._call("query", filter=one_of("id", [id]), output_fields=FIELDS)
        return entry_of(rows[0]) if rows else None

    def add(self, entries: Sequence[Entry], vectors: Vectors) -> None:
        """Add rows; an id already there is replaced, and of an id given twice the last one stays.

        Args:
            vectors: (len(entries), dimension), L2-normalised; anything else raises InputError and changes nothing.
        """
        matrix = checked(vectors, self._manifest.dimension)
        if len(matrix) != len(entries):
            raise InputError(f"{len(entries)} entries came with {len(matrix)} vectors.", "Give one vector an entry.")
        last = sorted({entry.id: at for at, entry in enumerate(entries)}.values())
        rows = rows_of([entries[at] for at in last], matrix[last])
        with self._connection.writing:
            for at in range(0, len(rows), BATCH):
                self._call("upsert", rows[at : at + BATCH])

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows by id and say how many there were."""
        unique, count = list(dict.fromkeys(ids)), 0
        with self._connection.writing:
            for at in range(0, len(unique), BATCH):
                there = one_of("id", unique[at : at + BATCH])
                found = len(self._call("query", filter=there, output_fields=["id"]))
                if found:
                    self._call("delete", filter=there)
                count += found
        return count

    def search_text(self, query: str, k: int, where: Filter | None = None) -> list[Hit]:
        """The k best rows by words; rows that share no word with the query are not returned."""
        words = words_of(query)
        if not words or k < 1:
            return []
        return self._best("sparse", [words], k, where)[0]

    def search_vectors(self, vectors: Vectors, k: int, where: Filter | None = None) -> list[list[Hit]]:
        """For each row of ``vectors`` (n, dimension), the k nearest rows by cosine."""
        matrix = checked(vectors, self._manifest.dimension)
        if k < 1:
            return [[] for _ in matrix]
        found = []
        for at in range(0, len(matrix), QUERIES):
            found += self._best("dense", list(matrix[at : at + QUERIES]), k, where)
        return found

    def search_hybrid(
        self, query: str, vector: Vectors, k: int, where: Filter | None = None, *, pool: int, rrf_k: int
    ) -> list[Hit]:
        """The k best by reciprocal rank fusion of the ``pool`` best by words and by vector; equal scores by id."""
        from pymilvus import AnnSearchRequest, RRFRanker

        query_vector = checked(vector[None], self._manifest.dimension)[0]
        if k < 1 or pool < 1:
            return []
        _within(pool)
        words, admitted = words_of(query), expression(where)
        requests = [AnnSearchRequest([query_vector], "dense", self._options["dense"], pool, expr=admitted)]
        if words:
            requests.append(AnnSearchRequest([words], "sparse", self._options["sparse"], pool, expr=admitted))
        most = min(pool * len(requests), MOST)  # all that both streams gave, so that ids decide at the cut
        found = self._call("hybrid_search", requests, RRFRanker(rrf_k), limit=most, output_fields=["id"])
        return _ranked([(hit["distance"], str(hit["id"])) for hit in found[0]], k)

    def flush(self) -> None:
        """Have the engine write what it holds to its disk and index it."""
        with self._connection.writing:
            self._call("flush", long=True)

    def _best(self, field: str, queries: list[Any], k: int, where: Filter | None) -> list[list[Hit]]:
        """For each query its k best; further rows are fetched while they tie with the k-th, so that ids decide."""
        _within(k)
        asked = {"filter": expression(where), "output_fields": ["id"], "search_params": self._options[field]}
        score, fetched = SCORES[field], min(k + 1, MOST)
        while True:
            answer = self._call("search", data=queries, anns_field=field, limit=fetched, **asked)
            found = [[(score(hit["distance"]), str(hit["id"])) for hit in hits] for hits in answer]
            if fetched == MOST or all(_settled(pairs, k, fetched) for pairs in found):
                return [_ranked(pairs, k) for pairs in found]
            fetched = min(2 * fetched, MOST)

    def _call(self, method: str, *arguments: Any, **named: Any) -> Any:
        try:
            return self._connection.call(method, self._name, *arguments, **named)
        except NoCollectionError:
            if self._again is None:
                raise
            self._name = self._again()
            return self._connection.call(method, self._name, *arguments, **named)


def new_manifest(encoder: str, dimension: int) -> Manifest:
    """The manifest of an index that begins now."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    return Manifest(
        format=FORMAT, encoder=encoder, dimension=dimension, similarity=SIMILARITY, count=0, checksum="", built=now
    )


def _within(k: int) -> None:
    if k > MOST:
        raise InputError(f"{k} results were asked for.", f"A search of Milvus gives at most {MOST}.")


def _words_score(distance: float) -> float:
    # BM25 is never negative, but Milvus Lite gives it with a minus; Milvus multiplies it by k1 + 1, Lucene does not.
    return abs(distance) / (K1 + 1)


def _cosine(distance: float) -> float:
    return round(distance, DECIMALS)  # so that equal vectors tie


SCORES = {"sparse": _words_score, "dense": _cosine}


def _settled(pairs: list[Scored], k: int, fetched: int) -> bool:
    """Whether no row that was not fetched can tie with the k-th."""
    return len(pairs) < fetched or pairs[-1][0] < pairs[k - 1][0]


def _ranked(pairs: list[Scored], k: int) -> list[Hit]:
    best = sorted((-score, key) for score, key in pairs)[:k]
    return [Hit(id=key, rank=n, score=-score) for n, (score, key) in enumerate(best, 1)]
