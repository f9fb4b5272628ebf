"""CMMQA made anew: the filter, what loses its answer, going on where it was ended, and asking what was made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.cli.app import app
from evals import commands
from evals.cmmqa import (
    CMMQA,
    GIVEN_AWAY,
    JOURNAL,
    NO_QUESTION,
    NOTHING,
    NUMBERS,
    OTHER_ANSWER,
    WORDS,
    Built,
    ByModel,
    ByTemplate,
    CancerTerms,
    SourceQuestion,
    build,
    chosen,
    lost,
    mesh_terms,
    natural,
    read_cmmqa,
    shipped_terms,
)
from evals.runner import prepare, run_task
from evals.scripted.player import after, in_form, schema_of
from evals.scripted.server import Request
from evals.tasks.answers import TASK, items
from prompts.errors import DataError, InputError, ServiceError
from prompts.language_model import LanguageModel, ModelSettings
from support.scripted_model import Scripted, serving_by

OPTIONS = {"A": "Tamoxifen", "B": "Metformin"}
CHOICE = SourceQuestion(
    "medqa-1", "medqa", "A woman of 52 has breast cancer with hormone receptors. Which tablet is given?", OPTIONS, "A",
    ("Neoplasms",),
)  # fmt: skip
OPEN = SourceQuestion("hsqa-1", "healthsearchqa", "Can melanoma be cured?", {}, "", ("Melanoma",))
STORY = "My neighbour is a woman of 52. She was told of breast cancer with hormone receptors. Which tablet is given?"


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("Is it breast cancer?", ("Neoplasms",)),
        ("Metastatic melanomas", ("Neoplasms", "Melanoma")),
        ("Ewing's sarcoma of the leg", ("Sarcoma",)),
        ("small-cell carcinoma", ("Carcinoma",)),
        ("all of them ran a mile", ()),
        ("Treatment of AML", ("Leukemia",)),
        ("aml in lower case, and scancer", ()),
        ("Peutz-Jeghers syndrome", ("Lynch Syndrome II",)),
    ],
)
def test_cancer_terms_are_whole_words_in_any_number(text: str, headings: tuple[str, ...]) -> None:
    assert shipped_terms().found_in(text) == headings


def test_the_headings_of_mesh_take_their_place(tmp_path: Path) -> None:
    def record(name: str, number: str, term: str) -> str:
        return (
            f"<DescriptorRecord><DescriptorName><String>{name}</String></DescriptorName>"
            f"<TreeNumberList><TreeNumber>{number}</TreeNumber></TreeNumberList><ConceptList><Concept><TermList><Term>"
            f"<String>{term}</String></Term></TermList></Concept></ConceptList></DescriptorRecord>"
        )

    body = record("Carcinoma, Renal Cell", "C04.557.470", "Grawitz Tumors") + record("Asthma", "C08.127", "Wheeze")
    path = tmp_path / "desc.xml"
    path.write_text(f"<DescriptorRecordSet>{body}</DescriptorRecordSet>")
    terms = mesh_terms(path)
    assert terms.found_in("renal cell carcinoma, or a Grawitz tumor with wheeze") == ("Carcinoma, Renal Cell",)
    path.write_text(f"<DescriptorRecordSet>{record('Asthma', 'C08', 'Wheeze')}</DescriptorRecordSet>")
    with pytest.raises(DataError, match="no heading below C04"):
        mesh_terms(path)
    assert natural("Neoplasms, Breast, Male") == "Male Breast Neoplasms"


@pytest.mark.parametrize(
    ("narrative", "wrong"),
    [
        (STORY, ""),
        ("", NOTHING),
        (STORY.replace("?", "."), NO_QUESTION),
        (STORY.replace("52", "some age"), NUMBERS),
        ("She is 52. What now?", WORDS),
        (STORY.replace("She", "She takes tamoxifen. She"), GIVEN_AWAY),
    ],
)
def test_a_narrative_that_loses_the_answer_is_seen(narrative: str, wrong: str) -> None:
    assert lost(CHOICE, narrative) == wrong


def test_questions_are_chosen_by_question_or_right_option_and_once() -> None:
    terms = CancerTerms({"Melanoma": ["melanoma"]})
    by_option = SourceQuestion("1", "mmlu", "What is black?", {"A": "Melanoma", "B": "Milk"}, "A")
    distractor = SourceQuestion("2", "mmlu", "What is white?", {"A": "Melanoma", "B": "Milk"}, "B")
    built = Built()
    found = chosen([by_option, distractor, by_option, OPEN], terms, built)
    assert [(q.id, q.headings) for q in found] == [("1", ("Melanoma",)), ("hsqa-1", ("Melanoma",))]
    assert dict(built.left_out) == {"no cancer term": 1, "a question that stood before": 1}


class Model:
    """Tells a story around each question, loses what it is told to lose, and can fail."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails = self.changes = False

    def __call__(self, request: Request) -> Scripted:
        name = str(schema_of(request)["title"])
        question = after(request, "Question")
        self.asked.append(name)
        if self.fails and "melanoma" in question:
            return Scripted(status=500, body="oops")
        if name == "NarrativeReply":
            return in_form(request, json.dumps({"narrative": f"My neighbour worries.  {question}"}))
        return in_form(request, json.dumps({"same": not self.changes, "reason": "It is so."}))


def by_model(url: str) -> ByModel:
    return ByModel(LanguageModel(ModelSettings(name="m", base_url=url, timeout=5.0, max_retries=0), "questions"))


def test_a_failure_costs_no_question_that_was_told(tmp_path: Path) -> None:
    out, model = tmp_path / "q.jsonl", Model()
    with serving_by(model) as server:
        model.fails = True
        with pytest.raises(ServiceError):
            build([CHOICE, OPEN], by_model(server.url), out, Built(), lambda _: None)
        assert not out.exists()
        journal = out.with_name(out.name + JOURNAL)
        journal.write_text(journal.read_text() + '{"key": "cut of')
        model.fails, model.asked = False, []
        done = build([CHOICE, OPEN], by_model(server.url), out, Built(), lambda _: None)
    assert model.asked == ["NarrativeReply"]  # the open question alone
    assert (done.kept, done.rows, done.choices) == (1, 2, 1)
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert rows[0]["narrative"] == f"My neighbour worries. {CHOICE.question}"
    assert rows[0]["writer"] == "m narrative@1 narrative_check@1"
    assert not journal.exists()
    with pytest.raises(InputError, match="there already"):
        build([OPEN], ByTemplate(), out, Built(), lambda _: None)


def test_what_loses_its_answer_is_left_out_and_counted(tmp_path: Path) -> None:
    model = Model()
    model.changes = True
    with serving_by(model) as server:
        done = build([CHOICE, OPEN], by_model(server.url), tmp_path / "q.jsonl", Built(), lambda _: None)
    assert (done.rows, dict(done.left_out)) == (1, {OTHER_ANSWER: 1})


def test_a_damaged_journal_is_told(tmp_path: Path) -> None:
    (tmp_path / f"q.jsonl{JOURNAL}").write_text("no json\n")
    with pytest.raises(DataError, match="damaged"):
        build([OPEN], ByTemplate(), tmp_path / "q.jsonl", Built(), lambda _: None)


def test_the_command_makes_a_file_that_answers_takes(
    tmp_path: Path, built_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    monkeypatch.delenv("ANAMNESIS_MODEL", raising=False)
    (tmp_path / "all.csv").write_text("id,question\n1,Can melanoma be cured?\n2,Why do I yawn?\n")
    row = {"question": CHOICE.question, "options": OPTIONS, "answer": "A"}
    (tmp_path / "benchmark.json").write_text(json.dumps({"medqa": {"0001": row}}))
    commands.register(app)
    arguments = ["eval", "build-cmmqa", "--healthsearchqa", str(tmp_path / "all.csv")]
    arguments += ["--mirage", str(tmp_path / "benchmark.json"), "--out", str(tmp_path / "data" / CMMQA)]
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments, catch_exceptions=False)
    assert "2 questions, 1 of them with options, told by template" in done.output
    assert "No language model is set" in done.output
    assert "left out, 1 times: no cancer term" in done.output
    (row_open, row_choice) = read_cmmqa(tmp_path / "data")
    assert (row_open.options, row_choice.answer) == ({}, "A")
    prepared = prepare(TASK, tmp_path / "data", limit=None, seed=0, config="cometa")
    assert [item.group for item in items(prepared.context)] == ["cmmqa.narrative", "cmmqa.question"]
    report = run_task(TASK, tmp_path / "data", limit=5, seed=0, config="cometa")
    figures = {f.name: f for f in report.figures}
    assert figures["cmmqa.narrative.accuracy"].n == figures["cmmqa.narrative_over_question.p"].n == 1
    assert report.settings["config"] == "cometa"
    assert set(report.settings["not_run"]) == {"mirage/exam_dev.jsonl", "literature/pubmedqa_dev.jsonl", "cmmqa.open"}
