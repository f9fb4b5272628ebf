"""`kg build`: from records to a checked graph in a folder, with progress, resumable, and with a report of merges."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import BaseModel, TypeAdapter

from prompts.errors import DataError
from tools.encoders import Encoder
from tools.files import locked, private_file, told_when_full
from tools.knowledge_graph.building.assembling import Judged, assemble_graph, findings_of
from tools.knowledge_graph.building.contract import (
    Distinction,
    Judges,
    Merge,
    Named,
    Record,
    Told,
    Topic,
)
from tools.knowledge_graph.building.files import read_merges, write_merges
from tools.knowledge_graph.formats import write_folder
from tools.knowledge_graph.schema import About, Graph, problems_of, slug


# What a build has done so far: one JSON line a judgement, so that a killed build goes on where it was.
class Journal:
    """A file of (key, value) lines. A torn last line, of a kill, is dropped and its work done again.

    Args:
        path: the file; made when missing, mode 0600, because values quote records.
    """

    def __init__(self, path: Path) -> None:
        self._known: dict[str, Any] = {}
        self._name = path.name
        whole = self._read(path) if path.exists() else 0
        handle = os.open(private_file(path), os.O_RDWR)
        os.ftruncate(handle, whole)
        os.lseek(handle, 0, os.SEEK_END)
        self._file = os.fdopen(handle, "wb")

    def __len__(self) -> int:
        """Number of judgements kept."""
        return len(self._known)

    def get(self, what: str, of: Any) -> Any | None:
        """What was judged of this before; None when it was not."""
        return self._known.get(_key(what, of))

    def put(self, what: str, of: Any, value: Any) -> None:
        """Keep a judgement; it is on disk when this returns."""
        key = _key(what, of)
        self._known[key] = value
        with told_when_full(self._name):
            self._file.write(json.dumps([key, value], ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        """The journal itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self._file.close()

    def _read(self, path: Path) -> int:
        """Take the lines in; returns how many bytes are whole."""
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                key, value = json.loads(line)
            except ValueError as error:
                raise DataError(
                    f"{path.name}, line {number} is damaged.", f"Delete {path.name}; the build then begins again."
                ) from error
            self._known[key] = value
        return whole


def _key(what: str, of: Any) -> str:
    text = json.dumps([what, of], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


MERGES, JOURNAL = "merges.yaml", "build.jsonl"
NAMED = 10  # ours: diagnoses left out that the note names
FORMAT = 1  # of the journal: raised when a judgement's meaning changes
Progress = Callable[[str, int, int], None]  # (step, done, of how many)
Value = TypeVar("Value", bound=BaseModel)


async def build_graph(
    records: Sequence[Record],
    folder: Path,
    judges: Judges,
    encoder: Encoder,
    *,
    known: Graph | None = None,
    confirmed: Path | None = None,
    source: str = "records",
    progress: Progress = lambda *_: None,
) -> Graph:
    """Build a graph and write it to a folder, with ``merges.yaml`` beside it.

    Every judgement is kept in ``build.jsonl`` as soon as it is made: a build that was stopped goes on there, and a
    second build of the same records judges nothing again.

    Args:
        known: the starter graph, whose names, severities and distinctions are taken for the diseases that it knows.
        confirmed: a ``merges.yaml`` that a person has gone through; it replaces the clustering.
        source: what the records are, for ``about.source``.

    Raises:
        DataError: the folder's journal is damaged, or the records give no sound graph.
        ServiceError: a model's judgement failed; run the build again to go on.
    """
    with locked(folder / "build"), Journal(folder / JOURNAL) as journal:
        step = _Steps(journal, f"{judges.name}/{FORMAT}", progress)
        judged = await _judge(records, judges, encoder, step, confirmed, folder)
        about = About(
            name=slug(folder.name) or "records",
            origin="built",
            source=source,
            note=f"{len(records)} records, sha256 {_digest(records)}; judgements: {judges.name}.",
        )
        graph = assemble_graph(about, records, judged, known)
        graph = graph.model_copy(update={"about": _told_of(graph, judged)})
        problems = problems_of(graph, folder.name)
        if problems or not graph.diseases:
            said = "\n".join(problems) or "no diagnosis has a manifestation"
            raise DataError(f"The records give no sound graph:\n{said}", "Look at their texts.")
        write_folder(graph, folder)
    progress("graph", 1, 1)
    return graph


async def _judge(
    records: Sequence[Record],
    judges: Judges,
    encoder: Encoder,
    step: _Steps,
    confirmed: Path | None,
    folder: Path,
) -> Judged:
    names = [r.diagnosis for r in records]
    if confirmed is None:
        proposed = await step.many("diseases", names, Merge, lambda: judges.clustering.cluster(names))
        write_merges(proposed, folder / MERGES)
        merges = [m for m in proposed if m.merge]
    else:
        merges = read_merges(confirmed, names)
    leaves = [Named(name=m.into, code=m.code) for m in merges]
    l2 = await step.many("groups", [n.model_dump() for n in leaves], Topic, lambda: judges.topics.group(leaves, "l2"))
    above = [Named(name=t.name, code=t.code) for t in l2]
    l1 = await step.many("chapters", [n.model_dump() for n in above], Topic, lambda: judges.topics.group(above, "l1"))
    told: dict[str, list[Told]] = {}
    for done, record in enumerate(records, start=1):
        of = [record.text, record.age]
        told[record.id] = await step.many("told", of, Told, lambda r=record: judges.decomposition.decompose(r))  # type: ignore[misc]
        step.progress("records", done, len(records))
    step.progress("findings", 0, 1)
    findings = findings_of([t for items in told.values() for t in items], encoder)
    step.progress("findings", 1, 1)
    distinctions = await _distinctions(merges, l2, judges, step)
    return Judged(merges, l2, l1, told, findings, distinctions)


async def _distinctions(
    merges: Sequence[Merge], l2: Sequence[Topic], judges: Judges, step: _Steps
) -> list[list[Distinction]]:
    augmentation = judges.augmentation
    if augmentation is None:
        return [[] for _ in merges]
    group = {at: topic.members for topic in l2 for at in topic.members}
    out = []
    for at, merge in enumerate(merges):
        beside = [merges[i].into for i in group[at] if i != at]
        of = [merge.into, merge.known, beside]
        out.append(
            await step.many("apart", of, Distinction, lambda m=merge, b=beside: augmentation.augment(m, b))  # type: ignore[misc]
        )
        step.progress("distinctions", at + 1, len(merges))
    return out


class _Steps:
    """Judgements through the journal."""

    def __init__(self, journal: Journal, judges: str, progress: Progress) -> None:
        self._journal, self._judges, self.progress = journal, judges, progress

    async def many(self, what: str, of: Any, model: type[Value], judge: Callable[[], Any]) -> list[Value]:
        """What was judged before, or is judged now and kept."""
        key = f"{self._judges}/{what}"
        kept = self._journal.get(key, of)
        if kept is not None:
            return TypeAdapter(list[model]).validate_python(kept)  # type: ignore[valid-type]
        made: list[Value] = await judge()
        self._journal.put(key, of, [m.model_dump(mode="json") for m in made])
        return made


def _told_of(graph: Graph, judged: Judged) -> About:
    """What the graph is, with the diagnoses that are not in it because nothing is told of them but denials."""
    held = {d.name for d in graph.diseases}
    lost = [m.into for m in judged.merges if m.into not in held]
    if not lost:
        return graph.about
    named = ", ".join(lost[:NAMED]) + (f" and {len(lost) - NAMED} more" if len(lost) > NAMED else "")
    note = f"{graph.about.note} Left out, because their records state no finding: {named}."
    return graph.about.model_copy(update={"note": note})


def _digest(records: Sequence[Record]) -> str:
    digest = hashlib.sha256()
    for r in records:
        digest.update(r.model_dump_json().encode() + b"\n")
    return digest.hexdigest()[:16]
