"""The gate's decision in `ask`, `chat`, `trace`, JSON and Python: short beside an answer, whole where asked for."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from agent.agent import Agent
from agent.cli import ask
from agent.cli.render import show_answer
from agent.cli.trace import tree_of
from graphs.answering.contract import Answer
from graphs.completeness.contract import Decision, GateDecision, Label, Turning, Unit
from support.machine_parts import parts
from support.traces import read_trace

LABELS = {
    "en": ("states chest pain", "age or sex: 60", "nothing medical"),
    "zh": ("提到胸痛", "年龄或性别：岁", "与诊断无关"),
}
TEXTS = {
    "en": ("Chest [bold]pain[/bold] since noon.", "I am 60.", "My cat is well."),
    "zh": ("中午开始胸痛。", "我60岁。", "家里的猫很好。"),
}


def gate(language: str = "en", score: float = 0.84) -> GateDecision:
    units = [
        Unit(text=text, start=0, end=len(text), label=label, reason=reason)
        for text, label, reason in zip(TEXTS[language], Label, LABELS[language], strict=True)
    ]
    return GateDecision(
        decision=Decision.DIRECT if score > 0.8 else Decision.RETRIEVE, score=score, theta1=0.8, theta2=0.4,
        units=tuple(units), parts={"coverage": 0.9}, missing=("duration",), question="Since when?",
        turning=Turning(unit=0, decision=Decision.RETRIEVE, score=0.5), reason="r",
    )  # fmt: skip


def shown(answer: Answer, *, explain: bool, colour: bool = False) -> str:
    out = io.StringIO()
    show_answer(Console(file=out, width=110, highlight=False, force_terminal=colour), answer, explain=explain)
    return out.getvalue()


def answer(language: str = "en", score: float = 0.84) -> Answer:
    return Answer(question="q", kind="case", language=language, gate=gate(language, score), run="s/1")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_short_by_default_and_whole_when_asked_for(language: str) -> None:
    short, whole = (shown(answer(language), explain=explain) for explain in (False, True))
    for text, letter, reason in zip(TEXTS[language], "ABC", LABELS[language], strict=True):
        line = next(line for line in whole.splitlines() if text in line and reason in line)
        assert f" {letter}" in line.split(text)[0], "the letter stands before its sentence, without colour too"
        assert reason not in short
    assert "0.84" in whole
    assert not {"0.84", "0.50", "theta1", "gate"} & set(short.replace("(", " ").split()), "machine words"
    hangs = {"en": "would have been looked up", "zh": "就会先检索证据"}
    assert hangs[language] in short
    assert "\x1b[" not in short + whole
    assert "* " in next(line for line in whole.splitlines() if TEXTS[language][0] in line and "1." in line)


def test_labels_have_colours_on_a_terminal_and_the_words_of_a_case_no_markup() -> None:
    whole = shown(answer(), explain=True, colour=True)
    assert "[bold]pain[/bold]" in whole
    colours = {letter: whole.split(f"m{letter}\x1b")[0].rsplit("\x1b", 1)[1] for letter in "ABC"}
    assert len(set(colours.values())) == 3


def test_json_and_python_have_the_whole_decision() -> None:
    made = json.loads(answer().to_json())
    assert made["gate"]["turning"] == {"unit": 0, "decision": "retrieve", "score": 0.5}
    assert (made["gate"]["question"], made["gate"]["units"][2]["label"]) == ("Since when?", "C")
    assert "gate_explained" not in made
    whole = answer("zh").gate_explained
    assert whole is not None
    assert "如果没有第1句" in whole.text
    assert Answer(question="q", kind="small_talk", language="en").gate_explained is None


def test_an_answer_without_a_gate_says_so_when_asked() -> None:
    bare = Answer(question="q", kind="small_talk", language="zh")
    assert "没有做完整性判断" in shown(bare, explain=True)
    assert "判断" not in shown(bare, explain=False)


def test_a_trace_tells_the_whole_decision_and_an_older_trace_what_it_has(tmp_path: Path) -> None:
    with Agent(parts=parts(), home=tmp_path) as agent:
        run = agent.ask("case with too little").run
        events = read_trace(agent.home.traces, run)
    event = next(e for e in events if e["kind"] == "gate")
    assert (event["units"], event["language"], event["reason"]) == ([], "en", "scripted")
    new = {**event, **gate("zh").model_dump(mode="json"), "language": "zh"}
    old = {k: v for k, v in new.items() if k not in ("units", "turning", "question", "language")}
    texts = []
    for told in (new, old):
        out = io.StringIO()
        Console(file=out, width=110).print(tree_of("s/1", [{"kind": "step_started", "step": "gate"}, told]))
        texts.append(out.getvalue())
    assert "提到胸痛" in texts[0]
    assert "如果没有第1句" in texts[0]
    assert "score 0.84 is above theta1 0.80" in texts[1]


def test_a_chat_tells_the_last_decision_on_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(session: str | None, *lines: str, as_json: bool = False) -> str:
        waiting = iter([*lines, None])
        monkeypatch.setattr(ask, "_read", lambda: next(waiting))
        agent = Agent(parts=parts(), home=tmp_path)
        monkeypatch.setattr(ask, "Agent", lambda _, say: agent)
        ask.chat(session, as_json=as_json)
        return capsys.readouterr().out

    assert "scripted" not in said(None, "/gate")
    told = said(None, "case with enough", "/gate")
    assert "score 0.90 is above theta1 0.80" in told.split("run ")[-1]
    session = told.split("run ")[1].split("/1")[0]
    assert "score 0.90 is above theta1 0.80" in said(session, "/gate")  # of an earlier run of the program
    last = said(session, "/gate", as_json=True).splitlines()[-1]
    assert json.loads(last)["gate"]["decision"] == "direct"
