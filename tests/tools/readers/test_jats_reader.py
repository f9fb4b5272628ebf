"""JATS: what an article says, where, and what is left out; hostile XML."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tools.evidence import Status
from tools.readers.contract import Problem, Record
from tools.readers.reading import read

ARTICLE = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS" "https://example.org/archivearticle.dtd">
<article article-type="{kind}" xml:lang="en" xmlns:xlink="http://www.w3.org/1999/xlink"
  xmlns:mml="http://www.w3.org/1998/Math/MathML">
<front><article-meta>{ids}
<article-categories><subj-group><subject>Study Protocol</subject></subj-group></article-categories>
<title-group><article-title>{title}<xref ref-type="fn">*</xref></article-title></title-group>
<pub-date pub-type="ppub"><month>Mar</month><year>2020</year></pub-date>
<pub-date pub-type="epub"><day>30</day><month>2</month><year>2019</year></pub-date>{related}
<abstract><sec><title>Aims</title><p>To see.</p></sec></abstract>
<abstract abstract-type="summary"><title>Lay summary</title><p>We looked.</p></abstract>
</article-meta></front>
<body><p>Before any heading.</p>
<sec><label>1</label><title>Methods</title>
<p>Counts of 10<sup>9</sup>/L fell in
CO<sub>2</sub><sup><xref ref-type="bibr">3</xref>,<xref ref-type="bibr">4</xref></sup>
<fig><label>Fig. 1</label>
<caption><title>Flow</title><p>of patients</p></caption><graphic xlink:href="f"/></fig>as &alpha; &lt; 5 shows
<inline-formula><alternatives><tex-math>\\documentclass x</tex-math>
<mml:math><mml:mi>p</mml:mi><mml:mo>=</mml:mo><mml:mn>0.04</mml:mn
></mml:math></alternatives></inline-formula>.</p>
<sec><title>Patients</title><list><list-item><p>adults</p></list-item><list-item><p>children</p></list-item></list>
<table-wrap><label>Table 1</label><caption><p>Ages.</p></caption>
<table><thead><tr><th>Group</th><th>Age</th><th>n</th></tr></thead><tbody><tr><td>A</td><td/><td>12</td></tr></tbody></table>
<table-wrap-foot><fn><p>n, number</p></fn></table-wrap-foot></table-wrap></sec>
<p>Back in methods.</p></sec></body>
<back><ack><p>We thank.</p></ack><app-group><app><title>Appendix</title><p>Doses.</p></app></app-group>
<ref-list><ref><mixed-citation>Someone 1999</mixed-citation></ref></ref-list></back></article>
"""
IDS = '<article-id pub-id-type="pmid">55</article-id><article-id pub-id-type="pmc">PMC77</article-id>'
TEXT = """## Abstract / Aims
To see.

## Abstract / Lay summary
We looked.

Before any heading.

## Methods
Counts of 10⁹/L fell in CO2 as α < 5 shows p=0.04.
Fig. 1. Flow of patients

## Methods / Patients
adults
children
Table 1. Ages.
Group | Age | n
A | | 12
n, number

## Methods
Back in methods.

## Appendix
Doses."""


def article(
    kind: str = "research-article", ids: str = IDS, title: str = "A trial", related: str = "", extra: str = ""
) -> str:
    made = ARTICLE.format(kind=kind, ids=ids, title=title, related=related)
    return made.replace("Before any heading.", f"Before any heading.{extra}")


def written(folder: Path, content: str, name: str = "a.nxml") -> list[Record | Problem]:
    (folder / name).write_text(content, encoding="utf-8")
    return list(read(folder / name))


def one(folder: Path, content: str) -> Record:
    (record,) = written(folder, content)
    assert isinstance(record, Record), record
    return record


def test_the_whole_article_in_order_with_exact_sections(tmp_path: Path) -> None:
    record = one(tmp_path, article())
    assert record.text == TEXT
    assert (record.id, record.title, record.kind, record.date) == ("pmc:PMC77", "A trial", "article", "2019-02")
    titles = ["Abstract / Aims", "Abstract / Lay summary", "", "Methods", "Methods / Patients", "Methods", "Appendix"]
    assert [s.title for s in record.sections] == titles
    last = record.sections[-1]
    assert record.text[last.start : last.end] == "Doses."
    assert record.sections[1].start == TEXT.index("We looked.")
    assert record.publication_types == ("Clinical Trial Protocol",)


def test_a_full_text_never_takes_the_id_of_its_abstract(tmp_path: Path) -> None:
    record = one(tmp_path, article(ids='<article-id pub-id-type="pmid">55</article-id>'))
    assert record.id.startswith("own:a-")


@pytest.mark.parametrize(
    ("kind", "title", "related", "status", "named"),
    [
        ("research-article", "A trial", "", Status.OK, "A trial"),
        ("research-article", "RETRACTED: A trial", "", Status.RETRACTED, "RETRACTED: A trial"),
        ("research-article", "A trial", "retraction-forward", Status.RETRACTED, "A trial"),
        ("research-article", "A trial", "correction-forward", Status.CORRECTED, "A trial"),
        ("retraction", "A trial", "retracted-article", Status.RETRACTION_NOTICE, "Retraction: A trial"),
        ("retraction", "Retraction notice", "retraction-forward", Status.RETRACTION_NOTICE, "Retraction notice"),
        ("correction", "Erratum to: A trial", "corrected-article", Status.OK, "Erratum to: A trial"),
        ("preprint", "A trial", "", Status.PREPRINT, "A trial"),
    ],
)
def test_the_editorial_status(kind: str, title: str, related: str, status: Status, named: str, tmp_path: Path) -> None:
    element = f'<related-article related-article-type="{related}"/>' if related else ""
    record = one(tmp_path, article(kind=kind, title=title, related=element))
    assert (record.status, record.title) == (status, named)


def test_an_answer_of_several_articles_and_one_without_words(tmp_path: Path) -> None:
    body = article().split('.dtd">', 1)[1]
    empty = "<article><front><article-meta/></front></article>"
    first, second, problem = written(
        tmp_path, f"<pmc-articleset>{body}{body}{empty}</pmc-articleset>".replace("&alpha;", "")
    )
    assert isinstance(first, Record)
    assert first == second
    assert isinstance(problem, Problem)
    assert problem.where == "article 3"


def test_packed_and_namespaced_articles_are_the_same(tmp_path: Path) -> None:
    plain = one(tmp_path, article())
    spaced = article().replace("<article ", '<article xmlns="https://jats.nlm.nih.gov/ns/archiving/1.3/" ')
    (tmp_path / "a.nxml.gz").write_bytes(gzip.compress(spaced.encode()))
    assert list(read(tmp_path / "a.nxml.gz")) == [plain]


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
DTD = f'<!DOCTYPE article [<!ENTITY l0 "ha">{LAUGHS}]>'
HOSTILE = {
    "billion laughs": f"{DTD}<article><body><p>&l9;</p></body></article>",
    "in an attribute": f'{DTD}<article a="&l9;"><body><p>x</p></body></article>',
    "external entity": '<!DOCTYPE article [<!ENTITY x SYSTEM "SECRET">]><article><body><p>&x;</p></body></article>',
    "parameter entity": '<!DOCTYPE article [<!ENTITY % x SYSTEM "SECRET"> %x;]><article><p>a</p></article>',
    "cut off": article()[:1500],
    "web page": "<!DOCTYPE html><html><body>429 Too Many Requests</body></html>",
    "another root": "<eSearchResult><Count>0</Count></eSearchResult>",
    "no XML": "Error: service unavailable",
    "deep": "<article>" * 5000,
    "unknown encoding": '<?xml version="1.0" encoding="klingon"?><article/>',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_xml_is_a_problem_and_reads_nothing_else(name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    found = written(tmp_path, HOSTILE[name].replace("SECRET", secret.as_uri()))
    assert len(found) == 1
    assert isinstance(found[0], Problem)
    assert found[0].advice
    assert "secret" not in found[0].what
