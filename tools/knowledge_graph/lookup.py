"""The knowledge graph as the agent uses it: `KnowledgeGraph.look_up`, and the tool ``lookup_differential``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
    RankedDisease,
    ToolArtifact,
    ToolContext,
)
from tools.encoders import Encoder
from tools.evidence import Evidence, Found
from tools.knowledge_graph.compiled import load_graph
from tools.knowledge_graph.entries import Entry, evidence_of, render
from tools.knowledge_graph.explanation import Explainer, Explanation
from tools.knowledge_graph.frequencies import frequencies
from tools.knowledge_graph.loader import STARTER
from tools.knowledge_graph.matching import THRESHOLD, Match, Matcher
from tools.knowledge_graph.observations import observe, reported, surest, told_in
from tools.knowledge_graph.questions import Questioner, entropy
from tools.knowledge_graph.ranking import HEARD, Observation, Ranker
from tools.knowledge_graph.schema import Disease
from tools.knowledge_graph.votes import contrasts, count_votes, typical_nodes
from tools.text.clauses import Clause, clauses
from tools.text.demographics import read_person
from tools.text.language import language_of

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
        paper_votes: make the set T of the votes by the encoder's similarity alone, as published; else by confidence.
    """

    def __init__(
        self, encoder: Encoder, cache_folder: Path, folder: Path = STARTER, *, paper_votes: bool = False
    ) -> None:
        self._paper_votes = paper_votes
        compiled = load_graph(encoder, cache_folder, folder)
        self.graph = compiled.graph
        self._matcher = Matcher(compiled, encoder)
        table = frequencies(self.graph)
        self._ranker = Ranker(self.graph, table)
        self._questioner = Questioner(self.graph, table)
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
        person = read_person(case)
        told = clauses(case, person.age)
        matches = self._matcher.match(told)
        seen = observe(self.graph, case, told, matches, known)
        overruling = [k for k in known if k.id in self.graph.finding and not told_in(case, k)]
        shown = reported(self.graph, told, matches, language, frozenset(k.id for k in overruling))
        shown += overruling
        votes = count_votes(self._typical, self._matched(told, matches, overruling))
        if not seen:
            return Differential(findings=tuple(shown), categories=votes.categories, winners=votes.winners)
        shares = self._ranker.scores(seen, person)
        heard = frozenset(m.finding for m in matches if m.score >= HEARD)
        order = np.argsort(-shares, kind="stable")
        return Differential(
            findings=tuple(shown),
            ranking=tuple(
                self._line(
                    int(d),
                    shares,
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
            questions=self._questioner.next_questions(
                shares, self._ids(seen, True), self._ids(seen, False), language, QUESTIONS
            ),
            margin=float(shares[order[0]] - shares[order[1]]) if len(order) > 1 else 1.0,
            entropy=entropy(shares),
        )

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

    def _matched(self, told: Sequence[Clause], matches: Sequence[Match], settled: Sequence[Finding]) -> list[str]:
        """T of the method: matches strictly above t. What is denied is left out (ours; the source has no negation)."""
        if not self._paper_votes:
            best = {self.graph.findings[f].id: m.present for f, m in surest(matches, assured=False).items()}
            best |= {k.id: k.present for k in settled}
            return sorted(f for f, present in best.items() if present is not False)
        nearest = self._matcher.match(told, by_similarity=True)
        present = {m.finding for m in nearest if m.similarity > THRESHOLD and m.present is not False}
        return sorted(self.graph.findings[f].id for f in present)

    def _ids(self, seen: Sequence[Observation], present: bool) -> set[str]:
        return {self.graph.findings[o.finding].id for o in seen if (o.present is not False) == present}

    def _line(self, d: int, shares: NDArray[np.float64], why: Explanation, language: str) -> RankedDisease:
        disease = self.graph.diseases[d]
        return RankedDisease(
            disease=disease.id,
            name=disease.name,
            name_zh=disease.zh,
            icd10=disease.icd10,
            l2=disease.l2,
            l1=self.graph.l2[disease.l2].l1,
            score=float(shares[d]),
            severity=disease.severity,
            findings_for=why.supporting,
            findings_against=why.against,
            missing=why.missing,
            red_flags=disease.red_flags_zh if language == "zh" else disease.red_flags,
            evidence_id=disease.evidence_id,
        )


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
