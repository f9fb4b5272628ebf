"""An answer as it is shown: what stands in it, in which order and in which words, once for every way of showing it.

The terminal, Markdown, HTML, the export of a session, the page and the trace page render a `Presentation` and add no
words. Its order: what to do now; the direct answer, or that there is none; what would change a decision; for a case the
ranked diseases, else what the answer rests on; what to ask next; sources, a line a document; how it was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from graphs.answering.contract import Answer
from graphs.completeness.explained import Explanation, brief, explained
from graphs.reporting.contract import PARTS
from graphs.triage.contract import Kind
from graphs.verdicts.certainty import START
from graphs.verdicts.contract import VerdictValue, facts, value_in_words
from graphs.verdicts.stated import comparison_of, effect_of, people_of
from prompts.answer import DISCIPLINES
from tools.contract import Differential, FollowUpQuestion, Notice, RankedDisease, Severity
from tools.evidence import Citation, Evidence, EvidenceId, Origin, SameWork, Statement, Status
from tools.messages import Messages, messages
from tools.notebook.markup import shown_diseases
from tools.references.contract import in_a_line
from tools.text.language import HAN

NAME = 60  # ours: characters of a given text that name it
FACTS = ("effect", "population", "certainty")  # of a verdict; its sources stand below
OTHERS = 2  # ours: diseases that the direct answer names after the first
MESSAGES = 3  # ours: those that are suggested to go on from an answer
STANDS_OUT = 0.15  # ours: share of belief from which the first is said to fit best
STARTER = "library"  # the collection of the starter library
WRITTEN = frozenset({STARTER, "graph", "calculator", "calculation"})  # collections that hold no studies

# Where a notice goes, by its code; one that stands in none of these is a label with its whole text.
NONE = (
    *("stopped", "no_verdict", "undecided", "nothing_found", "terms_not_found"),
    *("no_choice_supported", "choice_unreadable"),
)
REPLIES = (
    *("where_ranked", "not_ranked", "certainty", "certainty_graded", "certainty_ungraded"),
    *("nothing_against", "nothing_to_ask", "why_asked", "case_so_far"),
    *("nothing_said_before", "no_differential_yet", "no_entry", "emergency_first", "calculation_refused"),
    *(Kind.SMALL_TALK.value, Kind.ASSISTANT.value, Kind.OUT_OF_SCOPE.value),
)
UNTOUCHED = ("not_covered", "not_answered")  # what was asked too: told under the answer to a question
DECISIVE = frozenset(
    "clinician_review sparse_information evidence_under_concern choice_breaks_constraint options_barred model_view"
    " choice_not_borne_out case_corrected".split()
)
TRACED = frozenset(
    "gaps_left_open read_from_case rests_on near_question_only whole_text_searched no_relevant_passage not_sent"
    " pubmed_share pubmed_no_terms records_spoke budget_reached retracted_left_out no_known_finding".split()
)
AWAY = frozenset({"pubmed_unreachable", "pubmed_off", "pubmed_failed"})
PREFIXED = frozenset({"source_unavailable", "tool_refused"})  # their texts begin with the name of a tool


class Passage(NamedTuple):
    """A piece of a source; ``spans``: what is quoted of it, each once in order of the text."""

    item: Evidence
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def quotes(self) -> list[str]:
        """What is quoted of it."""
        return [self.item.text[start:end] for start, end in self.spans]


class Source(NamedTuple):
    """A document, with the pieces of it that the answer holds.

    ``number``: 0 for one that no statement cites; ``facts``: level, sections, date, status, where there are any, and
    of which other documents it is the same work; ``citation``: how to cite it, in one line.
    """

    number: int
    id: str
    name: str
    origin: Origin
    facts: tuple[str, ...]
    citation: str
    passages: tuple[Passage, ...]

    @property
    def quotes(self) -> list[str]:
        """What is quoted of it."""
        return list(dict.fromkeys(quote for passage in self.passages for quote in passage.quotes))


class Fold(NamedTuple):
    """What a statement cites of one piece: its document and itself, None where it is not among the evidence."""

    id: str
    source: Source | None
    item: Evidence | None
    citations: tuple[Citation, ...]

    @property
    def quotes(self) -> list[str]:
        """The quotes, in the order of the statement."""
        return [c.quote for c in self.citations]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where they stand, each once in order of the text."""
        return sorted({(c.start, c.end) for c in self.citations})


class Line(NamedTuple):
    """A statement. ``marks``: the numbers of its sources, "" for none; ``mark``: these, and that they do not
    bear it out or that there are none."""

    text: str
    origin: Origin
    numbers: tuple[int, ...]
    marks: str
    mark: str
    folds: tuple[Fold, ...]


class Lead(NamedTuple):
    """The direct answer: ``head`` in words of ours, ``lines`` that carry it; ``facts`` on it, such as its certainty.

    ``found``: whether something is answered; ``unverified``: the head is a model's own word.
    """

    head: str
    lines: tuple[Line, ...] = ()
    facts: tuple[str, ...] = ()
    found: bool = True
    unverified: bool = False


class Study(NamedTuple):
    """A row of the evidence table; "" for what is not known. ``side``: the answer that it gives."""

    number: int
    name: str
    design: str
    people: str
    comparison: str
    result: str
    year: str
    quotes: tuple[str, ...]
    side: str


class Studies(NamedTuple):
    """The evidence table: ``columns`` are names of fields that any row has, ``heads`` their words; ``none``: what
    stands in its place where no study is cited."""

    columns: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[Study, ...]
    none: str = ""

    def cells(self, row: Study) -> list[str]:
        """A row's texts, a column each."""
        told = row._asdict() | {"number": f"[{row.number}]", "quotes": " … ".join(f"“{q}”" for q in row.quotes)}
        return [str(told[name]) for name in self.columns]


class Part(NamedTuple):
    """A part of a report: its title, or that nothing was found on it; its lines by discipline ("" for none)."""

    title: str
    unknown: str
    groups: tuple[tuple[str, tuple[Line, ...]], ...]

    @property
    def lines(self) -> list[Line]:
        """All its lines."""
        return [line for _, lines in self.groups for line in lines]


class Row(NamedTuple):
    """A ranked disease; ``told``: what the answer says of it, without what the row itself says."""

    rank: int
    name: str
    code: str
    share: str
    findings_for: tuple[str, ...]
    findings_against: tuple[str, ...]
    disease: str = ""
    told: tuple[Line, ...] = ()

    @property
    def marks(self) -> str:
        """The numbers of the sources of what is told."""
        return "".join(dict.fromkeys(f"[{n}]" for line in self.told for n in line.numbers))


class Label(NamedTuple):
    """A notice in a few words, and whole."""

    text: str
    notice: Notice


class Ranking(NamedTuple):
    """A differential.

    ``first``: what heads a look-up, mostly nothing: what must not be given, that no known disease explains the case.
    ``left``: what the leading disease does not account for, what was not read and what was not counted, a line each.
    """

    first: tuple[str, ...]
    title: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    left: tuple[str, ...]


class Presentation(NamedTuple):
    """An answer as it is shown. Every text is in the answer's language; "" and empty stand for what is not there.

    ``dangers``: what must not be done; ``box``: the one box, of what changes a decision; ``on_lead``: the title of
    ``lines`` that stand below a ranking, "" where they stand above it; ``labels``: what holds of the whole answer, in a
    few words each; ``how``: the notices on how it was found, whole.
    """

    words: Messages
    alerts: tuple[tuple[str, str], ...]  # what to do, and what was seen
    dangers: tuple[str, ...]
    lead: Lead
    box: tuple[str, ...]
    ranking: Ranking
    on_lead: str
    lines: tuple[Line, ...]
    studies: Studies
    rare: tuple[Row, ...]
    records: tuple[str, ...]
    report: tuple[Part, ...]
    report_questions: tuple[str, ...]
    next: tuple[FollowUpQuestion, ...]
    suggested: tuple[str, ...]
    labels: tuple[Label, ...]
    dates: str
    sources: tuple[Source, ...]
    beside: tuple[Source, ...]
    gate: Explanation | None
    gate_brief: tuple[str, ...]
    how: tuple[str, ...]
    run: str

    @property
    def labelled(self) -> str:
        """Dates and labels in one line."""
        return " · ".join((*((self.dates,) if self.dates else ()), *(label.text for label in self.labels)))

    def by_origin(self) -> list[tuple[Origin, str, list[Source]]]:
        """The sources that are cited by where they come from: origin, its words, the sources."""
        found = [(o, self.words[f"origin.{o.value}"], [s for s in self.sources if s.origin is o]) for o in Origin]
        return [group for group in found if group[2]]


def present(answer: Answer, *, whole: bool = False) -> Presentation:
    """The answer as it is shown; ``whole``: with every ranked disease, not only those that are worth a row."""
    words = messages(answer.language)
    whole_answer, answer = answer, _in_words(_without_guesses(answer), words)
    sources = _sources(answer)
    report = answer.report
    worth = {d.disease for d in answer.differential if whole} | {d.disease for d in shown_diseases(answer.differential)}
    worth |= {_disease_of(s) for s in answer.statements}  # what is told has a row
    rows = [d for d in answer.differential if d.disease in worth]
    ranking, untold = _with_lines(answer, ranked(answer, rows, answer.language, whole=True), sources)
    lines = [_line(s, sources, words) for s in untold]
    studies = _studies(answer, sources, words)
    lead, told = _lead(answer, ranking, lines, studies, words)
    if not lead.head and not lead.lines and len(answer.differential) < len(whole_answer.differential):
        lead = Lead(words["answer.too_little"], found=False)
    untouched = [n for n in answer.notices if n.code in UNTOUCHED and answer.kind == Kind.EVIDENCE]
    lead = lead._replace(facts=(*lead.facts, *(n.text for n in untouched)))
    told = [*told, *untouched]
    quoted = {q for row in studies.rows for q in row.quotes}
    rest = [line for line in lines if line not in lead.lines and not (line.text in quoted and line.numbers)]
    notices = [n for n in answer.notices if n not in told and not (n.code == "gaps_left_open" and lead.found)]
    twice = _said_twice(notices, cites=any(s.number and s.origin is Origin.RETRIEVED for s in sources.values()))
    labels = [
        _label(n, words) for n in notices if not _folded(n) and n not in twice and n.severity is not Severity.DANGER
    ]
    rare = enumerate(answer.rare_diseases, start=1)
    below = answer.kind != Kind.EXPLAIN and not answer.diagnoses  # a model's own text on a case leads, whole
    return Presentation(
        words=words,
        alerts=tuple((flag.advice, flag.seen) for flag in answer.emergency),
        dangers=tuple(n.text for n in answer.notices if n.severity is Severity.DANGER),
        lead=lead,
        box=tuple(n.text for n in notices if n.code in DECISIVE and n.severity is not Severity.DANGER),
        ranking=ranking,
        on_lead=words.say("answer.on_lead", name=ranking.rows[0].name) if below and ranking.rows and rest else "",
        lines=tuple(rest),
        studies=studies,
        rare=tuple(Row(n, r.name, r.disease, f"{r.score:.0%}", tuple(r.findings_for), ()) for n, r in rare),
        records=tuple(f"{r.id} ({r.similarity:.2f}) {r.diagnosis}: {r.text}" for r in answer.similar_records),
        report=tuple(_parts(answer, sources, words)),
        report_questions=tuple(q.text for q in report.questions) if report is not None else (),
        next=tuple(answer.follow_up_questions),
        suggested=tuple(_suggested(answer, ranking, lead, words)),
        labels=tuple({label.text: label for label in labels}.values()),
        dates=_dates(answer, sources.values(), words),
        sources=tuple(s for s in sources.values() if s.number),
        beside=tuple(_together([s for s in sources.values() if not s.number], answer.same_work)),
        gate=explained(answer.gate, answer.language) if answer.gate is not None else None,
        gate_brief=_gate_brief(answer),
        how=tuple(dict.fromkeys(n.text for n in notices if n.code in TRACED or n in twice or _short(n, words))),
        run=answer.run,
    )


def settled(shown: Presentation, *, reported: bool) -> Presentation:
    """What stands of an answer once its statements are verified, whatever comes: all of it down to the studies.

    ``reported``: a report is still to come, whose sources and notices may add to all that stands around the direct
    answer; then only what stands above it, and itself without its facts.
    """
    above = shown._replace(rare=(), records=(), report=(), report_questions=(), next=(), suggested=(), labels=())
    above = above._replace(dates="", sources=(), beside=(), gate=None, gate_brief=(), how=())
    if not reported:
        return above
    lead, ranking = shown.lead._replace(facts=()), shown.ranking._replace(rows=(), left=())
    return above._replace(lead=lead, box=(), ranking=ranking, on_lead="", lines=(), studies=Studies((), (), ()))


def verified_lines(answer: Answer) -> list[Line]:
    """The statements that quotes bear out, with the numbers of their sources."""
    sources, words = _sources(answer), messages(answer.language)
    return [_line(s, sources, words) for s in _without_guesses(answer).statements if s.citations]


def _gate_brief(answer: Answer) -> tuple[str, ...]:
    """The gate's decision in short; a question that is asked anyway is not told again."""
    if answer.gate is None:
        return ()
    asked = any(q.text == answer.gate.question for q in answer.follow_up_questions)
    gate = answer.gate.model_copy(update={"question": ""}) if asked else answer.gate
    return brief(gate, answer.language)


def _without_guesses(answer: Answer) -> Answer:
    """The answer of a case without ranked diseases for which nothing that was told speaks: their order says nothing."""
    if answer.kind == Kind.EXPLAIN or answer.diagnoses or any(d.findings_for for d in answer.differential):
        return answer
    left = [s for s in answer.statements if not _disease_of(s)]
    return answer.model_copy(update={"differential": [], "statements": left})


def _in_words(answer: Answer, words: Messages) -> Answer:
    """The answer with its notices in its language: one that has none of it, as an earlier version's, is marked."""
    if answer.language == "en":
        return answer
    told = []
    for n in answer.notices:
        prefix, colon, text = n.text.partition(": ") if n.code in PREFIXED else ("", "", n.text)
        if not HAN.search(text):
            text = words.say("notice.in_english", detail=text)
        told.append(n.model_copy(update={"text": f"{prefix}{colon}{text}"}))
    return answer.model_copy(update={"notices": told})


def _said_twice(notices: Sequence[Notice], *, cites: bool) -> list[Notice]:
    """Notices that say in other words what another one says (PubMed was away, so a search for more failed), or what the
    answer shows to be otherwise: that nothing useful was retrieved, where it ``cites`` what was."""
    away = any(n.code in AWAY for n in notices)
    return [
        n
        for n in notices
        if (away and n.code == "gap_search_failed")
        or (cites and n.code == "nothing_useful_retrieved")
        or (away and n.code in PREFIXED and "PubMed" in n.text)
    ]


def as_data(shown: Any) -> Any:
    """A presentation, or a part of it, as plain data for JSON; a piece of evidence is its id."""
    if isinstance(shown, Messages):
        return shown.language
    if isinstance(shown, Evidence):
        return shown.id
    if isinstance(shown, Fold):
        shown = shown._replace(source=None, item=None)
    if isinstance(shown, BaseModel):
        return shown.model_dump(mode="json")
    if isinstance(shown, tuple) and hasattr(shown, "_asdict"):
        return {name: as_data(value) for name, value in shown._asdict().items()}
    return [as_data(value) for value in shown] if isinstance(shown, tuple | list) else shown


def ranked(
    found: Answer | Differential, diseases: Sequence[RankedDisease], language: str, *, whole: bool = False
) -> Ranking:
    """Ranked diseases of an answer or a look-up as they are shown."""
    words = messages(language)
    asides = [a if isinstance(a, str) else a.clause for a in found.asides]
    nothing = [words["list.none"]] if diseases and not found.outside and found.unexplained is not None else []
    unexplained = found.unexplained or nothing
    left = {"unexplained": unexplained, "unread": found.unread, "asides": tuple(dict.fromkeys(asides))}
    colon = words["list.colon"]
    dangers = [n.text for n in found.notices if n.severity is Severity.DANGER] if isinstance(found, Answer) else []
    rows = enumerate(diseases if whole else shown_diseases(diseases), start=1)
    return Ranking(
        first=(*dangers, *([words["answer.outside"]] if found.outside else [])),
        title=words["answer.closest" if found.outside else "answer.differential"],
        heads=("", *(words[f"answer.{name}"] for name in ("disease", "icd10", "share", "for", "against"))),
        rows=tuple(_row(rank, disease, words) for rank, disease in rows),
        left=tuple(f"{words[f'answer.{name}']}{colon}{words.joined(said)}" for name, said in left.items() if said),
    )


def statements_of(answer: Answer) -> list[Statement]:
    """The statements of the answer and of its report."""
    return [*answer.statements, *(s.statement for s in (answer.report.statements if answer.report else ()))]


def source_name(item: Evidence) -> str:
    """The title of a source; of a given text, which has none, its first words."""
    if item.title or item.origin is not Origin.CASE:
        return item.title or item.id
    return item.text if len(item.text) <= NAME else item.text[:NAME].rsplit(" ", 1)[0] + " …"


def source_facts(item: Evidence, language: str = "en") -> tuple[str, ...]:
    """Level of evidence, section, date, of imported text its source and licence, and status where it is not plain."""
    return tuple(fact for fact in _facts(item, language) if fact)


def _facts(item: Evidence, language: str) -> tuple[str | None, ...]:
    status = "" if item.status is Status.OK else item.status.value.upper()
    words = messages(language)
    level, section = (
        words.get(f"{of}.{told}", told) for of, told in (("level", item.level), ("section", item.section))
    )
    return level, section, item.date, item.source, item.licence, status


def _sources(answer: Answer) -> dict[str, Source]:
    """The documents of an answer by id, numbered from 1 in the order of its evidence where they are cited."""
    quoted: dict[str, set[tuple[int, int]]] = {}
    for citation in (c for s in statements_of(answer) for c in s.quoted):
        quoted.setdefault(citation.evidence_id, set()).add((citation.start, citation.end))
    pieces: dict[str, list[Passage]] = {}
    for item in answer.evidence:
        pieces.setdefault(item.document_id, []).append(Passage(item, tuple(sorted(quoted.get(item.id, ())))))
    cited = [document for document, passages in pieces.items() if any(p.spans for p in passages)]
    numbers = {document: n for n, document in enumerate(cited, start=1)}
    sources = {d: _source(numbers.get(d, 0), d, passages, answer.language) for d, passages in pieces.items()}
    words = messages(answer.language)
    for work in answer.same_work:
        for source in [sources[i] for i in work.ids if i in sources]:
            facts_ = (*source.facts, _same_work(source.id, work, numbers, words))
            sources[source.id] = source._replace(facts=facts_)
    return sources


def _same_work(id: str, work: SameWork, numbers: Mapping[str, int], words: Messages) -> str:
    """Of which other documents one is the same work: by their numbers, by their ids where they are not cited."""
    others = [(f"[{numbers[i]}]" if i in numbers else i, i in work.preprints) for i in work.ids if i != id]
    named = [words.say("same_work.preprint", name=name) if preprint else name for name, preprint in others]
    reasons = [words.get(f"same_work.{why}", why) for why in work.why.split(", ")]
    return words.say("same_work.told", others=words.joined(named), why=words["gate.comma"].join(reasons))


def _together(sources: Sequence[Source], works: Sequence[SameWork]) -> list[Source]:
    """Sources without numbers in their order, those of one work behind the first of them."""
    first: dict[str, int] = {}
    for place, source in enumerate(sources):
        work = next((w for w in works if source.id in w.ids), None)
        for name in work.ids if work is not None else (source.id,):
            first.setdefault(name, place)
    return sorted(sources, key=lambda s: first[s.id])


def _source(number: int, id: str, passages: Sequence[Passage], language: str) -> Source:
    first = passages[0].item
    shown = [p for p in passages if p.spans] or passages
    by_field = zip(*(_facts(p.item, language) for p in shown), strict=True)
    facts_ = tuple(fact for field in by_field for fact in dict.fromkeys(field) if fact)
    level, _, _, _, licence, status = _facts(first, language)
    citation = in_a_line(first, level, licence, status)
    return Source(number, id, source_name(first), first.origin, facts_, citation, tuple(passages))


def _line(statement: Statement, sources: Mapping[str, Source], words: Messages) -> Line:
    held = {p.item.id: (source, p.item) for source in sources.values() for p in source.passages}
    folds = []
    for cited in dict.fromkeys(c.evidence_id for c in statement.quoted):
        source, item = held.get(cited, (None, None))
        folds.append(Fold(cited, source, item, tuple(c for c in statement.quoted if c.evidence_id == cited)))
    numbers = tuple(dict.fromkeys(f.source.number for f in folds if f.source is not None))
    marks = "".join(f"[{n}]" for n in numbers)
    mark = marks if statement.citations else f"{marks} ({words['answer.unverified']})".strip()
    return Line(statement.text, statement.origin, numbers, marks, mark, tuple(folds))


def _row(rank: int, d: RankedDisease, words: Messages) -> Row:
    sides = tuple(d.findings_for), tuple(d.findings_against)
    return Row(rank, words.name_of(d), d.icd10, f"{d.score:.0%}", *sides, disease=d.disease)


def _with_lines(answer: Answer, ranking: Ranking, sources: Mapping[str, Source]) -> tuple[Ranking, list[Statement]]:
    """The ranking with what the answer says of each disease of a case, and the statements that are of none: all of a
    model's own text, which has an order of its own."""
    words, rest = messages(answer.language), list[Statement]()
    if answer.diagnoses:
        return ranking, list(answer.statements)
    told: dict[str, list[Line]] = {row.disease: [] for row in ranking.rows if answer.kind != Kind.EXPLAIN}
    rows = {row.disease: row for row in ranking.rows}
    for statement in answer.statements:
        disease = _disease_of(statement)
        if disease in told:
            own = _beyond_row(statement, rows[disease], words)
            told[disease].append(_line(statement, sources, words)._replace(text=own))
        else:
            rest.append(statement)
    return ranking._replace(rows=tuple(r._replace(told=tuple(told.get(r.disease, ()))) for r in ranking.rows)), rest


def _disease_of(statement: Statement) -> str:
    """The disease whose entry in the graph a statement cites, and nothing else; "" for none."""
    of = {EvidenceId.parse(c.evidence_id).name.rsplit("/", 1)[-1] for c in statement.citations}
    return next(iter(of)) if len(of) == 1 and statement.origin is Origin.KNOWLEDGE_GRAPH else ""


def _beyond_row(statement: Statement, row: Row, words: Messages) -> str:
    """What a line on a disease says beside its name and the quotes for and against, which its row tells in short."""
    head = f"{row.name} ({row.code})." if row.code else f"{row.name}."
    text = statement.text.removeprefix(head).strip()
    before, _, warning = text.partition(words["disease.watch"])
    if not any(words[f"disease.{side}"] in before for side in ("fits", "against")):
        return text
    left = before
    for piece in (*(c.quote for c in statement.citations), words["disease.fits"], words["disease.against"]):
        left = left.replace(piece, "")
    return text if left.strip(" ;。；\n") else warning


def _lead(
    answer: Answer, ranking: Ranking, lines: Sequence[Line], studies: Studies, words: Messages
) -> tuple[Lead, list[Notice]]:
    """The direct answer, and the notices that are part of it."""
    by = {n.code: n for n in answer.notices}
    none = [by[code] for code in NONE if code in by]
    replies = [by[code] for code in REPLIES if code in by]
    missing = [by["no_figure"]] if "no_figure" in by else []
    more = tuple(n.text for n in missing)
    verdict, choice = answer.verdict, answer.choice
    if verdict is not None:
        value = value_in_words(verdict, answer.question, answer.language)
        carrying = [line for text in verdict.statements for line in lines if line.text == text] or list(lines)
        both = verdict.value in (VerdictValue.CONFLICTING, VerdictValue.DEPENDS)
        sides = dict(zip(verdict.statements, verdict.sides, strict=False))
        first = {sides.get(line.text): line for line in reversed(carrying)} if both and sides else {}
        leading = [line for line in carrying if line in first.values()] or carrying[:1]
        plain = value if verdict.value is not VerdictValue.NO_DIFFERENCE else words["verdict.values.no"]
        outright = bool(leading) and leading[0].text.casefold().startswith(plain.casefold())  # "Yes, statins ..."
        head = "" if outright else f"{value[:1].upper()}{value[1:]}{words['answer.stop']}"
        known = facts(verdict, answer.language, FACTS if not studies.rows else FACTS[-1:])
        return Lead(head, tuple(leading[:2]), (*known, *more)), missing
    if "model_view" in by and "barred_medicine" not in by:
        return Lead(by["model_view"].text, tuple(lines[:1]), more, unverified=True), [by["model_view"], *missing]
    if choice is not None:
        head = ": ".join(dict.fromkeys((choice.label, choice.text))).rstrip(".。") + words["answer.stop"]
        resting = [line for line in lines if {f.id for f in line.folds} & set(choice.evidence_ids)]
        return Lead(head, tuple((resting or lines)[:1]), more, unverified=choice.parametric), missing
    if none:
        texts = [*none, *missing] if answer.statements else none
        return Lead(" ".join(n.text for n in texts), found=False), texts
    if answer.abstained and not answer.statements and not replies:
        return Lead(words["answer.none"], found=False), []
    if (ranking.rows or answer.diagnoses) and answer.kind != Kind.EXPLAIN:
        return Lead(_fitting(answer, ranking, words)), []
    if replies:
        head = " ".join(n.text for n in replies)
        return Lead(head, tuple(lines[:1]), found=bool(lines)), replies
    return Lead(" ".join(more), tuple(lines[:1])), missing


def _fitting(answer: Answer, ranking: Ranking, words: Messages) -> str:
    """Which diseases fit a case best, in a sentence: by a model that answered in its order, else by the ranking."""
    if answer.outside and not answer.diagnoses:
        return words["answer.outside"]
    named = [d.name for d in answer.diagnoses] or [row.name for row in ranking.rows]
    first, *others = names = named[: OTHERS + 1]
    close = not answer.diagnoses and answer.differential[0].score < STANDS_OUT
    if close and not answer.emergency:
        return words.say("answer.close", names=words["gate.comma"].join(names))
    then = words["gate.comma"].join(others)
    one, several = ("named", "named_then") if answer.diagnoses else ("fits", "fit")
    return words.say(f"answer.{several if then else one}", first=first, others=then)


def _studies(answer: Answer, sources: Mapping[str, Source], words: Messages) -> Studies:
    """The studies that are cited, as a table; those that answer otherwise stand beside each other by their side."""
    verdict = answer.verdict
    sides = dict(zip(verdict.statements, verdict.sides, strict=False)) if verdict is not None else {}
    rows = []
    for source in sources.values():
        item = source.passages[0].item
        quotes = tuple(source.quotes)
        design = item.level if item.level in START else ""
        given = item.origin is Origin.CASE and item.kind != "calculation"
        if not quotes or EvidenceId.parse(item.id).collection in WRITTEN or not (design or given):
            continue
        people = people_of(["\n".join(quotes), *(p.item.text for p in source.passages)])
        result = words["list.semicolon"].join(dict.fromkeys(e for q in quotes if (e := effect_of(q))))
        said = {side for text, side in sides.items() for q in quotes if text in q or q in text}
        side = words["gate.comma"].join(words[f"verdict.values.{v.value}"] for v in VerdictValue if v in said)
        year = (item.date or "")[:4]
        rows.append(
            Study(
                source.number,
                source.name,
                words.get(f"level.{design}", design or ""),
                people,
                comparison_of((*quotes, item.title)),
                result,
                year,
                quotes,
                side,
            )
        )
    order = [words.get(f"level.{design}", design) for design in START]
    rows.sort(key=lambda r: (r.side, order.index(r.design) if r.design else len(order), -int(r.year or 0)))
    one_side = len({row.side for row in rows}) < 2
    names = [n for n in Study._fields if any(getattr(r, n) for r in rows) and not (n == "side" and one_side)]
    names.sort(key=("number", "side", "name", "design", "people", "comparison", "result", "year", "quotes").index)
    none = "" if rows else _no_study(answer, sources, words)
    return Studies(tuple(names), tuple(words[f"study.{n}"] for n in names), tuple(rows), none)


def _no_study(answer: Answer, sources: Mapping[str, Source], words: Messages) -> str:
    """That no study is cited, where the answer to a question rests on the starter library alone; "" elsewhere."""
    cited = {EvidenceId.parse(s.id).collection for s in sources.values() if s.number}
    if answer.kind != Kind.EVIDENCE or cited != {STARTER}:
        return ""
    off = any(n.code == "pubmed_off" for n in answer.notices) and not any(e.level in START for e in answer.evidence)
    return words["study.none_off" if off else "study.none"]


def _suggested(answer: Answer, ranking: Ranking, lead: Lead, words: Messages) -> Iterable[str]:
    """Messages that go on from an answer: first questions that its documents answer, which help without one too."""
    if answer.emergency or answer.kind in (Kind.SMALL_TALK, Kind.ASSISTANT, Kind.CALCULATION):
        return ()
    if not lead.found:
        return answer.suggested
    of_case = ranking.rows and not answer.outside
    names = ("treated", "against", "sure") if of_case else ("why", "sure") if answer.statements else ()
    generic = [words[f"suggest.{name}"] for name in names if words[f"suggest.{name}"] != answer.question]
    return (*answer.suggested, *generic)[:MESSAGES]


def _folded(notice: Notice) -> bool:
    """Whether a notice is told elsewhere than among the labels."""
    return notice.code in TRACED or notice.code in DECISIVE


def _short(notice: Notice, words: Messages) -> str:
    return words.get(f"label.{notice.code}", "")


def _label(notice: Notice, words: Messages) -> Label:
    text = notice.text.split(": ", 1)[-1] if notice.code in PREFIXED else notice.text
    return Label(_short(notice, words) or text.rstrip(".。"), notice)


def _dates(answer: Answer, sources: Iterable[Source], words: Messages) -> str:
    """When it was searched, and of when the newest source is that it cites."""
    if not statements_of(answer) and not answer.usage.tool_calls:
        return ""
    dates = [p.item.date for s in sources if s.number for p in s.passages if p.spans and p.item.date]
    newest = words.say("answer.newest", date=max(dates)) if dates else ""
    at = answer.answered_on
    told = words.say("answer.searched" if answer.usage.tool_calls else "answer.unsearched", date=at) if at else ""
    return words["list.semicolon"].join(part for part in (told, newest) if part)


def _parts(answer: Answer, sources: Mapping[str, Source], words: Messages) -> Iterable[Part]:
    for part in PARTS if answer.report is not None else ():
        told = answer.report.of(part) if answer.report is not None else ()
        groups: list[tuple[str, tuple[Line, ...]]] = []
        for discipline in (*DISCIPLINES, None):
            lines = tuple(_line(s.statement, sources, words) for s in told if s.discipline == discipline)
            groups += [(words[f"report.{discipline}"] if discipline else "", lines)] if lines else []
        yield Part(words[f"report.{part}"], "" if told else words["report.unknown"], tuple(groups))
