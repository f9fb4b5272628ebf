"""DDXPlus: synthetic patients as codes and as fixed texts, and its conditions as diseases of our graph.

Source: Fansi Tchango et al. 2022, "DDXPlus: a new dataset for automatic medical diagnosis". Format: the repository
mila-iqia/ddxplus (README.md, "Dataset documentation" and "Patient description"; code/convert_DDXPlus_to_texts.py):
release_evidences.json has name, data type (B binary, C categorical, M multi-choice), possible values and their
meanings; release_conditions.json the conditions with their symptoms and antecedents; release_train|validate|
test_patients are CSV, zipped as released or unpacked, with columns AGE, DIFFERENTIAL_DIAGNOSIS, SEX, PATHOLOGY,
EVIDENCES, INITIAL_EVIDENCE; the two lists are Python literals. The member of a released archive has no suffix. A
patient's evidence is ``E_91`` or, with a value, ``E_55_@_V_14``, and is looked up in the release's own codebook.

The statements (``statements_plain.json``, written for this project) give each evidence its words: a sentence by its
code, with ``{value}`` for the words of its values (``_values``; none for a value that is not worth saying), or a whole
sentence for one value (``_sentences``).
"""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from evals.datasets.releases import (
    Conversion,
    Converted,
    Found,
    Member,
    Original,
    Problem,
    Record,
    csv_entries,
    read_files,
)
from evals.datasets.rows import RESOURCES, Row, checked, read_jsonl, read_object, read_yaml_rows
from prompts.errors import DataError
from tools.evidence import Frozen
from tools.text.sentences import sentences

FOLDER = "ddxplus"
TEXTS = f"{FOLDER}/patients_dev_text.jsonl"
CODES = f"{FOLDER}/patients_dev.jsonl"
EVIDENCES = f"{FOLDER}/release_evidences.json"
RELEASED_CONDITIONS = f"{FOLDER}/release_conditions.json"
STATEMENTS = f"{FOLDER}/statements_plain.json"
LAY = RESOURCES / "ddxplus_lay.yaml"
CONDITIONS = Path(__file__).parent / "ddxplus_conditions.yaml"
AT = "_@_"  # between the code of an evidence and its value
VALUE = "{value}"
LEVELS = (0, 25, 50, 75)  # percent of the statements taken away; of the issue that asked for the figures
COLUMNS = frozenset({"AGE", "SEX", "PATHOLOGY", "EVIDENCES", "INITIAL_EVIDENCE", "DIFFERENTIAL_DIAGNOSIS"})
PATIENTS = re.compile(r"(?:^|/)release_(train|validate|test)_patients(?:\.csv|\.zip)?$")
PLAIN = re.compile(
    r"""^\[[^"\\]*\]$"""
)  # ours: no apostrophe in a name, so that it is JSON but for its quotes; ten times faster
LONGEST = 20_000  # ours: characters of a list; the longest of 36 evidences and 49 conditions is below 5,000
TOLERANCE = 0.01  # ours: how far the probabilities of a differential may be from 1 in all
ADULT = 18  # of the statements' wording: a woman or a man from this age on
VOWELS = frozenset({8, 11, 18, *range(80, 90)})  # ages that are spoken with a vowel first: an 8-year-old
COMPARED = "like "  # how a comparison begins; it is told last
IN_BRACKETS = re.compile(r"\s*\(.*?\)")


# The codes.


class Evidence(Row):
    """An evidence of the release. ``values``: the codes that it may have, as text."""

    name: str = Field(min_length=1)
    antecedent: bool = Field(alias="is_antecedent")
    kind: Literal["B", "C", "M"] = Field(alias="data_type")
    values: tuple[str | int, ...] = Field(alias="possible-values")


class Codebook:
    """The evidences and conditions of a release."""

    def __init__(self, evidences: dict[str, Evidence], conditions: frozenset[str]) -> None:
        self.evidences, self.conditions = evidences, conditions
        self._values = {name: frozenset(map(str, evidence.values)) for name, evidence in evidences.items()}

    @classmethod
    def read(cls, folder: Path) -> Codebook:
        """The codebook of a release's folder; raises DataError when a file is missing or damaged."""
        file = folder / Path(EVIDENCES).name
        entries = read_object(file).items()
        return cls(
            {name: checked(f"{file.name}, {name}", entry, Evidence) for name, entry in entries},
            frozenset(read_object(folder / Path(RELEASED_CONDITIONS).name)),
        )

    def find(self, code: str) -> Evidence:
        """The evidence of a patient's code.

        Raises:
            ValueError: an evidence or a value that the release does not have, a value of a binary evidence, or none of
                another.
        """
        name, at, value = code.partition(AT)
        evidence = self.evidences.get(name)
        if evidence is None:
            raise ValueError(f"{name!r} is no evidence of the release")
        if evidence.kind == "B" and at:
            raise ValueError(f"{name} is binary and has no value")
        if evidence.kind != "B" and value not in self._values[name]:
            raise ValueError(f"{value!r} is no value of {name}" if at else f"{name} lacks its value")
        return evidence


# The patients, in the project's form.


class TextPatient(Row):
    """A patient in the first person. ``names_gold``: a history item of the text names the gold diagnosis."""

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    initial_text: str
    pathology: str = Field(min_length=1)
    age: int = Field(ge=0, le=130)
    sex: Literal["F", "M"]
    names_gold: bool


class CodedPatient(Record):
    """The same patient as the release codes it; of a release ``id`` is split and number of the row.

    Attributes:
        differential: condition and probability, as the engine gave it.
    """

    age: int = Field(alias="AGE", ge=0, le=130)
    sex: Literal["F", "M"] = Field(alias="SEX")
    pathology: str = Field(alias="PATHOLOGY", min_length=1)
    evidences: tuple[str, ...] = Field(alias="EVIDENCES", min_length=1)
    initial_evidence: str = Field(alias="INITIAL_EVIDENCE")
    differential: tuple[tuple[str, float], ...] = Field(alias="DIFFERENTIAL_DIAGNOSIS")
    split: Literal["train", "validate", "test"]

    @field_validator("evidences", "differential", mode="before")
    @classmethod
    def _literal(cls, cell: object) -> object:
        if not isinstance(cell, str):
            return cell
        if len(cell) > LONGEST:
            raise ValueError(f"the list has more than {LONGEST} characters")
        try:
            return json.loads(cell.replace("'", '"')) if PLAIN.match(cell) else ast.literal_eval(cell)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise ValueError("no list as Python writes it") from None

    @model_validator(mode="after")
    def _of_the_release(self, info: ValidationInfo) -> Self:
        """What the codebook of a release asks, where it is given."""
        if not isinstance(info.context, Codebook):
            return self
        if self.initial_evidence not in self.evidences:
            raise ValueError("the initial evidence is none of the evidences")
        if self.differential and abs(sum(p for _, p in self.differential) - 1) > TOLERANCE:
            raise ValueError("the probabilities of the differential do not add up to 1")
        for code in self.evidences:
            info.context.find(code)
        unknown = {self.pathology, *(name for name, _ in self.differential)} - info.context.conditions
        if unknown:
            raise ValueError(f"no condition of the release: {', '.join(sorted(unknown))}")
        return self


class LayPatient(Frozen):
    """A row of the validate split in lay language: the row's id and our own wording of its text."""

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)


class Condition(Frozen):
    """A condition of the release, and the disease of the starter graph that it is."""

    condition: str = Field(min_length=1)
    disease: str = Field(min_length=1)


def read_texts(data: Path) -> list[TextPatient]:
    """Every patient text; raises DataError with the row's number for a damaged one."""
    return read_jsonl(data / TEXTS, TextPatient)


def read_codes(data: Path) -> dict[str, CodedPatient]:
    """Every coded patient by id."""
    return {p.id: p for p in read_jsonl(data / CODES, CodedPatient)}


def read_lay() -> list[LayPatient]:
    """The rows that we reworded."""
    return read_yaml_rows(LAY, LayPatient)


def read_conditions() -> dict[str, str]:
    """The release's 49 conditions -> ids of the starter graph's diseases."""
    return {c.condition: c.disease for c in read_yaml_rows(CONDITIONS, Condition)}


def validate_texts(data: Path) -> list[TextPatient]:
    """The patient texts of the release's validate split; raises DataError as `split_texts` does."""
    return split_texts(data, "validate")


def split_texts(data: Path, split: Literal["train", "validate"]) -> list[TextPatient]:
    """The patient texts of a split of the release.

    Raises:
        DataError: when a text has no coded patient, or another pathology than it.
    """
    codes = read_codes(data)
    rows = read_texts(data)
    for number, row in enumerate(rows, start=1):
        coded = codes.get(row.id)
        if coded is None or coded.pathology != row.pathology:
            raise DataError(
                f"{Path(TEXTS).name}, row {number}: {row.id} does not agree with {Path(CODES).name}.",
                "Take both files from the same release of the data.",
            )
    chosen = [row for row in rows if codes[row.id].split == split]
    if not chosen:
        raise DataError(f"{Path(TEXTS).name} has no row of the {split} split.", "Give the whole file.")
    return chosen


def degraded(row: TextPatient, percent: int, seed: int) -> str:
    """The patient's text without ``percent`` of the statements that may go, the others in their order.

    A statement is a sentence of the fixed text, which is what DDXPlus codes as one evidence. The first sentence, which
    says age and sex, and the first complaint always stay. What is taken at a higher level includes all that a lower one
    takes.

    Args:
        percent: 0 to 100; half a statement is rounded as Python rounds.
        seed: with the row's id it decides which statements go first.
    """
    told = [s.of(row.text) for s in sentences(row.text)]
    first = {s.of(row.initial_text) for s in sentences(row.initial_text)}
    loose = [i for i, sentence in enumerate(told) if i > 0 and sentence not in first]
    gone = round(percent / 100 * len(loose))
    random.Random(f"{seed} {row.id}").shuffle(loose)  # noqa: S311
    return row.text if not gone else " ".join(s for i, s in enumerate(told) if i not in loose[:gone])


# The words of the codes.


def read_templates(data: Path) -> dict[str, Any]:
    """The statements as their file has them; raises DataError when it is missing or damaged."""
    return read_object(data / STATEMENTS)


def statement_of(templates: Mapping[str, Any], evidence: str) -> str:
    """The sentence of one evidence of a row (``E_55_@_V_14``, ``E_56_@_7``); "" when nothing is worth saying."""
    name, _, value = evidence.partition(AT)
    return _sentence(templates, name, [value] if value else [])


def statements(data: Path) -> dict[str, str]:
    """Each evidence of the release, with its value where it has one -> its statement in plain words.

    Raises:
        DataError: a file is damaged, or they do not belong together.
    """
    templates, release = read_templates(data), read_object(data / EVIDENCES)
    try:
        valued = {code: [f"{code}{AT}{v}" for v in e["value_meaning"]] for code, e in release.items()}
        keys = (key for code in release for key in (valued[code] if VALUE in templates[code] else [code]))
        return {key: said for key in keys if (said := statement_of(templates, key))}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataError(
            f"{STATEMENTS} does not fit {EVIDENCES}: {error}.", "Take both from the same release."
        ) from None


class Wording:
    """Statements and the codebook that they belong to: a coded patient as the fixed text in the first person."""

    def __init__(self, templates: Mapping[str, Any], book: Codebook) -> None:
        self._templates, self._book = templates, book

    def text(self, age: int, sex: str, evidences: Sequence[str], initial: str) -> str:
        """The whole text: who, the initial evidence, the others in the row's order, several values in one sentence.

        Raises:
            KeyError: the statements lack a code.
        """
        told = (_sentence(self._templates, *each) for each in _grouped(evidences, initial).items())
        return " ".join(part for part in (_who(age, sex), *told) if part)

    def initial(self, evidences: Sequence[str], initial: str) -> str:
        """What the patient says first."""
        return _sentence(self._templates, *next(iter(_grouped(evidences, initial).items())))

    def names_gold(self, evidences: Sequence[str], pathology: str) -> bool:
        """Whether the sentence of an antecedent holds the diagnosis as a word, what stands in brackets left out."""
        name = re.compile(rf"\b{re.escape(IN_BRACKETS.sub('', pathology))}s?\b", re.IGNORECASE)
        history = [e for e in evidences if self._book.find(e).antecedent]
        return any(name.search(_sentence(self._templates, *each)) for each in _grouped(history, "").items())


def _sentence(templates: Mapping[str, Any], name: str, values: Sequence[str]) -> str:
    template = str(templates[name])
    if VALUE not in template:
        return template
    whole = [templates["_sentences"].get(f"{name}{AT}{value}") for value in values]
    single = [
        templates["_values"][value] if value.startswith("V_") else str(int(value))
        for value, sentence in zip(values, whole, strict=True)
        if sentence is None
    ]
    words = sorted((w for w in dict.fromkeys(single) if w is not None), key=lambda w: w.startswith(COMPARED))
    listed = " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
    return " ".join([*([template.replace(VALUE, listed)] if words else []), *(s for s in whole if s is not None)])


def _grouped(evidences: Sequence[str], initial: str) -> dict[str, list[str]]:
    """The codes with their values, the initial one first."""
    first = initial.partition(AT)[0]
    grouped: dict[str, list[str]] = {first: []} if first else {}
    for evidence in evidences:
        name, _, value = evidence.partition(AT)
        grouped.setdefault(name, []).extend([value] if value else [])
    return grouped


def _who(age: int, sex: str) -> str:
    girl = sex == "F"
    if age == 0:
        return f"I am a baby {'girl' if girl else 'boy'} less than a year old."
    noun = ("woman" if girl else "man") if age >= ADULT else ("girl" if girl else "boy")
    return f"I am {'an' if age in VOWELS else 'a'} {age}-year-old {noun}."


# The release.


def read(path: Path) -> Found:
    """The patients of a release's folder, or of one of its files with the codebook beside it."""
    try:
        book = Codebook.read(path if path.is_dir() else path.parent)
    except DataError as error:
        yield Problem(path.name, 0, error.what)
        return

    def found(member: Member) -> Found:
        if member.name.endswith(".zip"):
            archive = path / member.name
            inner = read_files(archive, is_patients, lambda m: _patients(m, _split(m.name, archive.name), book))
            yield from (one._replace(file=f"{archive.name}/{one.file}") for one in inner)
        else:
            yield from _patients(member, _split(member.name, path.name), book)

    yield from read_files(path, is_patients, found)


def convert(records: Iterator[CodedPatient], conversion: Conversion) -> Converted:
    """The patients as codes and, where the statements lie beside the release, as texts: what `differential` reads."""
    folder = conversion.source if conversion.source.is_dir() else conversion.source.parent
    plain = folder / Path(STATEMENTS).name
    wording = Wording(read_object(plain), Codebook.read(folder)) if plain.is_file() else None
    for row in records:
        made = row.model_dump(mode="json", by_alias=True)
        yield CODES, made | {"source": f"release_{row.split}_patients", "recoded_from_french": False}
        if wording is None:
            conversion.leave_out(f"the text of a patient: {plain.name} does not lie beside the release")
        else:
            yield TEXTS, _told(row, wording)


def is_patients(name: str) -> bool:
    """Whether a name is that of a file of patients."""
    return PATIENTS.search(name) is not None


def _patients(member: Member, split: str, book: Codebook) -> Found:
    return csv_entries(
        member, COLUMNS, lambda e: e.placed(CodedPatient, context=book, id=f"{split}-{e.keys[0]}", split=split)
    )


def _split(*names: str) -> str:
    """The split that the first of the names tells; "" where none does, which is a problem of every row."""
    return next((match[1] for match in map(PATIENTS.search, names) if match), "")


def _told(row: CodedPatient, wording: Wording) -> dict[str, Any]:
    try:
        return {
            "id": row.id, "text": wording.text(row.age, row.sex, row.evidences, row.initial_evidence),
            "initial_text": wording.initial(row.evidences, row.initial_evidence), "pathology": row.pathology,
            "age": row.age, "sex": row.sex, "names_gold": wording.names_gold(row.evidences, row.pathology),
        }  # fmt: skip
    except KeyError as error:
        raise DataError(
            f"{Path(STATEMENTS).name} has no words for {error}.", f"Take the one that fits {Path(EVIDENCES).name}."
        ) from None


ORIGINAL = Original(
    "ddxplus",
    f"release_*_patients(.zip|.csv), with {Path(EVIDENCES).name} and {Path(RELEASED_CONDITIONS).name} beside them",
    read,
    convert,
    tuple((Path(name).name, name) for name in (EVIDENCES, RELEASED_CONDITIONS, STATEMENTS)),
)
