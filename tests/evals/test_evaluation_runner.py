"""The frame: what a run writes, and what it says when it was given something wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from agent.cli.app import app
from evals.commands import register
from evals.contract import Figure, Task, TaskContext
from evals.datasets.liveqa import LIVEQA, LIVEQA_ANSWERS
from evals.datasets.medquad import PAGES, QBRAG_PAGES, QBRAG_QUESTIONS
from evals.runner import data_sha256, run_task, searched_sources, write_report
from evals.statistics import share
from evals.tasks import registry
from prompts.errors import AnamnesisError, DataError, InputError

FILE = "things/rows.txt"


def count_rows(context: TaskContext) -> list[Figure]:
    rows = context.sample((context.data / FILE).read_text().split())
    assert (context.settings.literature.live, context.settings.literature.mirror) == ("off", None)
    assert context.settings.language_model is None
    return share("toy.text.even", [int(r) % 2 == 0 for r in context.tick(rows, "rows", len(rows))])


TOY = Task("toy", "counts even numbers", (FILE,), "a moment", 5, count_rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data" / "things").mkdir(parents=True)
    (tmp_path / "data" / FILE).write_text(" ".join(map(str, range(20))))
    return tmp_path / "data"


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    monkeypatch.setitem(registry.TASKS, "toy", TOY)
    register(app)
    return app


def test_a_run_prints_a_table_and_writes_the_report(command: typer.Typer, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    arguments = ["eval", "run", "toy", "--data", str(data), "--json", str(out), "--limit", "10", "--seed", "4"]
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    assert "toy.text.even" in done.stdout
    assert "rows:" in done.stderr
    report = json.loads(out.read_text())
    assert list(report) == ["task", "settings", "data_sha256", "seconds", "figures", "code"]
    (figure,) = report["figures"]
    assert list(figure) == ["name", "value", "n", "ci95", "published"]
    assert (figure["n"], figure["published"], len(figure["ci95"])) == (10, None, 2)
    assert (report["settings"]["limit"], report["settings"]["seed"]) == (10, 4)
    assert report["data_sha256"] == data_sha256(data, [FILE])


def test_the_seed_decides_the_sample(data: Path) -> None:
    first, again = (run_task(TOY, data, limit=5, seed=1).figures for _ in range(2))
    assert first == again
    context = TaskContext(data, 5, 1, settings=None)  # type: ignore[arg-type]
    other = TaskContext(data, 5, 2, settings=None)  # type: ignore[arg-type]
    assert context.sample(range(100)) == sorted(context.sample(range(100)))
    assert context.sample(range(100)) != other.sample(range(100))
    assert context.sample(range(5)) == [0, 1, 2, 3, 4]


def test_the_environment_gives_an_evaluation_no_model_and_no_mirror(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_MODEL", "some-model")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("ANAMNESIS_LITERATURE__MIRROR", str(tmp_path))
    monkeypatch.setenv("ANAMNESIS_ROLES__ANSWER__MODEL", "another-model")
    monkeypatch.setenv("ANAMNESIS_CONFIG", "medrag-kg")
    given: list[TaskContext] = []
    task = replace(TOY, run=lambda context: given.append(context) or [], by_agent=True)
    report = run_task(task, data, limit=2, seed=0)
    assert (report.settings["model"], "config" in report.settings) == (None, False)
    assert given[0].settings.language_model is None
    assert (given[0].settings.config, given[0].settings.kg_mode) == ("", "ours")


def test_an_evaluation_asks_no_questions_that_this_data_folder_has_generated(data: Path) -> None:
    given: list[TaskContext] = []
    task = replace(TOY, run=lambda context: given.append(context) or [], by_agent=True)
    for config in ("", "qb-rag"):
        run_task(task, data, limit=2, seed=0, config=config)
    assert [context.settings.questions.stored for context in given] == ["written", "generated"]


def test_a_report_says_what_the_environment_changes_and_no_key_or_place(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = run_task(TOY, data, limit=None, seed=0).settings
    for name, value in {
        "ANAMNESIS_KG_MODE": "paper",
        "ANAMNESIS_GATE__METHOD": "retrieve",
        "ANAMNESIS_HOME": str(tmp_path / "elsewhere"),
        "ANAMNESIS_KG_GRAPH": str(tmp_path / "graph"),
        "ANAMNESIS_MODEL_TEMPERATURE": "1",
        "ANAMNESIS_SERVER__PORT": "9",
        "ANAMNESIS_LITERATURE__BASE_URL": "http://127.0.0.1:9",
        "OPENAI_API_KEY": "k-1",
        "NCBI_API_KEY": "k-2",
    }.items():
        monkeypatch.setenv(name, value)
    told = run_task(TOY, data, limit=None, seed=0).settings
    assert told == plain | {"kg_mode": "paper", "gate.method": "retrieve", "kg_graph": "graph"}


def test_a_configuration_answers_where_the_agent_is_asked(data: Path) -> None:
    given: list[TaskContext] = []
    task = replace(TOY, run=lambda context: given.append(context) or [], by_agent=True)
    report = run_task(task, data, limit=2, seed=0, config="medrag-kg")
    assert (report.settings["config"], given[0].settings.kg_mode) == ("medrag-kg", "paper")
    with pytest.raises(InputError, match="does not ask the agent"):
        run_task(TOY, data, limit=2, seed=0, config="medrag-kg")


def test_the_hash_is_of_names_and_bytes(data: Path) -> None:
    before = data_sha256(data, ["things/*.txt"])
    (data / "things" / "other.md").write_text("not read by the task")
    assert data_sha256(data, ["things/*.txt"]) == before
    (data / FILE).rename(data / "things" / "renamed.txt")
    renamed = data_sha256(data, ["things/*.txt"])
    assert renamed != before
    (data / "things" / "renamed.txt").write_text("1 2 3")
    assert data_sha256(data, ["things/*.txt"]) not in (before, renamed)


def test_the_hash_is_of_all_that_is_read(data: Path) -> None:
    """A file that is read and not hashed lets two runs over other data look alike."""
    from evals.datasets.ddxplus import CODES, TEXTS

    without = [t.name for t in registry.TASKS.values() if TEXTS in t.inputs and CODES not in t.inputs]
    assert without == []  # whoever takes the texts of a split reads the codes, which say the split
    more = replace(TOY, optional=("things/names.csv",))
    before = run_task(more, data, limit=1, seed=0).data_sha256
    assert before == run_task(TOY, data, limit=1, seed=0).data_sha256
    (data / "things" / "names.csv").write_text("a")
    assert run_task(more, data, limit=1, seed=0).data_sha256 != before


def test_mistakes_are_typed_and_give_advice(command: typer.Typer, data: Path, tmp_path: Path) -> None:
    def mistake(*arguments: str) -> AnamnesisError:
        done = CliRunner().invoke(command, ["eval", "run", *arguments])
        assert isinstance(done.exception, AnamnesisError), done.exception
        assert done.exception.advice
        return done.exception

    unknown = mistake("nothing", "--data", str(data))
    assert isinstance(unknown, InputError)
    assert "differential" in unknown.advice
    assert isinstance(mistake("toy"), InputError)
    assert isinstance(mistake("toy", "--data", str(tmp_path / "none")), InputError)
    assert isinstance(mistake("toy", "--data", str(data), "--limit", "0"), InputError)
    assert isinstance(mistake("toy", "--data", str(data), "--seed", "-1"), InputError)
    assert isinstance(mistake("toy", "--data", str(data), "--json", str(tmp_path)), InputError)
    missing = mistake("differential", "--data", str(data))
    assert isinstance(missing, DataError)
    assert "ddxplus/patients_dev_text.jsonl" in missing.what


def test_list_names_every_task_and_its_time(command: typer.Typer) -> None:
    done = CliRunner().invoke(command, ["eval", "list"], catch_exceptions=False)
    assert done.exit_code == 0
    assert {"differential", "answers", "cases", "toy"} <= set(done.stdout.replace("│", " ").split())


def test_a_report_replaces_the_old_one_whole(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("x" * 100_000)
    write_report(run_task(TOY, data, limit=None, seed=0), path)
    assert json.loads(path.read_text())["settings"]["limit"] == TOY.limit
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_every_task_states_a_time_and_a_limit() -> None:
    for name, task in registry.TASKS.items():
        assert task.name == name
        assert "minute" in task.expected
        assert task.limit > 0
        assert task.inputs


def test_imported_sources_are_searched_only_where_they_are_named_and_never_hold_the_data(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def note(context: TaskContext) -> list[Figure]:
        seen.append(context.settings.knowledge.search)
        return share("toy.text.even", [True])

    (data / "medquad").mkdir()
    (data / "medquad" / "rows.txt").write_text("1")
    on_medquad = replace(TOY, run=note, inputs=("medquad/rows.txt",))
    for task in (replace(TOY, run=note), on_medquad):
        run_task(task, data, limit=1, seed=1)
    assert seen == ["none", "none"]
    monkeypatch.setenv("ANAMNESIS_KNOWLEDGE__SEARCH", "medquad, medlineplus,openfda")
    reports = [run_task(task, data, limit=1, seed=1) for task in (replace(TOY, run=note), on_medquad)]
    assert seen[2:] == ["openfda,medlineplus,medquad", "openfda"]
    assert [r.settings["sources"] for r in reports] == seen[2:]


def test_every_task_on_medquad_qbrag_and_liveqa_leaves_their_texts_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAMNESIS_KNOWLEDGE__SEARCH", "medquad,medlineplus")
    held = {PAGES, QBRAG_PAGES, QBRAG_QUESTIONS, LIVEQA, LIVEQA_ANSWERS}
    tasks = [t for t in registry.TASKS.values() if held & {*t.inputs, *t.optional}]
    assert {"answer_quality", "questions"} <= {t.name for t in tasks}
    assert {searched_sources((*t.inputs, *t.optional)) for t in tasks} == {"none"}
    assert all(searched_sources([file]) == "none" for file in held)
