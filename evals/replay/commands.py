"""The commands `anamnesis eval replay`: questions, run, serve, compare, purge."""

from __future__ import annotations

import contextlib
import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from evals.contract import Figure
from evals.datasets.rows import read_object, read_text
from evals.judges.validation import cohen
from evals.replay.playing import FINAL, OWN
from evals.replay.recording import beside
from evals.scripted.player import SENTENCE
from evals.statistics import share
from graphs.answering.contract import Answer
from prompts.answer import AnswerReply, CaseReply, ChoiceReply, DirectReply
from prompts.errors import DataError, InputError
from prompts.replies import Faulty, parse
from tools.files import write_atomic
from tools.messages import messages

if TYPE_CHECKING:
    from evals.replay.playing import Played
    from evals.replay.recording import Recording


replay = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
SERVED = "served"  # the folder of requests that come from elsewhere

Name = Annotated[str, typer.Argument(help="The run: a folder of this name in the data folder's `replays`.")]
File = Annotated[Path | None, typer.Option("--questions", help="Questions of your own, as a YAML file.")]
ByHand = Annotated[bool, typer.Option("--by-hand", help="Play the model yourself; else the settings' model replies.")]


@replay.command()
def questions(file: File = None) -> None:
    """List the questions of the kit."""
    from rich.table import Table

    from agent.cli.console import WideConsole
    from evals.replay.playing import QUESTIONS, read_questions

    table = Table("id", "kind", "question")
    for row in read_questions(file or QUESTIONS):
        table.add_row(str(row.id), row.kind, row.text.strip())
    WideConsole().print(table)


@replay.command()
def run(
    name: Name,
    only: Annotated[str, typer.Option(help="Ids of questions, as 1-10,15.")] = "",
    by_hand: ByHand = False,
    wait: Annotated[
        float, typer.Option(min=0.5, help="Seconds after which a question that waits for a person is left.")
    ] = 2.0,
    alone: Annotated[
        bool, typer.Option("--alone", help="Ask for the model's own answer to the bare question too.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Answer anew from the replies that are kept.")] = False,
    file: File = None,
) -> None:
    """Ask the questions; what has no reply yet goes to the model, or is written down for you. Run it again to go on."""
    from agent.settings import load_settings, silence_telemetry
    from evals.replay.playing import QUESTIONS, play_questions, read_questions, upstream_of

    chosen = read_questions(file or QUESTIONS, only)
    settings = load_settings()
    silence_telemetry(settings)
    upstream = None if by_hand else upstream_of(settings)
    played = play_questions(_folder(name), chosen, settings, upstream, wait=wait, alone=alone, again=again, told=_tell)
    waits = sum(len(p.waits_for) for p in played)
    typer.echo(f"{sum(p.answered for p in played)} of {len(played)} questions are answered.")
    if waits:
        typer.echo(f"{waits} requests wait for a reply: read each .request.md, write what it asks for, run this again.")
        raise typer.Exit(1)


@replay.command()
def serve(
    name: Name,
    by_hand: ByHand = False,
    port: Annotated[int, typer.Option(min=1024, max=65535, help="The port on this machine.")] = 8089,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the files when it ends; `purge` removes them.")] = False,
) -> None:
    """Serve an OpenAI-compatible endpoint for any client, with replies from files; Ctrl-C ends it."""
    import shutil

    from agent.settings import load_settings
    from evals.replay import playing
    from prompts.errors import ServiceError

    folder = _folder(name) / SERVED
    try:
        playing.serve(folder, None if by_hand else playing.upstream_of(load_settings()), port, _tell_waiting)
    except OSError as error:
        raise ServiceError(
            f"Port {port} cannot be served: {error.strerror}.", "Give another one with --port."
        ) from None
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


@replay.command()
def compare(
    name: Name,
    grades: Annotated[list[Path] | None, typer.Option(help="A reader's filled-in file; once for each reader.")] = None,
    own: Annotated[str, typer.Option(help="The model's own answer: as `written` in the turn, or `alone`.")] = "written",
    seed: Annotated[int, typer.Option(help="Seed of the order.")] = 0,
) -> None:
    """Write blind pairs of the model's own and the final answer; with --grades, score what two readers said of them."""
    from prompts.errors import InputError

    folder = _folder(name)
    if grades:
        for figure in graded(folder, grades):
            interval = f"  ({figure.ci95[0]:.1f} to {figure.ci95[1]:.1f})" if figure.ci95 else ""
            kappa = figure.name.endswith("kappa")
            value = f"{figure.value:.2f}" if kappa else f"{round(figure.value * figure.n / 100)} of {figure.n}"
            typer.echo(f"{figure.name:28} {value}{interval}")
        return
    if own not in ("written", "alone"):
        raise InputError(f"There is no {own} answer of the model.", "Choose written or alone.")
    count = write_pairs(folder, own, seed)  # type: ignore[arg-type]
    typer.echo(f"Pairs: {count}, in {folder / PAIRS}; each reader fills in a copy of {GRADES}. The key is {KEY}.")


@replay.command()
def purge(name: Name) -> None:
    """Delete a run with its sessions and all its files."""
    import shutil

    from agent.loop import run
    from agent.sessions import open_records
    from agent.sessions.ids import UnknownSession
    from agent.settings import load_settings

    folder = _folder(name)
    held = [place.read_text(encoding="utf-8") for place in folder.glob("*/session")]

    async def delete() -> None:
        async with open_records(load_settings()) as records:
            for session in held:
                with contextlib.suppress(UnknownSession):
                    await records.delete(session)

    run(delete())
    shutil.rmtree(folder, ignore_errors=True)
    typer.echo(f"{name} is deleted, with {len(held)} sessions.")


def _folder(name: str) -> Path:
    from agent.sessions import Home
    from agent.settings import load_settings
    from prompts.errors import InputError

    if not NAME.fullmatch(name):
        raise InputError(f"{name} is no name of a run.", "Use letters, digits, - and _.")
    return Home(load_settings().home).prepare().replays / name


def _tell(played: Played) -> None:
    """A question's outcome on a line, and the files that it waits for."""
    state = "answered" if played.answered else f"waits for {len(played.waits_for)}"
    typer.echo(f"{played.question.id:>3} {played.question.kind:9} {state}")
    for place in played.waits_for:
        typer.echo(f"      {place}")
    for wrong in played.unreadable:
        typer.echo(f"      cannot be read: {wrong}")


def _tell_waiting(url: str, recording: Recording) -> None:
    typer.echo(f"{url}: {len(recording.waiting)} requests wait for a reply")
    for place in recording.waiting.values():
        typer.echo(f"  {place}")
    for place, why in recording.unreadable.items():
        typer.echo(f"  {place.name} cannot be read: {why}")


# What a model wrote by itself beside the answer that its reader got: blind pairs for readers, and their grades.
#
# Both sides are shown in one form: what is chosen, an emergency, sentences, each with the quotes that it rests on.
# Labels and notices that only the final answer has are left out, because they would tell which it is.

PAIRS, KEY, GRADES = "pairs.md", "key.json", "grades.csv"
Which = Literal["written", "alone"]
WRITTEN = {schema.__name__: schema for schema in (AnswerReply, CaseReply, ChoiceReply, DirectReply)}
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
    views = [n.text for n in answer.notices if n.code == "model_view"]
    chosen = [answer.verdict.value.value] if answer.verdict else [answer.choice.label] if answer.choice else views
    quotes = [tuple(c.quote for c in s.quoted) for s in answer.statements]
    label = f" {messages(answer.language)['case.not_in_graph']}"
    said = [s.text.replace(label, "") for s in answer.statements]
    return _shown(chosen, [flag.seen for flag in answer.emergency], said, quotes)


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
