"""The command `anamnesis icd10`; what it does is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Link diagnoses of a free text to ICD-10: phrase, code, name, score; denied ones are left out."""
    from agent.cli.icd10 import link_text

    link_text(text, setting="strict" if strict else "paper", subdivision=subdivision, chinese=chinese, as_json=as_json)
