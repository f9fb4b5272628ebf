"""The rungs of a plan: strict, then abstraction one step at a time, then relaxed (CoMeta, Adapt-E).

Every rung asks for less than the one before. How many there are is ours; CoMeta names the three kinds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, takewhile
from typing import NamedTuple

from tools.contract import unique
from tools.literature.adapt_e.contract import (
    DateRange,
    Expression,
    Group,
    Limit,
    PlannedTerm,
    Rejected,
    RungName,
    Rungs,
)
from tools.literature.adapt_e.entries import american, british, other_number, spellings
from tools.literature.vocabulary import known_words

Weight = Callable[[str], float]

# Every expression is parsed and linted before it is sent, by `search-query`, which knows PubMed's syntax.
MEANT = frozenset({"QUALITY_0002", "QUALITY_0004", "FIELD_0004", "PUBMED_0002"})
# ours: remarks on style that our rungs mean so: dates stand outside, tags are left to PubMed
UNBALANCED = re.compile(r"^[\s)]+|(?<![\s(])[\s(]+$")
DANGLING = re.compile(r"^\s*(?:AND|OR|NOT)\b|(?<=\()\s*(?:AND|OR|NOT)\b|\b(?:AND|OR|NOT)\s*(?=\)|$)|\(\s*\)")
LOOSE = (
    3  # ours: layers of brackets and operators that are taken away; a query more broken than that is made of its words
)
TAG = re.compile(r"\[[^\]]*\]")


class Verdict(NamedTuple):
    """What the lint says: whether the query can be sent, and its remarks (code and label), fatal ones first."""

    good: bool
    remarks: tuple[str, ...]


def lint(query: str) -> Verdict:
    """Parse a query as PubMed would and collect what is wrong with it."""
    if not query.strip():
        return Verdict(good=False, remarks=("empty query",))
    from search_query.exception import QuerySyntaxError
    from search_query.pubmed.parser import PubmedParser

    parser = PubmedParser(query, field_general="", silent=True)
    # A remark on style whose search for common parts takes minutes on a dozen pairs.
    parser.linter._check_for_opportunities_to_combine_subqueries = lambda *_: None
    try:
        parser.parse()
    except QuerySyntaxError:
        good = False
    except (IndexError, KeyError, ValueError, TypeError, AttributeError):  # its parser trips over some broken queries
        return Verdict(good=False, remarks=("cannot be parsed",))
    else:
        good = True
    found = [m for m in parser.linter.messages if m["is_fatal"] or m["code"] not in MEANT]
    found.sort(key=lambda m: not m["is_fatal"])
    return Verdict(good=good, remarks=tuple(dict.fromkeys(f"{m['code']} {m['label']}" for m in found)))


def mended(query: str) -> str | None:
    """A query that can be sent out of one that cannot: unknown tags and loose brackets and operators are taken out.

    None when nothing helps.
    """
    for attempt in (
        _balanced(query),
        TAG.sub("", _balanced(query)),
        " ".join(re.findall(r"[\w'’-]+", TAG.sub("", query))),
    ):
        words = [w for w in re.findall(r"[\w'’-]+", attempt) if w not in ("AND", "OR", "NOT")]
        if words and attempt != query and lint(attempt).good:
            return attempt
    return None


def _balanced(query: str) -> str:
    out, depth = "", 0
    for character in UNBALANCED.sub("", query):
        if character == ")" and depth == 0:
            continue
        depth += {"(": 1, ")": -1}.get(character, 0)
        out += character
    out += ")" * depth
    for _ in range(LOOSE):
        out = DANGLING.sub("", out).strip()
    return out


STRICT_TERMS = 4  # ours: terms that the strict rung asks for together
TELLING = 0.25  # ours: a term below this share of the best one's weight is asked for only beside others
GROUPED = 3  # ours: terms of a PICO group that stand for one another
PICO = {
    Group.PROBLEM: "population or problem",
    Group.INTERVENTION: "intervention",
    Group.COMPARISON: "comparison",
    Group.OUTCOME: "outcome",
}  # the order in which groups are kept: the last is left out first
FORMS = 8  # ours: forms of a term that are asked for beside each other, so that a query stays readable
SHORTEST, ENDING = 5, 3  # ours: letters of a beginning at least, and of an ending that may differ (NCBI asks for 4)
BRAND = re.compile(r"[A-Z][a-z]+[a-z0-9]*")  # one word that begins with a capital, as brands are written
OPEN_END = "3000"  # code: PubMed's own way to write an open end of a date range
UNSAFE = re.compile(r"[\"\[\]()*:~]")  # what has a meaning in PubMed's syntax


def expressions(
    terms: Sequence[PlannedTerm],
    dates: DateRange | None,
    rungs: Rungs = "terms",
    weight: Weight = len,
    limits: Sequence[Limit] = (),
) -> tuple[list[Expression], list[Rejected]]:
    """The linted rungs for some terms, the most telling first, and what the lint mended or left out.

    Args:
        weight: how much a single word tells; without it the longest tells most. limits: what each ends in.
    """
    ends = " ".join(limit.clause for limit in limits)
    kept: list[Expression] = []
    rejected: list[Rejected] = []
    for rung in _rungs([t for t in terms if _clean(t.text)], dates, rungs, weight):
        good, remark = checked(rung.model_copy(update={"query": f"({rung.query}) {ends}"}) if ends else rung)
        if remark is not None:
            rejected.append(remark)
        if good is not None and all(good.query != k.query for k in kept):
            kept.append(good)
    return kept, rejected


def checked(rung: Expression) -> tuple[Expression | None, Rejected | None]:
    """A rung that can be sent: as it is, mended, or None; with the remark when it was not good as it was."""
    verdict = lint(rung.query)
    if verdict.good:
        return rung, None
    reason = "; ".join(verdict.remarks)
    instead = mended(rung.query)
    remark = Rejected(query=rung.query, reason=reason, mended=instead or "")
    return (rung.model_copy(update={"query": instead}) if instead else None), remark


def _rungs(terms: list[PlannedTerm], dates: DateRange | None, rungs: Rungs, weight: Weight) -> Iterable[Expression]:
    if not terms:
        return
    telling = list(takewhile(lambda t: t.weight >= TELLING * terms[0].weight, terms))[:STRICT_TERMS]
    # a subject of everyday words (gout, a frozen shoulder) tells little by them, and is what a short question is about
    short = len(terms) <= STRICT_TERMS
    strict = [*telling[:1], *(t for t in terms[len(telling) :] if short and _subject(t)), *telling[1:]]
    names = _named(strict)
    yield _expression(RungName.STRICT, [any_form(t) for t in strict], dates, f"all of {names}, in title or abstract")
    abstracted = list(_of_pico(terms, dates)) if rungs == "pico" else []
    yield from abstracted or _of_terms(strict, dates)
    yield from _relaxed(telling, terms, dates, weight)


def _subject(term: PlannedTerm) -> bool:
    """Whether a term is a name that is known, by its heading or other names, of what is treated or given."""
    named = bool(term.mesh or term.synonyms)
    return named and term.group in (Group.PROBLEM, Group.INTERVENTION, Group.COMPARISON)


def _of_terms(strict: list[PlannedTerm], dates: DateRange | None) -> Iterable[Expression]:
    """The abstraction of a plan without groups: a term less each time, then words and classes."""
    for size in range(len(strict) - 1, 1, -1):
        dropped = strict[size].text
        forms = [any_form(t) for t in strict[:size]]
        yield _expression(RungName.ABSTRACTION, forms, dates, f"without “{dropped}”, the least telling left")
    pair = strict[:2]
    opened = [in_words(t) for t in pair]
    if opened != [any_form(t) for t in pair]:
        yield _expression(RungName.ABSTRACTION, opened, dates, f"words and classes of {_named(pair)}, in any order")


def _of_pico(terms: Sequence[PlannedTerm], dates: DateRange | None) -> Iterable[Expression]:
    """The clinical abstraction (CoMeta): the question as its population, intervention, comparison and outcome.

    A group is any of its terms, their words in any order, or their classes. All groups are asked for, then without the
    outcome, then without the comparison: what searchers leave out first, because abstracts seldom name it (ours; the
    paper says only that terms are mapped to PICO). What belongs to no group is not asked for. Nothing with fewer than
    two groups, which would be no abstraction of a question.
    """
    held = {group: [t for t in terms if t.group is group] for group in PICO}
    groups = [group for group in PICO if held[group]]
    while len(groups) > 1:
        parts = [_any_of([in_words(t) for t in held[group][:GROUPED]]) for group in groups]
        told = ", ".join(f"{PICO[group]} ({_named(held[group][:GROUPED])})" for group in groups)
        yield _expression(RungName.ABSTRACTION, parts, dates, f"by PICO: {told}")
        groups.pop()


def _any_of(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"


def _relaxed(
    telling: list[PlannedTerm], terms: list[PlannedTerm], dates: DateRange | None, weight: Weight
) -> Iterable[Expression]:
    """The best term beside any other, then its best word, then pairs, then any: a term that is rare stays asked for
    where pairs of common ones would fill the list, and a rare word where the phrase around it is not found."""
    loose, best = [in_words(t) for t in terms], f"“{terms[0].text}”"
    if len(terms) > 1:
        yield _expression(RungName.RELAXED, [loose[0], _any_of(loose[1:])], dates, f"{best} and any one other term")
    first = max(words_of(terms[:1]) or [terms[0].text], key=weight)
    others = [w for w in words_of(terms) if w != first]
    if others:
        yield _expression(
            RungName.RELAXED,
            [_word(first), _any_of([_word(w) for w in others])],
            dates,
            f"“{first}” and any other word",
        )
    yield _expression(RungName.RELAXED, [_word(first)], dates, f"“{first}” alone, the most telling word")
    pairs = [f"({a} AND {b})" for a, b in combinations(loose[: len(telling)], 2)]
    if len(pairs) > 1:
        yield _expression(RungName.RELAXED, [" OR ".join(pairs)], dates, f"any two of {_named(telling)}")
    if len(terms) > 1:
        yield _expression(RungName.RELAXED, [" OR ".join(loose)], dates, f"any one of {_named(terms)}")
    yield any_word(terms, dates)
    words = words_of(terms)
    begun = unique([f"{w[: max(SHORTEST, len(w) - ENDING)]}*" for w in words if w.isalpha() and len(w) > SHORTEST])
    if begun:
        yield _expression(RungName.RELAXED, [" OR ".join(begun)], dates, "any word that begins like one of theirs")


def words_of(terms: Sequence[PlannedTerm]) -> list[str]:
    """The words of some terms, each once."""
    return unique([w for t in terms for w in t.text.split() if len(w) > 2 and _clean(w)])


def any_word(terms: Sequence[PlannedTerm], dates: DateRange | None) -> Expression:
    """Any word of some terms: sorted by relevance, PubMed's own search by words."""
    words = [f'"{_clean(w)}"' for w in words_of(terms)]
    return _expression(RungName.RELAXED, [" OR ".join(words)], dates, "any of their words")


def any_form(term: PlannedTerm) -> str:
    """The term, its spellings, its synonyms and its MeSH heading, any of them."""
    names = unique([form for name in (term.text, *term.synonyms) for form in forms_of(_clean(name)) if form])
    parts = [f'"{name}"[tiab]' for name in names[:FORMS]]
    if term.mesh:
        parts.append(f'"{term.mesh}"[mh]')
    return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"


def forms_of(name: str) -> list[str]:
    """Its spellings, without a plural that no published prose has of a word that it has; a brand has one."""
    last, known = name.lower().split()[-1:], known_words()
    if BRAND.fullmatch(name) and not known.frequency(*last):
        return [name]
    made = {other_number(spell(w)) for w in last for spell in (american, british)} - set(last)
    unknown = {w for w in made if known.frequency(*last) and not known.frequency(american(w))}
    return [f for f in spellings(name) if f.lower().split()[-1] not in unknown]


def in_words(term: PlannedTerm) -> str:
    """The term with its words in any order, or a synonym, or its class; tags are left to PubMed's own mapping."""
    words = [w for w in _clean(term.text).split() if w]
    parts = [" AND ".join(_word(w) for w in words)]
    parts += [f'"{_clean(name)}"' for name in (*term.synonyms, term.broader) if _clean(name)]
    if len(words) > 1 and len(parts) > 1:
        parts[0] = f"({parts[0]})"
    return parts[0] if len(parts) == 1 and len(words) == 1 else f"({' OR '.join(parts)})"


def _word(word: str) -> str:
    forms = [f'"{w}"' for w in forms_of(word)[:4]]
    return forms[0] if len(forms) == 1 else f"({' OR '.join(forms)})"


def _expression(rung: RungName, parts: Sequence[str], dates: DateRange | None, why: str) -> Expression:
    query = " AND ".join(parts)
    if dates is not None:
        query = f"({query}) AND {_range(dates)}"
    return Expression(rung=rung, query=query, why=why)


def _range(dates: DateRange) -> str:
    since = f"{dates.since:%Y/%m/%d}" if dates.since else "1781"
    until = f"{dates.until:%Y/%m/%d}" if dates.until else OPEN_END
    return f"{since}:{until}[dp]"


def _named(terms: Sequence[PlannedTerm]) -> str:
    return ", ".join(f"“{t.text}”" for t in terms)


def _clean(text: str) -> str:
    return " ".join(UNSAFE.sub(" ", text).split()).strip("-'’ ")
