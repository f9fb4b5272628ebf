"""The knowledge graph as the agent uses it: `KnowledgeGraph.look_up`, and the tool ``lookup_differential``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from prompts.errors import InputError
from prompts.tool_arguments import LookupDifferential as Arguments
from prompts.tool_arguments import description
from tools.contract import (
    Differential,
    Finding,
    Notice,
    Outcome,
    ToolArtifact,
    ToolContext,
)
from tools.encoders import Encoder
from tools.evidence import Evidence, Found
from tools.knowledge_graph.compiled import load_graph
from tools.knowledge_graph.entries import Entry, evidence_of, render
from tools.knowledge_graph.explanation import Explainer, Explanation, line_of
from tools.knowledge_graph.frequencies import frequencies
from tools.knowledge_graph.loader import STARTER
from tools.knowledge_graph.matching import Match, Matcher
from tools.knowledge_graph.observations import Reading, observe, reported, surest, told_in, unanswered, without_answers
from tools.knowledge_graph.paper import PaperMethod
from tools.knowledge_graph.questions import Questioner, Standing
from tools.knowledge_graph.questions_gain import entropy
from tools.knowledge_graph.questions_place import PLACE, denied_places
from tools.knowledge_graph.ranking import HEARD, Ranker
from tools.knowledge_graph.schema import Disease
from tools.knowledge_graph.similar import RecordCollection
from tools.knowledge_graph.votes import contrasts, count_votes, typical_nodes
from tools.text.clauses import clauses
from tools.text.demographics import read_person
from tools.text.language import language_of

Mode = Literal["ours", "paper"]
QUESTIONS = 5  # ours: follow-up questions offered
CITED = 5  # ours: diseases whose entries come with a look-up as evidence
CITED_SHARE = 0.01  # ours: less belief than this is no reason to cite an entry

UNEXPLAINED = Explanation((), (), ())


class KnowledgeGraph:
    """One loaded graph. Look-ups are pure and may run in several threads.

    Args:
        encoder: makes the vectors of phrases and clauses.
        cache_folder: where the compiled form lies (see `tools.knowledge_graph.compiled`).
        folder: the YAML files.
        mode: ``paper`` ranks by the published votes (`tools.knowledge_graph.paper`), ``ours`` by evidence.
        records: a collection whose nearest records go with each look-up; None for none.
    """

    def __init__(
        self,
        encoder: Encoder,
        cache_folder: Path,
        folder: Path = STARTER,
        *,
        mode: Mode = "ours",
        records: RecordCollection | None = None,
    ) -> None:
        compiled = load_graph(encoder, cache_folder, folder)
        self._paper = PaperMethod(compiled, encoder) if mode == "paper" else None
        self._records = records
        self.graph = compiled.graph
        self._matcher = Matcher(compiled, encoder)
        table = frequencies(self.graph)
        self._ranker = Ranker(self.graph, table)
        self.questioner = Questioner(self.graph, self._ranker)
        self._explainer = Explainer(self.graph, self._ranker)
        self._typical = typical_nodes(self.graph)
        self._named = {name: f.id for f in self.graph.findings for name in (f.name, f.zh)}
        self._entries: dict[tuple[str, str], Entry] = {}

    def look_up(
        self,
        case: str,
        language: str | None = None,
        limit: int = 10,
        known: Sequence[Finding] = (),
        explained: int | None = None,
    ) -> Differential:
        """The differential of a case.

        Args:
            case: the case as told.
            language: of the names and questions given back, ``en`` or ``zh``; None for the case's own.
            limit: how many diseases to rank.
            known: findings settled elsewhere (an answer to a question, a correction): they overrule the text.
                Those that were read from this very text are read again.
            explained: how many of the ranked diseases have findings for and against and what is missing; None for all.
        """
        language = language or language_of(case)
        if self._paper is not None:
            return self._with_records(case, self._paper.look_up(case, language, limit, known))
        return self._with_records(case, self._ranked(case, language, limit, known, explained))

    def _with_records(self, case: str, found: Differential) -> Differential:
        """The differential with the similar records (d_tau)."""
        return found if self._records is None else found.model_copy(update={"similar": self._records.similar(case)})

    def _ranked(
        self, case: str, language: str, limit: int, known: Sequence[Finding], explained: int | None
    ) -> Differential:
        read = self.read(case, known)
        seen, votes = read.standing.seen, read.votes
        shown = reported(self.graph, read.told, read.matches, language, frozenset(k.id for k in read.settled))
        shown += read.settled
        questions = self.questioner.next_questions(read.standing, language, QUESTIONS)
        if not seen:
            return Differential(
                graph=self.graph.about.name,
                findings=tuple(shown),
                categories=votes.categories,
                winners=votes.winners,
                questions=questions,
            )
        shares = self.shares(read.standing)
        heard = frozenset(m.finding for m in read.matches if m.score >= HEARD)
        order = np.argsort(-shares, kind="stable")
        return Differential(
            graph=self.graph.about.name,
            findings=tuple(shown),
            ranking=tuple(
                line_of(
                    self.graph,
                    int(d),
                    float(shares[d]),
                    self._explainer.explain(int(d), seen, shown, heard, language)
                    if explained is None or at < explained
                    else UNEXPLAINED,
                    language,
                )
                for at, d in enumerate(order[:limit])
            ),
            categories=votes.categories,
            winners=votes.winners,
            contrasts=contrasts(self.graph, votes.winners, language),
            questions=questions,
            margin=float(shares[order[0]] - shares[order[1]]) if len(order) > 1 else 1.0,
            entropy=float(entropy(shares)),
        )

    def read(self, case: str, known: Sequence[Finding] = ()) -> Reading:
        """What a case says and what was settled beside it, before anything is ranked; arguments as for `look_up`."""
        person = read_person(case)
        told = clauses(case, person.age)
        settled = [k for k in known if k.id in self.graph.finding and not told_in(case, k)]
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

    def evidence_for(self, disease_id: str, language: str = "en") -> Evidence:
        """The graph's entry on a disease; raises InputError for an id that is not in the graph."""
        return evidence_of(self.graph, self._disease(disease_id), language)

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
        against = {e.finding for e in disease.manifestations if e.how_often == "absent"}
        above = (f for f in self.graph.broader(finding_id) if f not in against)
        return next((entry.sentences[f] for f in above if f in entry.sentences), None)

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
            self._graph.look_up, asked.case, context.language, asked.limit, tuple(context.findings)
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
            self._graph.evidence_for(r.disease, context.language).model_copy(
                update={"found": (Found(tool=self.name, stream="graph", rank=n, score=r.score),)}
            )
            for n, r in enumerate(cited, start=1)
        ]
        return ToolArtifact(tool=self.name, evidence=evidence, differential=found)
