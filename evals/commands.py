"""The commands that `evals` adds to the command line, through the entry point group ``anamnesis.commands``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli.app import COMMANDS, DEVELOPMENT, EVERYBODY, MOVED, Entry
from tools.files import named_file, write_atomic

if TYPE_CHECKING:
    from evals.cmmqa import Rewritten
    from evals.datasets.catalogue import Report

DataOption = Annotated[Path, typer.Option(help="The folder with the data of the evaluations.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Write it as JSON to this file.", callback=named_file)]
WeightsOption = Annotated[
    Path | None, typer.Option(help="The weights to write; the shipped ones when not given.", callback=named_file)
]
SHOWN = 20  # ours: problems that are printed; --json of a conversion has all
WORDS = {
    "same": "the same as in our runs",
    "other": "another version",
    "there": "there; no checksum is known",
    "absent": "absent",
}
# Commands of `eval`: the module below `evals`, what it is called there, what it does.
EVALUATIONS = {
    "list": (
        "commands",
        "list_tasks",
        "List the evaluations: what each measures, and its expected time on two cores, warm.",
    ),
    "run": ("commands", "run_one", "Run an evaluation, print its figures and write them as JSON."),
    "compare": (
        "comparison",
        "print_comparison",
        "Compare two runs figure by figure, and sample by sample where both have a log.",
    ),
    "view": ("inspect", "show", "Show logs in Inspect's viewer, on this machine alone; Ctrl-C ends it."),
    "lost": ("losses", "show_losses", "Group failed samples by the node that lost the answer."),
    "smoke": (
        "smoke.gate",
        "smoke",
        "Run the smoke set (under three minutes) and hold its figures to what is expected.",
    ),
    "judges": ("commands", "judges", "Compare the judges of answers with people: agreement, kappas, correlations."),
    "data": (
        "commands",
        "data_sets",
        "Say which data sets the evaluations read, where each is to be had, and whether a folder's files are ours.",
    ),
    "build-cmmqa": (
        "commands",
        "build_cmmqa",
        "Tell the cancer questions of HealthSearchQA and MIRAGE as clinical narratives; run again, it goes on.",
    ),
    "replay": ("replay.commands", "replay", "Play a model by hand or record one, and compare its answers with ours."),
    "ledger": (
        "ledger.page",
        "ledger",
        "Write every published figure beside ours, from the reports of our evaluations.",
    ),
    "calibrate": (
        "training.completeness_gate",
        "calibrate_gate",
        "Fit the completeness gate again on all cases of `completeness` (5 minutes, 15 the first time).",
    ),
    "calibrate-outside": (
        "training.edge",
        "calibrate_outside",
        "Fit again where the starter graph's knowledge ends, on the half of the cases kept for it (5 minutes).",
    ),
}
# Trainings by their command: the function below `evals.training`, the module whose weights are shipped, what it does.
TRAININGS = {
    "findings": (
        "finding_head.train_findings",
        "tools.knowledge_graph.spoken",
        "Train what hears findings in clauses, on our wordings and marked texts (six minutes).",
    ),
    "assertions": (
        "assertion_head.train_assertions",
        "tools.reading.assertion",
        "Train what tells the present from the denied, the past and other people's, on marked texts (four minutes).",
    ),
    "answers": (
        "answer_head.train_answering",
        "tools.reading.answering",
        "Train what finds the sentences that answer, on questions about the starter library (a quarter of an hour).",
    ),
    "medicines": (
        "medicine_head.train_medicines",
        "tools.medicines.answering",
        "Train what says what a medicine's record answers, on our development questions (three minutes).",
    ),
    "verdicts": (
        "verdict_head.train_verdicts",
        "graphs.verdicts.warrant",
        "Train what warrants a verdict, on our development questions, each asked through the agent (two hours).",
    ),
    "topical": (
        "topical.train_topical",
        "graphs.verdicts.topical",
        "Train what tells whether a study is about a question, on the fit part of the data (ten minutes).",
    ),
    "overall": (
        "overall.train_overall",
        "graphs.verdicts.overall",
        "Train what a study answers in all, on the fit part of the data (three minutes).",
    ),
}
ON_DATA = ("topical", "overall")  # of them those that read the data of the evaluations


def write_json(file: Path | None, value: Any) -> None:
    """Write a value as JSON, where there is a file; a reader sees the old file or the new one."""
    if file is not None:
        write_atomic(file, f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode())


def register(app: typer.Typer) -> None:
    """Add the commands to the table; each is imported when it is called."""
    del app
    COMMANDS["eval"] = Entry(DEVELOPMENT, "", "Run evaluations, compare and look at them.")
    for name, (module, function, what) in EVALUATIONS.items():
        COMMANDS[f"eval {name}"] = Entry(EVERYBODY, f"evals.{module}", what, function)
    COMMANDS["dev bench"] = Entry(
        EVERYBODY, "evals.bench.commands", "Measure speed and memory of this installation, and of parts."
    )
    COMMANDS["dev gate"] = Entry(
        EVERYBODY, "evals.training.gate", "The completeness gate: annotate cases, train on them."
    )
    COMMANDS["dev reader"] = Entry(
        EVERYBODY, "evals.commands", "The trained reader: what a sentence says of a question."
    )
    MOVED.update({name: f"dev {name}" for name in ("bench", "gate", "reader")})


def list_tasks() -> None:
    """List the evaluations: what each measures, and its expected time on two cores, warm."""
    from rich.table import Table

    from agent.cli.console import WideConsole
    from evals.tasks.registry import TASKS

    table = Table("name", "what", "expected time", "limit", "log")
    for task in TASKS.values():
        table.add_row(task.name, task.what, task.expected, str(task.limit), "yes" if task.asks else "")
    WideConsole().print(table)


def run_one(
    name: Annotated[str, typer.Argument(help="The evaluation.")],
    data: Annotated[Path | None, typer.Option(help="The folder with the data.")] = None,
    json_file: JsonFile = None,
    limit: Annotated[int | None, typer.Option(help="Most rows a setting.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of samples and bootstraps.")] = 0,
    config: Annotated[str, typer.Option(help="A published configuration that answers, as medrgag:without-kads.")] = "",
    log: Annotated[
        Path | None, typer.Option(help="Write an Inspect log into this folder, the report beside it.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was cut off, by its log.")] = False,
    parallel: Annotated[int | None, typer.Option(min=1, help="Sessions at once, with a log (default 4).")] = None,
    by_model: Annotated[
        bool, typer.Option("--by-model", help="Let the language model of the settings judge, with a log.")
    ] = False,
) -> None:
    """Run an evaluation, print its figures and write them as JSON."""
    from evals.runner import prepare, print_report, run_task, write_report
    from evals.tasks.registry import TASKS, find_task
    from prompts.errors import InputError

    task = find_task(name)
    if log is None:
        if resume or by_model or parallel is not None:
            raise InputError("--resume, --by-model and --parallel need a log.", "Give a folder with --log.")
        report = run_task(task, data, limit=limit, seed=seed, config=config)
    else:
        from evals.inspect import PARALLEL, Logging, check_installed

        if task.asks is None:
            logged = ", ".join(t.name for t in TASKS.values() if t.asks)
            raise InputError(
                f"{name} does not ask the agent: there is nothing to log.", f"Leave --log out. Logged: {logged}."
            )
        check_installed()
        from evals.inspect.running import run_logged

        prepared = prepare(task, data, limit=limit, seed=seed, config=config, by_model=by_model)
        report, place = run_logged(task, prepared, Logging(log, resume, parallel or PARALLEL))
        typer.echo(f"log: {place}", err=True)
    if json_file is not None:
        write_report(report, json_file)
    print_report(report)


def judges(
    labels: Annotated[Path | None, typer.Option(help="A file of JSON lines with people's labels.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="A data folder: compare with the grades of LiveQA's answers.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=3, help="Most graded answers, drawn by the seed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of samples and bootstraps.")] = 0,
    json_file: JsonFile = None,
) -> None:
    """Compare the judges of answers with people: agreement, kappas, correlations."""
    from evals.judges.validation import validate
    from evals.runner import print_report, write_report
    from prompts.errors import InputError

    if labels is None and data is None:
        raise InputError("There is nothing to compare with.", "Give --labels FILE, --data DIR, or both.")
    report = validate(labels, data, limit, seed)
    if json_file is not None:
        write_report(report, json_file)
    print_report(report)


def data(
    context: typer.Context,
    check: Annotated[Path | None, typer.Option(help="Compare the files of this data folder with ours.")] = None,
    json_file: JsonFile = None,
) -> None:
    """Say which data sets the evaluations read, where each is to be had, and whether a folder's files are ours."""
    if context.invoked_subcommand is not None:
        return
    from rich.table import Table

    from agent.cli.console import WideConsole
    from evals.datasets.catalogue import check_files, data_json, read_catalogue
    from tools.files import write_atomic

    sets = read_catalogue()
    checked = check_files(sets, check) if check is not None else None
    if json_file is not None:
        write_atomic(json_file, data_json(sets, checked))
    console = WideConsole()
    if checked is not None:
        states = Table("data set", "file", "state", "sha256")
        for c in checked:
            states.add_row(c.data_set, c.path, WORDS[c.state], c.sha256[:16])
        console.print(states)
        return
    table = Table("name", "what", "access", "licence", "size", "read by", "convert")
    for s in sets:
        table.add_row(s.name, s.what, s.access, s.licence, s.size, ", ".join(s.tasks), "yes" if s.original else "")
    console.print(table)
    console.print("Addresses, places and checksums: anamnesis eval data show NAME", highlight=False)


def show(names: Annotated[list[str], typer.Argument(help="The data sets.")]) -> None:
    """Tell all of a data set: addresses, licence, where to place it, files and checksums."""
    from evals.datasets.catalogue import read_catalogue
    from prompts.errors import InputError

    known = {s.name: s for s in read_catalogue()}
    for name in names:
        if name not in known:
            raise InputError(f"There is no data set {name!r}.", f"These are there: {', '.join(known)}.")
        typer.echo("\n".join(known[name].told()))


def convert(
    name: Annotated[str, typer.Argument(help="The data set, as `anamnesis eval data` names it.")],
    source: Annotated[Path, typer.Argument(help="The file or folder of the release.")],
    folder: Annotated[Path, typer.Argument(help="The data folder to write into.")],
    limit: Annotated[int | None, typer.Option(help="Most records, drawn by the seed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the drawing.")] = 0,
    replace: Annotated[bool, typer.Option("--replace", help="Write over files that are there.")] = False,
    json_file: JsonFile = None,
) -> None:
    """Turn a release in its original format into the files that the evaluations read."""
    import json

    from evals.datasets.catalogue import convert as convert_release
    from evals.datasets.catalogue import find_original
    from tools.files import write_atomic

    report = convert_release(find_original(name), source, folder, limit=limit, seed=seed, replace=replace)
    if json_file is not None:
        made = report._asdict() | {"problems": [p._asdict() for p in report.problems]}
        write_atomic(json_file, f"{json.dumps(made, indent=2, ensure_ascii=False)}\n".encode())
    typer.echo("\n".join(_outcome(report)))


def build_cmmqa(
    out: Annotated[Path, typer.Option(help="The file to write; DATA/questions/cmmqa.jsonl is read by `answers`.")],
    healthsearchqa: Annotated[Path | None, typer.Option(help="The workbook or CSV of HealthSearchQA.")] = None,
    mirage: Annotated[Path | None, typer.Option(help="MIRAGE's benchmark.json.")] = None,
    mesh: Annotated[Path | None, typer.Option(help="NLM's descriptor file, in place of our own cancer terms.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Most questions, drawn by the seed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the drawing.")] = 0,
) -> None:
    """Tell the cancer questions of HealthSearchQA and MIRAGE as clinical narratives; run again, it goes on."""
    import random

    from evals.cmmqa import NO_MODEL, TEMPLATE, Built, build, chosen, mesh_terms, shipped_terms, source_questions

    terms = mesh_terms(mesh) if mesh is not None else shipped_terms()
    built = Built()
    questions = chosen(source_questions(healthsearchqa, mirage, built), terms, built)
    if limit is not None and limit < len(questions):
        drawn = sorted(random.Random(seed).sample(range(len(questions)), limit))  # noqa: S311
        built.left_out["not drawn"] += len(questions) - limit
        questions = [questions[at] for at in drawn]
    writer = _writer()
    build(questions, writer, out, built, lambda line: typer.echo(line, err=True))
    typer.echo(f"{out}: {built.rows:,} questions, {built.choices:,} of them with options, told by {writer.name}")
    for line in [*([NO_MODEL] if writer.name == TEMPLATE else []), *_problems(built.left_out, built.problems, "")]:
        typer.echo(line)


def _writer() -> Rewritten:
    """The model of the settings in its role ``questions``; without one the template."""
    from agent.models import open_models
    from agent.sessions import Home
    from agent.settings import load_settings, silence_telemetry
    from evals.cmmqa import ByModel, ByTemplate

    settings = load_settings(model_cache="evaluation")
    silence_telemetry(settings)
    models = open_models(settings, Home(settings.home).prepare())
    return ByModel(models.of("questions")) if models is not None else ByTemplate()


def _outcome(report: Report) -> list[str]:
    lines = [f"{report.read:,} records were read."]
    lines += [f"{path}: {rows:,} rows written" for path, rows in report.written.items()]
    lines += [f"{path}: copied" for path in report.copied]
    return [*lines, *_problems(report.left_out, report.problems, ": see --json")]


def _problems(left_out: Mapping[str, int], problems: Sequence[object], more: str) -> list[str]:
    lines = [f"left out, {count:,} times: {reason}" for reason, count in left_out.items()]
    lines += [f"problem: {problem}" for problem in problems[:SHOWN]]
    beyond = len(problems) - SHOWN
    return [*lines, *([f"and {beyond:,} more problems{more}"] if beyond > 0 else [])]


def train(
    data: DataOption,
    out: Annotated[
        Path, typer.Option(help="The weights to write; a checksum is written beside them.", callback=named_file)
    ],
    threads: Annotated[int, typer.Option(min=1, help="Of torch; one thread gives the same file again.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of everything drawn.")] = 7,
    passes: Annotated[int | None, typer.Option(min=1, help="Over the data.")] = None,
    teachers: Annotated[int | None, typer.Option(min=0, help="Trained first, as long each; 0 for none.")] = None,
    start: Annotated[Path | None, typer.Option(help="Weights to go on from.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """Train on the fit part of the data and our own pairs (an hour a pass on one core, half a minute on a GPU)."""
    from tools.reading.training import TrainingSettings, train_reader

    chosen = {"passes": passes, "teachers": teachers}
    settings = TrainingSettings(threads=threads, seed=seed, device=device)
    settings = settings.model_copy(update={name: value for name, value in chosen.items() if value is not None})
    train_reader(data, out, settings, tell=typer.echo, start=start)


def heads(
    data: DataOption,
    out: WeightsOption = None,
    replies: Annotated[bool, typer.Option(help="Of emergencies within a conversation alone; the others stay.")] = False,
) -> None:
    """Train what sorts messages and sees emergencies, on our examples and the fit part of the data (a minute)."""
    from evals.training.message_heads import train_heads
    from tools.reading.messages import WEIGHTS

    train_heads(data, out or WEIGHTS, tell=typer.echo, replies=replies)


def revisions(
    out: WeightsOption = None,
    held_out: Annotated[bool, typer.Option(help="Say first what writers not seen in training would get.")] = False,
) -> None:
    """Train what reads corrections of a case, on our examples (a quarter of an hour; twice that with --held-out)."""
    from evals.training.revision_head import train_revisions
    from tools.reading.replacing import WEIGHTS

    train_revisions(out or WEIGHTS, tell=typer.echo, held_out=held_out)


def training(name: str, train: str, weights: str) -> Callable[..., None]:
    """The command of a training that asks for nothing but where its weights go, or for the data too."""

    def trained(out: Path | None, *given: Any) -> None:
        module, _, function = train.partition(".")
        own = getattr(import_module(f"evals.training.{module}"), function)
        own(*given, out or import_module(weights).WEIGHTS, tell=typer.echo)

    def command(out: WeightsOption = None) -> None:
        trained(out)

    def command_with_data(data: DataOption, out: WeightsOption = None) -> None:
        from evals.runner import prepare
        from evals.tasks.registry import find_task

        trained(out, prepare(find_task("verdicts"), data, limit=None, seed=0).context)

    return command_with_data if name in ON_DATA else command


def evaluate(data: DataOption) -> None:
    """The figures of every head on the judge part of the data and of our own pairs: the evaluation `effects`."""
    from evals.runner import print_report, run_task
    from evals.tasks.registry import find_task

    print_report(run_task(find_task("effects"), data, limit=None, seed=0))


def read(
    question: Annotated[str, typer.Argument(help="A question or a claim.")],
    sentence: Annotated[str, typer.Argument(help="A sentence.")],
    title: Annotated[str, typer.Option(help="The title of its document.")] = "",
    before: Annotated[str, typer.Option(help="The sentence before it.")] = "",
) -> None:
    """What the reader makes of one sentence."""
    from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Pair
    from tools.reading.reader import TrainedReader

    (reading,) = TrainedReader().read([Pair(question, sentence, title, before)])
    for names, values in ((STANCES, reading.stances), (DIRECTIONS, reading.directions), (ROLES, reading.roles)):
        told = sorted(zip(values, names, strict=True), reverse=True)
        typer.echo("  ".join(f"{name} {value:.2f}" for value, name in told))


data_sets = typer.Typer(rich_markup_mode=None, invoke_without_command=True, callback=data)
data_sets.command()(show)
data_sets.command()(convert)
reader = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
reader.command()(train)
reader.command()(heads)
for _name, (_train, _weights, _what) in TRAININGS.items():
    reader.command(_name, help=_what)(training(_name, _train, _weights))
reader.command()(revisions)
reader.command()(evaluate)
reader.command()(read)
