"""What an answer tells beside an emergency: what may be that emergency, and nothing that is asked as a routine."""

from __future__ import annotations

from collections.abc import Sequence

from graphs.triage.contract import Kind, RedFlag
from tools.contract import Differential

GRAVEST = "emergency"  # the severity by which a disease is told beside an emergency that is none
SEVERE = frozenset({"emergency", "urgent"})  # severities of the knowledge format
LEAST = 0.1  # ours: share of the likeliest disease that another one needs
NEXT = 3  # ours: of the first diseases those that are told, severe or not, where the likeliest is not severe


def diagnosed(flags: Sequence[RedFlag]) -> bool:
    """Whether an emergency of the newest message may be a disease, so that more is told than what to do; so it is where
    all were told before."""
    fresh = [flag for flag in flags if not flag.earlier]
    return not fresh or any(flag.diagnosed for flag in fresh)


def beside_flags(
    differential: Differential | None, flags: Sequence[RedFlag], kind: str, *, replied: bool = False
) -> Differential | None:
    """The differential as it is told beside red flags: the leader and what else is severe and fits, no question, and no
    disease at all where no new emergency may be one (`diagnosed`), unless the likeliest disease is an emergency itself,
    or where no known disease explains the case. A leader that is not severe is told with what else leads: the flag may
    be mistaken.

    A question about what was said ("what else could it be?") is answered from all of it; after a reply to our question
    (``replied``) the interview goes on.
    """
    if differential is None or not flags or kind == Kind.EXPLAIN:
        return differential
    leader = differential.ranking[0] if differential.ranking else None
    itself = leader is not None and leader.severity == GRAVEST and bool(leader.findings_for)
    told = () if differential.outside or not (itself or diagnosed(flags)) else differential.ranking
    first = NEXT if told and told[0].severity not in SEVERE else 1
    fitting = (d for n, d in enumerate(told) if (n < first or d.severity in SEVERE) and d.findings_for)
    kept = told[:1] + tuple(d for d in fitting if d != told[0] and d.score >= LEAST * told[0].score)
    rare = differential.rare if kept else ()
    questions = differential.questions if replied else ()
    named = differential.hypotheses if kept else ()
    told_of = {"ranking": kept, "rare": rare, "questions": questions, "hypotheses": named}
    return differential.model_copy(update=told_of)
