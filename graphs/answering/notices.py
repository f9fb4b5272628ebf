"""Notices of an answer: stable codes, their words in both languages, and what of a question no sentence speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path

from graphs.answering.contract import AnswerView
from graphs.answering.figures import asks_figure, gives_figure
from graphs.answering.presentation import source_name
from graphs.triage.contract import Kind
from graphs.verdicts.certainty import is_own
from tools.contract import Notice, Severity
from tools.evidence import Evidence, EvidenceId, Origin, Statement, Status
from tools.literature.vocabulary import asks
from tools.medicines.names import medicines_in, other_names
from tools.messages import messages
from tools.notices import noted
from tools.spelling import mends
from tools.text.frequency import zipf
from tools.text.language import language_of
from tools.text.questions import asked_in, is_question, parts
from tools.text.tokens import tokens
from tools.yaml_files import read_patterns

# Codes of notices that are no warning; the others are. Their words are in the catalogues, below ``notice``.
INFO = frozenset(
    "report_of_cases_only evidence_in_english starter_knowledge where_ranked not_ranked "
    "nothing_against nothing_to_ask why_asked case_so_far read_from_case certainty rests_on "
    "certainty_graded certainty_ungraded "
    "other_order gaps_left_open not_covered stopped".split()
)
DANGER = frozenset({"barred_medicine", "breaks_constraint", "emergency_doubted"})

TWO, NAMING = 2, 4  # ours: questions of a message that asks several things; letters of a word that says what is asked
WORD = re.compile(r"[a-z]+")
MATTER = re.compile(  # what the matter is
    r"\b(?:wrong|caus\w+|matter|going on|happening|diagnos\w+|differential|likely|problem|illness|disease|"
    r"(?:could|might|may|can) (?:it|this|that|these|they)(?: all)? be\b|"
    r"is (?:it|this|that)\W*$|(?:does|do|could) \w+ have)\b",
    re.IGNORECASE,
)
UNREVIEWED = frozenset({"library", "graph", "calculator"})  # ours: collections that ship with the house


def notice(code: str, language: str, detail: str = "") -> Notice:
    """The notice with this code in a language; ``detail`` fills its gap."""
    severity = Severity.INFO if code in INFO else Severity.DANGER if code in DANGER else Severity.WARNING
    return noted(code, language, severity, detail=detail)


def read_as(view: AnswerView) -> list[Notice]:
    """Which words of a question were taken for others: none where its language has no such slips."""
    read = mends(view.question) if view.kind == Kind.EVIDENCE else {}
    told = "; ".join(f"“{written}” → “{meant}”" for written, meant in read.items())
    return [notice("read_as", view.language, told)] if told else []


def notices_for(
    view: AnswerView, statements: Sequence[Statement], evidence: Iterable[Evidence], today: date
) -> list[Notice]:
    """What the user must know about an answer that was given: sources, dates, language, the figure that it lacks."""
    cited_ids = {c.evidence_id for s in statements for c in s.citations}
    cited = [e for e in {e.id: e for e in evidence}.values() if e.id in cited_ids]
    out: list[Notice] = read_as(view)
    if any(EvidenceId.parse(e.id).collection in UNREVIEWED for e in cited):
        out.append(notice("starter_knowledge", view.language))
    own = [e for e in cited if is_own(e)]
    if own:
        out.append(notice("own_document", view.language, _names(own)))
    asked = view.kind == Kind.EVIDENCE and statements and asks_figure(view.question)
    titles = {e.id: e.title for e in cited}
    given = [(s.text, " ".join(titles.get(c.evidence_id, "") for c in s.citations)) for s in statements]
    if asked and not any(gives_figure(view.question, text, title) for text, title in given):
        out.append(notice("no_figure", view.language))
    if open_ := unanswered(view, " ".join([*(e.title for e in cited), *(f"{text} {title}" for text, title in given)])):
        out.append(notice("not_answered", view.language, "; ".join(f"“{q}”" for q in open_)))
    if view.kind == Kind.EVIDENCE and (
        missing := uncovered(view.question, [f"{t} {title}" for t, title in given], view.language)
    ):
        out.append(notice("not_covered", view.language, messages(view.language).joined(missing)))
    late = [e for e in cited if e.review_by and e.review_by < today.isoformat()]
    if late:
        out.append(notice("past_review_date", view.language, _names(late)))
    doubtful = [e for e in cited if e.status in (Status.CONCERN, Status.PREPRINT)]
    if doubtful:
        out.append(notice("evidence_under_concern", view.language, _names(doubtful)))
    if view.language == "zh" and _english(statements):
        out.append(notice("evidence_in_english", view.language))
    return out


def unanswered(view: AnswerView, text: str) -> list[str]:
    """Questions of a message that asks several things, or asks something of a case, of whose words the text of the
    answer holds neither most nor the rarest. What only asks what the matter is, a differential answers."""
    asked = asked_in(view.question)
    if view.kind not in (Kind.EVIDENCE, Kind.CASE) or (view.kind == Kind.EVIDENCE and len(asked) < TWO):
        return []
    said = set(tokens(text))
    told = set(tokens(" ".join(part for part in parts(view.question) if not is_question(part))))
    out = []
    for question in asked:
        own = [w for w in WORD.findall(question.lower()) if len(w) >= NAMING and not asks(w)]
        own = [w for w in own if set(tokens(w)) - told]
        stems = {t for w in WORD.findall(question.lower()) if len(w) >= NAMING for t in tokens(w)} - told
        spoken = len(stems & said) >= max(TWO, len(stems) / TWO)  # most of what it asks, whatever is rarest
        if own and not MATTER.search(question) and not spoken and not set(tokens(min(own, key=zipf))) <= said:
            out.append(question)
    return out


def _english(statements: Sequence[Statement]) -> bool:
    quoted = [s for s in statements if s.origin is not Origin.PARAMETRIC]
    return any(language_of(c.quote) == "en" for s in quoted for c in s.citations)


def _names(items: Sequence[Evidence]) -> str:
    return "; ".join(dict.fromkeys(source_name(e) for e in items))


# Parts that a question names and no sentence of its answer speaks of, in the words of whoever asked.

FORMS = Path(__file__).with_name("uncovered.yaml")
MEDICINE = "compared_medicine"
COMPARED = ("compared", "compared_also", MEDICINE)
GROUPS = ("old", "child", "pregnancy", "feeding", "kidney", "liver")


@lru_cache(maxsize=1)
def forms() -> dict[str, re.Pattern[str]]:
    """What a question may name, and what covers it."""
    return read_patterns(FORMS)


def uncovered(question: str, said: Sequence[str], language: str) -> list[str]:
    """What the question names and the answer does not speak of.

    A group of people counts where it stands beside another: the only group of a question is whom all of it is about.

    Args:
        said: the sentences of the answer, each with the title of its source.
        language: of the words in which a comparison is told.
    """
    return [*_groups(question, said), *_comparisons(question, said, language)]


def _groups(question: str, said: Sequence[str]) -> Iterator[str]:
    asked = {name: found for name in GROUPS if (found := forms()[f"asked_{name}"].search(question))}
    several = len(asked) + bool(forms()["asked_adults"].search(question)) > 1
    for name, match in sorted(asked.items(), key=lambda item: item[1].start()):
        beside = several or forms()["besides"].search(question[: match.start()])
        if beside and not any(forms()[f"found_{name}"].search(text) for text in said):
            yield match[0]


def _comparisons(question: str, said: Sequence[str], language: str) -> Iterator[str]:
    """What an English question compares with; a Chinese name cannot be looked for in English sentences."""
    if language_of(question) != "en":
        return
    found = [(form, m["other"]) for form in COMPARED for m in forms()[form].finditer(question)]
    others = [o for form, o in found if form != MEDICINE or medicines_in(o)]
    for other in dict.fromkeys(others):
        words = [w for w in re.findall(r"[a-z][\w-]+", other.lower()) if tokens(w)]
        if not words or forms()["no_rival"].search(other):
            continue
        names = [min(words, key=zipf), *(n for known in other_names(other).values() for n in known)]
        named = [set(tokens(name)) for name in names]
        spoken = [set(tokens(text)) for text in said if forms()["compares"].search(text)]
        if not any(name <= text for name in named for text in spoken):
            yield messages(language).say("gap.compared", name=other)
