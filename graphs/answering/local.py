"""The local answerer: quotes evidence, ranks what the graph ranks, chooses only with evidence, calculates, abstains."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, date, datetime

from graphs.answering.choice import ChoiceSettings, OptionChooser
from graphs.answering.constrained import diagnosed
from graphs.answering.contract import AnswerView, Choice, Draft
from graphs.answering.differential_answer import DifferentialSettings, DifferentialWriter, RareWriter
from graphs.answering.explaining import Explainer
from graphs.answering.extractive import Extractor, ExtractSettings, by_score, statement
from graphs.answering.figures import asks_figure, gives_figure, of_one_kind, of_regimen
from graphs.answering.notices import notice, notices_for, read_as
from graphs.answering.ports import GraphEntries, NoPages, Pages, SentenceRanker, WholeText
from graphs.judging.key_terms import KeyTerms, Subject, Synonyms, is_of_another
from graphs.judging.relevance import Relevance
from graphs.triage.contract import Kind
from graphs.verdicts.certainty import is_published, plain_verdict
from graphs.verdicts.contract import Sentence, Verdict, VerdictJudge, VerdictValue
from graphs.verdicts.studies import words_held
from prompts.errors import InputError
from tools.calculators import asked_for, calculate_from, told_of
from tools.contract import Differential, Notice, RankedDisease, Severity
from tools.encoders import Encoder
from tools.evidence import Evidence, Frozen, Origin, Statement, cite, content_key
from tools.library.monograph import COLLECTION
from tools.medicines.checks import is_taken, taken_together
from tools.medicines.constraints import (
    advises_only,
    asked_of,
    barred_question,
    broken_by,
    constraints_in,
    without_allergens,
)
from tools.medicines.names import medicines_in
from tools.notices import noted
from tools.text.abbreviations import expand
from tools.text.demographics import about_others
from tools.text.language import language_of
from tools.text.questions import is_question, parts, without_given
from tools.text.tokens import tokens

FOLLOW_UPS = 3  # ours: questions a turn
CONTEXT = 3  # ours: sentences beside those that support the option
ROUNDS = 2  # ours: times that the reader is asked whether the sentences about to be quoted state something
FIGURE = 0.15  # ours: what lifts a sentence with the figure asked for that holds all words of the question
SUMMARIES = ("guideline", "systematic review", "meta-analysis", "review")  # levels that sum up more than one study


class AnswerSettings(Frozen):
    """Settings of the local answerer, part by part."""

    extract: ExtractSettings = ExtractSettings()
    differential: DifferentialSettings = DifferentialSettings()
    choice: ChoiceSettings = ChoiceSettings()


class AnswererLocal:
    """Writes answers without a model.

    Attributes:
        terms, diseases: the names in a text, and those of diseases with their other names.
        writer, rare: the lines on the diseases of a differential. today: the date.

    Args:
        ranker: proposes sentences of texts for a query.
        encoder: scores them; also tells rare words.
        judge: of closed questions.
        graph: entries of the knowledge graph that the view does not hold.
        synonyms: other names of what a text mentions; for a Chinese text the English ones.
        pages: the documents that evidence is cut from.
        known: words in use in the library.
        today: the date for review dates.
    """

    def __init__(
        self,
        ranker: SentenceRanker,
        encoder: Encoder,
        judge: VerdictJudge,
        graph: GraphEntries | None = None,
        synonyms: Synonyms | None = None,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
        settings: AnswerSettings | None = None,
        *,
        pages: Pages | None = None,
        known: Collection[str] = frozenset(),
        diseases: Synonyms = lambda _text: {},
    ) -> None:
        settings = settings or AnswerSettings()
        self.diseases = diseases
        self.terms = KeyTerms(encoder, synonyms, known)
        self._pages = pages or NoPages()
        self._extractor = Extractor(ranker, Relevance(encoder), settings.extract)
        self._chooser = OptionChooser(self._extractor, self.terms, settings.choice)
        self.judge = judge
        self.writer = DifferentialWriter(self._extractor, graph, settings.differential, self._pages)
        self.rare = RareWriter(graph)
        self._explainer = Explainer(self.writer, self._extractor, today)
        self.today = today

    async def answer(self, view: AnswerView) -> Draft:
        """Every statement cites evidence of the view or of the draft; nothing is said without."""
        return await asyncio.to_thread(lambda: self.with_interactions(view, self._answer(view)))

    def unmentioned(self, view: AnswerView) -> list[str]:
        """Names in a question of evidence that nothing quotable mentions: from other evidence it is not answered."""
        asked = view.kind == Kind.EVIDENCE
        return unmentioned(view, _quotable(view), self.terms, self._pages.whole) if asked else []

    def _answer(self, view: AnswerView) -> Draft:
        if view.kind == Kind.EXPLAIN:
            return self._explainer.explain(view)
        if view.kind == Kind.CALCULATION:
            return calculated(view, self.today())
        if view.kind in (Kind.CASE, Kind.FOLLOW_UP) and ranked(view.differential):
            return self._case(view)
        asks = any(map(is_question, parts(view.question)))
        if view.red_flags and view.kind in (Kind.CASE, Kind.FOLLOW_UP) and not (asks and diagnosed(view.red_flags)):
            return Draft(notices=(notice("emergency_first", view.language),))
        return self._quoted(view, _quotable(view))

    def _quoted(self, view: AnswerView, evidence: Sequence[Evidence]) -> Draft:
        """What is quoted: of a multiple-choice question, of pages that were written to answer, else of all evidence."""
        query = self._query(view, evidence)
        if not query or not (evidence or view.answered):
            return abstained(view)
        if view.kind == Kind.MULTIPLE_CHOICE:
            return self._multiple_choice(view, evidence, query)
        if (checked := self._checked(view)) is not None:
            return checked
        missing = self.unmentioned(view) if not any(e.origin is Origin.CASE for e in evidence) else []
        if missing:
            return abstained(view, missing)
        strange = self.terms.strange(query)
        subjects = [*self.terms.subjects(query), *((name,) for name in strange)]
        found = self._extractor.scored(query, evidence, view.answered, subjects=subjects)
        scored = self._extractor.fitted(query, found, self._pages.whole, strange=strange)
        if view.closed and language_of(view.question) != "zh":
            return self._closed(view, scored)
        allowed = _allowed(view, scored, self._diseases(view))
        chosen = self._stating(_together_first(query, _figures_first(query, allowed)))
        if not chosen:
            return abstained(view)
        more = [notice("no_verdict", view.language)] if view.closed else []
        return self._draft(view, chosen, None, more)

    def _stating(self, scored: Sequence[Sentence], limit: int = 0) -> list[Sentence]:
        """The sentences to state, best first; of studies and of what is the user's own none that is a title, a
        question, an aim or a method: others take their place once."""
        known: dict[str, bool] = {}
        pool, chosen = list(scored), self._extractor.choose(scored, limit)
        for _ in range(ROUNDS):
            fresh = [s for s in chosen if s.text not in known]
            known |= zip((s.text for s in fresh), self.judge.states(fresh), strict=True)
            if all(known[s.text] for s in chosen):
                return chosen
            pool = [s for s in pool if known.get(s.text, True)]
            chosen = self._extractor.choose(pool, limit)
        return [s for s in chosen if known.get(s.text, False)]

    def _checked(self, view: AnswerView) -> Draft | None:
        """What pages were written to answer, with the verdict of the first; None where they answer nothing, or where
        texts were given with the question."""
        told = [(a, self._extractor.told(a)) for a in view.answered if a.answer]
        if not told or not told[0][1] or any(e.origin is Origin.CASE for e in view.evidence):
            return None
        (_, carrying), *others = told
        verdict = plain_verdict(VerdictValue(told[0][0].answer), carrying)
        return self._draft(view, [*carrying, *(s for _, said in others for s in said)], None, [], verdict=verdict)

    def _closed(self, view: AnswerView, scored: Sequence[Sentence]) -> Draft:
        """A verdict with the sentences that carry it, else what was found on either side of the question.

        Texts given with the question are read before all others; evidence comes in the order of its best sentence.
        """
        pieces = {s.evidence.id: s.evidence for s in scored}
        given = [e for e in view.evidence if e.origin is Origin.CASE]
        ruling = self.judge.judge(expand(view.meant), given or list(pieces.values()), self._diseases(view))
        if ruling.verdict is not None:
            draft = self._draft(view, [*ruling.carrying, *ruling.beside], None, [], verdict=ruling.verdict)
            return draft.model_copy(update={"leaning": ruling.leaning, "stage": ruling.stage})
        near = self._beside(scored, [*self._leading(view), *ruling.beside])
        code = "undecided" if near and self._speaks(view, near[0]) else "no_verdict"
        draft = self._draft(view, near, None, [notice(code, view.language)]) if near else abstained(view)
        return draft.model_copy(update={"leaning": ruling.leaning, "stage": ruling.stage})

    def _speaks(self, view: AnswerView, sentence: Sentence) -> bool:
        """Whether a sentence was written to answer, or has every word of what is asked."""
        direct = {s.text for a in view.answered if a.direct for s in self._extractor.told(a)}
        asked = {*tokens(expand(view.meant))}
        return sentence.text in direct or asked <= {*tokens(f"{sentence.evidence.title}. {sentence.text}")}

    def _diseases(self, view: AnswerView) -> list[Subject]:
        """The diseases that a question names, each by all its names."""
        return [(name, *others) for name, others in self.diseases(view.meant).items()]

    def _leading(self, view: AnswerView) -> list[Sentence]:
        """The words that answer a question which asks the same."""
        least = self._extractor.settings.answered
        return [s for a in view.answered if a.similarity >= least for s in self._extractor.told(a)]

    def _beside(self, scored: Sequence[Sentence], named: Sequence[Sentence]) -> list[Sentence]:
        """What is told of a closed question without a verdict: of each document that fits it, best first, the sentences
        that the judge named, else the best ones. A document of which it named one fits a little better."""
        documents, near = {s.evidence.document_id for s in named}, self._extractor.settings.asked
        lifted = [s._replace(score=s.score + near * (s.evidence.document_id in documents)) for s in scored]
        stated = self._stating(by_score(lifted), limit=CONTEXT)
        out: list[Sentence] = []
        for document in dict.fromkeys(s.evidence.document_id for s in stated):
            of = [s for s in named if s.evidence.document_id == document]
            of = of or [s for s in stated if s.evidence.document_id == document]
            for s in of:
                if not any(self._extractor.same(s, o) for o in out):
                    out.append(s)
        return out

    def _case(self, view: AnswerView) -> Draft:
        lines, entries = self.writer.lines(view)
        steps = self.writer.next_steps(view)
        steps = [s for s, states in zip(steps, self.judge.states(steps), strict=True) if states]
        rare, rare_entries = self.rare.lines(view)
        if not lines and not steps and not rare:
            return abstained(view)
        statements = (*lines, *rare, *map(statement, steps))
        entries = [*entries, *rare_entries, *(s.evidence for s in steps)]
        questions = view.differential.questions[:FOLLOW_UPS] if view.differential is not None else ()
        return Draft(
            statements=statements,
            evidence=beyond(view, entries),
            follow_up_questions=tuple(questions),
            notices=tuple(notices_for(view, statements, [*view.evidence, *entries], self.today())),
        )

    def with_interactions(self, view: AnswerView, draft: Draft) -> Draft:
        """The draft on a case with what its medicines do together where that is severe, after the ranked diseases."""
        if draft.abstained or not (view.kind in (Kind.CASE, Kind.FOLLOW_UP) and ranked(view.differential)):
            return draft
        told = view.question if view.case in view.question else f"{view.case}\n{view.question}"
        found = [(c, self._pages.said(f"{COLLECTION}:{c.page}", c.says)) for c in taken_together(told)]
        shown = [(c, e) for c, e in found if e is not None and all(e.id != d.id for d in draft.evidence)]
        at = max((n for n, s in enumerate(draft.statements, 1) if s.origin is Origin.KNOWLEDGE_GRAPH), default=0)
        at = at or len(draft.statements)
        more = [statement(Sentence(e, 0, len(e.text), 1.0)) for _, e in shown]
        dangers = [
            noted("taken_together", view.language, Severity.DANGER, one=c.page.replace("-", " "), other=c.beside)
            for c, _ in shown
        ]
        return draft.model_copy(
            update={
                "statements": (*draft.statements[:at], *more, *draft.statements[at:]),
                "evidence": (*draft.evidence, *(e for _, e in shown)),
                "notices": (*dangers, *draft.notices),
            }
        )

    def _multiple_choice(self, view: AnswerView, evidence: Sequence[Evidence], query: str) -> Draft:
        chosen = self._chooser.choose(view, evidence, query)
        found = self._extractor.scored(query, evidence, view.answered)
        context = self._stating(self._extractor.fitted(query, found, self._pages.whole), limit=CONTEXT)
        stated = [*chosen.sentences]
        stated += [s for s in context if not any(self._extractor.same(s, c) for c in chosen.sentences)]
        lines, entries = self.writer.lines(_only(view, chosen.disease)) if chosen.disease is not None else ([], [])
        choice = chosen.choice if chosen.sentences or lines else None
        more = [notice("no_choice_supported", view.language)] if choice is None else []
        if not stated and not lines:
            return abstained(view, more=more)
        return self._draft(view, stated, choice, more, lines, entries)

    def _query(self, view: AnswerView, evidence: Sequence[Evidence]) -> str:
        """The question in the language of the evidence, its abbreviations written out; "" for a Chinese question that
        has no English words to look for."""
        if view.language != "zh" or any(language_of(e.text) == "zh" for e in evidence):
            return expand(without_given(without_allergens(view.meant)))
        names = self.terms.equivalents(view.question)
        asked = [f.query for e in evidence for f in e.found if f.query and language_of(f.query) == "en"]
        return " ".join(dict.fromkeys([*names, *asked[:1]]))

    def _draft(
        self,
        view: AnswerView,
        chosen: Sequence[Sentence],
        choice: Choice | None,
        more: Sequence[Notice],
        lines: Sequence[Statement] = (),
        entries: Sequence[Evidence] = (),
        verdict: Verdict | None = None,
    ) -> Draft:
        statements = (*(statement(s) for s in chosen), *lines)
        cited = [*(s.evidence for s in chosen), *entries]
        notices = notices_for(view, statements, [*view.evidence, *cited], self.today())
        return Draft(
            statements=statements,
            evidence=beyond(view, cited),
            verdict=verdict,
            choice=choice,
            notices=(*more, *notices),
        )


def ranked(differential: Differential | None) -> bool:
    """Whether there is a differential to tell, of common diseases or of rare ones."""
    return differential is not None and bool(differential.ranking or differential.rare)


def _together_first(query: str, scored: Sequence[Sentence]) -> list[Sentence]:
    """Sentences on two or more of the medicines that a question names rank above those on one."""
    asked = {m.generic or m.family for m in medicines_in(query)}

    def both(sentence: Sentence) -> bool:
        return len(asked & {m.generic or m.family for m in medicines_in(sentence.text)}) > 1

    lifted = [s._replace(score=s.score + FIGURE) if both(s) else s for s in scored] if len(asked) > 1 else scored
    return by_score(lifted)


def _figures_first(question: str, scored: Sequence[Sentence]) -> list[Sentence]:
    """Scored sentences, those with the figure that a question asks for lifted, most where a label tells doses and where
    an onset is asked for; a dose of a single study is no answer to what dose to give."""
    if not asks_figure(question):
        return list(scored)
    single = [is_published(s.evidence) and s.evidence.level not in SUMMARIES for s in scored]
    scored = [s for s, one in zip(scored, single, strict=True) if not (one and of_regimen(question, s.text))]
    given = [
        gives_figure(question, s.text, s.evidence.title) * (1 + of_one_kind(question, s.evidence.section or ""))
        for s in scored
    ]
    held = [0.5 + 0.5 * words_held(question, f"{s.evidence.title}. {s.text}") for s in scored]
    return by_score([s._replace(score=s.score + FIGURE * g * h) for s, g, h in zip(scored, given, held, strict=True)])


def _allowed(view: AnswerView, scored: Sequence[Sentence], subjects: Sequence[Subject] = ()) -> Sequence[Sentence]:
    """Scored sentences without what is of other people, or of other diseases (``subjects``), than the question is
    about, where others are left, and without advice to give what an allergy bars or the page of such a medicine, where
    it is not asked about."""
    told = f"{view.case}\n{view.question}"
    theirs = [s for s in scored if not about_others(told, f"{s.evidence.title}. {s.text}")]
    left = theirs or scored
    # a page of the library that tells of many diseases answers with those that are named
    left = [
        s
        for s in left
        if not (s.evidence.id.startswith(f"{COLLECTION}:") and is_of_another(f"{s.evidence.title}. {s.text}", subjects))
    ] or left
    barred = [c for c in constraints_in(told) if c.why == "allergy"]
    if not barred or barred_question(view.question, view.case) is not None:
        return left
    left = [s for s in left if broken_by(s.evidence.title, barred) is None]
    return [s for s in left if not advises_only(s.text, barred)]


def _quotable(view: AnswerView) -> list[Evidence]:
    """What may be quoted: retrieved texts and the graph's; on the direct path the graph's only."""
    origins = (
        (Origin.KNOWLEDGE_GRAPH,) if view.path == "direct" else (Origin.RETRIEVED, Origin.KNOWLEDGE_GRAPH, Origin.CASE)
    )
    return [e for e in view.evidence if e.citable and e.origin in origins and e.kind != "record"]


def _only(view: AnswerView, disease: RankedDisease) -> AnswerView:
    """The view with one disease in its differential."""
    return view.model_copy(update={"differential": Differential(ranking=(disease,))})


def beyond(view: AnswerView, cited: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Cited evidence that the view does not hold, each once."""
    held = {e.id for e in view.evidence}
    return tuple({e.id: e for e in cited if e.id not in held}.values())


# Answers of calculators: the result, each input with the words that it was read from, what is missing, and the formula
# with what its results mean and its source. Nothing is searched for, and nothing is guessed.

HASH = 16  # ours: characters of the sha256 in the id of a calculation


def calculated(view: AnswerView, today: date) -> Draft:
    """The calculations that a message asks for; one that cannot be is told in the notice ``calculation_refused``."""
    statements: list[Statement] = []
    evidence: list[Evidence] = []
    notices: list[Notice] = []
    told = told_of(view.question, view.case)
    for name in asked_for(view.question, view.case):
        try:
            found = calculate_from(name, told, today)
        except InputError as error:
            notices.append(notice("calculation_refused", view.language, str(error)))
            continue
        title = f"{found.title}, calculated from what was told"
        made = _evidence(f"calculation:{name}-{content_key(told)[:HASH]}", title, found.lines, Origin.CASE)
        about = _evidence(f"calculator:{name}", found.title, found.about, Origin.RETRIEVED)
        evidence += [made, about]
        statements += [*_lines(made), *_lines(about)]
    if statements:
        notices.append(notice("starter_knowledge", view.language))
        notices += [notice("evidence_in_english", view.language)] if view.language == "zh" else []
    return Draft(
        statements=tuple(statements), evidence=tuple(evidence), notices=tuple(notices), abstained=not statements
    )


def _evidence(id: str, title: str, lines: Sequence[str], origin: Origin) -> Evidence:
    """Lines as a piece of evidence: what the program calculated from the case, or what it says of a calculator."""
    text = "\n".join(lines)
    kind = "calculation" if origin is Origin.CASE else "calculator"
    return Evidence(id=f"{id}@0-{len(text)}", text=text, title=title, kind=kind, origin=origin)


def _lines(evidence: Evidence) -> list[Statement]:
    """Each line as a statement that quotes it."""
    out, start = [], 0
    for line in evidence.text.split("\n"):
        cited = cite(evidence, start, start + len(line))
        out.append(Statement(text=line, origin=evidence.origin, citations=(cited,)))
        start += len(line) + 1
    return out


# When not to answer: nothing relevant, or a name in the question that no evidence mentions.


def abstained(view: AnswerView, terms: Sequence[str] = (), more: Sequence[Notice] = ()) -> Draft:
    """A draft without statements that says that nothing was found, and which names no evidence mentions.

    Failures of tools are notices of the turn, made where the tool failed; they stand beside these.
    """
    said = [notice("terms_not_found", view.language, ", ".join(terms))] if terms else []
    questions = view.differential.questions[:3] if view.differential is not None else ()
    return Draft(
        notices=(notice("nothing_found", view.language), *said, *read_as(view), *more),
        follow_up_questions=tuple(questions),
        abstained=True,
    )


def unmentioned(view: AnswerView, evidence: Sequence[Evidence], terms: KeyTerms, whole: WholeText) -> list[str]:
    """Rare names of the question that neither the documents of the evidence nor an answered question mention, and that
    are no medicine which the patient takes and nothing is asked of."""
    texts = [f"{e.title}. {e.text}" for e in evidence if e.citable]
    texts += [whole(document) for document in dict.fromkeys(e.document_id for e in evidence if e.citable)]
    texts += [f"{a.question} {a.evidence.title}. {a.evidence.text}" for a in view.answered if a.evidence.citable]
    named, asked = medicines_in(view.meant), asked_of(view.meant).lower()
    own = {m.written.lower() for m in named if m.written.lower() not in asked and is_taken(view.meant, m)}
    return [name for name in terms.uncovered(expand(view.meant), texts) if name.lower() not in own]
