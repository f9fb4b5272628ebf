"""`library_questions`: our own questions over the starter library, asked of the whole agent.

``rephrase`` words anew what a document is there to answer, ``ood`` comes at it from elsewhere, and no document answers
``outside``. ``cited`` is the share of answers with a statement that cites a document which answers the question,
``first`` that whose first statement does; ``abstained`` the share of answers without a statement. The questions were in
view while the search was improved: these are development figures. ``sections`` are basic questions by a writer who saw
no rules ("how do they treat ..."), each answered by a whole section of one document: there ``first`` and ``cited`` ask
for that section. ``sections.taken``: of questions by that writer that ask for one thing, those taken for a section's.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evals.asked import AgentEvaluation, Item, Judged, Reply, Told, ask_plainly
from evals.contract import Figure, Task, TaskContext
from evals.datasets.answered_questions import OWN, OwnQuestion
from evals.datasets.rows import SHIPPED, read_jsonl
from evals.statistics import share
from evals.tasks.cases import cited
from graphs.answering.contract import Answer
from tools.evidence import EvidenceId
from tools.questions.sections import SURELY, likeliest
from tools.reading.messages import Section

KINDS = ("rephrase", "ood", "outside")
SECTIONS = SHIPPED / "unseen" / "sections.jsonl"


class SectionRow(BaseModel):
    """A question, the starter document that answers it, and the section that does; "none" where no whole one does."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    q: str
    page: str
    section: str


def items(context: TaskContext) -> list[Item]:
    """At most ``limit`` questions of each kind."""
    rows = read_jsonl(context.data / OWN.name, OwnQuestion)
    whole = read_jsonl(SECTIONS, SectionRow)
    return [
        Item(f"{kind}/{place}", kind, (row.question,), ", ".join(row.documents) or "nothing is said", row)
        for kind in KINDS
        for place, row in context.sample([pair for pair in enumerate(rows) if pair[1].kind == kind])
    ] + [
        Item(f"sections/{place}", "sections", (row.q,), f"{row.page}, {row.section}", row)
        for place, row in context.sample([(n, row) for n, row in enumerate(whole) if row.section != "none"])
    ]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether a document that answers is cited; of a question outside the library, whether nothing is said."""
    if item.group == "sections":
        places = _sections_cited(reply.answer)
        wanted = (item.row.page, item.row.section)
        told = "; ".join(f"{page}, {section}" for page, section in places)
        return Judged(places[:1] == [wanted], told or "abstained", f"{item.target} answers it.")
    named = cited(reply.answer)
    if item.group == "outside":
        return Judged(not reply.answer.statements, ", ".join(named) or "abstained", "No document answers this.")
    right = _right(item, named)
    why = f"{item.target} answers it, and {'is' if right else 'is not'} cited."
    return Judged(right, ", ".join(named) or "abstained", why)


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of each kind."""
    out: list[Figure] = []
    for kind in KINDS:
        pairs = [(item, cited(reply.answer)) for item, reply in told if item.group == kind]
        if kind != "outside":
            out += share(f"library_questions.{kind}.cited", [_right(item, named) for item, named in pairs])
            out += share(f"library_questions.{kind}.first", [_right(item, named[:1]) for item, named in pairs])
        silent = [not reply.answer.statements for item, reply in told if item.group == kind]
        out += share(f"library_questions.{kind}.abstained", silent)
    asked = [((i.row.page, i.row.section), _sections_cited(r.answer)) for i, r in told if i.group == "sections"]
    out += share("library_questions.sections.first", [places[:1] == [wanted] for wanted, places in asked])
    out += share("library_questions.sections.cited", [wanted in places for wanted, places in asked])
    out += share("library_questions.sections.abstained", [not places for _, places in asked])
    single = context.sample([row.q for row in read_jsonl(SECTIONS, SectionRow) if row.section == "none"])
    likely = [likeliest(question) for question in single]
    return out + share("library_questions.sections.taken", [s is not Section.OTHER and p >= SURELY for s, p in likely])


def run(context: TaskContext) -> list[Figure]:
    """Ask every question and count."""
    return ask_plainly(ASKS, context)


def _sections_cited(answer: Answer) -> list[tuple[str, str]]:
    """Document and section of each citation, in order."""
    held = {e.id: e for e in answer.evidence}
    ids = [c.evidence_id for s in answer.statements for c in s.citations if c.evidence_id in held]
    return [(EvidenceId.parse(i).name, held[i].section or "") for i in ids]


def _right(item: Item, named: list[str]) -> bool:
    return bool({document.partition(":")[2] for document in item.row.documents}.intersection(named))


ASKS = AgentEvaluation(items=items, judge=judge, figures=counted)

TASK = Task(
    name="library_questions",
    what="questions over the starter library through the agent: the right document or section cited, abstention",
    inputs=(OWN.name,),
    expected="7 minutes",
    limit=200,
    run=run,
    by_agent=True,
    home_data=Path(OWN).parent,
    asks=ASKS,
)
