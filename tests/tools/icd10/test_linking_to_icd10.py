"""Diagnoses linked to codes, by the strict and the published setting."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tools.icd10 import ICD10
from tools.icd10.chinese import ChineseNames
from tools.icd10.contract import Name, at_depth
from tools.icd10.linking import Linker
from tools.icd10.matching import PublishedMatch
from tools.icd10.names import OURS, NamedCodes, open_names, read_ours
from tools.icd10.words import opposed, unsaid, words

WORDS = st.sampled_from(
    "acute chronic pneumonia type 2 diabetes heart failure of lung ALL , and no ; 肺炎 急性 阑尾炎 ( ) é".split()
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=8).map(" ".join))
FIXTURES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("heart attack", {"I21"}),
        ("Type II diabetes mellitus, hypothyroidism", {"E11", "E03"}),
        ("Crohn's disease", {"K50"}),
        ("pnuemonia", {"J18"}),
        ("ruptured gullet", {"K22"}),
        ("acute and chronic sinusitis", {"J32"}),
        ("HIV disease; breast cancer", {"B20", "C50"}),
        ("multiple myeloma", {"C90"}),
        ("Hand, foot and mouth disease", {"B08"}),
        ("all of them, any nose, tongue, lived, thrombolysis, aspirin", set()),
        ("慢性阻塞性肺疾病急性加重；急性阑尾炎，否认肺炎", {"J44", "K35"}),
        ("2型糖尿病肾病", {"E11"}),
        ("冠状动脉支架植入术后状态", set()),
    ],
)
def test_strict_links(strict: Linker, text: str, codes: set[str]) -> None:
    assert strict.codes(text) == codes


def test_depth_and_titles(strict: Linker) -> None:
    assert strict.codes("acute exacerbation of COPD", "subdivision") == {"J44.1"}
    renal = strict.entity("2型糖尿病肾病", "subdivision")
    assert renal is not None
    assert (renal.code, renal.name) == ("E11.2", "2型糖尿病性肾病")
    category = strict.entity("2型糖尿病肾病")
    assert category is not None
    assert category.name == "非胰岛素依赖型糖尿病"
    assert [at_depth(c, "subdivision") for c in ("A33xx01", "E11.221+N08.3*", "C7A.0", "W57.XXXA", "nonsense")] == [
        "A33", "E11.2", "C7A.0", "W57", "",
    ]  # fmt: skip


def test_without_a_table_chinese_is_linked_by_the_other_names_alone(table: ICD10, named: NamedCodes) -> None:
    alone = Linker(table, named)
    assert alone.codes("冠心病；急性阑尾炎") == {"I25"}


def test_the_published_threshold_links_what_is_no_diagnosis(paper: Linker, strict: Linker) -> None:
    phrases = ["aspirin", "painful periods", "feels better today", "lives alone"]
    assert [bool(paper.codes(p)) for p in phrases] == [True] * 4
    assert [bool(strict.codes(p)) for p in phrases] == [False] * 4


def test_of_equal_published_scores_the_name_written_most_alike_is_taken() -> None:
    names = [Name("A06", "Amebic lung abscess"), Name("C34", "Lung cancers"), Name("B01", "Lung cancers")]
    match = PublishedMatch(names).best(["lung cancer"])
    assert match is not None
    assert match.name.code == "B01"
    assert PublishedMatch(names).best(["..."]) is None
    assert PublishedMatch([]).best(["lung"]) is None


@FIXTURES
@given(TEXTS)
def test_any_text_is_linked_to_codes_of_the_table(
    strict: Linker, paper: Linker, table: ICD10, chinese: ChineseNames, text: str
) -> None:
    for linker in (strict, paper):
        for linked in linker.link(text, "subdivision"):
            if linked.entity is not None:
                code = linked.entity.code
                assert table.get(code) is not None or chinese.code(code, "subdivision") == code
                assert 0 < linked.entity.score <= 1
                assert linked.entity.name


@FIXTURES
@given(st.integers(0, 40_000))
def test_a_name_is_linked_to_a_code_that_has_it(strict: Linker, named: NamedCodes, at: int) -> None:
    name = named.rows[at % len(named.rows)]
    entity = strict.entity(name.text)
    assert entity is not None
    assert entity.score == 1
    again = strict.entity(entity.matched)
    assert again is not None
    assert again.code == entity.code
    codes = {at_depth(n.code, "category") for n, w in zip(named.rows, named.read, strict=True) if w == words(name.text)}
    assert entity.code in codes


@FIXTURES
@given(st.permutations(["heart failure", "no asthma", "2型糖尿病肾病", "suspected gout", "急性阑尾炎"]))
def test_the_set_of_codes_has_no_order(strict: Linker, items: list[str]) -> None:
    assert strict.codes("; ".join(items)) == {"I50", "E11", "M10", "K35"}


def test_words_that_exclude_each_other() -> None:
    assert opposed(words("acute sinusitis"), words("Chronic sinusitis"), chinese=False)
    assert not opposed(words("sinusitis"), words("Chronic sinusitis"), chinese=False)
    assert opposed(words("甲状腺功能亢进"), words("甲状腺功能减退"), chinese=True)
    assert words("hepatitis").keys() != words("liver").keys()
    assert words("Oesophageal tumours").keys() == words("esophageal tumor").keys()
    assert unsaid("falciparum malaria", "Congenital falciparum malaria")
    assert not unsaid("neonatal asphyxia", "Asphyxia of newborn")
    assert not unsaid("interstitial cystitis", "Interstitial cystitis (chronic)")
    assert unsaid("tongue", "Diseases of tongue")
    assert unsaid("all of them", "ALL")
    assert not unsaid("Crohn", "Crohn's disease")


def test_our_names_have_codes_of_the_table(table: ICD10) -> None:
    text = OURS.read_text(encoding="utf-8")
    codes = [line.split(":")[0] for line in text.splitlines() if line and line[0] not in "# "]
    assert codes
    assert [code for code in codes if table.get(code) is None] == []
    assert len({name.text for name in read_ours(table)}) > 200


def test_names_are_compiled_once_and_anew_when_the_graph_changes_or_the_file_is_damaged(
    table: ICD10, named: NamedCodes, home: Path
) -> None:
    target = home / "names.json"

    def never() -> list[Name]:
        raise AssertionError("the names were compiled already")

    assert open_names(target, table, "a graph", never).rows == named.rows
    other = home / "other-names.json"
    other.write_bytes(target.read_bytes())
    changed = open_names(other, table, "another graph", lambda: [Name("K22.3", "torn gullet", "alias")])
    assert {"torn gullet"} == {n.text for n in changed.rows} - {n.text for n in named.rows}
    assert json.loads(other.read_bytes())["key"]["graph"] == "another graph"
