"""Which words of a message take the place of which words of a case, or take them back: a small trained network.

Every stretch of a few words of the case is held against every stretch of the message, and against nothing: what sorts
of words they are (`mentions.yaml`), how near the encoder finds them, what stands around them, and what the message as
a whole says. A network of one hidden layer, trained by `evals/revision_head.py` on `examples/corrections.jsonl`,
says how probable it is that one replaces the other. All ours.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.medicines.names import medicine_words
from tools.reading.features import features, pieces
from tools.text.body_sites import sites
from tools.text.clauses import clauses
from tools.text.demographics import age_in
from tools.text.measures import values
from tools.text.sentences import sentences
from tools.text.tokens import jieba_tokenizer, stem
from tools.weights import stored
from tools.yaml_files import read_yaml

WEIGHTS = Path(__file__).parent / "replacing.safetensors"
AGAIN = "Reinstall the package, or train it again: anamnesis dev reader revisions --out FILE."
WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*|\d+(?:[./:]\d+)*|[\u4e00-\u9fff]+|[^\w\s]")
MOST = 5  # ours: words of a stretch
CASE_READ, MESSAGE_READ = 220, 60  # ours: words of the case's end and of the message's beginning that are read
LAYERS = (1, 3, 6)  # ours: of the encoder, whose states of a stretch are compared
NEAR = 4  # ours: words on either side that count as around a stretch
BESIDE = 48  # ours: buckets of the word before and behind a stretch of the message
MEDICINE = re.compile(
    r"\w{3,}(?:pril|sartan|olol|statin|azole|mycin|cillin|floxacin|oxin|pam|pine|ide|mab|nib|tide|prazole|parin|dipine|"
    r"formin|gliptin|flozin|etine|aline|triptan|phylline|sone|olone|terol)",
)
MEDICINE_ZH = re.compile(r"(?:[洛普地平西林霉素沙坦他汀片胶囊唑拉酮]|双胍|胰岛素|匹林|布洛芬)$")
LEAST = 0.5  # ours: probability from which one stretch takes another's place
FARTHEST = 5.0  # ours: standard deviations by which a feature counts at most
MOST_SURE = 4.0  # ours: of what the message by itself says, a logit
APART = "左右男女上下一二三四五六七八九十两半几不没"  # ours: Chinese characters that are words before another
WITHIN = frozenset("-/.+%'’~")  # signs that may stand within a stretch
NEAREST = 30  # ours: stretches of the case, nearest by meaning, that are compared whatever their sorts
# sorts of words that count where they stand beside a stretch
AROUND = ("allergic", "taking", "had", "relation", "not", "side", "site", "sex")
BARE = frozenset(("empty", "stop", "other", "back", "not"))  # sorts that make no two stretches alike
Matrix = NDArray[np.float32]


class Word(NamedTuple):
    """A word: its characters in the text, in small letters, its stem, and the sorts that it is of."""

    start: int
    end: int
    text: str
    stem: str
    sorts: tuple[int, ...]


class Side(NamedTuple):
    """A text as the network sees it.

    Attributes:
        begun: where in the text the part begins that is read. words: the words of that part.
        spans: stretches of them, first word and the one behind the last, (spans, 2).
        of: (words, sorts) 1 where a word is of a sort, a row more for no word.
        sorts: (spans, sorts) share of a stretch's words that are of each sort.
        meant: (spans, layers, 384) states of each stretch, of unit length.
        stated: of each word's clause: 1 there, -1 denied, 0 uncertain. sentence: number of each word's sentence.
        stems: of each stretch, of the words that say something.
    """

    begun: int
    words: tuple[Word, ...]
    spans: NDArray[np.int64]
    of: Matrix
    sorts: Matrix
    meant: Matrix
    stated: NDArray[np.float32]
    sentence: NDArray[np.int64]
    stems: tuple[frozenset[str], ...]


class Pair(NamedTuple):
    """Characters of the case and what stands in their place: characters of the message, none where they only go."""

    old: tuple[int, int]
    new: tuple[int, int] | None
    chance: float


class Network(NamedTuple):
    """The weights: of a message by itself (dense, grams, bias); and, of each network, what features are brought to
    (mean, scale), of the states of a stretch of the case, of the message, and of both alike (old, new, like), and the
    two layers."""

    message: Matrix
    message_grams: Matrix
    message_bias: Matrix
    mean: Matrix
    scale: Matrix
    old: Matrix
    new: Matrix
    like: Matrix
    first: Matrix
    shift: Matrix
    second: Matrix
    bias: Matrix


def replaced(case: str, message: str) -> list[Pair]:
    """What a message puts in the place of words of a case, and what it takes back, the surest first.

    The same words of the message may stand in several places for the same words of the case, for others in one.
    """
    a, b = side_of(case, end=True), side_of(message, end=False)
    if not len(a.spans) or not b.words:
        return []
    pairs = pairs_of(a, b)
    chances = 1 / (1 + np.exp(-_logits(a, b, pairs, message)))
    found: list[Pair] = []
    for at in np.argsort(-chances, kind="stable").tolist():
        if chances[at] < LEAST:
            break
        i, j = pairs[at].tolist()
        old = _characters(a, i)
        new = _characters(b, j) if j >= 0 else None
        again = [p for p in found if p.new == new and case[slice(*p.old)].lower() == case[slice(*old)].lower()]
        taken = (p for p in found if p not in again and new and p.new and _meet(new, p.new))
        if not any(_meet(old, p.old) for p in found) and not any(taken):
            found.append(Pair(old, new, float(chances[at])))
    return found


def correction_chance(message: str) -> float:
    """How probably a message, by itself, puts something right that was said before."""
    return float(1 / (1 + np.exp(-_alone_says(message))))


def _logits(case: Side, message: Side, pairs: NDArray[np.int64], text: str) -> Matrix:
    x = seen(case, message, pairs, _alone_says(text))
    width = len(LAYERS) * 384
    old = case.meant.reshape(-1, width)
    new = np.concatenate([message.meant.reshape(-1, width), np.zeros((1, width), np.float32)])
    i, j = pairs[:, 0], pairs[:, 1]
    logits = np.zeros(len(pairs), dtype=np.float32)
    w = network()
    for at in range(len(w.bias)):  # several networks from other beginnings are surer than one
        both = (old @ w.like[at].T)[i] * (new @ w.like[at].T)[j]
        meant = [np.maximum(old @ w.old[at].T, 0)[i], np.maximum(new @ w.new[at].T, 0)[j], both]
        scaled = np.clip((x - w.mean[at]) / w.scale[at], -FARTHEST, FARTHEST)
        hidden = np.maximum(np.concatenate([scaled, *meant], axis=1) @ w.first[at].T + w.shift[at], 0)
        logits += hidden @ w.second[at] + w.bias[at]
    return logits / np.float32(len(w.bias))


def _alone_says(message: str) -> float:
    w, read = network(), features([message])[0]
    said = w.message @ read.dense + w.message_grams[read.buckets] @ read.values + w.message_bias[0]
    return float(np.clip(said, -MOST_SURE, MOST_SURE))


def _characters(side: Side, at: int) -> tuple[int, int]:
    first, behind = side.spans[at].tolist()
    return side.begun + side.words[first].start, side.begun + side.words[behind - 1].end


def _meet(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


@lru_cache(maxsize=1)
def network(path: Path = WEIGHTS) -> Network:
    """The shipped weights; raises DataError when they are missing or damaged."""
    arrays: dict[str, Any] = stored(path, "the reader of corrections", AGAIN).arrays
    return Network(**arrays)


@lru_cache(maxsize=1)
def _lexicon() -> tuple[tuple[str, ...], dict[str, tuple[int, ...]]]:
    table = read_yaml(Path(__file__).with_name("mentions.yaml"))
    names = tuple(dict.fromkeys(k.removesuffix("_zh") for k in table))
    found: dict[str, set[int]] = {}
    for key, written in table.items():
        for word in written.split():
            found.setdefault(word, set()).add(names.index(key.removesuffix("_zh")))
    return names, {word: tuple(sorted(at)) for word, at in found.items()}


READ_SORTS = ("number", "age", "reading", "medicine", "site", "stop", "other")


@lru_cache(maxsize=1)
def sort_names() -> tuple[str, ...]:
    """The sorts of words, in the order of the features."""
    return (*_lexicon()[0], *READ_SORTS)


def words_of(text: str) -> list[Word]:
    """The words of a text with their sorts; runs of Chinese are cut by jieba."""
    names, lexicon = _lexicon()
    first = len(names)
    of = {name: first + i for i, name in enumerate(READ_SORTS)}
    at_age, within_values = age_in(text)[1], {at for v in values(text) for at in range(v.start, v.end)}
    found = []
    for start, end in _cut(text):
        written = text[start:end]
        low = written.lower()
        sorts = set(lexicon.get(low, ()))
        if low[0].isdigit():
            sorts.add(of["number"])
        if at_age[0] <= start < at_age[1] and (low[0].isdigit() or low in lexicon):
            sorts.add(of["age"])
        if start in within_values:
            sorts.add(of["reading"])
        if low in medicine_words() or MEDICINE.fullmatch(low) or (low[0] > "\u4e00" and MEDICINE_ZH.search(low)):
            sorts.add(of["medicine"])
        if sites(low):
            sorts.add(of["site"])
        if not low[0].isalnum():
            sorts.add(of["stop"])
        found.append(Word(start, end, low, stem(low), tuple(sorted(sorts)) or (of["other"],)))
    return found


def _cut(text: str) -> list[tuple[int, int]]:
    found = []
    for match in WORD.finditer(text):
        if "\u4e00" <= match[0][0] <= "\u9fff":
            at = match.start()
            for word in jieba_tokenizer().cut(match[0]):
                split = (
                    [word[0], word[1:]] if word[0] in APART and len(word) > 1 and word not in _lexicon()[1] else [word]
                )
                for part in split:
                    found.append((at, at + len(part)))
                    at += len(part)
        else:
            found.append(match.span())
    return found


@lru_cache(maxsize=8)  # ours: a long case is 5 MB
def side_of(text: str, *, end: bool) -> Side:
    """A text as the network sees it: of a long one its last words (``end``), or its first."""
    cut = _cut(text)
    cut = cut[-CASE_READ:] if end else cut[:MESSAGE_READ]
    begun = cut[0][0] if cut else 0
    text = text[begun : cut[-1][1]] if cut else ""
    words = words_of(text)
    width = len(sort_names())
    of = np.zeros((len(words) + 1, width), dtype=np.float32)
    for at, word in enumerate(words):
        of[at, list(word.sorts)] = 1.0
    spans = np.array([*_stretches(words)], dtype=np.int64).reshape(-1, 2)
    states = _states(text, words)
    summed = np.concatenate([np.zeros((1, *states.shape[1:]), np.float32), np.cumsum(states, axis=0)])
    meant = summed[spans[:, 1]] - summed[spans[:, 0]]
    meant = meant / np.maximum(np.linalg.norm(meant, axis=-1, keepdims=True), 1e-6)
    counted = np.concatenate([np.zeros((1, width), np.float32), np.cumsum(of[:-1], axis=0)])
    sorts = (counted[spans[:, 1]] - counted[spans[:, 0]]) / np.maximum(spans[:, 1:] - spans[:, :1], 1)
    ends = [s.end for s in sentences(text)]
    sentence = np.searchsorted(ends, [w.start for w in words], side="right")
    stems = tuple(_said(words[a:b]) for a, b in spans.tolist())
    meant = meant.astype(np.float32)
    return Side(begun, tuple(words), spans, of, sorts, meant, _stated(text, words), sentence, stems)


def _said(words: Sequence[Word]) -> frozenset[str]:
    """Stems of the words that say something."""
    quiet = quiet_sorts()
    return frozenset(w.stem for w in words if not quiet & set(w.sorts) or len(set(w.sorts) - quiet) > 0)


@lru_cache(maxsize=1)
def quiet_sorts() -> frozenset[int]:
    return frozenset(sort_names().index(name) for name in ("empty", "stop"))


def _stretches(words: Sequence[Word]) -> list[tuple[int, int]]:
    """Stretches of at most ``MOST`` words that neither begin nor end with an empty one, across no stop."""
    quiet, stop = quiet_sorts(), sort_names().index("stop")
    speaks = [bool(set(w.sorts) - quiet) for w in words]
    found = []
    for start in range(len(words)):
        if not speaks[start]:
            continue
        for end in range(start + 1, min(start + MOST, len(words)) + 1):
            last = words[end - 1]
            if stop in last.sorts and last.text not in WITHIN:
                break
            if speaks[end - 1]:
                found.append((start, end))
    return found


def _states(text: str, words: Sequence[Word]) -> Matrix:
    """(words, layers, 384): the mean state of each word's pieces; of a long text as many words at once as are read."""
    out = np.zeros((len(words), len(LAYERS), 384), dtype=np.float32)
    at = 0
    while at < len(words):
        begun = words[at].start
        found = pieces(text[begun:], LAYERS)
        starts = np.array([a + begun for a, _ in found.spans])
        last = begun + found.spans[-1][1] if found.spans else begun
        first = at
        while at < len(words) and (words[at].end <= last or at == first):
            within = (starts >= words[at].start) & (starts < words[at].end)
            if within.any():
                out[at] = found.states[within].mean(axis=0)
            at += 1
    return out


def _stated(text: str, words: Sequence[Word]) -> NDArray[np.float32]:
    told = [c for c in clauses(text) if not c.reading]
    out = np.zeros(len(words), dtype=np.float32)
    for at, word in enumerate(words):
        clause = next((c for c in told if c.start <= word.start < c.end), None)
        out[at] = 0.0 if clause is None or clause.present is None else 1.0 if clause.present else -1.0
    return out


def pairs_of(case: Side, message: Side) -> NDArray[np.int64]:
    """(pairs, 2): stretches of the case and of the message that are compared; -1 for none of the message."""
    alone = np.stack([np.arange(len(case.spans)), np.full(len(case.spans), -1)], axis=1)
    if not len(message.spans) or not len(case.spans):
        return alone
    keep = np.array([name not in BARE for name in sort_names()])
    common = (case.sorts[:, keep] @ message.sorts[:, keep].T) > 0
    near = case.meant[:, -1] @ message.meant[:, -1].T
    like = near >= -np.sort(-near, axis=0)[min(NEAREST, len(near)) - 1]
    texts = [[tuple(w.text for w in s.words[a:b]) for a, b in s.spans.tolist()] for s in (case, message)]
    known = {text: n for n, text in enumerate(dict.fromkeys(texts[0] + texts[1]))}
    number = [np.array([known[t] for t in side]) for side in texts]
    other = number[0][:, None] != number[1][None]
    return np.concatenate([np.argwhere((common | like) & other), alone])


def seen(case: Side, message: Side, pairs: NDArray[np.int64], correction: float) -> Matrix:
    """(pairs, features): what the networks see of each pair; ``correction``: how surely a message is one by itself."""
    old, new = pairs[:, 0], pairs[:, 1]
    there = new >= 0
    cosines = np.einsum("ald,bld->abl", case.meant, message.meant) if len(message.spans) else None
    overlap = _overlaps(case.stems, message.stems)
    parts = [_alone(case, old), _beside(case, old), _of_message(message, correction, len(pairs))]
    width = len(sort_names())
    unary = np.zeros((len(pairs), width + 2 * BESIDE + 7), dtype=np.float32)
    both = np.zeros((len(pairs), width * 2 + 22 + 3 * len(AROUND)), dtype=np.float32)
    if there.any() and cosines is not None:
        unary[there] = _new(message, new[there])
        both[there] = _both(case, message, old[there], new[there], cosines, overlap)
    named = np.zeros((len(pairs), 5), dtype=np.float32)
    if cosines is not None and len(message.spans):
        named[:, 0] = overlap[old].max(axis=1)
        named[:, 1] = cosines[old][:, :, -1].max(axis=1)
        best = overlap[old].argmax(axis=1)
        negated, back = _before(message, "not"), _before(message, "back")
        hit = overlap[old, best] > 0.6
        named[:, 2] = hit & (negated[best] > 0)
        named[:, 3] = hit & (back[best] > 0)
        first = case.spans[old, 0]
        named[:, 4] = np.where(hit, case.stated[first] * message.stated[message.spans[best, 0]], 0.0)
    null = (~there).astype(np.float32)[:, None]
    return np.concatenate([*parts, unary, both, named, named * null, null], axis=1).astype(np.float32)


def _overlaps(case: Sequence[frozenset[str]], message: Sequence[frozenset[str]]) -> Matrix:
    """(case's, message's): share of the stems of two stretches that they have in common."""
    out = np.zeros((len(case), max(len(message), 1)), dtype=np.float32)
    known: dict[str, list[int]] = {}
    for j, stems in enumerate(message):
        for one in stems:
            known.setdefault(one, []).append(j)
    for i, stems in enumerate(case):
        for j in {j for one in stems for j in known.get(one, ())}:
            out[i, j] = len(stems & message[j]) / len(stems | message[j])
    return out


def _alone(side: Side, at: NDArray[np.int64]) -> Matrix:
    """What a stretch of the case is: its sorts, length, how it is stated, how long ago it was said."""
    first, last = side.spans[at, 0], side.spans[at, 1] - 1
    ago = side.sentence[-1] - side.sentence[first]
    rest = [(last - first + 1) / MOST, side.stated[first], np.log1p(ago), _before(side, "not")[at]]
    return np.concatenate([side.sorts[at], np.stack(rest, axis=1).astype(np.float32)], axis=1)


def _beside(side: Side, at: NDArray[np.int64]) -> Matrix:
    """Sorts of the words before and behind a stretch."""
    return np.concatenate([side.of[side.spans[at, 0] - 1], side.of[side.spans[at, 1]]], axis=1)


def _before(side: Side, sort: str) -> Matrix:
    """(spans,): 1 where a word of a sort stands among the few before a stretch, or is its first."""
    column = side.of[:-1, sort_names().index(sort)]
    summed = np.concatenate([[0.0], np.cumsum(column)])
    start = side.spans[:, 0]
    found: Matrix = (summed[start] - summed[np.maximum(start - NEAR, 0)] > 0).astype(np.float32)
    return found


def _of_message(message: Side, correction: float, rows: int) -> Matrix:
    """What the message as a whole is."""
    texts = [w.text for w in message.words]
    count = len(texts)
    chinese = any("\u4e00" <= t[0] <= "\u9fff" for t in texts)
    sums = message.of[:-1].sum(axis=0) if count else np.zeros(message.of.shape[1], np.float32)
    back, negated = (sums[sort_names().index(name)] for name in ("back", "not"))
    said = count - sums[list(quiet_sorts())].sum()
    whole = [correction, np.log1p(count), np.log1p(max(said, 0)), back > 0, negated > 0, "?" in texts or "？" in texts,
             "*" in texts[:1], chinese]  # fmt: skip
    return np.tile(np.array(whole, dtype=np.float32), (rows, 1))


def _new(message: Side, at: NDArray[np.int64]) -> Matrix:
    """What a stretch of the message is, and which words stand before and behind it."""
    first, behind = message.spans[at, 0], message.spans[at, 1]
    count = len(message.words)
    words = np.zeros((len(at), 2 * BESIDE), dtype=np.float32)
    buckets = [zlib.crc32(w.text.encode()) % BESIDE for w in message.words] + [0]
    rows = np.arange(len(at))
    words[rows, np.array(buckets)[np.where(first > 0, first - 1, count)]] = 1.0
    words[rows, BESIDE + np.array(buckets)[np.minimum(behind, count)]] = 1.0
    rest = [
        (behind - first) / MOST, first == 0, behind == count, (behind - first) / max(count, 1), message.stated[first],
        _before(message, "not")[at], _before(message, "back")[at],
    ]  # fmt: skip
    return np.concatenate([message.sorts[at], words, np.stack(rest, axis=1).astype(np.float32)], axis=1)


def _both(
    case: Side, message: Side, old: NDArray[np.int64], new: NDArray[np.int64], cosines: Matrix, overlap: Matrix
) -> Matrix:
    """How a stretch of the case and one of the message are alike."""
    a, b = case.sorts[old], message.sorts[new]
    near = cosines[old, new]
    mean = cosines.mean(axis=2)
    leads = mean[old, new] - mean.max(axis=0)[new], mean[old, new] - mean.max(axis=1)[old]
    f_old, l_old = case.spans[old, 0], case.spans[old, 1]
    f_new, l_new = message.spans[new, 0], message.spans[new, 1]
    stems_a, stems_b = ([w.stem for w in side.words] + [""] for side in (case, message))
    at_a, at_b = np.array(stems_a, dtype=object), np.array(stems_b, dtype=object)
    left, right = at_a[f_old - 1] == at_b[f_new - 1], at_a[l_old] == at_b[np.minimum(l_new, len(stems_b) - 1)]
    first, last = at_a[f_old] == at_b[f_new], at_a[l_old - 1] == at_b[l_new - 1]
    around = _around(case, message, old, new)
    n_old, n_new = _numbers(case), _numbers(message)
    x, y = n_old[old], n_new[new]
    numbered = ~np.isnan(x) & ~np.isnan(y)
    with np.errstate(all="ignore"):
        ratio = np.where(numbered, np.abs(np.log((x + 0.01) / (y + 0.01))), 0.0)
    told_again = overlap.max(axis=0)[new] >= 1.0  # the case says these words already
    named = overlap.max(axis=1)[old] >= 1.0
    rest = [
        *near.T, *leads, overlap[old, new], left & (at_b[f_new - 1] != ""), right & (at_a[l_old] != ""), first, last,
        around[0], around[1], l_old - f_old == l_new - f_new, np.abs((l_old - f_old) - (l_new - f_new)) / MOST,
        numbered, np.minimum(ratio, 3.0), np.isnan(x) != np.isnan(y), numbered & (x == y),
        told_again, named, case.stated[f_old] * message.stated[f_new],
        (case.of[l_old] * message.of[np.minimum(l_new, len(message.words))]).sum(axis=1) > 0,
    ]  # fmt: skip
    c, d = _company(case)[old], _company(message)[new]
    company = [d, c * d, np.abs(c - d)]
    return np.concatenate(
        [np.minimum(a, b), np.abs(a - b), np.stack(rest, axis=1).astype(np.float32), *company], axis=1
    )


def _company(side: Side) -> Matrix:
    """(spans, sorts of `AROUND`): 1 where a word of the sort stands near a stretch, in its sentence."""
    columns = side.of[:-1, [sort_names().index(name) for name in AROUND]]
    out = np.zeros((len(side.spans), len(AROUND)), dtype=np.float32)
    for at, (a, b) in enumerate(side.spans.tolist()):
        near = [n for n in (*range(max(a - NEAR, 0), a), *range(b, min(b + NEAR, len(side.words))))
                if side.sentence[n] == side.sentence[a]]  # fmt: skip
        out[at] = columns[near].max(axis=0) if near else 0.0
    return out


def _around(case: Side, message: Side, old: NDArray[np.int64], new: NDArray[np.int64]) -> tuple[Matrix, Matrix]:
    """Shares of the message's other words that stand near the stretch of the case, and in its sentence."""
    rest = [_said([*message.words[:a], *message.words[b:]]) for a, b in message.spans.tolist()]
    close = [
        _said([*case.words[max(a - NEAR, 0) : a], *case.words[b : b + NEAR]]) for a, b in case.spans.tolist()
    ]  # fmt: skip
    whole = [_said([w for w, s in zip(case.words, case.sentence, strict=True) if s == number])
             for number in range(int(case.sentence.max()) + 1)]  # fmt: skip
    at = case.sentence[case.spans[:, 0]]
    near = np.array([len(rest[j] & close[i]) / max(len(rest[j]), 1) for i, j in zip(old, new, strict=True)])
    within = np.array([len(rest[j] & whole[at[i]]) / max(len(rest[j]), 1) for i, j in zip(old, new, strict=True)])
    return near.astype(np.float32), within.astype(np.float32)


def _numbers(side: Side) -> NDArray[np.float64]:
    """Of each stretch the number that it holds, NaN for none or several."""
    out = np.full(len(side.spans), np.nan)
    for at, (a, b) in enumerate(side.spans.tolist()):
        written = [w.text for w in side.words[a:b] if re.fullmatch(r"\d+(?:\.\d+)?", w.text)]
        if len(written) == 1:
            out[at] = float(written[0])
    return out
