"""How an answerer quotes its evidence: which sentences, in which order, and in which language."""

from __future__ import annotations

import pytest

from graphs.answering.contract import Answerer
from graphs.answering.figures import asks_figure, gives_figure
from graphs.judging.key_terms import KeyTerms
from support.answerers import (
    CROUP,
    answer,
    codes,
    document,
    local,
    view,
)
from support.scripted_reader import YES, reading
from tools.contract import AnsweredQuestion
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin
from tools.reading.contract import Role, Stance


def test_an_answer_quotes_its_evidence(answerer: Answerer) -> None:
    draft = answer(
        answerer, view("Does dexamethasone help croup?", document("croup", CROUP, title="Croup"), closed=True)
    )
    assert draft.statements[0].citations[0].quote.startswith("Yes, a single dose")
    assert draft.choice is None
    assert draft.verdict is not None
    assert (draft.verdict.value, draft.verdict.statements[0]) == ("yes", draft.statements[0].text)
    assert {"starter_knowledge"} <= codes(draft)


def test_a_qualifying_sentence_stays_with_the_one_it_qualifies(encoder: Encoder) -> None:
    draft = answer(local(encoder), view("Does dexamethasone help croup?", document("croup", CROUP, title="Croup")))
    texts = [s.text for s in draft.statements]
    assert texts[:2] == [
        "Yes, a single dose of dexamethasone relieves the symptoms of croup within hours.",
        "It does not apply to children with epiglottitis.",
    ]


def test_near_duplicates_are_said_once(encoder: Encoder) -> None:
    again = document("steroids-croup", "A single dose of dexamethasone relieves the symptoms of croup within hours.")
    draft = answer(
        local(encoder), view("Does dexamethasone help croup?", document("croup", CROUP, title="Croup"), again)
    )
    assert sum("single dose of dexamethasone" in s.text for s in draft.statements) == 1


def test_a_medicine_that_the_patient_takes_is_none_that_sources_must_name(encoder: Encoder) -> None:
    page = document("shoulder", "A frozen shoulder is eased by exercises and an injection.", title="Frozen shoulder")
    told = "She is 58 and takes gliclazide. Her frozen shoulder hurts. What eases it: exercises or an injection?"
    assert local(encoder).unmentioned(view(told, page)) == []
    assert local(encoder).unmentioned(view("Does gliclazide ease a frozen shoulder?", page)) == ["gliclazide"]


def test_a_similar_answered_question_leads(encoder: Encoder) -> None:
    begin = "Croup is a barking cough of small children. "
    text = f"{begin}One dose by mouth settles most attacks of croup in children."
    evidence = document("croup-2", text, title="Croup")
    answered = AnsweredQuestion(
        question="Is dexamethasone good for croup?", similarity=0.95, evidence=evidence, start=len(begin), end=len(text)
    )
    draft = answer(
        local(encoder),
        view("Does dexamethasone help croup?", document("croup", CROUP, title="Croup"), answered=(answered,)),
    )
    assert draft.statements[0].text == text[len(begin) :]
    assert evidence in draft.evidence


def test_a_section_that_is_asked_for_is_stated_sentence_by_sentence_without_its_questions(encoder: Encoder) -> None:
    text = "One dose by mouth settles most attacks. Does it help at once? It takes two hours to work."
    evidence = document("croup-2", text, title="Croup").model_copy(update={"section": "Treatment"})
    answered = AnsweredQuestion(
        question="How is croup treated?", similarity=0.6, evidence=evidence, start=0, end=len(text), direct=True
    )
    draft = answer(local(encoder), view("What is done about croup?", answered=(answered,)))
    assert [s.text for s in draft.statements] == [
        "One dose by mouth settles most attacks.",
        "It takes two hours to work.",
    ]


def test_a_question_of_a_text_is_no_statement(encoder: Encoder) -> None:
    text = "Does dexamethasone relieve croup in children? Dexamethasone relieves the symptoms of croup in children."
    draft = answer(local(encoder), view("What does dexamethasone do in croup?", document("a", text)))
    assert [s.text for s in draft.statements] == ["Dexamethasone relieves the symptoms of croup in children."]


def test_labels_of_abstracts_and_list_marks_are_trimmed(encoder: Encoder) -> None:
    text = "CONCLUSIONS: Dexamethasone relieves the symptoms of croup in children."
    (first, *_) = answer(local(encoder), view("Does dexamethasone help croup?", document("a", text))).statements
    assert first.text == "Dexamethasone relieves the symptoms of croup in children."


def test_a_chinese_question_quotes_english_evidence_and_says_so(encoder: Encoder) -> None:
    asked = view("地塞米松治疗喉炎有效吗?", document("croup", CROUP, title="Croup"), language="zh", closed=True)
    draft = answer(local(encoder), asked)
    assert not draft.abstained
    assert (draft.choice, draft.verdict) == (None, None)
    assert {"evidence_in_english", "no_verdict"} <= codes(draft)


def test_a_sentence_with_every_word_of_a_closed_question_is_no_find_beside_it(encoder: Encoder) -> None:
    held = document("croup", "Dexamethasone relieves croup in some children.", title="Croup")
    asked = view("Does dexamethasone relieve croup in children?", held, closed=True)
    draft = answer(local(encoder), asked)
    assert draft.verdict is not None or "undecided" in codes(draft)
    other = answer(local(encoder), view("Does dexamethasone relieve laryngitis in adults?", held, closed=True))
    assert "undecided" not in codes(other)


def test_what_tells_of_both_medicines_of_a_question_leads(encoder: Encoder) -> None:
    text = "Fluconazole treats thrush and is taken as one capsule. Fluconazole can double the effect of warfarin."
    asked = view("What happens with fluconazole and warfarin, taken as one capsule?", document("fluconazole", text))
    assert answer(local(encoder), asked).statements[0].text == "Fluconazole can double the effect of warfarin."


AIM = "We aimed to find whether dexamethasone relieves the symptoms of croup in children."
RESULT = "Dexamethasone relieved the symptoms of croup in children within hours."


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("given", [True, False])
def test_an_aim_is_quoted_by_no_answer(encoder: Encoder, *, closed: bool, given: bool) -> None:
    table = {AIM: reading(Stance.NOT_SHOWN, 1.0, Role.AIM), RESULT: reading(Stance.NOT_SHOWN, 1.0, Role.RESULT)}
    collection, origin = ("given", Origin.CASE) if given else ("own", Origin.RETRIEVED)
    text = f"{AIM} {RESULT}"
    item = Evidence(id=f"{collection}:a@0-{len(text)}", text=text, kind="document", title="Croup", origin=origin)
    draft = answer(
        local(encoder, table), view("Does dexamethasone relieve the symptoms of croup?", item, closed=closed)
    )
    assert [s.text for s in draft.statements] == [RESULT]
    alone = item.model_copy(update={"id": f"{collection}:a@0-{len(AIM)}", "text": AIM})
    assert answer(local(encoder, table), view("Does dexamethasone relieve croup?", alone, closed=closed)).abstained


def test_an_answer_from_own_documents_says_that_nobody_assessed_them(encoder: Encoder) -> None:
    own = Evidence(id=f"own:a@0-{len(CROUP)}", text=CROUP, kind="document", title="My note", origin=Origin.RETRIEVED)
    told = {n.code: n.text for n in answer(local(encoder), view("Does dexamethasone help croup?", own)).notices}
    assert told["own_document"] == "Your document; not assessed: My note."
    library = answer(local(encoder), view("Does dexamethasone help croup?", document("croup", CROUP, title="Croup")))
    assert "own_document" not in codes(library)


DOSE = "What dose of dexamethasone is used in croup of type 2?"


@pytest.mark.parametrize("closed", [True, False])
def test_a_figure_that_is_asked_for_is_given_first_or_said_to_be_missing(encoder: Encoder, *, closed: bool) -> None:
    without = "Dexamethasone is used in croup of type 2, and SGLT2 inhibitors are used in diabetes."
    with_it = "Children with croup are given dexamethasone 0.15 mg/kg once."
    lacking = answer(local(encoder, {without: YES}), view(DOSE, document("a", without, title="Croup"), closed=closed))
    assert "no_figure" in codes(lacking)
    if not closed:
        both = answer(local(encoder), view(DOSE, document("a", f"{without} {with_it}", title="Croup")))
        assert both.statements[0].text == with_it
        assert "no_figure" not in codes(both)


@pytest.mark.parametrize(
    ("asked", "beside", "given"),
    [
        (
            "What is the target INR in mitral stenosis?",
            "A first target of a heart rate below 110 is accepted in mitral stenosis.",
            "In mitral stenosis the INR is kept between 2 and 3 by warfarin.",
        ),
        (
            "What is the normal haemoglobin in pregnancy?",
            "In pregnancy haemoglobin is normal in most women who take iron.",
            "In pregnancy a hemoglobin of 110 g/L or more is normal.",
        ),
        (
            "How soon should antibiotics be given in sepsis?",
            "Antibiotics are given in sepsis by vein after cultures were taken.",
            "In sepsis the first antibiotics are given within one hour.",
        ),
        (
            "How often should ferritin be measured in haemochromatosis?",
            "Ferritin is measured in haemochromatosis to judge the iron store.",
            "In haemochromatosis ferritin is measured every three months.",
        ),
        (
            "How soon does sertraline start to work?",
            "Sertraline that works is usually continued for at least six months, to start with.",
            "Benefit from an antidepressant usually appears within two to four weeks.",
        ),
        (
            "How often should HbA1c be checked?",
            "HbA1c is checked in the laboratory, and blood pressure often.",
            "HbA1c is checked every three to six months.",
        ),
    ],
)
def test_a_time_and_a_wanted_value_are_figures_too(encoder: Encoder, asked: str, beside: str, given: str) -> None:
    lacking = answer(local(encoder), view(asked, document("a", beside, title="A page")))
    assert "no_figure" in codes(lacking)
    both = answer(local(encoder), view(asked, document("a", f"{beside} {given}", title="A page")))
    assert both.statements[0].text == given
    assert "no_figure" not in codes(both)


def test_of_two_durations_that_of_what_is_asked_stands_first(encoder: Encoder) -> None:
    other = "Allow two weeks after another medicine before sertraline is started."
    asked = "Sertraline works within several weeks."
    page = document("sertraline", f"{other} {asked}", title="Sertraline")
    said = answer(local(encoder), view("How long until sertraline works?", page)).statements
    assert said[0].text == asked


def test_what_only_sounds_like_a_wanted_value_asks_for_none(encoder: Encoder) -> None:
    draft = answer(
        local(encoder),
        view(
            "What are the targets of imatinib?", document("a", "The targets of imatinib are kinases.", title="Imatinib")
        ),
    )
    assert "no_figure" not in codes(draft)


def test_a_dose_is_taken_from_where_a_label_tells_doses(encoder: Encoder) -> None:
    elsewhere = document(
        "a", "Dexamethasone 4 mg was given once to volunteers with croup of type 2.", title="Dexamethasone"
    )
    dosing = document("b", "Dexamethasone for croup of type 2: 0.15 mg/kg once by mouth.", title="Dexamethasone")
    dosing = dosing.model_copy(update={"section": "Dosage and administration"})
    elsewhere = elsewhere.model_copy(update={"section": "Pharmacokinetics"})
    draft = answer(local(encoder), view(DOSE, elsewhere, dosing))
    assert draft.statements[0].citations[0].evidence_id == dosing.id


def test_the_dose_of_a_single_study_is_no_dose_to_give(encoder: Encoder) -> None:
    got = "Children with croup of type 2 were given dexamethasone 0.6 mg/kg or placebo once."
    other = "Dexamethasone is used in croup of type 2 in all children."
    study = document("1", f"{got} {other}", title="Croup")
    study = study.model_copy(update={"id": study.id.replace("library", "pubmed")})
    draft = answer(local(encoder), view(DOSE, study))
    assert [s.text for s in draft.statements] == [other]
    assert "no_figure" in codes(draft)
    review = study.model_copy(update={"level": "review"})
    assert answer(local(encoder), view(DOSE, review)).statements[0].text == got


def test_the_figure_of_another_medicine_is_not_preferred(encoder: Encoder) -> None:
    other = "In croup of type 2 budesonide 2 mg is used once."
    own = "Dexamethasone is used in croup of type 2 when it is severe."
    evidence = document("a", f"{own} {other}", title="Croup")
    draft = answer(local(encoder), view(DOSE, evidence))
    assert draft.statements[0].text == own
    assert "no_figure" in codes(draft)


@pytest.mark.parametrize(
    ("question", "sentence", "gives"),
    [
        ("What is the dose of metformin?", "Metformin is the first medicine for type 2 diabetes.", False),
        ("What is the dose of metformin?", "Metformin is started at 500 mg once a day.", True),
        ("What is the dose of metformin?", "Magnesium 2 g is given intravenously.", False),
        ("What is the NNT?", "The NNT was 20.", True),
        ("What is the number needed to treat?", "It was given to 412 adults in 2019.", False),
        ("What is the NNT of statins?", "For every 50 people on a statin, one stroke is prevented.", True),
        ("How much dexamethasone should I give?", "Dexamethasone 0.15 mg/kg is given once.", True),
        ("dexamethasone dosing", "It is stopped if potassium reaches 6.0 mmol/L.", False),
        ("How accurate is the D-dimer?", "The D-dimer is used in 2 scores.", False),
        ("What is the sensitivity of the test?", "Its sensitivity is 95 per cent.", True),
        ("What is the risk of stroke?", "One in 20 people with TIA has a stroke within a week.", True),
        ("What is the prevalence of gout?", "Gout is common after 60.", False),
        ("How many days of antibiotics are enough?", "Five days are often enough in a stable person.", True),
        ("How long does flu last?", "Most people are well again after about 2 weeks.", True),
        ("How long should amoxicillin be taken?", "It is given at 500 mg in people over 40 years old.", False),
        ("What is the mortality of pneumonia?", "It is a marker of severity.", False),
        ("What is the mortality of pneumonia?", "Of its strains 1.6% make the toxin.", False),
        ("What is the mortality of pneumonia?", "About one in ten people in hospital die of pneumonia.", True),
        (
            "What proportion of people with TIA have a stroke within a week?",
            "One in twenty has a stroke after a transient ischaemic attack.",
            True,
        ),
        ("How common is gout?", "Gout affects 2 per cent of adults.", True),
        ("How common is gout?", "Gout affects fifty-five percent of adults.", True),
        ("How common is gout?", "Gout affects women or men over 40.", False),
        ("How common is gout?", "For gout the OR was 1.4.", True),
        ("How often does Barrett's oesophagus turn into cancer?", "Each year 0.3 % with Barrett's get cancer.", True),
        ("How often does Barrett's oesophagus turn into cancer?", "One in five people live for five years.", False),
        ("流感会持续多久？", "发热多在3至5天内消退。", True),
        ("成人布洛芬的剂量是多少？", "确诊首选胸片。", False),
        ("成人布洛芬的剂量是多少？", "布洛芬一次两片。", True),
    ],
)
def test_a_figure_is_of_the_kind_that_is_asked_for(question: str, sentence: str, gives: bool) -> None:
    assert asks_figure(question)
    assert gives_figure(question, sentence) is gives


@pytest.mark.parametrize(
    "question",
    [
        "What are the risk factors for gout?",
        "What is gout?",
        "Which genes are targets of insulin?",
        "What is blood pressure?",
    ],
)
def test_not_every_question_asks_for_a_figure(question: str) -> None:
    assert not asks_figure(question)


@pytest.mark.parametrize(("answered_by", "given"), [("no", False), ("depends", False), ("no", True)])
def test_what_a_page_was_written_to_answer_is_the_verdict(encoder: Encoder, answered_by: str, given: bool) -> None:
    text = "Sildenafil and nitrates together can drop the blood pressure to collapse. Never give them together."
    page = document("sildenafil", text, title="Sildenafil")
    answered = AnsweredQuestion.model_validate(
        {"question": "Sildenafil: nitrate?", "similarity": 1.0, "evidence": page, "start": 0, "end": len(text),
         "section": True, "answer": answered_by}
    )  # fmt: skip
    own = [document("own", "Nitrates were given to all men of the trial.", title="A trial", origin=Origin.CASE)] * given
    draft = answer(
        local(encoder), view("Can I take sildenafil with nitrates?", page, *own, answered=(answered,), closed=True)
    )
    assert (draft.verdict is not None and draft.verdict.value == answered_by) is not given
    if draft.verdict is not None and not given:
        assert draft.verdict.statements == tuple(s.text for s in draft.statements)
        assert draft.statements[0].text == "Sildenafil and nitrates together can drop the blood pressure to collapse."


def test_a_name_that_no_vector_knows_is_found_by_its_letters(encoder: Encoder) -> None:
    named = "Fields that were sprayed with quorvitase gave more barley."
    other = "Barley is sown in spring."
    evidence = document("a", f"{other} {named}", title="Yields of crops")
    assert [s.text for s in answer(local(encoder), view("Describe quorvitase", evidence)).statements] == [named]
    assert answer(local(encoder), view("Describe quorvitase", document("b", other, title="Yields"))).abstained


def test_a_name_is_strange_that_neither_the_library_nor_english_uses(encoder: Encoder) -> None:
    terms = KeyTerms(encoder, known={"netupitant"})
    assert terms.strange("Are SLC25A46 and quorvitase like gout, phagocytosis or netupitant?") == [
        "SLC25A46",
        "quorvitase",
    ]


ASKED = "How is cystitis treated in a man of 65 who is allergic to trimethoprim?"


def test_what_an_allergy_bars_or_is_of_other_people_is_not_quoted(encoder: Encoder) -> None:
    own, barred = "Cystitis in men is treated for seven days.", "Cystitis is treated with trimethoprim."
    childs = "Cystitis in a child is treated for three days."
    page = document("cystitis", f"{barred} {own} {childs}", title="Cystitis")
    of_it = document("trimethoprim", "Cystitis is treated well and often.", title="Trimethoprim")
    said = [s.text for s in answer(local(encoder), view(ASKED, page, of_it)).statements]
    assert said == [own]
    childrens = document("uti", childs, title="Cystitis in children")
    assert answer(local(encoder), view("How is cystitis treated?", childrens)).statements
