"""Choosing an option of a multiple-choice question, only with evidence: by the support of each, and by its words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz

from graphs.answering.contract import AnswerView, Choice
from graphs.answering.extractive import Extractor
from graphs.judging.key_terms import KeyTerms, about
from graphs.triage.local import describes_patient
from graphs.verdicts.contract import Sentence
from tools.contract import RankedDisease
from tools.encoders import Vectors
from tools.evidence import Evidence, Frozen
from tools.medicines.constraints import barred_options
from tools.text.language import language_of
from tools.text.negation import denies, prose_clauses
from tools.text.questions import is_question, parts
from tools.text.tokens import tokens

NEGATIVE_STEM = re.compile(r"\b(?:EXCEPT|except|NOT|LEAST|least likely)\b|不属于|不包括|错误的是|除了")
FIRST = re.compile(
    r"\b(?:first(?:[- ]line)?|initial(?:ly)?|at once|immediate(?:ly)?|preferred|of choice)\b|首选|一线|首先",
    re.IGNORECASE,
)


class ChoiceSettings(Frozen):
    """Settings of choosing. All ours.

    Attributes:
        pool: sentences proposed by the stem, and by the options, each.
        floor: support that the best option needs. margin: its lead over the second, as a share of its own support.
        low, high: cosines between option and sentence that count 0 and 1.
        later: weight of a sentence that does not say what comes first, when the question asks for that.
        fuzzy: similarity of names, 0..100, from which an option is a disease of the differential.
        disease: weight of the share of belief of such a disease.
        stem: relevance to the stem that the document of a supporting sentence needs in its best sentence.
        leading: share of the best document's relevance that a document needs too.
        document: weight in it of the document's best sentence: a story is near what it is about, not the treatment.
        elsewhere: weight of a sentence that is not about what the question names, where a document is.
    """

    pool: int = 12
    floor: float = 0.2
    margin: float = 0.2
    low: float = 0.25
    high: float = 0.75
    fuzzy: float = 88.0
    disease: float = 0.5
    stem: float = 0.28
    document: float = 0.65
    leading: float = 0.9
    elsewhere: float = 0.4
    later: float = 0.75


@dataclass(frozen=True)
class Chosen:
    """A choice, None when no option is supported, the sentences that it rests on, and the disease that it names."""

    choice: Choice | None = None
    sentences: Sequence[Sentence] = ()
    disease: RankedDisease | None = None


class OptionChooser:
    """Scores options by evidence."""

    def __init__(self, extractor: Extractor, terms: KeyTerms, settings: ChoiceSettings | None = None) -> None:
        self._extractor = extractor
        self._terms = terms
        self.settings = settings or ChoiceSettings()

    def choose(self, view: AnswerView, evidence: Sequence[Evidence], query: str) -> Chosen:
        """The best supported option, by a margin; ``query`` is the question in the evidence's language."""
        barred = barred_options(view.question, view.options, view.case)
        texts = {label: self._translated(text) for label, text in view.options.items() if label not in barred}
        if not texts:
            return Chosen()
        stem = _stem(query, view.options)
        pool = self._pool(stem, texts, view, evidence)
        support, best = self._support(stem, texts, pool)
        ranked = {o: d for o, d in _diseases(view, self.settings.fuzzy).items() if o in texts}
        total = {o: support[o] + self.settings.disease * (ranked[o].score if o in ranked else 0.0) for o in texts}
        label = self._negative(total) if NEGATIVE_STEM.search(view.question) else self._best(total)
        if label is None:
            return Chosen()
        cited = [best[o] for o in ([label] if total[label] >= self.settings.floor else texts) if o in best]
        reason = _reason(cited, ranked.get(label))
        rests_on = [s.evidence.id for s in cited] + ([ranked[label].evidence_id] if label in ranked else [])
        choice = Choice(
            label=label,
            text=view.options[label],
            reason=reason,
            evidence_ids=tuple(dict.fromkeys(rests_on)),
        )
        return Chosen(choice, cited, ranked.get(label))

    def _translated(self, option: str) -> str:
        """A Chinese option with the English names of what it mentions; any other as it is."""
        return " ".join([option, *self._terms.equivalents(option)]) if language_of(option) == "zh" else option

    def _pool(
        self, stem: str, texts: Mapping[str, str], view: AnswerView, evidence: Sequence[Evidence]
    ) -> list[Sentence]:
        by_stem = self._extractor.proposed(stem, evidence)[: self.settings.pool]
        by_option = self._extractor.proposed(" ".join(texts.values()), evidence)[: self.settings.pool]
        spans = [Sentence(a.evidence, a.start, a.end, a.similarity) for a in view.answered if a.evidence.citable]
        keyed = {(s.evidence.id, s.start, s.end): s for s in [*spans, *by_stem, *by_option] if s.text}
        return list(keyed.values())

    def _support(
        self, stem: str, texts: Mapping[str, str], pool: Sequence[Sentence]
    ) -> tuple[dict[str, float], dict[str, Sentence]]:
        """Support of each option, 0..1, and the sentence that gives it."""
        if not pool:
            return dict.fromkeys(texts, 0.0), {}
        contexts = [f"{s.evidence.title}. {s.text}" if s.evidence.title else s.text for s in pool]
        to_stem = self._extractor.relevance.score([stem], contexts).relevance[0]
        dense = self._extractor.relevance.score(list(texts.values()), [s.text for s in pool]).dense
        near = self._near(stem, pool, to_stem)
        low, high = self.settings.low, self.settings.high
        closeness = np.clip((dense - low) / (high - low), 0.0, 1.0)
        own = own_words(stem, texts)
        support: dict[str, float] = {}
        best: dict[str, Sentence] = {}
        for row, label in enumerate(texts):
            held = [holds(own[label], s) for s in pool]
            values = [float(near[i]) * fit(held[i], float(closeness[row, i])) for i in range(len(pool))]
            at = int(np.argmax(values))
            support[label] = (
                values[at] if (held[at] or 0.0) > 0 else 0.5 * values[at]
            )  # ours: half without a word of its own
            if support[label] >= self.settings.floor:
                best[label] = pool[at]
        return support, best

    def _near(self, stem: str, pool: Sequence[Sentence], to_stem: Vectors) -> Vectors:
        """How near each sentence is to the stem, 0..1, with its document, and 0 below the least.

        A sentence about something else than what the stem names counts less.
        """
        best: dict[str, float] = {}
        for sentence, value in zip(pool, to_stem, strict=True):
            key = sentence.evidence.document_id
            best[key] = max(float(value), best.get(key, 0.0))
        share = self.settings.document
        whole = np.array([best[s.evidence.document_id] for s in pool])
        least = max(self.settings.stem, self.settings.leading * float(whole.max()))
        near = np.where(whole >= least, (1 - share) * to_stem + share * whole, 0.0)
        asked = _asked(stem)
        on_subject = about([(s.evidence.title, s.text) for s in pool], asked, self._terms.subjects(asked))
        near = near * np.where(on_subject, 1.0, self.settings.elsewhere)
        if FIRST.search(asked) and any(FIRST.search(s.text) for s in pool):
            near = near * np.where([bool(FIRST.search(s.text)) for s in pool], 1.0, self.settings.later)
        return np.asarray(near, dtype=np.float32)

    def _best(self, total: Mapping[str, float]) -> str | None:
        ordered = sorted(total, key=lambda o: (-total[o], o))
        first = total[ordered[0]]
        second = total[ordered[1]] if len(ordered) > 1 else 0.0
        return ordered[0] if first >= self.settings.floor and first - second >= self.settings.margin * first else None

    def _negative(self, total: Mapping[str, float]) -> str | None:
        """For "all but one": the option without support when every other has some."""
        ordered = sorted(total, key=lambda o: (total[o], o))
        others = [total[o] for o in ordered[1:]]
        supported = bool(others) and min(others) >= self.settings.floor
        return ordered[0] if supported and total[ordered[0]] < 0.5 * min(others) else None


def _stem(question: str, options: Mapping[str, str]) -> str:
    for label, text in options.items():
        question = re.sub(rf"(?:\b{re.escape(label)}\s*[.):：、]\s*)?{re.escape(text)}", " ", question)
    return " ".join(question.split())


def _asked(stem: str) -> str:
    """What a stem asks, without the story in front: a disease that a patient once had is not the subject."""
    asked = " ".join(s for s in parts(stem) if is_question(s))
    return asked or ("" if describes_patient(stem) else stem)


def _diseases(view: AnswerView, least: float) -> dict[str, RankedDisease]:
    """Options that name a disease of the differential."""
    ranking = view.differential.ranking if view.differential is not None else ()
    out: dict[str, RankedDisease] = {}
    for label, text in view.options.items():
        for disease in ranking:
            names = [n for n in (disease.name, disease.name_zh) if n]
            if any(fuzz.token_sort_ratio(text.lower(), n.lower()) >= least or text == n for n in names):
                out.setdefault(label, disease)
    return out


def _reason(cited: Sequence[Sentence], disease: RankedDisease | None) -> str:
    parts = [f"{s.evidence.id}: {s.text}" for s in cited[:2]]
    if disease is not None:
        parts.append(f"in the differential with a share of {disease.score:.2f} ({disease.evidence_id})")
    return "; ".join(parts)


# How well a sentence fits an option: the words that only the option has, and whether the sentence denies them.

STATEMENT = re.compile(r"[;；]")
# A sentence that says of all it lists that it is no good; ours.
UNFIT = re.compile(
    r"\b(?:ineffective|too slow|unhelpful|harmful|(?:should|must|to) be avoided|not recommended|(?:adds?|of) little|"
    r"no (?:benefit|role|place|use)|(?:do|does|did) not help)\b|无效|应避免|不推荐",
    re.IGNORECASE,
)


def own_words(stem: str, texts: Mapping[str, str]) -> dict[str, set[str]]:
    """The words of each option that neither the stem nor every option holds."""
    bags = {label: set(tokens(text)) for label, text in texts.items()}
    common = set.intersection(*bags.values()) if len(bags) > 1 else set()
    asked = set(tokens(stem))
    return {label: (bag - common - asked) or (bag - common) or bag for label, bag in bags.items()}


def fit(held: float | None, closeness: float) -> float:
    """How well a sentence fits an option: words first, then meaning (shares ours); 0 for one that it denies."""
    return 0.0 if held is None else 0.6 * held + 0.4 * closeness


def holds(wanted: set[str], sentence: Sentence) -> float | None:
    """Share of the wanted words in a sentence or its title, None when the clause that holds most of them is denied."""
    if not wanted:
        return 0.0
    said = wanted & set(tokens(sentence.text))
    best = max(prose_clauses(sentence.text), key=lambda c: len(wanted & set(tokens(c))), default="")
    part = max(STATEMENT.split(sentence.text), key=lambda c: len(wanted & set(tokens(c))), default="")
    if said and (denies(best) or UNFIT.search(part)):
        return None
    return len(said | (wanted & set(tokens(sentence.evidence.title)))) / len(wanted)
