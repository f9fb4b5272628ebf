"""What the measures of the mirror stand on: the collection as XML, made-up records, times of real answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.bench.made_up import FIRST_PMID, Publications
from evals.bench.mirror import as_xml, timed_import, times_in_process, times_over_http
from evals.datasets.literature import LiteratureDocument
from prompts.errors import DataError
from tools.mirror.engine import Mirror
from tools.mirror.importing import import_files

DOCUMENTS = [
    LiteratureDocument(pmid="1", title="Aspirin & stroke", abstract="Aspirin < warfarin.", year=2001, mesh=("Stroke",)),
    LiteratureDocument(pmid="2", title="Asthma", abstract="Children with asthma and a long abstract.", journal="Ex"),
]


def test_the_collection_as_xml_is_imported_and_timed(tmp_path: Path) -> None:
    done = timed_import(tmp_path / "m", [as_xml(DOCUMENTS, tmp_path)])
    assert (done.report.records, done.report.unread) == (2, 0)
    assert done.rate == 2 / done.seconds
    assert done.memory_mb > 10
    mirror = Mirror.open(tmp_path / "m")
    assert mirror.find("stroke[mh] AND 2001[dp]", 5).ids == ("1",)
    assert mirror.records(["1"])[0].abstract == "Aspirin < warfarin."
    for times in (
        times_in_process(mirror, ["aspirin", "asthma[ti]"]),
        times_over_http(mirror, ["aspirin", "asthma[ti]"]),
    ):
        assert len(times) == 2
        assert min(times) > 0
    with pytest.raises(DataError, match="refused"):
        times_over_http(mirror, ["(aspirin"])


def test_made_up_records_are_as_many_as_asked_the_same_for_a_seed_and_of_the_collections_words(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    made, again = (
        list(Publications.of_a_collection(DOCUMENTS, seed=3).files(tmp_path / name, 300, update=False)) for name in "ab"
    )
    assert [p.name for p in made] == ["pubmed99n0001.xml"]
    assert made[0].read_bytes() == again[0].read_bytes()
    (report,) = import_files(tmp_path / "m", made, workers=0)
    assert (report.records, report.unread) == (300, 0)
    mirror = Mirror.open(tmp_path / "m")
    assert mirror.find(f"{FIRST_PMID + 299}[pmid]", 1).count == 1
    assert mirror.find("aspirin OR asthma", 0).count > 30
