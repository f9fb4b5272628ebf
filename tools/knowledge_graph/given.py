"""Diagnoses that a case tells as given: "with pneumonia on day 3", "known to have ulcerative colitis" (ours).

One that is told of the present leads where it accounts for some of what the case is about; a known one counts more than
by its findings alone. What is suspected, asked about, of the past or of somebody else is not given, nor is a complaint
that a disease is named after.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.names import Names
from tools.knowledge_graph.observations import Reading
from tools.knowledge_graph.ranking import Ranker
from tools.knowledge_graph.schema import Graph
from tools.text.clauses import Clause
from tools.text.language import HAN
from tools.text.questions import is_question

KNOWN = 2.5  # ours: what a known disease gains in log-score where it accounts for a complaint of now
AHEAD = 5.0  # ours: how far one that is told of the present then stands before all others, in log-score
MOST = 3  # ours: diagnoses of one case
TELLING = 0.7  # ours: log-likelihood ratio from which a disease accounts for a complaint
FULL = 2.0  # ours: the same from which a known disease gains in full
GRAVE = frozenset({"emergency", "urgent"})  # severities that a known disease of another does not overtake
BENEATH = 0.1  # ours: how far such a disease then stands behind the gravest, in log-score
LASTING = ("history", "exposure", "habit", "treatment")  # kinds of findings that are no complaint of now
# Words between what says that a diagnosis is given and its name
_WORDS = (
    r"(?:(?:an?|the|his|her|my|their|this|left|right|upper|lower|bilateral|sided|side|mild|moderate|severe|acute|chronic|"
    r"bad|new|first|episode|attack|bout|of|a case|confirmed|proven|lobar|community|hospital|acquired|type|stage|known|"
    r"stable|newly|recently|already|both|also|and|with)[\s-]+){0,5}$"
)
_KNOWN = re.compile(
    r"\b(?:(?:has|have|having|got|with|had been|is|was)\s+)?(?:known(?:\s+(?:to\s+have|with|case\s+of))?|living\s+with|"
    r"suffer(?:s|ing)?\s+from|long-?\s?standing|has|have|'ve\s+got|has\s+got|with|on\s+(?:\w+\s+){1,3}for)\s+" + _WORDS,
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:(?:newly|recently|just|been|was|were|is)\s+)*(?:diagnosed\s+(?:with|as(?:\s+having)?)|confirmed|"
    r"(?:being\s+)?treated\s+for|under\s+treatment\s+for|on\s+antibiotics\s+for|in\s+hospital\s+(?:with|for)|"
    r"admitted\s+(?:with|for)|day\s+\d+\s+of)\s+" + _WORDS,
    re.IGNORECASE,
)
_KNOWN_ZH = re.compile(r"(?:有|患有?|确诊为?|已知|诊断[为是]?|得了?)(?:急性|慢性|轻度|重度|左侧|右侧|双侧)?$")
_PRESENT_ZH = re.compile(r"(?:患|确诊为?|诊断[为是]|得了?|因)(?:急性|左侧|右侧|双侧)?$")
_BEHIND = re.compile(
    r"^[^.;,，。；]{0,25}?(?:\bon\s+day\s+\w+|\bday\s+\d+|\b(?:on|after|under)\s+(?:treatment|antibiotics|the)|"
    r"\b(?:today|yesterday|\w+\s+(?:hours?|days?)\s+ago|this\s+week|last\s+week)\b|第[一二三四五六七八九十\d]+[天日]|治疗)",
    re.IGNORECASE,
)
SPELT, SPELT_ZH = 8, 3  # ours: letters of a name from which it can hardly be an everyday word or a short form
_LONG = re.compile(r"\b(?:years?|months?)\s+ago\b|\blast\s+year\b|年前|月前", re.IGNORECASE)
# What takes a diagnosis back to a guess, or names somebody else's or a mere likeness
_GUESSED = re.compile(
    r"\b(?:think|thinks|thought|worr\w*|wonder\w*|suspect\w*|could|might|may|maybe|perhaps|possibl\w*|probabl\w*|afraid|scared|"
    r"convinced|if|whether|rule|query|like|similar|symptoms?|signs?|risk|contact|exposed|exposure|someone|tested|screen\w*|"
    r"vaccin\w*|family|consistent|differential|compatible|versus|vs|not|no|never|without|post|had|who|people|patients)\b|"
    r"怀疑|担心|会不会|是不是|可能|疑|怕|类似|家族|接触|没有|无|否认|排除|吗",
    re.IGNORECASE,
)
# What names a disease by the way: as one that was, or that is looked for
_GONE = re.compile(
    r"\b(?:known|previous\w*|prior|past|history|h/o|hx|after|since|following|post|recover\w*|resolved|repaired|review|clinic|"
    r"follow|surveillance|teaching|about|describe|explain|discuss|management|manage|prevent\w*|prophyla\w*|died|survived)\b|"
    r"既往|曾|史|术后|预防|筛查|讲|介绍",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:resolved|treated|repaired|cured|recovered|in remission|survivor|review|"
    r"clinic)\b|已愈|治愈",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]{6,}")


class Given(NamedTuple):
    """A diagnosis that a clause tells as given; ``present``: of now, not only known."""

    disease: str
    clause: Clause
    present: bool


class GivenReader:
    """Reads the diagnoses that cases give, by the names of one graph's diseases."""

    def __init__(self, graph: Graph, names: Names) -> None:
        self._names = names
        complaints = (f for f in graph.findings if f.kind in ("symptom", "sign"))
        # names of diseases that are wordings of a complaint too: "with constipation" gives none
        self._complaints = frozenset(w.lower() for f in complaints for w in (f.name, *f.say, f.zh, *f.say_zh))
        named = ((d, name.lower()) for d in graph.diseases for name in (d.name, *d.aliases))
        # acute diseases by their names of one word without "acute": appendicitis
        self._acute = {n.removeprefix("acute "): d.id for d, n in named if n.startswith("acute ") and n.count(" ") == 1}

    def read(self, told: Sequence[Clause]) -> list[Given]:
        """The diagnoses that a case gives, each once, in the order of the text."""
        found: dict[str, Given] = {}
        for clause in told:
            if clause.present is not True or clause.past or clause.other or clause.allergy or clause.reading:
                continue
            if is_question(clause.text):
                continue
            for written, diseases in self._named(clause.told):
                at = clause.told.lower().find(written.lower())
                if at < 0 or written.lower() in self._complaints:
                    continue
                before, after = clause.told[:at], clause.told[at + len(written) :]
                present = _PRESENT.search(before) or _PRESENT_ZH.search(before)
                known = present or _KNOWN.search(before) or _KNOWN_ZH.search(before)
                if not known or _GUESSED.search(before):
                    continue
                now = bool(present or _BEHIND.match(after)) and not _LONG.search(after)
                for disease in diseases:
                    found.setdefault(disease, Given(disease, clause, now))
        return list(found.values())[:MOST]

    def named(self, told: Sequence[Clause]) -> list[Given]:
        """The diseases that clauses of now name, in full and not as a guess or by the way: "status epilepticus for 25
        minutes", "has complete heart block"."""
        found: dict[str, Given] = {}
        dated = {clause.sentence for clause in told if _DATED.search(clause.text)}
        for clause in told:
            if clause.present is not True or clause.past or clause.other or clause.allergy or is_question(clause.text):
                continue
            for written in self._names.diseases_named(clause.told):
                before, _, after = clause.told.lower().partition(written.lower())
                short = len(written) < (SPELT_ZH if HAN.search(written) else SPELT)
                if short or written.lower() in self._complaints or _GUESSED.search(before) or _GONE.search(before):
                    continue
                if not _LONG.search(after) and clause.sentence not in dated:
                    found |= {d: Given(d, clause, True) for d in self._names.diseases_in(written)}
        return list(found.values())

    def _named(self, text: str) -> Iterator[tuple[str, list[str]]]:
        """The diseases that a text names, as written, with their ids; the acute one where its bare name is written."""
        for written in self._names.diseases_named(text):
            yield written, self._names.diseases_in(written)
        for word in _WORD.findall(text):
            if word.lower() in self._acute:
                yield word, [self._acute[word.lower()]]


def weighed_by(
    graph: Graph, ranker: Ranker, read: Reading, given: Sequence[Given], log_scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The log-scores with what is given: a disease that accounts for no complaint of now gains nothing, unless it is of
    now and none is read."""
    position = {d.id: n for n, d in enumerate(graph.diseases)}
    own = {n for n, clause in enumerate(read.told) if any(clause is one.clause for one in given)}
    kinds = {f: graph.findings[f].kind for f in (o.finding for o in read.standing.seen)}
    told_now = [o for o in read.standing.seen if o.present and o.clause not in own]
    now = {o.finding for o in told_now if kinds[o.finding] not in LASTING}
    out = log_scores.copy()
    for one in given:
        at = position[one.disease]
        told = {f: float(ranker.present[at, f]) for f in now if ranker.table.listed[at, f]}
        accounted = [f for f, ratio in told.items() if one.present or ratio >= TELLING]
        if not accounted and (now or not one.present):
            continue
        out[at] += KNOWN * min(1.0, max(told.values(), default=FULL) / FULL)
        best = int(np.where(np.arange(len(log_scores)) == at, -np.inf, log_scores).argmax())
        if one.present and 2 * len(accounted) >= len(now):
            out[at] = max(out[at], log_scores[best] + AHEAD)
        elif graph.diseases[best].severity in GRAVE and graph.diseases[at].severity not in GRAVE:
            out[at] = max(log_scores[at], min(out[at], log_scores[best] - BENEATH))
    return out
