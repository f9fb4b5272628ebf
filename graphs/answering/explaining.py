"""Answers to questions about what was said: from the session's differential, its entries, the last answer's evidence.

Nothing is searched for. Every line quotes the graph's entry of a disease or the evidence of the answer before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

from graphs.answering.contract import Answer, AnswerView, Draft
from graphs.answering.differential_answer import DifferentialWriter
from graphs.answering.extractive import Extractor, statement
from graphs.answering.notices import notice, notices_for
from graphs.triage.contract import Aspect, Explain
from graphs.verdicts.contract import Certainty
from tools.contract import Differential, Finding, Notice, RankedDisease
from tools.evidence import Evidence, Origin, Statement
from tools.messages import messages

FOLLOW_UPS = 3  # ours: questions beside an explanation
ASKED = 5  # ours: questions when they are asked for: all that a differential holds
OTHERS = 4  # ours: alternatives told
SURELY = 2  # ours: alternatives told however little belief they have
LEAST = 0.05  # ours: share of the leader's belief that a further alternative needs
MORE = 2  # ours: further sentences of the evidence told
READ = 8  # ours: findings named with the words that they were read from
KNOWING = re.compile(r"present|symptom|diagnos|confused|differential|表现|症状|诊断|鉴别", re.IGNORECASE)
DOUBT = re.compile(
    r"\b(?:uncertain\w*|unclear|unknown|limited|low[- ](?:quality|certainty)|certainty|moderate|"
    r"small (?:trials?|stud\w+|"
    r"number\w*)|few (?:trials?|stud\w+)|inconsisten\w*|heterogene\w*|confidence interval|bias|"
    r"not (?:been )?(?:shown|proven)|"
    r"varies|debated?|controvers\w*)\b|不确定|有限|尚不清楚|证据质量",
    re.IGNORECASE,
)


class Explainer:
    """Explains what was said in the session.

    Args:
        writer: writes the line of a disease. extractor: finds sentences in evidence. today: for review dates.
    """

    def __init__(self, writer: DifferentialWriter, extractor: Extractor, today: Callable[[], date]) -> None:
        self._writer, self._extractor, self._today = writer, extractor, today

    def explain(self, view: AnswerView) -> Draft:
        """The draft; a notice alone when nothing was said that could be explained."""
        said = view.said
        if said is None or (said.answer is None and not said.case):
            return _nothing(view, "nothing_said_before")
        if not said.asked.of_case:
            return (
                self._of_evidence(view, said.asked, said.answer)
                if said.answer
                else _nothing(view, "nothing_said_before")
            )
        differential = view.differential
        if differential is None or not differential.ranking:
            return _nothing(view, "no_differential_yet")
        return self._of_case(view, said.asked, differential, said.case)

    def _of_case(self, view: AnswerView, asked: Explain, differential: Differential, case: str) -> Draft:
        if asked.about:
            return self._about(view, asked, differential)
        more = _remarks(view, asked.aspect, differential, case)
        statements, entries = self._lines(view, _told(asked.aspect, differential.ranking))
        answer = view.said.answer if view.said is not None else None
        if asked.aspect in (Aspect.WHY, Aspect.SOURCES) and answer is not None:
            passages, held = _passages(answer, every=asked.aspect is Aspect.SOURCES)
            statements, entries = [*statements, *passages], [*entries, *held]
        if asked.aspect is Aspect.SOURCES:
            more.append(_rests_on(view, entries))
        asking = ASKED if asked.aspect in (Aspect.ASK, Aspect.APART) else FOLLOW_UPS
        return self._draft(view, statements, entries, more, differential, asking)

    def _about(self, view: AnswerView, asked: Explain, differential: Differential) -> Draft:
        """Why a named disease is ranked where it is: its line, and the leader's beside."""
        ranks = {d.disease: n for n, d in enumerate(differential.ranking, start=1)}
        rank = ranks.get(asked.about)
        if rank is not None:
            disease = differential.ranking[rank - 1]
            told = [disease] if rank == 1 else [disease, differential.ranking[0]]
            place = f"{rank}/{len(ranks)}, {disease.score:.0%}"
            more = [notice("where_ranked", view.language, f"{messages(view.language).name_of(disease)}: {place}")]
            statements, entries = self._lines(view, told)
        else:
            outside = self._writer.unranked(asked.about, view, differential.findings)
            if outside is None:
                return _nothing(view, "no_entry", asked.named)
            line, entry = outside
            more = [notice("not_ranked", view.language, f"{entry.title} ({len(ranks)})")]
            statements, entries = self._lines(view, differential.ranking[:1])
            statements, entries = [line, *statements], [entry, *entries]
        return self._draft(view, statements, entries, more, differential, FOLLOW_UPS)

    def _of_evidence(self, view: AnswerView, asked: Explain, answer: Answer) -> Draft:
        """From the evidence of the last answer: what it rests on, and further sentences of it."""
        held = [e for e in answer.evidence if e.citable and e.origin in (Origin.RETRIEVED, Origin.CASE)]
        cited = {c.evidence_id for s in answer.statements for c in s.citations}
        doubting = asked.aspect in (Aspect.SURE, Aspect.AGAINST)
        found = self._extractor.scored(answer.question, held) if held else []
        quotes = {c.quote for s in answer.statements for c in s.citations}
        fresh = [s for s in found if not any(s.text in q or q in s.text for q in quotes)]
        if doubting:
            fresh = [s for s in fresh if DOUBT.search(s.text) or "ncertain" in (s.evidence.section or "")]
        further = [statement(s) for s in fresh[:MORE]]
        brief = asked.aspect is Aspect.SURE or (doubting and further)  # the answer itself is not told once more
        statements = [*further, *answer.statements[:1]] if brief else [*answer.statements, *further]
        entries = [e for e in answer.evidence if e.id in cited] + [s.evidence for s in fresh[:MORE]]
        if not statements:
            return _nothing(view, "nothing_said_before")
        more = [_rests_on(view, entries)]
        if asked.aspect is Aspect.SURE:
            more.insert(0, _certainty_of_evidence(view, answer, doubts=bool(further)))
        draft = self._draft(view, statements, entries, more, None, 0)
        return draft.model_copy(update={"choice": answer.choice})

    def _lines(self, view: AnswerView, diseases: Sequence[RankedDisease]) -> tuple[list[Statement], list[Evidence]]:
        written = [self._writer.explained(d, view) for d in diseases]
        lines = [w for w in written if w is not None]
        return [line for line, _ in lines], [entry for _, entry in lines]

    def _draft(
        self,
        view: AnswerView,
        statements: Sequence[Statement],
        entries: Sequence[Evidence],
        more: Sequence[Notice],
        differential: Differential | None,
        asking: int,
    ) -> Draft:
        known = tuple({e.id: e for e in entries}.values())
        return Draft(
            statements=tuple(statements),
            evidence=known,
            follow_up_questions=differential.questions[:asking] if differential is not None else (),
            notices=(*more, *notices_for(view, statements, known, self._today())),
            abstained=not statements,
        )


def _nothing(view: AnswerView, code: str, detail: str = "") -> Draft:
    return Draft(notices=(notice(code, view.language, detail),), abstained=True)


def _told(aspect: Aspect, ranking: Sequence[RankedDisease]) -> list[RankedDisease]:
    """The diseases that an answer tells of."""
    if aspect is Aspect.ELSE:
        return _others(ranking)
    if aspect is Aspect.APART:
        return [*ranking[:1], *_others(ranking)[:2]]
    return list(ranking[: {Aspect.SURE: 2, Aspect.SUMMARY: 3}.get(aspect, 1)])


def _remarks(view: AnswerView, aspect: Aspect, differential: Differential, case: str) -> list[Notice]:
    """What is told beside: how sure, the case so far, what was read from it, that nothing is against or to be asked."""
    lead = differential.ranking[0]
    out: list[Notice] = []
    if aspect is Aspect.SURE:
        out.append(_certainty(view, differential))
    if aspect is Aspect.SUMMARY:
        out.append(notice("case_so_far", view.language, case))
    if aspect is Aspect.AGAINST and not lead.findings_against:
        out.append(notice("nothing_against", view.language, messages(view.language).name_of(lead)))
    if aspect in (Aspect.ASK, Aspect.QUESTION) and not differential.questions:
        out.append(notice("nothing_to_ask", view.language))
    if aspect is Aspect.QUESTION and differential.questions:
        first = differential.questions[0]
        out.append(notice("why_asked", view.language, f"{first.text} {first.why}"))
    if aspect in (Aspect.WHY, Aspect.SUMMARY, Aspect.SURE):
        out += _read(view, (*differential.findings, *differential.asides))
    return out


def _others(ranking: Sequence[RankedDisease]) -> list[RankedDisease]:
    """The alternatives to the leader: two at least, more while they have some belief."""
    rest = ranking[1 : OTHERS + 1]
    return [d for n, d in enumerate(rest) if n < SURELY or d.score >= LEAST * ranking[0].score]


def _passages(answer: Answer, *, every: bool) -> tuple[list[Statement], list[Evidence]]:
    """Statements of an answer that quote retrieved texts, and these; not ``every``: those on how one knows."""
    on = {e.id for e in answer.evidence if every or KNOWING.search(e.section or "")}
    told = [s for s in answer.statements if s.origin is Origin.RETRIEVED and on & {c.evidence_id for c in s.citations}]
    cited = {c.evidence_id for s in told for c in s.citations}
    return told, [e for e in answer.evidence if e.id in cited]


def _certainty(view: AnswerView, differential: Differential) -> Notice:
    shares = [f"{messages(view.language).name_of(d)} {d.score:.0%}" for d in differential.ranking[:3]]
    answer = view.said.answer if view.said is not None else None
    missing = answer.gate.missing if answer is not None and answer.gate is not None else ()
    lacks = messages(view.language)["explain.not_told"] + ", ".join(missing) if missing else ""
    return notice("certainty", view.language, ", ".join(shares) + lacks)


def _certainty_of_evidence(view: AnswerView, answer: Answer, *, doubts: bool) -> Notice:
    """How sure an answer from evidence is: as its verdict grades it, else that and why it was not graded."""
    words = messages(view.language)
    said = words["explain.doubts" if doubts else "explain.no_doubt"]
    verdict = answer.verdict
    if verdict is not None and verdict.certainty is not Certainty.NOT_ASSESSED:
        grade = words[f"verdict.certainties.{verdict.certainty.value}"]
        reason = f"{words['list.colon']}{verdict.reason}" if verdict.reason else ""
        return notice("certainty_graded", view.language, words.joined((f"{grade}{reason}", said)))
    cited = {c.evidence_id for s in answer.statements for c in s.citations}
    documents = {e.document_id: e for e in answer.evidence if e.id in cited}.values()
    levels = dict.fromkeys(words.get(f"level.{e.level}", e.level) for e in documents if e.level)
    kinds = f" ({words['gate.comma'].join(levels)})" if levels else ""
    one = "explain.one_source" if len(documents) == 1 else "explain.sources"
    rests = words.say(one, n=len(documents), kinds=kinds)
    return notice("certainty_ungraded", view.language, words.joined((rests, said)))


def _rests_on(view: AnswerView, entries: Sequence[Evidence]) -> Notice:
    titles = dict.fromkeys(", ".join(p for p in (e.title or e.id, e.level, e.date) if p) for e in entries)
    return notice("rests_on", view.language, "; ".join(titles))


def _read(view: AnswerView, findings: Sequence[Finding]) -> list[Notice]:
    """What the case was understood to say, each finding with its words."""
    shown = [f for f in findings if f.present is not None][:READ]
    told = messages(view.language).group("explain")
    words = [f"{'' if f.present else told['denied']}{f.name}{told[f.told_of]} (“{f.clause.strip()}”)" for f in shown]
    return [notice("read_from_case", view.language, "; ".join(words))] if words else []
