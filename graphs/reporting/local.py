"""The report without a model: the graph's entries, and the sections of the documents on the leading diagnosis."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from graphs.answering.contract import AnswerView
from graphs.answering.local import AnswererLocal
from graphs.answering.notices import notices_for
from graphs.differential_filter.mentions import MONOGRAPHS, about
from graphs.judging.orders import speaks_to_machines
from graphs.reporting.contract import Part, ReportDraft, ReportStatement, report_of
from prompts.answer import Discipline
from tools.contract import RankedDisease
from tools.evidence import Evidence, Frozen, Origin, Statement, cite
from tools.medicines.names import medicines_in
from tools.text.sentences import sentences
from tools.text.tokens import tokens

# Which discipline a sentence on treatment belongs to: by its words, the medicines that it names among them.
# Words of each discipline; all ours.
WORDS: tuple[tuple[Discipline, re.Pattern[str]], ...] = (
    (
        "medicines",
        re.compile(
            r"\b(?:drugs?|medicines?|medication|tablets?|capsules?|antibiotics?|antivirals?|antifungals?|steroids?|"
            r"painkillers?|analgesics?|antihistamines?|diuretics?|anticoagulants?|opioids?|inhalers?|inhaled|injections?|"
            r"injected|intravenous|infusions?|vaccines?|doses?|mg|creams?|ointments?|drops|sprays?|chemotherapy|insulin|"
            r"\w+(?:cillin|mycin|prazole|statin|sartan|olol|azole|triptan))\b|药|抗生素|激素|剂量|注射|口服|胰岛素|疫苗",
            re.IGNORECASE,
        ),
    ),
    (
        "procedures",
        re.compile(
            r"\b(?:surg\w+|operat(?:ion|ed|ive)\w*|drains?|drainage|aspiration|punctures?|stents?|bypass|catheters?|"
            r"\w+ectomy|\w+otomy|\w+oscop\w+|angioplasty|ablation|pacemakers?|intubat\w+|ventilat\w+|transfus\w+|dialysis|"
            r"excision|incision|repair(?:ed)?|sutur\w+|splints?|casts?|manoeuvres?|maneuvers?|oxygen|CPAP|radiotherapy|"
            r"plasma exchange|defibrillat\w+)\b|手术|引流|穿刺|支架|切除|置管|输血|透析|吸氧|氧疗|通气|放疗",
            re.IGNORECASE,
        ),
    ),
    (
        "physiotherapy",
        re.compile(
            r"\b(?:physiotherap\w+|physical therap\w+|exercises?|rehabilitation|stretch\w*|mobilis\w+|mobiliz\w+|"
            r"posture|breathing techniques?|occupational therap\w+)\b|物理治疗|康复|锻炼|训练",
            re.IGNORECASE,
        ),
    ),
    (
        "psychology",
        re.compile(
            r"\b(?:psycho\w+|counsel\w+|cognitive|behaviou?ral|talking therap\w+|mindfulness|relaxation|reassur\w+)\b|"
            r"心理|认知|咨询",
            re.IGNORECASE,
        ),
    ),
    (
        "self_care",
        re.compile(
            r"\b(?:rest(?:ing)?|fluids?|drink\w*|diet\w*|meals?|weight|smok\w+|alcohol|caffeine|avoid\w*|sleep\w*|"
            r"honey|hygiene|lifestyle|bed|ice|warmth|heat|elevat\w+|self-care|at home)\b|"
            r"休息|饮食|饮水|戒烟|戒酒|体重|避免|睡眠",
            re.IGNORECASE,
        ),
    ),
)


def discipline_of(sentence: str) -> Discipline:
    """The discipline with most words in a sentence, of several the one named first; ``general`` without any."""
    found = {name: [(m[0].lower(), m.start()) for m in words.finditer(sentence)] for name, words in WORDS}
    found["medicines"] += [(m.written.lower(), m.start) for m in medicines_in(sentence) if not m.everyday]
    said = {name: places for name, places in found.items() if places}
    if not said:
        return "general"
    return max(said, key=lambda name: (len({w for w, _ in said[name]}), -min(at for _, at in said[name])))


Sections = Callable[[str], Sequence[Evidence]]
"""The pieces of a stored document by its id, each with its section; none for one that is not kept whole."""


class ReportSettings(Frozen):
    """Settings of the local report. All ours.

    Attributes:
        explained: leading diseases that are explained in full.
        sentences: sentences of documents a part, beside those of the graph's entry.
        questions: questions to the patient.
    """

    explained: int = 2
    sentences: int = 6
    questions: int = 5


class _Topic(NamedTuple):
    """A part of the report: sections of documents, and sentences of a graph's entry, that speak of it."""

    part: Part
    section: re.Pattern[str]
    entry: re.Pattern[str]


TOPICS = (
    _Topic(
        "explanation",
        re.compile(r"confused|differential|鉴别", re.IGNORECASE),
        re.compile(r"(?!)"),  # the disease's own line has them
    ),
    _Topic(
        "treatment",
        re.compile(r"treat|manag|therap|practice|治疗|处理", re.IGNORECASE),
        re.compile(r"\btreated with\b|方法治疗"),
    ),
    _Topic(
        "evaluations",
        re.compile(r"diagnos|test|investigat|examin|诊断|检查", re.IGNORECASE),
        re.compile(r"\b(?:almost always|usually|often|sometimes|rarely) shows\b|可见"),
    ),
)


class ReporterLocal:
    """Writes reports without a service.

    Args:
        local: the answerer whose lines on diseases the report shares.
        sections: the pieces of a document of the library.
    """

    def __init__(
        self,
        local: AnswererLocal,
        sections: Sections = lambda _id: (),
        settings: ReportSettings | None = None,
    ) -> None:
        self._local, self._sections = local, sections
        self._settings = settings or ReportSettings()

    async def report(self, view: AnswerView) -> ReportDraft:
        """Every statement quotes the graph or a document of the turn; a part on which neither speaks is unknown."""
        return await asyncio.to_thread(self.report_now, view)

    def report_now(self, view: AnswerView) -> ReportDraft:
        """The same, for callers in a thread of their own."""
        differential = view.differential
        ranking = differential.ranking if differential is not None else ()
        statements, evidence = self._diagnoses(view)
        for disease in ranking[: self._settings.explained]:
            explained = self._local.writer.explained(disease, view)
            if explained is not None:
                statements.append(ReportStatement(part="explanation", statement=explained[0]))
                evidence.append(explained[1])
        for disease in ranking[:1]:
            told, cited = self._on(disease, view)
            statements += told
            evidence += cited
        questions = differential.questions[: self._settings.questions] if differential is not None else ()
        said = [s.statement for s in statements]
        cited_ids = {c.evidence_id for s in said for c in s.citations}
        held = {e.id: e for e in evidence if e.id in cited_ids}
        return ReportDraft(
            report=report_of(tuple(statements), tuple(questions)),
            evidence=tuple(held.values()),
            notices=tuple(notices_for(view, said, held.values(), self._local.today())),
        )

    def documents(self, disease: RankedDisease, view: AnswerView) -> list[Evidence]:
        """The library's monograph on a disease, and the documents on it that the turn kept, whole where they are."""
        kept = [e for e in view.evidence if e.origin is Origin.RETRIEVED and e.citable and about(e, [disease])]
        pieces = list(self._sections(f"{MONOGRAPHS}:{disease.disease}"))
        for item in kept:
            pieces += self._sections(item.document_id) or [item]
        return list({p.id: p for p in pieces if p.citable}.values())

    def _diagnoses(self, view: AnswerView) -> tuple[list[ReportStatement], list[Evidence]]:
        lines, entries = self._local.writer.lines(view)
        rare, more = self._local.rare.lines(view)
        told = [ReportStatement(part="diagnoses", statement=s) for s in (*lines, *rare)]
        return told, [*entries, *more]

    def _on(self, disease: RankedDisease, view: AnswerView) -> tuple[list[ReportStatement], list[Evidence]]:
        """What is said of a disease: how it is told apart, treated and examined."""
        documents = self.documents(disease, view)
        entry = self._local.writer.entry(disease, view)
        told: list[ReportStatement] = []
        cited: list[Evidence] = []
        for topic in TOPICS:
            found = _sentences([entry], topic.entry) if entry is not None else []
            treating = [d for d in documents if topic.section.search(d.section or "")]
            found += _sentences(treating, None)[: self._settings.sentences]
            told += [_stated(topic.part, statement) for statement, _ in found]
            cited += [item for _, item in found]
        return told, cited


def _sentences(items: Sequence[Evidence], wanted: re.Pattern[str] | None) -> list[tuple[Statement, Evidence]]:
    """Sentences of texts as statements that quote them, in order; those that a pattern finds, where one is given."""
    out: list[tuple[Statement, Evidence]] = []
    for item in items:
        for span in sentences(item.text):
            said = span.of(item.text)
            if tokens(said) and not speaks_to_machines(said) and (wanted is None or wanted.search(said)):
                citation = cite(item, span.start, span.end)
                out.append((Statement(text=said, origin=item.origin, citations=(citation,)), item))
    return out


def _stated(part: Part, statement: Statement) -> ReportStatement:
    discipline = discipline_of(statement.text) if part == "treatment" else None
    return ReportStatement(part=part, statement=statement, discipline=discipline)
