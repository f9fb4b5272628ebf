"""The knowledge graph as the agent uses it: `KnowledgeGraph.look_up`."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from prompts.errors import InputError, ToolError
from prompts.tool_arguments import LookupDifferential as Arguments
from prompts.tool_arguments import description
from tools.contract import (
    Differential,
    Finding,
    Hypothesis,
    Notice,
    Outcome,
    RankedDisease,
    ToolArtifact,
    ToolContext,
    unique,
)
from tools.encoders import Encoder
from tools.evidence import Evidence, Found
from tools.icd10 import ICD10
from tools.knowledge_graph.compiled import CompiledGraph, load_graph
from tools.knowledge_graph.edge import Edge, unexplained, unread
from tools.knowledge_graph.entries import Entry, Explainer, Explanation, evidence_of, line_of, render
from tools.knowledge_graph.given import GivenReader, weighed_by
from tools.knowledge_graph.lexicon import words
from tools.knowledge_graph.loader import SHARED, STARTER, content_hash
from tools.knowledge_graph.matching import THRESHOLD, Match, Matcher
from tools.knowledge_graph.names import DiagnosisNames, Names
from tools.knowledge_graph.observations import (
    Reading,
    asides,
    finding_of,
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
from tools.messages import messages
from tools.notices import noted
from tools.reading.assertion import asserted
from tools.text.abbreviations import expand
from tools.text.clauses import clauses
from tools.text.demographics import Person, read_person
from tools.text.language import language_of
from tools.text.questions import without_asked

Mode = Literal["ours", "paper"]
Placed = Mapping[str, tuple[int | None, RankedDisease]]  # by disease: its place in the whole ranking, and its line
PLAIN = 0.8  # ours: "worse lying flat" is known by 0.81, "purple toes dancing" taken for something by 0.77
QUESTIONS = 5  # ours: follow-up questions offered
KINDS = 3  # ours: a name that more diseases are kinds of says too little
UNEXPLAINED = Explanation((), (), ())
NOBODY = Person()
# ours: words that tell how a disease runs, or how sure it is, and leave it the same disease
COURSE = re.compile(
    r"\b(?:acute|chronic|recurrent|mild|moderate|severe|early|late|uncomplicated|complicated|primary|ruptured|first|new|"
    r"suspected|likely|possible|probable|presumed|confirmed)\b[\s-]*",
    re.IGNORECASE,
)
# ours: who has it, which a name may say
WHOSE = re.compile(
    r"\s+(?:in|of|during)\s+(?:an?\s+|the\s+)?(?:child(?:ren|hood)?|infan(?:ts?|cy)|newborns?|adults?|elderly|"
    r"older people|wom[ae]n|m[ae]n|pregnancy)\s*$",
    re.IGNORECASE,
)
WHOM = frozenset(words("children child childhood paediatric infants infant newborn neonatal adults adult"))  # ours
UNSAID = frozenset(words("disease syndrome disorder tract"))  # ours: a name may have them or not
OF = re.compile(r",|\b(?:of|in|with|after|from|due|to)\b", re.IGNORECASE)  # by these the words change places


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
        self._weigh = partial(_weighing, compiled)
        self._open_edge = partial(
            Edge,
            self.graph,
            encoder=encoder,
            cache_folder=cache_folder,
            content=content_hash(folder),
            starter=folder == STARTER,
        )
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
        self._table = table
        self._lock = threading.Lock()

    # Made when a case is first read: a question of evidence needs none of it.
    @cached_property
    def _diagnoses(self) -> tuple[DiagnosisNames, Names, list[tuple[str, list[str]]]]:
        """What diseases are found by from their names, made when one is first asked for."""
        said = [(d.id, _words_of(expand(n))) for d in self.graph.diseases for n in (d.name, *d.aliases)]
        return DiagnosisNames(self.graph, self._table), Names(self.graph), said

    @cached_property
    def _given(self) -> GivenReader:
        return GivenReader(self.graph, self._diagnoses[1])

    @cached_property
    def _matcher(self) -> Matcher:
        return self._open_matcher()

    @cached_property
    def _ranker(self) -> Ranker:
        return self._weigh()[0]

    @cached_property
    def questioner(self) -> Questioner:
        """What asks for findings."""
        return self._weigh()[1]

    @cached_property
    def edge(self) -> Edge:
        """Where the graph's knowledge ends."""
        return self._open_edge(ranker=self._ranker)

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self.graph, self._ranker)

    @cached_property
    def _typical(self) -> dict[str, frozenset[str]]:
        return typical_nodes(self.graph)

    def look_up(
        self,
        case: str,
        language: str | None = None,
        limit: int = 10,
        known: Sequence[Finding] = (),
        explained: int | None = None,
        *,
        learn: bool = False,
        added: Sequence[Finding] = (),
        hypotheses: Sequence[str] = (),
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
            added: findings that somebody else read from the case (`linked`): they overrule what is read here, and what
                ``known`` says of them stands.
            hypotheses: names of diseases that are compared with the case wherever they stand.
        """
        language = language or language_of(case)
        if self._paper is not None:
            whole = self._paper.look_up(case, language, len(self.graph.diseases), (*known, *added))
            found = whole.model_copy(update={"ranking": whole.ranking[:limit], "added": tuple(added)})
            ranked: Placed = {line.disease: (place, line) for place, line in enumerate(whole.ranking, start=1)}
            return self._with_records(case, self._compared(found, ranked, hypotheses, language, read_person(case)))
        records = self.record_ranking() if learn else None
        person = read_person(case)
        asked = unique([disease for name in hypotheses for disease in self.diseases_meant(name, person)])
        found, lines = self._ranked(case, language, limit, known, explained, records, added, asked)
        return self._with_records(case, self._compared(found, lines, hypotheses, language, person))

    def linked(self, findings: Sequence[str], language: str = "en") -> tuple[list[Finding], list[str]]:
        """Findings in words (``fever``, ``no cough``) as findings of the graph, and the words that it does not know.

        Of few words every one counts, so that only what they plainly say is taken.
        """
        known: dict[str, Finding] = {}
        unknown: list[str] = []
        for said in unique([" ".join(f.split()).rstrip(".。") for f in findings]):
            told = asserted(said, clauses(said))
            best: dict[int, Match] = {}
            for match in surest(self._matcher.match(told), assured=False).values():
                if match.clause not in best or match.score > best[match.clause].score:
                    best[match.clause] = match
            best = {c: m for c, m in best.items() if self._plain(m, said)}
            for m in best.values():
                found = finding_of(self.graph, m.finding, told[m.clause], m.present, m.score, language)
                known.setdefault(found.id, found.model_copy(update={"clause": said, "start": -1, "end": -1}))
            if said and not best:
                unknown.append(said)
        return list(known.values()), unknown

    def stated(self, text: str) -> frozenset[str]:
        """Ids of the findings that a text states plainly, with what they are kinds of."""
        found = surest(self._matcher.match(asserted(text, clauses(text))), assured=True)
        ids = {self.graph.findings[f].id for f, m in found.items() if m.present}
        return frozenset(ids.union(*map(self.graph.broader, ids)))

    def _plain(self, match: Match, said: str) -> bool:
        """Whether a finding in a few words is plainly said by them, or by its own name."""
        finding = self.graph.findings[match.finding]
        own = (finding.name.casefold(), finding.zh.casefold())
        return (match.assured and match.score >= PLAIN) or said.strip().casefold() in own

    def diseases_meant(self, name: str, person: Person = NOBODY) -> list[str]:
        """Ids of the diseases that a name means, none when the graph has none.

        They are the one of that name, or what it is called in such a patient (reflux in infants), the one that it names
        a kind of (septic pulmonary embolism), or the few that are kinds of it (angina), of these the ones that fit the
        patient's age and sex best. Words on how a disease runs, and on who has it, are let be where nothing is found
        with them.
        """
        forms = unique([name, WHOSE.sub("", name), COURSE.sub("", name), COURSE.sub("", WHOSE.sub("", name))])
        for form in filter(str.strip, forms):
            own = self._of_name(form)
            found = [own, *self._of_whom(form)] if own else self._of_kind(form)
            if found:
                fitting = self._fitting(found, person)
                return fitting[:1] if own else fitting
        return []

    def _fitting(self, diseases: Sequence[str], person: Person) -> list[str]:
        """Those of some diseases that fit a patient's age and sex best, in their order."""
        if person == NOBODY:
            return list(diseases)
        fit = self._ranker.fit(person)
        of = {d.id: float(fit[at]) for at, d in enumerate(self.graph.diseases)}
        return [d for d in diseases if of[d] == max(of[other] for other in diseases)]

    def _of_name(self, name: str) -> str | None:
        """The disease of a name; none where the name only has its words in another order (baby blues, blue baby)."""
        diagnoses, _, said = self._diagnoses
        wanted = _words_of(name)
        same = [(disease, own) for disease, own in said if set(own) == set(wanted)]
        ordered = unique([disease for disease, own in same if own == wanted or OF.search(name)])
        found = diagnoses.disease(name) or (ordered[0] if len(ordered) == 1 else None)
        return found if found in ordered or all(disease != found for disease, _ in same) else None

    def _of_whom(self, name: str) -> list[str]:
        """The diseases that are called by a name and by who has it."""
        wanted = set(_words_of(name))
        return unique([d for d, own in self._diagnoses[2] if wanted and not wanted & WHOM and wanted == {*own} - WHOM])

    def _of_kind(self, name: str) -> list[str]:
        """The disease that a name names a kind of, else the few that are kinds of it."""
        _, names, said = self._diagnoses
        ids, within = names.diseases_in(name), list(names.diseases_named(name))
        wanted = set(_words_of(COURSE.sub("", name)))
        of_kind = bool(within) and name.strip().casefold().endswith(within[-1].casefold())
        if ids and (of_kind or (len(ids) == 1 and wanted <= {w for n in within for w in _words_of(n)})):
            return [ids[-1]]
        told = _words_of(name)
        kinds = unique([disease for disease, own in said if told and told == [w for w in own if w in told]])
        return kinds if len(kinds) <= KINDS else []

    def _compared(
        self, found: Differential, lines: Placed, names: Sequence[str], language: str, person: Person
    ) -> Differential:
        """The differential with the hypotheses, by the lines of the whole ranking."""
        position = {d.id: at for at, d in enumerate(self.graph.diseases)}
        asked: list[Hypothesis] = []
        for name in unique([" ".join(n.split()) for n in names]):
            meant = self.diseases_meant(name, person)
            for disease in meant:
                unranked = None, line_of(self.graph, position[disease], 0.0, UNEXPLAINED, language)
                place, line = lines.get(disease, unranked)
                asked.append(Hypothesis(name=name, disease=line, place=place))
            if not meant:
                asked.append(Hypothesis(name=name))
        return found.model_copy(update={"hypotheses": tuple(asked)}) if asked else found

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
        added: Sequence[Finding],
        asked: Sequence[str],
    ) -> tuple[Differential, Placed]:
        """The differential, and the lines of the diseases that are asked for."""
        read, new, overruled = self._read_with(case, known, added, language)
        votes = read.votes
        shown = reported(self.graph, read.told, read.matches, language, frozenset(k.id for k in read.settled))
        counted = (*shown, *read.settled)
        found = Differential(
            graph=self.graph.about.name,
            findings=tuple(f for f in counted if f not in new),
            added=tuple(new),
            overruled=tuple(overruled),
            asides=tuple(asides(self.graph, read.told, self._matcher.asides(read.told), language, shown)),
            categories=votes.categories,
            winners=votes.winners,
            questions=self.questioner.next_questions(read.standing, language, QUESTIONS),
            unread=unread(case, self.graph, read),
        )
        log_scores = self._ranker.log_scores(read.standing.seen, read.standing.person)
        given = self._given.read(read.told)
        log_scores = weighed_by(self.graph, self._ranker, read, given, log_scores)
        weighed = records.weigh(log_scores, read.told, read.matches) if records is not None else None
        if not read.standing.seen and weighed is None and not given:
            return found.model_copy(update={"outside": self.edge.unread(case, read)}), {}
        shares = shares_of(log_scores if weighed is None else weighed.log_scores)
        order = np.argsort(-shares, kind="stable")
        told = [int(d) for d in order[:limit] if shares[d] > 0]
        graph_leads = int(order[0]) < len(self.graph.diseases)
        explained_by = self.edge.probability(case, read, log_scores) if graph_leads else None
        lines = self._lines(read, counted, shares, told, language, len(told) if explained is None else explained)
        position = {d.id: at for at, d in enumerate(self.graph.diseases)}
        wanted = [position[disease] for disease in asked]
        others = self._lines(read, counted, shares, wanted, language, len(wanted))
        places = {int(d): place for place, d in enumerate(order, start=1)}
        if records is not None and weighed is not None:
            lines = records.lines(lines, weighed, shares, told)
        found = found.model_copy(
            update={
                "ranking": tuple(lines[d] for d in told),
                "contrasts": contrasts(self.graph, votes.winners, language),
                "margin": float(shares[order[0]] - shares[order[1]]) if len(order) > 1 else 1.0,
                "entropy": float(entropy(shares[shares > 0])),
                "explained": explained_by,
                "outside": self.edge.outside(case, explained_by)
                and not lines[told[0]].records
                and all(position[g.disease] != told[0] for g in given),
                "given": tuple((g.disease, g.clause.text) for g in given),
                "unexplained": unexplained(self.graph, self._ranker, read, shares, counted),
            }
        )
        return found, {self.graph.diseases[d].id: (places[d], others[d]) for d in wanted}

    def _read_with(
        self, case: str, known: Sequence[Finding], added: Sequence[Finding], language: str
    ) -> tuple[Reading, list[Finding], list[Finding]]:
        """What a case says with the findings that were added to it, those of them that it was not read to say, and what
        was read otherwise and gives way to them."""
        read = self.read(case, known)
        settled = {k.id for k in read.settled if not unanswered(k)}
        own = {self.graph.findings[f].id: m.present for f, m in surest(read.matches, assured=True).items()}
        new = [a for a in added if a.id not in settled and (a.id not in own or a.present not in (None, own[a.id]))]
        shown = reported(self.graph, read.told, read.matches, language, frozenset(settled))
        gone = [f for f in shown if f.present is not None and self._overruled(f.id, f.present, new)]
        return (self.read(case, known, new), new, gone) if new else (read, [], [])

    def _overruled(self, finding: str, present: bool | None, added: Sequence[Finding]) -> bool:
        """Whether a finding as read here gives way to added ones: to the same, to one that implies it where it is
        denied, to the denial of one that it implies where it is not."""
        return any(
            (a.id == finding and a.present is not present)
            or (a.present and present is False and finding in self.graph.broader(a.id))
            or (a.present is False and present is not False and a.id in self.graph.broader(finding))
            for a in added
            if a.present is not None
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

    def read(self, case: str, known: Sequence[Finding] = (), added: Sequence[Finding] = ()) -> Reading:
        """What a case says and what was settled or read beside it, before anything is ranked; arguments as for
        `look_up`."""
        person = read_person(case)
        told = asserted(case, clauses(without_asked(case), person))
        known = (*known, *added)
        settled = [k for k in known if k.id in self.graph.finding and not told_in(case, k)]
        settled = [k for k in settled if k.clause or not unanswered(k)]
        matches = without_answers(case, told, self._matcher.match(told), settled)
        of = self.graph.findings
        matches = [m for m in matches if not (added and self._overruled(of[m.finding].id, m.present, added))]
        seen = observe(self.graph, case, told, matches, known)
        for k in known:
            if k.id == PLACE:
                seen += denied_places(self.graph, self.questioner.pains, seen, k.present)
        replied = frozenset(k.id for k in (*settled, *known) if k.start < 0)
        now = {n for n, clause in enumerate(told) if not (clause.past or clause.other)}
        heard = {of[m.finding].id for m in matches if m.score >= HEARD and m.clause in now}
        standing = Standing(tuple(seen), person, replied | heard)
        return Reading(told, matches, settled, standing, count_votes(self._typical, self._matched(matches, settled)))

    def shares(self, standing: Standing) -> NDArray[np.float64]:
        """Array (diseases,): shares of belief in the graph's order, summing to 1."""
        return self._ranker.scores(standing.seen, standing.person)

    def grave_share(self, case: str) -> float:
        """How much of the belief in what explains a case is in emergencies, 0..1, of the likeliest diseases; all of it
        where the case names one that comes fast, none where nothing is read. Where nearly all of it is in mild
        diseases, and one of them leads clearly, minus that much."""
        read = self.read(case)
        grave = {d.id: d for d in self.graph.diseases if d.severity == GRAVEST}
        named = [grave[one.disease] for one in self._given.named(read.told) if one.disease in grave]
        if any(SLOW.isdisjoint(edge.onset for edge in disease.manifestations) for disease in named):
            return 1.0
        if not read.standing.seen:
            return 0.0
        shares = self.shares(read.standing)
        mild = float(sum(share for share, d in zip(shares, self.graph.diseases, strict=True) if d.severity in MILD))
        if mild >= SURELY_MILD and shares.max() >= LEADS and not named:
            return -mild
        return float(sum(shares[d] for d in np.argsort(-shares)[:LIKELIEST] if self.graph.diseases[d].id in grave))

    def without_known(self, case: str) -> str:
        """A case without what a disease that it gives, and that is no emergency by itself, accounts for: the clauses
        that name it, and those that tell a finding of it most surely; "" where nothing else is told."""
        read = self.read(case)
        position = {d.id: at for at, d in enumerate(self.graph.diseases)}
        given = [one for one in self._given.read(read.told) if self.graph.disease[one.disease].severity != GRAVEST]
        has = [self._ranker.table.listed[position[one.disease]] for one in given]
        told = {m.clause: m for m in sorted(read.matches, key=lambda m: m.score) if m.present and m.score > THRESHOLD}
        for n, clause in reversed(list(enumerate(read.told))):
            names = any(clause is one.clause for one in given)
            if names or any(n in told and listed[told[n].finding] for listed in has):
                case = f"{case[: clause.start]}{case[clause.end :]}"
        return case if any(map(str.isalnum, case)) else ""

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
        if key not in self._entries:
            self._entries[key] = render(self.graph, disease, language)
        entry = self._entries[key]
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


GRAVEST = "emergency"  # the severity of a disease that is one
MILD = frozenset({"routine", "self_limiting"})  # severities of a disease that can wait
# ours: belief in mild diseases, and in the first of them, from which they surely explain a case; so explained were none
# of 390 written emergencies and about half of the mild patients who answer a questionnaire
SURELY_MILD, LEADS = 0.9, 0.5
SLOW = frozenset({"weeks", "months"})  # onsets of a disease that one may have for long before it is an emergency
LIKELIEST = 10  # ours: diseases whose belief is looked at
CITED = 5  # ours: diseases whose entries come with a look-up as evidence
CITED_SHARE = 0.01  # ours: less belief than this is no reason to cite an entry


def _words_of(name: str) -> list[str]:
    """The words of a disease's name in order, each once, without those that it may have or not."""
    said = list(dict.fromkeys(words(name)))
    return [w for w in said if w not in UNSAID] or said


class LookupDifferential:
    """The tool ``lookup_differential``."""

    name = "lookup_differential"
    arguments = Arguments

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph
        self.description = description(self.name)

    async def run(self, arguments: Any, context: ToolContext) -> ToolArtifact:
        """Look the case up; the work is done in a thread, so that the event loop stays free.

        Raises:
            ToolError: there is neither a case nor a finding.
        """
        asked = Arguments.model_validate(arguments, from_attributes=True)
        if not (asked.case.strip() or asked.findings):
            raise ToolError("There is nothing to look up.", "Give the case, or its findings.")
        found, remarks = await asyncio.to_thread(self._look_up, asked, context)
        context.recorder.event(
            "differential",
            findings=[f.id for f in found.findings],
            added=[f"{'' if f.present else 'no '}{f.id} ({f.clause})" for f in found.added],
            overruled=[f"{'' if f.present else 'no '}{f.id} ({f.clause})" for f in found.overruled],
            hypotheses=[(h.name, h.disease.disease if h.disease else "not in the graph") for h in found.hypotheses],
            ranking=[(r.disease, round(r.score, 4)) for r in found.ranking],
            winners=list(found.winners),
        )
        compared = [h.disease for h in found.hypotheses if h.disease is not None]
        if not found.ranking:
            notices = [noted("no_known_finding", context.language)]
            return ToolArtifact(
                tool=self.name, outcome=Outcome.NOTHING_FOUND, differential=found, notices=notices, remarks=remarks
            )
        cited = [r for r in found.ranking[:CITED] if r.score >= CITED_SHARE]
        ids = {r.disease for r in cited}
        evidence = [
            self._graph.evidence_for(r.disease, context.language, r.evidence_id).model_copy(
                update={"found": (Found(tool=self.name, stream=_stream(r), rank=n, score=r.score),)}
            )
            for n, r in enumerate([*cited, *(r for r in compared if r.disease not in ids)], start=1)
        ]
        notices = [*_given(found, context.language), *_records_spoke(cited, context.language)]
        return ToolArtifact(tool=self.name, evidence=evidence, differential=found, notices=notices, remarks=remarks)

    def _look_up(self, asked: Arguments, context: ToolContext) -> tuple[Differential, list[str]]:
        """The differential, and what of the findings could not be counted."""
        linked, unknown = self._graph.linked(asked.findings, context.language)
        earlier = [f for f in context.added if f.id not in {g.id for g in linked}]
        known = tuple(f for f in context.findings if f not in context.added)
        found = self._graph.look_up(
            asked.case,
            context.language,
            asked.limit,
            known,
            learn=True,
            added=(*linked, *earlier),
            hypotheses=asked.hypotheses,
        )
        remarks = [f"Not known to the graph: {'; '.join(unknown)}. It was not counted."] if unknown else []
        if found.overruled:
            told = "; ".join(f"{'' if f.present else 'no '}{f.name} ({f.clause})" for f in found.overruled)
            remarks.append(f"The case's words were read otherwise by the local reader: {told}. Yours counts.")
        settled = {k.id: k.present for k in known if k.start < 0 and k.present is not None}
        answered = [f.clause for f in linked if settled.get(f.id, f.present) is not f.present]
        if answered:
            remarks.append(f"The patient's own answers count, which say otherwise: {'; '.join(answered)}.")
        return found, remarks


def _given(found: Differential, language: str) -> list[Notice]:
    """The diagnoses that the case gives, in its own words; nothing where it gives none."""
    told = unique([f"“{clause}”" for _, clause in found.given])
    return [noted("diagnosis_given", language, detail=messages(language)["gate.comma"].join(told))] if told else []


def _stream(line: RankedDisease) -> str:
    """Where a line comes from: a diagnosis that the graph lacks has no category."""
    return "graph" if line.l2 else "records"


def _records_spoke(cited: Sequence[RankedDisease], language: str) -> list[Notice]:
    """How many records spoke for each disease that is cited; nothing where none did."""
    words = messages(language)
    named = [f"{words.name_of(d)} ({len(d.records)})" for d in cited if d.records]
    return [noted("records_spoke", language, detail=words["gate.comma"].join(named))] if named else []
