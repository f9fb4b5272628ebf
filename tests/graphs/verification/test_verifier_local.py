"""The contract of a verifier, held against the local one and the model's; what is the local one's own beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from graphs.answering.contract import Choice, Draft
from graphs.verdicts.contract import Verdict, VerdictValue
from graphs.verification.by_model import VerifierByModel
from graphs.verification.contract import Verifier
from graphs.verification.local import VerifierLocal
from graphs.verification.quoted import QuoteCheck
from graphs.verification.support import check, identical, numbers
from prompts.answer import FAULTS
from support.planning_tools import model_at
from support.scripted_model import Scripted, serving
from tools.encoders import Encoder
from tools.evidence import Citation, Evidence, Origin, Statement, Status, cite, verify_citation

TEXT = (
    "Dexamethasone relieves croup within 6 hours. Antibiotics do not help croup. "
    "A single dose of 0.6 mg/kg is used in children."
)
EVIDENCE = Evidence(
    id=f"library:croup@0-{len(TEXT)}", text=TEXT, title="Croup", kind="condition", origin=Origin.RETRIEVED
)
APPROVING = Scripted(json.dumps({"verdicts": [{"number": n, "supported": True} for n in range(1, 5)]}))
CHOICE = Choice(label="yes", text="yes", reason="because")


@pytest.fixture(params=["local", "approving model", "failing model"])
def verifier(request: pytest.FixtureRequest, encoder: Encoder) -> Iterator[Verifier]:
    local = VerifierLocal(encoder)
    if request.param == "local":
        yield local
        return
    with serving(APPROVING if request.param == "approving model" else Scripted(status=500, body="oops")) as server:
        yield VerifierByModel(model_at(server.url, "verification"), local)


def quoting(text: str, quote: str) -> Statement:
    start = TEXT.index(quote)
    return Statement(text=text, origin=Origin.RETRIEVED, citations=(cite(EVIDENCE, start, start + len(quote)),))


def verify(verifier: Verifier, *statements: Statement, evidence: Evidence = EVIDENCE) -> Draft:
    draft = Draft(statements=statements, choice=CHOICE)
    verified = asyncio.run(verifier.verify(draft, {evidence.id: evidence}))
    for statement in verified.statements:
        assert all(verify_citation(c, evidence) for c in statement.citations)
    return verified


FIRST = "Dexamethasone relieves croup within 6 hours."
SECOND = "Antibiotics do not help croup."


def test_word_for_word_statements_stay(verifier: Verifier) -> None:
    statements = (quoting(FIRST, FIRST), quoting(SECOND, SECOND))
    verified = verify(verifier, *statements)
    assert verified.statements == statements
    assert verified.choice == CHOICE
    assert verified.notices == ()


@pytest.mark.parametrize(
    "claim",
    [
        "Dexamethasone relieves croup within 12 hours.",
        "Dexamethasone does not relieve croup within 6 hours.",
        "Amoxicillin cures meningitis in adults.",
    ],
)
def test_what_no_quote_supports_is_dropped_with_a_notice(verifier: Verifier, claim: str) -> None:
    verified = verify(verifier, quoting(claim, FIRST), quoting(SECOND, SECOND))
    assert [s.text for s in verified.statements] == [SECOND]
    assert [n.code for n in verified.notices] == ["statement_dropped"]
    assert verified.choice == CHOICE


def test_without_a_cited_statement_no_choice_remains(verifier: Verifier) -> None:
    verified = verify(verifier, quoting("Amoxicillin cures meningitis in adults.", FIRST))
    assert verified.choice is None
    assert verified.abstained
    assert verified.statements == ()


def test_a_wrong_quote_is_mended_once(verifier: Verifier) -> None:
    wrong = Citation(evidence_id=EVIDENCE.id, quote="Dexamethasone relieves croup", start=3, end=31)
    statement = Statement(text=FIRST, origin=Origin.RETRIEVED, citations=(wrong,))
    verified = verify(verifier, statement)
    assert [s.text for s in verified.statements] == [FIRST]
    assert verified.notices == ()


def test_a_statement_quoted_from_the_wrong_sentence_is_quoted_anew(verifier: Verifier) -> None:
    verified = verify(verifier, quoting("Antibiotics do not help croup.", FIRST))
    assert SECOND in [c.quote for c in verified.statements[0].citations]


def test_retracted_and_unknown_evidence_supports_nothing(verifier: Verifier) -> None:
    retracted = EVIDENCE.model_copy(update={"status": Status.RETRACTED})
    assert verify(verifier, quoting(FIRST, FIRST), evidence=retracted).statements == ()
    unknown = Statement(
        text=FIRST,
        origin=Origin.RETRIEVED,
        citations=(Citation(evidence_id="library:x@0-5", quote="a", start=0, end=1),),
    )
    assert verify(verifier, unknown).statements == ()


def test_parametric_statements_stay_but_carry_no_choice(verifier: Verifier) -> None:
    verified = verify(verifier, Statement(text="Croup is common.", origin=Origin.PARAMETRIC))
    assert len(verified.statements) == 1
    assert verified.choice is None


def test_evidence_of_the_draft_counts(verifier: Verifier) -> None:
    draft = Draft(statements=(quoting(FIRST, FIRST),), evidence=(EVIDENCE,))
    assert len(asyncio.run(verifier.verify(draft, {})).statements) == 1


def test_an_untouched_abstention_stays_one(verifier: Verifier) -> None:
    draft = Draft(abstained=True)
    assert asyncio.run(verifier.verify(draft, {})) == draft


def test_a_paraphrase_with_the_same_words_and_figures_stays(encoder: Encoder) -> None:
    verified = verify(VerifierLocal(encoder), quoting("Croup is relieved by dexamethasone within 6 hours.", FIRST))
    assert len(verified.statements) == 1


def test_the_frame_of_a_differential_line_is_no_claim() -> None:
    statement = quoting(f"Croup (J05.0). Fits this case: {FIRST} Against in this case: {SECOND}", FIRST)
    framed = statement.model_copy(update={"citations": (*statement.citations, *quoting(SECOND, SECOND).citations)})
    found = check(framed, [EVIDENCE])
    assert (found.share, found.disagrees) == (1.0, "")


def test_a_false_claim_beside_a_true_quote_is_seen() -> None:
    found = check(quoting(f"{FIRST} Dexamethasone never relieves croup.", FIRST), [EVIDENCE])
    assert found.disagrees == "negation"


def test_numbers_and_identity() -> None:
    assert numbers("In 1,200 children (J05.0), 0.6 mg/kg for three days") == {"1200", "0.6", "3"}
    assert identical("One.  Two.", ["One.", "Two."])
    assert not identical("One. Three.", ["One.", "Two."])


@pytest.mark.parametrize(("rests_on", "stays"), [(EVIDENCE.id, True), ("library:other@0-9", False)])
def test_a_choice_stays_only_with_what_it_rests_on(verifier: Verifier, rests_on: str, stays: bool) -> None:
    choice = CHOICE.model_copy(update={"evidence_ids": (rests_on,)})
    draft = Draft(statements=(quoting(FIRST, FIRST),), choice=choice)
    verified = asyncio.run(verifier.verify(draft, {EVIDENCE.id: EVIDENCE}))
    assert verified.choice == (choice if stays else None)


CARE = [
    "Steam is not recommended because of scalds.",
    "Serious side effects of a single dose are rare.",
    "Nebulised adrenaline is added in moderate to severe croup.",
    "Surgery can often be avoided in adults with few symptoms.",
    "Honey may ease the cough in children over one year.",
    "Croup is made less likely by a rash.",
    "Five days of prednisolone are enough.",
    "People with a mechanical valve need warfarin.",
]


@pytest.mark.parametrize(
    ("quoted", "claim", "wrong"),
    [
        (0, "Steam is recommended in croup.", "negation"),
        (1, "Serious side effects of a single dose are common.", "negation"),
        (2, "Nebulised adrenaline is added in mild croup.", "negation"),
        (4, "Honey may ease the cough in children under one year.", "negation"),
        (5, "Croup usually comes with a rash.", "negation"),
        (3, "Surgery can always be avoided in adults.", "strength"),
        (5, "Croup becomes less likely with a rash.", ""),
        (1, "Side effects of one dose are rarely serious.", ""),
        (6, "Fourteen days of prednisolone are enough.", "numbers"),
        (7, "People with a mechanical valve need apixaban.", "medicine"),
        (7, "People with a mechanical valve need Coumadin.", ""),
    ],
)
def test_a_claim_turned_round_or_made_certain_disagrees_with_its_quote(quoted: int, claim: str, wrong: str) -> None:
    text = " ".join(CARE)
    item = Evidence(id=f"library:care@0-{len(text)}", text=text, title="Croup", kind="m", origin=Origin.RETRIEVED)
    at = text.index(CARE[quoted])
    statement = Statement(text=claim, origin=item.origin, citations=(cite(item, at, at + len(CARE[quoted])),))
    assert check(statement, [item]).disagrees == wrong
    assert wrong in ("", *FAULTS)  # what a model is told of it


class Paraphrase(NamedTuple):
    """A statement beside the sentences that it cites; ``faithful``: it says the same."""

    part: str
    kind: str
    faithful: bool
    quotes: tuple[str, ...]
    statement: str


PARAPHRASES = [
    Paraphrase(**json.loads(line))
    for line in Path(__file__).with_name("statements.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(
    ("part", "size", "refused", "passed"),
    [("develop", 60, 0, 2), ("report", 60, 4, 2), ("turned", 60, 1, 1), ("turned fresh", 80, 0, 4)],
)
def test_faithful_sentences_pass_whatever_they_deny_and_turned_ones_do_not(
    encoder: Encoder, part: str, size: int, refused: int, passed: int
) -> None:
    """150 faithful sentences and 110 that are not; those of ``report`` were written before the rules were, those of
    ``turned fresh`` after the rules on opposites, limits and conditions."""
    quotes = QuoteCheck(encoder)

    def fault(row: Paraphrase) -> str:
        items = [
            Evidence(id=f"library:{n}@0-{len(q)}", text=q, title="", kind="m", origin=Origin.RETRIEVED)
            for n, q in enumerate(row.quotes)
        ]
        citations = tuple(cite(e, 0, len(e.text)) for e in items)
        told = Statement(text=row.statement, origin=Origin.RETRIEVED, citations=citations)
        return quotes.fault(told, {e.id: e for e in items})

    rows = [row for row in PARAPHRASES if row.part == part]
    assert len(rows) == size
    assert sum(bool(fault(row)) for row in rows if row.faithful) <= refused
    assert sum(not fault(row) for row in rows if not row.faithful) <= passed


@pytest.mark.parametrize(
    ("quote", "said", "asked"),
    [
        ("Sorrel worsens folate-lack anaemia and a high potassium.", "Sorrel worsens a potassium that is high.", ""),
        (
            "The drug must not be taken during a clot, and labels rule it out with a history of fits.",
            "The drug is ruled out by labels with a history of fits.",
            "",
        ),
        (
            "Trimming of a worn tear is no better than exercise.",
            "No: trimming of a worn tear is no better than exercise.",
            "",
        ),
        (
            "Women who cannot keep fluids down need intravenous saline with potassium.",
            "She needs intravenous saline with potassium.",
            "",
        ),
        (
            "A protein above 150 on the third or fourth day suggests a leak.",
            "A protein above 150 on day three or four suggests a leak.",
            "",
        ),
        (
            "Vaccine and immunoglobulin are given at once.",
            "Vaccine and immunoglobulin are given at once, the two together.",
            "",
        ),
    ],
)
def test_what_only_sounds_like_a_denial_or_a_figure_is_none(
    encoder: Encoder, quote: str, said: str, asked: str
) -> None:
    held = Evidence(id=f"library:q@0-{len(quote)}", text=quote, title="", kind="m", origin=Origin.RETRIEVED)
    told = Statement(text=said, origin=Origin.RETRIEVED, citations=(cite(held, 0, len(quote)),))
    assert QuoteCheck(encoder).fault(told, {held.id: held}, asked=asked) == ""


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("The trial that did not show a benefit was small.", "The small trial did show a benefit."),
        ("Metformin is stopped below 30 mL/min.", "Metformin is stopped below 40 mL/min."),
        ("Warfarin is stopped for the operation.", "Warfarin is not stopped for the operation."),
        ("Do not stop the steroid suddenly.", "Stop the steroid suddenly."),
        ("People who do not smoke may take the combined pill.", "People who smoke may take the combined pill."),
        ("Warfarin lowers stroke compared with no treatment.", "Warfarin lowers stroke compared with treatment."),
        ("Avoiding salt may reduce swelling.", "Salt may reduce swelling."),
        ("A history of clots calls for great care or avoiding it.", "A history of clots calls for giving it."),
        ("Vomiting without bile is typical of reflux.", "Vomiting with bile is typical of reflux."),
        ("The drug is not given when pregnant.", "The drug is given when pregnant."),
        (
            "Filgrastim, which is not safe in leukaemia, is given daily.",
            "Filgrastim, which is safe in leukaemia, is given daily.",
        ),
        ("A clearance of 30 mL/min or more is needed.", "A clearance of 40 mL/min is within what is needed."),
        ("The third dose is due in a year.", "A dose of 3 mg is due in a year."),
        ("Trimming is no better than exercise.", "Yes: trimming is better than exercise."),
    ],
)
def test_what_turns_a_quote_is_refused_whatever_stands_before_it(encoder: Encoder, quote: str, said: str) -> None:
    held = Evidence(id=f"library:q@0-{len(quote)}", text=quote, title="", kind="m", origin=Origin.RETRIEVED)
    told = Statement(text=said, origin=Origin.RETRIEVED, citations=(cite(held, 0, len(quote)),))
    assert QuoteCheck(encoder).fault(told, {held.id: held}, asked="My kidney function is 40 mL/min.") != ""


@pytest.mark.parametrize(
    ("quote", "said", "fault"),
    [
        ("Stop the drops before the operation.", "Before the operation the drops are continued.", "negation"),
        ("Stop the drops before the operation.", "Before the operation the drops are not continued.", ""),
        ("The new vaccine is not live.", "The new vaccine is live.", "negation"),
        ("The tablets are kept at most two days.", "The tablets are kept for two days or more.", "numbers"),
        ("The tablets are kept at most two days.", "The tablets are kept for no more than two days.", ""),
        ("Doses are at least six hours apart.", "Doses should not be taken within six hours of each other.", ""),
        ("The brace is worn at night.", "The brace is worn at night except in winter.", "negation"),
        ("The brace is worn unless the skin is sore.", "The brace is worn except when the skin is sore.", ""),
        ("A scan is done only if the pain lasts.", "A scan is done.", "negation"),
        ("A scan is done only if the pain lasts.", "If the pain lasts, a scan is done.", ""),
        ("A child who can sit may go home.", "A child who cannot sit may go home.", "negation"),
        ("The cast stays on for three months.", "The cast stays on for three weeks.", "numbers"),
        (
            "An inhaled drug is added more than twice a week.",
            "An oral drug is added more than twice a week.",
            "negation",
        ),
        ("A stable fracture is put in a cast.", "An unstable fracture is put in a cast.", "negation"),
        ("Girls recover earlier than boys.", "Boys recover earlier than girls.", "negation"),
        ("The serum keeps well, but it is not used for burns.", "The serum is used for burns.", "negation"),
        ("Men with a hernia need an operation.", "Women with a hernia need an operation.", "negation"),
    ],
)
def test_opposites_limits_and_conditions_are_held_against_the_quote(quote: str, said: str, fault: str) -> None:
    assert check(*cited(said, quote)).disagrees == fault


def test_the_asker_may_tell_a_condition_and_a_case_is_judged_in_its_own_words() -> None:
    told, items = cited("A scan is done.", "A scan is done only if the pain lasts.")
    assert check(told, items, asked="My pain lasts and lasts.").disagrees == ""
    weighed, items = cited("Gout is less likely in this woman.", "Gout is more common in men.")
    assert check(weighed, items, told="A woman with a red toe.").disagrees == ""


@pytest.mark.parametrize(
    ("said", "asked", "fault"),
    [
        ("Dexamethasone relieves gout within 6 hours.", "", "disease"),
        ("Dexamethasone relieves gout within 6 hours.", "Does it help gout?", ""),
        ("In viral croup dexamethasone relieves within 6 hours.", "", ""),
    ],
)
def test_a_statement_about_another_disease_than_its_quotes_is_told(
    encoder: Encoder, said: str, asked: str, fault: str
) -> None:
    def diseases(text: str) -> dict[str, tuple[str, ...]]:
        known = {"viral croup": ("croup",), "croup": ("viral croup",), "gout": ()}
        return {name: others for name, others in known.items() if name in text.lower()}

    quotes = QuoteCheck(encoder, diseases=diseases)
    found = quotes.fault(quoting(said, FIRST), {EVIDENCE.id: EVIDENCE}, asked=asked)
    assert found == fault
    assert found in ("", *FAULTS)


VERDICT = Verdict(value=VerdictValue.YES, statements=(FIRST, SECOND))


def test_a_verdict_stays_while_all_that_carries_it_stays(verifier: Verifier) -> None:
    draft = Draft(statements=(quoting(FIRST, FIRST), quoting(SECOND, SECOND)), verdict=VERDICT)
    assert asyncio.run(verifier.verify(draft, {EVIDENCE.id: EVIDENCE})).verdict == VERDICT


@pytest.mark.parametrize("lost", [FIRST, SECOND])
def test_a_verdict_goes_with_the_first_statement_that_carried_it(verifier: Verifier, lost: str) -> None:
    false = "Amoxicillin cures meningitis in adults."
    told = (quoting(false, lost), quoting(SECOND, SECOND))
    draft = Draft(statements=told, verdict=Verdict(value=VerdictValue.YES, statements=(false, SECOND)))
    verified = asyncio.run(verifier.verify(draft, {EVIDENCE.id: EVIDENCE}))
    assert [s.text for s in verified.statements] == [SECOND]
    assert verified.verdict is None


def cited(text: str, *quotes: str) -> tuple[Statement, list[Evidence]]:
    items = [
        Evidence(id=f"library:d{n}@0-{len(q)}", text=q, kind="condition", origin=Origin.RETRIEVED)
        for n, q in enumerate(quotes)
    ]
    found = tuple(cite(e, 0, len(e.text)) for e in items)
    return Statement(text=text, origin=Origin.RETRIEVED, citations=found), items


@pytest.mark.parametrize(
    ("text", "quotes", "disagrees"),
    [
        (
            "Pain that follows a meal and comes without chills or a rash is typical of simple stone colic.",
            ("The pain often follows a meal.", "Chills, a rash and tenderness are absent in simple stone colic."),
            "",
        ),
        (
            "A seizure, repeated retching with fever or unusual sleepiness needs an ambulance.",
            ("Call an ambulance for a seizure, repeated retching with fever, or unusual sleepiness.",),
            "",
        ),
        ("Fever is usual in measles with a rash.", ("Fever is unusual in measles with a rash.",), "negation"),
        ("Fever is absent in simple stone colic.", ("Simple stone colic has no fever.",), ""),
        ("Mania lasts eight days here.", ("躁狂已持续八天。",), ""),
        ("Mania lasts nine days here.", ("躁狂已持续八天。",), "numbers"),
    ],
)
def test_what_is_absent_may_be_said_with_a_denial_or_without(
    text: str, quotes: tuple[str, ...], disagrees: str
) -> None:
    assert check(*cited(text, *quotes)).disagrees == disagrees


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("地塞米松单剂可缓解喉炎，无需抗生素。", ""),
        ("地塞米松6小时内可缓解喉炎。", ""),
        ("地塞米松8小时内可缓解喉炎。", "numbers"),
        ("地塞米松两小时内可缓解喉炎。", "numbers"),
        ("Amoxicillin 可缓解喉炎，地塞米松不能。", "medicine"),
    ],
)
def test_of_a_statement_in_another_language_than_its_quote_only_figures_and_medicines_are_held(
    text: str, fault: str, encoder: Encoder
) -> None:
    said = quoting(text, "Dexamethasone relieves croup within 6 hours.")
    assert QuoteCheck(encoder).fault(said, {EVIDENCE.id: EVIDENCE}) == fault
    assert [s.text for s in verify(VerifierLocal(encoder), said).statements] == ([] if fault else [text])


def test_numerals_of_either_language_are_figures_before_a_unit_and_no_others() -> None:
    assert numbers("八天，十二岁，三十五周，两到四小时，一次") == {"8", "12", "35", "2", "4"}
    assert numbers("两三个小时，十全大补，二尖瓣，三个问题") == set()
