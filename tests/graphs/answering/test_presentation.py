"""An answer in one view: the direct answer first, one box at most, nothing told twice, nothing lost."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console

from agent.cli.render import show_answer
from graphs.answering.contract import Answer, Choice, Diagnosis, Usage
from graphs.answering.presentation import Presentation, as_data, present, source_facts
from graphs.answering.rendering import html_of, markdown_of
from graphs.triage.contract import RedFlag
from graphs.verdicts.contract import Certainty, Verdict, VerdictValue
from support.monographs import SECTIONS
from support.verdict_evidence import piece
from tools.contract import Notice, RankedDisease, Severity
from tools.evidence import Evidence, Origin, SameWork, Statement, cite
from tools.medicines.pages import HEADINGS
from tools.text.language import HAN

TRIAL = piece(
    "In 3730 adults with heart failure, it lowered admissions compared with placebo (hazard ratio 0.75).",
    level="randomised trial",
    date="2020-10-08",
    title="A large trial",
)
SMALL = piece(
    "In 84 adults with heart failure, it changed nothing (12% versus 11%).",
    name="2",
    level="observational study",
    date="2019",
    title="A small study: drug versus usual care in heart failure",
)
ENTRY = "Reflux often presents with heartburn. Reflux is made less likely by fever. Red flags: weight loss."
HEARTBURN, FEVER, FLAGS = ENTRY.split(". ")
QUOTES = (f"{HEARTBURN}.", f"{FEVER}.", FLAGS)


def quoted(item: Evidence, text: str = "", told: str = "") -> Statement:
    text = text or item.text
    start = item.text.index(text)
    return Statement(text=told or text, origin=item.origin, citations=(cite(item, start, start + len(text)),))


def answer(kind: str = "evidence", **fields: Any) -> Answer:
    return Answer(question="q", kind=kind, language=fields.pop("language", "en"), **fields)


def terminal(answer: Answer, **options: Any) -> str:
    out = io.StringIO()
    show_answer(Console(file=out, width=200, **options), answer)
    return out.getvalue()


def note(code: str, text: str = "", severity: Severity = Severity.WARNING) -> Notice:
    return Notice(code=code, text=text or f"{code}.", severity=severity)


def case(text: str = "", share: float = 0.6, **fields: Any) -> Presentation:
    """A case with one ranked disease of this share, whose line in the answer is this text, and a likelier one."""
    entry = Evidence(id="graph:starter/gerd", text=ENTRY, title="Reflux", kind="disease", origin=Origin.KNOWLEDGE_GRAPH)
    disease = RankedDisease(
        disease="gerd",
        name="Reflux",
        icd10="K21.9",
        l1="a",
        l2="b",
        score=share,
        severity="routine",
        findings_for=("heartburn",),
        findings_against=("fever",),
        evidence_id=entry.id,
    )
    line = Statement(
        text=text or f"Reflux (K21.9). Fits this case: {HEARTBURN}. Against in this case: {FEVER}. Watch for: {FLAGS}",
        origin=entry.origin,
        citations=tuple(cite(entry, ENTRY.index(q), ENTRY.index(q) + len(q)) for q in QUOTES),
    )
    held = [entry, *fields.pop("evidence", [])]
    statements = [line, *fields.pop("statements", [])]
    likelier = [disease.model_copy(update={"disease": "x", "name": "Ulcer", "score": 0.9})] if share < 0.5 else []
    return present(answer("case", statements=statements, evidence=held, differential=[*likelier, disease], **fields))


def conflicting(**fields: Any) -> Answer:
    verdict = Verdict(
        value=VerdictValue.CONFLICTING,
        statements=(TRIAL.text, SMALL.text),
        sides=(VerdictValue.YES, VerdictValue.NO),
        certainty=Certainty.LOW,
    )
    return answer(statements=[quoted(TRIAL), quoted(SMALL)], evidence=[TRIAL, SMALL], verdict=verdict, **fields)


def test_studies_are_a_table_on_a_terminal_and_a_line_for_each_thing_in_a_pipe() -> None:
    piped = terminal(conflicting()).splitlines()
    at = piped.index("  [1] A large trial", piped.index("The evidence"), piped.index("Retrieved"))
    assert "      Compared with: placebo" in piped[at : at + 8]
    assert f"      Quote: “{TRIAL.text}”" in piped[at : at + 8]
    assert "│ placebo" in terminal(conflicting(), force_terminal=True, color_system=None)


def test_studies_that_disagree_stand_beside_each_other_with_what_is_known_of_each() -> None:
    shown = present(conflicting())
    assert (shown.lead.head, [line.text for line in shown.lead.lines]) == (
        "Sources conflict.",
        [TRIAL.text, SMALL.text],
    )
    assert shown.studies.columns == (
        *("number", "side", "name", "design"), *("people", "comparison", "result", "year", "quotes")
    )  # fmt: skip
    assert [row.comparison for row in shown.studies.rows] == ["usual care", "placebo"]
    no, yes = shown.studies.rows
    assert (no.side, no.people, no.result, no.year) == ("no", "84 adults with heart failure", "12% versus 11%", "2019")
    assert (yes.side, yes.design, yes.result, yes.quotes) == (
        "yes",
        "randomised trial",
        "hazard ratio 0.75",
        (TRIAL.text,),
    )
    assert shown.lines == (), "what the table quotes is not told again"
    assert shown.lead.facts == ("Certainty: low",)


def test_a_column_that_no_study_fills_is_left_out_and_a_monograph_is_no_study() -> None:
    page = Evidence(id="library:x@0-9", text="It helps.", kind="monograph", origin=Origin.RETRIEVED, level="monograph")
    shown = present(answer(statements=[quoted(SMALL, "it changed nothing"), quoted(page)], evidence=[SMALL, page]))
    assert [row.name for row in shown.studies.rows] == [SMALL.title]
    assert "side" not in shown.studies.columns
    assert "result" not in shown.studies.columns
    assert [line.text for line in shown.lines] == ["It helps."]


def test_where_no_study_is_cited_the_place_of_the_table_says_so() -> None:
    page = Evidence(id="library:x@0-9", text="It helps.", title="X", kind="passage", origin=Origin.RETRIEVED)
    held = answer(statements=[quoted(page)], evidence=[page])
    off = held.model_copy(update={"notices": [note("pubmed_off")]})
    none = "No study is cited; what is quoted is general knowledge of the starter library."
    assert present(held).studies.none == none
    told = present(off).studies.none
    assert told.endswith("Live search of PubMed is off.")
    for shown in (off.to_markdown(), off._repr_html_(), terminal(off)):
        assert told in " ".join(shown.split())
    label = page.model_copy(update={"id": "label:x@0-9"})
    for other in (
        held.model_copy(update={"kind": "case"}),
        answer(statements=[quoted(label)], evidence=[label]),
        answer(statements=[quoted(page), quoted(TRIAL)], evidence=[page, TRIAL]),
        answer(evidence=[page], abstained=True),
    ):
        assert present(other).studies.none == ""


def test_a_verdict_is_not_said_twice_where_its_sentence_says_it() -> None:
    text = "Yes, it helps."
    page = Evidence(id="library:x@0-14", text=text, kind="monograph", origin=Origin.RETRIEVED)
    verdict = Verdict(value=VerdictValue.YES, statements=(text,))
    shown = present(answer(statements=[quoted(page)], evidence=[page], verdict=verdict))
    assert (shown.lead.head, shown.lead.lines[0].text) == ("", text)
    assert shown.lead.facts == ("Certainty: not assessed",)


@pytest.mark.parametrize(
    ("codes", "head"),
    [
        (("terms_not_found", "nothing_found"), "nothing_found. terms_not_found."),
        (("no_choice_supported",), "no_choice_supported."),
        ((), "No answer is given."),
    ],
)
def test_an_answer_that_is_none_says_so_in_one_place(codes: tuple[str, ...], head: str) -> None:
    shown = present(answer(abstained=True, notices=[note(code) for code in codes]))
    assert (shown.lead.head, shown.lead.found) == (head, False)
    assert (shown.box, shown.labels, shown.suggested) == ((), (), ())


def test_a_case_tells_its_ranking_once_and_loses_no_citation() -> None:
    shown = case()
    (row,) = shown.ranking.rows
    assert shown.lead.head == "Of the diseases that I know, Reflux fits best."
    assert shown.lines == ()
    assert [line.text for line in row.told] == [FLAGS], "what the row does not hold stays"
    assert row.marks == "[1]"
    assert [quote for line in row.told for fold in line.folds for quote in fold.quotes] == [
        f"{HEARTBURN}.", f"{FEVER}.", FLAGS
    ]  # fmt: skip


def test_a_disease_that_the_answer_tells_of_has_its_row_however_little_it_is_believed() -> None:
    shown = case(share=0.001)
    assert [row.name for row in shown.ranking.rows] == ["Ulcer", "Reflux"]
    assert shown.lines == ()


def test_what_a_model_writes_on_a_disease_and_what_is_of_no_row_stays() -> None:
    other = Evidence(id="library:x@0-9", text="Try less.", kind="monograph", origin=Origin.RETRIEVED)
    shown = case("Reflux (K21.9). Acid explains the burning.", statements=[quoted(other)], evidence=[other])
    assert [line.text for line in shown.ranking.rows[0].told] == ["Acid explains the burning."]
    assert [line.text for line in shown.lines] == ["Try less."]
    assert shown.on_lead == "On Reflux"


def test_there_is_one_box_and_it_holds_what_changes_a_decision() -> None:
    notices = [
        note("starter_knowledge", "The starter library is not reviewed.", Severity.INFO),
        note("sparse_information", "Critical information is sparse."),
        note("gaps_left_open", "Not covered by the evidence found: q: who it applies to.", Severity.INFO),
        note("source_unavailable", "search_literature: The index is broken. Build it again."),
        note("barred_medicine", "Take care.", Severity.DANGER),
        note("clinician_review", "A clinician must look."),
        note("of_a_later_version", "Something that nobody knows yet."),
    ]
    shown = case(notices=notices, emergency=[RedFlag(code="x", seen="seen", advice="Call.")])
    assert (shown.alerts, shown.dangers) == ((("Call.", "seen"),), ("Take care.",))
    assert shown.box == ("Critical information is sparse.", "A clinician must look.")
    assert [label.text for label in shown.labels] == [
        "not clinically reviewed", "The index is broken. Build it again", "Something that nobody knows yet"
    ]  # fmt: skip
    told = {*shown.box, *shown.dangers, *shown.how, *(label.notice.text for label in shown.labels)}
    assert {n.text for n in notices} - told == {notices[2].text}, "nothing but a gap under an answer is left out"


def test_what_was_not_covered_is_told_where_nothing_is_answered() -> None:
    left = note("gaps_left_open", "Not covered by the evidence found: q.")
    assert present(answer(abstained=True, notices=[left, note("nothing_found")])).how == (left.text,)


def test_sources_are_merged_by_document_and_can_be_cited() -> None:
    one = piece("First part.", name="7", title="On it.", level="review", date="2021-02", section="Aim")
    two = one.model_copy(
        update={"id": "pubmed:7@20-32", "text": "Second part.", "section": "Result", "date": "2021-03"}
    )
    told = {"answered_on": "2026-11-26", "usage": Usage(tool_calls=1), "evidence": [one, two, SMALL]}
    shown = present(answer(statements=[quoted(one), quoted(two), quoted(SMALL)], **told))
    assert [(s.number, s.id, s.quotes) for s in shown.sources] == [
        (1, "pubmed:7", ["First part.", "Second part."]),
        (2, "pubmed:2", [SMALL.text]),
    ]
    assert shown.sources[0].facts == ("review", "Aim", "Result", "2021-02", "2021-03")
    assert shown.sources[0].citation == "On it. 2021-02. review. pubmed:7. https://pubmed.ncbi.nlm.nih.gov/7/"
    assert shown.dates == "Searched 2026-11-26; newest source 2021-03"


def one_work(*, language: str = "en", cited: int = 3) -> Answer:
    """An answer on a trial, a small study, and the trial's preprint; it cites the first few of them."""
    evidence = [TRIAL, SMALL, piece("A preprint.", name="3", status="preprint", title="A large trial")]
    same = SameWork(ids=("pubmed:1", "pubmed:3"), why="joined by PubMed, same title", preprints=("pubmed:3",))
    return answer(
        statements=[quoted(e) for e in evidence[:cited]], evidence=evidence, same_work=[same], language=language
    )


def test_sources_of_one_work_say_so_under_numbers_that_stay() -> None:
    trial, small, preprint = present(one_work()).sources
    assert [trial.number, small.number, preprint.number] == [1, 2, 3]
    assert trial.facts[-1] == "same work as [3], a preprint (joined by PubMed, same title)"
    assert preprint.facts == ("PREPRINT", "same work as [1] (joined by PubMed, same title)")
    assert small.facts == ("observational study", "2019")
    said = present(one_work(language="zh")).sources[0].facts[-1]
    assert said == "同一文献另见：预印本 [3]（PubMed 已关联、标题相同）"


def test_another_document_of_a_work_goes_by_its_id_where_no_statement_cites_it() -> None:
    shown = present(one_work(cited=2))
    assert shown.sources[0].facts[-1].startswith("same work as pubmed:3, a preprint (")
    assert [s.facts[-1] for s in shown.beside] == ["same work as [1] (joined by PubMed, same title)"]


def test_what_was_read_beside_stands_together_by_work() -> None:
    shown = present(one_work(cited=0))
    assert [s.id for s in shown.beside] == ["pubmed:1", "pubmed:3", "pubmed:2"]


def test_every_way_of_showing_tells_sources_of_one_work() -> None:
    held = one_work()
    assert "same work as [3], a preprint (joined by PubMed" in " ".join(terminal(held).split())
    assert r"same work as \[3\], a preprint (joined by PubMed" in markdown_of(held)
    assert "same work as [3], a preprint (joined by PubMed" in html_of(held)
    assert "same work" not in markdown_of(held.model_copy(update={"same_work": []}))


def test_what_may_be_asked_next_stands_in_no_file() -> None:
    page = Evidence(id="library:x@0-9", text="It helps.", title="X", kind="passage", origin=Origin.RETRIEVED)
    held = answer(statements=[quoted(page)], evidence=[page])
    asks = markdown_of(held).split("**You may ask**")
    assert len(asks) == 2
    assert "You may ask" not in markdown_of(held, kept=True)
    assert asks[0] in markdown_of(held, kept=True)


def test_questions_that_its_documents_answer_lead_what_an_answer_suggests() -> None:
    open_ones = ["Is it safe?", "How long does it help?"]
    held = answer(statements=[quoted(TRIAL)], evidence=[TRIAL], suggested=open_ones)
    assert present(held).suggested == (*open_ones, "Why?")
    assert "You may ask\n  Is it safe?\n  How long does it help?\n  Why?\n" in terminal(held)
    one = held.model_copy(update={"suggested": open_ones[:1]})
    assert present(one).suggested == ("Is it safe?", "Why?", "How sure are you?")
    undecided = held.model_copy(update={"notices": [note("no_verdict")]})
    assert present(undecided).suggested == tuple(open_ones)
    flag = RedFlag(code="airway", seen="stridor", advice="Call an ambulance.")
    assert present(held.model_copy(update={"emergency": [flag]})).suggested == ()


def test_the_sections_of_the_starter_library_have_names_in_both_languages() -> None:
    for section in {*(name for names in SECTIONS.values() for name in names), *HEADINGS.values()}:
        item = Evidence(id="library:x@0-1", text="x", kind="x", origin=Origin.RETRIEVED, section=section)
        assert source_facts(item, "en") == (section,)
        assert HAN.search(source_facts(item, "zh")[0]), section


def test_a_choice_leads_with_what_it_rests_on_and_not_with_the_machines_reason() -> None:
    choice = Choice(label="A", text="It", reason=f"{SMALL.id}: support 94%", evidence_ids=(SMALL.id,))
    shown = present(
        answer("multiple_choice", statements=[quoted(TRIAL), quoted(SMALL)], evidence=[TRIAL, SMALL], choice=choice)
    )
    assert (shown.lead.head, shown.lead.lines[0].text) == ("A: It.", SMALL.text)
    assert "support" not in shown.lead.head + str(shown.lines)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_presentation_is_plain_data(language: str) -> None:
    shown = present(conflicting(language=language, notices=[note("starter_knowledge")]))
    told = json.loads(json.dumps(as_data(shown)))
    assert told["words"] == language
    assert told["lead"]["lines"][0]["folds"][0]["id"] == TRIAL.id
    assert told["sources"][0]["passages"][0]["item"] == TRIAL.id
    assert told["studies"]["rows"][1]["design"] == shown.studies.rows[1].design != ""


def test_a_models_answer_to_a_case_leads_in_its_order_and_stands_whole_above_the_ranking() -> None:
    first = Statement(text="Angina (not in the knowledge graph) fits best.", origin=Origin.PARAMETRIC)
    named = (Diagnosis(name="Angina", known=False), Diagnosis(name="Reflux", disease="gerd"))
    said = "Reflux often presents with heartburn."
    order = note("other_order", "The text orders otherwise.", Severity.INFO)
    shown = case(said, statements=[first], diagnoses=named, notices=[order])
    assert shown.lead.head == "By the language model Angina fits best; then Reflux."
    assert [line.text for line in shown.lines] == [said, first.text]
    assert (shown.on_lead, shown.ranking.rows[0].told) == ("", ())
    assert "The text orders otherwise" in shown.labelled


def test_diseases_for_which_nothing_speaks_are_not_ranked_before_a_reader() -> None:
    disease = RankedDisease(
        disease="lipoma",
        name="Lipoma",
        icd10="D17",
        l1="a",
        l2="b",
        score=0.01,
        severity="routine",
        evidence_id="graph:starter/lipoma",
    )
    entry = Evidence(
        id="graph:starter/lipoma", text=ENTRY, title="Lipoma", kind="disease", origin=Origin.KNOWLEDGE_GRAPH
    )
    guessed = answer("case", differential=[disease], statements=[quoted(entry, HEARTBURN)], evidence=[entry])
    shown = present(guessed)
    assert (shown.ranking.rows, shown.lines, shown.sources) == ((), (), ())
    assert (shown.lead.head, shown.lead.found) == ("Too little was told to tell diseases apart.", False)
    assert guessed.differential, "the stable form keeps them"
    told = guessed.model_copy(update={"differential": [disease.model_copy(update={"findings_for": ["a lump"]})]})
    assert [row.name for row in present(told).ranking.rows] == ["Lipoma"]


def test_a_notice_in_english_says_so_in_a_chinese_answer_and_one_in_chinese_does_not() -> None:
    english = note("other", "A part of the index is being built.")
    failed = note("source_unavailable", "search_literature: The database is away.")
    shown = present(answer(language="zh", notices=[english, failed, note("more", "关键信息不足。")]))
    assert [label.text for label in shown.labels] == [
        "英文提示：A part of the index is being built",
        "英文提示：The database is away",
        "关键信息不足",
    ]


def test_what_another_notice_says_is_no_label_and_stays_among_how_it_was_found() -> None:
    notices = [
        note("pubmed_unreachable"),
        note("gap_search_failed", "The search for a gap failed."),
        note("source_unavailable", "search_literature: PubMed sent no answer."),
        note("nothing_useful_retrieved", "Nothing useful was retrieved."),
    ]
    shown = present(answer(notices=notices, evidence=[TRIAL], statements=[quoted(TRIAL)]))
    assert [label.text for label in shown.labels] == ["PubMed was not reached"]
    assert set(shown.how) == {n.text for n in notices}
    alone = present(answer(notices=notices[1:]))
    assert len(alone.labels) == 3, "without it each stands"


def test_a_models_view_leads_as_its_own_word_but_not_what_the_patient_may_not_have() -> None:
    view = note("model_view", "The language model's view: yes. No quoted sentence was read as saying so.")
    shown = present(answer(statements=[quoted(TRIAL)], evidence=[TRIAL], notices=[view]))
    assert (shown.lead.head, shown.lead.unverified) == (view.text, True)
    assert markdown_of(answer(statements=[quoted(TRIAL)], evidence=[TRIAL], notices=[view])).count(view.text[:30]) == 1
    barred = note("barred_medicine", "It is barred.", Severity.DANGER)
    assert present(answer(statements=[quoted(TRIAL)], evidence=[TRIAL], notices=[barred, view])).lead.head != view.text
