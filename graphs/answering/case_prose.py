"""A model's prose on a case in the order of the graph: what it left out, the local lines say.

The ranking is the graph's. Each ranked disease gets a line, the model's where it wrote one that stands on that
disease's own entry. What to do next and when to seek help come after, from the graph and the passages where the model
has nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphs.answering.contract import AnswerView
from graphs.answering.differential_answer import WARNS, named
from tools.contract import RankedDisease
from tools.evidence import Evidence, Statement, cite
from tools.messages import messages
from tools.text.sentences import sentences

Parted = tuple[str, Statement]  # the part (diagnosis, next, urgent), and what it says


def arranged(
    view: AnswerView,
    prose: Sequence[Parted],
    lines: Sequence[Statement],
    entries: Sequence[Evidence],
    rare: Sequence[Statement],
    steps: Callable[[], Sequence[Statement]],
) -> list[Statement]:
    """The statements of the answer.

    ``lines`` are the local ones with their ``entries``; ``steps`` gives the local sentences on what to do next.
    """
    told = [s for part, s in prose if part == "diagnosis"]
    out: list[Statement] = []
    placed: list[Statement] = []
    for line in lines:
        own = [s for s in told if s not in placed and s.citations[0].evidence_id == line.citations[0].evidence_id]
        placed += own
        out += _headed(own, line, view) if own else [line]
    out += [s for s in told if s not in placed]
    after = [s for part, s in prose if part == "next"]
    urgent = [s for part, s in prose if part == "urgent"]
    if not after:
        after = [s for s in steps() if not any(_same_quote(s, u) for u in urgent)]
    if not urgent and lines and lines[0] not in out:
        urgent = warning(view, entries[0])
    return [*out, *rare, *after, *urgent]


def warning(view: AnswerView, entry: Evidence) -> list[Statement]:
    """The red flags of a disease in its entry's own words; none where it has none."""
    span = next((s for s in sentences(entry.text) if WARNS.search(s.of(entry.text))), None)
    if span is None:
        return []
    citation = cite(entry, span.start, span.end)
    label = messages(view.language)["disease.watch"]
    return [Statement(text=f"{label}{citation.quote}", origin=entry.origin, citations=(citation,))]


def _headed(own: Sequence[Statement], line: Statement, view: AnswerView) -> list[Statement]:
    """The model's statements on a disease, the first one headed by its name and code as the local line is."""
    ranking = view.differential.ranking if view.differential is not None else ()
    disease = next((d for d in ranking if line.text.startswith(named(d, view))), None)
    if disease is None:
        return list(own)
    return [own[0].model_copy(update={"text": _with_head(own[0].text, disease, view)}), *own[1:]]


def _with_head(text: str, disease: RankedDisease, view: AnswerView) -> str:
    head = named(disease, view)
    name = messages(view.language).name_of(disease)
    if text.startswith(head[:-1]):
        return text
    return head[:-1] + text[len(name) :] if text.lower().startswith(name.lower()) else f"{head} {text}"


def _same_quote(left: Statement, right: Statement) -> bool:
    return bool({c.quote for c in left.citations} & {c.quote for c in right.citations})
