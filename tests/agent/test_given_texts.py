"""Texts given with a question: evidence of the turn, answered from, shown apart, kept in the session alone."""

from __future__ import annotations

import io
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from agent.agent import Agent
from agent.cli.render import show_answer
from agent.messages import MOST, given_evidence, read_given
from agent.settings import Settings, load_settings
from graphs.verdicts.contract import VerdictValue
from prompts.errors import InputError
from support.machine_parts import Scripted, parts
from tools.evidence import Origin, verify_citation

ABSTRACT = """Methods: Adults with knee pain had quarrel training or usual care for a year.
Results: Knee pain did not differ between quarrel training and usual care (p = 0.58)."""
QUESTION = "Does quarrel training reduce knee pain?"


@pytest.fixture(scope="module")
def agent(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    home = tmp_path_factory.mktemp("given") / "home"
    shutil.copytree(built_home, home)
    with Agent(load_settings(home=home, literature={"live": "off"})) as made:
        yield made


def vectors(home: Path) -> int:
    files = list((home / "cache" / "embeddings").glob("*.sqlite"))
    return sum(int(sqlite3.connect(f).execute("select count(*) from vectors").fetchone()[0]) for f in files)


def test_a_question_is_answered_from_the_text_given_with_it(agent: Agent) -> None:
    known = vectors(agent.home.root)
    answer = agent.ask(QUESTION, given=[ABSTRACT])
    (item,) = answer.evidence
    assert item.id.startswith("given:")
    assert item.origin is Origin.CASE
    assert answer.verdict is not None
    assert answer.verdict.value is VerdictValue.NO_DIFFERENCE
    assert answer.verdict.reason == f"{item.title or item.id} (given by you, not assessed)"
    assert all(verify_citation(c, item) for s in answer.statements for c in s.citations)
    assert answer.statements[0].text.startswith("Knee pain did not differ")
    assert answer.usage.tool_calls == 0
    assert vectors(agent.home.root) == known  # no trace of the text outlives the session


def test_the_text_is_of_its_turn_only(agent: Agent) -> None:
    session = agent.session()
    assert session.ask(QUESTION, given=[ABSTRACT]).verdict is not None
    later = session.ask(QUESTION)
    assert later.usage.tool_calls > 0
    assert not any(e.origin is Origin.CASE for e in later.evidence)


def test_a_text_about_something_else_is_no_answer(agent: Agent) -> None:
    answer = agent.ask(QUESTION, given=["Results: Eczema improved with a cream (p<0.001)."])
    assert answer.abstained


def test_it_is_shown_apart_by_its_first_words(agent: Agent) -> None:
    out = Console(record=True, width=120, file=io.StringIO())
    show_answer(out, agent.ask(QUESTION, given=[ABSTRACT]))
    shown = out.export_text()
    assert "Given with the question" in shown
    assert "Methods: Adults with knee pain" in shown.split("Given with the question")[1]


def test_no_tool_is_called_for_a_question_but_a_case_is_looked_up(tmp_path: Path) -> None:
    script = Scripted()
    with Agent(Settings(home=tmp_path / "home"), parts=parts(script)) as made:
        answer = made.ask("croup?", given=["Croup is viral."])
        assert [s.text for s in answer.statements] == ["Croup is viral."]
        assert script.log == ["triage", "gate", "select", "filter", "answer", "verify"]
        script.log.clear()
        case = made.ask("case: this is enough", given=["A letter."])
        assert "tool croup" in script.log
        assert "A letter." in [s.text for s in case.statements]


@pytest.mark.parametrize("texts", [[""], ["a\x00b"], ["x" * 101], ["a"] * (MOST + 1)])
def test_what_cannot_be_taken_is_refused_by_number(texts: list[str]) -> None:
    with pytest.raises(InputError):
        given_evidence(texts, 100)


def test_the_same_text_twice_is_one_piece_of_evidence() -> None:
    assert len(given_evidence(["a text", " a text ", "another"], 100)) == 2


def test_files_are_read_as_text(tmp_path: Path) -> None:
    good, bad = tmp_path / "a.txt", tmp_path / "b.bin"
    good.write_bytes("\ufeffCroup is viral.".encode())
    bad.write_bytes(b"\xff\xfe\x00")
    assert read_given([good]) == ["Croup is viral."]
    for path in (bad, tmp_path / "none.txt"):
        with pytest.raises(InputError, match=path.name):
            read_given([path])
