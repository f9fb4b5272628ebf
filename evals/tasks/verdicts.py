"""`verdicts`: closed questions through the agent, from the starter library, with an abstract given, over a mirror.

``closed.SET`` asks questions written by people who saw no rule: ``wrong`` are verdicts that are not gold, among all
questions, and any verdict where the library covers nothing is one; ``right`` is of the answerable ones,
``uncovered_answered`` of the others. No difference counts as no; conflicting and insufficient count as depends.
``pubmedqa`` and ``bioasq`` are the questions that nothing was trained on. PubMedQA's abstract, without conclusion, is
given with the question; ``right_of_surest_N`` is what is right of the surest N % when every question must be answered.
``pubmedqa.elsewhere`` asks the same questions over a mirror that lacks the articles they were made of: any verdict is
one on another question, but where another article has the answer. BioASQ is asked with its gold snippets as evidence
(``gold``) and over a mirror (``mirror``); unanswered questions are wrong for their class, and left out of
``macro_f1_answered``. ``risk@N`` and ``aurc`` are the curve of risk over
coverage when every question must be answered: what the judge leans to, as sure as the leading sentence's answer is
probable (the event ``leaning`` of a trace); what it leans to nowhere stands last and is wrong. ``ends.STAGE`` tells how
far the sentences of a question came (`graphs.verdicts.contract.Stage`), or that its page was not found. ``words`` are
logistic regressions: of our own closed questions by themselves, of PubMedQA and BioASQ with their texts, on the other
part.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from agent.settings import Settings
from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.datasets.bioasq import SNIPPETS, SnippetQuestion, read_yes_no
from evals.datasets.closed import STRANGERS, UNSEEN, ClosedQuestion
from evals.datasets.literature import ABSTRACTS, read_collection
from evals.datasets.pubmedqa import PubMedQuestion, read_pubmedqa
from evals.datasets.rows import SHIPPED, read_jsonl
from evals.runner import data_sha256
from evals.sessions import Held, Sittings, sitting
from evals.statistics import Pairs, macro_f1, risk_coverage, share
from evals.tasks.answers import abstract
from evals.tasks.literature import build_once, mirror_record, prepared
from graphs.answering.contract import Answer
from graphs.verdicts.contract import VerdictValue
from graphs.verdicts.local import VerdictJudgeLocal
from tools.evidence import Evidence, Origin
from tools.library.monograph import COLLECTION
from tools.mirror.load import load_records
from tools.reading import corpus
from tools.reading.contract import Pair, Reader, Reading, Stance
from tools.reading.corpus import BIOASQ, PUBMEDQA
from tools.reading.reader import TrainedReader

ENGLISH = ("closed.strangers", "closed.a", "closed.b")
CHINESE = "closed.zh"
LATER = "closed.c"  # on pages and medicines that came later; counted by itself, so that the others stay comparable
GIVEN, ELSEWHERE, SEARCHED = "pubmedqa.given", "pubmedqa.elsewhere", "bioasq.mirror"
NOT_COVERED = "not_covered"
LEANING, STAGE = "leaning", "verdict_stage"  # events of a trace
UNFOUND = "unfound"  # where a question ends whose page was not among what was found
ABSENT = "not measured: {} is not there"
YES, NO, DEPENDS = "yes", "no", "depends"
GOLD = {"yes": YES, "no": NO, "maybe": DEPENDS}
COUNTS_AS = {
    VerdictValue.YES: YES,
    VerdictValue.NO: NO,
    VerdictValue.NO_DIFFERENCE: NO,
    VerdictValue.DEPENDS: DEPENDS,
    VerdictValue.CONFLICTING: DEPENDS,
    VerdictValue.INSUFFICIENT: DEPENDS,
}
OF_STANCE = {Stance.SUPPORTS: YES, Stance.REFUTES: NO, Stance.MIXED: DEPENDS, Stance.UNSETTLED: DEPENDS}
SUREST = (50, 75, 100)  # percent of the questions
MOST_WORDS = 30_000  # ours: the commonest runs of one or two words
STRENGTH = 10.0  # ours: C of the logistic regression, which for tf-idf is the usual order


Sure = list[tuple[str, float]]  # labels, each with its probability


class Searching(NamedTuple):
    """A row whose question is asked over a mirror of PubMed."""

    row: Any
    mirror: Path


def items(context: TaskContext) -> list[Item]:
    """Every question of the files that are there."""
    out = [
        Item(f"{group}/{row.id}", group, (row.question,), row.gold, row)
        for group, rows in closed_sets(context).items()
        for row in rows
    ]
    out += [
        Item(f"{GIVEN}/{row.id}", GIVEN, (row.question,), GOLD[row.answer], row, given=(abstract(row),))
        for row in abstracts(context, judge=True)
    ]
    return out + _searching(context, SEARCHED) + _searching(context, ELSEWHERE)


def _searching(context: TaskContext, group: str) -> list[Item]:
    """The questions of a group that is asked over a mirror: BioASQ's, or PubMedQA's where their articles are not."""
    away = group == ELSEWHERE
    rows: Sequence[Any] = abstracts(context, judge=True) if away else snippets(context, judge=True)
    mirror = _mirror(context, group) if rows else None
    if mirror is None:
        return []
    gold = [NOT_COVERED if away else row.gold for row in rows]
    return [
        Item(f"{group}/{row.id}", group, (row.question,), target, Searching(row, mirror))
        for row, target in zip(rows, gold, strict=True)
    ]


def closed_sets(context: TaskContext) -> dict[str, list[ClosedQuestion]]:
    """The sets of closed questions that are there; the others are told."""
    paths = {"closed.strangers": context.data / STRANGERS}
    paths |= {f"closed.{name}": SHIPPED / file for name, file in UNSEEN.items()}
    context.not_run.update({name: ABSENT.format(path.name) for name, path in paths.items() if not path.is_file()})
    return {name: context.sample(read_jsonl(path, ClosedQuestion)) for name, path in paths.items() if path.is_file()}


def abstracts(context: TaskContext, *, judge: bool) -> list[PubMedQuestion]:
    """PubMedQA's questions of one side: a sample to judge, or all to fit on; none where the file is not there."""
    if not context.has(PUBMEDQA):
        return []
    held = corpus.division()["pubmedqa"]
    rows = [row for row in read_pubmedqa(context.data) if (row.id in held) == judge]
    return context.sample(rows) if judge else rows


def snippets(context: TaskContext, *, judge: bool) -> list[SnippetQuestion]:
    """BioASQ's yes/no questions of one side, as `abstracts`."""
    rows = read_yes_no(context.data, judge=judge) if context.has(BIOASQ) else []
    return context.sample(rows) if judge else rows


def _mirror(context: TaskContext, group: str) -> Path | None:
    """The folder of the mirror of all records, the one of `literature`, or of those that no question of PubMedQA was
    made of; built the first time."""
    missing = [file for file in (ABSTRACTS, SNIPPETS) if not context.has(file)]
    if missing:
        context.not_run[group] = ABSENT.format(" and ".join(missing))
        return None
    documents = read_collection(context.data)
    if group == SEARCHED:
        return prepared(context, documents)[0]
    asked = {row.pmid for row in read_pubmedqa(context.data)}
    digest = data_sha256(context.data, (ABSTRACTS, SNIPPETS))[:16]
    folder = context.home.cache / "evaluations" / f"elsewhere-{digest}"
    others = [d for d in documents if d.pmid not in asked]

    def build() -> None:
        rows = map(mirror_record, context.each(others, "mirror"))
        load_records(folder / "mirror", rows, source="verdicts evaluation")

    build_once(folder, build)
    return folder / "mirror"


class SearchingSittings(Sittings):
    """Holds sessions with the plain agent, or over the mirror of the item's row.

    Args:
        plain: who holds the first. open: opens an agent over a mirror; each mirror is opened once.
    """

    def __init__(self, plain: Sittings, open: Callable[[Path], Sittings]) -> None:
        self._plain, self._open_mirror = plain, open
        self._lock, self._opened = Lock(), dict[Path, Sittings]()

    async def ahold(self, item: Item) -> Held:
        """Say an item's messages in a fresh session of the agent that it is for; what the judge leans to is told."""
        searching = isinstance(item.row, Searching)
        sittings = await asyncio.to_thread(self._over, item.row.mirror) if searching else self._plain
        held = await sittings.ahold(item)
        return with_stage(held)

    def _over(self, mirror: Path) -> Sittings:
        with self._lock:
            if mirror not in self._opened:
                self._opened[mirror] = self._open_mirror(mirror)
            return self._opened[mirror]


def with_stage(held: Held) -> Held:
    """A session whose reply tells what the judge of closed questions leant to, and how far its sentences came."""
    last = {e["kind"]: e for e in held.events[-1]}
    told: dict[str, Any] = {}
    if LEANING in last:
        told[LEANING] = [last[LEANING]["value"], last[LEANING]["probability"]]
    if STAGE in last:
        told[STAGE] = last[STAGE]["stage"]
    return held._replace(reply=held.reply.model_copy(update={"told": told}))


def stage_of(item: Item, reply: Reply) -> str:
    """Where a question ends: at the stage that its sentences came to, or at the search, of a page that answers it."""
    page = getattr(item.row, "monograph", "")
    named = f"{COLLECTION}:{page}"
    if page and item.target != NOT_COVERED and not any(i.partition("@")[0] == named for i in reply.found):
        return UNFOUND
    return str(reply.told.get(STAGE, "not_asked"))


def stage_figures(name: str, ended: Sequence[str]) -> list[Figure]:
    """The share of questions that end at each stage that one ends at."""
    return [f for stage in sorted(set(ended)) for f in share(f"{name}.ends.{stage}", [s == stage for s in ended])]


@contextlib.contextmanager
def searching_sitting(settings: Settings) -> Iterator[Sittings]:
    """The assembled agent, and beside it one a mirror once an item asks for it."""
    with contextlib.ExitStack() as stack:

        def over(mirror: Path) -> Sittings:
            literature = settings.literature.model_copy(update={"mirror": mirror})
            return stack.enter_context(sitting(settings.model_copy(update={"literature": literature})))

        yield SearchingSittings(stack.enter_context(sitting(settings)), over)


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the verdict is gold; where the library covers nothing, whether there is none."""
    said = said_of(reply.answer)
    right = said is None if item.target == NOT_COVERED else said == item.target
    return Judged(right, said or "no verdict", f"{item.target} is gold.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """Every figure: of replies, and of what the reader makes of the same rows by itself."""
    said: dict[str, list[tuple[str, str | None]]] = {}
    leant: dict[str, list[tuple[float, bool]]] = {}
    for item, reply in told:
        said.setdefault(item.group, []).append((item.target, said_of(reply.answer)))
        value, probability = reply.told.get(LEANING, (None, 0.0))
        right = value is not None and COUNTS_AS[VerdictValue(value)] == item.target
        leant.setdefault(item.group, []).append((float(probability), right))
    by_set = {name: [item for item, _ in told if item.group == name] for name in (*ENGLISH, CHINESE, LATER)}
    sets = {name: (name,) for name in by_set} | {"closed.english": ENGLISH, "closed.all": (*ENGLISH, CHINESE)}
    out: list[Figure] = []
    for name, members in sets.items():
        out += closed_figures(name, [pair for one in members for pair in said.get(one, [])])
        out += risk_coverage(name, [row for one in members for row in leant.get(one, [])], context.seed)
    english = [(item, reply) for item, reply in told if item.group in ENGLISH]
    for name, rows in (
        ("closed.english.covered", [(i, r) for i, r in english if i.target != NOT_COVERED]),
        (f"{LATER}.covered", [(i, r) for i, r in told if i.group == LATER and i.target != NOT_COVERED]),
        ("pubmedqa.given", [(i, r) for i, r in told if i.group == GIVEN]),
    ):
        out += stage_figures(name, [stage_of(item, reply) for item, reply in rows])
    out += words_figures(context, [item for name in ENGLISH for item in by_set[name]])
    out += pubmedqa_figures(context, said.get(GIVEN, []), leant.get(GIVEN, []))
    out += share(f"{ELSEWHERE}.answered", [verdict is not None for _, verdict in said.get(ELSEWHERE, [])])
    out += risk_coverage(SEARCHED, leant.get(SEARCHED, []), context.seed)
    return out + bioasq_figures(context, said.get(SEARCHED, []))


def words_figures(context: TaskContext, asked: Sequence[Item]) -> list[Figure]:
    """What the words of the English questions alone give, fitted on our own closed questions; it answers all."""
    if not asked:
        return []
    own = corpus.own(judge=False, rng=random.Random(context.seed))  # noqa: S311
    known = {e.pair.question: Known(e.pair.question, OF_STANCE[e.stances[0]]) for e in own if e.stances[0] in OF_STANCE}
    said = by_words(context, "closed.words", list(known.values()), [item.messages[0] for item in asked])
    rows = [(i.target, label, p) for i, (label, p) in zip(asked, said.get("words", []), strict=False)]
    return [
        *share("closed.words.wrong", [label != gold for gold, label, _ in rows]),
        *share("closed.words.right", [label == gold for gold, label, _ in rows if gold != NOT_COVERED]),
        *risk_coverage("closed.words", [(p, label == gold) for gold, label, p in rows], context.seed),
    ]


def closed_figures(name: str, pairs: Pairs) -> list[Figure]:
    """The figures of one set of closed questions, and two baselines that are known exactly."""
    if not pairs:
        return []
    answerable = [(gold, said) for gold, said in pairs if gold != NOT_COVERED]
    out = [
        *share(f"{name}.wrong", [said not in (None, gold) for gold, said in pairs]),
        *share(f"{name}.right", [said == gold for gold, said in answerable]),
        *share(f"{name}.uncovered_answered", [said is not None for gold, said in pairs if gold == NOT_COVERED]),
        *share(f"{name}.answered", [said is not None for _, said in pairs]),
        *share(f"{name}.right_of_answered", [said == gold for gold, said in pairs if said is not None]),
        *share(f"{name}.always_yes_wrong", [gold != YES for gold, _ in pairs]),
    ]
    if answerable:
        usual = commonest([gold for gold, _ in answerable])
        out += share(f"{name}.majority_right", [gold == usual for gold, _ in answerable])
    return out


def pubmedqa_figures(context: TaskContext, pairs: Pairs, leant: Sequence[tuple[float, bool]]) -> list[Figure]:
    """What the agent answered; how right the reader and words are as far as they are sure; the plain baselines."""
    rows = abstracts(context, judge=True) if pairs else []
    if not rows:
        return []
    gold = [GOLD[row.answer] for row in rows]
    usual = commonest(gold)
    out = [
        *share("pubmedqa.given.answered", [said is not None for _, said in pairs]),
        *share("pubmedqa.given.right_of_answered", [said == right for right, said in pairs if said is not None]),
        *share("pubmedqa.given.right", [said == right for right, said in pairs]),
        *share("pubmedqa.majority.right", [right == usual for right in gold]),
        *share("pubmedqa.always_yes.right", [right == YES for right in gold]),
    ]
    out += surest("pubmedqa.reader", leant) + risk_coverage("pubmedqa.reader", leant, context.seed)

    def asked(row: PubMedQuestion) -> str:
        return f"{row.question}\n{abstract(row)}"

    known = [Known(asked(row), GOLD[row.answer]) for row in abstracts(context, judge=False)]
    told = by_words(context, "pubmedqa.words", known, [asked(row) for row in rows], balanced=False).get("words", [])
    by_word = [(p, said == right) for (said, p), right in zip(told, gold, strict=False)]
    return out + surest("pubmedqa.words", by_word) + risk_coverage("pubmedqa.words", by_word, context.seed)


def bioasq_figures(context: TaskContext, searched: Pairs) -> list[Figure]:
    """Macro F1 of yes and no with gold snippets, over the mirror, and of the baselines."""
    rows = snippets(context, judge=True)
    if not rows:
        return []
    gold, policy = [row.gold for row in rows], VerdictJudgeLocal(the_reader())
    ruled = [policy.judge(row.question, pieces_of(row.snippets)) for row in context.each(rows, "gold")]
    read = [COUNTS_AS[r.verdict.value] if r.verdict is not None else None for r in ruled]
    leans = [(r.leaning.probability, COUNTS_AS[r.leaning.value]) if r.leaning is not None else (0.0, "") for r in ruled]

    def asked(row: SnippetQuestion) -> str:
        return "\n".join((row.question, *(text for _, _, text in row.snippets)))

    known = [Known(asked(row), row.gold) for row in snippets(context, judge=False)]
    told = by_words(context, "bioasq.words", known, [asked(row) for row in rows]).get("words", [])
    plain = {"words": [label for label, _ in told], "majority": [commonest(gold)] * len(gold)}
    out = f1_figures("bioasq.gold", list(zip(gold, read, strict=True)), context.seed)
    curves = {"gold": leans, "words": [(p, label) for label, p in told]}
    for name, rows_of in curves.items():
        sure = [(p, label == right) for (p, label), right in zip(rows_of, gold, strict=False)]
        out += risk_coverage(f"bioasq.{name}", sure, context.seed)
    out += f1_figures(SEARCHED, searched, context.seed)
    for name, labels in plain.items():
        pairs = list(zip(gold, labels, strict=False))
        out += macro_f1(f"bioasq.{name}.macro_f1", pairs, (YES, NO), context.seed)
    return out


def f1_figures(name: str, pairs: Pairs, seed: int) -> list[Figure]:
    """Macro F1 of all and of those answered, and how many these are."""
    answered = [(gold, said) for gold, said in pairs if said is not None]
    return [
        *macro_f1(f"{name}.macro_f1", pairs, (YES, NO), seed),
        *macro_f1(f"{name}.macro_f1_answered", answered, (YES, NO), seed),
        *share(f"{name}.answered", [said is not None for _, said in pairs]),
        *share(f"{name}.right_of_answered", [gold == said for gold, said in answered]),
    ]


def said_of(answer: Answer) -> str | None:
    """What the answer's verdict counts as; None without one."""
    return COUNTS_AS[answer.verdict.value] if answer.verdict is not None else None


def commonest(labels: Sequence[str]) -> str:
    """The commonest label."""
    return Counter(labels).most_common(1)[0][0]


def pieces_of(texts: Sequence[tuple[str, str, str]]) -> list[Evidence]:
    """Evidence of abstracts or their snippets: (PMID, title, text) each."""
    kept = {(pmid, text.strip()): title for pmid, title, text in texts if text.strip()}
    return [
        Evidence(id=f"pubmed:{pmid}", text=text, title=title, kind="abstract", origin=Origin.RETRIEVED)
        for (pmid, text), title in kept.items()
    ]


def the_reader() -> Reader:
    """The reader that the product ships, which reads a pair once; tests put another in its place."""
    return Remembering(TrainedReader())


class Remembering:
    """A reader that knows what it has read, so that two measures over the same pairs take the time of one."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[Pair, Reading] = {}

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        """One reading a pair."""
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        self._known.update(zip(fresh, self._reader.read(fresh), strict=True))
        return [self._known[pair] for pair in pairs]


def surest(name: str, rows: Sequence[tuple[float, bool]]) -> list[Figure]:
    """The share that is right of the surest 50, 75 and 100 %; a row is how sure it is, and whether it is right."""
    ordered = [right for _, right in sorted(rows, key=lambda row: -row[0])]
    kept = {percent: ordered[: math.ceil(len(ordered) * percent / 100)] for percent in SUREST}
    return [f for percent, some in kept.items() for f in share(f"{name}.right_of_surest_{percent}", some)]


class Known(NamedTuple):
    """A text with its label."""

    text: str
    label: str


def words(known: Sequence[Known], *, balanced: bool) -> Callable[[Sequence[str]], Sure]:
    """Logistic regression on tf-idf of runs of one or two words: gives (label, probability) of texts.

    Args:
        balanced: rows of rarer labels weigh more, as suits macro F1.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, max_features=MOST_WORDS)
    weight = "balanced" if balanced else None
    model = make_pipeline(texts, LogisticRegression(C=STRENGTH, class_weight=weight, max_iter=2000))
    model.fit([k.text for k in known], [k.label for k in known])

    def said(asked: Sequence[str]) -> Sure:
        shares = model.predict_proba(list(asked))
        return [(str(model.classes_[row.argmax()]), float(row.max())) for row in shares]

    return said


def by_words(
    context: TaskContext, name: str, known: Sequence[Known], asked: Sequence[str], *, balanced: bool = True
) -> dict[str, Sure]:
    """What words make of texts, under "words"; nothing, and told as not run, where there is nothing to fit them on."""
    if len({k.label for k in known}) < 2:
        context.not_run[name] = "not measured: nothing to fit words on"
        return {}
    return {"words": words(known, balanced=balanced)(asked)}


TASK = Task(
    name="verdicts",
    what="closed questions through the agent: "
    "wrong verdicts, PubMedQA with its abstract, BioASQ with snippets and mirror",
    inputs=(STRANGERS, PUBMEDQA, BIOASQ),
    expected="25 minutes; 35 the first time, which builds the mirror",
    limit=200,
    by_agent=True,
    asks=AgentEvaluation(items, judge, counted, searching_sitting),
    any_of=True,
    optional=(ABSTRACTS, SNIPPETS),
)
