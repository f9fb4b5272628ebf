"""`anamnesis eval judges`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agent.sessions import Home
    from evals.contract import Report, TaskContext
    from evals.datasets.judged_labels import LabelledText
    from tools.encoders import Encoder
    from tools.questions.contract import AnswerabilityJudge


def register(evaluations: typer.Typer) -> None:
    """Add the command."""
    evaluations.command("judges")(judges)


def judges(
    labels: Annotated[Path | None, typer.Option(help="A file of JSON lines with people's labels.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="A data folder: compare with the grades of LiveQA's answers.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=3, help="Most graded answers, drawn by the seed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of samples and bootstraps.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the report to this file too.")] = None,
) -> None:
    """Compare the judges of answers with people: agreement, kappas, correlations."""
    from evals.runner import print_report, write_report
    from prompts.errors import InputError

    if labels is None and data is None:
        raise InputError("There is nothing to compare with.", "Give --labels FILE, --data DIR, or both.")
    report = validate(labels, data, limit, seed)
    if json_file is not None:
        write_report(report, json_file)
    print_report(report)


def validate(labels: Path | None, data: Path | None, limit: int | None, seed: int) -> Report:
    """The report of a comparison; arguments as of the command.

    Raises:
        DataError: a file is missing or a row is damaged. ServiceError: a model judged nothing.
    """
    import time

    from agent.sessions import Home
    from agent.settings import load_settings, silence_telemetry
    from evals.agent_runs import evaluation_encoders
    from evals.contract import Report, TaskContext
    from evals.datasets.judged_labels import read_labels
    from evals.datasets.liveqa import read_graded
    from evals.judges.opening import open_judge
    from evals.judges.validation import run_validation
    from evals.runner import progress

    started = time.perf_counter()
    rows = read_labels(labels) if labels is not None else []
    graded = read_graded(data) if data is not None else []
    settings = load_settings()
    silence_telemetry(settings)
    home = Home(settings.home).prepare()
    folder = data or (labels.parent if labels is not None else Path())
    context = TaskContext(folder, limit or max(len(graded), 1), seed, settings, progress)
    plain, cached = evaluation_encoders(settings, home)
    try:
        judge = open_judge(settings, home, cached)
        answerability = answerability_judge(rows, context, home, cached)
        figures = run_validation(rows, context.sample(graded), judge, context, answerability)
    finally:
        cached.close()
        plain.close()
    return Report(
        task="judges",
        settings={"judge": judge.name, "answerability": answerability.name, "limit": limit, "seed": seed}
        | ({"not_run": context.not_run} if context.not_run else {}),
        data_sha256=_digest(labels, data),
        seconds=round(time.perf_counter() - started, 3),
        figures=tuple(figures),
    )


def answerability_judge(
    rows: list[LabelledText], context: TaskContext, home: Home, encoder: Encoder
) -> AnswerabilityJudge:
    """Who judges whether a document answers: the model of the settings, else a search over the labelled documents."""
    from agent.models import open_models
    from evals.judges.validation import documents_of
    from tools.questions.by_model import JudgeByModel
    from tools.questions.collection import Collection
    from tools.questions.round_trip import RoundTrip

    models = open_models(context.settings, home)
    if models is not None:
        return JudgeByModel(models.of("questions"), encoder)
    collection = Collection(documents_of(rows))
    collection.embed(encoder)
    return RoundTrip(collection, encoder)


def _digest(labels: Path | None, data: Path | None) -> str:
    """sha256 over what was read."""
    import hashlib

    from evals.datasets.liveqa import LIVEQA, LIVEQA_ANSWERS
    from evals.runner import data_sha256

    parts = [data_sha256(labels.parent, (labels.name,))] if labels is not None else []
    parts += [data_sha256(data, (LIVEQA, LIVEQA_ANSWERS))] if data is not None else []
    return parts[0] if len(parts) == 1 else hashlib.sha256("".join(parts).encode()).hexdigest()
