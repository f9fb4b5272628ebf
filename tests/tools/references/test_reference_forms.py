"""References as reference managers read them: written here, read back by other people's readers of each form."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.errors import InputError
from tools.evidence import Evidence, Origin, Status
from tools.literature.article import Article, Author, MeshHeading, Qualifier
from tools.references.contract import Reference, collected, in_a_line, of_article, of_evidence
from tools.references.forms import FORMS, Form, csl_items, form_of, holds, said_of, written

GROUP = "The CROUP & Fever Group on the Long Names that Readers of MEDLINE Take for Two when Lines are Broken"
ARTICLE = Article(
    pmid="12345678",
    title="Steroids & croup: a 50% reduction in re-admissions — étude β_2.",
    abstract="",
    publication_types=("Journal Article", "Randomized Controlled Trial"),
    status=Status.CORRECTED,
    level="randomised trial",
    date="2020-03-07",
    year=2020,
    journal="The Journal of Paediatrics & Child Health",
    iso_abbreviation="J. Paediatr. Child Health",
    issn="1234-5678",
    volume="12",
    issue="3",
    pages="123-8",
    language="en",
    languages=("eng",),
    doi="10.1000/abc_(19)98:1<1::aid>3.0.co;2-x",
    pmcid="PMC7654321",
    authors=(
        Author(last="van der Berg-Öster", fore="Anna Maria", initials="AM"),
        Author(last="Smith", fore="John", initials="J", suffix="3rd"),
        Author(last="王", fore="小明", initials="X"),
        Author(collective=GROUP),
    ),
)
BOOK = Article(
    pmid="30000001", title="Acute bronchitis.", abstract="", publication_types=(), status=Status.OK, level="other",
    date="2023", year=2023, journal="StatPearls", language="en", book=True, authors=(Author(last="Roe", initials="R"),),
)  # fmt: skip
LABEL = Evidence(
    id="label:abc@0-4", text="Text", title="Amoxicillin capsule", kind="label", origin=Origin.RETRIEVED, date="2024-05",
    source="openFDA drug labels", licence="CC0 1.0",
)  # fmt: skip
MONOGRAPH = Evidence(
    id="library:croup@0-4", text="Text", title="Croup", kind="monograph", origin=Origin.RETRIEVED,
    level="monograph (not clinically reviewed)", date="2026-01-31",
)  # fmt: skip


def reference(item: Evidence) -> Reference:
    made = of_evidence(item)
    assert made is not None
    return made


FULL, CHAPTER = of_article(ARTICLE), of_article(BOOK)
EVERY = [FULL, CHAPTER, reference(LABEL), reference(MONOGRAPH)]
ENTRY = reference(
    Evidence(
        id="graph:starter/croup", text="Text", title="Croup", kind="graph_entry", origin=Origin.KNOWLEDGE_GRAPH,
        level="knowledge graph, not clinically reviewed",
    )
)  # fmt: skip


def test_an_entry_of_the_graph_is_one_in_every_form() -> None:
    rispy, bibtexparser = pytest.importorskip("rispy"), pytest.importorskip("bibtexparser")
    notes = "Entry of a knowledge graph, not a publication", "Not clinically reviewed"
    (ris,) = rispy.loads(written([ENTRY], "ris"))
    assert (ris["type_of_reference"], ris["title"], tuple(ris["notes"])) == ("DBASE", "Croup", notes)
    (bib,) = bibtexparser.parse_string(written([ENTRY], "bibtex")).entries
    assert (bib.entry_type, bib["howpublished"], bib["note"]) == ("misc", "Knowledge graph starter", "; ".join(notes))
    (csl,) = csl_items([ENTRY])
    assert (csl["type"], csl["container-title"]) == ("entry", "Knowledge graph starter")
    assert written([ENTRY], "nbib") == ""


def test_a_citation_in_a_line_says_by_whom_what_and_when() -> None:
    study = ARTICLE.model_copy(update={"abstract": "It helps.", "pmcid": ""})
    assert in_a_line(MONOGRAPH, "monograph", None) == (
        "Anamnesis starter library. Croup. 2026-01-31. monograph. library:croup"
    )
    assert in_a_line(LABEL) == "openFDA drug labels. Amoxicillin capsule. 2024-05. label:abc"
    assert in_a_line(study.evidence()) == (
        f"van der Berg-Öster AM, Smith J, 王 X, {GROUP}. {ARTICLE.title.rstrip('.')}. J. Paediatr. Child Health. "
        f"2020;12(3):123-8. doi:{ARTICLE.doi}. pubmed:12345678. https://pubmed.ncbi.nlm.nih.gov/12345678/"
    )


def test_what_a_reference_lacks_and_why_stands_in_every_form() -> None:
    item = Evidence(id="pubmed:9@0-4", text="Text", title="Croup", kind="abstract", origin=Origin.RETRIEVED)
    (kept,) = collected([item], {}, {}, "The mirror is away.").references
    note = "Authors, journal and DOI may be lacking. The mirror is away."
    tags = {"ris": "N1  - ", "nbib": "GN  - ", "bibtex": "note = {", "csl-json": '"note": "'}
    for form in FORMS:
        assert f"{tags[form]}{note}" in written([kept], form)


STUDY = ARTICLE.model_copy(
    update={
        "abstract": "BACKGROUND: 50% of {croup} & “stridor” at < 2 µg/mL_1\\day.\n"
        "ER  - RESULTS: P = 0.03; 95% CI 1.2–3.4 ~ $5 #1 }{.\n"
        + " ".join(f"Sentence {number} of a long abstract." for number in range(400)),
        "mesh": (
            MeshHeading(name="Child, Preschool", id="D002675", major=False),
            MeshHeading(
                name="Croup", id="D003440", major=False,
                qualifiers=(Qualifier(name="drug therapy", major=True), Qualifier(name="mortality", major=False)),
            ),
            MeshHeading(name="Steroids", id="D013256", major=True),
        ),
        "keywords": ("croup & stridor", "βeta {2}"),
        "vernacular_title": "Stéroïdes et croup.",
    }
)  # fmt: skip
SUBJECTS = [
    "Child, Preschool", "Croup/drug therapy/mortality", "Steroids", "croup & stridor", "βeta {2}", "Journal Article",
    "Randomized Controlled Trial",
]  # fmt: skip
LINE = " ".join(STUDY.abstract.split())
PREPRINT = of_article(
    STUDY.model_copy(
        update={"publication_types": ("Journal Article", "Preprint"), "status": Status.PREPRINT, "journal": "medRxiv"}
    )
)


def of_tex(text: str) -> str:
    """What TeX sets for an escaped text without accents."""
    for command, sign in (("backslash", "\\"), ("asciitilde", "~"), ("braceleft", "{"), ("braceright", "}")):
        text = text.replace(f"\\text{command}{{}}", f"\0{sign}")
    return re.sub(r"\\([&%$#_{}])|\0(.)", lambda found: found[1] or found[2], text)


def test_abstract_headings_keywords_and_types_come_back_whole_from_every_form() -> None:
    from Bio import Medline

    rispy, bibtexparser = pytest.importorskip("rispy"), pytest.importorskip("bibtexparser")
    study = of_article(STUDY)
    assert len(LINE) > 13_000
    (ris,) = rispy.loads(written([study], "ris"))
    assert (ris["abstract"], ris["keywords"]) == (LINE, SUBJECTS)
    (nbib,) = Medline.parse(io.StringIO(written([study], "nbib")))
    assert nbib["AB"] == LINE
    assert nbib["MH"] == ["Child, Preschool", "Croup/*drug therapy/mortality", "*Steroids"]
    assert (nbib["OT"], nbib["PT"]) == (list(STUDY.keywords), list(STUDY.publication_types))
    assert nbib["TT"] == "Stéroïdes et croup"
    library = bibtexparser.parse_string(written([study, CHAPTER], "bibtex"))
    assert (library.failed_blocks, len(library.entries)) == ([], 2)
    assert of_tex(library.entries[0]["abstract"]) == LINE
    split = re.split(r", (?![^{]*[^\\]})", library.entries[0]["keywords"])
    assert [of_tex(word.removeprefix("{").removesuffix("}") if "," in word else word) for word in split] == SUBJECTS
    (csl,) = json.loads(written([study], "csl-json"))
    assert (csl["abstract"], csl["keyword"]) == (STUDY.abstract, "; ".join(SUBJECTS))
    assert csl["original-title"] == "Stéroïdes et croup"
    assert "genre" not in csl


def test_a_preprint_is_no_journal_article_in_any_form() -> None:
    rispy, bibtexparser = pytest.importorskip("rispy"), pytest.importorskip("bibtexparser")
    (ris,) = rispy.loads(written([PREPRINT], "ris"))
    assert (ris["type_of_reference"], ris["secondary_title"]) == ("UNPB", "medRxiv")
    assert "Preprint" in ris["keywords"]
    (bib,) = bibtexparser.parse_string(written([PREPRINT], "bibtex")).entries
    assert (bib.entry_type, bib["howpublished"], bib["note"]) == ("misc", "medRxiv", "Status: preprint")
    assert "journal" not in bib.fields_dict
    (csl,) = csl_items([PREPRINT])
    assert (csl["type"], csl["genre"], csl["container-title"]) == ("article", "Preprint", "medRxiv")
    assert "PT  - Preprint\n" in written([PREPRINT], "nbib")


@given(st.text(alphabet='ab {}\\@"=,%&$#_^~\n\r\t-TYER12 ;é\u2028'), st.sampled_from(FORMS))
def test_no_text_breaks_out_of_its_field(text: str, form: Form) -> None:
    from Bio import Medline

    rispy, bibtexparser = pytest.importorskip("rispy"), pytest.importorskip("bibtexparser")
    words = text.split()
    odd = Reference(id="pubmed:7", kind="article", pmid="7", title=text, abstract=text, keywords=tuple(words))
    file = written([odd, CHAPTER], form)
    if form == "ris":
        first, second = rispy.loads(file)
        assert (first.get("abstract", "").split(), second["title"]) == (words, CHAPTER.title)
    elif form == "nbib":
        first, second = Medline.parse(io.StringIO(file))
        assert (first.get("AB", "").split(), second["PMID"]) == (words, "30000001")
    elif form == "bibtex":
        library = bibtexparser.parse_string(file)
        assert (library.failed_blocks, len(library.entries)) == ([], 2)
    else:
        assert json.loads(file)[0].get("abstract", "") == text


def test_ris_is_read_back_by_rispy() -> None:
    rispy = pytest.importorskip("rispy")
    article, chapter, label, monograph = rispy.loads(written(EVERY, "ris"))
    assert article["type_of_reference"] == "JOUR"
    assert article["title"] == ARTICLE.title.removesuffix(".")
    assert article["authors"] == [
        "van der Berg-Öster, Anna Maria", "Smith, John, 3rd", "王, 小明", GROUP,
    ]  # fmt: skip
    assert (article["start_page"], article["end_page"]) == ("123", "128")
    assert (article["doi"], article["accession_number"], article["custom2"]) == (ARTICLE.doi, "12345678", "PMC7654321")
    assert (article["secondary_title"], article["year"], article["date"]) == (ARTICLE.journal, "2020", "2020/03/07/")
    assert article["notes"] == ["Status: corrected"]
    assert (chapter["type_of_reference"], chapter["secondary_title"]) == ("CHAP", "StatPearls")
    assert (label["name_of_database"], label["notes"]) == ("openFDA drug labels", ["Licence: CC0 1.0"])
    assert monograph["notes"] == ["Not clinically reviewed"]
    assert "authors" not in monograph
    assert "doi" not in monograph


def test_nbib_is_read_back_by_biopython_and_holds_pubmed_s_records_alone() -> None:
    from Bio import Medline

    article, chapter = Medline.parse(io.StringIO(written(EVERY, "nbib")))
    assert article["PMID"] == "12345678"
    assert article["TI"] == ARTICLE.title.removesuffix(".")
    assert article["FAU"] == ["van der Berg-Öster, Anna Maria", "Smith, John, 3rd", "王, 小明"]
    assert article["AU"][:2] == ["van der Berg-Öster AM", "Smith J 3rd"]
    assert article["CN"] == [GROUP]
    assert article["LID"] == f"{ARTICLE.doi} [doi]"
    assert (article["DP"], article["PG"], article["PMC"]) == ("2020 Mar 7", "123-8", "PMC7654321")
    assert (article["TA"], article["JT"]) == ("J Paediatr Child Health", ARTICLE.journal)
    assert article["PT"] == list(ARTICLE.publication_types)
    assert (chapter["PMID"], chapter["BTI"]) == ("30000001", ["StatPearls"])
    assert [holds(r, "nbib") for r in EVERY] == [True, True, False, False]
    assert written(EVERY[2:], "nbib") == ""


def test_bibtex_is_read_back_by_bibtexparser_and_by_citeproc(tmp_path: Any) -> None:
    bibtexparser = pytest.importorskip("bibtexparser")
    text = written(EVERY, "bibtex")
    library = bibtexparser.parse_string(text)
    assert library.failed_blocks == []
    article, chapter, label, monograph = ({f.key: f.value for f in e.fields} for e in library.entries)
    assert [e.entry_type for e in library.entries] == ["article", "incollection", "misc", "misc"]
    assert article["title"] == r"{Steroids \& croup: a 50\% reduction in re-admissions — étude β\_2}"
    assert article["author"].split(" and ")[1] == "Smith, 3rd, John"
    assert article["author"].endswith(GROUP.replace("&", r"\&") + "}")
    assert (article["pages"], article["month"], article["doi"]) == ("123--128", "mar", ARTICLE.doi)
    assert chapter["booktitle"] == "StatPearls"
    assert label["howpublished"] == "openFDA drug labels"
    assert "author" not in monograph
    odd = Reference(id="x:1", kind="document", title="{a} \\b ~c^ $1 #2")
    (entry,) = bibtexparser.parse_string(written([odd], "bibtex")).entries
    escaped = r"\{a\} \textbackslash{}b \textasciitilde{}c\textasciicircum{} \$1 \#2"
    assert entry["title"] == f"{{{escaped}}}"
    citeproc = pytest.importorskip("citeproc.source.bibtex")
    (tmp_path / "refs.bib").write_text(text, encoding="utf-8")
    source = citeproc.BibTeX(str(tmp_path / "refs.bib"), encoding="utf-8")
    read = source["pubmed-12345678"]
    assert str(read["title"]).startswith("Steroids & croup: a 50% reduction")
    assert str(read["author"][0]["family"]) == "Berg-Öster"
    assert {str(name) for name in source} == {"pubmed-12345678", "pubmed-30000001", "label-abc", "library-croup"}


def test_csl_json_is_rendered_by_citeproc() -> None:
    citeproc = pytest.importorskip("citeproc")
    from citeproc.source.json import CiteProcJSON

    items = json.loads(written(EVERY, "csl-json"))
    assert [item["type"] for item in items] == ["article-journal", "chapter", "document", "document"]
    assert items[0]["issued"] == {"date-parts": [[2020, 3, 7]]}
    assert items[2]["issued"] == {"date-parts": [[2024, 5]]}
    assert items[0]["author"][-1] == {"literal": GROUP}
    style = citeproc.CitationStylesStyle("harvard-cite-them-right", validate=False)
    listed = citeproc.CitationStylesBibliography(style, CiteProcJSON(items), citeproc.formatter.plain)
    for item in items:
        listed.register(citeproc.Citation([citeproc.CitationItem(item["id"])]))
    first, *_ = map(str, listed.bibliography())
    for part in ("Berg-Öster", "2020", "Steroids & croup", "12(3)"):
        assert part in first


@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_known_is_not_written(form: Form) -> None:
    if form in ("ris", "bibtex"):
        pytest.importorskip({"ris": "rispy", "bibtex": "bibtexparser"}[form])
    bare = Reference(id="pubmed:1", kind="article", pmid="1")
    said = written([bare], form).lower()
    for word in (
        "author",
        "au  -",
        "title",
        "ti  -",
        "year",
        "date",
        "py  -",
        "volume",
        "doi",
        "none",
        "null",
        "journal",
    ):
        assert word not in said.replace("article-journal", ""), word
    assert "1" in said


@given(st.text(max_size=60), st.text(max_size=30), st.sampled_from(["", "2020", "2020-12", "2020-12-31"]))
def test_any_text_comes_back_from_csl_and_nbib(title: str, name: str, date: str) -> None:
    from Bio import Medline

    made = Reference(
        id="pubmed:7", kind="article", pmid="7", title=title, date=date, authors=(Author(last=name),) if name else ()
    )
    (item,) = json.loads(written([made], "csl-json"))
    assert item.get("title", "") == title
    assert csl_items([made])[0] == item
    (record,) = Medline.parse(io.StringIO(written([made], "nbib")))
    assert record.get("TI", "").split() == title.split()


def test_evidence_becomes_references_each_document_once_and_what_is_none_is_counted() -> None:
    def piece(id: str, origin: Origin = Origin.RETRIEVED, **fields: str) -> Evidence:
        return Evidence(id=id, text="Text", title="T.", kind="k", origin=origin, **fields)

    items = [
        piece("pubmed:12345678@0-4", date="2020"), piece("pubmed:12345678@9-13"), piece("pmc:PMC1@0-4"),
        piece("pmc:PMC2@0-4"), piece("pubmed:5@0-4", date="2001"), MONOGRAPH,
        piece("graph:starter/croup", Origin.KNOWLEDGE_GRAPH), piece("graph:starter/croup", Origin.KNOWLEDGE_GRAPH),
        piece("generated:1", Origin.GENERATED), piece("given:2@0-4", Origin.CASE, source="a.pdf"),
        piece("calculation:x-1@0-4", Origin.CASE), piece("case:statement", Origin.CASE),
    ]  # fmt: skip
    found = collected(items, {"12345678": ARTICLE}, {"pmc:PMC1": "12345678"})
    assert [r.id for r in found.references] == [
        "pubmed:12345678", "pmc:PMC2", "pubmed:5", "library:croup", "graph:starter/croup", "given:2", "calculation:x-1",
    ]  # fmt: skip
    entry, own, counted = found.references[-3:]
    assert (entry.kind, entry.container) == ("entry", "Knowledge graph starter")
    assert entry.notes == ("Entry of a knowledge graph, not a publication",)
    assert (own.kind, own.source) == ("document", "")
    assert own.notes == ("Given by whoever asked, not assessed; file: a.pdf",)
    assert counted.notes == ("Calculated from what was told, not a publication",)
    assert found.references[0].doi == ARTICLE.doi
    assert (found.references[1].pmcid, found.references[1].pmid) == ("PMC2", "")
    assert (found.references[2].title, found.references[2].date, found.references[2].container) == ("T", "2001", "")
    assert found.left_out == {"generated texts": 1, "parts of the case": 1}
    assert "1 generated texts" in found.told
    assert "nbib holds PubMed's records alone: 5 documents were left out." in said_of(found, "nbib")
    assert said_of(found, "ris") == found.told


def test_the_name_of_a_file_says_its_form(tmp_path: Any) -> None:
    assert [form_of(tmp_path / f"x.{end}") for end in ("ris", "nbib", "BIB", "json")] == list(FORMS)
    with pytest.raises(InputError, match="names no form"):
        form_of(tmp_path / "x.txt")
