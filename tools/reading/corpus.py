"""What the reader is trained and judged on: labelled pairs from open data, and our own; divided once by article.

Evidence Inference (MIT): a comparison and the sentences that show its direction. PubMedQA (MIT): a question, its
abstract, yes, no or maybe. BioASQ (CC BY 2.5): a question and the snippets that answer it. Ours: hard pairs by hand
(`examples/`), and labels of single sentences of those two (`annotations.jsonl`: places in the data, no text of it).
`split.json` names the articles that are for judging only; a test holds that none of them is trained on.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from prompts.errors import InputError
from tools.library.monograph import read_monograph
from tools.medicines.names import generic_names, medicines_in
from tools.reading.answered import told
from tools.reading.contract import (
    ANSWERS,
    DIRECTIONS,
    ROLES,
    STANCES,
    Direction,
    Pair,
    Role,
    Stance,
    comparison,
    role_of,
)
from tools.text.sentences import sentences, split_sentences
from tools.text.tokens import WORD, stems

HERE = Path(__file__).parent
SPLIT = HERE / "split.json"
EXAMPLES, KNOWN = HERE / "examples", HERE / "known"
PAGES = HERE.parent / "library" / "starter"
ANNOTATIONS = HERE / "annotations.jsonl"
COMPARISONS = "effects/evidence_inference_dev.jsonl"
ABSTRACTS = "effects/evidence_inference_abstracts_dev.jsonl"
PUBMEDQA = "literature/pubmedqa_dev.jsonl"
BIOASQ = "literature/bioasq_dev.jsonl"
MOST = 500  # ours, characters: the annotators' spans hold whole paragraphs at times
THEIRS, OURS = 0.3, 0.6  # ours: shares of the examples from open data, and of our own, that a pass reads
ALIKE = 0.6  # ours: cosine from which two questions that a sentence answers are taken to ask for the same
FOREIGN_SHARE = 0.15  # ours: of the questions that are held against another document's
HALF = 0.3  # ours: share of open questions, and of our unrelated pairs, that a pass reads
SWAPPED, ESTRANGED = 0.5, 0.1  # ours: shares of the pairs that share a medicine's name
OWN_JUDGE = 8  # ours: one question in eight of our own pairs
ELSEWHERE, BESIDE = 4, 3  # ours: sentences of other pages, and of its own page, that a question is held against
NEAREST = 60  # ours: sentences of the library, the nearest to a question, that these are of
ELSEWHERE_READ = 9_000  # ours: of the pairs with other pages' sentences, how many a pass reads

ALL, ANSWER = (
    tuple(Stance),
    {"yes": (Stance.SUPPORTS,), "no": (Stance.REFUTES,), "maybe": (Stance.MIXED, Stance.UNSETTLED)},
)
FOREIGN = (Stance.UNRELATED,)
SILENT = (Stance.NOT_SHOWN, Stance.UNRELATED)
# The same comparison as closed questions, and what each answers for increased, decreased and no difference; ours.
CLOSED = (
    ("Does {i} increase {o} compared with {c}?", "ynn"), ("Does {i} reduce {o} compared with {c}?", "nyn"),
    ("Is {o} higher with {i} than with {c}?", "ynn"), ("Is {o} lower with {i} than with {c}?", "nyn"),
    ("Does {i} change {o}?", "yyn"), ("Is there no difference in {o} between {i} and {c}?", "nny"),
    ("Do {i} and {c} differ in {o}?", "yyn"), ("Is {o} similar with {i} and {c}?", "nny"),
    ("{i} raises {o} more than {c} does.", "ynn"), ("{i} lowers {o} compared with {c}.", "nyn"),
    ("Does {i} have an effect on {o}?", "yyn"), ("Is {o} the same whether {i} or {c} is given?", "nny"),
)  # fmt: skip
DIRECTION = {
    "increased": Direction.INCREASED, "decreased": Direction.DECREASED, "no difference": Direction.NO_DIFFERENCE
}  # fmt: skip


@dataclass(frozen=True)
class Example:
    """A pair with what is known of it.

    Attributes:
        stances: what its stance may be; all of them when nothing is known.
        weight: how much it counts; labels taken over from a whole abstract count less.
        article: what the division goes by; ``source``: where it comes from.
    """

    pair: Pair
    source: str
    article: str
    stances: tuple[Stance, ...] = ALL
    direction: Direction | None = None
    role: Role | None = None
    weight: float = 1.0


def division() -> dict[str, frozenset[str]]:
    """The articles (and questions) of each source that are for judging only."""
    held: Mapping[str, Sequence[str]] = json.loads(SPLIT.read_text())["judge"]
    return {source: frozenset(names) for source, names in held.items()}


def _drawn(key: str, one_in: int) -> bool:
    return int(hashlib.sha256(key.encode()).hexdigest(), 16) % one_in == 0


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; raises InputError when it is not there."""
    if not path.is_file():
        raise InputError(f"{path.name} is not in the data folder.", "Give the folder that holds it with --data.")
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


@lru_cache(maxsize=1 << 15)
def cut(text: str) -> tuple[str, ...]:
    """The sentences of a text."""
    return tuple(s.of(text) for s in split_sentences(text))


def comparisons(data: Path, judge: bool) -> list[dict[str, Any]]:
    """Evidence Inference's comparisons of one side of the division, each with its abstract's sentences and roles."""
    held = division()["evidence_inference"]
    abstracts = {r["pmcid"]: r for r in rows(data / ABSTRACTS)}
    out = []
    for row in rows(data / COMPARISONS):
        if (row["pmcid"] in held) == judge:
            found = abstracts.get(row["pmcid"], {"title": "", "abstract": []})
            told = [(s, role_of(p["section"])) for p in found["abstract"] for s in cut(p["text"])]
            out.append({**row, "title": found["title"], "abstract": told})
    return out


def from_comparisons(found: Sequence[Mapping[str, Any]], rng: random.Random) -> Iterator[Example]:
    """Comparisons, a quarter of them a pass: two closed forms of each, and a sentence that says nothing of it."""
    for row in rng.sample(found, len(found) // 4):
        article, title = row["pmcid"], row["title"] if rng.random() < 0.15 else ""
        intervention, comparator, outcome = row["intervention"], row["comparator"], row["outcome"]
        asked = comparison(intervention, comparator, outcome)
        direction = DIRECTION[row["label"]]
        place = ("increased", "decreased", "no difference").index(row["label"])
        yield Example(
            Pair(asked, _evidence(row, rng), title), "evidence_inference", article, ALL[:5], direction, Role.RESULT
        )
        for form, answers in rng.sample(CLOSED, 2):
            stance = (Stance.SUPPORTS,) if answers[place] == "y" else (Stance.REFUTES,)
            question = form.format(i=intervention, c=comparator or "no treatment", o=outcome)
            question = question[0].upper() + question[1:]
            shown = _evidence(row, rng)
            yield Example(Pair(question, shown, title), "evidence_inference", article, stance, direction, Role.RESULT)
        others = [(s, r) for s, r in row["abstract"] if r is not None]
        for sentence, role in rng.sample(others, min(1, len(others))):
            silent = SILENT if role in (Role.METHOD, Role.AIM, Role.BACKGROUND) else ALL
            unclear = Direction.UNCLEAR if silent is SILENT else None
            yield Example(Pair(asked, sentence, title), "evidence_inference", article, silent, unclear, role, 0.6)


def _evidence(row: Mapping[str, Any], rng: random.Random) -> str:
    shown: str = rng.choice(row["evidence"])
    return shown[:MOST]


def abstract_questions(data: Path, judge: bool) -> list[dict[str, Any]]:
    """PubMedQA's questions of one side."""
    held = division()["pubmedqa"]
    return [r for r in rows(data / PUBMEDQA) if (r["id"] in held) == judge]


def results_of(contexts: Sequence[Mapping[str, str]]) -> list[str]:
    """The sentences of an abstract's results; of all but methods and aims where no section is named so."""
    told = [(s, role_of(c["label"])) for c in contexts for s in cut(c["text"])]
    results = [s for s, r in told if r in (Role.RESULT, Role.CONCLUSION)]
    return results or [s for s, r in told if r is None] or [s for s, _ in told]


def windows(sentences: Sequence[str], size: int = 2) -> list[str]:
    """Overlapping runs of sentences, as one text each."""
    if len(sentences) <= size:
        return [" ".join(sentences)] if sentences else []
    return [" ".join(sentences[at : at + size]) for at in range(len(sentences) - size + 1)]


def from_abstract_questions(found: Sequence[Mapping[str, Any]], rng: random.Random) -> Iterator[Example]:
    """Conclusions with their answer, runs of results with it by half; other sections silent, others' unrelated."""
    for row in found:
        question, article, gold = row["question"], row["id"], ANSWER[row["answer"]]
        conclusion = " ".join(cut(row["long_answer"])[:3])
        yield Example(Pair(question, conclusion), "pubmedqa", article, gold, None, Role.CONCLUSION)
        for sentence in rng.sample(cut(row["long_answer"]), 1):
            yield Example(
                Pair(question, sentence), "pubmedqa", article, (*gold, Stance.NOT_SHOWN), None, Role.CONCLUSION, 0.5
            )
        runs = windows(results_of(row["contexts"]))
        for run in rng.sample(runs, min(1, len(runs))):
            yield Example(Pair(question, run), "pubmedqa", article, gold, None, Role.RESULT, 0.5)
        told = [(s, role_of(c["label"])) for c in row["contexts"] for s in cut(c["text"])]
        others = [(s, r) for s, r in told if r in (Role.METHOD, Role.AIM, Role.BACKGROUND)]
        for sentence, role in rng.sample(others, min(1, len(others))):
            yield Example(Pair(question, sentence), "pubmedqa", article, SILENT, None, role, 0.6)
        other = rng.choice(found)
        if other is not row:
            said = rng.choice(cut(other["long_answer"]) or (other["long_answer"],))
            yield Example(
                Pair(question, said), "pubmedqa", article, (Stance.UNRELATED,), Direction.UNCLEAR, Role.CONCLUSION
            )


def snippet_questions(data: Path, judge: bool) -> list[dict[str, Any]]:
    """BioASQ's questions of one side."""
    held = division()["bioasq"]
    return [r for r in rows(data / BIOASQ) if (r["id"] in held) == judge and r["snippets"]]


LED = re.compile(r"^\W*(?:yes|no)\b[\s,.:;-]*", re.I)


def from_snippet_questions(found: Sequence[Mapping[str, Any]], rng: random.Random) -> Iterator[Example]:
    """Snippets with the answer of a closed question, as relevant to others; the nearest question's as unrelated."""
    near = _nearest([r["question"] for r in found])
    for at, row in enumerate(found):
        question, article = row["question"], row["id"]
        closed = row["type"] == "yesno"
        if not closed and rng.random() < HALF:
            continue
        shown = [s["text"].strip() for s in row["snippets"] if len(s["text"]) > 20]
        stances = ANSWER[str(row["exact_answer"]).lower()] if closed else ALL[:5]
        for text in rng.sample(shown, min(2 if closed else 1, len(shown))):
            yield Example(Pair(question, text), "bioasq", article, stances, None, None, 0.7 if closed else 0.5)
        if closed:
            ideal = LED.sub("", rng.choice(row["ideal_answer"]))
            if len(ideal) > 30:
                ideal = " ".join(cut(ideal[0].upper() + ideal[1:])[:2])
                yield Example(Pair(question, ideal), "bioasq", article, stances, None, Role.CONCLUSION)
        own = {s["pmid"] for s in row["snippets"]}
        for other in rng.sample(near[at], min(1, len(near[at]))):
            foreign = [s["text"] for s in found[other]["snippets"] if s["pmid"] not in own]
            if foreign:
                yield Example(
                    Pair(question, rng.choice(foreign)), "bioasq", article, SILENT, Direction.UNCLEAR, None, 0.8
                )


def _nearest(questions: Sequence[str], most: int = 4) -> list[list[int]]:
    """For each question the others that share its rarest words."""
    import numpy as np
    from rank_bm25 import BM25Okapi

    from tools.text.tokens import tokens

    bags = [tokens(q) for q in questions]
    index = BM25Okapi(bags)
    out = []
    for at, bag in enumerate(bags):
        scores = index.get_scores(bag)
        out.append([int(i) for i in np.argsort(-scores)[: most + 1] if i != at])
    return out


def own(judge: bool, rng: random.Random) -> list[Example]:
    """Our own pairs of one side, divided by question or sentence; what both sides hold is not judged on."""
    sides: dict[bool, list[Example]] = {False: [], True: []}
    for path in sorted(EXAMPLES.glob("*.jsonl")):
        for row in rows(path):
            key = row.get("question") or row["sentence"]
            held = _drawn(key, OWN_JUDGE)
            sides[held] += _own(row, key, rng, compare=not held)
    trained = {e.pair for e in sides[False]} if judge else set()
    return [e for e in sides[judge] if e.pair not in trained]


def _own(row: Mapping[str, Any], key: str, rng: random.Random, *, compare: bool) -> Iterator[Example]:
    title = row.get("title", "")
    if "sentence" in row:
        for question, stance, direction in row["questions"]:
            yield _labelled(Pair(question, row["sentence"], title), key, stance, direction, row["role"])
        return
    told = compare and row.get("pico") and row["pico"][0] and row["pico"][2]
    compared = comparison(*row["pico"]) if told else ""  # questions of both sides may have the same comparison
    for sentence, stance, direction, role, *around in row["sentences"]:
        before, own_title = [*around, "", ""][:2]
        pair = Pair(row["question"], sentence, own_title or title, before)
        example = _labelled(pair, key, stance, direction, role)
        yield example
        if compared and rng.random() < 0.4:
            open_ = ALL if stance != Stance.UNRELATED else SILENT
            yield replace(example, pair=pair._replace(question=compared), stances=open_, weight=0.7)


def _labelled(pair: Pair, key: str, stance: str, direction: str | None, role: str) -> Example:
    return Example(pair, "own", key, (Stance(stance),), Direction(direction) if direction else None, Role(role))


def from_answered(found: Sequence[Example], rng: random.Random) -> Iterator[Example]:
    """Our own closed questions against one another: a question asked of a like one that stands with its answer.

    Two questions that one sentence answers are alike or each other's reverse; the likest of another document's, with
    its answer, tells nothing.
    """
    answers: dict[str, list[Example]] = defaultdict(list)
    for e in found:
        if e.source == "own" and e.stances[0] in ANSWERS and len(e.stances) == 1 and _closed(e.pair.question):
            answers[e.pair.sentence].append(e)
    flat = [e for group in answers.values() for e in group]
    near = _vectors(tuple(sorted({e.pair.question for e in flat})))
    for e in (e for group in answers.values() for e in rng.sample(group, min(3, len(group)))):
        others = [o for o in answers[e.pair.sentence] if o.pair.question != e.pair.question and near(e, o) >= ALIKE]
        if others:
            yield replace(e, pair=_answered(e, rng.choice(others)), role=Role.CONCLUSION, weight=1.0)
        foreign = [o for o in rng.sample(flat, min(200, len(flat))) if o.pair.title != e.pair.title]
        if foreign and rng.random() < FOREIGN_SHARE:
            likest = max(foreign, key=partial(near, e))
            yield replace(
                e, pair=_answered(e, likest), stances=SILENT, direction=Direction.UNCLEAR, role=Role.CONCLUSION
            )


def _closed(question: str) -> bool:
    return question.rstrip().endswith("?")


def _answered(asked: Example, other: Example) -> Pair:
    return Pair(asked.pair.question, told(other.pair.question, other.stances[0]), other.pair.title)


@lru_cache(maxsize=1)
def _vectors(questions: tuple[str, ...]) -> Callable[[Example, Example], float]:
    """The cosine of two examples' questions."""
    from tools.encoders import load_encoder

    vectors = load_encoder(threads=1).encode_queries(list(questions))
    place = {q: at for at, q in enumerate(questions)}
    return lambda a, b: float(vectors[place[a.pair.question]] @ vectors[place[b.pair.question]])


class Told(NamedTuple):
    """A sentence of the starter library in its context, and the words of its page's title."""

    sentence: str
    before: str
    title: str
    named: frozenset[str]


@lru_cache(maxsize=1)
def library() -> dict[str, Told]:
    """Every sentence of the starter library, by itself with white space made one."""
    out: dict[str, Told] = {}
    for path in sorted(PAGES.glob("*.md")):
        page = read_monograph(path)
        for line in page.text.splitlines():
            before = ""
            for span in sentences("" if line.startswith("#") else line):
                said = Told(span.of(line), before, page.front.title, _stems(page.front.title))
                out.setdefault(" ".join(said.sentence.split()), said)
                before = said.sentence
    return out


def _stems(text: str) -> frozenset[str]:
    return frozenset(s for word in WORD.findall(text.lower()) for s in stems(word))


def known(judge: bool) -> list[Example]:
    """Closed questions that sentences of the library are known to answer (`known/`) of one side, by question."""
    out, by_text = [], library()
    for path in sorted(KNOWN.glob("*.jsonl")):
        for row in rows(path):
            said = by_text[" ".join(row["sentence"].split())]
            for question, stance, *_ in row["questions"]:
                if _drawn(question, OWN_JUDGE) == judge:
                    out.append(_in_library(question, said, (Stance(stance),), "known", 1.0))
    return out


def _in_library(question: str, said: Told, stances: tuple[Stance, ...], source: str, weight: float) -> Example:
    """A question and a sentence of the library, every other one with the sentence before."""
    before = said.before if _drawn(question + said.sentence, 2) else ""
    return Example(Pair(question, said.sentence, said.title, before), source, question, stances, weight=weight)


@lru_cache(maxsize=2)
def found(judge: bool) -> tuple[list[Example], list[Example]]:
    """Closed questions about the library with the nearest sentences of other pages, which do not answer them, and of
    the page that does, which may.

    A sentence that names the subject of the question's page is left out of the first.
    """
    from tools.encoders import load_encoder

    by_text, pages = library(), defaultdict(set)
    for e in (*own(judge, random.Random(0)), *known(judge)):  # noqa: S311
        said = by_text.get(" ".join(e.pair.sentence.split()))
        if said is not None and len(e.stances) == 1 and e.stances[0] in ANSWERS and _closed(e.pair.question):
            pages[e.pair.question].add((said.title, said.named))
    encoder, every = load_encoder(threads=1), list(by_text.values())
    held = [_stems(t.sentence) for t in every]
    vectors = encoder.encode_documents([t.sentence for t in every])
    elsewhere, same = [], []
    for question, asked in zip(pages, encoder.encode_queries(list(pages)), strict=True):
        titles, near = {title for title, _ in pages[question]}, (-(vectors @ asked)).argsort()[:NEAREST]
        inside = [at for at in near if every[at].title in titles]
        outside = [
            at for at in near if every[at].title not in titles and not any(n <= held[at] for _, n in pages[question])
        ]
        elsewhere += [_in_library(question, every[at], SILENT, "library", 0.6) for at in outside[:ELSEWHERE]]
        same += [_in_library(question, every[at], ALL, "library", 1.0) for at in inside[:BESIDE]]
    return elsewhere, same


def beside(rng: random.Random, most: int) -> list[Example]:
    """Pairs of the library whose label is left open, for teachers to read."""
    elsewhere, same = found(judge=False)
    unknown = [*same, *(replace(e, stances=ALL) for e in elsewhere)]
    return rng.sample(unknown, min(most, len(unknown)))


def annotated(data: Path) -> Iterator[Example]:
    """Single sentences of abstracts and snippets with our own labels; all of articles that may be trained on."""
    held = {r["id"]: r for file in (PUBMEDQA, BIOASQ) for r in rows(data / file)}
    for row in rows(ANNOTATIONS):
        if missing := {s[0] for s in row["rows"]} - held.keys():
            advice = "Use the development files that the annotations were made on."
            raise InputError(f"The data lack {', '.join(sorted(missing))}, which is annotated.", advice)
        question = row.get("question") or held[row["id"]]["question"]
        for source, place, start, end, stance, direction, role in row["rows"]:
            sentence = _places(held[source])[place][start:end]
            yield replace(_labelled(Pair(question, sentence), row["id"], stance, direction, role), source=row["source"])


def _places(row: Mapping[str, Any]) -> list[str]:
    """The texts of a question that an annotation counts: the snippets, or the parts of the abstract."""
    if "snippets" in row:
        return [s["text"] for s in row["snippets"]]
    return [*(c["text"] for c in row["contexts"]), row["long_answer"]]


def epoch(data: Path, rng: random.Random, *, swaps: bool = True) -> list[Example]:
    """The examples of one pass over what may be trained on; what is sampled differs from pass to pass."""
    answered = known(judge=False)
    theirs: list[Iterable[Example]] = [
        from_comparisons(comparisons(data, judge=False), rng),
        from_abstract_questions(abstract_questions(data, judge=False), rng),
        from_snippet_questions(snippet_questions(data, judge=False), rng),
        annotated(data),
    ]
    out = [e for part in theirs for e in part if rng.random() < THEIRS]
    ours = own(judge=False, rng=rng)
    out += [e for e in ours if rng.random() < (HALF if e.stances == FOREIGN else OURS)]
    out += from_answered(ours, rng)
    out += [e for e in answered if rng.random() < OURS]
    elsewhere = found(judge=False)[0]
    out += rng.sample(elsewhere, min(ELSEWHERE_READ, len(elsewhere)))
    out = [swapped(e, rng) if swaps else e for e in out]
    rng.shuffle(out)
    return out


def swapped(example: Example, rng: random.Random) -> Example:
    """The example about another medicine now and then; asked of another medicine than it tells of, it is unrelated.

    What a sentence says of a medicine is to be read from the sentence, not remembered of the medicine.
    """
    shown = _medicines(example.pair.sentence)
    shared = sorted(_medicines(example.pair.question) & shown)
    drawn = rng.random()
    if not shared or drawn > SWAPPED + ESTRANGED:
        return example
    name = re.compile(rf"\b{re.escape(rng.choice(shared))}\b", re.I)
    other = rng.choice(generic_names())
    asked = name.sub(other, example.pair.question)
    if drawn > SWAPPED:
        if example.stances == ALL or other.lower() in shown:
            return example
        return replace(
            example, pair=example.pair._replace(question=asked), stances=FOREIGN, direction=Direction.UNCLEAR
        )
    return replace(example, pair=Pair(*(name.sub(other, part) for part in example.pair)))


@lru_cache(maxsize=1 << 15)
def _medicines(text: str) -> frozenset[str]:
    return frozenset(m.written.lower() for m in medicines_in(text) if m.generic)


def counted(examples: Sequence[Example]) -> dict[str, int]:
    """How many examples of each source."""
    out: dict[str, int] = defaultdict(int)
    for example in examples:
        out[example.source] += 1
    return dict(out)


STANCE_AT = {s: i for i, s in enumerate(STANCES)}
DIRECTION_AT = {d: i for i, d in enumerate(DIRECTIONS)}
ROLE_AT = {r: i for i, r in enumerate(ROLES)}
