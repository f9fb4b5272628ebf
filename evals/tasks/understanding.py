"""`understanding`: what a message is taken for, by the triage alone with the starter library beside it.

``kinds.SET``: of medical questions, ``refused`` are those called out of scope or courtesy, ``as_case`` those taken for
a patient's case, ``as_emergency`` those that raise a flag; ``macro_f1`` is of the kinds of turn. ``other.SET.declined``
is of messages of another field. ``emergencies.SET``: ``found``, and ``look_alikes_flagged``; ``by_numbers`` leaves the
trained head out, and ``found_from_N`` with ``look_alikes_from_N`` is the same where the head counts from N percent: the
curve. ``conversations.unseen.found``: last messages that tell an emergency and raise it; ``quiet_flagged``:
conversations that tell none and raise one, ``quiet_messages_flagged`` the same of single messages.
``ddxplus.mild.flagged`` is of patients whose condition is no danger. Figures only, never rows.

``turns.LANGUAGE.right``: messages within a conversation of which the turn is as meant; ``turns.GROUP.right`` the same
of those that ask to have something explained, ask of the disease without its name, lean on the question before, stand
alone, or tell something.

``additions.facts.kept``: facts of a dialogue (age, sex, side, duration, finding, medicine, history, allergy, pregnancy)
whose words the session's case holds at its end, those replaced left out; ``additions.FACT.kept`` the same of one kind.
``additions.replaced.right``: replaced facts of which the case holds the new words and no longer states the old.
``additions.cases.kept``: dialogues in which nothing is lost. The questions of the program are not part of them.

``findings.wordings_KIND.first``: of single wordings of a finding, those whose first match it is. ``findings.STYLE.*``:
findings shown of a text against the gold ones, as pairs of finding and assertion (present, absent, past, possible,
somebody else's); ``ids`` leaves the assertion out. ``unlisted`` are findings of the texts that the graph lacks.
``findings.values.*``: of measured values in notes, ``told``: abnormal ones told so; ``wrong``: others told as abnormal.
``findings.ddxplus_WORDING.first``: patients whose disease is ranked first among DDXPlus's conditions, told in the
release's plain statements and in a third wording by a writer who saw only the evidences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from agent.adapters import LibraryDocuments
from agent.assembly import open_encoder
from evals.contract import Figure, Task, TaskContext
from evals.datasets.ddxplus import (
    CODES,
    RELEASED_CONDITIONS,
    STATEMENTS,
    TEXTS,
    Codebook,
    Wording,
    read_codes,
    read_conditions,
    read_texts,
    validate_texts,
)
from evals.datasets.liveqa import LIVEQA
from evals.datasets.messages import (
    KIND_OF,
    KQA,
    STRANGERS_EMERGENCIES,
    STRANGERS_KINDS,
    UNSEEN_EMERGENCIES,
    UNSEEN_KINDS,
    VIGNETTES,
    Message,
    Told,
    mild_conditions,
    read_questions,
)
from evals.datasets.mirage import EXAM, read_exam
from evals.datasets.rows import SHIPPED, read_jsonl, read_object
from evals.sessions import starter_library
from evals.statistics import macro_f1, paired_ratio, points, share
from graphs.triage.asked import ASPECTS, OF_DISEASE
from graphs.triage.contract import AskedQuestion, Kind, SessionView, TriageDecision
from graphs.triage.emergency import QUIET, by_numbers, with_open
from graphs.triage.facts import facts_of
from graphs.triage.local import TriageLocal
from tools.contract import Finding
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.names import Names
from tools.library.english import InEnglish
from tools.reading import corpus
from tools.reading.corpus import BIOASQ, PUBMEDQA
from tools.reading.messages import Meaning, emergency_chance
from tools.text.clauses import clauses
from tools.text.demographics import read_person
from tools.text.language import language_of
from tools.text.measures import measures

UNSEEN = SHIPPED / "unseen"
CONVERSATIONS = UNSEEN / "conversations.jsonl"
TURNS, ADDITIONS, WORDINGS = UNSEEN / "turns.jsonl", UNSEEN / "additions.jsonl", UNSEEN / "wordings.jsonl"
NOTES, VALUES, THIRD = UNSEEN / "notes.jsonl", UNSEEN / "values.jsonl", UNSEEN / "ddxplus_statements.json"
CURVE = (5, 10, 20, 30, 50, 70)  # ours: percent from which the head counts
AWAY = (Kind.OUT_OF_SCOPE, Kind.SMALL_TALK, Kind.ASSISTANT)
ASKING = (Kind.EVIDENCE, Kind.EXPLAIN, Kind.MULTIPLE_CHOICE)
KINDS = tuple(sorted(set(KIND_OF.values())))
READ_AS = ("lay", "clinical", "zh")
# what was said before a message, by its language
CASES = {
    "en": "A 34-year-old teacher has had pain in the right ear for three days, fever and muffled hearing.",
    "zh": "34岁女性，右耳痛三天，伴发热，听力下降。",
}
LEADING = {"en": "acute otitis media", "zh": "急性中耳炎"}
ASKED = {"en": "Is there any discharge from the ear?", "zh": "耳朵有流脓吗？"}
QUESTIONS = {"en": "Do statins reduce the risk of stroke?", "zh": "他汀类药物能降低卒中风险吗？"}


class Row(BaseModel):
    """A row of a file."""

    model_config = ConfigDict(frozen=True)


def run(context: TaskContext) -> list[Figure]:
    """Read every message of every file that is there."""
    encoder = open_encoder(context.settings, context.home)
    library = starter_library(context, encoder)
    graph = KnowledgeGraph(encoder, context.home.indexes)
    names = Names(graph.graph)
    titles = {disease.zh: disease.name for disease in graph.graph.diseases}
    in_english = InEnglish(names.found_in, library.by_words, titles, library.frequencies)
    documents = LibraryDocuments(library)
    triage = TriageLocal(
        lambda text: in_english.knows(text) or documents.on_subject(text),
        names.diseases_in,
        in_english,
        grave=graph.grave_share,
        beside_known=graph.without_known,
    )

    def decided(name: str, texts: Sequence[str]) -> list[TriageDecision]:
        return [triage.decide_now(text, SessionView()) for text in context.each(texts, name)]

    def files(unseen: str, strangers: str) -> dict[str, Path]:
        """The project's own unseen messages and the strangers', as far as they are there."""
        paths = {"unseen": SHIPPED / unseen, "strangers": context.data / strangers}
        absent = [path.name for path in paths.values() if not path.is_file()]
        context.not_run.update({name: f"not measured: {name} is not there" for name in absent})
        return {name: path for name, path in paths.items() if path.is_file()}

    out: list[Figure] = []
    pooled: list[TriageDecision] = []
    for name, texts in question_sets(context).items():
        read = decided(name, texts)
        pooled += read
        out += question_figures(f"kinds.{name}", read)
    out += question_figures("kinds.all", pooled)
    for name, path in files(UNSEEN_KINDS, STRANGERS_KINDS).items():
        rows = context.sample(read_jsonl(path, Message))
        out += message_figures(name, rows, decided(name, [r.text for r in rows]), context.seed)
    urgent = files(UNSEEN_EMERGENCIES, STRANGERS_EMERGENCIES) | {"vignettes": SHIPPED / VIGNETTES}
    for name, path in urgent.items():
        told = context.sample(read_jsonl(path, Told))
        marked = [
            Marked(
                row.emergency, bool(one.red_flags), bool(by_numbers(row.text, one.language)), emergency_chance(row.text)
            )
            for row, one in zip(told, decided(name, [row.text for row in told]), strict=True)
        ]
        out += emergency_figures(name, marked)
    held = context.sample(read_jsonl(CONVERSATIONS, Conversation))
    out += conversation_figures([(row, raised(triage, row)) for row in context.each(held, "conversations")])
    if context.has(TEXTS, RELEASED_CONDITIONS):
        mild = mild_conditions(context.data)
        texts = context.sample([row.text for row in read_texts(context.data) if row.pathology in mild])
        out += share("ddxplus.mild.flagged", [bool(d.red_flags) for d in decided("ddxplus", texts)])
    turns = context.sample(read_jsonl(TURNS, Turn))
    out += turn_figures([(row, triage.decide_now(row.text, view_of(row))) for row in context.each(turns, "turns")])
    talks = context.sample(read_jsonl(ADDITIONS, Dialogue))
    out += kept_figures([(row, final_case(triage, row.messages)) for row in context.each(talks, "additions")])
    out += finding_figures(context, graph)
    return out + (patient_figures(context, graph) if context.has(TEXTS, CODES, STATEMENTS) else [])


def question_sets(context: TaskContext) -> dict[str, list[str]]:
    """Medical questions by the set that they come from. BioASQ and PubMedQA: those that no head was trained on."""
    out = {}
    for name, file in (("bioasq", BIOASQ), ("pubmedqa", PUBMEDQA)):
        if context.has(file):
            held = corpus.division()[name]
            out[name] = [row["question"] for row in corpus.rows(context.data / file) if row["id"] in held]
    sent = (("liveqa", LIVEQA), ("kqa", KQA))
    out |= {name: read_questions(context.data / file) for name, file in sent if context.has(file)}
    if context.has(EXAM):  # MedQA's questions are patients' stories
        exams = read_exam(context.data)
        out |= {name: [row.question for row in rows] for name, rows in exams.items() if name != "medqa"}
    return {name: context.sample(texts) for name, texts in out.items()}


def question_figures(name: str, read: Sequence[TriageDecision]) -> list[Figure]:
    """What medical questions were taken for."""
    return [
        *share(f"{name}.refused", [one.kind in AWAY for one in read]),
        *share(f"{name}.as_case", [one.kind is Kind.CASE for one in read]),
        *share(f"{name}.as_emergency", [bool(one.red_flags) for one in read]),
    ]


def message_figures(name: str, rows: Sequence[Message], read: Sequence[TriageDecision], seed: int) -> list[Figure]:
    """How well kinds are told apart, English and Chinese apart, and how many of other fields are declined."""

    def declined(pairs: Sequence[tuple[str, str]]) -> list[bool]:
        return [said == Kind.OUT_OF_SCOPE for gold, said in pairs if gold == Kind.OUT_OF_SCOPE]

    pairs = [(KIND_OF[row.kind], str(one.kind.value)) for row, one in zip(rows, read, strict=True)]
    out: list[Figure] = []
    for language in ("en", "zh"):
        some = [pair for row, pair in zip(rows, pairs, strict=True) if language_of(row.text) == language]
        if some:
            own = f"{name}_{language}"
            there = tuple(kind for kind in KINDS if any(gold == kind for gold, _ in some))
            medical = [said for gold, said in some if gold in ("case", "evidence")]
            out += macro_f1(f"kinds.{own}.macro_f1", some, there, seed)
            out += share(f"kinds.{own}.right", [gold == said for gold, said in some])
            out += share(f"other.{own}.declined", declined(some))
            out += share(f"kinds.{own}.refused", [said in AWAY for said in medical])
    return out + share(f"other.{name}.declined", declined(pairs))


class Marked(NamedTuple):
    """A message that may be an emergency: whether it is, what its numbers say, and how sure the head is."""

    emergency: bool
    flagged: bool
    numbers: bool
    chance: float


def emergency_figures(name: str, rows: Sequence[Marked]) -> list[Figure]:
    """Emergencies found, look-alikes flagged, and both where the head counts from another probability."""
    urgent, others = ([r for r in rows if r.emergency is which] for which in (True, False))
    out = [
        *share(f"emergencies.{name}.found", [r.flagged for r in urgent]),
        *share(f"emergencies.{name}.look_alikes_flagged", [r.flagged for r in others]),
        *share(f"emergencies.{name}.found_by_numbers", [r.numbers for r in urgent]),
        *share(f"emergencies.{name}.look_alikes_by_numbers", [r.numbers for r in others]),
    ]
    for least in CURVE:
        for label, some in (("found", urgent), ("look_alikes", others)):
            told = [r.numbers or 100 * r.chance >= least for r in some]
            out += share(f"emergencies.{name}.{label}_from_{least}", told)
    return out


class Turn(Row):
    """A message within a conversation, what it means there, and what was said before."""

    text: str = Field(min_length=1)
    means: Meaning
    after: Literal["case", "answer"]


def turn_figures(read: Sequence[tuple[Turn, TriageDecision]]) -> list[Figure]:
    """How many turns are as meant."""
    right = [(language_of(row.text), group_of(row.means), is_right(row, decision)) for row, decision in read]
    out: list[Figure] = []
    for name in ("en", "zh", "explained", "of_disease", "leans", "alone", "tells"):
        out += share(f"turns.{name}.right", [ok for language, group, ok in right if name in (language, group)])
    return out


def group_of(meaning: Meaning) -> str:
    """What is to become of a message."""
    if meaning in ASPECTS or meaning is Meaning.NAMED:
        return "explained"
    if meaning in OF_DISEASE:
        return "of_disease"
    return "leans" if meaning in (Meaning.LEANS, Meaning.PATIENT) else meaning.value


def is_right(row: Turn, decision: TriageDecision) -> bool:
    """Whether a turn is what its writer meant."""
    group, kind = group_of(row.means), decision.kind
    if group == "explained":
        aspect = decision.explain.aspect if decision.explain is not None else None
        told = aspect is not None and aspect is ASPECTS.get(row.means, aspect)
        goes_on = row.means in (Meaning.NAMED, Meaning.ELSE) and kind in (Kind.CASE, Kind.EVIDENCE)  # as a question
        return told or goes_on
    if group == "alone":
        asked = kind in (Kind.EVIDENCE, Kind.MULTIPLE_CHOICE)
        return asked and not decision.about_case and decision.question == row.text
    if group == "tells":
        return kind not in ASKING
    own = kind is Kind.CASE or decision.about_case if row.after == "case" else kind is Kind.EVIDENCE
    return own and decision.question != row.text


def view_of(row: Turn) -> SessionView:
    """What was said before a message."""
    language = language_of(row.text)
    if row.after == "answer":
        return SessionView(messages=(QUESTIONS[language],), kind="evidence", question=QUESTIONS[language])
    case = CASES[language]
    asked = AskedQuestion(finding="ear-discharge", text=ASKED[language])
    return SessionView(
        messages=(case,), facts=facts_of(case), kind="case", question=case, asked=asked, leading=LEADING[language],
        leading_en=LEADING["en"],
    )  # fmt: skip


class Fact(Row):
    """What one message told; ``value`` in its own words."""

    fact: Literal["finding", "age", "duration", "history", "sex", "medicine", "side", "allergy", "pregnant"]
    value: str | int | float


class Replaced(Row):
    """What a later message put right."""

    fact: str
    old: str | int | float | None
    new: str | int | float | None


class Dialogue(Row):
    """A patient's messages in order, what they come to, and what was put right on the way."""

    messages: tuple[str, ...] = Field(min_length=2)
    facts: tuple[Fact, ...]
    replaced: tuple[Replaced, ...] = ()


def kept_figures(read: Sequence[tuple[Dialogue, str]]) -> list[Figure]:
    """What the cases hold of their dialogues."""
    kept = [[(f.fact, holds(case, f)) for f in row.facts] for row, case in read]
    every = [one for row in kept for one in row]
    out = share("additions.facts.kept", [held for _, held in every])
    for kind in sorted({fact for fact, _ in every}):
        out += share(f"additions.{kind}.kept", [held for fact, held in every if fact == kind])
    out += share("additions.cases.kept", [all(held for _, held in row) for row in kept])
    return out + share("additions.replaced.right", [mended(case, one) for row, case in read for one in row.replaced])


def final_case(triage: TriageLocal, messages: Sequence[str]) -> str:
    """The session's case behind the last message."""
    view = SessionView()
    for turn, text in enumerate(messages, start=1):
        decision = triage.decide_now(text, view)
        asked = decision.kind in (Kind.EVIDENCE, Kind.MULTIPLE_CHOICE)
        view = SessionView(
            messages=(*view.messages, text),
            turn=turn + 1,
            facts=decision.facts or view.facts,
            kind=Kind.CASE.value if decision.kind is Kind.FOLLOW_UP else decision.kind.value,
            question=decision.question if asked or decision.case else view.question,
        )
    return view.case


class Said(Row):
    """A message behind a case, and whether it tells an emergency."""

    text: str
    label: Literal["calm", "emergency"]


class Conversation(Row):
    """A case that is no emergency, and what is told after it; the last message may tell one."""

    case: str
    messages: tuple[Said, ...] = Field(min_length=1)


def raised(triage: TriageLocal, row: Conversation) -> list[bool]:
    """Whether each message, the case's first, raises an emergency that was not told before."""
    out, view = list[bool](), SessionView()
    for turn, text in enumerate((row.case, *(m.text for m in row.messages)), start=1):
        view = view.model_copy(update={"turn": turn})
        decision = with_open(triage.decide_now(text, view), text, view)
        out.append(any(not flag.earlier for flag in decision.red_flags))
        view = view.model_copy(
            update={
                "messages": (*view.messages, text),
                "facts": decision.facts or view.facts,
                "kind": decision.kind.value,
                "question": decision.question,
                "open_flags": view.open_flags if decision.kind in QUIET else decision.red_flags,
            }
        )
    return out


def conversation_figures(read: Sequence[tuple[Conversation, list[bool]]]) -> list[Figure]:
    """Emergencies that last messages raise, and what conversations without one raise."""
    urgent = [told[-1] for row, told in read if row.messages[-1].label == "emergency"]
    quiet = [told for row, told in read if row.messages[-1].label == "calm"]
    out = share("conversations.unseen.found", urgent)
    out += share("conversations.unseen.quiet_flagged", [any(told) for told in quiet])
    return out + share("conversations.unseen.quiet_messages_flagged", [one for told in quiet for one in told])


def holds(case: str, fact: Fact) -> bool:
    """Whether a case holds a fact: the age and sex as they are read, else the words."""
    if fact.fact == "age" and (age := read_person(case).age) is not None:
        return any(age == float(n) or round(age * 12) == float(n) for n in re.findall(r"\d+", str(fact.value)))
    return _is_sex(case, fact.value) if fact.fact == "sex" else _in(str(fact.value), case)


def mended(case: str, one: Replaced) -> bool:
    """Whether a case holds the new words, and states the old ones no longer (a denial of them states nothing)."""
    if one.fact == "sex":
        return _is_sex(case, one.new)
    old, new = (str(v).lower() if v is not None else "" for v in (one.old, one.new))
    stated = " ; ".join(c.text for c in clauses(case) if c.present is not False).lower()
    left = stated.replace(new, " ") if new else stated
    return (not new or _in(new, case)) and not (old and re.search(rf"(?<!\w){re.escape(old)}(?!\w)", left))


def _in(value: str, case: str) -> bool:
    whole, wanted = case.lower(), value.lower()
    return wanted in whole or all(word in whole for word in re.findall(r"[\u4e00-\u9fff]+|[\w.]+", wanted))


def _is_sex(case: str, value: object) -> bool:
    return (read_person(case).sex or "?")[0] == ("f" if str(value).lower().startswith(("f", "w", "女")) else "m")


class Wordings(Row):
    """How people say one finding."""

    id: str = Field(min_length=1)
    lay: tuple[str, ...]
    clinical: tuple[str, ...]
    zh: tuple[str, ...]


class Note(Row):
    """A text with every finding of the starter graph that it states, and what else it states."""

    text: str = Field(min_length=1)
    language: Literal["en", "zh"]
    style: Literal["clinical", "lay"]
    findings: tuple[tuple[str, str], ...]
    unlisted: tuple[str, ...] = ()


class Valued(Row):
    """A text with measured values: the words of each, its measure, and what a doctor reads it as."""

    text: str = Field(min_length=1)
    values: tuple[tuple[str, str, Literal["high", "low", "normal", "grey", "not"]], ...]


def finding_figures(context: TaskContext, graph: KnowledgeGraph) -> list[Figure]:
    """Every figure of findings, of the files that are shipped."""

    def first(text: str) -> str:
        best = max(graph.read(text).matches, key=lambda m: m.score, default=None)
        return graph.graph.findings[best.finding].id if best is not None else ""

    def shown(note: Note) -> set[tuple[str, str]]:
        found = graph.look_up(note.text, note.language, explained=0)
        return {(f.id, assertion(f)) for f in (*found.findings, *found.asides) if f.id}

    out: list[Figure] = []
    rows = [row for row in context.sample(read_jsonl(WORDINGS, Wordings)) if row.id in graph.graph.finding]
    for kind in READ_AS:
        told = [(row.id, text) for row in rows for text in getattr(row, kind)]
        out += share(
            f"findings.wordings_{kind}.first", [first(text) == name for name, text in context.each(told, kind)]
        )
    out += value_figures(context.sample(read_jsonl(VALUES, Valued)))
    notes = context.sample(read_jsonl(NOTES, Note))
    return out + note_figures([(n, shown(n)) for n in context.each(notes, "notes")], context.seed)


def note_figures(read: Sequence[tuple[Note, set[tuple[str, str]]]], seed: int) -> list[Figure]:
    """What is shown of texts against their gold, by style: over all findings, texts resampled."""
    styles = {name: [r for r in read if r[0].style == name and r[0].language == "en"] for name in ("clinical", "lay")}
    styles["zh"] = [r for r in read if r[0].language == "zh"]
    out: list[Figure] = []
    for name, some in styles.items():
        if not some:
            continue
        shown, gold = [float(len(said)) for _, said in some], [float(len(n.findings)) for n, _ in some]
        whole = [float(len(set(n.findings) & said)) for n, said in some]
        alone = [float(len(dict(n.findings).keys() & dict(said).keys())) for n, said in some]
        both = [s + g for s, g in zip(shown, gold, strict=True)]
        for label, right in ((f"findings.{name}", whole), (f"findings.{name}.ids", alone)):
            out += paired_ratio(f"{label}.precision", right, shown, seed)
            out += paired_ratio(f"{label}.recall", right, gold, seed)
            out += paired_ratio(f"{label}.f1", [2 * r for r in right], both, seed)
        unlisted = sum(len(n.unlisted) for n, _ in some)
        out.append(Figure(name=f"findings.{name}.unlisted", value=unlisted, n=len(some)))
    return out


def value_figures(rows: Sequence[Valued]) -> list[Figure]:
    """What is told of values: of high and low ones; of normal ones and of those of another time, fluid or person."""
    falls = {one["words"] for m in measures().values() for one in m.get("tells", ()) if "below" in one}
    told: dict[str, list[bool]] = {"told": [], "wrong": []}
    for row in rows:
        read = [
            c for c in clauses(row.text, read_person(row.text)) if c.reading and c.present and "normal" not in c.plain
        ]
        for words, _, direction in row.values:
            start = row.text.index(words)
            near = [c for c in read if c.start < start + len(words) and start < c.end]
            said = {"low" if c.plain in falls else "high" for c in near}
            if direction in ("high", "low"):
                told["told"].append(direction in said)
            elif direction != "grey":
                told["wrong"].append(bool(said))
    return [figure for name, hits in told.items() for figure in share(f"findings.values.{name}", hits)]


def patient_figures(context: TaskContext, graph: KnowledgeGraph) -> list[Figure]:
    """The same patients of DDXPlus in two wordings."""
    rows, codes, diseases = context.sample(validate_texts(context.data)), read_codes(context.data), read_conditions()
    known, out = set(diseases.values()), []
    first: dict[str, list[bool]] = {}
    for name, path in (("plain", context.data / STATEMENTS), ("third", THIRD)):
        wording = Wording(read_object(path), Codebook({}, frozenset()))
        first[name] = []
        for row in context.each(rows, name):
            coded = codes[row.id]
            text = wording.text(coded.age, coded.sex, coded.evidences, coded.initial_evidence)
            ranked = graph.look_up(text, "en", limit=len(graph.graph.diseases), explained=0).ranking
            leader = next((r.disease for r in ranked if r.disease in known), "")
            first[name].append(leader == diseases[coded.pathology])
        out += share(f"findings.ddxplus_{name}.first", first[name])
    return out + points("findings.ddxplus_third.less_plain", first["third"], first["plain"], context.seed)


def assertion(finding: Finding) -> str:
    """How a finding is stated, in the words of the gold."""
    if finding.told_of != "now":
        return finding.told_of
    return {None: "possible", True: "present", False: "absent"}[finding.present]


TASK = Task(
    name="understanding",
    what="first messages: medical questions refused or taken for a case, other fields declined, emergencies found",
    inputs=(
        BIOASQ, PUBMEDQA, LIVEQA, KQA, EXAM, STRANGERS_KINDS, STRANGERS_EMERGENCIES, TEXTS, RELEASED_CONDITIONS, CODES,
        STATEMENTS,
    ),
    expected="12 minutes",
    limit=400,
    run=run,
    any_of=True,
)  # fmt: skip
