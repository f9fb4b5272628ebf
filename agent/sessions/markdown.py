"""A session as Markdown: each turn with its message, answer, quotes, differential, notices, review and searches."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from agent.sessions.contract import Review
from agent.sessions.export import ExportedTurn, Search, SessionExport
from graphs.answering.contract import Answer
from graphs.answering.markdown import escaped, markdown_of
from graphs.answering.presentation import statements_of
from tools.evidence import Origin
from tools.literature.report import account

RESEARCH = "This is research software. It is no medical device, and its answers are no medical advice."
VERDICTS = {"accepted": "Accepted", "corrected": "Corrected", "rejected": "Rejected"}


def as_markdown(session: SessionExport) -> str:
    """The session, ending in a line break."""
    record = session.session
    times = f"begun {_time(record.created)}, last used {_time(record.updated)}, {_turns(record.turns)}"
    told = [
        f"# {escaped(record.title) or 'Session'}",
        f"Session `{record.id}`, {times}. Exported {_time(session.exported_at)} by {session.program}.",
        RESEARCH,
    ]
    for turn in session.turns:
        told += _turn(turn)
    return "\n\n".join(part for part in told if part) + "\n"


def turn_alone(session: SessionExport) -> str:
    """The one turn of an export, as a reader wants it: the question, the answer, when, and by what."""
    (turn,) = session.turns
    made = (
        f"Session {session.session.id}, turn {turn.turn}, asked {_time(turn.asked_at)}; {session.program}. {RESEARCH}"
    )
    answer = "*No answer: the turn was cut off.*" if turn.answer is None else markdown_of(turn.answer, kept=True)
    review = list(_review(None, turn.review))
    return "\n\n".join([f"# {' '.join(escaped(turn.asked).split())}", answer, *review, f"*{made}*"]) + "\n"


def _turn(turn: ExportedTurn) -> Iterable[str]:
    yield f"## Turn {turn.turn}"
    yield f"Asked {_time(turn.asked_at)}:"
    yield _quoted(turn.asked)
    if turn.answer is None:
        yield "*No answer: the turn was cut off.*"
    else:
        yield "### Answer"
        yield markdown_of(turn.answer, whole=True, kept=True)
        yield from _generated(turn.answer)
    yield from _review(turn.answer, turn.review)
    yield from _searches(turn.searches)


def _generated(answer: Answer) -> Iterable[str]:
    texts = [e for e in answer.evidence if e.origin is Origin.GENERATED]
    own = [s for s in statements_of(answer) if s.origin is Origin.PARAMETRIC]
    if texts or own:
        yield "### Generated text"
        yield f"{len(own)} of {len(statements_of(answer))} statements rest on no source."
        yield from (f"`{e.id}`, written by a model, not literature:\n\n{_quoted(e.text)}" for e in texts)


def _review(answer: Answer | None, review: Review | None) -> Iterable[str]:
    asked = answer.review_reasons if answer is not None else []
    if asked or review is not None:
        yield "### Review"
    if asked:
        yield "A clinician's review is asked for:\n\n" + "\n".join(f"- {escaped(r.text)}" for r in asked)
    if review is not None:
        by = f" by {escaped(review.reviewer)}" if review.reviewer else ""
        yield f"**{VERDICTS[review.verdict]}**{by}, {_time(review.at)}."
        if review.correction:
            yield _quoted(review.correction)
    elif asked:
        yield "*Not reviewed yet.*"


def _searches(searches: Sequence[Search]) -> Iterable[str]:
    if searches:
        yield "### How it was searched"
    for number, search in enumerate(searches, start=1):
        asked = json.dumps(search.arguments, ensure_ascii=False)
        yield f"{number}. `{search.tool}`: {search.outcome.replace('_', ' ')}, {len(search.found)} pieces of evidence."
        yield _code(asked)
        for step in search.steps:
            yield _code(json.dumps(step, ensure_ascii=False))
        for strategy in search.strategies:
            yield re.sub(r"^#", "####", account(strategy), flags=re.M).strip()  # below the turn's own headings


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in map(escaped, text.splitlines()))


def _code(text: str) -> str:
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}\n{text}\n{fence}"


def _time(at: str) -> str:
    return f"{at[:16].replace('T', ' ')} UTC" if at else "at an unknown time"


def _turns(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"
