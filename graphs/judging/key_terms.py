"""Key terms: the names in a question that evidence must mention before it can answer.

A question about a drug or a disease that no evidence mentions must not be answered from evidence about its neighbours.
An English word is rare when the encoder's vocabulary cuts it into several pieces; a Chinese one when the dictionary
knows no word there. Words that describe rather than name (adjectives, verb forms) do not count.

A medicine is mentioned by any of its names, its class included. A rare word that the library knows elsewhere and that
is no medicine is an everyday word; a medicine that it knows may be missing beside others that are mentioned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from rapidfuzz.distance import Levenshtein

from tools.encoders import Encoder
from tools.literature.vocabulary import MEDICAL_ENDING, NO_TERM
from tools.medicines.names import other_names
from tools.text.frequency import zipf
from tools.text.language import HAN, language_of
from tools.text.tokens import STOP, STOP_ZH, jieba_tokenizer, stem, tokens

Synonyms = Callable[[str], Mapping[str, Sequence[str]]]
"""For a text: each medical name found in it, as written, with its other names (English ones for a Chinese text)."""

Subject = tuple[str, ...]
"""The names of one thing, the first as it was written."""

PIECES = 3  # ours: word pieces from which a word is rare; on 419 questions with known answers it marked under 1 %
LETTERS = 7  # ours: shorter rare words are mostly everyday ones (phlegm, grumpy)
NAME_LETTERS = 4  # ours: the shortest capitalised name
PREFIX = 5  # ours: letters that inflections of one word share (myasthenic, myasthenia)
SPELLING = 1  # ours: letters in which two spellings of a long word may differ
# Endings of words that describe or abstract rather than name; ours.
DESCRIPTIVE = tuple(
    "ic al ar ous ive ed ing ly able ible ary ory less ful ence ance tion sion ness ment ity ship ist".split()
)
COMPOUND = ("out", "over", "under", "up", "down", "back", "hand")  # ours: first parts of everyday compounds (outgrow)
DISEASE = ("itis", "osis")  # ours: endings by which two diseases of one organ differ (pneumonitis, pneumonia)
# What is asked of a subject, and so names none; ours.
ASKED = frozenset(
    "prognosis diagnosis aetiology etiology pathogenesis pathophysiology epidemiology prophylaxis contraindications"
    " complications differential comorbidities sequelae pharmacology histology".split()
)
BRITISH = (("ae", "e"), ("oe", "e"), ("ph", "f"), ("our", "or"), ("is", "iz"), ("ys", "yz"))
HEAD = re.compile(
    r"\s+(?:fever|syndrome|disease|palsy|disorder|\w+itis)\b", re.IGNORECASE
)  # ours: what it names; quaylic fever
WORD = re.compile(r"[A-Za-z]+")
NAMED = re.compile(r"\b[A-Za-z]\w{3,}")
# Endings of the names of bacteria, which texts shorten (Helicobacter, H. pylori); ours.
GENUS = re.compile(r"(?:bacter|bacteri(?:a|um)|coccus|cocci|ella|monas|bacillus|ichia|idium|idia|philus|plasma)$")
CHINESE_RUN = 3  # ours: single characters in a row that no dictionary joins
CHINESE_COMMON = frozenset(
    "对于与或及在从由被把将让使给向往到按为以之其此该每各某何能会可应需要不没未无有用服吃打做时后前中内外上下多少大小"
)


class KeyTerms:
    """Finds the rare names of a question and says which of them no text mentions.

    Args:
        encoder: tells rare words.
        synonyms: other names of what a text mentions, beside those of medicines.
        known: words in lower case that are in use somewhere in the library.
    """

    def __init__(
        self, encoder: Encoder, synonyms: Synonyms | None = None, known: Collection[str] = frozenset()
    ) -> None:
        self._encoder = encoder
        self._synonyms = synonyms or (lambda _text: {})
        self._known = known

    def equivalents(self, text: str) -> list[str]:
        """The first other name of each thing that a text mentions (for a Chinese text its English name), each once."""
        return list(dict.fromkeys(names[0] for names in self._synonyms(text).values() if names))

    def subjects(self, text: str) -> list[Subject]:
        """What a text names, each by all its names; medicines are left out."""
        return [(mention, *names) for mention, names in self._synonyms(text).items()]

    def strange(self, question: str) -> list[str]:
        """Names in a question that are in use neither in the library nor in English at large: vectors tell little of
        them (SLC25A46, DamID, netupitant)."""
        found = [w for w in NAMED.findall(question) if w.lower() not in self._known and zipf(w.lower()) == 0]
        return list(dict.fromkeys(found))

    def uncovered(self, question: str, texts: Iterable[str]) -> list[str]:
        """Rare names of the question that no text mentions, in order; spelling variants and synonyms count.

        Empty when all that is missing are medicines that are in use elsewhere, and at least as many are mentioned.
        """
        body = " ".join(texts)
        rest = _without(question, self._synonyms(question), body)
        if language_of(question) == "zh":
            return [name for name in unknown_runs(rest) if name not in body]
        medicines = other_names(question)
        rest = _without(rest, medicines, body)
        vocabulary = {w.lower() for w in WORD.findall(body)}
        stems = {stem(w) for w in vocabulary}  # vaccination is of a vaccine
        absent = [m for m in medicines if m in rest and _lower(m) and stem(m.lower()) not in stems]
        rest = BEGINS.sub(lambda m: m[0].lower(), rest)
        strange = [w for w in self._rare(_blank(rest, absent)) if not self._said(w, vocabulary, body)]
        if strange or len(absent) > len(medicines) - len(absent):
            return list(dict.fromkeys([*absent, *strange]))
        return []

    def _said(self, word: str, vocabulary: set[str], body: str) -> bool:
        """Whether texts mention a rare word, or it is one that the library uses elsewhere, not as a name."""
        lower = word.lower()
        if _has(vocabulary, lower) or (GENUS.search(lower) and re.search(rf"\b{word[0].upper()}\. [a-z]+", body)):
            return True
        return word.islower() and lower in self._known and not MEDICAL_ENDING.search(lower)

    def _rare(self, question: str) -> list[str]:
        found = [(m[0], m.start()) for m in WORD.finditer(question)]
        plain = STOP | ASKED
        candidates = [(w, at) for w, at in found if w.lower() not in plain and len(w) >= NAME_LETTERS and _lower(w)]
        counts = self._encoder.count_tokens([w for w, _ in candidates]) if candidates else []
        return [w for (w, at), n in zip(candidates, counts, strict=True) if _is_name(question, w, at, n)]


BEGINS = re.compile(r"(?:^|(?<=[.!?;:]\s))[A-Z](?=[a-z])")  # what begins a sentence is no name by its capital letter


def _without(text: str, named: Mapping[str, Sequence[str]], body: str) -> str:
    """The text without the names that the body mentions, by any other name."""
    return _blank(text, [m for m, names in named.items() if any(mentions(body, name) for name in (m, *names))])


def _blank(text: str, names: Sequence[str]) -> str:
    for name in names:
        whole = re.escape(name) if HAN.search(name) else rf"\b{re.escape(name)}\b"
        text = re.sub(whole, " ", text, flags=re.IGNORECASE)
    return text


def unknown_runs(text: str) -> list[str]:
    """Runs of Chinese characters that the dictionary joins into no word: names that it does not know."""
    runs: list[str] = []
    current = ""
    for word in [*jieba_tokenizer().cut(text, HMM=False), " "]:
        single = len(word) == 1 and HAN.match(word) and word not in STOP_ZH and word not in CHINESE_COMMON
        if single:
            current += word
            continue
        if len(current) >= CHINESE_RUN:
            runs.append(current)
        current = ""
    return runs


def _lower(word: str) -> bool:
    """Whether a word is written in small letters after its first: acronyms (DOAC, NSAIDs) are no names."""
    return word[1:].islower()


def _is_name(question: str, word: str, at: int, pieces: int) -> bool:
    before = question[:at].rstrip()
    capitalised = word[0].isupper() and before != "" and before[-1] not in ".?!:"
    if capitalised:
        return pieces > 1
    if pieces >= PIECES and HEAD.match(question[at + len(word) :]):
        return True
    everyday = word.lower().endswith(DESCRIPTIVE) or word.lower().startswith(COMPOUND)
    return pieces >= PIECES and len(word) >= LETTERS and not everyday


def _has(vocabulary: set[str], word: str) -> bool:
    plain = _plain(word)
    if word in vocabulary or any(stem(word) == stem(v) for v in vocabulary if v[:2] == word[:2]):
        return True
    return any(_same(plain, _plain(v)) and _one_disease(word, v) for v in vocabulary if len(v) >= PREFIX)


def _one_disease(word: str, other: str) -> bool:
    """Whether nothing in their endings makes two forms of one stem two diseases (bronchitis, bronchitic are one)."""
    return other.endswith("ic") or all(word.endswith(e) == other.endswith(e) for e in DISEASE)


def _same(left: str, right: str) -> bool:
    shared = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    if shared >= PREFIX and shared >= 0.7 * max(len(left), len(right)):  # ours: the greater part of the longer word
        return True
    return min(len(left), len(right)) >= LETTERS - 1 and Levenshtein.distance(left, right, score_cutoff=1) <= SPELLING


def _plain(word: str) -> str:
    for british, plain in BRITISH:
        word = word.replace(british, plain)
    return word


def has_form(body: str, word: str) -> bool:
    """Whether a text holds a word in another form or spelling, of one word alone."""
    return WORD.fullmatch(word) is not None and _has({w.lower() for w in WORD.findall(body)}, word.lower())


def mentions(body: str, name: str) -> bool:
    """Whether a text holds a name, as a word or the beginning of one."""
    if HAN.search(name):
        return name in body
    return re.search(rf"\b{re.escape(name)}", body, re.IGNORECASE) is not None


def mentions_all(body: str, names: Sequence[str]) -> bool:
    """Whether a text holds all of some names, where there are any."""
    return bool(names) and all(mentions(body, name) for name in names)


def is_of_another(text: str, subjects: Sequence[Subject]) -> bool:
    """Whether a text names none of some subjects, where there are any: it is about something else."""
    return bool(subjects) and not any(mentions(text, name) for subject in subjects for name in subject)


# Whether a text is about what a question names: by the names and the words of its title.

# Words of titles that name no subject by themselves; ours.
GENERAL = frozenset(
    tokens(
        " ".join(NO_TERM) + " disease syndrome acute chronic treatment prevention primary secondary screening testing"
        " test infection attack exacerbation people rule using therapy drug drugs medicine line"
    )
)


def about(texts: Sequence[tuple[str, str]], question: str, subjects: Sequence[Subject]) -> list[bool]:
    """Of each (title, text), whether it is about what a question names.

    A question names what a title names too: one of its ``subjects`` (by any of their names), whole titles, or else a
    word of one. Where it names several (gout, in someone with kidney disease), those texts are about it that hold as
    many of them as any does. All texts are when no title holds a name: then nothing tells them apart.
    """
    titles = {title for title, _ in texts}
    named = [s for s in subjects if any(mentions(title, name) for title in titles for name in s)]
    asked = set(tokens(question))
    words = {frozenset(tokens(title)) - GENERAL for title in titles} - {frozenset()}
    whole = [w for w in words if w <= asked]
    if not named and not whole:
        wanted = frozenset[str]().union(*words) & asked
        return [not wanted or bool(wanted & set(tokens(f"{title}. {text}"))) for title, text in texts]
    held = [_held(f"{title}. {text}", named, whole) for title, text in texts]
    most = max(held, default=0)
    return [not most or n == most for n in held]


def _held(text: str, named: Sequence[Subject], whole: Sequence[frozenset[str]]) -> int:
    """How many of the named subjects and whole titles a text holds."""
    words = set(tokens(text))
    return sum(any(mentions(text, name) for name in s) for s in named) + sum(w <= words for w in whole)
