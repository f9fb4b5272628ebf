"""Plain English wordings of phenotypes, our own, beside the ontology's synonyms."""

from __future__ import annotations

import hashlib
from pathlib import Path

from prompts.errors import DataError
from tools.yaml_files import read_yaml

LAY_WORDS = Path(__file__).parent / "lay_words.yaml"
ADVICE = "Install the program again."


def read_lay_words(path: Path = LAY_WORDS) -> dict[str, list[str]]:
    """Names of terms -> wordings; raises DataError when the file cannot be used."""
    import yaml

    try:
        entries = read_yaml(path)
    except (OSError, yaml.YAMLError) as error:
        raise DataError(f"{path.name} cannot be read.", ADVICE) from error
    if not isinstance(entries, dict):
        raise DataError(f"{path.name} is no table of wordings.", ADVICE)
    return {str(name): [str(text) for text in texts] for name, texts in entries.items()}


def stamp(path: Path = LAY_WORDS) -> str:
    """Checksum of the wordings, so that a change of them is seen when the compiled form is loaded."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"{path.name} cannot be read.", ADVICE) from error
