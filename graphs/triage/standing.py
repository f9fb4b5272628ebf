"""Emergencies that a session told before and that stand: they are told with every later turn about its patient."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphs.triage.contract import Kind, RedFlag, SessionView, TriageDecision
from graphs.triage.emergency import UNNAMED, VIGNETTE, emergencies, red_flags
from graphs.triage.facts import Fact, changes_in, text_of

QUIET = (Kind.SMALL_TALK, Kind.ASSISTANT)  # kinds of turn beside which what stands is not told; it stays
QUOTE = re.compile("“([^”]*?)…?”")


def with_open(decision: TriageDecision, message: str, session: SessionView) -> TriageDecision:
    """A decision with the emergencies that were told before and stand, behind those of the message itself.

    A new patient's case ends them; a correction ends those that the case as it is now tells no more.
    """
    of_another = decision.kind is Kind.MULTIPLE_CHOICE and VIGNETTE.match(message)
    if decision.new_case or decision.kind in QUIET or of_another or not (session.case or session.open_flags):
        return decision
    now = [_dated(flag, message, session) for flag in decision.red_flags]
    told = {flag.code for flag in now}
    kept = [f for f in standing(decision.facts, session) if f.code not in told]
    now = [f for f in now if not (f.earlier and f.code == UNNAMED and kept)]  # it has a name
    earlier = [_worded(f, decision.language).model_copy(update={"earlier": True}) for f in kept]
    flags = sorted([*now, *earlier], key=lambda flag: flag.earlier)
    return decision.model_copy(update={"red_flags": tuple(flags)})


def standing(facts: tuple[Fact, ...], session: SessionView) -> list[RedFlag]:
    """Those of the session's emergencies that stand beside the case as it is after the message."""
    if not session.open_flags or not changes_in(facts, session.turn):
        return list(session.open_flags)
    case = text_of(facts)
    live = {flag.code for text in (case, *_messages(facts)) for flag in red_flags(text, "en")}
    return [f for f in session.open_flags if f.code in live or _stands(f, case, session.case, alarming=bool(live))]


def merged(message: Sequence[RedFlag], case: Sequence[RedFlag]) -> tuple[RedFlag, ...]:
    """What a message shows, then what the case shows with it, each emergency once; one without a name gives way to the
    case's where both are told by the same words."""
    said = {quote for flag in case if flag.code != UNNAMED for quote in quotes(flag)}
    own = [f for f in message if f.code != UNNAMED or not said.intersection(quotes(f))]
    codes = {f.code for f in own}
    return (*own, *(f for f in case if f.code not in codes and (f.code != UNNAMED or not own)))


def quotes(flag: RedFlag) -> list[str]:
    """The words that an emergency was told by, as they were said."""
    return [quote.strip().casefold() for quote in QUOTE.findall(flag.seen)]


def _stands(flag: RedFlag, case: str, before: str, *, alarming: bool) -> bool:
    """Whether a correction left what told an emergency: its words stand in a case that alarms still, or no words of the
    case told it."""
    said = [quote for quote in quotes(flag) if quote in before.casefold()]
    return not said or (alarming and all(quote in case.casefold() for quote in said))


def _messages(facts: Sequence[Fact]) -> list[str]:
    """What stands of the case by the message that told it."""
    turns = dict.fromkeys(fact.turn for fact in facts if fact.turn)
    told = [" ".join(f.text for f in facts if f.turn == turn and f.by is None) for turn in turns]
    return [text for text in told if any(map(str.isalnum, text))]


def _dated(flag: RedFlag, message: str, session: SessionView) -> RedFlag:
    """An emergency of the case; ``earlier`` where nothing in the message told it."""
    said = quotes(flag)
    text = message.replace("’", "'").casefold()
    earlier = bool(session.case and said) and not any(quote in text for quote in said)
    return flag.model_copy(update={"earlier": earlier})


def _worded(flag: RedFlag, language: str) -> RedFlag:
    """An emergency in the language of the turn."""
    found = emergencies().named.get(flag.code)
    if found is None or flag.seen.startswith(found.name[language]):
        return flag
    return found.flag(language, "; ".join(f"“{quote}”" for quote in QUOTE.findall(flag.seen)))
