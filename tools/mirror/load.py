"""Loading records into a mirror, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from tools.evidence import Frozen
from tools.mirror.records import MirrorRecord
from tools.mirror.writer import writing

BATCH = 20_000  # ours: records a transaction, about 300 MB of memory; a file of PubMed's baseline holds 30,000


class Loaded(Frozen):
    """How many records were read, and how many of them replaced an older one."""

    records: int
    replaced: int


def load_records(
    folder: Path,
    records: Iterable[MirrorRecord],
    *,
    source: str,
    batch: int = BATCH,
    progress: Callable[[int], None] | None = None,
) -> Loaded:
    """Add records to the mirror in ``folder``; each batch is kept as soon as it is written.

    Args:
        source: the name under which the manifest counts them.
        progress: called after each batch with the number of records so far.

    Raises:
        InputError: a record without a PMID; the batches before it are kept.
        DataError: the mirror is damaged, of another format or held by another writer.
    """
    done = replaced = 0
    with writing(folder) as writer:
        for part in _batches(records, batch):
            replaced += writer.add(part, source)
            done += len(part)
            if progress is not None:
                progress(done)
    return Loaded(records=done, replaced=replaced)


def _batches(records: Iterable[MirrorRecord], size: int) -> Iterator[list[MirrorRecord]]:
    source = iter(records)
    while part := list(islice(source, size)):
        yield part
