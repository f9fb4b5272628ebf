"""The local planner: terms, groups, intent, dates and rungs by rules, without any service (CoMeta, Adapt-E)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cached_property, partial
from itertools import chain

from tools.contract import unique
from tools.literature.adapt_e.contract import (
    Correction,
    Group,
    Intent,
    PlannedTerm,
    Rungs,
    SearchPlan,
    pico_of,
)
from tools.literature.adapt_e.entries import entry_of, in_medical_words
from tools.literature.adapt_e.expressions import expressions
from tools.literature.adapt_e.limits import date_constraint, limits_in, without_limits
from tools.literature.privacy import TALK, Cleared, clear, leaves, worth_asking
from tools.literature.terms import (
    MAX_TERMS,
    MAX_WORDS,
    QUESTIONS,
    Candidate,
    asking,
    candidates,
    clean_terms,
    distinct,
    least_of,
    word_weight,
)
from tools.literature.vocabulary import ABBREVIATIONS, NO_TERM, Vocabulary, chinese_searched
from tools.medicines.names import medicines_in
from tools.text.frequency import zipf
from tools.text.language import HAN

# in the order in which they are tried: a question about harm names a treatment too
INTENTS = tuple(Intent(name) for name in QUESTIONS if name in {intent.value for intent in Intent})


def intent_of(text: str) -> Intent:
    """What a text wants to know; the question's own sentences are the ones to hand in."""
    return next((intent for intent in INTENTS if QUESTIONS[intent.value].search(text)), Intent.OTHER)


def group_of(term: str, text: str, listed: Group | None = None) -> Group:
    """The place of a term: as a table lists it, or by its form and what stands before it in the text."""
    at = text.lower().find(term.lower())
    if at > 0 and QUESTIONS["compared"].search(text[:at]) and (listed is Group.INTERVENTION or _intervenes(term)):
        return Group.COMPARISON
    if listed is not None:
        return listed
    if QUESTIONS["outcome"].search(term):
        return Group.OUTCOME
    if _intervenes(term):
        return Group.INTERVENTION
    return Group.PROBLEM if QUESTIONS["problem"].search(term) else Group.OTHER


def _intervenes(term: str) -> bool:
    return QUESTIONS["intervention"].search(term) is not None or any(not m.everyday for m in medicines_in(term))


SHORTEST = 6  # ours: letters; below that one changed letter makes another word
SIMILAR = 88  # ours: rapidfuzz's ratio, 0..100: one slip in eight letters, two in sixteen
IN_USE = 3  # ours: documents of the collection that hold a word which is then no slip
OFTENER = 30  # ours: times that the word which was meant is oftener in the collection than a slip that is printed there
COMMON = 2.0  # ours: Zipf frequency from which a word is no slip


class VocabularySpeller:
    """Corrects against the words of the library and the medical names on this machine."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    @cached_property
    def _words(self) -> list[str]:
        vocabulary = self._vocabulary
        every = chain(vocabulary.frequencies, vocabulary.words)
        return sorted({w for w in every if len(w) >= SHORTEST and w.isalpha()})

    def suggest(self, term: str) -> str | None:
        """The term with each unknown word replaced by the one known word that is nearly it."""
        words = term.split()
        better = [self._nearest(w) or w for w in words]
        return " ".join(better) if better != words else None

    def _nearest(self, word: str) -> str | None:
        low = word.lower()
        if len(low) < SHORTEST or not low.isalpha() or self._known(low):
            return None
        from rapidfuzz import fuzz, process

        best = process.extract(low, self._words, scorer=fuzz.ratio, limit=2, score_cutoff=SIMILAR)
        sure = best and (len(best) == 1 or best[0][1] > best[1][1] or best[0][0].startswith(best[1][0]))
        meant = str(best[0][0]) if sure and best[0][0][0] == low[0] else None
        slips = self._vocabulary.collected(low)  # printed ones: a collection of thousands holds most
        return meant if meant and (not slips or self._vocabulary.collected(meant) >= OFTENER * slips) else None

    def _known(self, word: str) -> bool:
        vocabulary = self._vocabulary
        in_use = vocabulary.collected(word) >= IN_USE
        return vocabulary.knows(word) or in_use or zipf(word) >= COMMON or word in NO_TERM


SYNONYMS = 4  # ours: other names asked for beside a term
WEAK = 0.05  # ours: a phrase below this share of the best one's weight is talk around it; see also `TELLING`

CLAUSE = re.compile(r"[，,。；;！!？?\s]+")
DENIED = re.compile(r"(?:也|并)?(?:没有|没|无|否认|未)")  # begins a Chinese clause that denies
OR = re.compile(r"\||\bOR\b")  # between names of one thing, as a planner's term has them

OtherNames = Callable[[str], Mapping[str, tuple[str, ...]]]
Correct = Callable[[str, Callable[[str], bool]], tuple[str, Mapping[str, str]]]


class QueryPlannerLocal:
    """Plans by rules.

    Args:
        vocabulary: what is known of words.
        other_names: names found in a text with other names of the same thing, for example the knowledge graph's.
        today: the day from which "the last five years" counts; None for the current day.
        rungs: what the abstraction is made of.
        correct: puts the spelling of a whole text right before it is planned, and says of which words; None leaves it.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        other_names: OtherNames | None = None,
        today: date | None = None,
        rungs: Rungs = "terms",
        correct: Correct | None = None,
    ) -> None:
        self._vocabulary, self._rungs, self._correct = vocabulary, rungs, correct
        self._speller = VocabularySpeller(vocabulary)
        self._other_names, self._today = other_names, today

    async def plan(self, text: str, *, case: bool, terms: Sequence[str] = ()) -> SearchPlan:
        """The plan of a text; see `QueryPlanner`."""
        text, mended_words = self._correct(text, self._collected) if self._correct is not None else (text, {})
        dates = date_constraint(text, self._today or datetime.now(UTC).date(), case=case)
        limits = limits_in(text, case=case)
        cleared, slips = self._cleared(text if case else without_limits(text, dates, limits))
        if terms:
            found = self._named(terms, cleared, case=case)
        else:
            found = [*self._found(cleared, case=case), *self._translated(text)]
        slips = [*(Correction(written=w, meant=m) for w, m in mended_words.items()), *slips]
        corrections = [*slips, *self._corrections(found)]
        mended = {c.written: c.meant for c in corrections}
        planned = self._planned(
            [f.model_copy(update={"text": mended.get(f.text, f.text)}) for f in found], cleared.text
        )
        weight = partial(word_weight, vocabulary=self._vocabulary)
        rungs, rejected = await asyncio.to_thread(
            expressions, planned, dates, self._rungs, weight, limits
        )  # linted: a while
        return SearchPlan(
            terms=tuple(planned),
            corrections=tuple(corrections),
            intent=intent_of(asking(text)),
            pico=pico_of(planned),
            dates=dates,
            limits=tuple(limits),
            expressions=tuple(rungs),
            rejected=tuple(rejected),
            held=cleared.held,
        )

    def _collected(self, word: str) -> bool:
        """Whether the collection that is searched uses a word."""
        return self._vocabulary.collected(word) >= IN_USE

    def _cleared(self, text: str) -> tuple[Cleared, list[Correction]]:
        """The text without what may not leave; an unknown word that is nearly one of medicine is read as that one."""
        cleared, slips = clear(text, self._vocabulary), []
        for word in cleared.slips:
            meant = self._speller.suggest(word)
            if meant and worth_asking(meant, self._vocabulary, TALK):
                slips.append(Correction(written=word, meant=meant))
        if slips:
            meant_by = {c.written: c.meant for c in slips}
            mended = re.sub(r"[^\W\d_]+", lambda m: meant_by.get(m[0], m[0]), text)
            again = clear(mended, self._vocabulary)
            return again, slips
        return cleared, []

    def _found(self, cleared: Cleared, *, case: bool) -> list[Candidate]:
        least = least_of(cleared, case=case)
        found = candidates(in_medical_words(cleared.text), self._vocabulary, case=case, least=least)
        best = found[0].weight if found else 0.0
        strong = [c for c in found if c.weight >= WEAK * best]
        kept = set(distinct(c.text for c in strong))
        return [c for c in strong if c.text in kept]

    def _translated(self, text: str) -> list[Candidate]:
        """English names of what a text names in Chinese: nothing else of it can be sent."""
        text = "，".join(clause for clause in CLAUSE.split(text) if not DENIED.match(clause))
        names = list(chinese_searched(text).values()) if HAN.search(text) else []
        if HAN.search(text) and self._other_names is not None:
            called = [n[0] for written, n in self._other_names(text).items() if HAN.search(written) and n]
            names += [name for name in called if " or " not in name]  # which names a kind of thing, and nothing
        return [Candidate(text=t.text, weight=1.0) for t in clean_terms(names, self._vocabulary, case=False)]

    def _named(self, terms: Sequence[str], cleared: Cleared, *, case: bool) -> list[Candidate]:
        """The terms that somebody named and that may leave; behind a bar stand other names of a term."""
        free = frozenset() if case else frozenset(w for c in self._found(cleared, case=False) for w in _words(c.text))
        also: dict[str, list[str]] = {}
        for term in terms:
            first, *others = (self._leaving(name, free) for name in OR.split(term))
            for phrase in first:  # a long name gives several
                also.setdefault(phrase, [])
            if first and others and not also[first[0]]:
                also[first[0]] = [name for names in others for name in names[:1]][:SYNONYMS]
        kept = distinct(also)
        return [Candidate(text=t, weight=float(len(kept) - n), also=tuple(also[t])) for n, t in enumerate(kept)]

    def _leaving(self, name: str, free: frozenset[str]) -> list[str]:
        """What may leave of a name: of a case known words only; else, too, what may leave of the text itself."""
        loose = [t.text for t in clean_terms([name], self._vocabulary, case=False)] if free else []
        held = [text for text in loose if _words(text) <= free]
        return held or [t.text for t in clean_terms([name], self._vocabulary, case=True)]

    def _corrections(self, found: Sequence[Candidate]) -> list[Correction]:
        corrections = []
        for item in found:
            meant = self._speller.suggest(item.text)
            if meant and meant.lower() != item.text.lower():
                allowed = clean_terms([meant], self._vocabulary, case=False)
                corrections += [Correction(written=item.text, meant=t.text) for t in allowed[:1]]
        return corrections

    def _planned(self, found: Sequence[Candidate], text: str) -> list[PlannedTerm]:
        planned: dict[str, PlannedTerm] = {}
        for item in found:
            term = self._term(item, text)
            planned.setdefault(term.text.lower(), term)
        return list(planned.values())[:MAX_TERMS]

    def _term(self, item: Candidate, text: str) -> PlannedTerm:
        own, long = entry_of(item.text), self._written_out(item.text)
        entry = own or next(filter(None, map(entry_of, long)), None)
        synonyms = [*item.also, *long, *(entry.also if entry else self._called(item.text))]
        drug = next(
            (m for m in medicines_in(item.text) if not m.everyday and m.written.lower() == item.text.lower()), None
        )
        if drug is not None:
            member = [n for n in (drug.generic, *drug.names) if n not in drug.classes]
            synonyms += member if drug.generic else drug.classes  # a member of a class is not the class
        name = own.term if own else item.text
        listed = entry.group if entry else Group.INTERVENTION if drug else None
        others = [s for s in unique(synonyms) if s.lower() != name.lower() and len(s.split()) <= MAX_WORDS]
        return PlannedTerm(
            text=name,
            group=group_of(item.text, text, listed),
            synonyms=tuple([s for s in others if leaves(s)][:SYNONYMS]),
            broader=entry.broader if entry and entry.broader else drug.family if drug and drug.generic else "",
            mesh=entry.mesh if entry else "",
            weight=item.weight,
        )

    def _written_out(self, phrase: str) -> list[str]:
        words = phrase.split()
        long = " ".join(ABBREVIATIONS.get(w, w) for w in words)
        return [long] if long != phrase else []

    def _called(self, phrase: str) -> list[str]:
        """Other names of the very thing that the phrase names, by the knowledge graph."""
        if self._other_names is None:
            return []
        called = self._other_names(phrase)
        names = next((others for written, others in called.items() if written.lower() == phrase.lower()), ())
        whole = {name.lower() for name in names}  # a piece of a name (loss, of loss of feeling) is another thing
        found = clean_terms(names[:2], self._vocabulary, case=True)
        return [t.text for t in found if len(t.text) > 3 and t.text.lower() in whole]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().split())
