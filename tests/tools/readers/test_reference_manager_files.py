"""RIS and nbib as reference managers write them: a document a record, every other record a problem with its name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.evidence import Status
from tools.literature.article import Article, Author, MeshHeading
from tools.readers.contract import Problem, Record
from tools.readers.reading import read
from tools.references.contract import of_article
from tools.references.forms import Form, written

# every record here is invented
ZOTERO = """TY  - JOUR
TI  - Invented steroids in
      croup
AU  - Doe, Jane A.
AU  - Roe, R.-M.
AU  - The Invented Croup Group
T2  - Journal of Inventions
J2  - J Invent
AB  - BACKGROUND: Croup is common.
RESULTS: It helped 50% of “children” — < 2 years.
DA  - 2020/03/07/
PY  - 2020
VL  - 12
IS  - 3
SP  - 123
EP  - 128
DO  - https://doi.org/10.9999/invented.1
LA  - en
KW  - Review
N1  - <p>to read</p>
ER  -
"""
ENDNOTE = """TY  - JOUR
A1  - Doe, J.
Y1  - 2019///
T1  - RETRACTED: an invented study
JF  - Invented Letters
N2  - It was withdrawn later.
M3  - Randomized Controlled Trial
AN  - 99999991
DB  - PubMed
ER  -
"""
BARE = "TY  - JOUR\nTI  - An invented title alone\nER  - \n"
NBIB = """PMID- 99999992
OWN - NLM
IS  - 1234-5678 (Print)
VI  - 5
IP  - 2
DP  - 2021 Mar 7
TI  - An invented trial of
      steam in croup.
PG  - 1-9
LID - 10.9999/invented.2 [doi]
AB  - BACKGROUND: Steam was tried.
      RESULTS: It did not help.
FAU - Doe, Jane A
AU  - Doe JA
CN  - Invented Group
LA  - eng
PT  - Journal Article
PT  - Randomized Controlled Trial
EIN - J Invent. 2022;1:1. PMID: 99999993
TA  - J Invent
JT  - Journal of Inventions
MH  - Croup/*drug therapy
AID - 10.9999/invented.2 [doi]
SO  - J Invent. 2021 Mar 7;5(2):1-9.

PMID- 99999994
DP  - 2020 Winter
TI  - An invented letter.
"""


def of(path: Path, text: str | bytes) -> tuple[list[Record], list[Problem]]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    found = list(read(path))
    return [f for f in found if isinstance(f, Record)], [f for f in found if isinstance(f, Problem)]


def test_ris_gives_a_document_a_record_with_what_it_says_of_itself(tmp_path: Path) -> None:
    pytest.importorskip("rispy")
    (own, by_pmid), problems = of(tmp_path / "library.ris", "Provider: a database\r\n" + (ZOTERO + "\n" + ENDNOTE))
    assert problems == []
    assert own.id.startswith("own:10-9999-invented-1-")
    assert (own.title, own.kind, own.date, own.language) == (
        "Invented steroids in croup", "abstract", "2020-03-07", "en",
    )  # fmt: skip
    assert own.text == "BACKGROUND: Croup is common. RESULTS: It helped 50% of “children” — < 2 years."
    assert own.reference == (
        "Doe JA, Roe RM, The Invented Croup Group. Invented steroids in croup. J Invent. 2020;12(3):123-128. "
        "doi:10.9999/invented.1"
    )
    assert (own.level, own.publication_types) == (None, ()), "a tag of a user is no publication type"
    assert (by_pmid.id, by_pmid.date, by_pmid.status) == ("pubmed:99999991", "2019", Status.RETRACTED)
    assert by_pmid.publication_types == ("Randomized Controlled Trial",)
    assert by_pmid.reference.startswith("Doe J. RETRACTED: an invented study. Invented Letters. 2019")


def test_nbib_gives_a_document_a_record_with_what_it_says_of_itself(tmp_path: Path) -> None:
    (trial,), (letter,) = of(tmp_path / "pubmed.nbib", f"\n{NBIB}\n".replace("\n", "\r\n"))
    assert (trial.id, trial.date, trial.level) == ("pubmed:99999992", "2021-03-07", "randomised trial")
    assert trial.text == "BACKGROUND: Steam was tried. RESULTS: It did not help."
    assert (trial.status, trial.language) == (Status.CORRECTED, "en")
    assert trial.reference == (
        "Doe JA, Invented Group. An invented trial of steam in croup. J Invent. 2021;5(2):1-9. doi:10.9999/invented.2"
    )
    assert (letter.where, letter.what) == ("record 2 (An invented letter.)", "no abstract")


@pytest.mark.parametrize(
    ("name", "text", "where", "what"),
    [
        ("a.ris", BARE, "record 1 (An invented title alone)", "no abstract"),
        ("a.ris", ZOTERO.removesuffix("ER  -\n"), "record 1", "cut off"),
        ("a.ris", "TY  - JOUR\nTI  - Cut\n" + ZOTERO, "record 1", "cut off"),
        ("a.ris", "Some words.", "", "no record of RIS"),
        ("a.ris", "", "", "empty"),
        ("a.ris", ZOTERO.encode("utf-16-le"), "", "binary"),
        ("a.ris", ZOTERO.encode("cp1252"), "", "not UTF-8"),
        ("a.nbib", "Some words.", "record 1", "tag of MEDLINE"),
        ("a.nbib", "\n\n" + "      Blanks.", "record 1", "tag of MEDLINE"),
        ("a.nbib", b"PMID- 1\nTI  - \xe9", "", "not UTF-8"),
    ],
)
def test_what_is_no_document_is_a_problem_with_advice(
    tmp_path: Path, name: str, text: str | bytes, where: str, what: str
) -> None:
    pytest.importorskip("rispy")
    records, problems = of(tmp_path / name, text)
    assert len(records) == ("TI  - Cut" in str(text)), "what stands beside it is read"
    assert (problems[0].where, len(problems)) == (where, 1)
    assert what in problems[0].what
    assert problems[0].advice


def test_without_rispy_it_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rispy", None)
    (problem,) = of(tmp_path / "a.ris", ZOTERO)[1]
    assert "anamnesis[documents]" in problem.advice


@pytest.mark.parametrize("form", ["ris", "nbib"])
def test_what_was_exported_is_read_as_what_it_was(form: Form, tmp_path: Path) -> None:
    pytest.importorskip("rispy")
    study = Article(
        pmid="99999995", title="An invented review of croup", abstract="AIM: To see.\nRESULTS: Seen; P < 0.05 & more.",
        publication_types=("Journal Article", "Systematic Review"), status=Status.OK, level="systematic review",
        date="2020-03-07", year=2020, journal="Journal of Inventions", iso_abbreviation="J Invent", language="en",
        languages=("eng",), volume="1", issue="2", pages="3-9", doi="10.9999/invented.5", keywords=("croup",),
        authors=(Author(last="Doe", fore="Jane", initials="J"), Author(collective="The Group")),
        mesh=(MeshHeading(name="Child, Preschool", id="D002675", major=False),),
    )  # fmt: skip
    (record,), problems = of(tmp_path / f"a.{form}", written([of_article(study)], form))
    assert problems == []
    assert (record.id, record.title, record.text) == ("pubmed:99999995", study.title, " ".join(study.abstract.split()))
    assert (record.date, record.language, record.level) == (study.date, "en", study.level)
    assert record.reference == study.reference


@given(st.lists(st.sampled_from([*ZOTERO.splitlines(), *NBIB.splitlines(), "", "x", "UR  - a;b", "\u2028", "TY  -"])))
def test_no_file_of_lines_is_more_than_records_and_problems(lines: list[str]) -> None:
    import tempfile

    pytest.importorskip("rispy")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.ris", "a.nbib"):
            records, problems = of(Path(folder) / name, "\n".join(lines))
            assert records or problems
