"""`anamnesis dev bench`: each benchmark is a file of its own, imported when it is asked for.

A file's ``measure`` takes the options and gives figures, which are told here; one that tells more has a ``command``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from evals.commands import JsonFile

BENCHMARKS = {
    "backends": "Build one collection in the local index and in Milvus, and compare results and time (10 minutes).",
    "corpus": "Build a collection by both engines, and kill their drivers (a million: over an hour, 12 GB).",
    "faults": "Strike every role with every fault of a model or its server (10 minutes).",
    "growth": "Build and ask made-up collections of growing size (up to a million: 40 minutes, 10 GB meanwhile).",
    "house": "Print how large the code is, and how much of it a turn runs through, as Markdown (from a checkout).",
    "knowledge": "Import thousands of drug labels made from real ones, and kill it in the middle (5,000: 10 minutes).",
    "mirror": "Import records, made up or of the evaluations, and ask (a million: about 20 minutes, 8 GB of disk).",
    "model": "Measure the path by a language model at a server that plays every role (3 minutes).",
    "overhead": "Measure what a trace, telemetry or an Inspect log adds to a local run, by turns (5 minutes).",
    "page": "Open the page cold in Chromium: first content, keys, bytes; or draw its pictures (2 minutes).",
    "queries": "Fuzz the mirror's query language, guided by coverage (needs the extra `fuzz`).",
    "reading": "Read the longest messages that the door takes: processor seconds of triage and look-up (1 minute).",
    "server": "Measure the server: load, kills, restarts, rates, a long run (an hour; --quick: ten minutes).",
    "shelf": "Ask over thousands of own documents and over none (5,000: ten minutes, most of them to add these).",
    "sizing": "Work out what a site needs, by turns a second and by abstracts, from unit costs.",
    "view": "Count what a reader sees of answers: words above the direct answer, boxes, notices (2 minutes).",
}


class Benchmarks(TyperGroup):
    """The commands by name; the list of them imports none."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names."""
        del ctx
        return list(BENCHMARKS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a benchmark, None where there is no such name."""
        del ctx
        if cmd_name not in BENCHMARKS:
            return None
        module = import_module(f"evals.bench.{cmd_name.replace('-', '_')}")
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        command = module.command if hasattr(module, "command") else reported(module.measure)
        app.command(cmd_name, help=BENCHMARKS[cmd_name])(command)
        return typer.main.get_command(app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list in the help."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(BENCHMARKS.items()))


def reported(measure: Callable[..., Any]) -> Callable[..., None]:
    """A command with the parameters of ``measure`` and --json, which tells its figures."""

    def command(json_file: Path | None, **given: Any) -> None:
        from evals.bench.frame import report

        report(measure(**given), json_file)

    signature = inspect.signature(measure, eval_str=True)
    json_file = inspect.Parameter("json_file", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=JsonFile)
    parameters = [*signature.parameters.values(), json_file]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def installation(
    context: typer.Context,
    json_file: JsonFile = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each question is asked.")] = 1,
) -> None:
    """Measure speed, memory and start-up of this installation (about two minutes)."""
    if context.invoked_subcommand is None:
        from evals.bench.frame import report
        from evals.bench.installation import measure

        report(measure(rounds), json_file)


bench = typer.Typer(cls=Benchmarks, rich_markup_mode=None, invoke_without_command=True, callback=installation)
