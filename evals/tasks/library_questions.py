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

from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.datasets.answered_questions import OWN, OwnQuestion
from evals.datasets.rows import SHIPPED, read_jsonl
from evals.statistics import share
from evals.tasks.cases import cited
from graphs.answering.contract import Answer
from tools.evidence import EvidenceId, Frozen
from tools.questions.sections import SURELY, likeliest
from tools.reading.messages import Section

KINDS = ("rephrase", "ood", "outside")
SECTIONS = SHIPPED / "unseen" / "sections.jsonl"


class SectionRow(Frozen):
    """A question, the starter document that answers it, and the section that does; "none" where no whole one does."""

    q: str
    page: str
    section: str


def items(context: TaskContext) -> list[Item]:
    """At most ``limit`` questions of each kind."""
    rows = list(enumerate(read_jsonl(context.data / OWN.name, OwnQuestion)))
    whole = [(n, row) for n, row in enumerate(read_jsonl(SECTIONS, SectionRow)) if row.section != "none"]
    out = [
        Item(f"{kind}/{place}", kind, (row.question,), ", ".join(row.documents) or "nothing is said", row)
        for kind in KINDS
        for place, row in context.sample([pair for pair in rows if pair[1].kind == kind])
    ]
    for place, section in context.sample(whole):
        target = f"{section.page}, {section.section}"
        out.append(Item(f"sections/{place}", "sections", (section.q,), target, section))
    return out


def judge(item: Item, reply: Reply) -> Judged:
    """Whether a document that answers is cited; of a question outside the library, whether nothing is said."""
    if item.group == "sections":
        places = _sections_cited(reply.answer)
        told = "; ".join(f"{page}, {section}" for page, section in places)
        right = places[:1] == [(item.row.page, item.row.section)]
        return Judged(right, told or "abstained", f"{item.target} answers it.")
    named = cited(reply.answer)
    said = ", ".join(named) or "abstained"
    if item.group == "outside":
        return Judged(not reply.answer.statements, said, "No document answers this.")
    right = _right(item, named)
    return Judged(right, said, f"{item.target} answers it, and {'is' if right else 'is not'} cited.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of each kind."""
    out: list[Figure] = []
    for kind in KINDS:
        of_kind = [(item, reply.answer) for item, reply in told if item.group == kind]
        if kind != "outside":
            out += share(f"library_questions.{kind}.cited", [_right(item, cited(a)) for item, a in of_kind])
            out += share(f"library_questions.{kind}.first", [_right(item, cited(a)[:1]) for item, a in of_kind])
        out += share(f"library_questions.{kind}.abstained", [not a.statements for _, a in of_kind])
    asked = [((i.row.page, i.row.section), _sections_cited(r.answer)) for i, r in told if i.group == "sections"]
    out += share("library_questions.sections.first", [places[:1] == [wanted] for wanted, places in asked])
    out += share("library_questions.sections.cited", [wanted in places for wanted, places in asked])
    out += share("library_questions.sections.abstained", [not places for _, places in asked])
    single = context.sample([row.q for row in read_jsonl(SECTIONS, SectionRow) if row.section == "none"])
    likely = [likeliest(question) for question in single]
    return out + share("library_questions.sections.taken", [s is not Section.OTHER and p >= SURELY for s, p in likely])


def _sections_cited(answer: Answer) -> list[tuple[str, str]]:
    """Document and section of each citation, in order."""
    held = {e.id: e for e in answer.evidence}
    ids = [c.evidence_id for s in answer.statements for c in s.citations if c.evidence_id in held]
    return [(EvidenceId.parse(i).name, held[i].section or "") for i in ids]


def _right(item: Item, named: list[str]) -> bool:
    return bool({document.partition(":")[2] for document in item.row.documents}.intersection(named))


TASK = Task(
    name="library_questions",
    what="questions over the starter library through the agent: the right document or section cited, abstention",
    inputs=(OWN.name,),
    expected="7 minutes",
    limit=200,
    by_agent=True,
    home_data=Path(OWN).parent,
    asks=AgentEvaluation(items, judge, counted),
)
