"""`diagnosis`: published clinical cases through the agent; set-level scores of disease entities (ICA-RAG's metric).

Sources: ``cmb_clin``, ``cmemr``, ``clinicalbench``, whichever the data folder has (`anamnesis eval data convert`).
Settings, over the same answers: ``paper`` links diagnoses to ICD-10 at the published threshold of 0.5, ``strict`` by
our rules; reference and answer are linked in the same way. ``micro_`` counts entities over all cases, ``mean_``
averages cases. A case whose reference names nothing that can be linked is not scored; ``linked`` is the share of those
that are. ``named`` is the share of cases in which the answer names a diagnosis that can be linked, ``first`` that in
which the first one has a right category, ``direct`` that answered without retrieval, ``ms`` the median time of a turn.

Without a language model the diagnoses are the first diseases of the differential: those with at least half of the
first one's belief, three at most. With one they are what its statements name, because the methods leave the choice to
the model; a statement that tells a diagnosis from others names these too, which lowers precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from agent.icd10 import CHINESE, chinese_names, open_linker
from agent.sessions import Home
from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.datasets.clinical import Source, clinical_file, read_clinical
from evals.datasets.icd10 import CHINESE as CHINESE_TABLE
from evals.statistics import median, set_figures, share
from graphs.answering.contract import Answer
from graphs.completeness.contract import Decision
from tools.contract import RankedDisease
from tools.icd10.chinese import ChineseNames, open_chinese
from tools.icd10.contract import Setting
from tools.icd10.linking import Linker

SETTINGS: tuple[Setting, ...] = ("paper", "strict")
SOURCES: tuple[Source, ...] = get_args(Source)
NAMED, HALF = 3, 0.5  # ours: diseases named at most; share of the first one's belief from which another is named


def items(context: TaskContext) -> list[Item]:
    """At most ``limit`` cases of each source; one that is longer than a message may be is told as not run."""
    out: list[Item] = []
    for source in SOURCES:
        if not context.has(clinical_file(source)):
            continue
        cases = context.sample(read_clinical(context.data, source))
        short = [c for c in cases if len(c.text) <= context.settings.max_characters]
        if len(short) < len(cases):
            longer = f"{len(cases) - len(short)} cases are longer than a message may be (ANAMNESIS_MAX_CHARACTERS)"
            context.not_run[source] = longer
        out += [Item(f"{source}/{c.id}", source, (c.text,), "; ".join(c.diagnoses), c) for c in short]
    return out


def judge(item: Item, reply: Reply) -> Judged:
    """Whether a reference diagnosis stands in the answer by its very name; the figures link names to codes."""
    ranked = [name for d in reply.answer.differential for name in (d.name, d.name_zh) if name]
    told = " ".join([reply.answer.text, *ranked]).casefold()
    right = any(name.casefold() in told for name in item.row.diagnoses)
    said = ", ".join(ranked[:3]) or reply.answer.text[:80] or "nothing"
    return Judged(right, said, f"{item.target} is right; compared by name alone.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of every source in both settings."""
    names = chinese(context, told)
    linkers = {setting: open_linker(context.settings, context.home, setting, names) for setting in SETTINGS}
    by_model = context.settings.language_model is not None
    out: list[Figure] = []
    for source in SOURCES:
        rows = [(item, reply) for item, reply in told if item.group == source]
        for setting, linker in linkers.items() if rows else ():
            ticked = list(context.each(rows, f"{source}, {setting}"))
            out += source_figures(f"{source}.{setting}", ticked, linker, context.seed, by_model=by_model)
        gates = [reply.answer.gate for _, reply in rows]
        out += share(f"{source}.turns.direct", [g is not None and g.decision is Decision.DIRECT for g in gates])
        times = [1000 * reply.seconds[-1] for _, reply in rows if reply.seconds]
        out += median(f"{source}.turns.ms", times, context.seed)
    return out


def source_figures(name: str, rows: Told, linker: Linker, seed: int, *, by_model: bool) -> list[Figure]:
    """The scores of one source in one setting."""

    def codes_of(texts: Sequence[str]) -> frozenset[str]:
        return frozenset(code for text in texts for code in linker.codes(text))

    gold = [codes_of(item.row.diagnoses) for item, _ in rows]
    texts = [diagnosis_texts(reply.answer, by_model=by_model) for _, reply in rows]
    found = [codes_of(text) for text in texts]
    scored = [at for at, codes in enumerate(gold) if codes]
    return [
        *share(f"{name}.linked", [bool(codes) for codes in gold]),
        *set_figures(name, [(found[at], gold[at]) for at in scored], seed),
        *share(f"{name}.named", [bool(found[at]) for at in scored]),
        *share(f"{name}.first", [bool(codes_of(texts[at][:1]) & gold[at]) for at in scored]),
    ]


def chinese(context: TaskContext, told: Told) -> ChineseNames | None:
    """The Chinese names of codes in the data folder, else those of the settings; none is told where they are due."""
    home = Home(context.settings.home)
    own = context.data / CHINESE_TABLE
    names = open_chinese(own, home.indexes / f"eval-{CHINESE}") if own.is_file() else None
    names = names or chinese_names(context.settings, home)
    if names is None and any(item.row.language == "zh" for item, _ in told):
        context.not_run[CHINESE_TABLE] = "without it only the Chinese names of the graph and our own are linked"
    return names


def leading(ranking: Sequence[RankedDisease]) -> list[RankedDisease]:
    """The diseases that a ranking names."""
    first = max((d.score for d in ranking), default=0.0)
    return [d for d in ranking[:NAMED] if d.score > 0 and d.score >= HALF * first]


def diagnosis_texts(answer: Answer, *, by_model: bool) -> tuple[str, ...]:
    """The texts that name the diagnoses of an answer, in its language: names of diseases, or a model's statements."""
    if by_model:
        return tuple(s.text for s in answer.statements)
    return tuple((d.name_zh if answer.language == "zh" else "") or d.name for d in leading(answer.differential))


TASK = Task(
    name="diagnosis",
    what="published clinical cases through the agent: precision, recall and F1 of ICD-10 entities",
    inputs=tuple(clinical_file(source) for source in SOURCES),
    expected="5 minutes for 300 cases",
    limit=300,
    by_agent=True,
    asks=AgentEvaluation(items, judge, counted),
    any_of=True,
    optional=(CHINESE_TABLE,),
)
