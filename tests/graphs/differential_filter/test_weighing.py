"""What was read raises and lowers the diagnoses that it is about, in the direction that is stated beforehand."""

from __future__ import annotations

from graphs.differential_filter.contract import Stance, Verdict
from graphs.nodes.filter import weighed
from tools.contract import Differential, RankedDisease
from tools.evidence import Evidence, Origin


def line(disease: str, score: float) -> RankedDisease:
    named = {"name": disease.title(), "icd10": "A00", "l2": "x", "l1": "y", "severity": "mild"}
    return RankedDisease(disease=disease, score=score, evidence_id=f"graph:starter/{disease}", **named)


def read(*pairs: tuple[str, Stance]) -> tuple[list[Evidence], list[Verdict]]:
    documents = [
        Evidence(id=f"library:{name}@0-4", text="text", title=name.title(), kind="passage", origin=Origin.RETRIEVED)
        for name, _ in pairs
    ]
    verdicts = [
        Verdict(evidence_id=d.id, keep=stance is Stance.SUPPORTS, stance=stance, support=0.5, reason="r")
        for d, (_, stance) in zip(documents, pairs, strict=True)
    ]
    return documents, verdicts


LOOK = Differential(ranking=(line("croup", 0.4), line("influenza", 0.3), line("asthma", 0.2)))


def scores(*pairs: tuple[str, Stance]) -> dict[str, float]:
    return {d.disease: round(d.score, 3) for d in weighed(LOOK, *read(*pairs)).differential.ranking}


def test_support_raises_conflict_lowers_and_the_order_follows() -> None:
    after = weighed(LOOK, *read(("influenza", Stance.SUPPORTS), ("croup", Stance.CONFLICTS)))
    assert [d.disease for d in after.differential.ranking] == ["influenza", "croup", "asthma"]
    assert (after.raised, after.lowered) == (("influenza",), ("croup",))
    assert scores(("influenza", Stance.SUPPORTS)) == {"influenza": 0.45, "croup": 0.3, "asthma": 0.15}  # 0.9 in all
    first, second, _ = after.differential.ranking
    assert after.differential.margin == first.score - second.score


def test_what_was_not_judged_counts_as_handed_on_and_what_is_irrelevant_as_nothing() -> None:
    assert scores(("influenza", Stance.RELEVANT)) == scores(("influenza", Stance.SUPPORTS))
    for nothing in ((), (("croup", Stance.IRRELEVANT),), (("gout", Stance.SUPPORTS),)):
        assert weighed(LOOK, *read(*nothing)) == (LOOK, (), ())


def test_a_disease_counts_once_and_opposite_stances_cancel_out() -> None:
    twice = scores(("influenza", Stance.SUPPORTS), ("influenza", Stance.SUPPORTS))
    assert twice == scores(("influenza", Stance.SUPPORTS))
    both = scores(("influenza", Stance.SUPPORTS), ("influenza", Stance.CONFLICTS))
    assert both == {d.disease: d.score for d in LOOK.ranking}
    assert weighed(Differential(), *read(("croup", Stance.SUPPORTS))).differential == Differential()
