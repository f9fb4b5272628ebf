"""`anamnesis eval build-cmmqa`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from evals.cmmqa.building import Built
    from evals.cmmqa.rewriting import Rewritten

SHOWN = 10  # ours: problems of the sources that are printed


def register(evaluations: typer.Typer) -> None:
    """Add the command."""
    evaluations.command("build-cmmqa")(build_cmmqa)


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

    from evals.cmmqa.building import Built, build, chosen, source_questions
    from evals.cmmqa.terms import mesh_terms, shipped_terms

    terms = mesh_terms(mesh) if mesh is not None else shipped_terms()
    built = Built()
    questions = chosen(source_questions(healthsearchqa, mirage, built), terms, built)
    if limit is not None and limit < len(questions):
        drawn = sorted(random.Random(seed).sample(range(len(questions)), limit))  # noqa: S311
        built.left_out["not drawn"] += len(questions) - limit
        questions = [questions[at] for at in drawn]
    writer = _writer()
    done = build(questions, writer, out, built, lambda line: typer.echo(line, err=True))
    for line in _outcome(done, out, writer.name):
        typer.echo(line)


def _writer() -> Rewritten:
    """The model of the settings in its role ``questions``; without one the template."""
    from agent.models import open_models
    from agent.sessions import Home
    from agent.settings import load_settings, silence_telemetry
    from evals.cmmqa.rewriting import ByModel, ByTemplate

    settings = load_settings()
    silence_telemetry(settings)
    models = open_models(settings, Home(settings.home).prepare())
    return ByModel(models.of("questions")) if models is not None else ByTemplate()


def _outcome(built: Built, out: Path, writer: str) -> Iterator[str]:
    from evals.cmmqa.rewriting import TEMPLATE

    yield f"{out}: {built.rows:,} questions, {built.choices:,} of them with options, told by {writer}"
    if writer == TEMPLATE:
        yield "No language model is set (ANAMNESIS_MODEL): the questions stand in a frame of ours, not in a narrative."
    for reason, count in built.left_out.items():
        yield f"left out, {count:,} times: {reason}"
    for problem in built.problems[:SHOWN]:
        yield f"problem: {problem}"
    if len(built.problems) > SHOWN:
        yield f"and {len(built.problems) - SHOWN:,} more problems"
