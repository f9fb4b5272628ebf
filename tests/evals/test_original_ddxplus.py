"""DDXPlus from its release: codes and rows against the codebook, and the texts of the evaluations."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.datasets import ddxplus
from evals.datasets.catalogue import convert
from evals.datasets.ddxplus import Codebook, Evidence, read_codes, split_texts
from evals.datasets.releases import Placed, Problem
from prompts.errors import DataError

SAMPLE = Path(ddxplus.__file__).with_name("samples") / "ddxplus"
PATIENTS = "release_validate_patients.csv"
VALUES = st.lists(st.integers(0, 300).map(lambda n: f"V_{n}"), min_size=1, unique=True)


@st.composite
def evidences(draw: st.DrawFn) -> Evidence:
    """An evidence of any kind, as a release may have it."""
    kind = draw(st.sampled_from("BCM"))
    numbers = kind == "C" and draw(st.booleans())
    values: list[str] | list[int] = list(range(draw(st.integers(1, 11)))) if numbers else draw(VALUES)
    return Evidence.model_validate(
        {
            "name": f"E_{draw(st.integers(0, 999))}", "data_type": kind, "is_antecedent": draw(st.booleans()),
            "possible-values": [] if kind == "B" else values,
        }
    )  # fmt: skip


@given(evidences(), st.text(max_size=12), st.data())
def test_a_code_of_the_release_is_found_and_no_other(evidence: Evidence, value: str, data: st.DataObject) -> None:
    book = Codebook({evidence.name: evidence}, frozenset())
    known = [str(v) for v in evidence.values]
    code = f"{evidence.name}_@_{data.draw(st.sampled_from(known))}" if known else evidence.name
    assert book.find(code) is evidence
    if value not in known:
        with pytest.raises(ValueError, match=r"no value|has no value|lacks its value"):
            book.find(f"{evidence.name}_@_{value}")
    if evidence.kind != "B":
        with pytest.raises(ValueError, match="lacks its value"):
            book.find(evidence.name)
    with pytest.raises(ValueError, match="no evidence"):
        book.find(f"X{evidence.name}")


def problems_of(tmp_path: Path, before: str, after: str) -> list[Problem]:
    folder = shutil.copytree(SAMPLE, tmp_path / "d")
    text = (folder / PATIENTS).read_text()
    assert before in text
    (folder / PATIENTS).write_text(text.replace(before, after, 1))
    return [one for one in ddxplus.read(folder) if isinstance(one, Problem)]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("'E_1', 'E_2_@_V_1'", "'E_1', 'E_9'", "'E_9' is no evidence"),
        ("E_2_@_V_1", "E_2_@_V_9", "'V_9' is no value of E_2"),
        ("E_3_@_2", "E_3", "E_3 lacks its value"),
        ("'E_5']", "'E_5_@_V_1']", "E_5 is binary"),
        (",Sample cold,", ",Sample fever,", "no condition of the release: Sample fever"),
        ("0.7]", "0.2]", "do not add up to 1"),
        ("\"['E_1', 'E_2_@_V_1'", "\"['E_2_@_V_1'", "the initial evidence is none"),
        ("\"['E_1', 'E_2_@_V_1'", "\"open('E_1', 'E_2_@_V_1'", "no list as Python writes it"),
        ("34,", "-1,", "AGE"),
    ],
)
def test_a_row_that_does_not_fit_the_release_is_a_problem(tmp_path: Path, before: str, after: str, words: str) -> None:
    (problem,) = problems_of(tmp_path, before, after)
    assert words in problem.what
    assert (problem.file, problem.line) == (PATIENTS, 2)


def test_the_release_is_read_zipped_and_unpacked(tmp_path: Path) -> None:
    placed = [one for one in ddxplus.read(SAMPLE) if isinstance(one, Placed)]
    assert [(one.file, one.row.id) for one in placed] == [
        ("release_train_patients.zip/release_train_patients", "train-0"),
        (PATIENTS, "validate-0"),
        (PATIENTS, "validate-1"),
    ]
    folder = shutil.copytree(SAMPLE, tmp_path / "d")
    shutil.move(folder / PATIENTS, folder / "release_validate_patients")
    assert len(list(ddxplus.read(folder))) == 3
    (folder / "release_evidences.json").unlink()
    (problem,) = ddxplus.read(folder)
    assert isinstance(problem, Problem)
    assert "release_evidences.json is not in" in problem.what


def test_texts_and_codes_agree_as_the_evaluations_ask(tmp_path: Path) -> None:
    report = convert(ddxplus.ORIGINAL, SAMPLE, tmp_path)
    assert set(report.copied) == {
        "ddxplus/release_evidences.json", "ddxplus/release_conditions.json", "ddxplus/statements_plain.json",
    }  # fmt: skip
    first, second = split_texts(tmp_path, "validate")
    assert first.text == (
        "I am a 34-year-old woman. I have a cough. It hurts in my throat and my chest. The pain is 2 out of 3. "
        "I have not travelled lately. I have had a sample cold before."
    )
    assert (first.initial_text, first.names_gold) == ("I have a cough.", True)
    assert second.text == "I am an 8-year-old boy. I have a cough. It hurts nowhere. I have travelled lately."
    assert not second.names_gold
    assert split_texts(tmp_path, "train")[0].text.startswith("I am a baby girl less than a year old.")
    assert read_codes(tmp_path)["validate-1"].differential == (("Sample cough (acute)", 1.0),)


def test_without_statements_there_are_codes_alone(tmp_path: Path) -> None:
    folder = shutil.copytree(SAMPLE, tmp_path / "d")
    (folder / "statements_plain.json").unlink()
    report = convert(ddxplus.ORIGINAL, folder, tmp_path / "out")
    assert report.written == {"ddxplus/patients_dev.jsonl": 3}
    assert sum(report.left_out.values()) == 3
    (folder / "statements_plain.json").write_text('{"E_1": "I have a cough."}')
    with pytest.raises(DataError, match="has no words for"):
        convert(ddxplus.ORIGINAL, folder, tmp_path / "other")
