"""Training of the heads of messages (`tools/reading/messages.py`): logistic regression, and thresholds by folds.

Ordinary questions of BioASQ and PubMedQA are those of the *fit* part (`tools/reading/split.json`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from evals.training.fitting import SEED, frequent, held_out, logistic, text_matrix
from graphs.triage.emergency import NAMED, emergencies
from tools.icd10.table import categories
from tools.knowledge_graph.edge import CHAPTERS
from tools.reading import corpus
from tools.reading.features import BUCKETS, DENSE
from tools.reading.messages import MEANINGS, SECTIONS, SORTS, Meaning, Section, Sort, beside, is_long, medical
from tools.weights import store

EXAMPLES = Path(__file__).parents[2] / "graphs" / "triage" / "examples"
FEWER = 0.3  # ours: what a question of BioASQ or PubMedQA counts, and an emergency as a case: they are many
INVERSE = 10.0  # ours: inverse strength of the penalty
INVERSE_KINDS = 30.0  # ours: the same for the head that names an emergency
FREQUENT = 16  # ours: emergencies that a bucket of n-grams must stand in for that head
CALM = 2.0  # ours: what a case or look-alike that is no emergency counts: they are fewer here than among messages
STEPS = 60  # ours: steps of L-BFGS
ALARMS = 0.0085  # ours: share of ordinary questions that may be called an emergency; asked is 0.01
MILD_ALARMS = {"short cases": 0.2, "long cases": 0.007}  # ours: the same of cases that are none; recall first
CURVE = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


INVERSE_MEANT = 10.0  # ours: inverse strength of the penalty of the head of meanings
OFTEN = 5  # ours: messages of a conversation that a bucket of n-grams must stand in for that head
SHORT = 150  # ours: characters of a first message that teaches what asks nothing of what was said before
FAINT = 0.02  # ours: what such a message counts: they are many
INVERSE_SECTION = 3.0  # ours: inverse strength of the penalty of the head of sections
COPIES = 3  # ours: of each question about a section, two of them with a disease in the place of "it"
ASKED_SECTION = 250  # ours: questions of PubMedQA that ask for no section
OF_SECTION = {Meaning.TESTS: Section.DIAGNOSIS, Meaning.TREATMENT: Section.TREATMENT, Meaning.URGENT: Section.SEEK_HELP,
              Meaning.DOSE: Section.OTHER, Meaning.PROGNOSIS: Section.OTHER}  # fmt: skip
SUBJECT = re.compile(r"\bit\b", re.IGNORECASE)
ASIDE = re.compile(r",.*|\[.*|\(.*|\bunspecified\b|\bnot elsewhere classified\b|\bother\b", re.IGNORECASE)
NAME_WORDS = 3  # ours: words of a disease's name that stands for "it", at most
FIRST = {"question": Meaning.ALONE, "assistant": Meaning.ALONE, "case": Meaning.TELLS, "courtesy": Meaning.TELLS}


class Turn(NamedTuple):
    """A message within a conversation: what it asks of what was said before, which was a patient's case or not."""

    text: str
    meaning: Meaning
    of_case: bool
    writer: str
    weight: float = 1.0


class Message(NamedTuple):
    """A training text.

    Attributes:
        sort: None where unknown; emergency: None where it may be argued.
        group: what it is held out with; kind: the emergency that it tells of, or looks like.
        asked: a question of BioASQ or PubMedQA. reply: told within a conversation.
    """

    text: str
    sort: Sort | None
    emergency: bool | None
    group: str
    kind: str = ""
    asked: bool = False
    reply: bool = False

    @property
    def weight(self) -> float:
        """What the text counts as a message of its sort."""
        return FEWER if self.asked or self.kind else 1.0


def train_heads(data: Path, out: Path, tell: Callable[[str], None], *, replies: bool = False) -> None:
    """Train the heads and write their weights with a checksum beside; the same file for the same data.

    ``replies``: that of emergencies within a conversation alone; the others stay as they are in ``out``.
    """
    every = messages(data)
    whole = text_matrix([row.text for row in every])
    tell(f"{len(every)} texts")
    within = _replies(every, whole, tell)
    if replies:
        with safe_open(str(out), framework="numpy") as file:
            kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            store(out, kept | within, file.metadata() or {})
        return
    first = [at for at, row in enumerate(every) if not row.reply]
    rows, matrix = [every[at] for at in first], whole[first]
    sorts = _sorts(rows, _with_words(rows, matrix), tell)
    alarm, least = _emergencies(rows, matrix, tell)
    kinds, buckets, named = _kinds(rows, matrix, tell)
    meant, buckets_meant = _meanings(tell)
    section, buckets_section = _sections(data, tell)
    weights = np.vstack([sorts.coef_[:, : DENSE + BUCKETS], alarm.coef_])
    tensors: dict[str, NDArray[Any]] = within | {
        "dense": weights[:, :DENSE].astype(np.float16),
        "grams": weights[:, DENSE:].astype(np.float16),
        "medical": sorts.coef_[:, DENSE + BUCKETS :].astype(np.float32),
        "bias": np.concatenate([sorts.intercept_, alarm.intercept_]).astype(np.float32),
        "named": named.coef_[:, :DENSE].astype(np.float16),
        "named_grams": named.coef_[:, DENSE:].astype(np.float16),
        "named_buckets": buckets.astype(np.int32),
        "named_bias": named.intercept_.astype(np.float32),
        "meant": meant.coef_[:, :DENSE].astype(np.float16),
        "meant_grams": meant.coef_[:, DENSE : DENSE + len(buckets_meant)].astype(np.float16),
        "meant_buckets": buckets_meant.astype(np.int32),
        "meant_beside": meant.coef_[:, DENSE + len(buckets_meant) :].astype(np.float32),
        "meant_bias": meant.intercept_.astype(np.float32),
        "section": section.coef_[:, :DENSE].astype(np.float16),
        "section_grams": section.coef_[:, DENSE:].astype(np.float16),
        "section_buckets": buckets_section.astype(np.int32),
        "section_bias": section.intercept_.astype(np.float32),
        "emergency": np.array(least, dtype=np.float32).round(3),
    }
    store(out, tensors, {"kinds": " ".join(kinds)})  # one entry: several are written in any order


def messages(data: Path) -> list[Message]:
    """Every training text. Raises InputError when the data is not there."""
    out = []
    for at, row in enumerate(corpus.rows(EXAMPLES / "kinds.jsonl")):
        out.append(Message(row["text"], Sort(row["kind"]), row.get("emergency", False), str(at)))
    for row in corpus.rows(EXAMPLES / "emergencies.jsonl"):
        kind, urgent = row["kind"], row["label"] == "emergency"
        out.append(Message(row["text"], Sort.CASE if urgent else None, urgent, kind, kind))
    for at, row in enumerate(corpus.rows(EXAMPLES / "replies.jsonl")):
        urgent = {"calm": False, "emergency": True}.get(row["label"])
        out.append(Message(row["text"], None, urgent, f"reply {at}", reply=True))
    held = corpus.division()
    for source, file in (("pubmedqa", corpus.PUBMEDQA), ("bioasq", corpus.BIOASQ)):
        asked = [row for row in corpus.rows(data / file) if row["id"] not in held[source]]
        out += [Message(row["question"], Sort.QUESTION, False, row["id"], asked=True) for row in asked]
    return out


def _with_words(rows: Sequence[Message], matrix: Any) -> Any:
    """The features, and behind them how medical the words are."""
    from scipy import sparse

    return sparse.hstack([matrix, np.stack([medical(row.text) for row in rows])], format="csr", dtype=np.float64)


def _sorts(rows: Sequence[Message], matrix: Any, tell: Callable[[str], None]) -> Any:
    """The head of sorts; from which probability a message is surely of another field (`SURELY`) is told."""
    known = [at for at, row in enumerate(rows) if row.sort is not None]
    target = np.array([SORTS.index(rows[at].sort or Sort.OTHER) for at in known])
    weight = np.array([rows[at].weight for at in known])
    share = np.array([weight[target == k].sum() / weight.sum() for k in range(len(SORTS))])
    weight = weight / np.sqrt(share[target] * len(SORTS))  # ours: a rare sort counts more, not as much as a common one
    x = matrix[known]
    held = held_out(x, target, weight, [rows[at].group for at in known], INVERSE, STEPS)
    own = np.array([rows[at].weight == 1.0 for at in known])
    medical = np.isin(target, [SORTS.index(s) for s in (Sort.CASE, Sort.QUESTION, Sort.PATIENT_QUESTION)])
    at_other = held[:, SORTS.index(Sort.OTHER)]
    for name, which in (("ours", own), ("of others", ~own)):
        right = (held.argmax(1) == target)[which].mean()
        tell(f"sorts, held out, {name}: {100 * right:.1f} % right of {int(which.sum())}")
    sets = {"other fields": ~medical & (target == SORTS.index(Sort.OTHER)), "our medical messages": medical & own}
    sets["medical messages of others"] = medical & ~own
    for at in CURVE:
        shares = (f"{100 * (at_other[which] >= at).mean():.1f} % of {name}" for name, which in sets.items())
        tell(f"surely another field from {at:.3f}: {', '.join(shares)}")
    return logistic(x, target, weight, INVERSE, STEPS)


def _emergencies(every: Sequence[Message], matrix: Any, tell: Callable[[str], None]) -> tuple[Any, list[float]]:
    """The head of emergencies, and from which probability a short text tells of one, and a long one."""
    known = [at for at, row in enumerate(every) if row.emergency is not None]
    rows, x = [every[at] for at in known], matrix[known]
    target = np.array([int(bool(row.emergency)) for row in rows])
    calm = np.array([not row.emergency and (row.sort is Sort.CASE or bool(row.kind)) for row in rows])
    weight = np.array([FEWER if row.asked else CALM if c else 1.0 for row, c in zip(rows, calm, strict=True)])
    held = held_out(x, target, weight, [row.group for row in rows], INVERSE, STEPS)[:, 1]
    long = np.array([is_long(row.text) for row in rows])
    case = np.array([row.sort is Sort.CASE and not row.emergency for row in rows])
    sets = {
        "emergencies": np.array([bool(row.kind) and bool(row.emergency) for row in rows]),
        "look-alikes": np.array([bool(row.kind) and not row.emergency for row in rows]),
        "questions": np.array([row.sort in (Sort.QUESTION, Sort.PATIENT_QUESTION) for row in rows]),
        "long emergencies": (target == 1) & long,
        "short cases": case & ~long,
        "long cases": calm & long,
    }
    asked = float(np.quantile(held[sets["questions"]], 1 - ALARMS))
    least = [max(asked, float(np.quantile(held[sets[name]], 1 - most))) for name, most in MILD_ALARMS.items()]
    for at in (*CURVE, *least):
        shares = (f"{100 * (held[which] >= at).mean():.1f} % of {name}" for name, which in sets.items())
        tell(f"called an emergency from {at:.3f}: {', '.join(shares)}")
    return logistic(x, target, weight, INVERSE, STEPS), least


def _replies(every: Sequence[Message], matrix: Any, tell: Callable[[str], None]) -> dict[str, NDArray[Any]]:
    """The head of emergencies within a conversation, which learns from first messages too."""
    known = [at for at, row in enumerate(every) if row.emergency is not None]
    rows, x = [every[at] for at in known], matrix[known]
    target = np.array([int(bool(row.emergency)) for row in rows])
    calm = [not row.emergency and (row.sort is Sort.CASE or bool(row.kind) or row.reply) for row in rows]
    weight = np.array([FEWER if row.asked else CALM if c else 1.0 for row, c in zip(rows, calm, strict=True)])
    held = held_out(x, target, weight, [row.group for row in rows], INVERSE, STEPS)[:, 1]
    reply = np.array([row.reply for row in rows])
    for at in CURVE:
        found, flagged = (100 * (held[reply & (target == urgent)] >= at).mean() for urgent in (1, 0))
        tell(f"replies called an emergency from {at:.3f}: {found:.1f} % of those that are, {flagged:.1f} % of others")
    head = logistic(x, target, weight, INVERSE, STEPS)
    return {
        "replied": head.coef_[0, :DENSE].astype(np.float16),
        "replied_grams": head.coef_[0, DENSE:].astype(np.float16),
        "replied_bias": head.intercept_.astype(np.float32),
    }


def _kinds(
    every: Sequence[Message], matrix: Any, tell: Callable[[str], None]
) -> tuple[list[str], NDArray[np.intp], Any]:
    """The head that names an emergency, with the buckets of n-grams that it reads; how often it is right is told."""
    rows = [at for at, row in enumerate(every) if row.kind and row.emergency]
    kinds = sorted({every[at].kind for at in rows})
    target, weight = np.array([kinds.index(every[at].kind) for at in rows]), np.ones(len(rows))
    buckets, columns = frequent(matrix[rows], FREQUENT)
    x = matrix[rows][:, columns]
    held = held_out(x, target, weight, [str(at) for at in rows], INVERSE_KINDS, STEPS)
    exemplars = emergencies().exemplars
    codes = sorted(set(exemplars.values()))
    code_of = np.array([codes.index(exemplars[kind]) for kind in kinds])
    shares = held @ np.eye(len(codes))[code_of]
    sure = shares.max(1) >= NAMED
    right = (shares.argmax(1) == code_of[target])[sure].mean()
    tell(f"emergencies named: {100 * sure.mean():.1f} % of {len(rows)}, of these {100 * right:.1f} % right")
    return kinds, buckets, logistic(x, target, weight, INVERSE_KINDS, STEPS)


def _meanings(tell: Callable[[str], None]) -> tuple[Any, NDArray[np.intp]]:
    """The head of what a message asks of what was said before, with the buckets of n-grams that it reads; how often it
    is right of a writer's texts that it did not see is told."""
    from scipy import sparse

    rows = turns()
    matrix = text_matrix([row.text for row in rows])
    own = np.array([row.weight == 1.0 for row in rows])
    buckets, columns = frequent(matrix[own], OFTEN)
    more = np.stack([beside(row.text, row.of_case) for row in rows])
    x = sparse.hstack([matrix[:, columns], more], format="csr", dtype=np.float64)
    target, weight = np.array([MEANINGS.index(row.meaning) for row in rows]), np.array([row.weight for row in rows])
    writers = [row.writer for row in rows]
    held = held_out(x, target, weight, writers, INVERSE_MEANT, STEPS, len(set(writers)))
    right = held.argmax(1) == target
    tell(f"meanings, held out by writer: {100 * right[own].mean():.1f} % right of {own.sum()}")
    for at, name in enumerate(MEANINGS):
        told, meant = (held.argmax(1) == at) & own, (target == at) & own
        tell(f"  {name.value}: {100 * right[meant].mean():.0f} % found, {100 * right[told].mean():.0f} % right")
    return logistic(x, target, weight, INVERSE_MEANT, STEPS), buckets


def turns() -> list[Turn]:
    """Messages within a conversation, and of those that open one the questions and what is told, which ask nothing of
    what was said before."""
    found = [
        Turn(row["text"], Meaning(row["means"]), row["after"] == "case", row["writer"])
        for row in corpus.rows(EXAMPLES / "turns.jsonl")
    ]
    writers = sorted({turn.writer for turn in found})
    for at, row in enumerate(corpus.rows(EXAMPLES / "kinds.jsonl")):
        meaning = FIRST.get(row["kind"])
        if meaning is not None and len(row["text"]) <= SHORT:
            found.append(Turn(row["text"], meaning, at % 2 == 0, writers[at % len(writers)], FAINT))
    return found


def _sections(data: Path, tell: Callable[[str], None]) -> tuple[Any, NDArray[np.intp]]:
    """The head of what section a question asks for, with the buckets of n-grams that it reads.

    Diseases of ICD-10 stand for "it" in most copies of a question, so that the head learns the form of questions, not
    what they are about.
    """
    draw = random.Random(SEED)  # noqa: S311
    called = (ASIDE.sub("", name).lower().strip() for code, name in categories() if code[0] in CHAPTERS)
    names = sorted({name for name in called if 0 < len(name.split()) <= NAME_WORDS})
    rows = [(row["text"], Section(row["asks"]), row["writer"]) for row in corpus.rows(EXAMPLES / "sections.jsonl")]
    rows += [
        (turn.text, OF_SECTION[turn.meaning], turn.writer)
        for turn in turns()
        if turn.meaning in OF_SECTION and turn.of_case and turn.weight == 1.0 and SUBJECT.search(turn.text)
    ]
    told = [
        (SUBJECT.sub(draw.choice(names), text, count=1) if copy else text, asks, writer, 1 / COPIES)
        for text, asks, writer in rows
        for copy in range(COPIES)
    ]
    held = corpus.division()["pubmedqa"]
    asked = [row["question"] for row in corpus.rows(data / corpus.PUBMEDQA) if row["id"] not in held]
    writers = sorted({writer for _, _, writer in rows})
    told += [(text, Section.OTHER, draw.choice(writers), FEWER) for text in draw.sample(asked, ASKED_SECTION)]
    matrix = text_matrix([text for text, *_ in told])
    buckets, columns = frequent(matrix, FREQUENT)
    x = matrix[:, columns]
    target, weight = np.array([SECTIONS.index(asks) for _, asks, _, _ in told]), np.array([w for *_, w in told])
    by = [writer for _, _, writer, _ in told]
    seen = held_out(x, target, weight, by, INVERSE_SECTION, STEPS, len(writers))
    tell(f"sections, held out by writer: {100 * (seen.argmax(1) == target).mean():.1f} % right of {len(told)}")
    return logistic(x, target, weight, INVERSE_SECTION, STEPS), buckets
