"""The option that a model named: read as one that was given, or a counted failure; never the first for want of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from graphs.answering.choice import NEGATIVE_STEM, own_words
from graphs.answering.contract import AnswerView, Choice
from graphs.answering.notices import notice
from graphs.answering.prose import Stated
from graphs.answering.sources import Sources
from graphs.answering.written import Doubt
from graphs.judging.relevance import Relevance
from graphs.verdicts.certainty import certainty_of, reason_of
from graphs.verdicts.contract import Ruling, Sentence, Verdict, VerdictJudge, VerdictValue
from graphs.verdicts.stated import effect_of, population_of
from graphs.verification.support import identical, in_another_language
from prompts.shown import one_line
from tools.contract import Notice, Severity
from tools.evidence import Evidence, Origin, Statement, cite
from tools.messages import messages
from tools.notices import noted
from tools.text.language import is_english
from tools.text.tokens import tokens

OPTION = 400  # ours: characters of an option that the model is shown
PREFIX = re.compile(r"^\W*(?:(?:option|answer|选项|答案)\s*[:：]?\s*)?", re.IGNORECASE)
MEANT = 0.7  # ours: cosine from which a sentence speaks of an option in other words
PLAIN = {  # options that name nothing that a sentence could speak of
    "yes": (VerdictValue.YES,),
    "no": (VerdictValue.NO, VerdictValue.NO_DIFFERENCE),
    "maybe": (VerdictValue.DEPENDS, VerdictValue.CONFLICTING, VerdictValue.INSUFFICIENT),
}
ALONE = (VerdictValue.YES, VerdictValue.NO, VerdictValue.DEPENDS, VerdictValue.INSUFFICIENT)  # what a sentence may say
AGAINST = {  # what a verdict's opposite is
    VerdictValue.YES: (VerdictValue.NO, VerdictValue.NO_DIFFERENCE),
    VerdictValue.NO: (VerdictValue.YES,),
    VerdictValue.NO_DIFFERENCE: (VerdictValue.YES,),
}
VERDICT_ASKED = (
    "Look at all statements. Where they carry {label} together, give it again; else give the option that they carry, or"
    " {label} with a statement that cites a sentence which says it."
)
Speaking = Callable[[str, Sequence[Statement]], bool]
"""Whether statements speak of the option of a label."""
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
    said: str, view: AnswerView, statements: Sequence[Statement], bears: Callable[[str, Sequence[Statement]], bool]
) -> tuple[Choice | None, list[Notice]]:
    """The option that rests on the cited ones of the statements, or none and the notice that counts it.

    One that they do not bear out is the model's own: parametric, with a notice.
    """
    options = options_of(view)
    label = option_named(said, options)
    if label is None or not statements:
        return None, [unchosen(said, view)]
    cited = [s for s in statements if s.citations]
    if not bears(label, cited):
        return _choice(label, options, statements[0], ()), [notice("choice_not_borne_out", view.language)]
    ids = tuple(dict.fromkeys(c.evidence_id for s in cited for c in s.citations))
    return _choice(label, options, cited[0], ids), []


def verdict_of(
    said: str, view: AnswerView, standing: Sequence[Stated], held: Mapping[str, Evidence], judge: VerdictJudge
) -> tuple[Verdict | None, list[Notice]]:
    """The verdict that a model named, where quotes of statements that stand entail it; else its view, as a notice.

    ``held`` is the evidence that statements cite, by id; where all of it together says the opposite, there is none.
    """
    options = options_of(view)
    label = option_named(said, options)
    if label is None:
        return None, [unchosen(said, view)]
    value = VerdictValue(label)
    quoted = _quoted(standing, held)
    kept = _carrying(value, view, quoted, judge)
    opposed = bool(kept) and _opposed(value, judge.judge(view.question, list(held.values())))
    if not kept or opposed:
        return None, [_own_view(value, options[label], view)]
    carrying = [(s.text, q) for s, q in quoted if any(q is k for k in kept)]
    first = dict(reversed(carrying))  # the first quote of each statement
    texts = tuple(dict.fromkeys(text for text, _ in carrying))
    return Verdict(
        value=value,
        statements=texts,
        sides=tuple(_side(value, first[text], view, judge) for text in texts),
        effect=effect_of(kept[0].text),
        population=population_of(kept[0]),
        certainty=certainty_of(kept, disputed=value is VerdictValue.CONFLICTING),
        reason=reason_of(kept),
    ), []


def _carrying(
    value: VerdictValue, view: AnswerView, quoted: Sequence[tuple[Statement, Sentence]], judge: VerdictJudge
) -> list[Sentence]:
    """The quotes that carry a verdict: by themselves, else as statements in other words put them, or all in a row.

    What the statements say was held to the quotes before. None where a quote or such a statement by itself speaks for
    the opposite.
    """
    quotes = [q for _, q in quoted]
    own = {s.text: _alone(s.text) for s, _ in quoted if not identical(s.text, [c.quote for c in s.citations])}
    said, against = list(own.values()), AGAINST.get(value, ())
    if any(judge.carries(view.question, other, sentences) for other in against for sentences in (quotes, said)):
        return []
    if kept := list(judge.carries(view.question, value, quotes)):
        return kept
    if carrying := judge.carries(view.question, value, said):
        return [q for s, q in quoted if any(own.get(s.text) is c for c in carrying)]
    row = "; ".join(q.text.rstrip(" .") for q in quotes)
    return quotes if len(quotes) > 1 and judge.carries(view.question, value, [_alone(row)]) else []


def _own_view(value: VerdictValue, said: str, view: AnswerView) -> Notice:
    """The verdict as the model's view, with why it stands as no more."""
    read = is_english(view.question)
    why = "" if read and value is not VerdictValue.INSUFFICIENT else "_open" if read else "_unread"
    return noted("model_view", view.language, Severity.WARNING, detail=said, said=f"notice.model_view{why}")


def _side(value: VerdictValue, quote: Sentence, view: AnswerView, judge: VerdictJudge) -> VerdictValue:
    """What a quote that carries a verdict answers by itself."""
    return next((side for side in ALONE if judge.carries(view.question, side, [quote])), value)


def doubted_verdict(
    said: str, view: AnswerView, standing: Sequence[Stated], sources: Sources, judge: VerdictJudge
) -> Doubt:
    """Why a verdict does not stand on what is cited: what the cited sentences are read as, and what says otherwise.

    It shows all that are cited, and of the others those that carry the verdict. A question that the reader cannot read
    is not asked about: no other sentence would be read as its answer either. Nor is one asked about that the model
    finds not settled, which no sentence need say, unless what it cites is read as settling it.
    """
    held = {e.id: e for e in sources.documents}
    label = option_named(said, options_of(view))
    if label is None or not standing or not is_english(view.question):
        return Doubt()
    value = VerdictValue(label)
    quoted = _quoted(standing, held)
    sentences = [q for _, q in quoted]
    if not _carrying(value, view, quoted, judge):
        read = {v.value: kept for v in VerdictValue if (kept := judge.carries(view.question, v, sentences))}
        if not read and value is VerdictValue.INSUFFICIENT:
            return Doubt()
        told = " and as ".join(f"{v} ({_labels(kept, sources)})" for v, kept in read.items())
        what = f"are read as {told}" if read else "are not read as an answer to the question"
        others = [Sentence(held[c.evidence_id], c.start, c.end) for c in sources.citations]
        shown = [*sentences, *judge.carries(view.question, value, others)]
        cites = tuple(dict.fromkeys(cite(q.evidence, q.start, q.end) for q in shown))
        return Doubt(f"{label} | doubted: the cited sentences {what}. {VERDICT_ASKED.format(label=label)}", cites)
    ruling = judge.judge(view.question, list(held.values()))
    if not _opposed(value, ruling):
        return Doubt()
    against = tuple(cite(q.evidence, q.start, q.end) for q in ruling.carrying)
    found = ruling.verdict.value if ruling.verdict is not None else ""
    asked = VERDICT_ASKED.format(label=label)
    return Doubt(f"{label} | doubted: all documents together are read as {found}. {asked}", against)


def _labels(quotes: Sequence[Sentence], sources: Sources) -> str:
    return ", ".join(f"[{sources.label(cite(q.evidence, q.start, q.end))}]" for q in quotes)


def doubted_choice(
    said: str, view: AnswerView, standing: Sequence[Stated], bears: Callable[[str, Sequence[Statement]], bool]
) -> Doubt:
    """Why an option does not stand on what is cited: no cited sentence speaks of it."""
    label = option_named(said, options_of(view))
    cited = [s.statement for s in standing if s.statement.citations]
    if label is None or not cited or bears(label, cited):
        return Doubt()
    return Doubt(
        f"{label} | doubted: no cited sentence speaks of it. Give the option that the documents support, with a"
        ' statement that speaks of it and cites its sentences, or "".',
        tuple(c for s in cited for c in s.citations),
    )


def speaks_of(
    view: AnswerView, names: Callable[[str], Sequence[str]], relevance: Relevance, judge: VerdictJudge
) -> Speaking:
    """Whether statements speak of an option: by a word that it alone has, another name of it, or in meaning; a plain
    yes or no is read by the judge of closed questions.

    ``names`` gives other names of what an option mentions. Of "all but one" they speak of another.
    """
    names_found = {k: names(text) for k, text in view.options.items()}
    texts = {k: " ".join([text, *names_found[k]]) for k, text in view.options.items()}
    own = own_words(view.question, texts)

    def speaking(label: str, statements: Sequence[Statement]) -> bool:
        if not statements:
            return False
        said = [t for s in statements for t in (s.text, *(c.quote for c in s.citations))]
        values = PLAIN.get(_plain(view.options[label]))
        if values is not None:
            read = [_alone(text) for text in said]
            return any(judge.carries(view.question, value, read) for value in values)
        if not names_found[label] and in_another_language(view.options[label], said):
            return True  # nothing here can tell
        others = NEGATIVE_STEM.search(view.question)
        wanted = list(own.values()) if others else [own[label]]
        held = set(tokens(" ".join(said)))
        if any(words & held for words in wanted):
            return True
        return not others and float(relevance.score([view.options[label]], said).dense.max()) >= MEANT

    return speaking


def _alone(text: str) -> Sentence:
    """A text by itself, as a sentence that the judge reads."""
    spoken = Evidence(id="case:statement", text=text, kind="statement", origin=Origin.CASE)
    return Sentence(spoken, 0, len(text))


def _quoted(standing: Sequence[Stated], held: Mapping[str, Evidence]) -> list[tuple[Statement, Sentence]]:
    """The quotes of the statements that stand, as sentences that the judge of verdicts reads."""
    return [
        (w.statement, Sentence(held[c.evidence_id], c.start, c.end)) for w in standing for c in w.statement.citations
    ]


def _opposed(value: VerdictValue, ruling: Ruling) -> bool:
    """Whether all documents together carry the opposite of a verdict, or both sides."""
    found = ruling.verdict.value if ruling.verdict is not None else None
    against = AGAINST.get(value, ())
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
