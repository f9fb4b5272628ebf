"""What a model has right reaches the reader as it wrote it: 60 good replies, and 40 orders of diagnoses, on sockets.

They are made by code from the starter library, the starter graph and cases of our own, so that each is right by
construction: its sentences say what it says, the case has what it repeats.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from agent.assembly import assemble
from agent.loop import run
from agent.sessions import Home
from agent.settings import Settings
from graphs.answering.by_model import AnswererByModel
from graphs.answering.contract import AnswerView, Draft
from graphs.answering.local import AnswererLocal
from graphs.answering.prose import Claim, Fault, ProseReader
from graphs.answering.sources import Sources
from graphs.context import Parts
from graphs.verdicts.studies import words_held
from graphs.verification.quoted import QuoteCheck
from prompts.answer import StatementReply
from prompts.metering import Meter, metered
from support.answerers import view
from support.answering_model import by_model, citing, documents
from support.scripted_model import Request
from tools.contract import RankedDisease
from tools.encoders import Encoder
from tools.evidence import Evidence, Origin
from tools.library.monograph import Monograph, read_monograph
from tools.reading.answered import answered
from tools.reading.contract import Stance
from tools.text.sentences import sentences

ROOT = Path(__file__).parents[3]
STARTER = ROOT / "tools" / "library" / "starter"
A_KIND = 15  # good replies of each of four kinds
CASES = 20  # each with two orders
AGES = {"age": 46}
LOST = {"statement_dropped", "reference_dropped", "choice_not_borne_out", "model_view", "choice_unreadable"}


class Good(NamedTuple):
    """A reply that is right: what is asked, what the model says of what it is shown, and what must come of it."""

    asked: AnswerView
    reply: Callable[[Request], dict[str, Any]]
    option: str = ""


class Model:
    """Answerer and verifier at a server that plays one reply after the other."""

    def __init__(self, answerer: AnswererByModel, parts: Parts) -> None:
        self.answerer, self.parts = answerer, parts
        self.reply: Callable[[Request], dict[str, Any]] = lambda _: {}
        self.said: dict[str, Any] = {}
        self.calls = 0

    def play(self, name: str, request: Request) -> dict[str, Any]:
        self.calls += 1
        if name == "MendReply":
            return {"statements": []}
        self.said = self.reply(request)
        return self.said

    def told(self, good: Good) -> Draft:
        self.reply, self.calls = good.reply, 0
        with metered(Meter()):
            draft = run(self.answerer.answer(good.asked))
        known = {e.id: e for e in (*draft.evidence, *good.asked.evidence)}
        return run(self.parts.verifier.verify(draft, known))

    def unchanged(self, good: Good) -> bool:
        draft = self.told(good)
        texts = [s if isinstance(s, str) else s["text"] for s in self.said["statements"]]
        taken = draft.verdict.value.value if draft.verdict is not None else draft.choice.label if draft.choice else ""
        notices = {n.code for n in draft.notices}
        return [s.text for s in draft.statements] == texts and taken == good.option and not notices & LOST


@pytest.fixture(scope="module")
def model(built_home: Any, encoder: Encoder) -> Iterator[Model]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("no_proxy", "127.0.0.1")
        settings = Settings(home=built_home, literature={"live": "off"})
        parts = assemble(settings, Home(built_home))
        assert isinstance(parts.answerer, AnswererLocal)
        made: list[Model] = []
        with by_model(parts.answerer, encoder, lambda name, request: made[0].play(name, request)) as (answerer, _):
            made.append(Model(answerer, parts))
            yield made[0]


@cache
def starter() -> list[Monograph]:
    return [read_monograph(path) for path in sorted(STARTER.glob("*.md"))]


def monographs() -> list[Monograph]:
    return [m for m in starter() if m.front.language == "en" and m.front.questions][:: 579 // 50]


def passage(page: Monograph, said: str) -> Evidence:
    """The section of a page that holds a sentence."""
    section = next(p for p in page.text.split("\n## ") if said in p)
    return of(page.front.id, page.front.title, section.partition("\n")[2].strip())


def of(name: str, title: str, text: str) -> Evidence:
    return Evidence(
        id=f"library:{name}@0-{len(text)}", text=text, title=title, kind="condition", origin=Origin.RETRIEVED
    )


def label_of(request: Request, said: str) -> str:
    return next(k for _, shown in documents(request).values() for k, text in shown.items() if said in text)


def worded(said: str, title: str, way: int) -> str:
    """A sentence in other words that say the same."""
    if way == 1:
        return re.sub(r"\s*\([^()]*\)", "", said)
    if way == 2:
        first = said[0].lower() if said[1:2].islower() else said[0]
        return f"According to the documents on {title.lower()}, {first}{said[1:]}"
    if way == 3:
        head, _, rest = said.partition("; ")
        return f"{head}." if rest and len(head.split()) > 6 else said
    return said


def evidence() -> list[Good]:
    pages = monographs()
    out = []
    for n, page in enumerate(pages[:A_KIND]):
        question = page.front.questions[n % len(page.front.questions)]
        first = sentences(question.span)[0].of(question.span)
        kept = passage(page, question.span)
        other = pages[n + 1]
        beside = passage(other, other.front.questions[0].span)
        second = next((s.of(kept.text) for s in sentences(kept.text) if s.of(kept.text) not in question.span), "")

        def reply(
            request: Request, first: str = first, second: str = second, page: Monograph = page, n: int = n
        ) -> Any:
            said = [citing(worded(first, page.front.title, n % 4), label_of(request, first))]
            said += [citing(second, f"[{label_of(request, second)}]")] if second else []
            return {"statements": said, "unanswered": [], "abstain": False}

        out.append(Good(view(question.q, beside, kept), reply))
    return out


VERDICTS = {Stance.SUPPORTS: "yes", Stance.REFUTES: "no"}


def closed() -> list[Good]:
    """Questions of yes or no that a sentence of the library is known to answer."""
    out: list[Good] = []
    known = {
        said: [max(rows, key=lambda row: words_held(row.question, said))]  # asked in the sentence's own words
        for said, rows in answered().items()
        if rows[0].answer in VERDICTS and all(row.answer in VERDICTS for row in rows)
    }
    for page in starter():
        for span in sentences(page.text):
            said = span.of(page.text)
            row = known.get(" ".join(said.split()))
            if row is None or len(out) == A_KIND // 3 or any(e.asked.question == row[0].question for e in out):
                continue

            def reply(request: Request, said: str = said, value: str = VERDICTS[row[0].answer]) -> Any:
                return {"statements": [citing(said, label_of(request, said))], "option": value}

            asked = view(row[0].question, passage(page, said)).model_copy(update={"closed": True})
            out.append(Good(asked, reply, VERDICTS[row[0].answer]))
            break
    return out


def choices(model: Model, cases: Sequence[AnswerView]) -> list[Good]:
    """What a disease usually presents with, by the graph's own entries."""
    out = []
    for n, case in enumerate(cases[: A_KIND - len(closed())]):
        entries = model.parts.answerer.writer.lines(case)[1]  # type: ignore[attr-defined]
        right = entries[0]
        said = sentences(right.text)[1].of(right.text)
        names = sorted({e.title for e in entries} | {"Ingrown toenail", "Colour blindness"})
        options = {chr(ord("A") + k): name for k, name in enumerate(names)}
        letter = next(k for k, name in options.items() if name == right.title)

        def reply(request: Request, right: Evidence = right, said: str = said, letter: str = letter, n: int = n) -> Any:
            text = said if n % 2 else f"{right.title}: {said}"
            return {"statements": [citing(text, label_of(request, said))], "option": (letter, f"{letter}.")[n % 2]}

        question = f"Of which disease is this said: {said.replace(right.title, 'it')}"
        asked = view(question, *entries, kind="multiple_choice", options=options)
        out.append(Good(asked, reply, letter))
    return out


def direct(cases: Sequence[AnswerView]) -> list[Good]:
    """What is known without a search, with years, doses and names that are no publication."""
    out = []
    for n, page in enumerate(monographs()[-A_KIND:]):
        texts = [*dict.fromkeys(q.span for q in page.front.questions)][:3]  # a good reply says nothing twice
        texts += ["In May 2020 the advice changed.", "Take at most 2000 mg a day.", "An MRI study may follow."][
            n % 3 :
        ][:1]
        case = cases[n % len(cases)] if n % 3 == 0 else view(page.front.questions[0].q)

        def reply(_: Request, texts: Sequence[str] = texts) -> Any:
            return {"statements": list(texts), "option": "", "emergency": ""}

        out.append(Good(case.model_copy(update={"path": "direct"}), reply))
    return out


def cases(model: Model) -> list[AnswerView]:
    rows = yaml.safe_load((ROOT / "evals" / "bench" / "cases.yaml").read_text(encoding="utf-8"))
    out = []
    for row in rows[:CASES]:
        text = row["text"].format(**AGES)
        out.append(view(text, kind="case", differential=model.parts.look_up(text, "en", ())))
    return out


def on_diagnosis(disease: RankedDisease, request: Request, way: int) -> dict[str, Any]:
    """A statement on a ranked disease: its entry's words, or what of the case fits it and what speaks against it."""
    shown = next(s for details, s in documents(request).values() if details.endswith(f", {disease.name}"))
    usual = next((k for k, text in shown.items() if "usually presents with" in text), next(iter(shown)))
    texts = [shown[usual]]
    if disease.findings_for:
        texts.append(f"{disease.name} is likely, because the patient has {disease.findings_for[0]}.")
        texts.append(f"{disease.name} fits this case: {shown[usual][0].lower()}{shown[usual][1:]}")
    if disease.findings_against:
        texts.append(f"{disease.name} is less likely, as {disease.findings_against[0]} speaks against it.")
    said = texts[way % len(texts)]
    findings = (*disease.findings_for, *disease.findings_against)
    told = [k for k, text in shown.items() if said != shown[usual] and any(f in text for f in findings)]
    return citing(said, *(dict.fromkeys([usual, *told])), part="diagnosis", diagnosis=disease.name)


def shown_diseases(case: AnswerView, request: Request) -> list[RankedDisease]:
    """The ranked diseases whose entries are shown."""
    ranking = case.differential.ranking if case.differential is not None else ()
    headings = [details for details, _ in documents(request).values()]
    return [d for d in ranking if any(h.endswith(f", {d.name}") for h in headings)]


def case_replies(views: Sequence[AnswerView]) -> list[Good]:
    out = []
    for n, case in enumerate(views[:A_KIND]):

        def reply(request: Request, case: AnswerView = case, n: int = n) -> Any:
            said = [on_diagnosis(d, request, n + k) for k, d in enumerate(shown_diseases(case, request))]
            return {"statements": said, "unanswered": [], "emergency": ""}

        out.append(Good(case, reply))
    return out


@pytest.fixture(scope="module")
def told(model: Model) -> list[AnswerView]:
    return cases(model)


def test_good_replies_reach_the_reader_unchanged(model: Model, told: list[AnswerView]) -> None:
    kinds = {
        "evidence": evidence(),
        "case": case_replies(told),
        "choice": [*closed(), *choices(model, told)],
        "direct": direct(told),
    }
    assert {kind: len(goods) for kind, goods in kinds.items()} == dict.fromkeys(kinds, A_KIND)
    goods = [good for of_kind in kinds.values() for good in of_kind]
    lost = [good for good in goods if not model.unchanged(good) or model.calls != 1]
    assert not lost, [good.asked.question for good in lost]


def test_everyday_words_are_no_abbreviations_of_diseases(model: Model, encoder: Encoder) -> None:
    assert isinstance(model.parts.answerer, AnswererLocal)
    reader = ProseReader(QuoteCheck(encoder), model.parts.answerer.terms, model.parts.answerer.diseases)
    said = "The rash fades within three days, and a bath eases the itch."
    page = Sources((of("rash", "Rash", said),), ((1,),))
    as_said = "A bath eases the itch, as the change fades within three days in all."
    assert reader.read(Claim(StatementReply(text=as_said, cites=["1.1"])), page).statement.citations
    with pytest.raises(Fault, match="mention ALL"):
        reader.read(Claim(StatementReply(text="ALL fades within three days.", cites=["1.1"])), page)


OWN = "Takotsubo syndrome"


@pytest.mark.parametrize("own", [False, True], ids=["reversed", "its own first"])
def test_the_models_first_diagnosis_and_its_order_are_kept(model: Model, told: list[AnswerView], own: bool) -> None:
    for n, case in enumerate(told):
        named: list[str] = []

        def reply(request: Request, case: AnswerView = case, n: int = n, named: list[str] = named) -> Any:
            ranked = shown_diseases(case, request)[::-1]
            said = [on_diagnosis(d, request, n + k) for k, d in enumerate(ranked)]
            if own:
                said.insert(0, citing(f"{OWN} is possible.", part="diagnosis", diagnosis=OWN))
            named[:] = [s["diagnosis"] for s in said]
            return {"statements": said, "unanswered": [], "emergency": ""}

        draft = model.told(Good(case, reply))
        texts = [s.text for s in draft.statements]
        assert [d.name for d in draft.diagnoses] == named
        assert [s["text"] for s in model.said["statements"][own:]] == texts[own:]
        codes = {x.code for x in draft.notices}
        assert ("other_order" in codes) == (own or len(named) > 1)
        assert ("not_in_graph" in codes) == own
        if own:
            assert texts[0] == f"{OWN} (not in the knowledge graph) is possible."


def test_where_a_document_is_from_is_told_once() -> None:
    entry = of("gerd", "Reflux disease", "Heartburn is usual.").model_copy(
        update={"origin": Origin.KNOWLEDGE_GRAPH, "level": "knowledge graph, not clinically reviewed"}
    )
    first = Sources((entry,), ((1,),)).shown.splitlines()[0]
    assert first == "[1] knowledge graph, not clinically reviewed, Reflux disease"


def test_who_mends_is_told_title_and_section_alone() -> None:
    page = Sources((of("rash", "Rash", "It itches."),), ((1,),))
    assert page.shown.startswith("[1] retrieved, ")
    assert page.around(["1.1"]).shown.splitlines()[0] == "[1] Rash"


def test_a_chinese_diagnosis_is_found_by_its_latin_name_in_an_english_source(model: Model, encoder: Encoder) -> None:
    assert isinstance(model.parts.answerer, AnswererLocal)
    reader = ProseReader(QuoteCheck(encoder), model.parts.answerer.terms, model.parts.answerer.diseases)
    said = "A Mallory-Weiss tear bleeds after repeated vomiting."
    page = Sources((of("tear", "Haematemesis", said),), ((1,),))
    claim = StatementReply(text="Mallory-Weiss综合征在反复呕吐后出血。", cites=["1.1"])
    assert reader.read(Claim(claim, about=("Mallory-Weiss综合征",)), page).statement.citations
    with pytest.raises(Fault, match="mention"):
        reader.read(Claim(claim, about=("Boerhaave综合征",)), page)


@pytest.mark.parametrize(
    ("text", "strange"),
    [
        ("Antivirals work best for shingles when they begin within 72 hours of the rash.", ""),
        ("Shingles in a pregnant woman does not usually harm the unborn baby.", ""),
        ("Antibiotics work best for shingles when they begin within 72 hours of the rash.", "Antibiotics"),
        ("Shingles in an asthmatic woman with epilepsy does not usually harm the unborn baby.", "epilepsy"),
    ],
)
def test_a_class_of_what_is_named_and_another_form_of_a_finding_are_no_strange_names(
    model: Model, encoder: Encoder, text: str, strange: str
) -> None:
    assert isinstance(model.parts.answerer, AnswererLocal)
    reader = ProseReader(QuoteCheck(encoder), model.parts.answerer.terms, model.parts.answerer.diseases)
    said = (
        "Oral aciclovir works best for shingles when it begins within 72 hours of the rash.",
        "Shingles in pregnancy does not usually harm the unborn baby.",
    )
    page = Sources((of("shingles", "Shingles", " ".join(said)),), ((1, 2),))
    claim = Claim(StatementReply(text=text, cites=["1.1", "1.2"]))
    if not strange:
        assert reader.read(claim, page).statement.citations
        return
    with pytest.raises(Fault, match=strange):
        reader.read(claim, page)
