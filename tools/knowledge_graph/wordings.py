"""How well a text agrees with each finding's wordings: by embedding and by words, in English and in Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.compiled import CompiledGraph
from tools.knowledge_graph.lexicon import FOLDED, Lexicon, characters, complaints, folded, poles, qualities, words
from tools.knowledge_graph.schema import FindingNode, Graph
from tools.knowledge_graph.units import Unit
from tools.text import negation
from tools.text.body_sites import compatible, is_only_a_part, sites
from tools.text.clauses import Clause, tells_of_medicine
from tools.text.negation import NORMAL

# Where Chinese wordings stand in a text: whole, or the part of the body and its complaint a few characters apart.
#
# Chinese has no spaces, so a wording may stand in a text by accident: 吐 in 吐血, 腹胀 in 腹胀痛. And words come
# between the two that a wording has side by side: 小腿肿 is told as 小腿开始肿. All rules are ours.
COMPLAINTS = "痛肿痒麻胀红"  # ours: what is said of a part of the body in one character
BETWEEN = 6  # ours: characters that may stand between a part and its complaint
_NO_SUCH_PAIN = re.compile(r"[压触叩按举]$")  # tenderness is no pain
_NOT = re.compile(r"[不无没未]")
# Which matches are shown (ours): a finding is named to a reader only when the text says what its wording says.
#
# The ranking weighs every likely match, and a wrong one costs it little. A finding that is shown must be right. What
# is stated must hold the words of the wording (a cough is no bloody cough); what is denied must be held by them (no
# night sweats is not no sweating, no pets is no cat). What is told of a medicine, of a part that is normal, or of the
# inside of the mouth tells of some kinds of findings only.
Flags = NDArray[np.bool_]


class Held:
    """Finds which of many wordings stand in a text, by all the text's parts that are as long as one."""

    def __init__(self, wordings: Sequence[str]) -> None:
        self._places: dict[str, list[int]] = {}
        for place, wording in enumerate(wordings):
            if wording:
                self._places.setdefault(wording, []).append(place)
        self._lengths = sorted(set(map(len, self._places)))

    def within(self, text: str) -> list[int]:
        """The places of the wordings that stand in a text, in order."""
        parts = {text[at : at + n] for n in self._lengths for at in range(len(text) - n + 1)}
        return sorted(place for part in parts & self._places.keys() for place in self._places[part])


class Standing:
    """Finds the wordings of a graph in texts.

    Args:
        wordings: folded as texts are (`tools.knowledge_graph.lexicon.folded`); "" stands nowhere.
        owners: the position of each wording's finding. graph: whose findings they are.
    """

    def __init__(self, wordings: Sequence[str], owners: Sequence[int], graph: Graph) -> None:
        self._wordings, self._owners, self._held = wordings, owners, Held(wordings)
        position = {f.id: i for i, f in enumerate(graph.findings)}
        self._above = [frozenset(position[b] for b in graph.broader(f.id)) for f in graph.findings]
        known = frozenset(wordings)
        self._apart = [
            (i, w[:-1], _apart(w, sided=bool({f"左{w}", f"右{w}"} & known)), sites(w[:-1]))
            for i, w in enumerate(wordings)
            if len(w) > 1 and w[-1] in COMPLAINTS and sites(w[:-1])
        ]

    def whole(self, text: str, *, denied: bool) -> tuple[Flags, Flags]:
        """Arrays (wordings,): those that stand in the text, and those whose characters stand there by accident alone.

        By accident: only within a longer wording that says something else. What a narrower finding's wording holds
        (胸痛 in 胸痛放射) is said with it; but to deny the narrower is not to deny the broader (吐血, 吐).
        """
        found = self._held.within(text)
        spans = {i: _spans(self._wordings[i], text) for i in found}
        stands, accident = (np.zeros(len(self._wordings), dtype=bool) for _ in range(2))
        for i in found:
            longer = [s for j in found if self._else(i, j, denied=denied) for s in spans[j]]
            stands[i] = any(not any(a <= start and end <= b for a, b in longer) for start, end in spans[i])
            accident[i] = not stands[i]
        return stands, accident

    def apart(self, text: str) -> Flags:
        """Array (wordings,): those whose part and complaint stand near each other, with no other part between."""
        out = np.zeros(len(self._wordings), dtype=bool)
        for i, part, pattern, where in self._apart:
            match = pattern.search(text) if part in text else None
            if match is not None and not _NOT.search(match[1]) and not _NO_SUCH_PAIN.search(match[1]):
                out[i] = sites(match[1]) <= where
        return out

    def _else(self, i: int, j: int, *, denied: bool) -> bool:
        """Whether wording ``j`` is longer than ``i`` and says something that does not imply it."""
        one, other = self._owners[i], self._owners[j]
        if len(self._wordings[j]) <= len(self._wordings[i]) or one == other:
            return False
        return denied or one not in self._above[other]


def _apart(wording: str, *, sided: bool) -> re.Pattern[str]:
    """A part and its complaint with something between; ``sided``: the part of one side has a wording of its own."""
    part, complaint = wording[:-1], wording[-1]
    before = "(?<![左右])" if sided else ""
    return re.compile(rf"{before}{re.escape(part)}([^ ]{{1,{BETWEEN}}}?){complaint}(?!痛)")


def _spans(wording: str, text: str) -> list[tuple[int, int]]:
    """Where a wording stands; a fullness that goes on to be a pain (腹胀痛) is none."""
    after = "(?!痛)" if wording.endswith("胀") else ""
    return [m.span() for m in re.finditer(f"{re.escape(wording)}{after}", text)]


STANDS, STANDS_BEHIND = 0.35, 0.25  # ours: least cosine of a wording that stands in the text, and most behind the best
HELD, ALIKE, BEHIND = 0.45, 0.72, 0.1  # ours: share of a wording's words in the text, with its cosine
MOSTLY_HELD, MOSTLY_SAID, NEARLY_ALIKE = 0.7, 0.6, 0.6  # ours: the same where most of both is the other's
ALL_HELD = 0.99  # ours: the same where every word is held, however far apart
ALL_SAID, LESS_HELD = 0.95, 0.7  # ours: a text that is no more than a part of a wording must be this much of it
VAGUE_ALIKE = 0.58  # ours: least cosine of a sign whose one word is said of many parts (red, swollen)
JOINED_HELD = 0.65  # ours: share of a wording's words when two clauses are read together
DENIED_SAID = 0.6  # ours: share of a denied text's known words in the wording
DENIED_MORE_ALIKE, DENIED_LESS_SAID = 0.85, 0.5  # ours: the same for a wording that means nearly the same
LATIN = re.compile(r"[A-Za-z0-9]+")  # what characters in common leave out: "M蛋白" is no "蛋白"
INNER = frozenset({"eye", "ear", "mouth", "throat"})  # ours: sites where redness or itching is not the skin's
_PREFIX = re.compile(r"\W*non[- ]", re.IGNORECASE)
Matrix = NDArray[np.float32]


class Wordings(NamedTuple):
    """Arrays (wordings,) about one text and every wording.

    Attributes:
        held: weighted share of the wording's words in the text. said: of the text's known words in the wording.
        cosine: similarity. stands: the wording stands in the text.
        vague: a sign in one word that is said of many parts.
        unlike: the wording says something else (see `wordings.py`).
    """

    held: Matrix
    said: Matrix
    cosine: Matrix
    stands: Flags
    vague: Flags
    unlike: Flags


def entailed(told: Wordings, unit: Unit) -> Flags:
    """For each wording whether the text says it (or, of a denied text, whether denying the text denies it)."""
    behind = told.cosine.max() - told.cosine
    found = _denied(told, behind) if unit.denied and not unit.negated else _stated(told, behind, unit)
    return np.asarray(found & ~told.unlike & _separate(unit))


def _stated(told: Wordings, behind: Matrix, unit: Unit) -> Flags:
    stands = told.stands & (told.cosine >= STANDS) & (behind <= STANDS_BEHIND)
    stands &= ~told.vague | (told.cosine >= VAGUE_ALIKE)
    alike = (told.cosine >= ALIKE) & (told.held >= (JOINED_HELD if len(unit.members) > 1 else HELD))
    mostly = ((told.held >= MOSTLY_HELD) & (told.said >= MOSTLY_SAID)) | (told.held >= ALL_HELD)
    alike |= mostly & (told.cosine >= NEARLY_ALIKE)
    alike &= (told.said < ALL_SAID) | (told.held >= LESS_HELD)
    return np.asarray(stands | (alike & (behind <= BEHIND)))


def _denied(told: Wordings, behind: Matrix) -> Flags:
    alike = (told.said >= DENIED_SAID) & ((told.cosine >= ALIKE) | told.stands)
    alike |= (told.said >= DENIED_LESS_SAID) & (told.cosine >= DENIED_MORE_ALIKE)
    return np.asarray(alike & (behind <= BEHIND))


def _separate(unit: Unit) -> bool:
    """Whether the unit may be shown at all: denials are shown of what one clause says by itself."""
    return not unit.distant and not (unit.denied and not unit.negated and (unit.topical or len(unit.members) > 1))


class Kinds:
    """What a clause may tell of by the kind and the site of a finding."""

    def __init__(self, findings: Sequence[FindingNode]) -> None:
        self._examined = np.array([f.kind in ("sign", "test") for f in findings])
        self._of_medicine = np.array([f.kind in ("history", "exposure") for f in findings])
        self._skin = np.array([f.site == "skin" for f in findings])
        self._inner = [sites(f.name) & INNER for f in findings]

    def tellable(self, unit: Unit, clauses: Sequence[Clause]) -> Flags:
        """For each finding whether the unit may tell of it to a reader."""
        clause = clauses[unit.clause]
        allowed = np.ones(len(self._skin), dtype=bool)
        if _says_nothing(unit, clauses) or _denied_by_prefix(clauses, unit.clause):
            return ~allowed
        if clause.normal:
            allowed &= self._examined
        if tells_of_medicine(clause.told):
            allowed &= self._of_medicine
        if clause.sites and clause.sites <= INNER:
            allowed &= ~self._skin | np.array([bool(own & clause.sites) for own in self._inner])  # yellow skin or eyes
        return allowed


def _denied_by_prefix(clauses: Sequence[Clause], at: int) -> bool:
    """Whether a clause is denied only because a list before it began with ``non-``, which denies its own word."""
    if clauses[at].present is not False or clauses[at].told != clauses[at].plain:
        return False
    while at > 0 and clauses[at].present is False and clauses[at].told == clauses[at].plain:
        at -= 1
    return _PREFIX.match(clauses[at].told) is not None


def _says_nothing(unit: Unit, clauses: Sequence[Clause]) -> bool:
    """Whether a unit is no more than the name of a part, or joins two clauses on parts far from each other."""
    if len(unit.members) == 1:
        return is_only_a_part(unit.text)
    first, second = (clauses[m].sites for m in unit.members)
    return not compatible(second, first)


# Wordings that say something else than a text although they share its words (ours): opposites, qualities, hedges.
AMOUNT = 0  # the row of poles in lexicon.yaml with raised and low
HEDGED = re.compile(r"\b(?:about to|almost|nearly)\b", re.IGNORECASE)  # ours: what has not happened


class Unlike:
    """Tells which wordings differ from a text.

    Args:
        phrases: the wordings. words: their words, as `lexicon.words` gives them.
        tests: array (wordings,): the wording is of a test.
    """

    def __init__(self, phrases: Sequence[str], words: Sequence[Sequence[str]], tests: Flags) -> None:
        self._poles = np.array([poles(p) for p in words], dtype=np.int8).T.copy()
        self._qualities = [
            np.array([_bits(flags) for flags in row], dtype=np.uint64)
            for row in zip(*(qualities(p) for p in words), strict=True)
        ]
        self._complaints = np.array([_bits(complaints(p)) for p in words], dtype=np.uint64)
        self._normal = np.array([NORMAL.search(p) is not None for p in phrases])
        self._hedged = np.array([HEDGED.search(p) is not None for p in phrases])
        self._amount = tests & (self._poles[AMOUNT] != 0)

    def opposite(self, said: Sequence[str]) -> Flags:
        """Array (scales that the words said name an end of, wordings): the wording names the other end."""
        ends = np.array(poles(said), dtype=np.int8)
        told = ends != 0
        return np.asarray(self._poles[told] == -ends[told][:, None])

    def different(self, said: Sequence[str], unit: Unit, opposite: Flags) -> Flags:
        """Array (wordings,): the wording is not what the text says, whatever else they share.

        ``opposite`` is what `opposite` gives for the same words.

        It names the other end of a scale; other qualities than the text (sharp, crushing); what almost happened, or a
        normal result, and the text does not. Of a text that states something: it names a complaint that the text does
        not (pain on coughing, for a cough), or says that a test is raised where the text says only that it was done.
        """
        out = opposite.any(axis=0)
        for row, held in zip(qualities(said), self._qualities, strict=True):
            named = _bits(row)
            if named:
                out |= (held != 0) & ((held & named) == 0)
        if NORMAL.search(unit.text) is None:
            out |= self._normal
        if HEDGED.search(unit.text) is None:
            out |= self._hedged
        if not unit.denied:
            out |= (self._complaints & ~_bits(complaints(said))) != 0
            out |= self._amount & (poles(said)[AMOUNT] == 0)
        return np.asarray(out)


def _bits(flags: Iterable[bool]) -> np.uint64:
    """Flags as bits of one number: thousands of wordings are compared with a text at once. At most 64."""
    return np.uint64(sum(1 << i for i, flag in enumerate(flags) if flag))


# ours: cosine of unrelated and of equal wordings in the embedded encoder, between which confidence rises
SIMILARITY_LOW, SIMILARITY_HIGH = 0.45, 0.85
BESIDE = 0.05  # ours: cosine behind the best finding of a text that costs nothing
RIVAL = 0.1  # ours: cosine beyond that at which confidence falls to 1/e: a text tells of what it is nearest to
OPPOSITE = 0.3  # ours: a wording at the other end of a scale (fast, slow), against one at the same
JOINED, BOTH = 0.5, 0.15  # ours: share of a wording's words in clauses together, and how much more than in one alone
CONTAINED = 0.97  # ours: confidence when every word of a wording stands in the text, near each other
SCATTERED = 0.75  # ours: the most that words which stand apart are worth
AGREE = 0.75  # ours: what the weaker of two kinds of evidence adds to half of the stronger
NEARER = 0.02  # ours: cosine by which a text must be nearer to a narrower finding than to its broader one
GENERAL = 0.5  # ours: worth of a narrower finding when the text is nearer to the broader one
APART_ZH = np.float32(0.9)  # ours: confidence of a part and its complaint that stand a few characters apart
UNWRITTEN_ZH = np.float32(0.4)  # ours: confidence at most of one character, or another's wording, not as it is written
ASSURED_ZH = 0.5  # ours: a Chinese wording this sure may be shown; almost all that are stand in the text
SAME_START = 5  # letters that a wording of one word must share with a word of the text; ours
ALL = 0.999  # every word, within rounding


class Agreement(NamedTuple):
    """Arrays (findings,): confidence 0..1, similarity of the nearest wording (in Chinese: the confidence), and whether
    a wording agrees so well that the finding may be shown.
    """

    score: Matrix
    similarity: Matrix
    assured: NDArray[np.bool_]


class EnglishWordings:
    """The English wordings of a graph."""

    def __init__(self, compiled: CompiledGraph) -> None:
        owner = np.array(compiled.owner)
        self._starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        held = [words(p) for p in compiled.phrases]
        self._lexicon = Lexicon(held)
        kinds = np.array([f.kind for f in compiled.graph.findings])[owner]
        self._vague = np.array([len(p) == 1 and bool(set(p) & FOLDED) for p in held]) & (kinds == "sign")
        self._unlike = Unlike(compiled.phrases, held, kinds == "test")
        self._exact = {i: _must_stand(p, held[i]) for i, p in enumerate(compiled.phrases)}
        self._negative = np.array([negation.is_negative_phrase(p) for p in compiled.phrases])
        self._deficit = np.array([negation.is_deficit(p) for p in compiled.phrases])
        self._broader = _broader_of(compiled.graph)

    def agreement(self, unit: Unit, cosine: Matrix) -> Agreement:
        """Agreement of a text with every finding; ``cosine`` is its similarity to every wording."""
        said_words = words(unit.text)
        held, said, said_known = self._lexicon.coverages(said_words)
        behind = np.clip(cosine.max() - cosine - BESIDE, 0, None)
        semantic = np.clip((cosine - SIMILARITY_LOW) / (SIMILARITY_HIGH - SIMILARITY_LOW), 0, 1)
        semantic *= np.exp(-behind / RIVAL)
        lexical = np.minimum(_partly(held, said), SCATTERED)
        whole = self._lexicon.contained(said_words, np.flatnonzero(held > ALL))
        lower = unit.text.lower()
        stands = [i for i in whole if self._exact[i] in lower]
        lexical[stands] = CONTAINED
        weaker, stronger = np.minimum(semantic, lexical), np.maximum(semantic, lexical)
        together = np.maximum(stronger, 0.5 * stronger + AGREE * weaker)
        opposite = self._unlike.opposite(said_words)
        for other in opposite:
            together[other] *= OPPOSITE
        allowed = self._allowed(unit, lexical)
        different = self._unlike.different(said_words, unit, opposite)
        told = Wordings(held, said_known, cosine, lexical >= CONTAINED, self._vague, different)
        return self._by_finding(np.clip(together * allowed, 0, 1), cosine, lexical, entailed(told, unit) & allowed)

    def joins(self, texts: Sequence[str]) -> bool:
        """Whether some wording has enough of its words in the texts together, and more of them than in any one."""
        said = [words(t) for t in texts]
        alone = np.max([self._lexicon.coverage(w)[0] for w in said], axis=0)
        together, _ = self._lexicon.coverage([w for words_ in said for w in words_])
        return bool(((together >= JOINED) & (together > alone + BOTH)).any())

    def _allowed(self, unit: Unit, lexical: Matrix) -> NDArray[np.bool_]:
        """Which wordings may match at all: ``no appetite`` is a loss of appetite, and denies no finding; ``TSH normal``
        is no suppressed one."""
        if unit.negated:
            plainly = self._negative & (lexical >= CONTAINED)
            return np.asarray(plainly if NORMAL.search(unit.text) else self._deficit | plainly)
        if unit.denied and not unit.negative:
            return np.asarray(~(self._negative | self._deficit))
        return np.asarray(~self._negative | unit.negative)

    def _by_finding(self, together: Matrix, cosine: Matrix, lexical: Matrix, assured: NDArray[np.bool_]) -> Agreement:
        score = np.maximum.reduceat(together, self._starts).astype(np.float32)
        similarity = np.maximum.reduceat(cosine, self._starts)
        contained = np.maximum.reduceat(lexical, self._starts) >= CONTAINED
        narrow, above = self._broader
        # a score only falls, so a pair that is no candidate now is none later
        candidates = ~contained[narrow] & (score[above] >= GENERAL) & (similarity[narrow] < similarity[above] + NEARER)
        for i in np.flatnonzero(candidates):
            if score[above[i]] >= GENERAL:
                score[narrow[i]] *= GENERAL
        return Agreement(score, similarity, np.logical_or.reduceat(assured, self._starts))


class ChineseWordings:
    """The Chinese wordings of a graph. The embedded encoder knows no Chinese: characters in common decide (ours)."""

    def __init__(self, graph: Graph) -> None:
        phrases = [(p, i) for i, f in enumerate(graph.findings) for p in (f.zh, *f.say_zh)]
        self._folded = [folded(p) for p, _ in phrases]
        self._lexicon = Lexicon([characters(p) for p, _ in phrases])
        self._negative = np.array([negation.chinese_negation(p) is not None for p, _ in phrases])
        owner = np.array([i for _, i in phrases])
        self._standing = Standing(self._folded, owner.tolist(), graph)
        self._starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        owners: dict[str, set[int]] = {}
        for text, i in zip(self._folded, owner, strict=True):
            owners.setdefault(text, set()).add(int(i))
        # a wording that is another's after folding, or one character, must stand unfolded to be shown
        plain = [
            p if len(f) <= 1 or len(owners[f]) > 1 else "" for (p, _), f in zip(phrases, self._folded, strict=True)
        ]
        self._plain, self._any_way = Held(plain), np.array([not p for p in plain])
        written = ([w.lower() for w in LATIN.findall(p)] for p, _ in phrases)
        self._latin = [(at, words) for at, words in enumerate(written) if words]

    def agreement(self, unit: Unit) -> Agreement:
        """Agreement of a text with every finding."""
        held, said = self._lexicon.coverage(characters(unit.text))
        text = folded(unit.text)
        phrase = _partly(held, said)
        if len(unit.members) == 1:
            phrase = np.where(self._standing.apart(text), APART_ZH, phrase)
        stands, accident = self._standing.whole(text, denied=unit.denied)
        phrase = np.where(stands, np.float32(CONTAINED), np.where(accident, np.float32(0.0), phrase))
        phrase = phrase * self._allowed(unit)
        low = unit.text.lower()
        phrase[[at for at, words in self._latin if not all(w in low for w in words)]] = 0.0
        as_written = self._any_way.copy()
        as_written[self._plain.within(unit.text)] = True
        phrase = np.where(as_written, phrase, np.minimum(phrase, UNWRITTEN_ZH))
        sure = (phrase > ASSURED_ZH) & as_written
        score = np.maximum.reduceat(phrase, self._starts).astype(np.float32)
        return Agreement(score, score, np.logical_or.reduceat(sure, self._starts))

    def _allowed(self, unit: Unit) -> NDArray[np.bool_]:
        return np.asarray(self._negative if unit.negated else (~self._negative | unit.negative))


def _partly(held: Matrix, said: Matrix) -> Matrix:
    """Confidence from shared words (ours): a wording half told is worth a third, less when much else is said."""
    score: Matrix = held * np.sqrt(held) * (0.55 + 0.45 * said)
    return score


def _must_stand(phrase: str, tokens: Sequence[str]) -> str:
    """What of a wording must stand in the text as it is, so that stems and stop words do not mislead."""
    lower = phrase.lower()
    if len(tokens) <= 1:
        return lower if " " in lower else "" if set(tokens) & FOLDED else lower[:SAME_START]
    return lower if "-" in lower and len(tokens) == 2 else ""


def _broader_of(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of narrower findings, and of their broader ones, near and far: one pair a place."""
    position = {f.id: i for i, f in enumerate(graph.findings)}
    pairs = [(position[f.id], position[above]) for f in graph.findings for above in graph.broader(f.id)]
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
