"""`anamnesis icd10`: the diagnoses of a text with their codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from agent.cli.render import console
from agent.icd10 import chinese_names, open_linker
from agent.sessions import Home
from agent.settings import load_settings, silence_telemetry
from prompts.errors import InputError
from tools.icd10.chinese import ChineseNames
from tools.icd10.contract import Linked, Setting
from tools.text.language import HAN

BAD_SHOWN = 5  # ours: rows of the user's table that are told one by one


def link_text(text: str, *, setting: Setting, subdivision: bool, chinese: Path | None, as_json: bool) -> None:
    """Print each diagnosis with its code. Raises InputError for an empty or too long text, or a bad table."""
    settings = load_settings(**({} if chinese is None else {"icd10_zh": chinese}))
    silence_telemetry(settings)
    text = sys.stdin.read() if text == "-" else text
    if not text.strip():
        raise InputError("The text is empty.", "Give diagnoses, such as 'pneumonia and atrial fibrillation'.")
    if len(text) > settings.max_characters:
        raise InputError(
            f"The text has {len(text)} characters; at most {settings.max_characters} are taken.",
            "Shorten it, or set ANAMNESIS_MAX_CHARACTERS.",
        )
    home = Home(settings.home).prepare()
    names = chinese_names(settings, home)
    linker = open_linker(settings, home, setting, names)
    found = linker.link(text, "subdivision" if subdivision else "category")
    _tell_table(text, names)
    if as_json:
        rows = [linked.model_dump(mode="json") for linked in found]
        sys.stdout.write(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
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
    table = Table(box=None, pad_edge=False)
    for column in ("Phrase", "Code", "Name", "Score", ""):
        table.add_column(column)
    for phrase, entity in ((linked.phrase, linked.entity) for linked in found):
        marks = ", ".join(m for m, said in (("suspected", phrase.suspected), ("past", phrase.past)) if said)
        cells = ("-", "not linked", "") if entity is None else (entity.code, entity.name, f"{entity.score:.2f}")
        table.add_row(*map(escape, (phrase.text, *cells, marks)))
    console().print(table)
