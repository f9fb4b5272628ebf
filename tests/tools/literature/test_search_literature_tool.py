"""The literature tool: the library always, PubMed when it can, and honest notices in every case."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from prompts.errors import ToolError
from prompts.tool_arguments import SearchLiterature as Arguments
from tools.contract import Finding, Outcome, Severity, Tool, ToolArtifact, ToolContext
from tools.encoders import Encoder
from tools.evidence import Evidence, EvidenceId, Found, Origin, Status
from tools.library.collection import Library
from tools.library.contract import LibraryHit
from tools.library.document import Document, Window
from tools.literature.live import LiveDocument, LiveResult
from tools.literature.settings import LiteratureSettings
from tools.literature.tool import READ_BY_MODEL, SearchLiterature

QUESTION = "Do statins prevent heart attacks in people without heart disease?"
UNREACHABLE = "http://127.0.0.1:9/eutils"
TODAY = date(2026, 12, 1)
Run = Callable[..., ToolArtifact]


@pytest.fixture
def run(library: Library, encoder: Encoder) -> Run:
    def call(
        settings: LiteratureSettings, query: str = QUESTION, kind: str = "evidence", **fields: Any
    ) -> ToolArtifact:
        context = {k: fields.pop(k) for k in ("findings", "language", "progress") if k in fields}
        own = {k: fields.pop(k) for k in ("least",) if k in fields}
        tool: Tool = SearchLiterature(library, encoder, settings, today=fields.pop("today", TODAY), **own)
        return asyncio.run(
            tool.run(Arguments(query=query, **fields), ToolContext(question=query, kind=kind, **context))
        )

    return call


def codes(artifact: ToolArtifact) -> list[str]:
    return [n.code for n in artifact.notices]


def test_switched_off_nothing_is_asked_and_the_library_answers(
    ncbi: Any, settings_for: Any, run: Run, library: Any
) -> None:
    artifact = run(settings_for(ncbi, live="off"))
    assert (artifact.outcome, codes(artifact)) == (Outcome.OK, ["pubmed_off"])
    assert ncbi.requests == []
    first = artifact.evidence[0]
    assert first.document_id == "library:statins-primary-prevention"
    assert (first.kind, first.level) == ("monograph", "monograph (not clinically reviewed)")
    for item in artifact.evidence:
        span = EvidenceId.parse(item.id)
        assert library.document(item.id).text[span.start : span.end] == item.text
        assert {f.stream for f in item.found} <= {"bm25", "dense"}
        assert all(f.tool == "search_literature" and f.rank for f in item.found)


def test_a_model_reads_what_is_somewhat_less_near(ncbi: Any, settings_for: Any, run: Run) -> None:
    asked, terms = "Muscle soreness from lipid lowering tablets", ["statin", "muscle pain"]
    assert run(settings_for(ncbi, live="off"), asked, terms=terms).outcome is Outcome.NOTHING_FOUND
    read = run(settings_for(ncbi, live="off"), asked, terms=terms, least=READ_BY_MODEL)
    assert read.evidence[0].document_id == "library:statins-primary-prevention"
    other = run(settings_for(ncbi, live="off"), "Why is the sky blue over Mongolia?", least=READ_BY_MODEL)
    assert other.outcome is Outcome.NOTHING_FOUND


@pytest.mark.parametrize(("live", "severity"), [("auto", Severity.INFO), ("on", Severity.WARNING)])
def test_out_of_reach_the_local_result_stands_and_the_notice_says_so(
    live: str, severity: Severity, ncbi: Any, settings_for: Any, run: Run
) -> None:
    artifact = run(settings_for(ncbi, live=live, base_url=UNREACHABLE))
    assert artifact.outcome is Outcome.OK
    assert [(n.code, n.severity) for n in artifact.notices] == [("pubmed_unreachable", severity)]
    assert artifact.evidence[0].document_id == "library:statins-primary-prevention"


def test_both_sources_stand_in_the_result_and_every_rung_in_the_strategy(
    ncbi: Any, settings_for: Any, run: Run, xml: Any
) -> None:
    ncbi.found = {"statins": ["2", "1", "3"]}
    ncbi.records = {
        "1": xml.record("1", "Gardening.", "Tulips were planted in rows.", types=("Letter",)),
        "2": xml.record("2", "Statins.", "Statins prevent heart attacks in healthy people.", types=("Meta-Analysis",)),
        "3": xml.record("3", "No abstract here.", None),
    }
    told: list[str] = []
    artifact = run(settings_for(ncbi), limit=6, progress=told.append)
    assert [e.document_id for e in artifact.evidence][:3:2] == ["pubmed:2", "pubmed:1"]
    assert artifact.evidence[1].document_id == "library:statins-primary-prevention"
    top = artifact.evidence[0]
    assert (top.level, top.kind, top.title) == ("meta-analysis", "abstract", "Statins.")
    assert [(f.stream, f.rung, f.rank) for f in top.found] == [("pubmed", "strict", 1), ("dense", None, 1)]
    steps = {s["step"]: s for s in artifact.strategy}
    assert {"library", "plan", "rung", "records"} <= set(steps)
    rungs = [s for s in artifact.strategy if s["step"] == "rung"]
    assert [r["rung"] for r in rungs] == ["strict", "relaxed"] or rungs[0]["rung"] == "strict"
    assert set(rungs[0]) >= {"query", "count", "ids", "translation", "warnings", "seconds", "next"}
    assert [(e["id"], e["reason"]) for e in steps["records"]["excluded"]] == [("pubmed:3", "no abstract")]
    assert told[0].startswith("searching: statins")
    assert [line.partition(" of ")[0] for line in told[1:-2]] == [f"PubMed, query {n}" for n in range(1, len(told) - 2)]
    assert len(told[1:-2]) >= len(rungs) > 0
    assert told[-2:] == ["reading records: 3", "reading full texts: 1"]
    assert [d["id"] for d in steps["records"]["documents"]] == ["pubmed:2", "pubmed:1"]
    assert QUESTION not in str(artifact.strategy)
    assert artifact.notices == []


def test_the_library_stands_in_for_pubmed_alone_where_pubmed_alone_is_searched(
    ncbi: Any, settings_for: Any, run: Run, xml: Any
) -> None:
    ncbi.found = {"statins": ["2"]}
    ncbi.records = {"2": xml.record("2", "Statins.", "Statins prevent heart attacks.", types=("Meta-Analysis",))}
    artifact = run(settings_for(ncbi, library="instead"))
    assert [e.document_id for e in artifact.evidence] == ["pubmed:2"]
    ncbi.found = {}
    assert run(settings_for(ncbi, library="instead")).outcome is Outcome.NOTHING_FOUND
    away = run(settings_for(ncbi, library="instead", live="off"))
    assert (away.evidence[0].document_id, codes(away)) == ("library:statins-primary-prevention", ["pubmed_off"])


def test_retracted_articles_are_left_out_and_named(ncbi: Any, settings_for: Any, run: Run, xml: Any) -> None:
    ncbi.found = {"statins": ["1", "2"]}
    ncbi.records = {
        "1": xml.record("1", types=("Journal Article", "Retracted Publication")),
        "2": xml.record("2", references=("ExpressionOfConcernIn",)),
    }
    artifact = run(settings_for(ncbi))
    assert "pubmed:1" not in {e.document_id for e in artifact.evidence}
    assert next(e for e in artifact.evidence if e.document_id == "pubmed:2").status is Status.CONCERN
    notice = next(n for n in artifact.notices if n.code == "retracted_excluded")
    assert "PubMed 1." in notice.text


def test_a_retraction_names_its_notice_and_what_did_not_come_is_named(
    ncbi: Any, settings_for: Any, run: Run, xml: Any
) -> None:
    ncbi.found = {"statins": ["1", "2", "3", "4"]}
    damaged = '<PubmedArticle><MedlineCitation><PMID Version="1">4</PMID></MedlineCitation></PubmedArticle>'
    ncbi.records = {"1": xml.record("1", references=("RetractionIn",)), "2": xml.record("2"), "4": damaged}
    artifact = run(settings_for(ncbi))
    records = next(s for s in artifact.strategy if s["step"] == "records")
    told = {e["id"]: (e["reason"], e["notices"]) for e in records["excluded"]}
    assert told == {
        "pubmed:1": ("retracted", ["999"]),
        "pubmed:3": ("record not sent", []),
        "pubmed:4": ("record cannot be read: It has no article.", []),
    }
    texts = {n.code: n.text for n in artifact.notices}
    assert texts["retracted_excluded"] == "Left out because they were retracted: PubMed 1 (notice: 999)."
    assert texts["records_missing"].startswith("2 of the records that were found")
    assert "PubMed 3, 4." in texts["records_missing"]


def test_a_failing_pubmed_is_a_notice_beside_a_local_result_and_unavailable_without_one(
    ncbi: Any, settings_for: Any, run: Run, xml: Any
) -> None:
    ncbi.script = [xml.Reply("", status=400)]
    artifact = run(settings_for(ncbi))
    assert (artifact.outcome, codes(artifact)) == (Outcome.OK, ["pubmed_failed"])
    ncbi.script = [xml.Reply("", status=400)]
    artifact = run(settings_for(ncbi), "Does infliximab help in psoriasis of the nails?")
    assert (artifact.outcome, artifact.evidence) == (Outcome.UNAVAILABLE, [])
    assert run(settings_for(ncbi, base_url=UNREACHABLE), "Is infliximab good for psoriatic nails?").outcome is (
        Outcome.UNAVAILABLE
    )


def test_nothing_found_is_said_only_when_nothing_failed(ncbi: Any, settings_for: Any, run: Run) -> None:
    artifact = run(settings_for(ncbi), "Does infliximab help in psoriasis of the nails?")
    assert (artifact.outcome, artifact.evidence, artifact.notices) == (Outcome.NOTHING_FOUND, [], [])
    assert len(ncbi.asked("esearch")) >= 2
    assert run(settings_for(ncbi, live="off"), "Who won the football?").outcome is Outcome.NOTHING_FOUND


def test_only_terms_leave_the_machine(ncbi: Any, settings_for: Any, run: Run, xml: Any) -> None:
    case = (
        "Mr John Smith, 54M from Springfield, born 12/03/1970, has had central chest pain, worse lying flat, since "
        "Monday. He keeps bees at 12 Baker Street. No fever."
    )
    ncbi.found, ncbi.records = {"chest": ["1"]}, {"1": xml.record("1")}
    artifact = run(settings_for(ncbi), case, kind="case", terms=["John Smith pericarditis", "chest pain"])
    run(settings_for(ncbi), case, kind="case")
    assert {e.document_id for e in artifact.evidence} >= {"pubmed:1", "library:pericarditis"}
    sent = " ".join(r.parameters.get("term", "") for r in ncbi.requests).lower()
    assert "pericarditis" in sent
    for secret in ("john", "smith", "54", "springfield", "1970", "monday", "bees", "baker", "fever"):
        assert secret not in sent


def test_a_chinese_case_is_searched_by_what_the_graph_understood(ncbi: Any, settings_for: Any, run: Run) -> None:
    findings = [
        Finding(id="chest-pain", name="sharp central chest pain", clause="胸痛"),
        Finding(id="friction-rub", name="pericardial friction rub", clause="心包摩擦音"),
        Finding(id="fever", name="fever", clause="没有发烧", present=False),
    ]
    artifact = run(settings_for(ncbi), "男,32岁,胸痛,没有发烧", kind="case", findings=findings, language="zh")
    assert artifact.evidence[0].document_id == "library:pericarditis"
    assert "chest pain" in ncbi.requests[0].parameters["term"]
    assert "fever" not in ncbi.requests[0].parameters["term"]
    silent = run(settings_for(ncbi), "你好，医生", kind="case", language="zh")
    assert "pubmed_no_terms" in codes(silent)


def test_a_document_past_its_review_date_is_named(ncbi: Any, settings_for: Any, run: Run) -> None:
    settings = settings_for(ncbi, live="off")
    assert "past_review_date" not in codes(run(settings))
    late = run(settings, today=date(2030, 1, 1))
    notice = next(n for n in late.notices if n.code == "past_review_date")
    assert "Statins" in notice.text
    assert notice.severity is Severity.WARNING


def test_no_more_than_the_limit_is_returned(ncbi: Any, settings_for: Any, run: Run, xml: Any) -> None:
    ncbi.found = {"statins": [str(n) for n in range(1, 9)]}
    ncbi.records = {str(n): xml.record(str(n), abstract=f"Statins, part {n}.") for n in range(1, 9)}
    artifact = run(settings_for(ncbi), limit=2)
    assert [e.id.split(":")[0] for e in artifact.evidence] == ["pubmed", "library"]


def test_the_key_is_hidden_and_a_strange_address_is_refused() -> None:
    settings = LiteratureSettings(api_key="secret-key")
    assert "secret-key" not in f"{settings!r} {settings.model_dump_json()}"
    with pytest.raises(ValueError):
        LiteratureSettings(base_url="file:///etc/passwd")


def hit(number: int) -> LibraryHit:
    text = "Statins lower the risk of stroke."
    document = Document(
        id=f"pubmed:{number}", title="Statins", text=text, kind="abstract", language="en", date="", review_by=""
    )
    found = (Found(tool="search_literature", stream="dense", rank=1, score=0.9),)
    return LibraryHit(document=document, window=Window(start=0, end=7, section=""), score=1.0, found=found)


def live(number: int) -> Evidence:
    text = "BACKGROUND: Statins lower the risk of stroke."
    found = (Found(tool="search_literature", stream="pubmed", rank=1),)
    return Evidence(
        id=f"pubmed:{number}@0-{len(text)}", text=text, kind="abstract", origin=Origin.RETRIEVED, found=found
    )


def pool(result: LiveResult, limit: int = 9) -> list[Evidence]:
    return SearchLiterature._pool(SearchLiterature.__new__(SearchLiterature), [hit(1), hit(2), hit(3)], result, limit)


def document(number: int, *pieces: str, names: tuple[str, ...] = ()) -> LiveDocument:
    evidence = tuple(
        Evidence(
            id=f"pmc:PMC{number}@{9 * n}-{9 * n + len(text)}", text=text, kind="full_text", origin=Origin.RETRIEVED
        )
        for n, text in enumerate(pieces)
    )
    return LiveDocument(names=(f"pubmed:{number}", *names), evidence=evidence or (live(number),))


def test_one_document_with_every_way_in_which_it_was_found() -> None:
    result = LiveResult.model_construct(documents=(document(1),), retracted=("pubmed:2",))
    found = pool(result)
    assert [e.document_id for e in found] == ["pubmed:1", "pubmed:3"]
    assert found[0].text.startswith("BACKGROUND")
    assert {f.stream for f in found[0].found} == {"pubmed", "dense"}


def test_the_librarys_copy_under_another_name_is_the_same_document_and_as_retracted() -> None:
    result = LiveResult.model_construct(documents=(document(8, names=("pubmed:1",)),), retracted=("pubmed:2",))
    assert [e.document_id for e in pool(result)] == ["pubmed:8", "pubmed:3"]


def test_further_passages_take_only_the_room_that_no_document_wants() -> None:
    deep = document(7, "one", "two", "three")
    result = LiveResult.model_construct(documents=(deep, document(8, "four", "five"), document(9)), retracted=())
    assert [e.text for e in pool(result, 6)][::2] == ["one", "four", "BACKGROUND: Statins lower the risk of stroke."]
    assert len({e.document_id for e in pool(result, 6)}) == 6
    assert [e.text for e in pool(result, 9)][6:] == ["two", "five", "three"]


def _sent(ncbi: Any) -> list[str]:
    return [r.parameters["term"] for r in ncbi.asked("esearch")]


def test_a_typed_search_is_sent_as_it_stands(ncbi: Any, settings_for: Any, run: Run) -> None:
    typed = "statins[ti] NOT review[pt] AND 2015:2020[dp]"
    artifact = run(settings_for(ncbi), typed)
    assert _sent(ncbi) == [typed]
    assert artifact.evidence[0].document_id == "library:statins-primary-prevention"


@pytest.mark.parametrize("query", ["statins AND Zbigniew Kowalczyk", "43215678", "statins[ti] OR Zbigniew[tiab]"])
def test_a_typed_search_with_what_may_be_a_persons_is_not(query: str, ncbi: Any, settings_for: Any, run: Run) -> None:
    run(settings_for(ncbi), query)
    assert all(w not in s for s in _sent(ncbi) for w in ("Zbigniew", "Kowalczyk", "43215678"))


def test_a_broken_typed_search_is_refused(ncbi: Any, settings_for: Any, run: Run) -> None:
    with pytest.raises(ToolError, match="quotation mark"):
        run(settings_for(ncbi), 'statins[ti] AND "heart attack')
    assert ncbi.requests == []
