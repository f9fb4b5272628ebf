"""`anamnesis icd10`: the diagnoses of a text with their codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent.cli.console import JsonOption, console, open_home, print_json, table
from agent.icd10 import chinese_names, open_linker
from prompts.errors import InputError
from tools.icd10.chinese import ChineseNames
from tools.icd10.contract import Linked
from tools.text.language import HAN

BAD_SHOWN = 5  # ours: rows of the user's table that are told one by one


def icd10(
    text: Annotated[str, typer.Argument(help="Diagnoses, English or Chinese; - reads them from standard input.")],
    strict: Annotated[
        bool, typer.Option("--strict/--paper", help="Our setting, or ICA-RAG's threshold of 0.5.")
    ] = True,
    subdivision: Annotated[bool, typer.Option("--subdivision", help="Codes such as E11.2, not E11.")] = False,
    chinese: Annotated[
        Path | None,
        typer.Option("--zh", help="A table of Chinese names (CSV: code,name_zh); else the one that is set."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """`anamnesis icd10`. Raises InputError for an empty or too long text, or a bad table."""
    settings, home = open_home(**({} if chinese is None else {"icd10_zh": chinese}))
    text = sys.stdin.read() if text == "-" else text
    if not text.strip():
        raise InputError("The text is empty.", "Give diagnoses, such as 'pneumonia and atrial fibrillation'.")
    if len(text) > settings.max_characters:
        raise InputError(
            f"The text has {len(text)} characters; at most {settings.max_characters} are taken.",
            "Shorten it, or set ANAMNESIS_MAX_CHARACTERS.",
        )
    names = chinese_names(settings, home)
    linker = open_linker(settings, home, "strict" if strict else "paper", names)
    found = linker.link(text, "subdivision" if subdivision else "category")
    _tell_table(text, names)
    if as_json:
        print_json([linked.model_dump(mode="json") for linked in found])
    else:
        _show(found)


def _tell_table(text: str, names: ChineseNames | None) -> None:
    """On standard error: that a table is missing for a Chinese text, and the rows of it that were left out."""
    if names is None:
        if HAN.search(text):
            sys.stderr.write(
                "anamnesis: no table of Chinese names is set, so few Chinese diagnoses are known. "
                "Give one with --zh or ANAMNESIS_ICD10_ZH.\n"
            )
        return
    for bad in names.bad[:BAD_SHOWN]:
        sys.stderr.write(f"anamnesis: row {bad.row} of the table was left out: {bad.what}.\n")
    if len(names.bad) > BAD_SHOWN:
        sys.stderr.write(f"anamnesis: {len(names.bad) - BAD_SHOWN} more rows of the table were left out.\n")


def _show(found: list[Linked]) -> None:
    if not found:
        console().print("No diagnosis is stated.")
        return
    rows = []
    for phrase, entity in ((linked.phrase, linked.entity) for linked in found):
        marks = ", ".join(m for m, said in (("suspected", phrase.suspected), ("past", phrase.past)) if said)
        cells = ("-", "not linked", "") if entity is None else (entity.code, entity.name, f"{entity.score:.2f}")
        rows.append((phrase.text, *cells, marks))
    console().print(table(("Phrase", "Code", "Name", "Score", ""), rows, box=None, pad_edge=False))
