"""PubMed's XML: one record at a time, none lost without a word."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from support.efetch import parse_articles
from tools.evidence import Status
from tools.readers import files
from tools.readers.contract import Problem, Record
from tools.readers.reading import read

RECORD = """<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><Journal><JournalIssue><PubDate>
<Year>2020</Year></PubDate></JournalIssue></Journal>
<ArticleTitle>Title {pmid}</ArticleTitle>{abstract}<Language>eng</Language>
<PublicationTypeList><PublicationType>{kind}</PublicationType></PublicationTypeList></Article></MedlineCitation>
</PubmedArticle>
"""
ABSTRACT = """<Abstract><AbstractText Label="AIM">To see cafe\u0301.</AbstractText>
<AbstractText Label="RESULT">We saw.</AbstractText></Abstract>"""


def record(pmid: int | str, abstract: str = ABSTRACT, kind: str = "Meta-Analysis") -> str:
    return RECORD.format(pmid=pmid, abstract=abstract, kind=kind)


def written(folder: Path, content: str, name: str = "pubmed.xml") -> list[Record | Problem]:
    (folder / name).write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return list(read(folder / name))


SET = (
    "<PubmedArticleSet>"
    + record(11)
    + record(12, "")
    + record("")
    + record(13, kind="Retracted Publication")
    + "<DeleteCitation><PMID>7</PMID><PMID>8</PMID></DeleteCitation></PubmedArticleSet>"
)


def test_every_record_is_read_or_named(tmp_path: Path) -> None:
    found = written(tmp_path, SET)
    first, without, nameless, retracted, *deleted = found
    assert isinstance(first, Record)
    assert (first.id, first.kind, first.level, first.date) == ("pubmed:11", "abstract", "meta-analysis", "2020")
    assert first.text == "AIM: To see café.\nRESULT: We saw."
    assert isinstance(without, Problem)
    assert (without.where, without.what) == ("PMID 12", "no abstract")
    assert isinstance(nameless, Problem)
    assert isinstance(retracted, Record)
    assert retracted.status is Status.RETRACTED
    assert [d.where for d in deleted if isinstance(d, Problem)] == ["PMID 7", "PMID 8"]
    assert written(tmp_path, SET, "pubmed.xml.gz") == found


def test_the_text_is_that_of_a_live_search_but_for_the_normal_form(tmp_path: Path) -> None:
    (live,) = parse_articles(f"<PubmedArticleSet>{record(11)}</PubmedArticleSet>".encode()).articles
    (read_,) = written(tmp_path, record(11))
    assert isinstance(read_, Record)
    assert read_.text == live.abstract.replace("e\u0301", "é")


def test_a_file_that_is_cut_gives_what_stands_before_the_cut(tmp_path: Path) -> None:
    content = "<PubmedArticleSet>" + "".join(record(i) for i in range(1, 400)) + "</PubmedArticleSet>"
    *records, problem = written(tmp_path, content[: len(content) // 2])
    assert len(records) > 150
    assert isinstance(problem, Problem)
    assert "cut off" in problem.what
    assert isinstance(written(tmp_path, "<PubmedArticleSet></PubmedArticleSet>")[0], Problem)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(records: int) -> int:
        content = "<PubmedArticleSet>" + "".join(record(i) for i in range(1, records)) + "</PubmedArticleSet>"
        path = tmp_path / f"{records}.xml"
        path.write_text(content)
        tracemalloc.start()
        count = sum(isinstance(r, Record) for r in read(path))
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == records - 1
        return size

    peak(50)
    assert peak(600) < peak(100) + 200_000


def test_one_endless_record_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_TEXT", 100_000)
    endless = record(2, f"<Abstract><AbstractText>{'word ' * 100_000}</AbstractText></Abstract>")
    *records, problem = written(tmp_path, f"<PubmedArticleSet>{record(1)}{endless}</PubmedArticleSet>")
    assert isinstance(problem, Problem)
    assert "One record" in problem.what
    assert len(records) <= 1
