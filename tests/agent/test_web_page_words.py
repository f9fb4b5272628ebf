"""The page has words, in both languages, for everything that an answer can hold."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

import pytest

from agent import web
from graphs.completeness.contract import Decision, Label
from prompts.tool_arguments import Arguments
from tools.calculators import calculators
from tools.evidence import Origin, Status
from tools.knowledge_graph.loader import read_graph
from tools.medicines.records import starter_records
from tools.messages import messages

SCRIPTS = Path(web.__file__).parent / "static" / "js"
ENTRY = re.compile(r'^  (?:(\w+)|"([^"]+)"):\s*((?:"(?:[^"\\]|\\.)*"[\s+]*)+),', re.MULTILINE)
USED = re.compile(r'\bt\("(\w+)"')
ATTRIBUTE = re.compile(r'data-t="(\w+)"')


def table(language: str) -> dict[str, str]:
    """The words of a language by key."""
    text = "".join((SCRIPTS / f"words{part}-{language}.js").read_text(encoding="utf-8") for part in ("", "-found"))
    return {a or b: words for a, b, words in ENTRY.findall(text)}


EN, ZH = table("en"), table("zh")
REASONS = messages("en").group("gate.reasons")


def test_both_languages_have_the_same_words_with_the_same_blanks() -> None:
    assert len(EN) > 120
    assert set(ZH) - set(REASONS) == set(EN)
    assert set(REASONS) <= set(ZH), "a reason of the gate that has no Chinese"
    for key, words in EN.items():
        blanks = [set(re.findall(r"\{(\w+)\}", w)) for w in (words, ZH[key])]
        assert blanks[0] == blanks[1], key


def test_every_word_that_the_scripts_ask_for_is_there() -> None:
    text = "".join(f.read_text(encoding="utf-8") for f in SCRIPTS.glob("*.js"))
    page = (SCRIPTS.parent / "index.html").read_text(encoding="utf-8")
    asked = {*USED.findall(text), *ATTRIBUTE.findall(page)}
    assert len(asked) > 50
    assert asked - set(EN) == set()


@pytest.mark.parametrize(
    ("stem", "values"),
    [
        ("origin_", Origin),
        ("status_", Status),
        ("gate_", Decision),
        ("short_", Decision),
        ("label_", Label),
    ],
)
def test_every_value_of_the_contract_has_its_word(stem: str, values: type[Enum]) -> None:
    told = [str(v.value) for v in values]
    assert [v for v in told if stem + v not in EN] == []
    assert [v for v in told if stem + v not in ZH] == []


def test_the_start_screen_tells_what_is_there() -> None:
    told = " ".join(EN[f"knows{n}"] for n in range(1, 5))
    assert f"{len(read_graph().diseases)} conditions" in told
    assert f"{len(starter_records())} medicines" in told
    assert f"{len(calculators())} calculators" in told


@pytest.mark.parametrize("told", [EN["loginText"], ZH["loginText"]])
def test_who_comes_without_a_link_is_told_what_prints_one_and_what_makes_a_key(told: str) -> None:
    assert told.index("anamnesis serve") < told.index("anamnesis keys create")


def test_every_step_and_tool_has_its_word() -> None:
    nodes = (Path(web.__file__).parent.parent.parent / "graphs" / "clinical.py").read_text(encoding="utf-8")
    steps = set(re.findall(r'\badd\("(\w+)"', nodes))
    assert len(steps) > 5
    assert [s for s in steps if f"step_{s}" not in EN] == []
    tools = [
        re.sub(r"(?<!^)(?=[A-Z])", "_", schema.__name__).lower()
        for schema in Arguments.__subclasses__()
        if schema.__module__ == Arguments.__module__
    ]
    assert [t for t in tools if f"tool_{t}" not in EN] == []


def test_the_gates_reasons_without_a_score_are_those_that_the_page_knows() -> None:
    text = (SCRIPTS / "gate.js").read_text(encoding="utf-8")
    assert [r for r in REASONS if f'"{r}"' not in text] == []
