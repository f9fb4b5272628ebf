"""What a model wrote by itself beside the answer that its reader got: blind pairs for readers, and their grades.

Both sides are shown in one form: what is chosen, an emergency, sentences, each with the quotes that it rests on. Labels
and notices that only the final answer has are left out, because they would tell which it is.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from evals.contract import Figure
from evals.datasets.rows import read_object, read_text
from evals.judges.validation import cohen
from evals.replay.playing import FINAL, OWN
from evals.replay.recording import beside
from evals.scripted.player import SENTENCE
from evals.statistics import share
from graphs.answering.contract import Answer
from prompts.answer import AnswerReply, CaseReply, ChoiceReply, DirectReply, ExamReply
from prompts.errors import DataError, InputError
from prompts.replies import Faulty, parse
from tools.files import write_atomic
from tools.messages import messages

PAIRS, KEY, GRADES = "pairs.md", "key.json", "grades.csv"
Which = Literal["written", "alone"]
WRITTEN = {schema.__name__: schema for schema in (AnswerReply, CaseReply, ChoiceReply, DirectReply, ExamReply)}
SHAPE = re.compile(r"^## schema: (\w+)$", re.MULTILINE)
SIDES = ("A", "B")
SAME = "same"
ASKED = """# Pairs of answers

Of each pair say in a copy of `{grades}` which answer is the worse one: `A`, `B`, or `same`. Worse is what leaves out,
reorders, blurs or discredits something right that the other one says, or says something wrong that the other does not.
Length and style do not count.
"""


class Pair(NamedTuple):
    """A question with the model's own answer and the final one, both as they are shown."""

    question: str
    id: int
    own: str
    final: str


def pairs_of(folder: Path, which: Which) -> list[Pair]:
    """The pairs of a run that has answers; a question without either side is left out."""
    out: list[Pair] = []
    for place in sorted(folder.glob(f"*/{FINAL}")):
        answer = Answer.model_validate_json(read_text(place))
        own = _written(place.parent) if which == "written" else _alone(place.parent)
        if own:
            out.append(Pair(answer.question, int(place.parent.name), own, shown_final(answer)))
    return out


def write_pairs(folder: Path, which: Which, seed: int) -> int:
    """Write the pairs for readers, the key, and a file of grades to be filled in; returns how many pairs there are.

    Raises:
        InputError: there are no pairs.
    """
    pairs, draw = pairs_of(folder, which), Random(seed)  # noqa: S311  no secret
    if not pairs:
        raise InputError(
            f"{folder.name} holds no pair of answers.", "Run its questions first; `--own alone` needs --alone."
        )
    draw.shuffle(pairs)
    parts, key, rows = [ASKED.format(grades=GRADES)], {}, ["pair,worse,why"]
    for number, pair in enumerate(pairs, start=1):
        final_first = draw.random() < 1 / 2
        key[str(number)] = {"id": pair.id, "final": SIDES[0] if final_first else SIDES[1]}
        sides = (pair.final, pair.own) if final_first else (pair.own, pair.final)
        parts.append(f"## Pair {number}\n\n{pair.question}")
        parts += [f"### {number} {side}\n\n{text}" for side, text in zip(SIDES, sides, strict=True)]
        rows.append(f"{number},,")
    write_atomic(folder / PAIRS, ("\n\n".join(parts) + "\n").encode())
    write_atomic(folder / KEY, json.dumps({"own": which, "seed": seed, "pairs": key}, indent=1).encode())
    write_atomic(folder / GRADES, ("\n".join(rows) + "\n").encode())
    return len(pairs)


def graded(folder: Path, files: Sequence[Path]) -> list[Figure]:
    """How often the final answer is the worse one: by each reader, by both, by either; and how far they agree.

    Raises:
        DataError: a pair has no grade, or one that is none.
    """
    key: Mapping[str, Any] = read_object(folder / KEY)["pairs"]
    grades = [_grades(file, key) for file in files]
    worse = [{pair: given[pair] == key[pair]["final"] for pair in key} for given in grades]
    out: list[Figure] = []
    for n, one in enumerate(worse, start=1):
        out += share(f"replay.reader_{n}.final_worse", list(one.values()))
        out += share(f"replay.reader_{n}.own_worse", [grades[n - 1][p] not in (SAME, key[p]["final"]) for p in key])
    if len(worse) > 1:
        out += share("replay.both.final_worse", [all(one[p] for one in worse) for p in key])
        out += share("replay.either.final_worse", [any(one[p] for one in worse) for p in key])
        out += share("replay.readers.agreement", [len({given[p] for given in grades}) == 1 for p in key])
        kappa = cohen(*([given[p] for p in key] for given in grades[:2]))
        out += [] if kappa is None else [Figure(name="replay.readers.kappa", value=kappa, n=len(key))]
    return out


def _grades(file: Path, key: Mapping[str, Any]) -> dict[str, str]:
    rows = csv.DictReader(read_text(file).splitlines())
    told = {(row.get("pair") or "").strip(): (row.get("worse") or "").strip() for row in rows}
    given = {pair: grade.upper() if grade.lower() != SAME else SAME for pair, grade in told.items()}
    lacking = [pair for pair in key if given.get(pair) not in (*SIDES, SAME)]
    if lacking:
        raise DataError(f"{file.name} has no grade of pair {', '.join(lacking)}.", "Write A, B or same beside each.")
    return given


def shown_final(answer: Answer) -> str:
    """A final answer as readers of pairs see it."""
    views = [_value_of(n.text, answer.language) for n in answer.notices if n.code == "model_view"]
    chosen = [answer.verdict.value.value] if answer.verdict else [answer.choice.label] if answer.choice else views
    quotes = [tuple(c.quote for c in s.quoted) for s in answer.statements]
    label = f" {messages(answer.language)['case.not_in_graph']}"
    said = [s.text.replace(label, "") for s in answer.statements]
    return _shown(chosen, [flag.seen for flag in answer.emergency], said, quotes)


def _value_of(view: str, language: str) -> str:
    """What a model's view says, without the label that tells that it is one."""
    label = messages(language)["notice.model_view"].partition("{detail}")[0]
    return re.split(r"\.\s|。", view.removeprefix(label), maxsplit=1)[0]


def _alone(folder: Path) -> str:
    place = folder / OWN
    return read_text(place).strip() if place.is_file() else ""


def _written(folder: Path) -> str:
    """What the model wrote when it was asked for its answer: the first reply that can be read."""
    for asked in sorted(folder.glob("*.request.md")):
        text = read_text(asked)
        shape = WRITTEN.get((SHAPE.findall(text) or [""])[-1])
        if shape is None:
            continue
        for said in _said(asked):
            try:
                return _of_reply(parse(said, shape), text)
            except Faulty:
                continue
    return ""


def _said(asked: Path) -> Iterator[str]:
    """The texts of the reply to a request: what was said, or the arguments of the call."""
    if (by_hand := beside(asked, "txt")).is_file():
        yield read_text(by_hand)
    if (by_model := beside(asked, "json")).is_file() and "message" in (reply := read_object(by_model)):
        yield reply["message"].get("content") or ""
        yield from (str(call["function"]["arguments"]) for call in reply["message"].get("tool_calls") or ())


def _of_reply(reply: Any, asked: str) -> str:
    """A reply as readers see it; ``asked`` holds the sentences that it names by number."""
    sentences = {f"{document}.{number}": said for document, number, said in SENTENCE.findall(asked)}
    said = [s if isinstance(s, str) else s.text for s in reply.statements]
    cites = [() if isinstance(s, str) else tuple(s.cites) for s in reply.statements]
    quotes = [tuple(sentences[label] for label in labels if label in sentences) for labels in cites]
    chosen = [option] if (option := getattr(reply, "option", "")) else []
    return _shown(chosen, [sign] if (sign := getattr(reply, "emergency", "")) else [], said, quotes)


def _shown(chosen: Sequence[str], signs: Sequence[str], said: Sequence[str], quotes: Sequence[Sequence[str]]) -> str:
    lines = [f"Chosen: {option}" for option in chosen] + [f"Emergency: {sign}" for sign in signs]
    for number, (text, of_text) in enumerate(zip(said, quotes, strict=True), start=1):
        lines += [f"{number}. {text}", *(f"   > {' '.join(quote.split())}" for quote in of_text)]
    return "\n".join(lines) or "(no answer)"
