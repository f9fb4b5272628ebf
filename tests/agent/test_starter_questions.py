"""Set-up and the index of the starter library: what a model has written is kept while it fits."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent import questions
from agent.questions import STARTER, StarterQuestions, folder_of
from agent.sessions import Home
from agent.settings import Settings
from prompts.errors import InputError
from support.small_pages import pages
from tools.encoders import Encoder
from tools.questions.building import build
from tools.questions.contract import Question, SourceDocument
from tools.questions.index import PreparedQuestions
from tools.questions.local import WriterLocal
from tools.questions.settings import QuestionSettings
from tools.questions.stored import read_report


class NoLibrary:
    def document(self, id: str) -> Any:
        raise InputError("It was removed.", "")


class ModelWriter:
    name = "a-model questions@1"

    async def write(self, document: SourceDocument, wanted: int) -> list[Question]:
        return WriterLocal().write_now(document, 3)


def test_set_up_keeps_what_a_model_has_written_until_the_documents_change(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, told = Home(tmp_path).prepare(), list[str]()
    settings = Settings(home=tmp_path, questions=QuestionSettings(stored="generated"))
    folder = folder_of(home, STARTER)
    asyncio.run(build(pages("gout", "croup"), folder, encoder, writer=ModelWriter()))
    before = read_report(folder)
    monkeypatch.setattr(questions, "documents_of", lambda *_: (pages("gout", "croup"), []))
    starter = StarterQuestions(settings, home, encoder, told.append)
    starter.build(again=True)
    assert read_report(folder) == before
    assert [ModelWriter.name in line for line in told] == [False, True]
    monkeypatch.setattr(questions, "documents_of", lambda *_: (pages("gout", "scurvy"), []))
    starter.build()
    assert read_report(folder) == before
    starter.forget(home)
    starter.build()
    assert read_report(folder).report.writer == WriterLocal().name
    assert [ModelWriter.name in line for line in told] == [False, True, False]


def test_questions_are_built_when_they_are_first_searched_and_that_is_told(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, told = Home(tmp_path).prepare(), list[str]()
    settings = Settings(home=tmp_path, questions=QuestionSettings(stored="generated"))
    home.indexes.mkdir(parents=True)
    monkeypatch.setattr(questions, "documents_of", lambda *_: (pages("gout", "croup"), []))
    starter = StarterQuestions(settings, home, encoder, told.append)
    prepared = PreparedQuestions(NoLibrary(), [folder_of(home, STARTER)], encoder, ensure=starter.build)
    assert starter.due(settings, home)
    assert prepared.search("What is gout?", 0) == []
    assert told == []
    for _ in range(2):
        prepared.search("What is gout?", 1)
    assert len(told) == 1
    assert not starter.due(settings, home)
    assert len(prepared) == read_report(folder_of(home, STARTER)).count > 0


def test_none_are_built_where_the_settings_do_not_ask_for_generated_ones_alone(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, told = Home(tmp_path).prepare(), list[str]()
    monkeypatch.setattr(questions, "documents_of", lambda *_: (pages("gout", "croup"), []))
    for again in (False, True):
        StarterQuestions(Settings(home=tmp_path), home, encoder, told.append).build(again=again)
    assert told == []
    assert not folder_of(home, STARTER).exists()
