"""`understanding`, findings: what the graph reads in single wordings and in whole texts by writers who saw no matcher.

``findings.wordings_KIND.first``: of single wordings of a finding, those whose first match it is. ``findings.STYLE.*``:
findings shown of a text against the gold ones, as pairs of finding and assertion (present, absent, past, possible,
somebody else's); ``ids`` leaves the assertion out. ``unlisted`` are findings of the texts that the graph lacks.
``findings.values.*``: of measured values in notes, ``told``: abnormal ones told so; ``wrong``: others told as abnormal.
``findings.ddxplus_WORDING.first``: patients whose disease is ranked first among DDXPlus's conditions, told in the
release's plain statements and in a third wording by a writer who saw only the evidences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from evals.contract import Figure, TaskContext
from evals.datasets.ddxplus import STATEMENTS, Codebook, Wording, read_codes, read_conditions, validate_texts
from evals.datasets.rows import SHIPPED, read_jsonl, read_object
from evals.statistics import paired_difference, paired_ratio, share
from tools.contract import Finding
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.text.clauses import clauses
from tools.text.demographics import read_person
from tools.text.measures import measures

UNSEEN = SHIPPED / "unseen"
WORDINGS, NOTES, VALUES = UNSEEN / "wordings.jsonl", UNSEEN / "notes.jsonl", UNSEEN / "values.jsonl"
THIRD = UNSEEN / "ddxplus_statements.json"
READ_AS = ("lay", "clinical", "zh")


class Wordings(BaseModel):
    """How people say one finding."""

    model_config = ConfigDict(frozen=True)

    id: str = Field(min_length=1)
    lay: tuple[str, ...]
    clinical: tuple[str, ...]
    zh: tuple[str, ...]


class Note(BaseModel):
    """A text with every finding of the starter graph that it states, and what else it states."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(min_length=1)
    language: Literal["en", "zh"]
    style: Literal["clinical", "lay"]
    findings: tuple[tuple[str, str], ...]
    unlisted: tuple[str, ...] = ()


class Valued(BaseModel):
    """A text with measured values: the words of each, its measure, and what a doctor reads it as."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(min_length=1)
    values: tuple[tuple[str, str, Literal["high", "low", "normal", "grey", "not"]], ...]


Read = tuple[Note, set[tuple[str, str]]]  # a text, and the findings shown of it with their assertions


class Counts(NamedTuple):
    """Of one text: findings shown rightly, shown, and gold."""

    right: int
    shown: int
    gold: int


def figures(context: TaskContext, graph: KnowledgeGraph) -> list[Figure]:
    """Every figure, of the files that are shipped."""
    out: list[Figure] = []
    rows = [row for row in context.sample(read_jsonl(WORDINGS, Wordings)) if row.id in graph.graph.finding]
    for kind in READ_AS:
        told = [(row.id, text) for row in rows for text in getattr(row, kind)]
        first = [_first(graph, text) == name for name, text in context.tick(told, kind, len(told))]
        out += share(f"findings.wordings_{kind}.first", first)
    out += value_figures(context.sample(read_jsonl(VALUES, Valued)))
    notes = context.sample(read_jsonl(NOTES, Note))
    return out + note_figures([(n, stated(graph, n)) for n in context.tick(notes, "notes", len(notes))], context.seed)


def note_figures(read: Sequence[Read], seed: int) -> list[Figure]:
    """What is shown of texts against their gold, by style."""
    out: list[Figure] = []
    for name, some in _styles(read):
        pairs = [Counts(len(set(n.findings) & said), len(said), len(n.findings)) for n, said in some]
        alone = [
            Counts(len(dict(n.findings).keys() & dict(said).keys()), len(said), len(n.findings)) for n, said in some
        ]
        if not some:
            continue
        out += _scores(f"findings.{name}", pairs, seed)
        out += _scores(f"findings.{name}.ids", alone, seed)
        unlisted = sum(len(n.unlisted) for n, _ in some)
        out.append(Figure(name=f"findings.{name}.unlisted", value=unlisted, n=len(some)))
    return out


def value_figures(rows: Sequence[Valued]) -> list[Figure]:
    """What is told of values: of high and low ones; of normal ones and of those of another time, fluid or person."""
    falls = {one["words"] for m in measures().values() for one in m.get("tells", ()) if "below" in one}
    told: dict[str, list[bool]] = {"told": [], "wrong": []}
    for row in rows:
        read = [
            c for c in clauses(row.text, read_person(row.text)) if c.reading and c.present and "normal" not in c.plain
        ]
        for words, _, direction in row.values:
            start = row.text.index(words)
            near = [c for c in read if c.start < start + len(words) and start < c.end]
            said = {"low" if c.plain in falls else "high" for c in near}
            if direction in ("high", "low"):
                told["told"].append(direction in said)
            elif direction != "grey":
                told["wrong"].append(bool(said))
    return [figure for name, hits in told.items() for figure in share(f"findings.values.{name}", hits)]


def patients(context: TaskContext, graph: KnowledgeGraph) -> list[Figure]:
    """The same patients of DDXPlus in two wordings."""
    rows, codes, diseases = context.sample(validate_texts(context.data)), read_codes(context.data), read_conditions()
    known, out = set(diseases.values()), []
    first: dict[str, list[float]] = {}
    for name, path in (("plain", context.data / STATEMENTS), ("third", THIRD)):
        wording = Wording(read_object(path), Codebook({}, frozenset()))
        for row in context.tick(rows, name, len(rows)):
            coded = codes[row.id]
            text = wording.text(coded.age, coded.sex, coded.evidences, coded.initial_evidence)
            ranked = graph.look_up(text, "en", limit=len(graph.graph.diseases), explained=0).ranking
            leader = next((r.disease for r in ranked if r.disease in known), "")
            first.setdefault(name, []).append(float(leader == diseases[coded.pathology]))
        out += share(f"findings.ddxplus_{name}.first", [bool(hit) for hit in first[name]])
    third, plain = ([100 * hit for hit in first[name]] for name in ("third", "plain"))
    return out + paired_difference("findings.ddxplus_third.less_plain", third, plain, context.seed)


def stated(graph: KnowledgeGraph, note: Note) -> set[tuple[str, str]]:
    """The findings shown of a text, each with its assertion."""
    found = graph.look_up(note.text, note.language, explained=0)
    return {(f.id, assertion(f)) for f in (*found.findings, *found.asides) if f.id}


def assertion(finding: Finding) -> str:
    """How a finding is stated, in the words of the gold."""
    if finding.told_of != "now":
        return finding.told_of
    if finding.present is None:
        return "possible"
    return "present" if finding.present else "absent"


def _first(graph: KnowledgeGraph, text: str) -> str:
    matches = graph.read(text).matches
    best = max(matches, key=lambda m: m.score, default=None)
    return graph.graph.findings[best.finding].id if best is not None else ""


def _styles(read: Sequence[Read]) -> Iterable[tuple[str, list[Read]]]:
    for name in ("clinical", "lay"):
        yield name, [r for r in read if r[0].style == name and r[0].language == "en"]
    yield "zh", [r for r in read if r[0].language == "zh"]


def _scores(name: str, counts: Sequence[Counts], seed: int) -> list[Figure]:
    """Precision, recall and F1 over all findings, texts resampled."""
    right, shown, gold = ([float(c[k]) for c in counts] for k in range(3))
    both = [s + g for s, g in zip(shown, gold, strict=True)]
    return [
        *paired_ratio(f"{name}.precision", right, shown, seed),
        *paired_ratio(f"{name}.recall", right, gold, seed),
        *paired_ratio(f"{name}.f1", [2 * r for r in right], both, seed),
    ]
