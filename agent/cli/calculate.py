"""`anamnesis calculate`: a clinical calculator of given inputs, or of what a case tells."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.console import JsonOption, console, print_json, read_message, table, tell
from agent.messages import check_message
from agent.settings import load_settings
from prompts.errors import InputError
from tools.calculators import calculate as calculate_given
from tools.calculators import calculators, read
from tools.calculators.formulas import Given, Value


def calculate(
    name: Annotated[str, typer.Argument(help="The calculator; without it all are listed.")] = "",
    inputs: Annotated[
        list[str] | None, typer.Argument(help="Inputs, as creatinine='140 µmol/L' age=60 sex=male stroke=no.")
    ] = None,
    case: Annotated[
        str, typer.Option("--case", help="A case to read inputs from; - for standard input. Inputs given win.")
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """`anamnesis calculate`: the result, every input, what is missing, and the formula with its source.

    Raises:
        InputError: no such calculator or input, an unknown unit, or a value that cannot be.
    """
    if not name:
        rows = [(key, made.title, ", ".join(made.inputs)) for key, made in calculators().items()]
        if as_json:
            print_json([dict(zip(("name", "title", "inputs"), row, strict=True)) for row in rows])
        else:
            console().print(table(("Name", "Calculates", "Inputs"), rows, box=None, pad_edge=False))
        return
    given: dict[str, Value | Given] = {}
    if case:
        given |= read(name, check_message(read_message(case), load_settings().max_characters, "The case"))
    for said in inputs or []:
        key, equals, value = said.partition("=")
        if not equals:
            raise InputError(f"{said!r} names no input.", "Write name=value, as age=60.")
        given[key.strip()] = value
    found = calculate_given(name, given)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    for line in (*found.lines, *found.about):
        tell(line)
