"""Readers of open sources: each format as its publisher writes it, exact sections, and every fault a row."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from support import knowledge_files as made
from tools.knowledge import labels
from tools.knowledge.catalogue import READERS, catalogue
from tools.readers.contract import Problem, Record

LABEL = ("zelnorine.json", made.answer(made.label()))
FILES = {  # reader: file name and content
    "labels": LABEL,
    "medlineplus": ("mplus_topics_2024-08-10.xml", made.topics()),
    "medquad": ("0000005.xml", made.medquad()),
    "livertox": ("Zelnorine.nxml", made.chapter()),
    "guidelines": ("ngc-10.xml", made.guideline()),
    "disorders": ("Kelvar_Fever.yaml", made.DISORDER),
    "obo": ("doid.obo", made.OBO),
}
Read = Callable[..., list[Record | Problem]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reading(reader: str, content: str | bytes | dict[str, Any], name: str = "") -> list[Record | Problem]:
        data = json.dumps(content) if isinstance(content, dict) else content
        path = tmp_path / (name or FILES[reader][0])
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return list(READERS[reader].read(path))

    return reading


def record(found: list[Record | Problem]) -> Record:
    (only,) = [one for one in found if isinstance(one, Record)]
    return only


def problem(found: list[Record | Problem]) -> Problem:
    (only,) = found
    assert isinstance(only, Problem)
    return only


def said(found: Record) -> dict[str, str]:
    return {s.title: found.text[s.start : s.end] for s in found.sections}


def test_an_openfda_label_has_its_sections_and_says_whose_it_is(read: Read) -> None:
    found = record(read("labels", made.answer(made.label())))
    parts = said(found)
    assert parts["Dosage and administration"].endswith("Take Zelnorine 40 mg by mouth once a day with water.")
    assert parts["Use in specific populations / Kidney impairment"].startswith("8.6 Renal Impairment Halve the dose")
    assert parts["Use in specific populations / Liver impairment"] == "8.7 Hepatic Impairment No change is needed."
    assert parts["Pregnancy"] == "8.1 Pregnancy Zelnorine was not studied in pregnant women."
    assert parts["Use in specific populations"].endswith(
        "8.4 Pediatric Use Not for children."
    )  # it has no field of this
    assert "powder" not in found.text
    assert "Not studied." not in found.text
    assert (found.title, found.date) == ("Zelnorine (zelnorine hydrochloride), oral: US drug label", "2024-01-31")
    assert found.source == "set id 00000000-0000-0000-0000-000000000001, version 3, Made Up Inc."


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.json", json.dumps(made.extract())), ("b.xml", made.spl()), ("c.json", json.dumps(made.bundle()))],
)
def test_each_other_form_of_a_label_is_read(read: Read, name: str, content: str) -> None:
    found = record(read("labels", content, name))
    assert found.title.startswith("Zelnorine")
    assert "Zelnorine is indicated for kelvar fever" in said(found)["Indications and usage"]


def test_spl_keeps_subsections_contraindications_and_no_highlight(read: Read) -> None:
    parts = said(record(read("labels", made.spl(), "label.xml")))
    assert parts["Contraindications / 4.1 Pregnancy"] == "Never give Zelnorine in pregnancy."
    assert parts["Contraindications"] == "4.2 Dorvan syndrome"  # a subsection that is its own heading alone
    assert parts["Use in specific populations / 8.6 Renal Impairment"] == "Halve the dose of Zelnorine."
    assert not any("Short:" in text or "powder" in text for text in parts.values())
    assert "Use in specific populations / 8.6 Renal Impairment" in said(record(read("labels", made.bundle())))


def test_labels_of_other_makers_join_and_other_forms_do_not(read: Read) -> None:
    def key(**more: Any) -> str:
        return record(read("labels", made.answer(made.label(**more)))).id

    def about(**more: Any) -> dict[str, Any]:
        return {**made.label()["openfda"], **more}

    assert key() == key(number=2, openfda=about(manufacturer_name=["Other Ltd."], brand_name=["Zelno"]))
    slow = ["Zelnorine extended-release tablets are indicated for kelvar fever."]
    others = [
        key(openfda=about(route=["TOPICAL"])),
        key(openfda=about(product_type=["HUMAN OTC DRUG"])),
        key(openfda=about(substance_name=["ZELNORINE HYDROCHLORIDE", "ZINC"])),
        key(indications_and_usage=slow),
    ]
    assert len({key(), *others}) == 5


def test_a_label_under_another_medicines_name_is_told(read: Read) -> None:
    famotidine = {**made.extract("Famotidine"), "drug_name": "Metformin"}
    assert "called Metformin, and its identifiers say FAMOTIDINE" in problem(read("labels", famotidine)).what
    text = made.label("Famotidine", openfda={"generic_name": ["METFORMIN"], "substance_name": ["METFORMIN"]})
    assert "its indications name famotidine" in problem(read("labels", made.answer(text))).what
    bare = {k: v for k, v in made.label("Famotidine").items() if k not in ("openfda", "set_id")}
    assert "metformin" in problem(read("labels", bare, "metformin.json")).what
    assert record(read("labels", bare, "famotidine.json")).title.startswith("famotidine")


def test_a_label_without_a_name_or_for_animals_is_none(read: Read) -> None:
    bulk = "drug-label-0001-of-0013.json"  # openFDA leaves the block of names empty in many records
    assert "names no medicine" in problem(read("labels", made.answer(made.label(openfda={})), bulk)).what
    animal = made.spl().replace("HUMAN PRESCRIPTION DRUG LABEL", "PRESCRIPTION ANIMAL DRUG LABEL")
    assert "animals" in problem(read("labels", animal, "vet.xml")).what


def test_a_brand_and_a_dull_over_the_counter_text_are_no_mismatch(read: Read) -> None:
    about = made.label()["openfda"] | {"product_type": ["HUMAN OTC DRUG"]}
    uses = {"openfda": about, "indications_and_usage": ["Uses temporarily relieves runny nose"], "set_id": "1"}
    assert record(read("labels", made.answer(uses))).title.endswith("oral, OTC: US drug label")
    salbutamol = {**made.extract("Albuterol"), "drug_name": "Salbutamol"}
    assert record(read("labels", salbutamol)).title.startswith("Albuterol")


def test_results_are_read_one_at_a_time_and_a_cut_file_is_whole_or_nothing(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "BLOCK", 50)
    monkeypatch.setattr(labels, "PEEK", 200)
    text = made.answer(made.label(), made.label("Dorvanol", number=2))
    assert len(read("labels", text)) == 2
    for cut in (text[: len(text) // 2], text[:-3], text[:100], "", "[1, 2]", "null"):
        last = read("labels", cut)[-1]
        assert isinstance(last, Problem), cut[-20:]
        assert last.where == "", cut[-20:]
    assert "not UTF-8" in problem(read("labels", b'{"results": [\xff')).what


def test_a_record_of_another_shape_is_a_row_beside_the_others(read: Read) -> None:
    found = read("labels", made.answer({"openfda": "none", "set_id": "x"}, made.label(), {"set_id": "y"}))
    assert [type(one) for one in found] == [Problem, Record, Problem]


def test_topics_are_read_in_english_with_their_other_names(read: Read) -> None:
    topic, bare = read("medlineplus", made.topics())
    assert isinstance(topic, Record)
    assert isinstance(bare, Problem)
    assert topic.text.splitlines()[0] == "Kelvar fever is common."
    assert topic.text.endswith("See a doctor after a week\n\nAlso called: Kelvar disease.")
    assert topic.sections[-1].end == len(topic.text)
    assert (topic.date, topic.source) == ("2024-08-10", "https://medlineplus.gov/kelvarfever.html")


def test_each_question_of_medquad_heads_its_answer(read: Read) -> None:
    found = record(read("medquad", made.medquad()))
    assert said(found) == {"What is kelvar fever ?": "Kelvar fever is a fever.\nIt passes in a week."}
    assert problem(read("medquad", made.medquad(""))).what == "It holds no answer."


def test_a_chapter_of_livertox_tells_its_score(read: Read) -> None:
    found = record(read("livertox", made.chapter()))
    assert said(found)["Hepatotoxicity"].startswith("Enzymes rise in 2% of patients.")
    assert (found.date, found.level) == ("2017-07", "review of liver injury by a medicine, likelihood score C")


def test_a_guideline_tells_strength_date_and_that_it_may_be_superseded(read: Read) -> None:
    found = record(read("guidelines", made.guideline()))
    parts = said(found)
    assert parts["Recommendations"] == "Clinicians should give zelnorine to adults. [B]\nNot to infants. [D]"
    assert parts["Strength of recommendations"] == "B: moderate benefit. D: harm."
    assert "Potential harms" not in parts
    assert "Not this" not in found.text
    assert (found.date, found.review_by) == ("2014", "2018-07-16")
    assert found.level == "guideline summary, 2009 May (revised 2014); may be superseded"
    assert (found.source, found.licence) == ("Board of Fevers", "No copyright restrictions apply.")
    withdrawn = record(read("guidelines", made.guideline("2015 Jun", "This guideline has been withdrawn.")))
    assert withdrawn.date == "2015-06"
    assert "replaced or withdrawn" in (withdrawn.level or "")
    assert problem(read("guidelines", "<Version><Section/></Version>")).where == "ngc-10"


def test_a_disorder_keeps_supporting_quotations_alone(read: Read) -> None:
    found = record(read("disorders", made.DISORDER))
    assert said(found)["Phenotypes"] == (
        "Rash (very frequent): A rash of the arms. PMID:101: “All patients had a rash.”"
    )
    assert (found.source, found.date) == ("MONDO:0000001", "2026-03-06")
    assert "Sequences" not in found.text


def test_a_term_has_definition_names_and_codes(read: Read) -> None:
    found = record(read("obo", made.OBO))
    assert found.text.splitlines() == [
        'A viral infectious disease that has symptom rash, and "spots".',
        "Also called: kelvar disease.",
        "A kind of: viral infectious disease.",
        "Codes: ICD10CM:A99.",
    ]
    assert (found.title, found.date, found.source) == ("kelvar fever", "2026-07-31", "DOID:1")


@pytest.mark.parametrize("reader", sorted(READERS))
def test_every_reader_tells_what_is_no_file_of_its_own(reader: str, read: Read) -> None:
    content = FILES[reader][1]
    # a cut within the last third: for formats without an end mark, within a line
    for bad in (content[: len(content) * 2 // 3 - 1], "<html><body>Not found</body></html>", "", "\x00\x01\x02" * 50):
        last = read(reader, bad)[-1]
        assert isinstance(last, Problem), (reader, bad[:30])
        assert last.advice, (reader, bad[:30])


@pytest.mark.parametrize("reader", sorted(READERS))
def test_no_damage_to_a_file_ends_a_run(reader: str, read: Read) -> None:
    random = Random(reader)  # noqa: S311
    content = FILES[reader][1]
    for _ in range(60):
        text = content
        for _ in range(random.randint(1, 3)):
            at, long = random.randrange(len(text)), random.randint(0, 30)
            text = text[:at] + random.choice(["", "<", "&", '"', "{", "]", ": ", "\n", "é", "*a"]) + text[at + long :]
        assert all(isinstance(one, Record | Problem) for one in read(reader, text))


def test_the_catalogue_names_readers_terms_and_what_they_were_tried_on() -> None:
    assert {entry.reader for entry in catalogue().values()} == set(READERS)
    assert "not tried on a real file" in catalogue()["livertox"].tried
    assert all(entry.terms and entry.licence and entry.good_for for entry in catalogue().values())
