"""What a question names and its answer does not speak of is told, in the words of whoever asked."""

from __future__ import annotations

import pytest

from graphs.answering.contract import Answer
from graphs.answering.notices import uncovered
from graphs.answering.presentation import present
from tools.contract import Notice
from tools.evidence import Evidence, Origin, Statement, cite

MIGRAINE = (
    "For preventing migraine in adults, how does propranolol compare with topiramate, including in pregnancy and in "
    "people over 75?"
)
OFFERED = "Prevention is offered when attacks are frequent: propranolol, topiramate (not in pregnancy)."


@pytest.mark.parametrize(
    ("question", "said", "left"),
    [
        (MIGRAINE, OFFERED, ["people over 75", "how it compares with topiramate"]),
        (MIGRAINE, f"{OFFERED} In older people propranolol works as well as topiramate.", []),
        ("How is gout treated, including in chronic kidney disease?", "Colchicine helps.", ["chronic kidney disease"]),
        ("How is gout treated in adults and in children?", "Colchicine helps.", ["children"]),
        ("Is allopurinol safe in chronic kidney disease?", "It is started low.", []),  # whom all of it is about
        ("Do steroids help in children with croup?", "Dexamethasone shortens it.", []),
        ("Does it help in adults, and in breastfeeding?", "Little passes into breast milk.", []),
        ("Is apixaban better than warfarin?", "It bleeds less.", ["how it compares with warfarin"]),
        ("Is apixaban better than warfarin?", "It prevents stroke at least as well as warfarin.", []),
        ("Does colchicine compared with NSAIDs work better?", "It is mild.", ["how it compares with NSAIDs"]),
        ("Is ibuprofen better than paracetamol for pain?", "Ibuprofen is superior to acetaminophen.", []),
        ("warfarin vs apixaban in AF?", "It bleeds less.", ["how it compares with apixaban"]),
        ("Is it enterovirus vs HSV?", "It is viral.", []),
        ("Does aspirin help a 34-year-old after a tubal pregnancy?", "It thins the blood.", []),
        ("Does exercise help older adults?", "It helps.", []),
        ("Do statins lower deaths compared with placebo?", "Statins lower deaths.", []),
        ("Is pain worse than before common?", "Pain is common.", []),
        ("2型糖尿病成人的血压目标是多少，80岁以上的人呢？", "Type 2 diabetes is common.", ["80岁以上的人"]),
        ("阿哌沙班是否优于华法林？", "It bleeds less.", []),  # a Chinese name is not looked for in English
    ],
)
def test_only_what_nothing_speaks_of_is_left(question: str, said: str, left: list[str]) -> None:
    assert uncovered(question, [said], "en") == left


@pytest.mark.parametrize("kind", ["evidence", "case"])
def test_it_is_told_right_under_the_answer_and_nowhere_else(kind: str) -> None:
    item = Evidence(id=f"library:x@0-{len(OFFERED)}", text=OFFERED, title="X", kind="x", origin=Origin.RETRIEVED)
    said = Statement(text=OFFERED, origin=item.origin, citations=(cite(item, 0, len(OFFERED)),))
    notice = Notice(code="not_covered", text="Not covered by what was found: people over 75.")
    answer = Answer(question=MIGRAINE, kind=kind, language="en", statements=[said], evidence=[item], notices=[notice])
    shown = present(answer)
    assert (notice.text in shown.lead.facts) == (kind == "evidence")
    assert [label.notice for label in shown.labels] == ([] if kind == "evidence" else [notice])
    assert answer.to_markdown().count("people over 75") == 1
