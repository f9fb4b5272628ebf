"""Rare diseases as the agent and the commands use them: `RareDiseases.rank_text` and `rank_terms`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from prompts.errors import InputError
from prompts.tool_arguments import LookupDifferential as Arguments
from tools.contract import Differential, Outcome, RareDisease, Tool, ToolArtifact, ToolContext
from tools.encoders import Encoder, Vectors
from tools.evidence import Evidence, Found, Frozen, Origin
from tools.knowledge_graph.hpo.compiled import load_hpo, load_vectors
from tools.knowledge_graph.hpo.ontology import LeftOut, Ontology
from tools.knowledge_graph.hpo.ranking import HpoRanker, Observed
from tools.knowledge_graph.hpo.reading import Reader, Reading
from tools.notices import noted

# A rare disease's annotations as readable text, one sentence an annotation, so that each can be quoted exactly.
REFERENCES = 3  # ours: references named a sentence
WORDS = {
    "HP:0040280": "in all patients",
    "HP:0040281": "in 80 to 99 % of patients",
    "HP:0040282": "in 30 to 79 % of patients",
    "HP:0040283": "in 5 to 29 % of patients",
    "HP:0040284": "in 1 to 4 % of patients",
}
LEVEL = "annotations of the Human Phenotype Ontology"


def entry(ontology: Ontology, disease: int) -> tuple[str, dict[int, tuple[int, int]]]:
    """The text on a disease, and for each annotated term (position) the characters of its sentence."""
    title, release = ontology.titles[disease], ontology.release
    text = f"{title} ({ontology.diseases[disease]}) as annotated in the Human Phenotype Ontology, release {release}."
    where: dict[int, tuple[int, int]] = {}
    for row in _rows(ontology, disease):
        sentence = _sentence(ontology, row, title)
        term = int(ontology.annotations.term[row])
        if term not in where:
            where[term] = (len(text) + 1, len(text) + 1 + len(sentence))
            text += f" {sentence}"
    return text, where


def evidence_of(ontology: Ontology, disease: int) -> Evidence:
    """The entry as evidence that an answer may cite (``graph:hpo/OMIM:...``)."""
    return Evidence(
        id=evidence_id(ontology.diseases[disease]),
        text=entry(ontology, disease)[0],
        title=ontology.titles[disease],
        kind="graph_entry",
        origin=Origin.KNOWLEDGE_GRAPH,
        level=LEVEL,
        date=ontology.release or None,
    )


def sentence_of(entry: Evidence, finding: str) -> tuple[int, int] | None:
    """Characters of an entry's sentence on a present phenotype, by its name; None when there is none."""
    start = entry.text.find(f" {finding} is reported ") + 1
    if not start:
        return None
    end = entry.text.find(f" with {entry.title}", start) + len(f" with {entry.title}")
    if entry.text.startswith(" (", end):
        end = entry.text.find(")", end) + 1
    return start, end + 1


def evidence_id(disease: str) -> str:
    """The evidence id of a disease's entry."""
    return f"graph:hpo/{disease}"


def _rows(ontology: Ontology, disease: int) -> list[int]:
    """The stated annotations of a disease, the most frequent first, absent ones last."""
    table = ontology.annotations
    rows = np.flatnonzero((table.disease == disease) & ~table.named)
    return sorted(map(int, rows), key=lambda r: (bool(table.negated[r]), -float(table.rate[r]), int(table.term[r])))


def _sentence(ontology: Ontology, row: int, title: str) -> str:
    table = ontology.annotations
    name = ontology.names[int(table.term[row])]
    cited = [ontology.references[int(r)] for r in table.references[row]]
    cited = [c for c in cited if not c.startswith(("http", "ISBN"))][:REFERENCES]
    source = f" ({', '.join(cited)})" if cited else ""
    if table.negated[row]:
        return f"{name} is stated to be absent in {title}{source}."
    stated = _often(ontology.frequencies[int(table.frequency[row])])
    return f"{name} is reported {stated}with {title}{source}."


def _often(stated: str) -> str:
    if stated in WORDS:
        return f"{WORDS[stated]} "
    count, slash, total = stated.partition("/")
    if slash:
        return f"in {count} of {total} {'patient' if total == '1' else 'patients'} "
    return f"in {stated} of patients " if stated.endswith("%") else ""


# Why a rare disease is ranked: which of its own phenotypes fit, which speak against it, which were not told.
ALIKE = 3.0  # ours: nats of information that a shared ancestor needs, so that a phenotype is shown as fitting
USUAL = 0.5  # ours: rate from which a phenotype is usual
SHOWN_TERMS = 6  # ours: phenotypes a list


@dataclass(frozen=True)
class Why:
    """Positions of terms: the disease's own that fit, those usual and denied, those usual and not told."""

    fitting: tuple[int, ...]
    against: tuple[int, ...]
    missing: tuple[int, ...]


class Explainer:
    """Explains the lines of a ranking."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        rows = ontology.annotations
        self._content: list[float] = ontology.content.tolist()  # plain floats: many single look-ups
        order = np.argsort(rows.disease, kind="stable")
        self._rows = order
        self._start = np.searchsorted(rows.disease[order], np.arange(len(ontology.diseases) + 1))
        self._above = lru_cache(maxsize=4096)(lambda term: frozenset(map(int, ontology.ancestors[term])))

    def explain(self, disease: int, present: Sequence[int], absent: Sequence[int]) -> Why:
        """The reasons for and against one disease."""
        rates = self._rates(disease)
        pairs = sorted({p for q in present if (p := self._nearest(q, rates)) is not None}, reverse=True)
        fitting = list(dict.fromkeys(term for _, term in pairs))
        against = [t for t, r in rates.items() if r >= USUAL and any(a in self._above(t) for a in absent)]
        told = frozenset().union(*(self._above(q) for q in present)) | set(fitting) | set(against)
        usual = sorted((-r, t) for t, r in rates.items() if r >= USUAL and t not in told)
        return Why(tuple(fitting[:SHOWN_TERMS]), tuple(against[:SHOWN_TERMS]), tuple(t for _, t in usual[:SHOWN_TERMS]))

    def _rates(self, disease: int) -> dict[int, float]:
        rows = self._ontology.annotations
        own = self._rows[self._start[disease] : self._start[disease + 1]]
        stated = [r for r in own if not rows.negated[r] and not rows.named[r] and not self._in_none(r)]
        return {int(rows.term[r]): float(rows.rate[r]) for r in stated}

    def _in_none(self, row: int) -> bool:
        """Whether an annotation says that no patient had it (``0/5``)."""
        return self._ontology.frequencies[int(self._ontology.annotations.frequency[row])].startswith("0/")

    def _nearest(self, term: int, rates: dict[int, float]) -> tuple[float, int] | None:
        """The disease's phenotype that shares the most with a term: (information, position)."""
        if term in rates:
            return self._content[term], term
        above, content = self._above(term), self._content
        best = max(((max([content[a] for a in above & self._above(t)]), t) for t in rates), default=None)
        return best if best is not None and best[0] >= ALIKE else None


class ReadTerm(Frozen):
    """A phenotype as read from a text: the term, whether present, and the characters that say it."""

    id: str
    name: str
    present: bool
    trust: float
    start: int = -1
    end: int = -1


class RareRanking(Frozen):
    """What the ontology makes of a case: the terms as read, and diseases, best first (none without a present term)."""

    release: str
    terms: tuple[ReadTerm, ...] = ()
    ranking: tuple[RareDisease, ...] = ()
    age: float | None = None
    sex: str | None = None


class RareDiseases:
    """The annotated diseases of one ontology, ranked. Pure: may be used from several threads.

    Args:
        encoder, vectors: for texts; without them texts are read by the words of terms alone.
    """

    def __init__(self, ontology: Ontology, encoder: Encoder | None = None, vectors: Vectors | None = None) -> None:
        self.ontology = ontology
        self._reader = Reader(ontology, encoder, vectors)
        self._ranker = HpoRanker(ontology)
        self._explainer = Explainer(ontology)

    @classmethod
    def open(cls, folder: Path, encoder: Encoder | None = None) -> RareDiseases:
        """The compiled form under ``folder``; raises DataError when its vectors cannot be used with the encoder."""
        ontology = load_hpo(folder)
        return cls(ontology, encoder, load_vectors(ontology, encoder, folder) if encoder is not None else None)

    def rank_text(self, text: str, limit: int = 10) -> RareRanking:
        """The ranking for a case told in English."""
        read = self._reader.read(text)
        scores = self.scores(*observations(read))
        terms = tuple(
            ReadTerm(
                id=self.ontology.terms[p.terms[0]],
                name=self.ontology.names[p.terms[0]],
                present=p.present,
                trust=p.trust,
                start=p.start,
                end=p.end,
            )
            for p in read.phenotypes
        )
        found = self._ranking(terms, scores, limit)
        return found.model_copy(update={"age": read.person.age, "sex": read.person.sex})

    def rank_terms(self, ids: Iterable[str], excluded: Iterable[str] = (), limit: int = 10) -> RareRanking:
        """The ranking for HPO ids (``HP:0001250``) that the patient has and has not; InputError for an unknown id."""
        present, absent = self.positions(ids), self.positions(excluded)
        scores = self.scores([Observed((t,)) for t in present], absent)
        told = [(t, True) for t in present] + [(t, False) for t in absent]
        terms = tuple(
            ReadTerm(id=self.ontology.terms[t], name=self.ontology.names[t], present=p, trust=1.0) for t, p in told
        )
        return self._ranking(terms, scores, limit)

    def read(self, text: str) -> Reading:
        """The phenotypes of a text, with every candidate."""
        return self._reader.read(text)

    def scores(
        self, observed: Sequence[Observed], excluded: Sequence[int], left_out: LeftOut | None = None
    ) -> NDArray[np.float64]:
        """Evidence of every OMIM disease in nats (see `HpoRanker.scores`)."""
        return self._ranker.scores(observed, excluded, left_out)

    def positions(self, ids: Iterable[str]) -> list[int]:
        """Positions of HPO ids, each once, alternative ids too; InputError names those that are unknown."""
        asked = list(dict.fromkeys(i.strip().upper() for i in ids))
        unknown = [i for i in asked if i not in self.ontology.position]
        if unknown:
            raise InputError(
                f"These are no phenotype terms of HPO {self.ontology.release}: {', '.join(unknown[:5])}.",
                "Give ids such as HP:0001250, below Phenotypic abnormality.",
            )
        return list(dict.fromkeys(self.ontology.position[i] for i in asked))

    def evidence_for(self, disease: str) -> Evidence:
        """The entry of a disease; InputError for an id without annotations."""
        return evidence_of(self.ontology, self._number(disease))

    def sentence_for(self, disease: str, finding: str) -> tuple[int, int] | None:
        """Characters of the entry's sentence on a phenotype, by its name; None when the entry has none."""
        sentences = entry(self.ontology, self._number(disease))[1]
        return next((at for term, at in sentences.items() if self.ontology.names[term] == finding), None)

    def _number(self, disease: str) -> int:
        number = self.ontology.disease_position.get(disease)
        if number is None:
            raise InputError(f"The ontology annotates no disease {disease!r}.", "Use an id such as OMIM:154700.")
        return number

    def _ranking(self, terms: Sequence[ReadTerm], scores: NDArray[np.float64], limit: int) -> RareRanking:
        present = [self.ontology.position[t.id] for t in terms if t.present]
        absent = [self.ontology.position[t.id] for t in terms if not t.present]
        found = RareRanking(release=self.ontology.release, terms=tuple(terms))
        if not present:
            return found
        shares = self._ranker.shares(scores)
        order = np.argsort(-scores, kind="stable")[:limit]
        lines = tuple(self._line(int(d), shares, scores, present, absent) for d in order)
        return found.model_copy(update={"ranking": lines})

    def _line(
        self,
        disease: int,
        shares: NDArray[np.float64],
        scores: NDArray[np.float64],
        present: Sequence[int],
        absent: Sequence[int],
    ) -> RareDisease:
        why = self._explainer.explain(disease, present, absent)
        names = self.ontology.names
        return RareDisease(
            disease=self.ontology.diseases[disease],
            name=self.ontology.titles[disease],
            score=float(shares[disease]),
            log_evidence=float(scores[disease]),
            findings_for=tuple(names[t] for t in why.fitting),
            findings_against=tuple(names[t] for t in why.against),
            missing=tuple(names[t] for t in why.missing),
            evidence_id=evidence_id(self.ontology.diseases[disease]),
        )


def observations(read: Reading) -> tuple[list[Observed], list[int]]:
    """What a reading says for the ranking: each likeliest term once; a term said to be present is not excluded."""
    present: dict[int, Observed] = {}
    for item in read.phenotypes:
        if item.present:
            present.setdefault(item.terms[0], Observed(item.terms, item.weights, item.trust))
    absent = {p.terms[0] for p in read.phenotypes if not p.present} - set(present)
    return list(present.values()), sorted(absent)


# Whether a case asks for rare, genetic or syndromic diseases (English).
ASKS = re.compile(
    r"\brare (?:\w+ )?(?:disease|disorder|condition|illness|syndrome|cause|diagnos[ei]s)s?\b|"
    r"\b(?:genetic|hereditary|inherited|inborn|chromosom\w+|syndromic)\b(?! test)|"
    r"\b(?:what|which|any|some|unknown|possible) (?:\w+ )?syndrome\b",
    re.IGNORECASE,
)


def asks_for_rare(case: str) -> bool:
    """Whether a case asks for rare, genetic or syndromic diseases in so many words."""
    return ASKS.search(case) is not None


# `lookup_differential` with rare diseases beside the common ones: where the settings or the case ask for them.
TOLD = 3  # ours: present phenotypes that a ranking needs; the evaluation's own least number
SHOWN = 5  # ours: diseases shown
CITED = 3  # ours: diseases whose entries come as evidence


class Ranks(Protocol):
    """What the tool needs of `tools.knowledge_graph.hpo.lookup.RareDiseases`."""

    def rank_text(self, text: str, limit: int = 10) -> RareRanking:
        """The ranking for a case told in English."""

    def evidence_for(self, disease: str) -> Evidence:
        """The entry of a disease."""


def present_terms(found: RareRanking) -> int:
    """How many different phenotypes a ranking rests on."""
    return len({t.id for t in found.terms if t.present})


class WithRareDiseases:
    """The tool ``lookup_differential`` of a common graph, with a section of rare diseases over HPO.

    Args:
        common: the tool for the common graph.
        rare: opened at the first call that needs it, because most need none.
        always: rank rare diseases for every case; else only for those that ask.
    """

    def __init__(self, common: Tool, rare: Callable[[], Ranks], *, always: bool) -> None:
        self._common, self._open, self._always = common, rare, always
        self.name, self.arguments, self.description = common.name, common.arguments, common.description

    async def run(self, arguments: Any, context: ToolContext) -> ToolArtifact:
        """The common differential, and beside it what the ontology ranks."""
        asked = Arguments.model_validate(arguments, from_attributes=True)
        artifact = await self._common.run(arguments, context)
        if not (self._always or asks_for_rare(asked.case)):
            return artifact
        if context.language == "zh":
            notice = noted("rare_diseases_english_only", context.language)
            return artifact.model_copy(update={"notices": [*artifact.notices, notice]})
        told = "\n".join([asked.case, *(f"{finding}." for finding in asked.findings)]).strip()
        return await asyncio.to_thread(self._added, told, artifact, context)

    def _added(self, case: str, artifact: ToolArtifact, context: ToolContext) -> ToolArtifact:
        ranks = self._open()
        found = ranks.rank_text(case, SHOWN)
        context.recorder.event(
            "rare_diseases",
            terms=[(t.id, t.present) for t in found.terms],
            ranking=[(r.disease, round(r.score, 4)) for r in found.ranking],
        )
        present = present_terms(found)
        if present < TOLD:
            notice = noted("too_few_phenotypes", context.language, n=present, least=TOLD)
            return artifact.model_copy(update={"notices": [*artifact.notices, notice]})
        differential = artifact.differential or Differential()
        return artifact.model_copy(
            update={
                "outcome": Outcome.OK,
                "differential": differential.model_copy(update={"rare": found.ranking}),
                "evidence": [*artifact.evidence, *self._entries(ranks, found)],
            }
        )

    def _entries(self, ranks: Ranks, found: RareRanking) -> list[Evidence]:
        def entry(number: int, line: RareDisease) -> Evidence:
            way = Found(tool=self.name, stream="hpo", rank=number, score=line.score)
            return ranks.evidence_for(line.disease).model_copy(update={"found": (way,)})

        return [entry(n, line) for n, line in enumerate(found.ranking[:CITED], start=1)]
