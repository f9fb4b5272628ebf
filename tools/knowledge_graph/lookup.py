"""The knowledge graph as the agent uses it: `KnowledgeGraph.look_up`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from prompts.errors import InputError
from prompts.tool_arguments import LookupDifferential as Arguments
from prompts.tool_arguments import description
from tools.contract import Differential, Finding, Notice, Outcome, RankedDisease, ToolArtifact, ToolContext
from tools.encoders import Encoder
from tools.evidence import Evidence, Found
from tools.icd10 import ICD10
from tools.knowledge_graph.compiled import CompiledGraph, load_graph
from tools.knowledge_graph.edge import Edge, unexplained, unread
from tools.knowledge_graph.entries import Entry, Explainer, Explanation, evidence_of, line_of, render
from tools.knowledge_graph.loader import SHARED, STARTER, content_hash
from tools.knowledge_graph.matching import Match, Matcher
from tools.knowledge_graph.observations import (
    Reading,
    asides,
    observe,
    reported,
    surest,
    told_in,
    unanswered,
    without_answers,
)
from tools.knowledge_graph.paper import PaperMethod
from tools.knowledge_graph.questions import PLACE, Questioner, Standing, denied_places, entropy
from tools.knowledge_graph.ranking import HEARD, Ranker, frequencies, shares_of
from tools.knowledge_graph.record_ranking import OWN, RecordCollection, RecordRanking
from tools.knowledge_graph.schema import Disease
from tools.knowledge_graph.votes import contrasts, count_votes, typical_nodes
from tools.reading.assertion import asserted
from tools.text.clauses import clauses
from tools.text.demographics import read_person
from tools.text.language import language_of

Mode = Literal["ours", "paper"]
QUESTIONS = 5  # ours: follow-up questions offered
UNEXPLAINED = Explanation((), (), ())


@lru_cache(maxsize=SHARED)
def _weighing(compiled: CompiledGraph) -> tuple[Ranker, Questioner]:
    ranker = Ranker(compiled.graph, frequencies(compiled.graph))
    return ranker, Questioner(compiled.graph, ranker)


class KnowledgeGraph:
    """One loaded graph. Look-ups are pure and may run in several threads.

    Args:
        encoder: makes the vectors of phrases and clauses.
        cache_folder: where the compiled form lies (see `tools.knowledge_graph.compiled`).
        folder: the YAML files.
        mode: ``paper`` ranks by the published votes (`tools.knowledge_graph.paper`), ``ours`` by evidence.
        records: a collection whose nearest records go with each look-up; None for none.
        table: names of ICD-10 codes, by which diagnoses of records are known beside the graph's own names.
    """

    def __init__(
        self,
        encoder: Encoder,
        cache_folder: Path,
        folder: Path = STARTER,
        *,
        mode: Mode = "ours",
        records: RecordCollection | None = None,
        table: ICD10 | None = None,
    ) -> None:
        compiled = load_graph(encoder, cache_folder, folder)
        self.graph, self._records = compiled.graph, records
        self._paper = PaperMethod(compiled, encoder) if mode == "paper" else None
        self._open_matcher = partial(Matcher, compiled, encoder)
        self._ranker, self.questioner = _weighing(compiled)
        self._explainer = Explainer(self.graph, self._ranker)
        self.edge = Edge(
            self.graph, self._ranker, encoder, cache_folder, content_hash(folder), starter=folder == STARTER
        )
        self._typical = typical_nodes(self.graph)
        self._named = {name: f.id for f in self.graph.findings for name in (f.name, f.zh)}
        self._entries: dict[tuple[str, str], Entry] = {}
        self._learn = partial(
            RecordRanking,
            self.graph,
            encoder=encoder,
            folder=cache_folder,
            reader=f"{content_hash(folder)} {encoder.name}",
            table=table,
        )
        self._learned_from: RecordRanking | None = None
        self._lock = threading.Lock()

    @cached_property
    def _matcher(self) -> Matcher:
        """Made when a case is first read: a question of evidence needs none."""
        return self._open_matcher()

    def look_up(
        self,
        case: str,
        language: str | None = None,
        limit: int = 10,
        known: Sequence[Finding] = (),
        explained: int | None = None,
        *,
        learn: bool = False,
    ) -> Differential:
        """The differential of a case.

        Args:
            case: the case as told.
            language: of the names and questions given back, ``en`` or ``zh``; None for the case's own.
            limit: how many diseases to rank.
            known: findings settled elsewhere (an answer to a question, a correction): they overrule the text.
                Those that were read from this very text are read again.
            explained: how many of the ranked diseases have findings for and against and what is missing; None for all.
            learn: rank with what similar records say too (`tools.knowledge_graph.record_ranking`); ``paper`` does not.
        """
        language = language or language_of(case)
        if self._paper is not None:
            return self._with_records(case, self._paper.look_up(case, language, limit, known))
        records = self.record_ranking() if learn else None
        return self._with_records(case, self._ranked(case, language, limit, known, explained, records))

    def record_ranking(self) -> RecordRanking | None:
        """What the collection's records say, read at the first call; None without a collection."""
        if self._records is None or self._paper is not None:
            return None
        with self._lock:
            self._learned_from = self._learned_from or self._learn(self._records.records, matcher=self._matcher)
        return self._learned_from

    def _with_records(self, case: str, found: Differential) -> Differential:
        """The differential with the similar records (d_tau)."""
        return found if self._records is None else found.model_copy(update={"similar": self._records.similar(case)})

    def _ranked(
        self,
        case: str,
        language: str,
        limit: int,
        known: Sequence[Finding],
        explained: int | None,
        records: RecordRanking | None,
    ) -> Differential:
        read = self.read(case, known)
        votes = read.votes
        shown = reported(self.graph, read.told, read.matches, language, frozenset(k.id for k in read.settled))
        found = Differential(
            graph=self.graph.about.name,
            findings=(*shown, *read.settled),
            asides=tuple(asides(self.graph, read.told, self._matcher.asides(read.told), language, shown)),
            categories=votes.categories,
            winners=votes.winners,
            questions=self.questioner.next_questions(read.standing, language, QUESTIONS),
            unread=unread(case, self.graph, read),
        )
        log_scores = self._ranker.log_scores(read.standing.seen, read.standing.person)
        weighed = records.weigh(log_scores, read.told, read.matches) if records is not None else None
        if not read.standing.seen and weighed is None:
            return found.model_copy(update={"outside": self.edge.unread(case, read)})
        shares = shares_of(log_scores if weighed is None else weighed.log_scores)
        order = np.argsort(-shares, kind="stable")
        told = [int(d) for d in order[:limit] if shares[d] > 0]
        graph_leads = int(order[0]) < len(self.graph.diseases)
        explained_by = self.edge.probability(case, read, log_scores) if graph_leads else None
        lines = self._lines(read, found.findings, shares, told, language, len(told) if explained is None else explained)
        if records is not None and weighed is not None:
            lines = records.lines(lines, weighed, shares, told)
        return found.model_copy(
            update={
                "ranking": tuple(lines[d] for d in told),
                "contrasts": contrasts(self.graph, votes.winners, language),
                "margin": float(shares[order[0]] - shares[order[1]]) if len(order) > 1 else 1.0,
                "entropy": float(entropy(shares[shares > 0])),
                "explained": explained_by,
                "outside": self.edge.outside(case, explained_by) and not lines[told[0]].records,
                "unexplained": unexplained(self.graph, self._ranker, read, shares, found.findings),
            }
        )

    def _lines(
        self,
        read: Reading,
        shown: Sequence[Finding],
        shares: NDArray[np.float64],
        told: Sequence[int],
        language: str,
        explained: int,
    ) -> dict[int, RankedDisease]:
        """The lines of the graph's own diseases by their positions, the first ones explained."""
        heard = frozenset(m.finding for m in read.matches if m.score >= HEARD)
        return {
            d: line_of(
                self.graph,
                d,
                float(shares[d]),
                self._explainer.explain(d, read.standing.seen, shown, heard, language)
                if at < explained
                else UNEXPLAINED,
                language,
            )
            for at, d in enumerate(told)
            if d < len(self.graph.diseases)
        }

    def edge_features(self, case: str, without: Sequence[str] = ("",)) -> list[dict[str, float]]:
        """What the graph's edge is judged by, for a case in which anything is read; else none.

        One a disease of ``without``, which is taken out of the graph as if it were not known; "" takes out none.
        """
        read = self.read(case)
        if not read.standing.seen:
            return []
        log_scores = self._ranker.log_scores(read.standing.seen, read.standing.person)
        return [self.edge.features(case, read, log_scores, disease) for disease in without]

    def read(self, case: str, known: Sequence[Finding] = ()) -> Reading:
        """What a case says and what was settled beside it, before anything is ranked; arguments as for `look_up`."""
        person = read_person(case)
        told = asserted(case, clauses(case, person))
        settled = [k for k in known if k.id in self.graph.finding and not told_in(case, k)]
        settled = [k for k in settled if k.clause or not unanswered(k)]
        matches = without_answers(case, told, self._matcher.match(told), settled)
        seen = observe(self.graph, case, told, matches, known)
        for k in known:
            if k.id == PLACE:
                seen += denied_places(self.graph, self.questioner.pains, seen, k.present)
        standing = Standing(tuple(seen), person, frozenset(k.id for k in (*settled, *known) if k.start < 0))
        return Reading(told, matches, settled, standing, count_votes(self._typical, self._matched(matches, settled)))

    def shares(self, standing: Standing) -> NDArray[np.float64]:
        """Array (diseases,): shares of belief in the graph's order, summing to 1."""
        return self._ranker.scores(standing.seen, standing.person)

    def evidence_for(self, disease_id: str, language: str = "en", record: str = "") -> Evidence:
        """The graph's entry on a disease, a record of a diagnosis that only records have; InputError for another id."""
        records = self.record_ranking() if disease_id.startswith(OWN) else None
        if records is not None:
            return records.evidence_for(disease_id, record)
        return evidence_of(self.graph, self._disease(disease_id), language)

    def of_records(self, disease_id: str) -> bool:
        """Whether an id is that of a diagnosis that only records have."""
        records = self.record_ranking() if disease_id.startswith(OWN) else None
        return records is not None and records.knows(disease_id)

    def findings_sentence(self, disease_id: str, finding_id: str, language: str = "en") -> tuple[int, int] | None:
        """The characters of the entry's sentence on a finding, or on the nearest broader one that it lists.

        A finding that the disease lists as speaking against it has the sentence that says so; of a broader finding only
        a sentence in favour is given. None when the disease lists nothing of the kind.

        Args:
            finding_id: the finding's id, or its name in either language (as a differential names it).
        """
        disease = self._disease(disease_id)
        key = (disease_id, language)
        entry = self._entries.setdefault(key, render(self.graph, disease, language))
        if finding_id not in (*disease.red_flags, *disease.red_flags_zh):  # these have a sentence of their own
            finding_id = self._named.get(finding_id, finding_id)
        if finding_id in entry.sentences or finding_id not in self.graph.finding:
            return entry.sentences.get(finding_id)
        listed = [f for f in self.graph.broader(finding_id) if f in entry.sentences]
        if not listed:
            return None
        against = {e.finding for e in disease.manifestations if e.how_often == "absent"}
        return next((entry.sentences[f] for f in listed if f not in against), None)

    def _disease(self, disease_id: str) -> Disease:
        try:
            return self.graph.disease[disease_id]
        except KeyError:
            raise InputError(f"The graph has no disease {disease_id!r}.", "Use an id from a differential.") from None

    def _matched(self, matches: Sequence[Match], settled: Sequence[Finding]) -> list[str]:
        """The findings that vote: surely told, and not denied. `tools.knowledge_graph.paper` has the published T."""
        best = {self.graph.findings[f].id: m.present for f, m in surest(matches, assured=False).items()}
        best |= {k.id: False if unanswered(k) else k.present for k in settled}
        return sorted(f for f, present in best.items() if present is not False)


CITED = 5  # ours: diseases whose entries come with a look-up as evidence
CITED_SHARE = 0.01  # ours: less belief than this is no reason to cite an entry
RECORDS_SPOKE = {
    "en": "Records of the collection spoke for: {named}.",
    "zh": "病历库中的记录支持：{named}。",
}


class LookupDifferential:
    """The tool ``lookup_differential``."""

    name = "lookup_differential"
    arguments = Arguments

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph
        self.description = description(self.name)

    async def run(self, arguments: Any, context: ToolContext) -> ToolArtifact:
        """Look the case up; the work is done in a thread, so that the event loop stays free."""
        asked = Arguments.model_validate(arguments, from_attributes=True)
        found = await asyncio.to_thread(
            self._graph.look_up, asked.case, context.language, asked.limit, tuple(context.findings), learn=True
        )
        context.recorder.event(
            "differential",
            findings=[f.id for f in found.findings],
            ranking=[(r.disease, round(r.score, 4)) for r in found.ranking],
            winners=list(found.winners),
        )
        if not found.ranking:
            text = (
                "图谱未能识别病例中的任何表现。"
                if context.language == "zh"
                else "The graph knows none of the case's findings."
            )
            notices = [Notice(code="no_known_finding", text=text)]
            return ToolArtifact(tool=self.name, outcome=Outcome.NOTHING_FOUND, differential=found, notices=notices)
        cited = [r for r in found.ranking[:CITED] if r.score >= CITED_SHARE]
        evidence = [
            self._graph.evidence_for(r.disease, context.language, r.evidence_id).model_copy(
                update={"found": (Found(tool=self.name, stream=_stream(r), rank=n, score=r.score),)}
            )
            for n, r in enumerate(cited, start=1)
        ]
        notices = _records_spoke(cited, context.language)
        return ToolArtifact(tool=self.name, evidence=evidence, differential=found, notices=notices)


def _stream(line: RankedDisease) -> str:
    """Where a line comes from: a diagnosis that the graph lacks has no category."""
    return "graph" if line.l2 else "records"


def _records_spoke(cited: Sequence[RankedDisease], language: str) -> list[Notice]:
    """How many records spoke for each disease that is cited; nothing where none did."""
    chinese = language == "zh"
    named = [f"{d.name_zh if chinese and d.name_zh else d.name} ({len(d.records)})" for d in cited if d.records]
    if not named:
        return []
    text = RECORDS_SPOKE["zh" if chinese else "en"].format(named=("、" if chinese else ", ").join(named))
    return [Notice(code="records_spoke", text=text)]
