"""Biopython's client, by the recipe of docs/mirror.md, reads every utility of the server with its own DTDs."""

from __future__ import annotations

import re
import threading
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.mirror_xml import EXAMPLE, FIRST, SECOND
from tools.mirror.engine import Mirror
from tools.mirror.eutils.server import MirrorServer
from tools.mirror.importing import import_files

PAGE = Path(__file__).resolve().parents[3] / "docs" / "mirror.md"
SERVED = "http://127.0.0.1:8765/entrez/eutils"  # what `anamnesis mirror serve` listens at, in the recipe


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    file = folder / "pubmed26n0001.xml"
    file.write_bytes(EXAMPLE)
    import_files(folder / "mirror", [file], workers=0)
    mirror = Mirror.open(folder / "mirror")
    with MirrorServer(mirror, port=0, rate=0) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server.address
        server.shutdown()
    mirror.close()


@pytest.fixture
def entrez(address: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    from Bio import Entrez

    monkeypatch.setattr(Entrez, "sleep_between_tries", 0)
    monkeypatch.setattr(Entrez, "api_key", "k" * 36)  # spares the client's own pause of a third of a second
    for set_by_recipe in ("urlopen", "email"):
        monkeypatch.setattr(Entrez, set_by_recipe, getattr(Entrez, set_by_recipe))  # put back after the test
    (recipe,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert recipe.count(SERVED) == 1
    exec(recipe.replace(SERVED, address), {})  # noqa: S102 - the page's own block
    return Entrez


def test_the_recipe_of_the_page_prints_what_the_mirror_holds(capsys: pytest.CaptureFixture[str], entrez: Any) -> None:
    del entrez  # its block was run, and captured because `capsys` comes before it
    assert capsys.readouterr().out.splitlines() == [
        f"{SECOND} Budesonide inhaled in childhood asthma.",
        f"{FIRST} Inhaled budesonide & the small < large airways: a made-up trial.",
    ]


def test_search_post_and_history(entrez: Any) -> None:
    found = entrez.read(entrez.esearch(db="pubmed", term="asthma[mh] AND inhaled", usehistory="y", retmax=1))
    assert (found["Count"], found["IdList"], found["RetMax"]) == ("2", [SECOND], "1")
    assert '"asthma"[MeSH Terms]' in found["QueryTranslation"]
    kept = entrez.efetch(
        db="pubmed", WebEnv=found["WebEnv"], query_key=found["QueryKey"], retstart=1, retmode="text", rettype="uilist"
    )
    assert kept.read().split() == [FIRST]
    posted = entrez.read(entrez.epost("pubmed", id=f"{FIRST},{SECOND}", webenv=found["WebEnv"]))
    assert (posted["QueryKey"], posted["WebEnv"]) == ("2", found["WebEnv"])
    nothing = entrez.read(entrez.esearch(db="pubmed", term="unheardof[ti]"))
    assert nothing["Count"] == "0"
    assert nothing["ErrorList"]["PhraseNotFound"] == ["unheardof[Title]"]


def test_records_as_xml_and_as_medline_are_what_was_imported(entrez: Any) -> None:
    from Bio import Medline

    got = entrez.read(entrez.efetch(db="pubmed", id=[SECOND, FIRST, "99999999"], retmode="xml"))["PubmedArticle"]
    assert [str(a["MedlineCitation"]["PMID"]) for a in got] == [SECOND, FIRST]
    article = got[1]["MedlineCitation"]["Article"]
    assert article["AuthorList"][0]["AffiliationInfo"][0]["Affiliation"] == "Ward 7, Example Hospital."
    assert article["Abstract"]["AbstractText"][0].attributes["Label"] == "BACKGROUND"
    heading = got[1]["MedlineCitation"]["MeshHeadingList"][0]
    assert (str(heading["DescriptorName"]), heading["DescriptorName"].attributes["UI"]) == ("Asthma", "D001249")
    assert str(heading["QualifierName"][0]) == "drug therapy"
    (record,) = Medline.parse(entrez.efetch(db="pubmed", id=FIRST, rettype="medline", retmode="text"))
    assert record["TI"] == "Inhaled budesonide & the small < large airways: a made-up trial."
    assert record["AU"] == ["Muster AB", "Doe J Jr"]
    assert record["FAU"][0] == "Muster, Anna Berta"
    assert record["MH"] == ["Asthma/*drug therapy", "*Budesonide", "Humans"]
    assert (record["DP"], record["VI"], record["IP"], record["PG"]) == ("2020 Mar 5", "12", "3", "45-51")
    assert record["AB"].startswith("BACKGROUND: Long words")
    assert record["SO"] == "Ex J Med. 2020 Mar 5;12(3):45-51. doi: 10.1000/made.1."
    text = entrez.efetch(db="pubmed", id=FIRST, rettype="abstract", retmode="text").read()
    assert f"PMID: {FIRST} [Indexed for MEDLINE]" in text


def test_summaries_links_spelling_and_information(entrez: Any) -> None:
    first, second = entrez.read(entrez.esummary(db="pubmed", id=f"{FIRST},{SECOND}"))
    assert first["Title"] == "Inhaled budesonide & the small < large airways: a made-up trial."
    assert (first["AuthorList"], first["LastAuthor"]) == (["Muster AB", "Doe J Jr"], "Doe J Jr")
    assert (first["PubDate"], first["SO"], first["HasAbstract"]) == ("2020 Mar 5", "2020 Mar 5;12(3):45-51", 1)
    assert second["RecordStatus"] == "PubMed - in process"
    links = entrez.read(entrez.elink(dbfrom="pubmed", db="pmc", linkname="pubmed_pmc", id=[FIRST, SECOND]))
    assert [[str(i) for i in one["IdList"]] for one in links] == [[FIRST], [SECOND]]
    assert [link["Id"] for link in links[0]["LinkSetDb"][0]["Link"]] == ["7000001"]
    assert links[1]["LinkSetDb"] == []
    spelled = entrez.read(entrez.espell(db="pubmed", term="inhaled Budesonid"))
    assert spelled["CorrectedQuery"] == "inhaled budesonide"
    info = entrez.read(entrez.einfo(db="pubmed"))["DbInfo"][0]
    assert (info["DbName"], info["Count"]) == ("pubmed", "2")
    assert {"TIAB", "MESH", "PDAT"} <= {field["Name"] for field in info["FieldList"]}
    assert entrez.read(entrez.einfo())["DbList"] == ["pubmed"]


def test_a_query_that_cannot_be_read_is_biopythons_error(entrez: Any) -> None:
    with pytest.raises(RuntimeError, match="not closed"):
        entrez.read(entrez.esearch(db="pubmed", term="(asthma"))
    with pytest.raises(urllib.error.HTTPError, match="400"):
        entrez.esearch(db="protein", term="asthma")
