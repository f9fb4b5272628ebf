"""Only what is known to be medical or general leaves; names, places, numbers are held, shown, and can be released."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.search_words import starter_vocabulary
from tools.literature.adapt_e.local import QueryPlannerLocal
from tools.literature.client import EUtilities
from tools.literature.failures import BadQuery, Reason
from tools.literature.ladder import adapt_e
from tools.literature.live import LiveResult
from tools.literature.privacy import Cleared, begin, clear, not_sent, released_in
from tools.literature.rerun import rerun
from tools.literature.strategy import Source, load_strategy, make_strategy, save_strategy

VOCABULARY = starter_vocabulary()
PLANNER = QueryPlannerLocal(VOCABULARY)


def cleared(text: str, *released: str) -> Cleared:
    return begin(text, VOCABULARY, released)


def left(text: str) -> set[str]:
    return set(re.findall(r"[^\s.,?;]+", cleared(text).text.replace("|", " ").lower()))


@pytest.mark.parametrize(
    ("text", "secrets", "kept"),
    [
        ("does tariq el-masoudi need antibiotics", "tariq el-masoudi", "antibiotics"),
        ("May LEOPOLD GRIMSDITCH-HOLT take metformin?", "leopold grimsditch-holt", "metformin"),
        ("Detective Sergeant Copplestone has gout.", "copplestone", "gout"),
        ("Mother Mary Perpetua of Ballyvaughan takes warfarin.", "mary perpetua ballyvaughan", "warfarin"),
        ("Mark and Rose told Bill about ibuprofen.", "mark rose bill", "ibuprofen"),
        ("mark told rose and bill about ibuprofen", "mark rose bill", "ibuprofen"),
        ("PATIENT MR ADEBAYO HAS PNEUMONIA", "adebayo", "pneumonia"),
        ("Пациент Кузнецов принимает warfarin", "кузнецов", "warfarin"),
        ("المريض حسن يتناول warfarin", "حسن", "warfarin"),
        ("她叫李小梅，吃 metformin", "李小梅", "metformin"),
        ("She works at Hobbs Bakery in Grimethorpe and has asthma.", "hobbs grimethorpe", "asthma"),
        ("Ｓｏｐｈｉｅ has asthma", "sophie", "asthma"),
        ("Zoë-Mae Ørsted has asthma", "zoë-mae ørsted zoe", "asthma"),
        ("My login is jane_winterson and I have asthma", "jane_winterson winterson", "asthma"),
        ("born 3/4/1970, NHS 943 476 5919, jo@x.org, 07700 900123: asthma", "1970 943 5919 jo@x.org 07700", "asthma"),
        ("Will's asthma is worse. Does budesonide help?", "will's", "budesonide"),
        ("On the ward: Fletcher, Grimsditch and two more with gout.", "fletcher grimsditch", "gout"),
        ("PT LAST NAME CASH FIRST NAME PENNY. RECURRENT THRUSH", "cash penny", "thrush"),
        ("F. Huntington, male 45, cannot tolerate CPAP.", "huntington", "cpap"),
        ("can you get shingles twice? asking for my friend dot who works there", "dot", "shingles"),
        ("Letter to Gene Alzheim, 70: he takes lecanemab", "gene alzheim", "lecanemab"),
        ("Resident at Fernleigh since May, has gout.", "fernleigh", "gout"),
        ("Targets in care home residents with hypoglycaemia", "fernleigh", "hypoglycaemia"),
        ("The sisters Abena and Esi both have psoriasis", "abena esi", "psoriasis"),
        ("Mr Gethin-Price's CK is high on a statin.", "gethin-price", "ck"),
        ("My uncle Onion Halloran ate onion and has hives.", "halloran", "hives"),
        ("Ask Truffle whether a truffle can cause hives.", "truffle", "hives"),
        ("PT MAZURKIEWICZ HAS NSTEMI", "mazurkiewicz", "nstemi"),
        ("Seen at Thornbrook Surgery for gout.", "thornbrook surgery", "gout"),
        ("68M post CABG AF on amiodarone", "68m", "cabg"),
        ("Anneliese Vogt has Gaucher, is eliglustat better?", "anneliese vogt", "gaucher"),
        ("Does Osgood Schlatter need rest, Coach Petrosyan?", "petrosyan", "osgood-schlatter"),
        ("Ms Rautio asks about the Epley manoeuvre for vertigo", "rautio", "epley"),
        ("Her first name is Asthma. She has eczema.", "asthma", "eczema"),
        ("My daughter has Prader-Willi; her name is Willi Ovenden", "ovenden", "prader-willi"),
        ("Iris came again. We like Iris. Does colchicine help pericarditis?", "iris", "colchicine"),
    ],
)  # fmt: skip
def test_names_places_and_numbers_are_held(text: str, secrets: str, kept: str) -> None:
    assert kept in left(text)
    assert not left(text) & set(secrets.split())


@pytest.mark.parametrize(
    ("disease", "person", "name"),
    [
        ("Does Crohn's disease respond to infliximab?", "Does Mrs Crohn respond to infliximab?", "crohn"),
        ("Is the Wells score useful in pulmonary embolism?", "Has Mrs Wells a pulmonary embolism?", "wells"),
        ("Is Bell's palsy treated with prednisolone?", "Is Mr Bell treated with prednisolone?", "bell"),
        ("Her Parkinson's is worse; more levodopa?", "Dr Parkinson is worse; more levodopa?", "parkinson"),
        ("Down syndrome and leukaemia", "Sister Down and leukaemia", "down"),
    ],
)
def test_a_disease_is_told_from_a_person_of_its_name(disease: str, person: str, name: str) -> None:
    assert any(word.startswith(name) for word in left(disease))
    assert not any(word.startswith(name) for word in left(person))


@pytest.mark.parametrize(
    ("illness", "term", "person", "name"),
    [
        ("What is the treatment of Stiff person syndrome?", "Stiff person syndrome", "Is Mr Stiff a person?", "stiff"),
        ("Describe the Visual snow syndrome.", "Visual snow syndrome", "Mr Snow has visual snow syndrome.", "snow"),
        ("What helps Restless legs syndrome?", "Restless legs syndrome", "Does Grace Snow disease spread?", "grace"),
    ],
)
def test_a_disease_in_everyday_words_is_one_term(illness: str, term: str, person: str, name: str) -> None:
    begin(illness, VOCABULARY)
    assert term in [t.text for t in asyncio.run(PLANNER.plan(illness, case=False)).terms]
    assert name not in left(person)


def test_a_long_code_is_a_thing_only_where_a_noun_says_so() -> None:
    assert "crt0066101" in left("What is the mechanism of the drug CRT0066101?")
    assert "crt0066101" not in left("What is the mechanism of CRT0066101?")
    assert "crt0066101" not in left("He takes the drug CRT0066101.")


@pytest.mark.parametrize(
    "word", ["Kymriah", "Eliquis", "PRDM9", "cabozantinib", "hydroxychloroquine", "cohesin", "zirconium"]
)
def test_brands_genes_and_new_substances_are_known(word: str) -> None:
    assert word.lower() in left(f"What is known of {word} in lymphoma?")


@pytest.mark.parametrize("code", ["HER2-positive", "GNAO1-related", "PIK3CA-mutated", "OSBPL2-induced"])
def test_what_belongs_to_a_gene_s_name_does_not_hold_it(code: str) -> None:
    assert code.lower() in left(f"How is {code} disease treated?")
    assert "rx4471982-related" not in left("How is RX4471982-related disease treated?")


def test_what_is_held_is_shown_and_released_for_a_turn_alone() -> None:
    text = "Is Brightwater fever a kind of malaria?"
    assert not_sent(cleared(text).held).startswith("Not sent: “Brightwater”. To send a word all the same")
    said, released = released_in(f"send:Brightwater {text}")
    assert (said, released) == (f"Brightwater {text}", ("Brightwater",))
    assert "brightwater" in cleared(text, *released).text.lower()
    assert "brightwater" not in cleared(text).text.lower(), "the next turn holds it again"
    assert released_in('send:"van der Berg" syndrome') == ("van der Berg syndrome", ("van der Berg",))
    assert released_in("ECG +ve, resend:x") == ("ECG +ve, resend:x", ())


def test_the_gate_lets_nothing_unknown_through_whoever_asks(ncbi: Any, settings_for: Callable[..., Any]) -> None:
    client = EUtilities(settings_for(ncbi))
    for query in ('"okonkwo"[tiab]', '"asthma"[tiab] AND Brightwater', "brightw*", '"Кузнецов"', "李小梅"):
        with pytest.raises(BadQuery) as failed:
            asyncio.run(client.search(query, 5))
        assert failed.value.reason is Reason.HELD
    with pytest.raises(BadQuery):
        asyncio.run(client.pmcids(["Okonkwo"]))
    for number in ('"asthma" AND 12345678', '"asthma" AND 447700900123[uid]'):  # of a record? of a telephone
        with pytest.raises(BadQuery):
            asyncio.run(client.search(number, 5))
    assert ncbi.requests == []
    asyncio.run(client.search('("asthma"[tiab] OR "asthmas"[tiab]) AND asthm* AND 2020/01/01:3000[dp]', 5))
    asyncio.run(client.search('("asthma"[tiab]) AND (12345678[uid] OR 7[uid])', 5))
    assert len(ncbi.requests) == 2


def test_a_name_that_is_a_disease_too_is_held_for_the_whole_turn(ncbi: Any, settings_for: Callable[..., Any]) -> None:
    async def turn() -> None:
        begin("Mrs Crohn has asthma.", VOCABULARY)
        await EUtilities(settings_for(ncbi)).search('"Crohn disease"', 5)

    with pytest.raises(BadQuery):
        asyncio.run(turn())
    asyncio.run(EUtilities(settings_for(ncbi)).search('"Crohn disease"', 5))
    assert len(ncbi.requests) == 1


def test_a_saved_strategy_carries_no_held_word_and_its_rerun_passes_the_gate(
    tmp_path: Path, ncbi: Any, settings_for: Callable[..., Any]
) -> None:
    async def turn() -> Any:
        begin("", VOCABULARY)
        return await adapt_e("Has Mrs Brightwater asthma from sutezolid?", EUtilities(settings_for(ncbi)), PLANNER)

    done = asyncio.run(turn())
    assert "Brightwater" in done.plan.held
    strategy = make_strategy("q", done.plan, done.climb, Source(kind="pubmed", name=ncbi.url), 20)
    save_strategy(strategy, tmp_path / "s.json")
    assert "rightwater" not in (tmp_path / "s.json").read_text()
    loaded, client = load_strategy(tmp_path / "s.json"), EUtilities(settings_for(ncbi))
    asyncio.run(rerun(loaded, client))
    step = loaded.rungs[0].model_copy(update={"query": '"Brightwater"[tiab]'})
    edited = loaded.model_copy(update={"rungs": (step,)})
    with pytest.raises(BadQuery):
        asyncio.run(rerun(edited, client))
    asyncio.run(rerun(edited, client, released=["Brightwater"]))
    assert "held" in LiveResult.model_fields


def test_a_slip_of_the_pen_is_mended_here_and_the_word_as_written_is_not_sent() -> None:
    plan = asyncio.run(PLANNER.plan("can warfrin be taken with ibuprofin", case=False))
    assert {"warfarin", "ibuprofen"} <= {t.text for t in plan.terms}
    assert not any("warfrin" in e.query for e in plan.expressions)


def test_a_chinese_text_is_searched_by_the_english_names_of_what_it_names() -> None:
    plan = asyncio.run(PLANNER.plan("王伟住在上海浦东，有高血压，没有哮喘，可以吃二甲双胍吗", case=False))
    assert {"hypertension", "metformin"} <= {t.text for t in plan.terms}
    assert "asthma" not in {t.text for t in plan.terms}
    assert all(e.query.isascii() for e in plan.expressions)


def test_clearing_twice_changes_nothing() -> None:
    once = cleared("Mrs Wells takes warfarin for her deep vein thrombosis.")
    assert clear(once.text, VOCABULARY).text.split() == once.text.split()
