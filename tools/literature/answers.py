"""What the smaller E-utilities answer: searches, spellings, links to PubMed Central, the state of the database."""

from __future__ import annotations

from xml.etree.ElementTree import Element, tostring

from tools.evidence import Frozen
from tools.literature.failures import Reason, failure
from tools.literature.replies import error_element, parse_xml, text_of


class SearchResult(Frozen):
    """What esearch found: how many in all, the first ids in the order asked for, how the query was understood, and
    PubMed's warnings (phrases not found, tags ignored)."""

    count: int
    ids: tuple[str, ...]
    translation: str = ""
    warnings: tuple[str, ...] = ()


class DatabaseInfo(Frozen):
    """The state of a database: its name, records, and when it was last updated, in the server's words."""

    name: str
    count: int
    updated: str


def search_result(body: bytes, *, start: int, asked: int) -> SearchResult:
    """An esearch answer; ``start`` and ``asked`` are the retstart and retmax that were sent.

    Raises:
        EUtilitiesError: no count, an id that is none, or no ids although the count says that there are some.
    """
    root = parse_xml(body, "eSearchResult")
    count = _number(root.findtext("Count"))
    if count is None:
        raise failure(Reason.INCOMPLETE, "PubMed's answer has no count.")
    ids = tuple(text_of(i) for i in root.iterfind("IdList/Id"))
    if not all(i.isascii() and i.isdigit() for i in ids):
        raise failure(Reason.INCOMPLETE, "PubMed's answer lists something that is no id.")
    due = max(0, min(asked, count - start))
    if due and not ids:
        raise failure(Reason.INCOMPLETE, f"PubMed counts {count} records and lists none.")
    warnings = _warnings(root)
    if len(ids) < due:
        warnings += (f"Incomplete: PubMed listed {len(ids)} of {due} ids",)
    translation = text_of(root.find("QueryTranslation"))
    return SearchResult(count=count, ids=ids, translation=translation, warnings=warnings)


def _warnings(root: Element) -> tuple[str, ...]:
    items = [*root.iterfind("ErrorList/*"), *root.iterfind("WarningList/*")]
    return tuple(f"{i.tag}: {text_of(i)}" for i in items if text_of(i))


def spelling(body: bytes) -> str:
    """The corrected query of an espell answer, "" when PubMed has none."""
    return text_of(parse_xml(body, "eSpellResult").find("CorrectedQuery"))


def pmc_links(body: bytes) -> dict[str, str]:
    """PMCID by PMID out of an elink answer; a PMID without a copy is left out.

    Raises:
        EUtilitiesError: a failed link set, or links of several records in one: which is whose is then unknown.
    """
    found: dict[str, str] = {}
    for links in parse_xml(body, "eLinkResult").iterfind("LinkSet"):
        message = text_of(links.find("ERROR"))
        if message:
            raise error_element(message)
        sources = [text_of(i) for i in links.iterfind("IdList/Id")]
        targets = [
            text_of(i)
            for database in links.iterfind("LinkSetDb")
            if text_of(database.find("LinkName")) == "pubmed_pmc"
            for i in database.iterfind("Link/Id")
        ]
        if targets and len(sources) != 1:
            raise failure(Reason.INCOMPLETE, "PubMed's links do not say which record they belong to.")
        if targets:
            found[sources[0]] = f"PMC{targets[0].upper().removeprefix('PMC')}"
    return found


def database_info(body: bytes) -> DatabaseInfo:
    """An einfo answer about one database; raises EUtilitiesError without a count."""
    root = parse_xml(body, "eInfoResult")
    count = _number(root.findtext("DbInfo/Count"))
    if count is None:
        raise failure(Reason.INCOMPLETE, "PubMed's answer has no count.")
    return DatabaseInfo(
        name=text_of(root.find("DbInfo/DbName")), count=count, updated=text_of(root.find("DbInfo/LastUpdate"))
    )


def pmc_articles(body: bytes) -> dict[str, bytes]:
    """The articles of an efetch answer of PubMed Central, as XML by PMCID.

    Raises:
        EUtilitiesError: an article without a PMCID: it cannot be joined to its record.
    """
    found = {}
    for article in parse_xml(body, "pmc-articleset").iterfind("article"):
        pmcid = _pmcid(article)
        if not pmcid:
            raise failure(Reason.INCOMPLETE, "PubMed Central sent an article without its PMCID.")
        article.tail = None
        found[pmcid] = tostring(article, encoding="utf-8")
    return found


def _pmcid(article: Element) -> str:
    for element in article.iterfind("front/article-meta/article-id"):
        number = text_of(element).upper().removeprefix("PMC").split(".")[0]
        if element.get("pub-id-type") in ("pmc", "pmcid") and number.isdigit():
            return f"PMC{number}"
    return ""


def _number(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() else None
