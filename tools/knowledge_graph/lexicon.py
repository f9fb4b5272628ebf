"""Lexical evidence: how much of a wording's rare words a text holds, in English and in Chinese."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tools.text.abbreviations import expand
from tools.text.tokens import stem, tokens

Scores = NDArray[np.float32]

# ours: words of patients that mean the same thing as far as matching goes; the first of a row stands for all
SAME_WORDS = (
    "pain painful ache aches aching achy hurt hurts hurting sore soreness agony agonising discomfort",
    "swelling swollen swell swells swelled puffy puffiness",
    "phlegm sputum mucus mucous gunk",
    "breathless breathlessness puffed winded dyspnoea dyspnea",
    "vomit vomiting vomited vomits threw",
    "tired tiredness fatigue fatigued exhausted exhaustion knackered weary",
    "faint fainted fainting syncope collapsed blackout",
    "diarrhoea diarrhea",
    "itch itchy itching itchiness pruritus",
    "red redness reddened erythema erythematous",
    "fever febrile pyrexia feverish fevers",
    "dizzy dizziness giddy",
    "weak weakness weaker",
    "immunisation immunisations immunised immunization vaccinated vaccination vaccinations vaccine",
    "numb numbness",
    "stool stools faeces motions poo",
    "abdomen abdominal stomach belly tummy",
    "worse worsening worsens worsened aggravated",
    "relieved eased eases relief relieves better ease",
    "heart cardiac",
    "children child kid kids",
    "runny running streaming",
    "blocked blocks congested congestion stuffy",
    "hoarse hoarseness croaky croak",
    "smoking smoker smoke smokes cigarettes cigarette",
    "unvaccinated unimmunised",
    "pale pallor",
    "nausea nauseous nauseated queasy",
    "sweat sweats sweating sweaty",
    "spasm spasms",
    "eyelid eyelids lid lids",
    "trouble difficulty difficult hard",
    "lymph nodes node glands gland lymphadenopathy",
)
# ours: Chinese words of patients and the characters that stand for them
SAME_ZH = (
    ("疼痛", "痛"), ("疼", "痛"), ("发烧", "发热"), ("小腿肚子", "小腿"), ("小腿肚", "小腿"),
    ("肚子", "腹"), ("腹部", "腹"), ("胸口", "胸"), ("胸部", "胸"),
    ("头部", "头"), ("喉咙", "咽"), ("嗓子", "咽"), ("咽喉", "咽"), ("拉肚子", "腹泻"), ("气短", "呼吸困难"),
    ("气促", "呼吸困难"),
    ("气急", "呼吸困难"), ("喘不上气", "呼吸困难"), ("憋气", "呼吸困难"), ("没力气", "乏力"), ("没劲", "乏力"),
    ("疲劳", "乏力"),
    ("恶心想吐", "恶心"), ("想吐", "恶心"),
    ("拉稀", "腹泻"), ("水肿", "肿"), ("浮肿", "肿"), ("肿胀", "肿"), ("抽烟", "吸烟"),
    ("睡不着", "失眠"), ("放射至", "到"), ("放射到", "到"), ("左臂", "手臂"), ("右臂", "手臂"),
    ("水泡", "水疱"), ("眼皮", "眼睑"), ("怕光", "畏光"), ("心慌", "心悸"), ("天旋地转", "眩晕"), ("胳膊", "手臂"),
    ("鼻子堵", "鼻塞"), ("鼻子塞", "鼻塞"), ("鼻子不通", "鼻塞"), ("喘不过气", "呼吸困难"),
    ("浑身", "全身"), ("肌紧张", "肌卫"),
    ("血尿酸", "尿酸"), ("红肿发热", "红热"), ("病史", ""), ("有", ""),
)  # fmt: skip
SLACK = 2  # words that may stand between those of a wording; ours
# ours: ends of one scale; a text that names one end does not tell of a wording that names the other
POLES = (
    (
        "fast rapid high rais increas more excess elev over tachycardia",
        "slow low reduc decreas less poor under bradycardia absent",
    ),
    ("wors", "reliev improv"),
    ("gain", "loss lose lost"),
    ("dry", "product phlegm wet"),
    ("sudden", "gradual slowli"),
    ("hot warm", "cold"),
    ("clear", "yellow green purul thick"),
    ("painless", "pain"),
    ("after", "befor"),
    ("day", "night"),
    ("left", "right"),
)
# ours: qualities that exclude each other; a text that names some of a row does not tell of a wording that names others
QUALITIES = (
    (
        "crush squeez pressur press heavi constrict tight vice weight",
        "sharp stab knife jab shoot",
        "burn sear scald",
        "throb pulsat pulsatil pound",
        "cramp colicki colic gripe",
        "dull",
    ),
    ("clear white", "yellow green purul pus", "red pink bloodi blood rusti", "black tarri", "brown dark"),
)
_QUALITIES = [[frozenset(words.split()) for words in row] for row in QUALITIES]
_POLES = [(frozenset(a.split()), frozenset(b.split())) for a, b in POLES]
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]+")
FOLDED = frozenset(stem(row.split()[0]) for row in SAME_WORDS)
# ours: what a wording of a complaint is about (the first words of rows above); a text without it says something else
COMPLAINTS = tuple(
    stem(w)
    for w in "pain swelling phlegm breathless vomit faint diarrhoea itchy red fever dizzy weak numb hoarse sweat spasm "
    "trouble tired".split()
)
_SAME = {stem(word): stem(row.split()[0]) for row in SAME_WORDS for word in row.split()}


def words(text: str) -> list[str]:
    """The tokens of a text for matching: abbreviations out, stems, one spelling, one word for the same thing."""
    latin = _HAN_RUN.sub(" ", expand(text))
    return [_SAME.get(t, t.replace("ae", "e").replace("oe", "e")) for t in tokens(latin)]


def folded(text: str) -> str:
    """The Chinese runs of a text, synonyms folded, with a space between runs."""
    for said, meant in SAME_ZH:
        text = text.replace(said, meant)
    return " ".join(_HAN_RUN.findall(text))


def characters(text: str) -> list[str]:
    """The Chinese bigrams of a text after folding synonyms; a run of one character counts as it is."""
    out: list[str] = []
    for run in folded(text).split():
        out += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
    return out


def complaints(tokens_: Iterable[str]) -> tuple[bool, ...]:
    """For each of `COMPLAINTS` whether the words name it."""
    held = set(tokens_)
    return tuple(c in held for c in COMPLAINTS)


def poles(tokens_: Iterable[str]) -> tuple[int, ...]:
    """For each scale of `POLES`: 1 when the words name its one end, -1 its other, 0 neither or both."""
    held = set(tokens_)
    return tuple(bool(held & one) - bool(held & other) for one, other in _POLES)


def qualities(tokens_: Iterable[str]) -> tuple[tuple[bool, ...], ...]:
    """For each row of `QUALITIES` which of its qualities the words name."""
    held = set(tokens_)
    return tuple(tuple(bool(held & quality) for quality in row) for row in _QUALITIES)


class Lexicon:
    """Scores texts against phrases by shared words weighted by inverse document frequency.

    Args:
        phrases: the token lists of the phrases.
    """

    def __init__(self, phrases: Sequence[Sequence[str]]) -> None:
        sets = [set(p) for p in phrases]
        frequency = Counter(t for s in sets for t in s)
        total = len(sets)
        self._idf = {t: math.log(1 + total / n) for t, n in frequency.items()}
        self._unknown = math.log(1 + total)
        postings: dict[str, list[int]] = defaultdict(list)
        for i, s in enumerate(sets):
            for t in s:
                postings[t].append(i)
        self._postings = {t: np.array(rows) for t, rows in postings.items()}
        self._phrases = [tuple(p) for p in phrases]
        self._weight = np.array([sum(self._idf[t] for t in s) or 1.0 for s in sets], dtype=np.float32)

    def coverage(self, text: Iterable[str]) -> tuple[Scores, Scores]:
        """For each phrase: the weighted share of its words in the text, and of the text's words in it."""
        held, said, _ = self.coverages(text)
        return held, said

    def coverages(self, text: Iterable[str]) -> tuple[Scores, Scores, Scores]:
        """What `coverage` gives, and the share in each phrase of those of the text's words that some phrase holds."""
        shared = np.zeros(len(self._weight), dtype=np.float32)
        total = known = 0.0
        for t in sorted(set(text)):
            total += self._idf.get(t, self._unknown)
            rows = self._postings.get(t)
            if rows is not None:
                known += self._idf[t]
                shared[rows] += self._idf[t]
        return shared / self._weight, shared / max(total, 1e-6), shared / max(known, 1e-6)

    def contained(self, text: Sequence[str], candidates: Iterable[int]) -> list[int]:
        """Those candidate phrases whose words stand near each other in the text (at most `SLACK` words between)."""
        return [i for i in candidates if _near(text, self._phrases[i])]


def _near(text: Sequence[str], phrase: Sequence[str]) -> bool:
    wanted = set(phrase)
    width = len(phrase) + SLACK
    return any(wanted <= set(text[at : at + width]) for at in range(max(1, len(text) - len(wanted) + 1)))
