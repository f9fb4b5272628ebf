"""The answers of the E-utilities: JSON, errors in NCBI's shapes, the history, and requests of any kind."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.mirror_xml import EXAMPLE, FIRST, SECOND
from tools.mirror.engine import Mirror
from tools.mirror.eutils.replies import KEPT, History
from tools.mirror.eutils.server import UTILITIES, EUtilitiesService
from tools.mirror.importing import import_files
from tools.mirror.words import words


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> EUtilitiesService:
    folder = tmp_path_factory.mktemp("example")
    (folder / "a.xml").write_bytes(EXAMPLE)
    import_files(folder / "m", [folder / "a.xml"], workers=0)
    return EUtilitiesService(Mirror.open(folder / "m"))


def ask(service: EUtilitiesService, utility: str, **given: str) -> Any:
    reply = service.answer(utility, {name: [value] for name, value in given.items()})
    return json.loads(reply.body) if "json" in reply.media else reply.body.decode()


def test_json_has_ncbis_fields(example: EUtilitiesService) -> None:
    found = ask(example, "esearch", db="pubmed", term="asthma of unheardof[xyz]", retmode="json", usehistory="y")
    result = found["esearchresult"]
    assert found["header"]["type"] == "esearch"
    assert (result["count"], result["retmax"], result["retstart"], result["querykey"]) == ("0", "0", "0", "1")
    assert result["errorlist"]["fieldsnotfound"] == ["xyz"]
    one = ask(example, "esearch", db="pubmed", term="asthma", retmode="json", sort="pub_date", retstart="1")
    assert (one["esearchresult"]["count"], one["esearchresult"]["idlist"]) == ("2", [FIRST])
    assert ask(example, "esearch", db="pubmed", term="asthma", rettype="count", retmode="json")["esearchresult"] == {
        "count": "2"
    }
    summary = ask(example, "esummary", db="pubmed", id=f"{FIRST},99", retmode="json")["result"]
    assert summary["uids"] == [FIRST, "99"]
    assert summary["99"] == {"uid": "99", "error": "cannot get document summary"}
    assert [a["name"] for a in summary[FIRST]["authors"]] == ["Muster AB", "Doe J Jr"]
    assert summary[FIRST]["sortpubdate"] == "2020/03/05 00:00"
    assert {"idtype": "doi", "idtypen": 1, "value": "10.1000/made.1"} in summary[FIRST]["articleids"]
    links = ask(example, "elink", dbfrom="pubmed", db="pmc", id=FIRST, retmode="json")["linksets"]
    assert links[0]["linksetdbs"][0]["links"] == ["7000001"]


def test_version_two_summaries_are_xml_by_uid(example: EUtilitiesService) -> None:
    root = ElementTree.fromstring(ask(example, "esummary", db="pubmed", id=f"{SECOND},5", version="2.0"))  # noqa: S314
    assert [d.get("uid") for d in root.iter("DocumentSummary")] == [SECOND, "5"]
    assert root.findtext("DocumentSummarySet/DocumentSummary/Title") == "Budesonide inhaled in childhood asthma."
    assert root.findtext("DocumentSummarySet/DocumentSummary/PubType/flag") == "Review"
    assert "cannot get" in (root.findtext("DocumentSummarySet/DocumentSummary[2]/error") or "")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"term": "asthma", "field": "ti"}, [SECOND]),
        ({"term": "asthma NOT review[pt]", "field": "mesh"}, [FIRST]),
        ({"term": "asthma", "mindate": "2020/01", "maxdate": "2020"}, [FIRST]),
        ({"term": "asthma", "mindate": "2020", "maxdate": "2020/03/06", "datetype": "edat"}, [FIRST]),
        ({"term": "asthma", "retmax": "0"}, []),
    ],
)
def test_parameters_narrow_a_search(given: dict[str, str], expected: list[str], example: EUtilitiesService) -> None:
    found = ask(example, "esearch", db="pubmed", retmode="json", **given)
    assert found["esearchresult"]["idlist"] == expected


@pytest.mark.parametrize(
    ("utility", "given", "status", "said"),
    [
        ("esearch", {"db": "pubmed", "term": "(a"}, 200, "not closed"),
        ("esearch", {"db": "pubmed"}, 400, "Empty term"),
        ("esearch", {"db": "gene", "term": "a"}, 400, "Invalid db name specified: gene"),
        ("esearch", {"db": "pubmed", "term": "a", "retstart": "9999"}, 400, "retstart"),
        ("esearch", {"db": "pubmed", "term": "a", "retmax": "-1"}, 400, "retmax"),
        ("esearch", {"db": "pubmed", "term": "a", "sort": "author"}, 400, "sort"),
        ("esearch", {"db": "pubmed", "term": "a", "mindate": "2001"}, 400, "together"),
        ("esearch", {"db": "pubmed", "term": "a", "reldate": "5", "datetype": "mdat"}, 400, "not held"),
        ("esearch", {"db": "pubmed", "term": "Oslo[ad]"}, 200, "not held"),
        ("esearch", {"db": "pubmed", "term": "asthma", "usehistory": "y", "WebEnv": "x"}, 400, "WebEnv"),
        ("esearch", {"db": "pubmed", "term": "asthma", "WebEnv": "x", "query_key": "1"}, 400, "query_key is not held"),
        ("esearch", {"db": "pubmed", "term": "a", "retmax": "x"}, 400, "retmax: x. retmax is"),
        ("efetch", {"db": "pubmed", "id": "abc"}, 400, "ID list is empty"),
        ("efetch", {"db": "pubmed", "id": "1", "rettype": "gb"}, 400, "rettype"),
        ("efetch", {"db": "pubmed", "WebEnv": "none", "query_key": "1"}, 400, "WebEnv"),
        (
            "elink",
            {"dbfrom": "pubmed", "db": "pubmed", "id": "1"},
            400,
            "The link to pubmed (cmd=neighbor) is not held",
        ),
        ("elink", {"dbfrom": "pubmed", "db": "pmc", "id": "1", "cmd": "prlinks"}, 400, "not held"),
        ("epost", {"db": "pubmed", "id": "x"}, 400, "Empty ID list"),
        ("espell", {"db": "pubmed"}, 400, "Empty term"),
        ("einfo", {"db": "pmc"}, 400, "pmc"),
    ],
)
def test_errors_are_said_as_ncbi_says_them(
    utility: str, given: dict[str, str], status: int, said: str, example: EUtilitiesService
) -> None:
    reply = example.answer(utility, {name: [value] for name, value in given.items()})
    root = ElementTree.fromstring(reply.body)  # noqa: S314
    assert (reply.status, root.tag) == (status, UTILITIES[utility].root)
    assert said in (root.findtext("ERROR") or "")
    assert said in json.dumps(ask(example, utility, retmode="json", **given))


def test_a_damaged_mirror_is_an_error_of_the_server_never_an_empty_answer(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(EXAMPLE)
    import_files(tmp_path / "m", [tmp_path / "a.xml"], workers=0)
    mirror = Mirror.open(tmp_path / "m")
    with sqlite3.connect(tmp_path / "m" / "mirror.sqlite") as database:
        database.execute("UPDATE records SET record = x'00'")
    database.close()
    reply = EUtilitiesService(mirror).answer("efetch", {"db": ["pubmed"], "id": [FIRST], "retmode": ["xml"]})
    assert reply.status == 500
    assert b"damaged" in reply.body


def test_a_history_is_forgotten_after_hours_without_use() -> None:
    from tools.mirror.eutils.replies import Parameters, RequestError

    now = [0.0]
    history = History(lambda: now[0])
    name, key = history.put(["1", "2"])
    asked = Parameters({"WebEnv": [name], "query_key": [str(key)]})
    now[0] = KEPT
    assert history.get(asked) == ("1", "2")
    now[0] = 2 * KEPT + 1
    with pytest.raises(RequestError, match="not known"):
        history.get(asked)


NAMES = st.sampled_from(
    "db term id retmode rettype retmax retstart sort field mindate maxdate reldate datetype WebEnv query_key "
    "usehistory version dbfrom linkname cmd".split()
)
VALUES = st.one_of(
    st.sampled_from(
        "pubmed pmc json xml text medline abstract uilist count y 1 10001,10002 2.0 date 2006 pubmed_pmc".split()
    ),
    st.text(max_size=30),
)


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    utility=st.sampled_from(list(UTILITIES)), given_=st.dictionaries(NAMES, st.lists(VALUES, max_size=2), max_size=7)
)
def test_any_request_gets_an_answer_that_parses(
    utility: str, given_: dict[str, list[str]], example: EUtilitiesService
) -> None:
    reply = example.answer(utility, {"db": ["pubmed"], **given_})
    assert reply.status in (200, 400)
    if "json" in reply.media:
        json.loads(reply.body)
    elif "xml" in reply.media:
        ElementTree.fromstring(reply.body)  # noqa: S314
    else:
        assert words(reply.body.decode()) or not reply.body.strip()
