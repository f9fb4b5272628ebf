"""Export and import again: the same mirror, in both formats; records that were no XML become XML that says the same."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompts.errors import InputError
from support.mirror_records import made_up
from support.mirror_xml import EXAMPLE, FIRST
from tools.evidence import Status
from tools.literature.article import status_of
from tools.mirror.article_xml import record_xml
from tools.mirror.engine import Mirror
from tools.mirror.exporting import export
from tools.mirror.importing import import_files
from tools.mirror.load import load_records
from tools.mirror.records import MeshHeading, MirrorRecord
from tools.mirror.stored import Stored, pack_xml

QUERIES = (
    "aspirin OR budesonide",
    '"heart attack"[tiab]',
    "asthma[majr]",
    "smith j[au]",
    "2006:2020[dp]",
    "pubmed pmc[sb]",
)


@pytest.mark.parametrize("name", ["all.jsonl", "all.xml.gz"])
def test_an_export_imported_is_the_same_mirror(name: str, tmp_path: Path) -> None:
    source = tmp_path / "pubmed26n0001.xml"
    source.write_bytes(EXAMPLE)
    load_records(tmp_path / "m", made_up(150), source="made up", batch=40)
    import_files(tmp_path / "m", [source], workers=0)
    mirror = Mirror.open(tmp_path / "m")
    assert export(mirror, tmp_path / name) == 152
    (report,) = import_files(tmp_path / "again", [tmp_path / name], workers=0)
    assert (report.records, report.unread) == (152, 0)
    again = Mirror.open(tmp_path / "again")
    for query in QUERIES:
        assert again.find(query, 200) == mirror.find(query, 200), query
    pmids = mirror.find("all[sb]", 200).ids
    same = [r.model_copy(update={"keywords": tuple(dict.fromkeys(r.keywords))}) for r in mirror.records(pmids)]
    assert [r.model_copy(update={"keywords": tuple(dict.fromkeys(r.keywords))}) for r in again.records(pmids)] == same
    assert again.stored([FIRST])[FIRST].original == mirror.stored([FIRST])[FIRST].original is not None
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_a_name_without_a_known_suffix_is_refused(mirror: Mirror, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="format"):
        export(mirror, tmp_path / "all.csv")
    export(mirror, tmp_path / "all.xml.gz")
    assert gzip.decompress((tmp_path / "all.xml.gz").read_bytes()).count(b"<PubmedArticle>") == 300


TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=8)
PHRASE = st.lists(TEXT, min_size=1, max_size=4).map(" ".join)


@st.composite
def records(draw: st.DrawFn) -> MirrorRecord:
    labels = draw(st.lists(st.sampled_from(("AIM", "METHODS", "RESULTS")), max_size=3))
    lines = [f"{label}: {draw(PHRASE)}" for label in labels] or draw(st.lists(PHRASE, max_size=2))
    title, types = draw(PHRASE), tuple(draw(st.lists(PHRASE, max_size=2, unique=True)))
    told = status_of(types, (), title)
    names = st.sampled_from(("Smith J", "Van der Berg AB", "Doe J Jr", "Consortium for Made-up Trials"))
    return MirrorRecord(
        pmid=str(draw(st.integers(1, 10**9))),
        title=title,
        abstract="\n".join(lines),
        labels=tuple(labels),
        date=draw(st.sampled_from(("", "2001", "2001-02", "2001-02-03"))),
        entered=draw(st.sampled_from(("", "2002-03-04"))),
        journal=draw(PHRASE),
        publication_types=types,
        mesh=tuple(MeshHeading(name=name) for name in draw(st.lists(PHRASE, max_size=2, unique=True))),
        keywords=tuple(draw(st.lists(PHRASE, max_size=2, unique=True))),
        authors=tuple(draw(st.lists(names, max_size=2, unique=True))),
        pmcid=draw(st.sampled_from(("", "PMC12"))),
        status=draw(st.sampled_from((told, Status.RETRACTED, Status.CONCERN))) if told is Status.OK else told,
        indexing=draw(st.sampled_from(("", "MEDLINE", "In-Process"))),
    )


@settings(max_examples=80, deadline=None, derandomize=True)
@given(record=records())
def test_the_xml_of_a_record_is_read_as_the_same_record(record: MirrorRecord) -> None:
    assert Stored(pack_xml(record_xml(record))).record() == record
