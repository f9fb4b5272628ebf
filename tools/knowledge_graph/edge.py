"""Where the graph's knowledge ends: features of a look-up, the calibrated model, and what no disease explains."""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, model_validator

from prompts.errors import DataError
from tools.contract import Finding, unique
from tools.encoders import Encoder, Vectors
from tools.evidence import Frozen
from tools.files import locked, write_atomic
from tools.icd10.table import categories
from tools.knowledge_graph.entries import render
from tools.knowledge_graph.observations import COUNTED, Reading
from tools.knowledge_graph.ranking import HEARD, Observation, Ranker, shares_of
from tools.knowledge_graph.schema import Graph
from tools.knowledge_graph.units import BARE_TEST
from tools.literature.vocabulary import chinese_terms, known_words
from tools.medicines.names import medicines_in
from tools.text.body_sites import is_only_a_part
from tools.text.clauses import Clause, tells_of_medicine
from tools.text.frequency import zipf
from tools.text.language import HAN, language_of
from tools.text.measures import GAP, GAP_ZH, NUMBER, UNIT, measures, values
from tools.text.tokens import tokens

# How near a case's text is to the graph's diseases, and to diseases that the graph lacks.
#
# The others are the categories of ICD-10 (chapters of diseases, ``CHAPTERS``) under which the graph has none: their
# names are all that is known of them, which is enough to say that a case sounds like something else.
CHAPTERS = "ABCDEFGHIJKLMNOPQ"  # ours: letters of codes that stand for diseases, not for findings or injuries
NEAREST = 5  # ours: nearest other names whose mean is told
FORMAT = 1  # raised when the file's form changes


class Near(NamedTuple):
    """Cosines of a case's text: with the graph's entries and names, disease by disease, and with other names."""

    entries: Vectors
    names: Vectors
    others: Vectors

    @property
    def others_mean(self) -> float:
        """The mean of the nearest names of diseases that the graph lacks."""
        return float(np.sort(self.others)[-NEAREST:].mean())

    def others_above(self, least: float) -> int:
        """How many of these names are nearer than this."""
        return int((self.others > least).sum())


class Names:
    """Vectors of entries, names and other diseases' names; made at the first use, then read from a file."""

    def __init__(self, graph: Graph, encoder: Encoder, file: Path, key: str) -> None:
        self._graph, self._encoder, self._file, self._key = graph, encoder, file, key
        self._vectors: tuple[Vectors, Vectors, Vectors] | None = None
        self.of = lru_cache(maxsize=16)(self._of)  # a turn looks the same case up more than once

    def build(self) -> tuple[Vectors, Vectors, Vectors]:
        """The vectors, which are written where they are missing, damaged or of another graph or encoder."""
        if self._vectors is None:
            self._vectors = self._read() or self._made()
        return self._vectors

    def _of(self, case: str) -> Near:
        entries, names, others = self.build()
        query = self._encoder.encode_queries([case])[0]
        return Near(entries @ query, names @ query, others @ query)

    def _made(self) -> tuple[Vectors, Vectors, Vectors]:
        with locked(self._file):
            known = self._read()
            if known is not None:
                return known
            diseases = self._graph.diseases
            parts = (
                self._encoder.encode_documents([render(self._graph, d, "en").text for d in diseases]),
                self._encoder.encode_documents([d.name for d in diseases]),
                self._encoder.encode_documents(other_names(self._graph)),
            )
            buffer = io.BytesIO()
            entries, names, others = (p.astype(np.float16) for p in parts)
            np.savez(buffer, entries=entries, names=names, others=others, key=np.array(self._named))
            write_atomic(self._file, buffer.getvalue())
        return parts

    def _read(self) -> tuple[Vectors, Vectors, Vectors] | None:
        try:
            with np.load(self._file, allow_pickle=False) as arrays:
                if str(arrays["key"]) != self._named:
                    return None
                entries, names, others = (np.asarray(arrays[n], np.float32) for n in ("entries", "names", "others"))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None  # missing or damaged: it is made again from the graph, which is the source
        return entries, names, others

    @property
    def _named(self) -> str:
        return json.dumps([FORMAT, self._key, self._encoder.name, CHAPTERS])


def other_names(graph: Graph) -> list[str]:
    """Names of the categories of diseases in which the graph has none."""
    held = {d.icd10[:3] for d in graph.diseases}
    return [name for code, name in categories() if code[0] in CHAPTERS and code not in held and not _rest(name)]


def _rest(name: str) -> bool:
    """Whether a category is what is left over beside others, which names nothing."""
    return name.lower().startswith("other")


# What tells whether a disease of the graph explains a case, known from one look-up.
#
# The leader's lead and how well it fits (what speaks for it, what against, how much of what it usually shows was told,
# the person's age and sex), how much of the case's text it accounts for, and how much is in words that the graph
# lacks. In English also how near the case's text is to the leader's entry, and to the names of diseases that the graph
# lacks.
ACCOUNTS = 0.05  # ours: least gain in log-score by which a disease accounts for what a clause says
LEAST = 1e-4  # ours: shares below this are one and the same
OUT_OF_RANKING = -50.0  # a log-score at which nothing leads
BY_GRAPH = ("lead", "unknown_words", "accounted", "recall", "support", "against", "person")
BY_TEXT = ("near_leader", "near_others", "nearer_others")
Matrix = NDArray[np.float64]


class Look(NamedTuple):
    """A case as read, its diseases' log-scores, and how near its text is to names and entries; None in Chinese."""

    read: Reading
    log_scores: Matrix
    near: Near | None


class EdgeFeatures:
    """Features of look-ups in one graph."""

    def __init__(self, graph: Graph, ranker: Ranker) -> None:
        self._graph, self._ranker = graph, ranker
        self.position = {d.id: i for i, d in enumerate(graph.diseases)}

    @cached_property
    def _phrases(self) -> frozenset[str]:
        """The graph's names and wordings."""
        graph = self._graph
        found = {p for f in graph.findings for p in (f.name, f.zh, *f.say, *f.say_zh)}
        return frozenset(found | {p for d in graph.diseases for p in (d.name, d.zh, *d.aliases, *d.aliases_zh)})

    @cached_property
    def _english(self) -> frozenset[str]:
        """Every word of them in Latin letters."""
        return frozenset(word for phrase in self._phrases for word in tokens(HAN.sub(" ", phrase)))

    @cached_property
    def _chinese(self) -> frozenset[str]:
        """Every Chinese word of them: only a text with such words waits for their dictionary."""
        return frozenset(word for phrase in self._phrases if HAN.search(phrase) for word in tokens(phrase))

    def _known(self, word: str) -> bool:
        return word in self._english or (HAN.search(word) is not None and word in self._chinese)

    def of(self, look: Look, without: str = "") -> dict[str, float]:
        """The features by name; ``without`` takes a disease out of the graph, as if it were not known."""
        log_scores = look.log_scores.copy()
        if without:
            log_scores[self.position[without]] = OUT_OF_RANKING
        shares = shares_of(log_scores)
        first, second = np.argsort(-shares, kind="stable")[:2]
        return {
            "lead": _log(shares[first]) - _log(shares[second]),
            **self._of_the_fit(look.read, int(first)),
            **self._of_the_text(look.read, int(first)),
            **self._of_the_names(look.near, int(first), without),
        }

    def _of_the_fit(self, read: Reading, leader: int) -> dict[str, float]:
        present = [o for o in read.standing.seen if o.present is not False]
        best = self._ranker.stated_by_family(present)[1][leader]
        told = best[~np.isneginf(best)]
        return {
            "support": float(told.clip(0).sum()),
            "against": float(-told.clip(None, 0).sum()),
            "recall": self._recall(present, leader),
            "person": float(self._ranker.fit(read.standing.person)[leader]),
        }

    def _recall(self, present: Sequence[Observation], leader: int) -> float:
        """The share of what the leader usually shows, each by how usual it is, that was told."""
        table = self._ranker.table
        usual = table.present[leader] * table.listed[leader]
        heard = {int(self._ranker.family[o.finding]) for o in present if o.score >= HEARD}
        told = np.array([int(f) in heard for f in self._ranker.family])
        return float(usual[told].sum() / (usual.sum() or 1.0))

    def _of_the_text(self, read: Reading, leader: int) -> dict[str, float]:
        gains: dict[int, float] = {}
        for o in read.standing.seen:
            if o.present is not False:
                gain = float(self._ranker.contributions(o)[leader])
                gains[o.clause] = max(gains.get(o.clause, gain), gain)
        words = {n: _words(c) for n, c in enumerate(read.told) if c.present is not False and not c.other}
        total = sum(map(len, words.values())) or 1
        accounted = sum(len(said) for n, said in words.items() if gains.get(n, 0.0) > ACCOUNTS)
        unknown = sum(not self._known(word) for said in words.values() for word in said)
        return {"accounted": accounted / total, "unknown_words": unknown / total}

    def _of_the_names(self, near: Near | None, leader: int, without: str) -> dict[str, float]:
        if near is None:
            return {}
        known = near.names.copy()
        if without:
            known[self.position[without]] = -1.0
        return {
            "near_leader": float(near.entries[leader]),
            "near_others": near.others_mean,
            "nearer_others": math.log1p(near.others_above(float(known.max()))),
        }


def _log(share: float) -> float:
    return math.log(max(float(share), LEAST))


def _words(clause: Clause) -> list[str]:
    return [word for word in tokens(clause.plain) if not word.isdigit()]


# The probability that a disease of the graph explains a case, by a small model of a few features.
#
# A logistic regression, one for English and one for Chinese (where the embedded encoder cannot read, so that only the
# graph's own features count), fitted by `anamnesis eval calibrate-outside` and kept beside this file. It holds for one
# graph and one encoder: in another graph, or by another encoder, nothing is judged.
SHIPPED = Path(__file__).with_name("edge.json")
FARTHEST = 3.0  # ours: a feature further than this many standard deviations from the mean counts as so far


class EdgeWeights(Frozen):
    """The weights of one language; ``least`` is the probability below which a case is outside."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    constant: float
    least: float = Field(ge=0, le=1)

    @model_validator(mode="after")
    def _check(self) -> EdgeWeights:
        if set(self.names) - {*BY_GRAPH, *BY_TEXT}:
            raise ValueError("a feature that is not known")
        if {len(self.means), len(self.scales), len(self.weights)} != {len(self.names)} or min(self.scales) <= 0:
            raise ValueError("means, scales and weights are not one for each feature")
        return self

    def probability(self, features: Mapping[str, float]) -> float:
        """Probability that a disease of the graph explains the case, 0..1."""
        total = self.constant
        for name, mean, scale, weight in zip(self.names, self.means, self.scales, self.weights, strict=True):
            total += weight * max(-FARTHEST, min(FARTHEST, (features[name] - mean) / scale))
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


class EdgeModel(Frozen):
    """The models by language, the graph and the encoder that they hold for, and what they were fitted on."""

    graph: str
    encoder: str
    languages: dict[str, EdgeWeights]
    card: dict[str, Any] = Field(default_factory=dict)


@cache
def load_edge(path: Path = SHIPPED) -> EdgeModel:
    """A model from its file, read once. Raises DataError for one that is missing or damaged."""
    try:
        return EdgeModel.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        advice = "Make it again: `anamnesis eval calibrate-outside`."
        raise DataError(f"{path.name} is no model of the graph's edge.", advice) from error


# Whether a case lies beyond what one graph knows.
TOLD = 3  # ours: clauses that state something, from which a case of which nothing is read lies beyond the graph


class Edge:
    """The edge of one graph.

    Args:
        graph: the graph. ranker: of its diseases. encoder: reads the case's text.
        cache_folder: where the vectors of names lie. content: hash of the graph's files.
        starter: it is the starter graph, the only one that the model was calibrated for.
    """

    def __init__(
        self,
        graph: Graph,
        ranker: Ranker,
        encoder: Encoder,
        cache_folder: Path,
        content: str,
        *,
        starter: bool,
    ) -> None:
        self._model = load_edge()
        self._valid = starter and self._model.encoder == encoder.name
        self._features = EdgeFeatures(graph, ranker)
        self._names = Names(graph, encoder, cache_folder / f"edge-{graph.about.name}.npz", content)

    def build(self) -> None:
        """Make what the edge is judged by, where it is judged: vectors of names, in some seconds."""
        if self._valid:
            self._names.build()

    def probability(self, case: str, read: Reading, log_scores: NDArray[np.float64]) -> float | None:
        """The probability that a disease of the graph explains the case; None where nothing was calibrated for it."""
        weights = self._weights(case)
        if weights is None or not read.standing.seen:
            return None
        return round(weights.probability(self.features(case, read, log_scores)), 4)

    def outside(self, case: str, explained: float | None) -> bool:
        """Whether a case of this probability is told as one that no disease of the graph explains well."""
        weights = self._weights(case)
        return weights is not None and explained is not None and explained < weights.least

    def unread(self, case: str, read: Reading) -> bool:
        """Whether a case in which nothing was read told enough to lie beyond the graph."""
        stated = [c for c in read.told if c.present is not False and not c.other]
        return self._weights(case) is not None and len(stated) >= TOLD

    def features(
        self, case: str, read: Reading, log_scores: NDArray[np.float64], without: str = ""
    ) -> dict[str, float]:
        """The features of a case; ``without`` takes a disease out of the graph."""
        near = self._names.of(case) if language_of(case) == "en" else None
        return self._features.of(Look(read, log_scores, near), without)

    def _weights(self, case: str) -> EdgeWeights | None:
        return self._model.languages.get(language_of(case)) if self._valid else None


LEADING, BEHIND = 3, 0.5  # ours: leading diseases at most, and the share of the first's belief that one of them needs
# What a case states and the leading disease does not account for, in the words of the case.
COMPLAINTS = ("symptom", "sign", "test")  # kinds of findings that want an explanation; a habit or a history does not
NAMED = 8  # ours: findings that are named at most
FAINT = 0.35  # ours: score from which a clause seems to tell of some finding, of which it is then not sure
WORD = re.compile(r"[a-z]{3}|[\u4e00-\u9fff]", re.IGNORECASE)  # ours: "32F" has none, and tells no complaint
OF_PAIN = re.compile(r"\bpain|[疼痛]", re.IGNORECASE)  # ours
VALUE = re.compile(rf"\b([A-Za-z][A-Za-z-]{{2,40}}){GAP}{NUMBER}(?!\d)", re.IGNORECASE)
VALUE_ZH = re.compile(rf"((?!年龄)[\u4e00-\u9fff]{{2,8}}){GAP_ZH}\d+(?:\.\d+)?(?=\s*{UNIT}?\s*(?:[,，。；;、]|$))")
ANALYTE = re.compile(r"[a-z]{6,}(?:in|ase|ogen)", re.IGNORECASE)  # ours: proteins and enzymes that are measured
SHORT_FORM = re.compile(r"(?=[^aeiou]+$)[a-z]{3,5}", re.IGNORECASE)
SLIP = 2.5  # ours: Zipf's scale below which three letters are no word of everyday texts
RARE, SHAPED = 50, 2.0  # ours: documents of prose that hold a word at most, and by its letters how much it is medical


def unexplained(
    graph: Graph, ranker: Ranker, read: Reading, shares: NDArray[np.float64], shown: Sequence[Finding]
) -> tuple[str, ...]:
    """Clauses of the case in their order, then answers to questions by the name of their finding.

    A clause is unexplained when it was read as a complaint and no reading of it speaks for the leading disease; where
    several lead, it is the one of them that leaves least.
    """
    order = np.argsort(-shares[: len(graph.diseases)], kind="stable")[:LEADING]
    leading = [int(d) for d in order if shares[d] >= BEHIND * shares[order[0]]]
    left = min((_left_by(d, graph, ranker, read) for d in leading), key=len)
    said = [read.told[n].text.strip() for n in left if n < len(read.told) and not read.told[n].other]
    answered = {graph.findings[o.finding].id for o in read.standing.seen if o.clause in left}
    named = [f.name for f in shown if f.id in answered and f.start < 0]
    return tuple(unique([*said, *named])[:NAMED])


def unread(case: str, graph: Graph, read: Reading) -> tuple[str, ...]:
    """What was not understood, in the order of the case: clauses that seem to state a complaint, or hold a word of
    medicine, and of which nothing counts; and values that nothing reads, whatever else of their clause counts."""
    best: dict[int, float] = {}
    faint: dict[int, float] = {}
    for match in read.matches:
        best[match.clause] = max(best.get(match.clause, 0.0), match.score)
        if graph.findings[match.finding].kind in COMPLAINTS:
            faint[match.clause] = max(faint.get(match.clause, 0.0), match.score)
    said = [
        (c.start, c.text.strip())
        for n, c in enumerate(read.told)
        if best.get(n, 0.0) < COUNTED
        and not (
            c.heading
            or c.reading
            or c.other
            or c.past
            or c.normal
            or c.present is False
            or BARE_TEST.fullmatch(c.plain)
        )
        and not case[c.end :].lstrip().startswith((":", "："))  # a heading
        and not any(k.clause and c.text in k.clause for k in read.settled)
        and _seems_medical(c, faint.get(n, 0.0))
    ]
    said += [(at, text) for at, text in _values_of_no_measure(case) if not any(text in whole for _, whole in said)]
    return tuple(unique([text for _, text in sorted(said)])[:NAMED])


def _values_of_no_measure(case: str) -> list[tuple[int, str]]:
    """Values of tests that no measure reads, with their places: ``calprotectin 900``, ``FCP 900``; of which the graph
    has no finding, too."""
    known = [(v.start, v.end) for v in values(case, quiet=True) if not measures()[v.measure].get("unread")]
    found = [*VALUE.finditer(case), *VALUE_ZH.finditer(case)]
    return [
        (m.start(), m[0].strip())
        for m in found
        if not any(start < m.end() and m.start() < end for start, end in known)
        and not (medicines_in(m[0]) or tells_of_medicine(m[0]))
        and (
            HAN.match(m[1])
            or ANALYTE.fullmatch(m[1])
            or (_is_rare(m[1].lower()) and not known_words().listed(m[1].lower()))
            or _is_short_form(m[1])
        )
    ]


def _is_rare(word: str) -> bool:
    """Whether a word is one of medicine that everyday texts lack."""
    known = known_words()
    return known.listed(word) or (known.frequency(word) < RARE and known.shape(word) >= SHAPED)


def _is_short_form(word: str) -> bool:
    """Whether a word is an abbreviation that no list knows, as far as its letters show: it has no vowel."""
    short = SHORT_FORM.fullmatch(word) is not None and not known_words().any(word.lower())
    return short and (word.isupper() or zipf(word.lower()) < SLIP)


def _seems_medical(clause: Clause, heard: float) -> bool:
    """Whether a clause tells of something that is not understood; where a pain is and how it is are read elsewhere."""
    if medicines_in(clause.text) or tells_of_medicine(clause.text) or is_only_a_part(clause.plain):
        return False
    if OF_PAIN.search(clause.text):
        return False
    rare = any(map(_is_rare, re.findall(r"[a-z]{4,}", clause.text.lower())))
    rare = rare or any(map(_is_short_form, re.findall(r"[A-Za-z]+", clause.text)))
    worded = bool(WORD.search(clause.text))
    return (heard >= FAINT and worded) or rare or bool(chinese_terms(clause.text))


def _left_by(disease: int, graph: Graph, ranker: Ranker, read: Reading) -> list[int]:
    """The clauses, and answers beyond them, that tell of a complaint and do not speak for a disease."""
    best: dict[int, float] = {}
    wanting: set[int] = set()
    for o in (o for o in read.standing.seen if o.present):
        gain = float(ranker.contributions(o)[disease])
        best[o.clause] = max(best.get(o.clause, gain), gain)
        if graph.findings[o.finding].kind in COMPLAINTS:
            wanting.add(o.clause)
    return [n for n in sorted(wanting) if best[n] <= ACCOUNTS]
