"""PubMed records: text, level of evidence, editorial status."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.efetch import parse_articles
from tools.evidence import Status
from tools.literature.article import (
    Accession,
    Author,
    Availability,
    Correction,
    Exclusion,
    MeshHeading,
    Qualifier,
    level_of,
    status_of,
)
from tools.literature.failures import EUtilitiesError
from tools.literature.replies import text_of
from tools.literature.report import kind_of
from tools.literature.strategy import FoundDocument
from tools.mirror.records import MirrorRecord


def one(xml: Any, **fields: Any) -> Any:
    records = parse_articles(xml.fetch([xml.record("12345678", **fields)]).encode())
    assert records.problems == ()
    assert len(records.articles) == 1
    return records.articles[0]


def test_a_structured_abstract_keeps_its_labels_and_mark_up_does_not_break_words(xml: Any) -> None:
    parts = (
        '<AbstractText Label="BACKGROUND">H<sub>2</sub>  blockers\n are old.</AbstractText>'
        '<AbstractText Label="UNLABELLED">Plain &amp; <i>simple</i>.</AbstractText><AbstractText Label="EMPTY"/>'
        '<AbstractText Label="RESULTS:">p &lt; 0.05.</AbstractText>'
    )
    article = one(xml, abstract_xml=parts, title="A <trial>")
    assert article.abstract == "BACKGROUND: H2 blockers are old.\nPlain & simple.\nRESULTS: p < 0.05."
    assert article.title == "A <trial>"
    assert [(p.label, article.abstract[p.start : p.end]) for p in article.parts] == [
        ("BACKGROUND", "H2 blockers are old."),
        ("", "Plain & simple."),
        ("RESULTS", "p < 0.05."),
    ]
    evidence = article.evidence()
    assert evidence.id == f"pubmed:12345678@0-{len(article.abstract)}"
    assert evidence.text == article.abstract
    assert (evidence.kind, evidence.language, evidence.date) == ("abstract", "en", "2020-03-07")
    assert article.journal == "The Journal"
    assert article.year == 2020


@pytest.mark.parametrize(
    ("xml_date", "date"),
    [
        ("<Year>2019</Year>", "2019"),
        ("<Year>2019</Year><Month>Dec</Month>", "2019-12"),
        ("<Year>2019</Year><Month>2</Month><Day>5</Day>", "2019-02-05"),
        ("<Year>2019</Year><Season>Winter</Season>", "2019"),
        ("<MedlineDate>2007 Dec-2008 Jan</MedlineDate>", "2007"),
        ("<Year>2019</Year><Month>13</Month><Day>5</Day>", "2019"),
        ("<Year>2019</Year><Month>Feb</Month><Day>30</Day>", "2019-02"),
        ("<Year></Year><Month></Month><Day></Day>", ""),
        ("<Year>unknown</Year>", ""),
        ("", ""),
    ],
)
def test_dates_are_as_precise_as_they_are_known(xml: Any, xml_date: str, date: str) -> None:
    assert one(xml, pub_date=xml_date).date == date


def test_a_book_chapter_is_read_and_a_record_without_pmid_is_not(xml: Any) -> None:
    book = (
        "<PubmedBookArticle><BookDocument><PMID>555</PMID><Book><BookTitle>Gene Book</BookTitle><PubDate><Year>1999"
        "</Year></PubDate></Book><ArticleTitle>A gene</ArticleTitle><Abstract><AbstractText>Text.</AbstractText>"
        '</Abstract><Language>eng</Language><PublicationType UI="D016454">Review</PublicationType></BookDocument>'
        "</PubmedBookArticle>"
    )
    records = parse_articles(xml.fetch([xml.record(""), book, "<Other/>"]).encode())
    assert [(a.pmid, a.title, a.journal, a.level, a.date) for a in records.articles] == [
        ("555", "A gene", "Gene Book", "review", "1999")
    ]
    assert [(p.where, p.what) for p in records.problems] == [
        ("record 1", "It has no PMID."),
        ("record 3", "Other is no record of PubMed."),
    ]


def test_a_record_without_abstract_is_read_and_has_an_empty_one(xml: Any) -> None:
    article = one(xml, abstract=None)
    assert (article.abstract, article.parts, article.availability) == ("", (), Availability.NONE)


def test_of_two_versions_the_later_holds_and_deleted_records_are_listed(xml: Any) -> None:
    first, second = (xml.record("7", title=f"Version {n}").replace('Version="1"', f'Version="{n}"') for n in (1, 2))
    deleted = '<DeleteCitation><PMID Version="1">8</PMID><PMID Version="1">9</PMID></DeleteCitation>'
    for order in ([first, second], [second, first]):
        records = parse_articles(xml.fetch([*order, deleted]).encode())
        assert [(a.pmid, a.title, a.version) for a in records.articles] == [("7", "Version 2", 2)]
        assert [a.title for a in records.older] == ["Version 1"]
        assert records.deleted == ("8", "9")


FULL = """<PubmedArticle><MedlineCitation><PMID Version="1">42</PMID>
<DateCompleted><Year>2021</Year><Month>02</Month><Day>03</Day></DateCompleted>
<DateRevised><Year>2022</Year><Month>12</Month><Day>31</Day></DateRevised>
<Article><Journal><ISSN>1234-5678</ISSN><JournalIssue><Volume>12</Volume><Issue>3</Issue><PubDate><Year>2020</Year>
<Month>Mar</Month></PubDate></JournalIssue><Title>The Journal</Title><ISOAbbreviation>J</ISOAbbreviation></Journal>
<ArticleTitle>[A trial].</ArticleTitle><Pagination><StartPage>1</StartPage><EndPage>9</EndPage></Pagination>
<ELocationID EIdType="doi" ValidYN="Y">10.1/x</ELocationID>
<Abstract><AbstractText Label="AIM" NlmCategory="OBJECTIVE">To see.</AbstractText>
<CopyrightInformation>Ours.</CopyrightInformation></Abstract>
<AuthorList><Author><LastName>Ng</LastName><ForeName>Ada B</ForeName><Initials>AB</Initials><Suffix>Jr</Suffix>
<Identifier Source="ORCID">0000-0001</Identifier></Author><Author><CollectiveName>The Group</CollectiveName></Author>
</AuthorList><Language>ger</Language><Language>eng</Language>
<DataBankList><DataBank><DataBankName>ClinicalTrials.gov</DataBankName><AccessionNumberList>
<AccessionNumber>NCT1</AccessionNumber></AccessionNumberList></DataBank></DataBankList>
<PublicationTypeList><PublicationType>Journal Article</PublicationType></PublicationTypeList>
<VernacularTitle>Eine Studie.</VernacularTitle><ArticleDate DateType="Electronic"><Year>2020</Year><Month>01</Month>
<Day>05</Day></ArticleDate></Article>
<ChemicalList><Chemical><NameOfSubstance>Dexamethasone</NameOfSubstance></Chemical></ChemicalList>
<CommentsCorrectionsList><CommentsCorrections RefType="ErratumIn"><RefSource>J. 2021</RefSource><PMID>43</PMID>
</CommentsCorrections></CommentsCorrectionsList>
<MeshHeadingList><MeshHeading><DescriptorName UI="D003440" MajorTopicYN="N">Croup</DescriptorName>
<QualifierName MajorTopicYN="Y">drug therapy</QualifierName></MeshHeading></MeshHeadingList>
<SupplMeshList><SupplMeshName>Rare disease</SupplMeshName></SupplMeshList>
<OtherAbstract Type="plain-language-summary" Language="eng"><AbstractText>Plain.</AbstractText></OtherAbstract>
<KeywordList><Keyword>croup</Keyword><Keyword>child</Keyword></KeywordList></MedlineCitation>
<PubmedData><History><PubMedPubDate PubStatus="received"><Year>2019</Year><Month>6</Month><Day>1</Day></PubMedPubDate>
<PubMedPubDate PubStatus="entrez"><Year>2020</Year><Month>1</Month><Day>6</Day><Hour>6</Hour></PubMedPubDate></History>
<ArticleIdList><ArticleId IdType="pubmed">42</ArticleId><ArticleId IdType="pmc">PMC77</ArticleId></ArticleIdList>
<ReferenceList><Reference><ArticleIdList><ArticleId IdType="pmc">PMC1</ArticleId><ArticleId IdType="doi">10.9/z
</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>"""


def test_everything_a_record_says_is_kept(xml: Any) -> None:
    (article,) = parse_articles(xml.fetch([FULL]).encode()).articles
    assert (article.date, article.electronic, article.entered) == ("2020-03", "2020-01-05", "2020-01-06")
    assert (article.completed, article.revised) == ("2021-02-03", "2022-12-31")
    assert article.history == (("received", "2019-06-01"), ("entrez", "2020-01-06"))
    assert article.mesh == (
        MeshHeading(name="Croup", id="D003440", major=False, qualifiers=(Qualifier(name="drug therapy", major=True),)),
    )
    assert article.authors == (
        Author(last="Ng", fore="Ada B", initials="AB", suffix="Jr", orcid="0000-0001"),
        Author(collective="The Group"),
    )
    assert article.corrections == (Correction(type="ErratumIn", pmid="43", source="J. 2021"),)
    assert article.accessions == (Accession(bank="ClinicalTrials.gov", number="NCT1"),)
    assert (article.doi, article.pmcid) == ("10.1/x", "PMC77")  # its own, not those of a reference
    assert (article.volume, article.issue, article.pages, article.issn) == ("12", "3", "1-9", "1234-5678")
    assert (article.iso_abbreviation, article.vernacular_title) == ("J", "Eine Studie.")
    assert (article.language, article.languages) == ("ger", ("ger", "eng"))
    assert (article.keywords, article.substances) == (("croup", "child"), ("Dexamethasone",))
    assert (article.supplementary, article.copyright) == (("Rare disease",), "Ours.")
    assert [(o.type, o.text) for o in article.other_abstracts] == [("plain-language-summary", "Plain.")]
    assert [(p.label, p.category) for p in article.parts] == [("AIM", "OBJECTIVE")]


@pytest.mark.parametrize(
    ("mark_up", "text"),
    [
        ("4 x 10<sup>9</sup>/L", "4 x 10⁹/L"),
        ("10<sup>-3</sup> M", "10⁻³ M"),
        ("CD4<sup>+</sup> and Ca<sup>2+</sup>", "CD4⁺ and Ca2+"),
        ("25 kg/m<sup>2</sup>", "25 kg/m2"),
        ("as shown<sup>a</sup>", "as showna"),
    ],
)
def test_an_exponent_never_becomes_a_digit_of_its_number(xml: Any, mark_up: str, text: str) -> None:
    assert one(xml, abstract_xml=f"<AbstractText>{mark_up}</AbstractText>").abstract == text


def test_entities_and_outside_files_are_refused(xml: Any) -> None:
    from tools.literature.failures import MalformedReply

    for declared in ('<!ENTITY x "y">', '<!ENTITY x SYSTEM "file:///etc/passwd">'):
        with pytest.raises(MalformedReply, match="damaged"):
            parse_articles(f"<!DOCTYPE a [{declared}]><PubmedArticleSet>&x;</PubmedArticleSet>".encode())


@given(st.lists(st.tuples(st.text(max_size=40), st.text(max_size=80)), max_size=6))
def test_the_parts_of_an_abstract_lie_where_they_say(parts: list[tuple[str, str]]) -> None:
    from xml.etree.ElementTree import Element, SubElement

    from tools.literature.publications import abstract_of

    element = Element("Abstract")
    for label, text in parts:
        SubElement(element, "AbstractText", {"Label": label}).text = text
    whole, found = abstract_of(element)
    said = [text_of(e) for e in element if text_of(e)]
    assert [whole[p.start : p.end] for p in found] == said
    assert whole.count("\n") == max(0, len(said) - 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(cut=st.integers(0, 4000), at=st.integers(0, 4000), byte=st.integers(0, 255))
def test_a_damaged_answer_is_a_typed_failure_or_its_records(xml: Any, cut: int, at: int, byte: int) -> None:
    body = bytearray(xml.fetch([FULL]).encode())
    body[at % len(body)] = byte
    with contextlib.suppress(EUtilitiesError):  # any other error is one
        records = parse_articles(bytes(body[: len(body) - cut]))
        assert len(records.articles) + len(records.problems) + len(records.deleted) == 1


@pytest.mark.parametrize(
    ("types", "level"),
    [
        (("Review", "Practice Guideline"), "guideline"),
        (("Meta-Analysis", "Systematic Review"), "systematic review"),
        (("Meta-Analysis", "Review"), "meta-analysis"),
        (("Journal Article", "Randomized Controlled Trial"), "randomised trial"),
        (("Clinical Trial, Phase III", "Journal Article"), "clinical trial"),
        (("Review",), "review"),
        (("Observational Study",), "observational study"),
        (("Case Reports", "Journal Article"), "case report"),
        (("Letter",), "other"),
        ((), "other"),
    ],
)
def test_the_level_is_that_of_the_strongest_type(types: tuple[str, ...], level: str) -> None:
    assert level_of(types) == level


@pytest.mark.parametrize(
    ("title", "types", "level"),
    [
        (
            "Zinc for colds: a randomised, double-blind, placebo-controlled trial",
            ("Journal Article",),
            "randomised trial",
        ),
        ("Zinc for colds: a non-randomised trial", (), "other"),
        ("Zinc for colds: systematic review and meta-analysis of trials", (), "meta-analysis"),
        ("Colds in nurses: a prospective multicentre cohort study", (), "observational study"),
        ("A cold after zinc: a case report", (), "case report"),
        ("Zinc for colds", ("Randomized Controlled Trial",), "randomised trial"),
        ("Zinc for colds: study protocol of a randomised trial", ("Randomized Controlled Trial",), "study protocol"),
        ("Zinc for colds: rationale and design", (), "study protocol"),
        ("A protocol-driven ward", (), "other"),
    ],
)
def test_a_title_names_the_design_where_no_type_does_and_a_protocol_always(
    title: str, types: tuple[str, ...], level: str
) -> None:
    assert level_of(types, title) == level


OWN_WORDS = [
    ("randomised trial", "In a randomized, open-label, crossover study, 481 adults treated two attacks each."),
    ("randomised trial", "Patients were randomly assigned to double-blind treatment with zinc or iron."),
    ("randomised trial", "This randomized, open-label, crossover study compared zinc with iron in 481 patients."),
    ("randomised trial", "We randomly assigned 212 adults with gout to zinc or placebo."),
    ("randomised trial", "METHODS: A total of 1,029 men were randomised (1:1) to receive zinc or placebo."),
    ("randomised trial", "DESIGN: Randomised controlled trial."),
    ("randomised trial", "Prospective, randomized, double-blind study of 44 children with croup."),
    ("randomised trial", "The study was a multicentre, double-blind, randomised controlled trial."),
    ("randomised trial", "We conducted a pragmatic, cluster-randomised trial in 40 practices."),
    ("randomised trial", "Forty practices were randomly allocated to coaching or usual care."),
    ("randomised trial", "A double-blind, randomized, placebo-controlled trial was conducted in 12 centres."),
    ("randomised trial", "Twelve volunteers received zinc and placebo in random order."),
    ("randomised trial", "Women with endometriosis were enrolled in a randomised, double-blind trial of zinc."),
    ("randomised trial", "The present study was a randomized parallel-group trial."),
    ("systematic review", "We conducted a systematic review of randomised trials of zinc in gout."),
    ("systematic review", "We searched MEDLINE, EMBASE and CENTRAL for randomised trials up to May 2011."),
    ("systematic review", "A systematic literature search was performed, and 12 randomised trials were included."),
    (
        "systematic review",
        (
            "OBJECTIVES: To assess zinc.\n"
            "SEARCH METHODS: We searched the register.\n"
            "SELECTION CRITERIA: Randomised trials of zinc.\n"
            "MAIN RESULTS: We included nine trials.\n"
            "AUTHORS' CONCLUSIONS: Zinc may help."
        ),
    ),
    ("systematic review", "In this systematic review zinc shortened colds."),
    ("meta-analysis", "We performed a random-effects meta-analysis of 14 randomised trials."),
    ("meta-analysis", "This network meta-analysis compared nine medicines."),
    ("meta-analysis", "A meta-analysis of individual data was carried out."),
    ("observational study", "We conducted a nationwide cohort study of 40,000 women."),
    ("observational study", "In this retrospective cohort study we followed 612 adults."),
    ("observational study", "The charts of 88 children were retrospectively reviewed."),
    ("observational study", "A cross-sectional survey was conducted among 300 nurses."),
    ("observational study", "Population-based case-control study in Norway."),
    ("case report", "We report a case of gout after zinc."),
    ("case report", "We describe a 45-year-old woman with croup."),
    ("clinical trial", "In this single-arm phase II trial 44 adults took zinc."),
    ("clinical trial", "This open-label study enrolled 30 men."),
    ("clinical trial", "Double-blind, placebo-controlled study in 20 healthy men."),
]
NOT_OWN = [
    "Further randomised trials are needed.",
    "A large randomised, controlled trial is needed to confirm this.",
    "We found no randomised trial of zinc.",
    "A previous randomised trial showed that zinc helps.",
    "Recent randomized controlled trials have shown that zinc helps.",
    "Zinc should be tested in a randomised, double-blind trial.",
    "Rats were randomly divided into four groups.",
    "Forty extracted molars were randomly assigned to four groups of specimens.",
    "Patients were not randomised.",
    "This non-randomised comparison is weak.",
    "Households were randomly selected for the survey.",
    "We did a Mendelian randomisation study of iron.",
    "Patients had been randomised in an earlier trial of zinc.",
    "This post hoc analysis used data from a randomised trial of 400 patients.",
    "This review discusses randomised trials of zinc.",
    "Participants will be randomised to zinc or placebo.",
    "BACKGROUND: In a randomised trial, 300 patients received zinc.",
    "CONCLUSIONS: A randomised, controlled trial in children would be useful.",
    "A systematic review is warranted.",
    "According to a recent meta-analysis zinc helps.",
    "A meta-analysis was not possible because outcomes differed.",
    "We searched PubMed for guidance.",
    "Although a randomised trial was stopped early, zinc is used.",
    "The guideline panel based its advice on a systematic review.",
    "Published cohort studies disagree.",
    "Unlike a cohort study, this editorial has no data.",
    "Case-control studies and cohort studies were compared.",
    "There is no randomised, double-blind study of zinc in gout.",
    "Several double-blind studies are ongoing.",
    "Zinc is widely used for colds and is well tolerated.",
    "Smith et al randomised 40 patients to zinc.",
    "One randomised trial found that zinc shortened colds.",
    "Trials in which patients were randomly assigned to zinc were eligible.",
    "The stimuli were shown in random order.",
    "This is a randomised trial of zinc. Patients will be enrolled in 12 centres.",
]


@pytest.mark.parametrize(("level", "abstract"), OWN_WORDS)
def test_an_abstract_states_its_own_design_where_neither_type_nor_title_does(level: str, abstract: str) -> None:
    assert level_of(("Journal Article",), "Zinc for colds", abstract) == level
    assert level_of((), "Zinc for colds", f"Colds are common.\n{abstract}") == level


@pytest.mark.parametrize("abstract", NOT_OWN)
def test_what_is_said_of_other_studies_is_no_design_of_this_one(abstract: str) -> None:
    assert level_of(("Journal Article",), "Zinc for colds", abstract) == "other"


def test_a_type_or_a_title_goes_before_the_abstract_and_a_letter_is_not_asked() -> None:
    abstract = "We randomly assigned 212 adults with gout to zinc or placebo."
    assert level_of(("Review",), "Zinc", abstract) == "review"
    assert level_of((), "Zinc: a prospective cohort study", abstract) == "observational study"
    assert level_of((), "Zinc: study protocol", abstract) == "study protocol"
    assert level_of(("Letter",), "Zinc", abstract) == "other"


@pytest.mark.parametrize(
    ("types", "level", "told"),
    [
        (("Randomized Controlled Trial",), "randomised trial", "randomised trial"),
        (("Journal Article",), "randomised trial", "randomised trial (by its own words)"),
        (("Journal Article",), "other", "Journal Article"),
        ((), "", "no type given"),
    ],
)
def test_a_level_that_no_type_tells_is_marked_as_read_from_its_words(
    types: tuple[str, ...], level: str, told: str
) -> None:
    assert kind_of(FoundDocument(id="pubmed:1", rank=1, hits=(), types=types, level=level)) == told


def test_a_record_of_the_mirror_has_the_level_that_its_abstract_states() -> None:
    record = MirrorRecord(pmid="1", title="Zinc", abstract="METHODS: We randomly assigned 212 adults to zinc or iron.")
    assert record.article().level == "randomised trial"


@pytest.mark.parametrize(
    ("types", "references", "status"),
    [
        (("Retracted Publication",), (), Status.RETRACTED),
        (("Journal Article",), ("ErratumIn", "RetractionIn"), Status.RETRACTED),
        (("Journal Article",), ("ErratumIn", "ExpressionOfConcernIn"), Status.CONCERN),
        (("Journal Article",), ("ErratumIn",), Status.CORRECTED),
        (("Preprint",), (), Status.PREPRINT),
        (("Retraction of Publication",), (), Status.RETRACTION_NOTICE),
        (("Journal Article",), ("RetractionOf",), Status.RETRACTION_NOTICE),
        (("Retraction of Publication",), ("RetractionIn",), Status.RETRACTED),
        (("Expression of Concern",), (), Status.CONCERN),
        (("Preprint",), ("UpdateIn",), Status.PREPRINT),
        (("Journal Article",), ("CommentIn", "Cites"), Status.OK),
    ],
)
def test_the_status_comes_from_types_and_corrections(
    xml: Any, types: tuple[str, ...], references: tuple[str, ...], status: Status
) -> None:
    assert one(xml, types=types, references=references).status is status


@pytest.mark.parametrize(
    ("title", "abstract", "status", "availability"),
    [
        ("RETRACTED: A trial.", "It worked.", Status.RETRACTED, Availability.AVAILABLE),
        ("WITHDRAWN: Steroids for croup.", "Out of date.", Status.RETRACTED, Availability.AVAILABLE),
        ("A trial.", "This article has been withdrawn at the request of the authors.", Status.RETRACTED, "withdrawn"),
        ("Withdrawal of care in coma.", "It was withdrawn slowly.", Status.OK, Availability.AVAILABLE),
        ("Why are retracted papers cited?", "Retraction is no end." * 60, Status.OK, Availability.AVAILABLE),
    ],
)
def test_what_a_publisher_took_back_is_not_usable(
    xml: Any, title: str, abstract: str, status: Status, availability: str
) -> None:
    article = one(xml, title=title, abstract=abstract)
    assert (article.status, article.availability) == (status, availability)
    assert article.evidence().citable is status.usable


def test_an_excluded_record_names_its_notice(xml: Any) -> None:
    article = one(xml, references=("CommentIn", "RetractionIn"))
    assert article.exclusion == Exclusion(pmid="12345678", title="A trial.", status=Status.RETRACTED, notices=("999",))
    assert one(xml, types=("Retraction of Publication",)).exclusion is not None
    assert one(xml, references=("ErratumIn",)).exclusion is None


@given(
    st.sets(st.sampled_from(["Retracted Publication", "Preprint", "Review", "Retraction of Publication"])), st.text()
)
def test_what_is_marked_retracted_is_never_usable(types: set[str], title: str) -> None:
    if types & {"Retracted Publication", "Retraction of Publication"}:
        assert not status_of(sorted(types), [], title).usable
