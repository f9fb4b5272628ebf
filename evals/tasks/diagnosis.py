"""`diagnosis`: published clinical cases through the agent; set-level scores of disease entities (ICA-RAG's metric).

Sources: ``cmb_clin``, ``cmemr``, ``clinicalbench``, whichever the data folder has (`anamnesis eval data convert`).
Settings, over the same answers: ``paper`` links diagnoses to ICD-10 at the published threshold of 0.5, ``strict`` by
our rules; reference and answer are linked in the same way. ``micro_`` counts entities over all cases, ``mean_``
averages cases. A case whose reference names nothing that can be linked is not scored; ``linked`` is the share of those
that are. ``named`` is the share of cases in which the answer names a diagnosis that can be linked, ``first`` that in
which the first one has a right category, ``direct`` that answered without retrieval, ``ms`` the median time of a turn.
`evals.told_diagnoses` says what counts as named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from evals.asked import AgentEvaluation, Item, Judged, Reply, Told, ask_plainly
from evals.contract import Figure, Task, TaskContext
from evals.datasets.clinical import Source, clinical_file, read_clinical
from evals.datasets.icd10 import CHINESE as CHINESE_TABLE
from evals.metrics.entity_sets import set_figures
from evals.statistics import median, share
from evals.told_diagnoses import codes_of, diagnosis_texts
from graphs.completeness.contract import Decision
from tools.icd10.contract import Setting

if TYPE_CHECKING:
    from tools.icd10.chinese import ChineseNames
    from tools.icd10.linking import Linker

SETTINGS: tuple[Setting, ...] = ("paper", "strict")
SOURCES: tuple[Source, ...] = get_args(Source)


def items(context: TaskContext) -> list[Item]:
    """At most ``limit`` cases of each source; one that is longer than a message may be is told as not run."""
    out: list[Item] = []
    for source in SOURCES:
        if not (context.data / clinical_file(source)).is_file():
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
    from agent.icd10 import open_linker
    from agent.sessions import Home

    home = Home(context.settings.home).prepare()
    chinese = _chinese(context, told)
    linkers = {setting: open_linker(context.settings, home, setting, chinese) for setting in SETTINGS}
    by_model = context.settings.language_model is not None
    out: list[Figure] = []
    for source in SOURCES:
        rows = [(item, reply) for item, reply in told if item.group == source]
        if not rows:
            continue
        for setting, linker in linkers.items():
            ticked = list(context.tick(rows, f"{source}, {setting}", len(rows)))
            out += source_figures(f"{source}.{setting}", ticked, linker, context.seed, by_model=by_model)
        out += share(f"{source}.turns.direct", [_direct(reply) for _, reply in rows])
        times = [1000 * reply.seconds[-1] for _, reply in rows if reply.seconds]
        out += median(f"{source}.turns.ms", times, context.seed)
    return out


def source_figures(name: str, rows: Told, linker: Linker, seed: int, *, by_model: bool) -> list[Figure]:
    """The scores of one source in one setting."""
    gold = [codes_of(item.row.diagnoses, linker) for item, _ in rows]
    texts = [diagnosis_texts(reply.answer, by_model=by_model) for _, reply in rows]
    found = [codes_of(text, linker) for text in texts]
    scored = [at for at, codes in enumerate(gold) if codes]
    return [
        *share(f"{name}.linked", [bool(codes) for codes in gold]),
        *set_figures(name, [(found[at], gold[at]) for at in scored], seed),
        *share(f"{name}.named", [bool(found[at]) for at in scored]),
        *share(f"{name}.first", [bool(codes_of(texts[at][:1], linker) & gold[at]) for at in scored]),
    ]


def run(context: TaskContext) -> list[Figure]:
    """Ask every case and count."""
    return ask_plainly(ASKS, context)


def _chinese(context: TaskContext, told: Told) -> ChineseNames | None:
    """The Chinese names of codes in the data folder, else those of the settings; none is told where they are due."""
    from agent.icd10 import CHINESE, chinese_names
    from agent.sessions import Home
    from tools.icd10.chinese import open_chinese

    home = Home(context.settings.home)
    own = context.data / CHINESE_TABLE
    names = open_chinese(own, home.indexes / f"eval-{CHINESE}") if own.is_file() else None
    names = names or chinese_names(context.settings, home)
    if names is None and any(item.row.language == "zh" for item, _ in told):
        context.not_run[CHINESE_TABLE] = "without it only the Chinese names of the graph and our own are linked"
    return names


def _direct(reply: Reply) -> bool:
    gate = reply.answer.gate
    return gate is not None and gate.decision is Decision.DIRECT


ASKS = AgentEvaluation(items=items, judge=judge, figures=counted)

TASK = Task(
    name="diagnosis",
    what="published clinical cases through the agent: precision, recall and F1 of ICD-10 entities",
    inputs=tuple(clinical_file(source) for source in SOURCES),
    expected="5 minutes for 300 cases",
    limit=300,
    run=run,
    by_agent=True,
    asks=ASKS,
    any_of=True,
    optional=(CHINESE_TABLE,),
)
