"""From matches and settled findings to what the ranking may count, contradictions resolved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tools.contract import Finding
from tools.knowledge_graph.matching import ALLERGIES, THRESHOLD, Match
from tools.knowledge_graph.questions import Standing
from tools.knowledge_graph.ranking import Observation
from tools.knowledge_graph.schema import Graph
from tools.knowledge_graph.votes import Votes
from tools.text.allergies import REACTION
from tools.text.clauses import Clause

COUNTED = 0.45  # ours: matches below this confidence are not counted in the ranking
NEAR_BEST = 0.7  # ours: a finding is reported when its score is at least this share of its clause's best
LISTED = 0.5  # ours: share of a finding's confidence that counts where it is listed whatever the complaint (PMH, FH)
STRONG = 0.7  # ours: a present finding this sure overrules the denial of a more general one


class Reading(NamedTuple):
    """A case as read: its clauses and their matches, what was settled elsewhere, where it stands, and its votes."""

    told: Sequence[Clause]
    matches: Sequence[Match]
    settled: list[Finding]
    standing: Standing
    votes: Votes


def observe(
    graph: Graph, case: str, clauses: Sequence[Clause], matches: Sequence[Match], known: Sequence[Finding]
) -> list[Observation]:
    """What is counted: the case's own matches, overruled by what was settled elsewhere.

    Findings that were read from one clause are readings of it, and the best counts; each answer to a question counts,
    alike as they may be worded (``yes``).
    """
    position = {f.id: i for i, f in enumerate(graph.findings)}
    settled = [k for k in known if k.id in position and not told_in(case, k)]
    overruled = {position[k.id] for k in settled if not unanswered(k)}
    if not any(_reacts(c) for c in clauses):
        overruled |= {position[name] for name in ALLERGIES & position.keys()}
    share = [LISTED if c.background else 1.0 for c in clauses]
    out = [
        Observation(m.finding, m.score * share[m.clause], m.present, m.clause, clauses[m.clause].side)
        for m in matches
        if m.score >= COUNTED and m.finding not in overruled
    ]
    group: dict[str, int] = {}
    for i, k in enumerate(settled):
        if unanswered(k):
            continue
        clause = len(clauses) + group.setdefault(k.clause if k.start >= 0 else f"#{i}", len(group))
        out.append(Observation(position[k.id], k.score, k.present, clause, k.side))
    return _without_contradictions(graph, out, position)


def _reacts(clause: Clause) -> bool:
    """Whether a clause tells what an allergy may do, of the patient and of now."""
    stated = clause.present is not False and not (clause.past or clause.other or clause.allergy)
    return stated and REACTION.search(clause.plain) is not None


def told_in(case: str, finding: Finding) -> bool:
    """Whether a known finding was read from this very text: it is then read again, and not counted twice."""
    return finding.start >= 0 and bool(finding.clause) and case[finding.start : finding.end] == finding.clause


def without_answers(
    case: str, clauses: Sequence[Clause], matches: Sequence[Match], known: Sequence[Finding]
) -> list[Match]:
    """The matches outside the sentences by which the case states an answer: the answer's finding stands for them.

    A question has more words than its finding ("a fever or a high temperature"), and its denial would deny, or state,
    whatever they match.
    """
    said = {k.clause for k in known if k.start < 0 and k.clause.endswith((".", "。"))}
    spans = [
        m.span("said") for s in said for m in re.finditer(rf"(?:^|[.!?;。！？；])\s*(?P<said>{re.escape(s)})", case)
    ]
    inside = {n for n, c in enumerate(clauses) if any(a <= c.start and c.end <= b for a, b in spans)}
    return [m for m in matches if m.clause not in inside]


def unanswered(finding: Finding) -> bool:
    """Whether it is a question of ours to which the answer was not known, or that nobody answered (then it has no
    clause): no evidence, for or against, and what the text tells of it counts."""
    return finding.start < 0 and finding.present is None


def reported(
    graph: Graph, clauses: Sequence[Clause], matches: Sequence[Match], language: str, overruled: frozenset[str]
) -> list[Finding]:
    """The findings of the case as shown: one record an id, its surest clause, in order of the text.

    Only what a clause says plainly is shown; the ranking and the votes count more. What a stated finding implies is
    not shown as denied, nor beside it where one clause tells both.
    """
    kept = surest(matches, assured=True)
    implied = {(above, m.clause) for f, m in kept.items() if m.present for above in graph.broader(graph.findings[f].id)}
    stated = {above for above, _ in implied}
    chosen = [
        m
        for f, m in kept.items()
        if (name := graph.findings[f].id) not in overruled
        and (name, m.clause) not in implied
        and (m.present is not False or name not in stated)
    ]
    ordered = sorted(chosen, key=lambda m: (clauses[m.clause].start, -m.score, m.finding))
    return [finding_of(graph, m.finding, clauses[m.clause], m.present, m.score, language) for m in ordered]


def asides(
    graph: Graph, clauses: Sequence[Clause], matches: Sequence[Match], language: str, shown: Sequence[Finding]
) -> list[Finding]:
    """What the case tells of the past or of somebody else, in order of the text; not what it tells of now as well.

    Args:
        matches: of such clauses, as `Matcher.asides` gives them; shown: the findings of now.
    """
    of = {(c.start, c.end): "other" if c.other else "past" for c in clauses}
    now = frozenset(f.id for f in shown)
    found = reported(graph, clauses, matches, language, now)
    return [f.model_copy(update={"told_of": of[f.start, f.end]}) for f in found if f.present]


def surest(matches: Sequence[Match], *, assured: bool) -> dict[int, Match]:
    """For each finding its surest match above the threshold that is near the best of its clause.

    Args:
        assured: leave out what is not told plainly.
    """
    top: dict[int, float] = {}
    for m in matches:
        top[m.clause] = max(top.get(m.clause, 0.0), m.score)
    best: dict[int, Match] = {}
    for m in matches:
        sure = m.score > THRESHOLD and m.score >= NEAR_BEST * top[m.clause] and (m.assured or not assured)
        if sure and _surer(m, best.get(m.finding)):
            best[m.finding] = m
    return best


def _surer(match: Match, other: Match | None) -> bool:
    return other is None or (match.score, match.present is not False) > (other.score, other.present is not False)


def finding_of(graph: Graph, at: int, clause: Clause, present: bool | None, score: float, language: str) -> Finding:
    """The finding at a position of ``graph.findings``, as a clause tells it."""
    node = graph.findings[at]
    return Finding(
        id=node.id,
        name=node.zh if language == "zh" else node.name,
        clause=clause.text,
        present=present,
        side=clause.side,
        site=min(clause.sites, default=None),
        score=round(min(score, 1.0), 4),
        start=clause.start,
        end=clause.end,
    )


def _without_contradictions(graph: Graph, items: list[Observation], position: dict[str, int]) -> list[Observation]:
    """A finding told both ways is taken the surer way; a present finding overrules the denial of what it implies."""
    surest: dict[int, Observation] = {}
    for o in items:
        known = surest.get(o.finding)
        if known is None or (o.score, o.present is not False) > (known.score, known.present is not False):
            surest[o.finding] = o
    implied: set[int] = set()
    for o in surest.values():
        if o.present and o.score >= STRONG:
            implied.update(position[above] for above in graph.broader(graph.findings[o.finding].id))
    return [
        o
        for o in items
        if (o.present is False) == (surest[o.finding].present is False)
        and not (o.present is False and o.finding in implied)
    ]
