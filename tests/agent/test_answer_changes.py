"""What has changed since an answer: over a mirror that grows, a library that is edited, and sources that are away."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.agent import Agent
from agent.changes import Changes
from agent.cli.app import app
from agent.loop import run
from agent.settings import Settings
from prompts.errors import InputError
from support.machine_parts import Query, Scripted, SearchTool, parts
from support.served import served
from tools.contract import Outcome, ToolArtifact, ToolContext
from tools.evidence import Evidence, Origin, Status
from tools.library.document import Document
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.ladder import Climb, Step
from tools.literature.settings import LiteratureSettings
from tools.literature.strategy import FoundDocument, Hit, Source, as_steps, make_strategy
from tools.mirror.engine import Mirror
from tools.mirror.load import load_records
from tools.mirror.records import MirrorRecord
from tools.mirror.writer import writing

QUERY = '"croup"[tiab]'
MONOGRAPH = "Croup is a narrowing of the upper airway. It is worse at night."
THEN = {
    "1": ("A trial in croup.", "Dexamethasone helped children with croup."),
    "2": ("A second trial in croup.", "Budesonide helped children with croup."),
    "3": ("Croup at home.", "Mist did not help in croup."),
}


def record(pmid: str, title: str, abstract: str, entered: str = "2020-01-01", **more: Any) -> MirrorRecord:
    return MirrorRecord(pmid=pmid, title=title, abstract=abstract, entered=entered, **more)


@dataclass
class Searching(SearchTool):
    """Searches a mirror by one query, and finds a monograph beside it."""

    folder: Path = Path()
    kind: str = "mirror"

    async def run(self, arguments: Query, context: ToolContext) -> ToolArtifact:
        mirror = Mirror.open(self.folder)
        found = await mirror.search(QUERY, 20)
        articles = await mirror.fetch(found.ids)
        mirror.close()
        step = Step(
            rung="all", query=QUERY, count=found.count, ids=found.ids, translation="", warnings=(), seconds=0.1, next=""
        )
        strategy = make_strategy(
            "croup?",
            SearchPlan(),
            Climb(steps=(step,), ids=found.ids),
            Source(kind=self.kind, name="croup", date="2020-01-01"),  # type: ignore[arg-type]
            20,
            documents=[
                FoundDocument(id=f"pubmed:{a.pmid}", title=a.title, rank=n, hits=(Hit(stream="pubmed", rank=n),))
                for n, a in enumerate(articles, 1)
            ],
            at=datetime(2021, 1, 1, tzinfo=UTC),
        )
        monograph = Evidence(
            id="library:croup@0-41", text=MONOGRAPH[:41], title="Croup", kind="passage", origin=Origin.RETRIEVED
        )
        evidence = [*(a.evidence() for a in articles if a.pmid != "3"), monograph]
        return ToolArtifact(tool=self.name, outcome=Outcome.OK, evidence=evidence, strategy=as_steps(strategy))


def monograph(text: str) -> Document:
    return Document(
        id="library:croup", title="Croup", text=text, kind="condition", language="en", date="2026-01-01", review_by=""
    )


class Shelf:
    """A library of one document, or none."""

    def __init__(self) -> None:
        self.text: str | None = MONOGRAPH

    def document(self, id: str) -> Document:
        if self.text is None:
            raise InputError(f"no {id}", "none")
        return monograph(self.text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    load_records(tmp_path / "croup", [record(p, t, a) for p, (t, a) in THEN.items()], source="test")
    return tmp_path / "croup"


Opened = Callable[..., Agent]


@pytest.fixture
def opened(tmp_path: Path, folder: Path) -> Iterator[Opened]:
    """An agent that has answered one question by the mirror, over its shelf, with other settings at will."""
    made: list[Agent] = []

    def agent(shelf: Shelf, kind: str = "mirror", **literature: Any) -> Agent:
        script = Scripted(plan_of={1: ["croup"]})
        built = parts(script, Searching(log=script.log, folder=folder, kind=kind))
        settings = Settings(home=tmp_path / "home", literature=LiteratureSettings(**{"mirror": folder, **literature}))
        made.append(Agent(settings, parts=replace(built, document=shelf.document)))
        made[-1].ask("What helps in croup?", session="s")
        return made[-1]

    yield agent
    for one in made:
        one.close()


def changes(agent: Agent, turn: int = 1) -> Changes:
    return run(agent.records.changes("s", turn))


def told(found: Changes) -> list[tuple[str, str, bool, str]]:
    return [(c.what, c.id, c.cited, c.quote) for c in found.changes]


def change_the_mirror(folder: Path, deleted: Sequence[str] = ()) -> None:
    records = [
        record("1", *THEN["1"], status=Status.RETRACTED, publication_types=("Retracted Publication",)),
        record("2", THEN["2"][0], "Budesonide did not help children with croup."),
        record("4", "Croup in 2022.", "A review of croup.", entered="2022-05-05"),
        record("5", "Croup in 2010.", "An old review of croup, imported late.", entered="2010-05-05"),
    ]
    load_records(folder, records, source="test")
    if deleted:
        with writing(folder) as writer:
            writer.delete(deleted)


def test_nothing_has_changed_where_nothing_has(opened: Opened) -> None:
    found = changes(opened(Shelf()))
    assert (found.changes, found.not_asked) == ([], [])
    assert found.looked_at == 4, "three records and the monograph"
    assert [(q.query, q.then, q.now) for q in found.queries] == [(QUERY, 3, 3)]
    assert found.source.startswith("mirror croup")


def test_what_is_new_gone_retracted_or_revised_is_told_and_what_is_cited_first(opened: Opened, folder: Path) -> None:
    shelf = Shelf()
    agent = opened(shelf)
    change_the_mirror(folder, deleted=["3"])
    shelf.text = "Croup is a narrowing of the airway."
    found = changes(agent)
    assert told(found) == [
        ("revised", "library:croup", True, MONOGRAPH[:41]),
        ("retracted", "pubmed:1", True, ""),
        ("revised", "pubmed:2", True, THEN["2"][1]),
        ("gone", "pubmed:3", False, ""),
        ("new", "pubmed:4", False, ""),
    ], "what was entered before the search and imported late is not new"
    assert found.changes[-1].title == "Croup in 2022."
    assert found.not_asked == []
    shelf.text = None
    assert ("gone", "library:croup", True, "") in told(changes(agent))
    before = run(agent.records.turns("s"))[0].answer
    assert before is not None
    assert {e.status for e in before.evidence} == {Status.OK}, "the answer stays as it was"


@pytest.mark.parametrize(
    ("literature", "why"),
    [({"mirror": None, "live": "off"}, "switched off"), ({"mirror": None, "probe_timeout": 0.2}, "cannot be reached")],
)
def test_offline_it_says_what_it_could_not_ask(opened: Opened, literature: dict[str, Any], why: str) -> None:
    shelf = Shelf()
    agent = opened(shelf, kind="pubmed", **literature)
    shelf.text = "Another text."
    found = changes(agent)
    assert [c[:2] for c in told(found)] == [("revised", "library:croup")], "what is here is looked at all the same"
    assert len(found.not_asked) == 1
    assert "PubMed was not asked" in found.not_asked[0]
    assert why in found.not_asked[0]
    assert found.queries == []


def test_what_a_mirror_was_asked_is_not_sent_to_pubmed(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    async def here(self: Any) -> bool:
        return True

    monkeypatch.setattr("agent.changes.Reachability.check", here)
    found = changes(opened(Shelf(), mirror=None))
    assert len(found.not_asked) == 1
    assert "not chosen to leave this machine" in found.not_asked[0]
    assert found.changes == []


def test_a_turn_that_is_not_there_or_searched_nothing(opened: Opened) -> None:
    agent = opened(Shelf())
    with pytest.raises(InputError, match="no turn 7"):
        changes(agent, 7)
    agent.ask("hello", session="s")
    small_talk = changes(agent, 2)
    assert (small_talk.looked_at, small_talk.changes, small_talk.not_asked) == (0, [], [])


def test_over_http_an_answer_is_told_to_its_own_key_alone(opened: Opened, folder: Path) -> None:
    agent = opened(Shelf())
    change_the_mirror(folder)
    with served(agent) as server, server.client() as mine, server.client() as other:
        session = mine.post("/api/sessions", json={}).json()["id"]
        mine.post(f"/api/sessions/{session}/turns", json={"text": "What helps in croup?"})
        path = f"/api/sessions/{session}/turns/1/changes"
        assert mine.post(path).json()["looked_at"] == 6
        assert mine.post(path.replace("/1/", "/2/")).status_code == 404
        assert other.post(path).json()["error"]["code"] == "no_session"


def test_the_command_tells_it_and_exits_with_1_where_something_was_not_asked(
    opened: Opened, built_home: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(Shelf()).close()
    for part in ("indexes", "cache", "encoder.json"):
        here = tmp_path / "home" / part
        if here.is_dir():
            shutil.rmtree(here)
        here.unlink(missing_ok=True)
        here.symlink_to(built_home / part)
    change_the_mirror(folder)
    monkeypatch.setenv("ANAMNESIS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
    invoke = CliRunner().invoke
    shown = invoke(app, ["sessions", "changes", "s", "--mirror", str(folder)])
    assert shown.exit_code == 0, shown.output
    for line in (
        "RETRACTED since, cited in the answer: A trial in croup, pubmed:1",
        "It no longer says: “Budesonide helped children with croup.”",
        "New since: Croup in 2022, pubmed:4",
        "1 query was asked again, 1 with another number of records.",
    ):
        assert line in shown.output
    alone = invoke(app, ["sessions", "changes", "s", "--json"])
    assert alone.exit_code == 1
    (found,) = json.loads(alone.stdout)
    assert "switched off" in found["not_asked"][0]
    assert [c["id"] for c in found["changes"]] == ["library:croup"], "the shelf of this test is no library"
    shutil.rmtree(folder)
    gone = invoke(app, ["sessions", "changes", "s", "--mirror", str(folder), "--turn", "1"])
    assert gone.exit_code == 1
    assert "PubMed was not asked" in gone.output
