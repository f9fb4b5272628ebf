"""PubMed XML of made-up records, as NLM's yearly files have it."""

from __future__ import annotations

import gzip
from pathlib import Path

FIRST, SECOND = "90000001", "90000002"

EXAMPLE = f"""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN"
"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM" IndexingMethod="Curated">
<PMID Version="1">{FIRST}</PMID>
<DateCompleted><Year>2020</Year><Month>06</Month><Day>01</Day></DateCompleted>
<Article PubModel="Print"><Journal><ISSN IssnType="Electronic">1111-1119</ISSN>
<JournalIssue CitedMedium="Internet">
<Volume>12</Volume><Issue>3</Issue><PubDate><Year>2020</Year><Month>Mar</Month><Day>05</Day></PubDate>
</JournalIssue>
<Title>Example journal of medicine</Title><ISOAbbreviation>Ex J Med</ISOAbbreviation></Journal>
<ArticleTitle>Inhaled budesonide &amp; the small &lt; large airways: a made-up trial.</ArticleTitle>
<Pagination><StartPage>45</StartPage><EndPage>51</EndPage><MedlinePgn>45-51</MedlinePgn></Pagination>
<ELocationID EIdType="doi" ValidYN="Y">10.1000/made.1</ELocationID>
<Abstract>
<AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">Long words and long lines tell how a text format
breaks them when inhaled medicines are described at some length.</AbstractText>
<AbstractText Label="RESULTS" NlmCategory="RESULTS">
Peak flow rose by 10<sup>2</sup> units with budesonide.</AbstractText>
</Abstract>
<AuthorList CompleteYN="Y"><Author ValidYN="Y"><LastName>Muster</LastName><ForeName>Anna Berta</ForeName>
<Initials>AB</Initials><AffiliationInfo><Affiliation>Ward 7, Example Hospital.</Affiliation></AffiliationInfo>
</Author>
<Author ValidYN="Y"><LastName>Doe</LastName><ForeName>John</ForeName><Initials>J</Initials><Suffix>Jr</Suffix>
</Author></AuthorList>
<Language>eng</Language><GrantList CompleteYN="Y"><Grant><GrantID>X1</GrantID><Agency>A made-up fund</Agency>
<Country>Nowhere</Country></Grant></GrantList>
<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType></PublicationTypeList>
</Article>
<MedlineJournalInfo><Country>Nowhere</Country><MedlineTA>Ex J Med</MedlineTA><NlmUniqueID>0000001</NlmUniqueID>
</MedlineJournalInfo>
<MeshHeadingList><MeshHeading><DescriptorName UI="D001249" MajorTopicYN="N">Asthma</DescriptorName>
<QualifierName UI="Q000188" MajorTopicYN="Y">drug therapy</QualifierName></MeshHeading>
<MeshHeading><DescriptorName UI="D019819" MajorTopicYN="Y">Budesonide</DescriptorName></MeshHeading>
<MeshHeading><DescriptorName UI="D006801" MajorTopicYN="N">Humans</DescriptorName></MeshHeading></MeshHeadingList>
</MedlineCitation><PubmedData><History><PubMedPubDate PubStatus="entrez"><Year>2020</Year><Month>3</Month>
<Day>6</Day>
<Hour>6</Hour><Minute>0</Minute></PubMedPubDate></History><PublicationStatus>ppublish</PublicationStatus>
<ArticleIdList><ArticleId IdType="pubmed">{FIRST}</ArticleId><ArticleId IdType="doi">10.1000/made.1</ArticleId>
<ArticleId IdType="pmc">PMC7000001</ArticleId></ArticleIdList></PubmedData></PubmedArticle>
<PubmedArticle><MedlineCitation Status="In-Process" Owner="NLM"><PMID Version="2">{SECOND}</PMID>
<Article PubModel="Print"><Journal><JournalIssue CitedMedium="Print"><PubDate>
<MedlineDate>2021 Jan-Feb</MedlineDate></PubDate>
</JournalIssue><Title>Example journal of medicine</Title><ISOAbbreviation>Ex J Med</ISOAbbreviation></Journal>
<ArticleTitle>Budesonide inhaled in childhood asthma.</ArticleTitle><Language>eng</Language>
<PublicationTypeList><PublicationType UI="D016454">Review</PublicationType></PublicationTypeList></Article>
<MedlineJournalInfo><MedlineTA>Ex J Med</MedlineTA></MedlineJournalInfo>
<MeshHeadingList><MeshHeading><DescriptorName UI="D001249" MajorTopicYN="Y">Asthma</DescriptorName></MeshHeading>
</MeshHeadingList>
</MedlineCitation><PubmedData><PublicationStatus>ppublish</PublicationStatus><ArticleIdList>
<ArticleId IdType="pubmed">{SECOND}</ArticleId></ArticleIdList></PubmedData></PubmedArticle>
</PubmedArticleSet>
""".encode()


def article(pmid: int, title: str, version: int = 1, abstract: str = "") -> str:
    """A small record."""
    text = f"<Abstract><AbstractText>{abstract}</AbstractText></Abstract>" if abstract else ""
    return (
        f'<PubmedArticle><MedlineCitation Status="Publisher"><PMID Version="{version}">{pmid}</PMID><Article>'
        f"<ArticleTitle>{title}</ArticleTitle>{text}</Article></MedlineCitation></PubmedArticle>"
    )


def deletion(*pmids: int) -> str:
    """A DeleteCitation element."""
    inner = "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid in pmids)
    return f"<DeleteCitation>{inner}</DeleteCitation>"


def article_set(*elements: str, doctype: str = "") -> bytes:
    """A file of these elements."""
    return f'<?xml version="1.0"?>{doctype}<PubmedArticleSet>{"".join(elements)}</PubmedArticleSet>'.encode()


def write(folder: Path, name: str, data: bytes) -> Path:
    """A file of a mirror's source, packed where its name says so."""
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path
