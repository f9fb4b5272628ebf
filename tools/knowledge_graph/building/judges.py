"""The judgements of a build put together: all local, or a language model's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from prompts.language_model import LanguageModel
from tools.encoders import Encoder, Vectors
from tools.icd10 import ICD10
from tools.knowledge_graph.building.contract import UNCLASSIFIED, Distinction, Judges, Merge, Named, Record, Told, Topic
from tools.knowledge_graph.lexicon import Lexicon, characters, poles, qualities, words
from tools.knowledge_graph.names import ASIDE, WRITTEN_CODE, without_code
from tools.knowledge_graph.schema import Graph, Relation
from tools.library.document import Document
from tools.library.monograph import CONFUSED
from tools.spelling import NameSpelling
from tools.text.abbreviations import expand
from tools.text.clauses import Clause, clauses
from tools.text.demographics import Person
from tools.text.language import HAN
from tools.text.sentences import split_sentences

# Clusters of wordings that mean the same: complete linkage by cosine, with pairs that must never meet.
CHUNK = 1024  # rows compared at once; ours: keeps the products small
# ours: words that make another disease or another finding of an otherwise equal name
_TELLING = frozenset(
    "acut chronic stabl unstabl primari secondari type i ii iii iv 1 2 3 4 viral bacteri fungal allerg benign malign "
    "upper lower anterior posterior intern extern left right gestat congenit recurr first second".split()
)


def telling(text: str) -> frozenset[str]:
    """The words of a name that may not differ between two names of one thing."""
    return frozenset(words(text)) & _TELLING


def may_meet(one: str, other: str) -> bool:
    """Whether two wordings may mean the same: no opposite ends, other qualities, or other telling words.

    The embedded encoder knows no Chinese: Chinese wordings are one only when their characters, letters and numbers
    are.
    """
    if HAN.search(one) or HAN.search(other):
        return characters(one) == characters(other) and set(words(one)) == set(words(other))
    first, second = words(one), words(other)
    if any(a * b < 0 for a, b in zip(poles(first), poles(second), strict=True)):
        return False
    for a, b in zip(qualities(first), qualities(second), strict=True):
        if any(a) and any(b) and not any(x and y for x, y in zip(a, b, strict=True)):
            return False
    return telling(one) == telling(other)


def near_pairs(vectors: Vectors, least: float) -> list[tuple[int, int, float]]:
    """Pairs (i < j, cosine) of rows of unit length with a cosine of at least ``least``, nearest first."""
    found: list[tuple[int, int, float]] = []
    for at in range(0, len(vectors), CHUNK):
        cosines = vectors[at : at + CHUNK] @ vectors.T
        for i, j in zip(*np.nonzero(cosines >= least), strict=True):
            if at + i < j:
                found.append((at + int(i), int(j), float(cosines[i, j])))
    return sorted(found, key=lambda p: (-p[2], p[0], p[1]))


def clusters(
    texts: Sequence[str],
    vectors: Vectors,
    least: float,
    allowed: Callable[[str, str], bool] = may_meet,
) -> list[list[int]]:
    """Positions of texts that are one, in order of first appearance.

    Nearest pairs are joined first, and two clusters only when every pair of them is near and allowed (complete
    linkage), so that no chain of half-likeness joins what is unlike.

    Args:
        texts: wordings, each once. vectors: array (len(texts), dimension), L2-normalised. least: cosine.
    """
    pairs = near_pairs(vectors, least)
    near = {(i, j) for i, j, _ in pairs}
    of = list(range(len(texts)))
    members = {i: [i] for i in of}
    for i, j, _ in pairs:
        a, b = of[i], of[j]
        if a == b or not _all_near(members[a], members[b], near, texts, allowed):
            continue
        for k in members[b]:
            of[k] = a
        members[a] += members.pop(b)
    return sorted((sorted(m) for m in members.values()), key=lambda m: m[0])


def _all_near(
    one: Sequence[int],
    other: Sequence[int],
    near: set[tuple[int, int]],
    texts: Sequence[str],
    allowed: Callable[[str, str], bool],
) -> bool:
    pairs = [(min(a, b), max(a, b)) for a in one for b in other]
    return all(p in near for p in pairs) and all(allowed(texts[a], texts[b]) for a, b in pairs)


# A record's text to single manifestations, by rule: one a clause, items of a list with the words before the list.

# ours: who tells, said in other words elsewhere in the record's fields
_PERSON = re.compile(
    r"^\W*(?:I am|I'm|he is|she is|this is|patient is)?\W*an? .{0,40}\b(?:year|month|week)s?[- ]old\b", re.IGNORECASE
)
# ours: the head of a sentence that its list items lack
_HEAD = re.compile(
    r"^(?P<head>.*?\b(?:is|are|was|were|feels?|felt|on|in|to|have|has|had|of|am|with)(?: (?:been|had))?)\s+(?=\S)",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:am|is|are|was|were|have|has|had|feel|feels|felt|do|does|did|get|gets|got|can|cannot|take|takes|live|lives|"
    r"work|works|hurts?|came|comes|gets|started|spread|spreads)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
# ours: words that tell the relation of a manifestation; read in this order, symptomatology where none is met
_WORDS: dict[Relation, str] = {
    "immunology": r"vaccin\w*|immunis\w*|immuniz\w*|immunodef\w*|allerg\w*",
    "exposure": r"travel\w*|contact|exposed|exposure|work (?:in|with|as)|live (?:in|with)|sick people|daycare|pets?",
    "lifestyle": r"smok\w*|alcohol|drink\w*|drugs?|exercise|overweight|obes\w*|coffee|diet",
    "therapy": (
        r"(?:treated|managed) with|(?:was|were|been) (?:given|prescribed)|respon\w+ to|"
        r"(?:eased|relieved|helped|improve\w*|better|settle\w*) (?:by|with|after|on) "
        r"(?:an? |the |his |her |my )?(?:\w+ )?"
        r"(?:antibiotics?|inhalers?|tablets?|antacids?|nitrates?|steroids?|insulin|oxygen|surgery|paracetamol|ibuprofen|"
        r"physiotherapy|medic\w+|injections?)"
    ),
    "anamnesis": (
        r"diagnosed|history|surgery|operation|operated|previous\w*|in the past|born|pregnan\w*|treated|medication|"
        r"medicines?|tablets?|chronic|disease|had a|have had"
    ),
    "psychopathology": r"anxious|anxiety|depress\w*|panic|mood|irritable|going to die|losing control|detached",
}
RELATIONS = {name: re.compile(rf"\b(?:{found})\b", re.IGNORECASE) for name, found in _WORDS.items()}


class DecompositionLocal:
    """Reads clauses, as the look-up does."""

    async def decompose(self, record: Record) -> list[Told]:
        """See `Decomposition`."""
        return decompose(record.text, record.age)


def decompose(text: str, age: float | None = None) -> list[Told]:
    """The manifestations of a text."""
    found = clauses(text, Person(age))
    told = [_told(found, at) for at in range(len(found)) if not _PERSON.match(found[at].plain)]
    return [t for t in told if t is not None]


def _told(found: Sequence[Clause], at: int) -> Told | None:
    clause = found[at]
    text = " ".join(clause.plain.split()).strip(" .,;:")
    if not any(c.isalpha() for c in text):
        return None
    head = "" if _VERB.search(text) else _head_of(found, at)
    whole = f"{head} {text}".strip()
    numbers = _NUMBER.findall(text)
    return Told(
        text=whole,
        present=clause.present,
        relation="anamnesis" if clause.other else relation_of(whole),
        side=clause.side if clause.side in ("left", "right", "both") else None,  # type: ignore[arg-type]
        value=numbers[0] if numbers else None,
        other=clause.other,
    )


def _head_of(found: Sequence[Clause], at: int) -> str:
    """What stands before the list that a clause without a verb goes on."""
    first = at
    while (
        first > 0 and found[first - 1].sentence == found[at].sentence and found[first - 1].present == found[at].present
    ):
        first -= 1
    match = _HEAD.match(found[first].plain) if first < at else None
    return match["head"] if match is not None else ""


def relation_of(text: str) -> Relation:
    """The relation of a manifestation by its words."""
    return next((relation for relation, pattern in RELATIONS.items() if pattern.search(text)), "symptomatology")


# The ICD-10 code of a diagnosis by its name, and the names of chapters and blocks.
CANDIDATES = 12  # ours: names of the table that share most words, compared by meaning
ALIKE = 0.75  # ours: least cosine of a diagnosis to the name that gives it its code
SHARED = 0.3  # ours: least share of the diagnosis' words, weighted, in that name
_RANGE = re.compile(r"\s*\([A-Z]\d[0-9A-Z]-[A-Z]\d[0-9A-Z]\)\s*$")


class Coded(NamedTuple):
    """The code of a diagnosis, how it was found, and the starter graph's disease of that name ("" for none)."""

    code: str
    how: str
    known: str = ""


class Codes:
    """Codes of diagnoses.

    Args:
        table: the compiled ICD-10 table.
        encoder: compares names by meaning.
        graph: a graph whose diseases are known by name; None for none.
    """

    def __init__(self, table: ICD10, encoder: Encoder, graph: Graph | None = None) -> None:
        self._table, self._encoder = table, encoder
        self._known = {
            " ".join(sorted(set(words(name)))): (d.id, d.icd10)
            for d in (graph.diseases if graph is not None else ())
            for name in (d.name, *d.aliases)
        }
        self._chinese = {
            "".join(name.split()): (d.id, d.icd10)
            for d in (graph.diseases if graph is not None else ())
            for name in (d.zh, *d.aliases_zh)
            if HAN.search(name)
        }
        self._rows = table.codes()
        self._lexicon = Lexicon([words(row.name) for row in self._rows])
        known = [name for d in (graph.diseases if graph is not None else ()) for name in (d.name, *d.aliases)]
        self._spelling = NameSpelling([*(row.name for row in self._rows), *known])

    def find(self, names: Sequence[str]) -> list[Coded]:
        """The code of each name: written in it, that of a known disease, or that of the nearest name of the table.

        Where there is none, the name is looked up as `respelt`: what that finds says what group a disease is in, not
        which disease it is.
        """
        return [self._certain(name) or self._nearest(name) or self._respelt(name) for name in names]

    def respelt(self, name: str) -> str:
        """The name with words that no known name has put right, where one known word alone is as near."""
        return self._spelling.mended(name)

    def _certain(self, name: str) -> Coded | None:
        written = WRITTEN_CODE.search(name)
        if written is not None and self._table.nearest(written[1]) is not None:
            return Coded(written[1], "written")
        if HAN.search(name):  # its Latin letters alone are not its name
            chinese = self._chinese.get("".join(name.split()))
            return Coded(chinese[1], "known", chinese[0]) if chinese is not None else Coded("", "none")
        for form in _forms(name):
            known = self._known.get(" ".join(sorted(set(words(form)))))
            if known is not None:
                return Coded(known[1], "known", known[0])
        return None

    def _respelt(self, name: str) -> Coded:
        mended = self.respelt(name)
        found = (self._certain(mended) or self._nearest(mended)) if mended != name else None
        return Coded(found.code, "respelt") if found is not None else Coded("", "none")

    def _nearest(self, name: str) -> Coded | None:
        held, said = self._lexicon.coverage(words(name))
        shared = np.sqrt(held * said)
        best = [int(i) for i in np.argsort(-shared, kind="stable")[:CANDIDATES] if said[i] >= SHARED]
        if not best:
            return None
        vectors = self._encoder.encode_documents([name, *(self._rows[i].name for i in best)])
        cosines = vectors[1:] @ vectors[0]
        at = int(cosines.argmax())
        return Coded(self._rows[best[at]].code, "nearest name") if cosines[at] >= ALIKE else None


def _forms(name: str) -> list[str]:
    """A name as written, without what stands in brackets, and, of alternatives, each."""
    bare = ASIDE.sub(" ", name)
    return [name, bare, *(part for part in bare.split("/") if part != bare)]


@lru_cache(maxsize=4096)
def topic_name(code: str) -> str:
    """The name of a chapter or block of ICD-10-CM, such as ``J40-J4A`` or ``10``; "" for an unknown one."""
    import simple_icd_10_cm as tree

    return _RANGE.sub("", tree.get_description(code)) if tree.is_valid_item(code) else ""


# Aggregation to L2 and L1 by the blocks and chapters of ICD-10.
class TopicsLocal:
    """L2 is the block of a disease's code, L1 the chapter of the block; without a code both are unclassified."""

    def __init__(self, table: ICD10) -> None:
        self._table = table
        self._chapter = {row.block: row.chapter for row in table.codes()}

    async def group(self, nodes: Sequence[Named], level: Literal["l2", "l1"]) -> list[Topic]:
        """See `Topics`."""
        members: dict[str, list[int]] = {}
        for at, node in enumerate(nodes):
            members.setdefault(
                self._block(node.code) if level == "l2" else self._chapter.get(node.code, ""), []
            ).append(at)
        return [
            Topic(name=(topic_name(code) if code else "") or UNCLASSIFIED, members=tuple(positions), code=code)
            for code, positions in members.items()
        ]

    def _block(self, code: str) -> str:
        found = self._table.nearest(code) if code else None
        return found.block if found is not None else ""


# Raw diagnoses to diseases (L3), by rule: spelling, abbreviations, ICD-10 code, meaning.
SAME = 0.9  # ours: cosine from which two names with the same telling words are one disease
ASK = 0.75  # ours: cosine from which that is proposed to a person
SURE_CODES = ("written", "known")  # ways of finding a code that identify a disease


class ClusteringLocal:
    """Clusters by what is written; nothing is guessed: an unsure pair is proposed, not merged."""

    def __init__(self, codes: Codes, encoder: Encoder) -> None:
        self._codes, self._encoder = codes, encoder

    async def cluster(self, names: Sequence[str]) -> list[Merge]:
        """See `Clustering`. The most frequent spelling, the first of equals, names the disease."""
        count = Counter(names)
        unique = list(dict.fromkeys(names))
        coded = dict(zip(unique, self._codes.find([expand(n) for n in unique]), strict=True))
        groups = _by_key(unique, coded)
        firsts = [g[0] for g in groups]
        vectors = self._encoder.encode_documents([expand(n) for n in firsts])

        def may_be_one(one: str, other: str) -> bool:
            return may_meet(one, other) and _agree(coded[one], coded[other])

        same = clusters(firsts, vectors, SAME, may_be_one)
        merges = [self._merge([n for i in c for n in groups[i]], count, coded, len(c) > 1) for c in same]
        return merges + self._proposals(merges, coded)

    def _proposals(self, merges: Sequence[Merge], coded: dict[str, Coded]) -> list[Merge]:
        """What a person is asked: names that are near in meaning once their spelling is put right."""
        names = [m.into for m in merges]
        spelt = {n: self._codes.respelt(expand(n)) for n in names}
        vectors = self._encoder.encode_documents([spelt[n] for n in names])

        def may_be_one(one: str, other: str) -> bool:
            return may_meet(spelt[one], spelt[other]) and _agree(coded[one], coded[other])

        found = clusters(names, vectors, ASK, may_be_one)
        return [_proposal([merges[i] for i in c]) for c in found if len(c) > 1]

    def _merge(self, names: list[str], count: Counter[str], coded: dict[str, Coded], by_meaning: bool) -> Merge:
        ordered = sorted(names, key=lambda n: -count[n])
        best = next((coded[n] for n in ordered if coded[n].how in SURE_CODES), coded[ordered[0]])
        why = "alone" if len(names) == 1 else "meaning" if by_meaning else "same words or code"
        return Merge(into=ordered[0], names=tuple(ordered), why=why, code=best.code, known=best.known)


def _by_key(unique: Sequence[str], coded: dict[str, Coded]) -> list[list[str]]:
    """Names with the same words (abbreviations written out), the same known disease, or the same written code."""
    of: dict[str, int] = {}
    groups: dict[int, list[str]] = {}
    for name in unique:
        found = coded[name]
        said = {*words(without_code(name)), *characters(name)}
        keys = [f"words {' '.join(sorted(said)) or name}"]
        keys += [f"known {found.known}"] if found.known else []
        keys += [f"code {found.code}"] if found.how == "written" else []
        known = sorted({of[k] for k in keys if k in of})
        at = known[0] if known else len(of)
        groups.setdefault(at, [])
        for other in known[1:]:
            groups[at] += groups.pop(other)
            of |= {k: at for k, g in of.items() if g == other}
        groups[at].append(name)
        of |= dict.fromkeys(keys, at)
    return list(groups.values())


def _agree(one: Coded, other: Coded) -> bool:
    """Whether codes found surely do not name two diseases."""
    sure = one.how in SURE_CODES and other.how in SURE_CODES
    return not sure or (one.code, one.known) == (other.code, other.known)


def _proposal(merges: Sequence[Merge]) -> Merge:
    first = merges[0]
    names = tuple(m.into for m in merges)
    return Merge(into=first.into, names=names, why="near in meaning", merge=False, code=first.code, known=first.known)


# What tells a known disease apart, from texts that people wrote: the starter graph and the library's monographs.
class AugmentationLocal:
    """For a disease that the starter graph knows: its edges of role a, and the sentences of its monograph.

    Args:
        graph: the starter graph.
        monographs: the library's monographs by the graph's id of their disease.
    """

    def __init__(self, graph: Graph, monographs: Mapping[str, Document]) -> None:
        self._graph, self._monographs = graph, monographs

    async def augment(self, disease: Merge, neighbours: Sequence[str]) -> list[Distinction]:
        """See `Augmentation`; nothing for a disease that the starter graph does not know."""
        del neighbours
        known = self._graph.disease.get(disease.known)
        if known is None:
            return []
        out = [
            Distinction(
                text=self._graph.finding[e.finding].name,
                relation=self._graph.finding[e.finding].relation,
                source=self._graph.about.name,
                finding=e.finding,
                against=e.how_often == "absent",
            )
            for e in known.manifestations
            if "a" in e.roles
        ]
        text = self._monographs.get(known.id)
        return out + (_sentences(text) if text is not None else [])


def _sentences(monograph: Document) -> list[Distinction]:
    """The sentences of the section on what the disease is confused with, each with its span."""
    return [
        Distinction(
            text=monograph.text[section.start + span.start : section.start + span.end],
            source=monograph.span_id(section.start + span.start, section.start + span.end),
        )
        for section in monograph.sections
        if section.title == CONFUSED
        for span in split_sentences(monograph.text[section.start : section.end])
    ]


def local_judges(
    encoder: Encoder, table: ICD10, known: Graph | None, monographs: Mapping[str, Document] | None = None
) -> Judges:
    """Judgements that need no service.

    Args:
        known: a graph that gives names and codes of diseases; with ``monographs`` it gives distinctions too.
        monographs: the library's, by the graph's disease ids; None for no augmentation.
    """
    augmentation = None if known is None or monographs is None else AugmentationLocal(known, monographs)
    return Judges(
        name="local" if augmentation is not None else "local without augmentation",
        clustering=ClusteringLocal(Codes(table, encoder, known), encoder),
        topics=TopicsLocal(table),
        decomposition=DecompositionLocal(),
        augmentation=augmentation,
    )


def model_judges(model: LanguageModel, *, augment: bool = True) -> Judges:
    """Judgements of a language model; what it adds is marked ``generated:<model>``."""
    from tools.knowledge_graph.building.by_model import (
        AugmentationByModel,
        ClusteringByModel,
        DecompositionByModel,
        TopicsByModel,
    )

    return Judges(
        name=f"model {model.name}{'' if augment else ' without augmentation'}",
        clustering=ClusteringByModel(model),
        topics=TopicsByModel(model),
        decomposition=DecompositionByModel(model),
        augmentation=AugmentationByModel(model) if augment else None,
    )
