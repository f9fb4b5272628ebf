"""Set-up and the index of the starter library: what a model has written is kept while it fits."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent import questions
from agent.questions import STARTER, build_starter, folder_of
from agent.sessions import Home
from agent.settings import Settings
from support.small_pages import pages
from tools.encoders import Encoder
from tools.questions.building import build
from tools.questions.contract import Question, SourceDocument
from tools.questions.local import WriterLocal
from tools.questions.stored import read_report


class ModelWriter:
    name = "a-model questions@1"

    async def write(self, document: SourceDocument, wanted: int) -> list[Question]:
        return WriterLocal().write_now(document, 3)


def test_set_up_keeps_what_a_model_has_written_until_the_documents_change(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, settings, told = Home(tmp_path).prepare(), Settings(home=tmp_path), list[str]()
    folder = folder_of(home, STARTER)
    asyncio.run(build(pages("gout", "croup"), folder, encoder, writer=ModelWriter()))
    before = read_report(folder)
    monkeypatch.setattr(questions, "documents_of", lambda *_: (pages("gout", "croup"), []))
    build_starter(settings, home, encoder, told.append)
    assert read_report(folder) == before
    assert [ModelWriter.name in line for line in told] == [True]
    monkeypatch.setattr(questions, "documents_of", lambda *_: (pages("gout", "scurvy"), []))
    build_starter(settings, home, encoder, told.append)
    assert read_report(folder).report.writer == WriterLocal().name
    assert len(told) == 1
