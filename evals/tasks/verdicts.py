"""`verdicts`: closed questions through the agent, from the starter library, with an abstract given, over a mirror.

``closed.SET`` asks questions written by people who saw no rule: ``wrong`` are verdicts that are not gold, among all
questions, and any verdict where the library covers nothing is one; ``right`` is of the answerable ones,
``uncovered_answered`` of the others. No difference counts as no; conflicting and insufficient count as depends.
``pubmedqa`` and ``bioasq`` are the questions that nothing was trained on. PubMedQA's abstract, without conclusion, is
given with the question; ``right_of_surest_N`` is what is right of the surest N % when every question must be answered,
as sure as the leading sentence's answer is probable. BioASQ is asked with its gold snippets as evidence (``gold``) and
over a mirror (``mirror``); unanswered questions are wrong for their class, and left out of ``macro_f1_answered``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent.given import given_evidence
from evals.asked import AgentEvaluation, Item, Judged, Reply, Told, ask_plainly
from evals.contract import Figure, Task, TaskContext
from evals.datasets.bioasq import SNIPPETS, SnippetQuestion, read_yes_no
from evals.datasets.closed import STRANGERS, UNSEEN, ClosedQuestion, read_closed
from evals.datasets.literature import ABSTRACTS, read_collection
from evals.datasets.pubmedqa import PubMedQuestion, read_pubmedqa
from evals.datasets.rows import SHIPPED
from evals.searching_sittings import Searching, searching_sitting
from evals.statistics import share
from evals.tasks.answers import abstract
from evals.verdict_figures import (
    COUNTS_AS,
    DEPENDS,
    NO,
    YES,
    Known,
    Pairs,
    commonest,
    forced,
    macro_f1,
    pieces_of,
    said_of,
    surest,
    the_reader,
    words,
)
from graphs.verdicts.local import VerdictJudgeLocal
from tools.reading import corpus
from tools.reading.corpus import BIOASQ, PUBMEDQA

WHAT = "closed questions through the agent: wrong verdicts, PubMedQA with its abstract, BioASQ with snippets and mirror"
ENGLISH = ("closed.strangers", "closed.a", "closed.b")
CHINESE = "closed.zh"
GIVEN, SEARCHED = "pubmedqa.given", "bioasq.mirror"
NOT_COVERED = "not_covered"
GOLD = {"yes": YES, "no": NO, "maybe": DEPENDS}
ABSENT = "not measured: {} is not there"


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
    questions = snippets(context, judge=True)
    mirror = mirror_of(context) if questions else None
    if mirror is not None:
        out += [
            Item(f"{SEARCHED}/{row.id}", SEARCHED, (row.question,), row.gold, Searching(row, mirror))
            for row in questions
        ]
    return out


def closed_sets(context: TaskContext) -> dict[str, list[ClosedQuestion]]:
    """The sets of closed questions that are there; the others are told."""
    paths = {"closed.strangers": context.data / STRANGERS}
    paths |= {f"closed.{name}": SHIPPED / file for name, file in UNSEEN.items()}
    context.not_run.update({name: ABSENT.format(path.name) for name, path in paths.items() if not path.is_file()})
    return {name: context.sample(read_closed(path)) for name, path in paths.items() if path.is_file()}


def abstracts(context: TaskContext, *, judge: bool) -> list[PubMedQuestion]:
    """PubMedQA's questions of one side: a sample to judge, or all to fit on; none where the file is not there."""
    if not (context.data / PUBMEDQA).is_file():
        return []
    held = corpus.division()["pubmedqa"]
    rows = [row for row in read_pubmedqa(context.data) if (row.id in held) == judge]
    return context.sample(rows) if judge else rows


def snippets(context: TaskContext, *, judge: bool) -> list[SnippetQuestion]:
    """BioASQ's yes/no questions of one side, as `abstracts`."""
    if not (context.data / BIOASQ).is_file():
        return []
    rows = read_yes_no(context.data, judge=judge)
    return context.sample(rows) if judge else rows


def mirror_of(context: TaskContext) -> Path | None:
    """The folder of the mirror of all records, the one of `literature`; built the first time."""
    from agent.sessions import Home
    from evals.literature_collection import prepare
    from evals.runner import data_sha256

    missing = [file for file in (ABSTRACTS, SNIPPETS) if not (context.data / file).is_file()]
    if missing:
        context.not_run[SEARCHED] = ABSENT.format(" and ".join(missing))
        return None
    home = Home(context.settings.home).prepare()
    folder = home.cache / "evaluations" / f"literature-{data_sha256(context.data, (ABSTRACTS, SNIPPETS))[:16]}"
    mirror, _ = prepare(folder, read_collection(context.data), context)
    return mirror


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the verdict is gold; where the library covers nothing, whether there is none."""
    said = said_of(reply.answer)
    right = said is None if item.target == NOT_COVERED else said == item.target
    return Judged(right, said or "no verdict", f"{item.target} is gold.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """Every figure: of replies, and of what the reader makes of the same rows by itself."""
    said: dict[str, list[tuple[str, str | None]]] = {}
    for item, reply in told:
        said.setdefault(item.group, []).append((item.target, said_of(reply.answer)))
    out: list[Figure] = []
    for name in (*ENGLISH, CHINESE):
        out += closed_figures(name, said.get(name, []))
    english = [pair for name in ENGLISH for pair in said.get(name, [])]
    out += closed_figures("closed.english", english)
    out += closed_figures("closed.all", [*english, *said.get(CHINESE, [])])
    out += pubmedqa_figures(context, said.get(GIVEN, []))
    return out + bioasq_figures(context, said.get(SEARCHED, []))


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


def pubmedqa_figures(context: TaskContext, pairs: Pairs) -> list[Figure]:
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
    reader, most = the_reader(), context.settings.max_characters
    read = [
        forced(reader, row.question, given_evidence([abstract(row)], most))
        for row in context.tick(rows, "surest", len(rows))
    ]
    out += surest("pubmedqa.reader", [(p, said == right) for (said, p), right in zip(read, gold, strict=True)])
    known = [Known(_asked(row), GOLD[row.answer]) for row in abstracts(context, judge=False)]
    by_words = _by_words(context, "pubmedqa.words", known, [_asked(row) for row in rows], balanced=False)
    return out + surest("pubmedqa.words", [(p, said == g) for (said, p), g in zip(by_words, gold, strict=False)])


def bioasq_figures(context: TaskContext, searched: Pairs) -> list[Figure]:
    """Macro F1 of yes and no with gold snippets, over the mirror, and of the baselines."""
    rows = snippets(context, judge=True)
    if not rows:
        return []
    gold, policy = [row.gold for row in rows], VerdictJudgeLocal(the_reader())
    verdicts = [
        policy.judge(row.question, pieces_of(row.snippets)).verdict for row in context.tick(rows, "gold", len(rows))
    ]
    read = [COUNTS_AS[verdict.value] if verdict is not None else None for verdict in verdicts]
    known = [Known(_with_snippets(row), row.gold) for row in snippets(context, judge=False)]
    asked = [_with_snippets(row) for row in rows]
    by_words = [label for label, _ in _by_words(context, "bioasq.words", known, asked, balanced=True)]
    out = f1_figures("bioasq.gold", list(zip(gold, read, strict=True)), context.seed)
    out += f1_figures(SEARCHED, searched, context.seed)
    out += macro_f1("bioasq.words.macro_f1", list(zip(gold, by_words, strict=False)), (YES, NO), context.seed)
    return out + macro_f1("bioasq.majority.macro_f1", [(g, commonest(gold)) for g in gold], (YES, NO), context.seed)


def f1_figures(name: str, pairs: Pairs, seed: int) -> list[Figure]:
    """Macro F1 of all and of those answered, and how many these are."""
    answered = [(gold, said) for gold, said in pairs if said is not None]
    return [
        *macro_f1(f"{name}.macro_f1", pairs, (YES, NO), seed),
        *macro_f1(f"{name}.macro_f1_answered", answered, (YES, NO), seed),
        *share(f"{name}.answered", [said is not None for _, said in pairs]),
        *share(f"{name}.right_of_answered", [gold == said for gold, said in answered]),
    ]


def _by_words(
    context: TaskContext, name: str, known: Sequence[Known], asked: Sequence[str], *, balanced: bool
) -> list[tuple[str, float]]:
    if len({k.label for k in known}) < 2:
        context.not_run[name] = "not measured: nothing to fit words on"
        return []
    return words(known, balanced=balanced)(asked)


def _asked(row: PubMedQuestion) -> str:
    return f"{row.question}\n{abstract(row)}"


def _with_snippets(row: SnippetQuestion) -> str:
    return "\n".join((row.question, *(text for _, _, text in row.snippets)))


def run(context: TaskContext) -> list[Figure]:
    """Ask every question and count."""
    return ask_plainly(ASKS, context)


ASKS = AgentEvaluation(items=items, judge=judge, figures=counted, opened=searching_sitting)

TASK = Task(
    name="verdicts",
    what=WHAT,
    inputs=(STRANGERS, PUBMEDQA, BIOASQ),
    expected="25 minutes; 35 the first time, which builds the mirror",
    limit=200,
    run=run,
    by_agent=True,
    asks=ASKS,
    any_of=True,
    optional=(ABSTRACTS, SNIPPETS),
)
