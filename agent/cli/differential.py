"""`anamnesis differential`: a ranking that asks, takes the answer, and ranks again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from agent.assembly import open_encoder
from agent.cli.console import LEAVE, console, open_home, print_json, progress_console
from agent.cli.render import show_edge, show_emergency, show_ranking
from agent.knowledge_graph import open_graph
from agent.messages import check_message
from graphs.answering.presentation import ranked
from graphs.nodes.triage import overturned
from graphs.triage.asked import explained, read_asked
from graphs.triage.contract import AskedQuestion, Aspect, Kind, RedFlag, SessionView, TriageDecision
from graphs.triage.emergency import red_flags
from graphs.triage.facts import changes_in, facts_of, text_of
from graphs.triage.follow_up import says_yes
from graphs.triage.local import TriageLocal
from prompts.errors import InputError
from tools.contract import Differential, Finding, FollowUpQuestion
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.questions import PLACE
from tools.messages import messages
from tools.text.language import language_of

STOP = LEAVE | {"stop", "/stop", "停止", "停", "结束"}


def differential(
    text: Annotated[str, typer.Argument(help="A case; without it, or for -, its first line is asked for.")] = "",
    answers: Annotated[
        Path | None, typer.Option("--answers", help="Take the answers from this file, one a line (UTF-8).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line and step.")] = False,
) -> None:
    """`anamnesis differential`: rank and ask until there is nothing to ask, or the answers end.

    Raises:
        InputError: no case, one that is too long or no text, or a file of answers that cannot be read.
    """
    settings, home = open_home()
    replies = _lines_of(answers) if answers is not None else _typed()
    case = text if text not in ("", "-") else _first(_typed() if answers is not None else replies)
    case = check_message(case, settings.max_characters, "The case")
    encoder = open_encoder(settings, home)
    try:
        talk = Interview(open_graph(settings, home, encoder), case)
        _show(talk, as_json=as_json)
        while talk.question is not None and (said := next(replies, None)) is not None and said.lower() not in STOP:
            _turn(talk, check_message(said, settings.max_characters, "An answer"), as_json=as_json)
    finally:
        encoder.close()


def _turn(talk: Interview, said: str, *, as_json: bool) -> None:
    asked = talk.question
    read = talk.reply(said)
    if as_json:
        _write(talk, reply={"to": None if asked is None else asked.finding, "text": said, "read": read.value})
    elif read in (Read.ANSWER, Read.MORE):
        _show(talk, as_json=False)
    elif read is Read.WHY and asked is not None:
        console().print(escape(asked.why))
    else:
        progress_console().print(messages(talk.language)[f"interview.{read.value}"], style="yellow")


def _show(talk: Interview, *, as_json: bool) -> None:
    """The emergency first, the ranking, the next question."""
    if as_json:
        _write(talk, reply=None)
        return
    words, out = messages(talk.language).group("interview"), console()
    show_emergency(out, [(flag.advice, flag.seen) for flag in talk.emergency], talk.language)
    if talk.differential.ranking:
        ranking = ranked(talk.differential, talk.differential.ranking, talk.language)
        show_edge(out, ranking)
        show_ranking(out, ranking)
    else:
        out.print(words["nothing_ranked"])
    if talk.question is None:
        out.print(words["nothing_to_ask"])
    else:
        hint = words["hint_place" if talk.question.finding == PLACE else "hint"]
        out.print(f"[bold]{words['ask']}:[/] {escape(talk.question.text)}  [dim]({hint})[/]")


def _write(talk: Interview, *, reply: dict[str, Any] | None) -> None:
    step = {
        "reply": reply,
        "language": talk.language,
        "case": talk.case,
        "emergency": [f.model_dump() for f in talk.emergency],
        "question": None if talk.question is None else talk.question.model_dump(),
        "differential": talk.differential.model_dump(mode="json"),
    }
    print_json(step, indent=None)


def _first(lines: Iterator[str]) -> str:
    if sys.stdin.isatty():
        progress_console().print("The case in one line:")
    return next(lines, "")


def _lines_of(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist.", "Give a file with one answer a line.") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path} cannot be read as UTF-8 text.", "Give a file with one answer a line.") from None
    return iter([line.strip() for line in text.splitlines() if line.strip()])


def _typed() -> Iterator[str]:
    """Lines from standard input; on a terminal an empty one ends them."""
    if sys.stdin.isatty():
        while True:
            try:
                line = console().input("> ").strip()
            except EOFError:
                return
            if not line:
                return
            yield line
    for raw in iter(sys.stdin.buffer.readline, b""):
        if raw.strip():
            yield raw.decode("utf-8", errors="surrogateescape").strip()


# A differential by questions and answers: the ranking of a case, the next best question, and what a reply changes.

RANKED = 10  # diseases ranked; ours, as a look-up gives


class Read(StrEnum):
    """How a reply was taken."""

    ANSWER = "answer"
    MORE = "more"
    WHY = "why"
    OTHER_PATIENT = "other_patient"
    WHERE = "where"
    UNREAD = "unread"


class Interview:
    """One patient's case, question by question. Replies are read as in a chat session.

    Attributes:
        language: of the case, ``en`` or ``zh``.
        differential: the ranking now. emergency: signs of an emergency told so far.
    """

    def __init__(self, graph: KnowledgeGraph, case: str) -> None:
        self._graph, self._triage = graph, TriageLocal(findings=graph.stated, grave=graph.grave_share)
        self._facts, self._turn, self.language = facts_of(case, 1), 1, language_of(case)
        self._known: list[Finding] = []
        self.emergency: tuple[RedFlag, ...] = red_flags(case, self.language, grave=graph.grave_share)
        self.differential: Differential = self._ranked()

    @property
    def case(self) -> str:
        """The case as told so far."""
        return text_of(self._facts)

    @property
    def question(self) -> FollowUpQuestion | None:
        """The next best question; None when no answer is expected to change much."""
        return next(iter(self.differential.questions), None)

    def reply(self, text: str) -> Read:
        """Take a reply to the question, or anything else that is told of the patient; the ranking is made anew."""
        question = self.question
        asked = None if question is None else AskedQuestion(finding=question.finding, text=question.text)
        self._turn += 1
        view = SessionView(
            messages=(self.case,), turn=self._turn, facts=self._facts, kind="case", question=self.case, asked=asked
        )
        explain = explained(text, read_asked(text, view), view)
        if explain is not None and explain.aspect in (Aspect.WHY, Aspect.QUESTION):
            return Read.WHY
        decision = self._triage.decide_now(text, view)
        if decision.new_case:
            return Read.OTHER_PATIENT
        if _only_yes(text, decision):
            return Read.WHERE
        put_right = changes_in(decision.facts, self._turn)
        if decision.answered is not None:
            self._known = [k for k in self._known if k.id != decision.answered.id] + [decision.answered]
        elif decision.kind is Kind.CASE and decision.case != self.case:
            self._known = [k for k in self._known if not overturned(k.name, put_right)]
        else:
            return Read.UNREAD
        before, self._facts = self._facts, decision.facts
        found = self._ranked()
        flagged = {f.code for f in decision.red_flags} - {f.code for f in self.emergency}
        told = decision.answered is not None or put_right or flagged
        if not told and _same(found, self.differential):
            self._facts = before
            return Read.UNREAD
        self.emergency, self.differential = decision.red_flags, found
        return Read.MORE if decision.answered is None else Read.ANSWER

    def _ranked(self) -> Differential:
        return self._graph.look_up(self.case, self.language, RANKED, self._known)


def _only_yes(text: str, decision: TriageDecision) -> bool:
    """Whether a place was asked for and none is named: a yes alone tells nothing."""
    answer = decision.answered
    return answer is not None and answer.id == PLACE and answer.present is None and says_yes(text)


def _same(one: Differential, other: Differential) -> bool:
    """Whether two rankings are equal: nothing that the graph knows was told between them."""
    return [(r.disease, r.score) for r in one.ranking] == [(r.disease, r.score) for r in other.ranking]
