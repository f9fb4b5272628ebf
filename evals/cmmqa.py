"""CMMQA made anew: cancer questions of HealthSearchQA and MIRAGE told as clinical narratives (after CoMeta's).

`anamnesis eval build-cmmqa` reads both collections, takes what names a cancer, tells each question, leaves out what
loses its answer, and goes on where it was ended. Cancer terms are headings of MeSH below Neoplasms with the words that
stand for them: the shipped list (``neoplasms.yaml``) is ours; with NLM's descriptor file every heading of tree C04 and
its entry terms are taken instead, inverted ones ("Neoplasms, Breast") in their natural order too.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol, Self

from pydantic import Field, model_validator

from evals.datasets import healthsearchqa as healthsearchqa_release
from evals.datasets import mirage as mirage_release
from evals.datasets.healthsearchqa import SearchedQuestion
from evals.datasets.mirage import ExamQuestion
from evals.datasets.releases import Problem
from evals.datasets.rows import RESOURCES, read_jsonl, read_yaml
from graphs.verification.support import numbers
from prompts.errors import DataError, InputError
from prompts.language_model import LanguageModel
from prompts.shown import Lenient, Text
from prompts.templates import load_prompt
from tools.evidence import Frozen
from tools.files import locked, write_atomic
from tools.knowledge_graph.building.build import Journal
from tools.text.tokens import tokens

CMMQA = "questions/cmmqa.jsonl"
LIST = RESOURCES / "neoplasms.yaml"
TREE = "C04"  # MeSH: Neoplasms
WORD = re.compile(r"[^\W_]+(?:'s)?")
ACRONYM = re.compile(r"^[A-Z]{2,5}$")
AT_ONCE = 8  # ours: questions told at once; a kill loses these at most
STEP = "narrative"  # of the journal: the one thing that it keeps
JOURNAL = ".journal"  # beside the file; it is there while the work is not done
LEAST = 0.6  # ours: share of the question's words that a narrative keeps; a story rewords the rest
TEMPLATE = "template"
NO_MODEL = "No language model is set (ANAMNESIS_MODEL): the questions stand in a frame of ours, not in a narrative."
NO_TERM = "no cancer term"
TWICE = "a question that stood before"
NOTHING, NO_QUESTION, NUMBERS, WORDS, GIVEN_AWAY, OTHER_ANSWER = (
    "the model wrote no narrative",
    "the narrative asks nothing",
    "a figure of the question is missing",
    "words of the question are missing",
    "the narrative names the right option, the question does not",
    "the model finds that the right option is no longer the answer",
)
Say = Callable[[str], None]


@dataclass(frozen=True)
class SourceQuestion:
    """A question of a collection. ``answer`` is a letter of ``options``; both are empty for an open one."""

    id: str
    source: str
    question: str
    options: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""
    headings: tuple[str, ...] = ()

    @property
    def listed(self) -> str:
        """The options, a line each."""
        return "\n".join(f"{label}. {text}" for label, text in self.options.items()) or "none"


class NarrativeQuestion(Frozen):
    """A question told as a narrative.

    Attributes:
        source: the collection that it is from.
        question: as it was; narrative: as it is asked.
        writer: the model and prompt that told it, or ``template``.
        options, answer: of a multiple-choice question; empty for an open one.
        headings: of MeSH, by which it was chosen.
    """

    id: str = Field(min_length=1)
    source: Literal["healthsearchqa", "medqa", "medmcqa", "mmlu", "pubmedqa", "bioasq"]
    question: str = Field(min_length=1)
    narrative: str = Field(min_length=1)
    writer: str = Field(min_length=1)
    options: dict[str, str] = Field(default_factory=dict)
    answer: str = ""
    headings: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.answer not in self.options and (self.answer or self.options):
            raise ValueError(f"the answer {self.answer!r} is none of the options")
        return self


def read_cmmqa(data: Path) -> list[NarrativeQuestion]:
    """All questions, open ones among them; raises DataError as `read_jsonl` does."""
    return read_jsonl(data / CMMQA, NarrativeQuestion)


class CancerTerms:
    """Finds the headings that a text names.

    Args:
        words: heading -> the words that stand for it.
    """

    def __init__(self, words: Mapping[str, Iterable[str]]) -> None:
        self._headings: dict[tuple[str, ...], str] = {}
        self._acronyms: dict[str, str] = {}
        for heading, own in words.items():
            for word in own:
                if ACRONYM.match(word):
                    self._acronyms.setdefault(word, heading)
                elif told := _stems(word):
                    self._headings.setdefault(told, heading)
        self._longest = max((len(told) for told in self._headings), default=1)

    def __len__(self) -> int:
        return len(self._headings) + len(self._acronyms)

    def found_in(self, text: str) -> tuple[str, ...]:
        """The headings that a text names, each once, in order of the text; an acronym only in capitals."""
        written = WORD.findall(text)
        told = [_stem(word) for word in written]
        out: dict[str, None] = {}
        for at, word in enumerate(written):
            if word in self._acronyms:
                out[self._acronyms[word]] = None
            for size in range(min(self._longest, len(told) - at), 0, -1):
                heading = self._headings.get(tuple(told[at : at + size]))
                if heading is not None:
                    out[heading] = None
                    break
        return tuple(out)


def shipped_terms() -> CancerTerms:
    """The list of this project."""
    return CancerTerms(read_yaml(LIST))


def mesh_terms(path: Path) -> CancerTerms:
    """Every heading below Neoplasms of a descriptor file; raises DataError where it cannot be read or has none."""
    from tools.mirror.mesh import read_descriptors

    words = {
        d.name: [natural(term) for term in (d.name, *d.entries)]
        for d in read_descriptors(path)
        if any(number.split(".")[0] == TREE for number in d.numbers)
    }
    if not words:
        raise DataError(f"{path.name} has no heading below {TREE}.", "Give NLM's descriptor file, as desc2026.xml.")
    return CancerTerms(words)


def natural(term: str) -> str:
    """An inverted term in its natural order: "Carcinoma, Renal Cell" as "Renal Cell Carcinoma"."""
    return " ".join(reversed(term.split(", ")))


def _stems(text: str) -> tuple[str, ...]:
    return tuple(_stem(word) for word in WORD.findall(text))


def _stem(word: str) -> str:
    """A word in lower case, without a possessive or a plural s."""
    word = word.casefold().removesuffix("'s")
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "is", "us")) else word


class Rewritten(Protocol):
    """Tells questions as narratives. ``name`` says who, for the rows."""

    name: str

    async def write(self, question: SourceQuestion) -> str:
        """The narrative; "" for none. Raises ServiceError when who writes fails."""

    async def same(self, question: SourceQuestion, narrative: str) -> bool:
        """Whether the narrative of a multiple-choice question still has its answer."""


class ByTemplate:
    """A frame around the question as it stands: no narrative of anybody, and told as such by its name."""

    name = TEMPLATE

    async def write(self, question: SourceQuestion) -> str:
        """The question in the frame."""
        about = question.headings[0].lower() if question.headings else "cancer"
        return (
            f"Somebody in my family has been worried about {about} for some weeks, and we have talked about it a lot "
            f"at home. I should like to understand it better before the next appointment. {question.question}"
        )

    async def same(self, question: SourceQuestion, narrative: str) -> bool:
        """Whether the question stands in it."""
        return question.question in narrative


class ByModel:
    """Written and judged by a language model in the role ``questions``."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = f"{model.name} {load_prompt('narrative').id} {load_prompt('narrative_check').id}"

    async def write(self, question: SourceQuestion) -> str:
        """The model's narrative."""
        reply, _ = await self._model.structured(
            "narrative", NarrativeReply, question=question.question, options=question.listed
        )
        return " ".join(reply.narrative.split())

    async def same(self, question: SourceQuestion, narrative: str) -> bool:
        """The model's judgement."""
        reply, _ = await self._model.structured(
            "narrative_check",
            NarrativeCheckReply,
            question=question.question,
            narrative=narrative,
            options=question.listed,
            right=f"{question.answer}. {question.options[question.answer]}",
        )
        return reply.same


async def told(question: SourceQuestion, writer: Rewritten) -> tuple[str, str]:
    """The narrative, and why it loses the answer; "" where it does not."""
    narrative = await writer.write(question)
    wrong = lost(question, narrative)
    if not wrong and question.options and not await writer.same(question, narrative):
        wrong = OTHER_ANSWER
    return narrative, wrong


def lost(question: SourceQuestion, narrative: str) -> str:
    """What a narrative loses, as far as its words tell; "" for nothing."""
    if not narrative:
        return NOTHING
    if "?" in question.question and not {"?", "？"} & set(narrative):
        return NO_QUESTION
    if numbers(question.question) - numbers(narrative):
        return NUMBERS
    wanted = set(tokens(question.question))
    if len(wanted & set(tokens(narrative))) < LEAST * len(wanted):
        return WORDS
    right = _words(question.options.get(question.answer, ""))
    if right and right in _words(narrative) and right not in _words(question.question):
        return GIVEN_AWAY
    return ""


def _words(text: str) -> str:
    """Words alone, with a space around each, so that no word is found inside another."""
    words = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    return f" {' '.join(words)} " if words else ""


@dataclass
class Built:
    """What a build came to: rows written, of these with options, taken from the journal, and what was left out."""

    rows: int = 0
    choices: int = 0
    kept: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def source_questions(healthsearchqa: Path | None, mirage: Path | None, built: Built) -> Iterator[SourceQuestion]:
    """The questions of both files, in the formats of their releases; what cannot be read is a problem.

    Raises:
        InputError: no file is given, or there is no such file.
    """
    readers = ((healthsearchqa, healthsearchqa_release.read), (mirage, mirage_release.read))
    given = [(path, read) for path, read in readers if path is not None]
    if not given:
        raise InputError("No questions are given.", "Name a file with --healthsearchqa or --mirage.")
    for path, read in given:
        if not path.exists():
            raise InputError(f"There is no {path}.", "`anamnesis eval data` says where it is to be had.")
        for found in read(path):
            if isinstance(found, Problem):
                built.problems.append(str(found))
            elif isinstance(row := found.row, ExamQuestion):
                yield SourceQuestion(f"{row.dataset}-{row.id}", row.dataset, row.question, row.options, row.answer)
            elif isinstance(row, SearchedQuestion):
                yield SourceQuestion(f"hsqa-{row.id}", "healthsearchqa", row.question)


def chosen(questions: Iterable[SourceQuestion], terms: CancerTerms, built: Built) -> list[SourceQuestion]:
    """Those that name a cancer in the question or in the right option, each wording once."""
    out: dict[str, SourceQuestion] = {}
    for each in questions:
        headings = terms.found_in(f"{each.question} {each.options.get(each.answer, '')}")
        if not headings:
            built.left_out[NO_TERM] += 1
        elif (key := f"{each.question.casefold()} {each.listed}") in out:
            built.left_out[TWICE] += 1
        else:
            out[key] = replace(each, headings=headings)
    return list(out.values())


def build(questions: Sequence[SourceQuestion], writer: Rewritten, out: Path, built: Built, say: Say) -> Built:
    """Tell every question and write the file; what was told before by the same writer is taken from the journal.

    Raises:
        InputError: the file is there already, or nothing is left to write.
        ServiceError: the model failed; what was told so far is kept, and the next run goes on there.
    """
    if out.exists():
        raise InputError(f"{out} is there already.", "Give another name with --out, or move it away.")
    out.parent.mkdir(parents=True, exist_ok=True)
    path = out.with_name(out.name + JOURNAL)
    with locked(path), Journal(path) as journal:
        open_ = [q for q in questions if journal.get(STEP, _made_of(q, writer)) is None]
        built.kept = len(questions) - len(open_)
        if built.kept:
            say(f"{built.kept:,} questions were told before and are kept.")
        asyncio.run(_tell(open_, writer, journal, say))
        rows: list[NarrativeQuestion] = []
        for question in questions:
            narrative, wrong = journal.get(STEP, _made_of(question, writer)) or ("", NOTHING)
            if wrong:
                built.left_out[wrong] += 1
            else:
                more = {"narrative": narrative, "writer": writer.name}
                rows.append(NarrativeQuestion.model_validate(asdict(question) | more))
        if not rows:
            raise InputError("No question is left to write.", "Give more questions, or other terms with --mesh.")
        built.rows, built.choices = len(rows), sum(bool(row.options) for row in rows)
        write_atomic(out, "".join(f"{row.model_dump_json()}\n" for row in rows).encode())
        path.unlink(missing_ok=True)
    return built


async def _tell(questions: Sequence[SourceQuestion], writer: Rewritten, journal: Journal, say: Say) -> None:
    """Each into the journal as soon as its batch is told; one that fails keeps those of it that were told."""
    for start in range(0, len(questions), AT_ONCE):
        group = questions[start : start + AT_ONCE]
        found = await asyncio.gather(*(told(q, writer) for q in group), return_exceptions=True)
        for question, outcome in zip(group, found, strict=True):
            if not isinstance(outcome, BaseException):
                journal.put(STEP, _made_of(question, writer), outcome)
        for outcome in found:
            if isinstance(outcome, BaseException):
                raise outcome
        say(f"{start + len(group):,} of {len(questions):,} told")


def _made_of(question: SourceQuestion, writer: Rewritten) -> list[str]:
    """What a narrative was made of: another text, other options, another model or prompt make another one."""
    return [writer.name, question.id, question.question, question.listed, question.answer]


# The shapes of a model's replies when a question is told as a narrative (`narrative.md`, `narrative_check.md`).


class NarrativeReply(Lenient):
    """The narrative; "" where none keeps what the answer needs."""

    narrative: Text


class NarrativeCheckReply(Lenient):
    """Whether the narrative has the same answer, and why."""

    same: bool
    reason: Text = ""
