"""Notices of an answer: stable codes, and their words in both languages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from graphs.answering.contract import AnswerView
from graphs.answering.figures import asks_figure, gives_figure
from graphs.answering.shown import source_name
from graphs.triage.contract import Kind
from graphs.verdicts.certainty import is_own
from tools.contract import Notice, Severity
from tools.evidence import Evidence, EvidenceId, Origin, Statement, Status
from tools.text.language import language_of

NOTICES: dict[str, tuple[Severity, str, str]] = {
    "nothing_found": (
        Severity.WARNING,
        "Nothing that answers this was found in what could be searched. No answer is given.",
        "在可以检索的范围内没有找到可以回答该问题的证据，因此不作回答。",
    ),
    "emergency_first": (
        Severity.WARNING,
        "What to do now stands above; nothing else is looked into until help is on its way.",
        "请先按上面的建议去做；在得到帮助之前，不再讨论其他问题。",
    ),
    "terms_not_found": (
        Severity.WARNING,
        "No evidence mentions: {detail}.",
        "证据中没有提到：{detail}。",
    ),
    "no_choice_supported": (
        Severity.WARNING,
        "The evidence found supports no option clearly, so none is chosen.",
        "现有证据不足以明确支持任何选项，因此不作选择。",
    ),
    "no_verdict": (
        Severity.WARNING,
        "I found nothing that answers this directly. What was found beside it is quoted.",
        "没有找到可以直接回答该问题的内容。以下仅引用相关内容。",
    ),
    "no_figure": (
        Severity.WARNING,
        "The sources found give no figure.",
        "所找到的来源没有给出数值。",
    ),
    "own_document": (
        Severity.WARNING,
        "Your document; not assessed: {detail}.",
        "您自己的文件，未经评估：{detail}。",
    ),
    "model_view": (
        Severity.WARNING,
        "The model's view, not carried by the quotes: {detail}.",
        "模型的看法，所引内容并未支持：{detail}。",
    ),
    "choice_unreadable": (
        Severity.WARNING,
        "The language model named none of the options, so none is chosen.",
        "语言模型没有给出任何一个选项，因此不作选择。",
    ),
    "choice_not_borne_out": (
        Severity.WARNING,
        "No quoted statement speaks of the chosen option: the choice is the language model's own.",
        "所引陈述均未涉及所选选项：该选择出自语言模型自身。",
    ),
    "statement_dropped": (
        Severity.WARNING,
        "{detail} statement(s) of the language model that the evidence does not support were left out.",
        "语言模型有 {detail} 条陈述得不到证据支持，已删去。",
    ),
    "reference_dropped": (
        Severity.WARNING,
        "{detail} statement(s) that name references which were not retrieved were left out.",
        "有 {detail} 条陈述提到并未检索到的文献，已删去。",
    ),
    "not_retrieved": (
        Severity.WARNING,
        "Answered from the language model's own knowledge: nothing was retrieved for it, and nothing was verified.",
        "根据语言模型自身的知识作答：没有检索，也没有核实。",
    ),
    "rests_on_generated": (
        Severity.WARNING,
        "Rests on background that a language model wrote, not on evidence: {detail}.",
        "依据语言模型生成的背景，而非证据：{detail}。",
    ),
    "nothing_useful_retrieved": (
        Severity.WARNING,
        "Nothing useful was retrieved for this; the answer rests on what is named with it.",
        "没有检索到有用的资料；答复仅依据所列来源。",
    ),
    "report_of_cases_only": (
        Severity.INFO,
        "A report is made for a patient's case only; this is none.",
        "仅对病例出具报告；本次并非病例。",
    ),
    "choice_breaks_constraint": (
        Severity.WARNING,
        "No option is chosen: the one that was named breaks what the case states ({detail}).",
        "不作选择：所选的选项与病例所述不符（{detail}）。",
    ),
    "options_barred": (
        Severity.WARNING,
        "Not to be chosen by what the case states: {detail}.",
        "按病例所述不可选择：{detail}。",
    ),
    "barred_medicine": (
        Severity.DANGER,
        "Take care: {detail}. Only a clinician who knows of this may decide to give it.",
        "请注意：{detail}。须由了解此情况的临床医生决定是否使用。",
    ),
    "breaks_constraint": (
        Severity.DANGER,
        "The answer names a medicine that the case bars: {detail}. Only a clinician may decide to give it.",
        "答复提到病例中不宜使用的药物：{detail}。未经临床医生决定不得使用。",
    ),
    "evidence_in_english": (
        Severity.INFO,
        "The evidence is in English and is quoted as it stands.",
        "证据为英文，按原文引用。",
    ),
    "clinician_review": (
        Severity.WARNING,
        "This is a high-risk matter ({detail}): a clinician must review the answer before anyone acts on it.",
        "此问题风险较高（{detail}）：采取任何行动前须由临床医生审核。",
    ),
    "starter_knowledge": (
        Severity.INFO,
        "The starter library and knowledge graph are general medical knowledge, not clinically reviewed.",
        "内置资料库和知识图谱为一般医学知识，未经临床审核。",
    ),
    "past_review_date": (
        Severity.WARNING,
        "Past its review date: {detail}.",
        "已过复审日期：{detail}。",
    ),
    "nothing_said_before": (
        Severity.WARNING,
        "Nothing has been said yet that could be explained. Describe a case or ask a question first.",
        "此前还没有可以解释的内容。请先描述病例或提出问题。",
    ),
    "no_differential_yet": (
        Severity.WARNING,
        "The case told so far gave no ranked diagnoses that could be explained. Tell more of it.",
        "目前的病例尚未得出可以解释的诊断排序，请补充更多信息。",
    ),
    "no_entry": (
        Severity.WARNING,
        "The knowledge graph has no entry on {detail}.",
        "知识图谱中没有{detail}的条目。",
    ),
    "where_ranked": (Severity.INFO, "Where it is ranked: {detail}.", "当前排名：{detail}。"),
    "not_ranked": (
        Severity.INFO,
        "Not among the ranked diagnoses: {detail}. Its entry is compared with the findings of the case.",
        "未进入诊断排序：{detail}。以下将其条目与本例表现对照。",
    ),
    "nothing_against": (
        Severity.INFO,
        "Nothing told so far speaks against {detail} in the knowledge graph.",
        "就目前所述，知识图谱中没有不支持{detail}的表现。",
    ),
    "nothing_to_ask": (
        Severity.INFO,
        "No further question would change the ranking noticeably.",
        "没有能明显改变排序的进一步问题。",
    ),
    "why_asked": (Severity.INFO, "Why this is asked: {detail}", "提问的原因：{detail}"),
    "case_so_far": (Severity.INFO, "The case as told so far: {detail}", "目前的病例：{detail}"),
    "read_from_case": (Severity.INFO, "Read from the case: {detail}.", "从病例中读出：{detail}。"),
    "certainty": (
        Severity.INFO,
        "Shares of belief among the ranked diagnoses, not calibrated probabilities: {detail}.",
        "各诊断所占的相对可信度（并非经校准的概率）：{detail}。",
    ),
    "rests_on": (Severity.INFO, "This rests on: {detail}.", "依据来源：{detail}。"),
    "evidence_under_concern": (
        Severity.WARNING,
        "An expression of concern or a preprint is cited: {detail}.",
        "引用了被表示关注的文献或预印本：{detail}。",
    ),
}

UNREVIEWED = frozenset({"library", "graph"})  # ours: collections that ship with the house


def notice(code: str, language: str, detail: str = "") -> Notice:
    """The notice with this code in a language; ``detail`` fills its gap."""
    severity, english, chinese = NOTICES[code]
    text = (chinese if language == "zh" else english).format(detail=detail)
    return Notice(code=code, text=text, severity=severity)


def notices_for(
    view: AnswerView, statements: Sequence[Statement], evidence: Iterable[Evidence], today: date
) -> list[Notice]:
    """What the user must know about an answer that was given: sources, dates, language, the figure that it lacks."""
    cited_ids = {c.evidence_id for s in statements for c in s.citations}
    cited = [e for e in {e.id: e for e in evidence}.values() if e.id in cited_ids]
    out: list[Notice] = []
    if any(EvidenceId.parse(e.id).collection in UNREVIEWED for e in cited):
        out.append(notice("starter_knowledge", view.language))
    own = [e for e in cited if is_own(e)]
    if own:
        out.append(notice("own_document", view.language, _names(own)))
    asked = view.kind == Kind.EVIDENCE and statements and asks_figure(view.question)
    if asked and not any(gives_figure(view.question, s.text) for s in statements):
        out.append(notice("no_figure", view.language))
    late = [e for e in cited if e.review_by and e.review_by < today.isoformat()]
    if late:
        out.append(notice("past_review_date", view.language, _names(late)))
    doubtful = [e for e in cited if e.status in (Status.CONCERN, Status.PREPRINT)]
    if doubtful:
        out.append(notice("evidence_under_concern", view.language, _names(doubtful)))
    if view.language == "zh" and _english(statements):
        out.append(notice("evidence_in_english", view.language))
    return out


def _english(statements: Sequence[Statement]) -> bool:
    quoted = [s for s in statements if s.origin is not Origin.PARAMETRIC]
    return any(language_of(c.quote) == "en" for s in quoted for c in s.citations)


def _names(items: Sequence[Evidence]) -> str:
    return "; ".join(dict.fromkeys(source_name(e) for e in items))
