"""The option that a model named: read as one that was given, or a counted failure; never the first for want of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from graphs.answering.choice import NEGATIVE_STEM
from graphs.answering.contract import AnswerView, Choice
from graphs.answering.notices import notice
from graphs.answering.option_words import own_words
from graphs.answering.written import Written
from graphs.verdicts.certainty import certainty_of, effect_of, population_of, reason_of
from graphs.verdicts.contract import Ruling, Sentence, Verdict, VerdictJudge, VerdictValue
from prompts.shown import one_line
from tools.contract import Notice
from tools.evidence import Evidence, Statement
from tools.messages import messages
from tools.text.tokens import tokens

OPTION = 400  # ours: characters of an option that the model is shown
PREFIX = re.compile(r"^\W*(?:(?:option|answer|选项|答案)\s*[:：]?\s*)?", re.IGNORECASE)
AFTER = r"(?:\s*$|\s*[.)\]:：、,，。])"  # what follows a letter that stands for an option ("A drug" has none)


def options_of(view: AnswerView) -> dict[str, str]:
    """The options of a turn by label: those that were given, or the verdicts for a closed question; else none."""
    if view.options:
        return dict(view.options)
    return messages(view.language).group("verdict.values") if view.closed else {}


def options_shown(options: Mapping[str, str]) -> str:
    """The options, one a line, each after its label."""
    return "\n".join(k if k == v else f"{k}. {one_line(v, OPTION)}" for k, v in options.items())


def option_named(said: str, options: Mapping[str, str]) -> str | None:
    """The label that a model's words name, by the label or by the whole text; None when they name none, or several."""
    wanted = _plain(said)
    exact = [k for k, text in options.items() if wanted in (k.casefold(), _plain(text))]
    if exact:
        return exact[0] if len(exact) == 1 else None
    rest = PREFIX.sub("", said)
    led = [k for k in options if re.match(rf"[(\[]?{re.escape(k)}{AFTER}", rest, re.IGNORECASE)]
    return led[0] if len(led) == 1 else None


def choice_of(
    said: str, view: AnswerView, written: Written, names: Callable[[str], Sequence[str]]
) -> tuple[Choice | None, list[Notice]]:
    """The option that rests on the statements that stand, or none and the notice that counts it.

    One that no quoted statement speaks of is the model's own: parametric, with a notice. ``names`` gives other names
    of what an option mentions.
    """
    options = options_of(view)
    label = option_named(said, options)
    standing = [s.statement for s in written.standing]
    if label is None or not standing:
        return None, [unchosen(said, view)]
    speaking = [s for s in standing if s.citations and _speaks_of(s, label, view, names)]
    if not speaking:
        return _choice(label, options, standing[0], ()), [notice("choice_not_borne_out", view.language)]
    ids = tuple(dict.fromkeys(c.evidence_id for s in speaking for c in s.citations))
    return _choice(label, options, speaking[0], ids), []


def verdict_of(
    said: str, view: AnswerView, written: Written, held: Mapping[str, Evidence], judge: VerdictJudge
) -> tuple[Verdict | None, list[Notice]]:
    """The verdict that a model named, where quotes of statements that stand entail it; else its view, as a notice.

    ``held`` is the evidence that statements cite, by id; where all of it together says the opposite, there is none.
    """
    options = options_of(view)
    label = option_named(said, options)
    if label is None:
        return None, [unchosen(said, view)]
    value = VerdictValue(label)
    quoted = [
        (w.statement, Sentence(held[c.evidence_id], c.start, c.end))
        for w in written.standing
        for c in w.statement.citations
    ]
    kept = judge.carries(view.question, value, [q for _, q in quoted])
    if not kept or _opposed(value, judge.judge(view.question, list(held.values()))):
        return None, [notice("model_view", view.language, options[label])]
    return Verdict(
        value=value,
        statements=tuple(dict.fromkeys(s.text for s, q in quoted if any(q is k for k in kept))),
        effect=effect_of(kept[0].text),
        population=population_of(kept[0]),
        certainty=certainty_of(kept, disputed=value is VerdictValue.CONFLICTING),
        reason=reason_of(kept),
    ), []


def _opposed(value: VerdictValue, ruling: Ruling) -> bool:
    """Whether all documents together carry the opposite of a verdict, or both sides."""
    found = ruling.verdict.value if ruling.verdict is not None else None
    no = (VerdictValue.NO, VerdictValue.NO_DIFFERENCE)
    against = {VerdictValue.YES: no, **dict.fromkeys(no, (VerdictValue.YES,))}.get(value, ())
    return found in against or (bool(against) and found is VerdictValue.CONFLICTING)


def parametric_choice(
    said: str, view: AnswerView, statements: tuple[Statement, ...]
) -> tuple[Choice | None, list[Notice]]:
    """The choice of a model's own knowledge: nothing supports it."""
    options = options_of(view)
    label = option_named(said, options)
    if not options:
        return None, []
    if label is None or not statements:
        return None, [unchosen(said, view)]
    return _choice(label, options, statements[0], ()), []


def unchosen(said: str, view: AnswerView) -> Notice:
    """Why no option is chosen: what the model named is none of them, or nothing supports one."""
    unreadable = said.strip() and option_named(said, options_of(view)) is None
    return notice("choice_unreadable" if unreadable else "no_choice_supported", view.language)


def _speaks_of(statement: Statement, label: str, view: AnswerView, names: Callable[[str], Sequence[str]]) -> bool:
    """Whether a statement or its quotes hold a word that only this option has; of "all but one", of another."""
    texts = {k: " ".join([text, *names(text)]) for k, text in view.options.items()}
    own = own_words(view.question, texts)
    wanted = own.values() if NEGATIVE_STEM.search(view.question) else [own[label]]
    held = set(tokens(" ".join([statement.text, *(c.quote for c in statement.citations)])))
    return any(words & held for words in wanted)


def _choice(label: str, options: Mapping[str, str], reason: Statement, ids: tuple[str, ...]) -> Choice:
    return Choice(
        label=label,
        text=options[label],
        reason=reason.text,
        evidence_ids=ids,
        parametric=not ids,
    )


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold().strip(" .。\"'")
