"""`anamnesis differential` and the same questions in a chat session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.agent import Agent
from agent.cli.app import app
from agent.cli.differential import Interview, Read
from agent.settings import Settings
from prompts.errors import InputError
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.questions import PLACE
from tools.messages import messages

CASE = "I am a 45-year-old man and I feel sick."


@pytest.fixture(scope="module")
def graph(encoder: Encoder, built_home: Path) -> KnowledgeGraph:
    return KnowledgeGraph(encoder, built_home / "indexes")


def share(talk: Interview, disease: str) -> float:
    return next((r.score for r in talk.differential.ranking if r.disease == disease), 0.0)


def answer_about(talk: Interview, finding: str, text: str) -> Read:
    """Answer "not known" until a finding is asked about, then this."""
    for _ in range(15):
        assert talk.question is not None
        if talk.question.finding == finding:
            return talk.reply(text)
        talk.reply("not sure")
    raise AssertionError(f"{finding} was not asked about")


def test_answers_of_every_kind_refine_the_ranking(graph: KnowledgeGraph) -> None:
    talk = Interview(graph, CASE)
    before = talk.differential.entropy
    assert talk.question is not None
    assert talk.question.finding == PLACE
    why = talk.question
    assert talk.reply("why?") is Read.WHY
    assert talk.question == why  # it stays asked
    assert talk.reply("in my chest") is Read.ANSWER
    assert {f.id for f in talk.differential.findings} >= {"chest-pain"}
    assert talk.differential.entropy < before
    asked = talk.question
    was = [(r.disease, r.score) for r in talk.differential.ranking]
    assert talk.reply("I don't know") is Read.ANSWER
    assert [(r.disease, r.score) for r in talk.differential.ranking] == was
    assert talk.question != asked
    assert talk.reply("xyzzy plugh") is Read.UNREAD
    assert "xyzzy" not in talk.case
    assert talk.reply("A 2-year-old girl has a rash.") is Read.OTHER_PATIENT
    assert talk.reply("I also cough up blood.") is Read.MORE
    assert "haemoptysis" in {f.id for f in talk.differential.findings}


def test_a_yes_and_a_no_move_the_same_disease_apart(graph: KnowledgeGraph) -> None:
    shares: dict[str, float] = {}
    for said in ("yes", "no"):
        talk = Interview(graph, "I am a 45-year-old man with a cough and a runny nose.")
        assert answer_about(talk, "fever", said) is Read.ANSWER
        shares[said] = share(talk, "influenza")
    assert shares["yes"] > 2 * shares["no"]


def test_an_emergency_that_an_answer_tells_is_shown(graph: KnowledgeGraph) -> None:
    talk = Interview(graph, "I am a 60-year-old man with a headache.")
    assert talk.emergency == ()
    talk.reply("It came on suddenly and is the worst headache of my life.")
    assert talk.emergency


def test_a_chinese_interview_stays_chinese(graph: KnowledgeGraph) -> None:
    talk = Interview(graph, "男，45岁，恶心。")
    assert talk.question is not None
    assert "哪里" in talk.question.text
    assert talk.reply("为什么？") is Read.WHY
    assert talk.reply("胸口") is Read.ANSWER
    assert "chest-pain" in {f.id for f in talk.differential.findings}
    assert talk.reply("有") is Read.ANSWER
    assert talk.reply("不知道") is Read.ANSWER
    assert "\u4e00" <= talk.question.text[0] <= "\u9fff"


def steps(home: Path, *arguments: str, stdin: str = "") -> list[dict[str, Any]]:
    done = CliRunner().invoke(app, ["differential", *arguments], input=stdin, catch_exceptions=False)
    assert done.exit_code == 0
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_command_takes_answers_from_a_file_or_its_input(
    built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    file = tmp_path / "answers.txt"
    file.write_text("in my chest\n\nwhy\nnot sure\nstop\nyes\n", encoding="utf-8")
    told = steps(built_home, CASE, "--answers", str(file), "--json")
    assert [s["reply"] and s["reply"]["read"] for s in told] == [None, "answer", "why", "answer"]
    assert told[1]["reply"]["to"] == PLACE
    assert "chest-pain" in {f["id"] for f in told[-1]["differential"]["findings"]}
    assert told[-1]["question"]["why"]
    assert steps(built_home, "--json", stdin=f"{CASE}\nin my chest\n")[-1]["case"] == told[1]["case"]
    shown = CliRunner().invoke(app, ["differential", CASE], input="why\n", catch_exceptions=False).stdout
    assert "Ask next: Where do you have pain" in " ".join(shown.split())
    assert "more likely (" in " ".join(shown.split())


@pytest.mark.parametrize(("content", "words"), [(None, "does not exist"), (b"\xff\xfe\x00", "UTF-8")])
def test_a_bad_file_of_answers_is_a_users_mistake(
    built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, words: str
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    file = tmp_path / "answers.txt"
    if content is not None:
        file.write_bytes(content)
    done = CliRunner().invoke(app, ["differential", CASE, "--answers", str(file)])
    assert isinstance(done.exception, InputError)
    assert words in str(done.exception)


def test_a_chat_session_takes_the_same_replies(built_home: Path) -> None:
    with Agent(Settings(home=built_home)) as agent:
        chat = agent.session()
        first = chat.ask("I am a 45-year-old man. I have felt sick since yesterday.")
        asked = first.follow_up_questions[0]
        assert asked.finding == PLACE
        told = chat.ask("why do you ask that?")
        assert any(n.code == "why_asked" and asked.why in n.text for n in told.notices)
        after = chat.ask("in my chest")
        assert "chest pain" in after.differential[0].findings_for
        assert after.follow_up_questions[0].finding != PLACE
        unknown = chat.ask("not sure")
        assert [(d.disease, d.score) for d in unknown.differential] == [
            (d.disease, d.score) for d in after.differential
        ]
        pending = unknown.follow_up_questions[0]
        assert pending.finding != after.follow_up_questions[0].finding
        denied = chat.ask("no")
        assert pending.finding not in {q.finding for q in denied.follow_up_questions}
        assert {d.disease: d.score for d in denied.differential} != {d.disease: d.score for d in unknown.differential}
        chat.delete()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_reply_that_the_hint_names_is_taken(graph: KnowledgeGraph, language: str) -> None:
    case = {"en": "I am a 45-year-old man with a cough.", "zh": "男，45岁，咳嗽。"}[language]
    replies = {"en": ("yes", "no", "not known"), "zh": ("是", "没有", "不知道")}[language]
    assert all(r in messages(language)["interview.hint"] for r in replies)
    for said in replies:
        talk = Interview(graph, case)
        assert talk.reply({"en": "no", "zh": "没有"}[language]) is Read.ANSWER  # where it hurts
        asked = talk.question
        assert asked is not None
        assert talk.reply(said) is Read.ANSWER
        assert talk.question is not None
        assert talk.question.finding != asked.finding


def test_a_yes_names_no_place(graph: KnowledgeGraph) -> None:
    talk = Interview(graph, "I am a 45-year-old man with a cough.")
    asked = talk.question
    assert asked is not None
    assert asked.text == "Where do you have pain, if anywhere?"  # a cough is no pain: not "where else"
    assert talk.reply("yes") is Read.WHERE
    assert talk.question == asked
    assert talk.reply("yes, in my chest") is Read.ANSWER
