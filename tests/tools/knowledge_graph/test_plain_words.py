"""Lacks that are told as negations, what one does well, and findings that are told by words of their own."""

from __future__ import annotations

import pytest

from tools.knowledge_graph.lookup import KnowledgeGraph


def told(graph: KnowledgeGraph, case: str, finding: str) -> bool | str | None:
    """How a case tells of a finding; "nothing" where it does not."""
    return next((f.present for f in graph.look_up(case).findings if f.id == finding), "nothing")


@pytest.mark.parametrize(
    ("case", "finding"),
    [
        ("I haven't been able to pee since last night although I feel I must.", "urinary-retention"),
        ("My husband has not managed to pee since yesterday evening.", "urinary-retention"),
        ("I can't pass water.", "urinary-retention"),
        ("She has red spots that don't go when I press a glass on them.", "petechiae"),
        ("I pressed a glass on the spots and they did not fade.", "petechiae"),
        ("The rash does not disappear under a tumbler.", "petechiae"),
        ("The spots on her leg stay the same when pressed.", "petechiae"),
        ("He doesn't keep any fluids down.", "vomiting"),
        ("I am not able to straighten my finger.", "reduced-joint-movement"),
        ("I haven't been able to open my mouth properly.", "jaw-spasm"),
        ("He can no longer walk.", "unable-to-walk"),
        ("I don't enjoy anything any more.", "loss-of-interest"),
        ("She no longer takes any interest in her grandchildren.", "loss-of-interest"),
        ("I don't find pleasure in things I used to like.", "loss-of-interest"),
        ("I don't have any energy.", "fatigue"),
        ("He doesn't have an appetite.", "loss-of-appetite"),
        ("She hasn't been eating for days.", "loss-of-appetite"),
        ("I'm not sleeping.", "difficulty-sleeping"),
        ("He hasn't had his jabs.", "immunisation-not-up-to-date"),
        ("I eat no meat at all.", "poor-diet-low-iron"),
        ("从昨晚起一直尿不出来。", "urinary-retention"),
        ("身上有红点，压之不褪色。", "petechiae"),
        ("吃不下。", "loss-of-appetite"),
        ("晚上睡不着觉。", "difficulty-sleeping"),
        ("对什么都不感兴趣。", "loss-of-interest"),
        ("睡得很少但不觉得累。", "less-need-for-sleep"),
        ("疫苗没有打全。", "immunisation-not-up-to-date"),
        ("My flatmate is scratching as well.", "household-also-itching"),
        ("夜里痒得厉害。", "itching-worse-at-night"),
    ],
)
def test_a_lack_told_as_a_negation_is_present(starter_graph: KnowledgeGraph, case: str, finding: str) -> None:
    assert told(starter_graph, case, finding) is True


@pytest.mark.parametrize(
    ("case", "finding"),
    [
        ("The rash faded when I pressed a glass on it.", "petechiae"),
        ("She has red spots that fade when I press a glass on them.", "petechiae"),
        ("按压褪色的皮疹。", "petechiae"),
        ("I still enjoy my hobbies.", "loss-of-interest"),
        ("My arms are strong.", "limb-weakness"),
        ("I speak clearly.", "slurred-speech"),
        ("I pass wind.", "obstipation"),
        ("I sleep well and eat well.", "difficulty-sleeping"),
        ("I can straighten my knee.", "reduced-joint-movement"),
        ("I am able to walk.", "unable-to-walk"),
        ("Her vaccinations are complete.", "immunisation-not-up-to-date"),
        ("He's had all his childhood immunisations.", "immunisation-not-up-to-date"),
        ("疫苗都按时打了。", "immunisation-not-up-to-date"),
        ("She eats plenty of meat.", "poor-diet-low-iron"),
        ("No fever, no sweats at night.", "night-sweats"),
        ("没有睡不着。", "difficulty-sleeping"),
    ],
)
def test_what_one_does_well_denies_its_lack(starter_graph: KnowledgeGraph, case: str, finding: str) -> None:
    assert told(starter_graph, case, finding) is False


@pytest.mark.parametrize(
    ("case", "finding"),
    [
        ("The rash has not gone away. I take tablets for blood pressure.", "petechiae"),
        ("I don't enjoy spicy food.", "loss-of-interest"),
        ("I have not eaten anything unusual.", "loss-of-appetite"),
        ("I have not had the flu jab.", "immunisation-not-up-to-date"),
        ("He had his vaccinations yesterday and now has a fever.", "immunisation-not-up-to-date"),
        ("I took two co-codamol for the headache.", "paracetamol-overdose-taken"),
        ("He took 1 g of paracetamol.", "paracetamol-overdose-taken"),
        ("I have itchy bumps on my wrists.", "wrist-smooth-lump"),
        ("She fell down the stairs.", "falls"),
        ("我很担心。", "anxiety"),
        ("男，22岁，体重60 kg。", "weight-loss"),
        ("末次月经10天前。", "after-menopause"),
        ("BP lying 128/80 and standing 126/82.", "standing-job"),
        ("It is our first baby. The vomit is never green.", "first-pregnancy"),
        ("The vomit is never green.", "no-fruit-or-vegetables"),
        ("He is not eating and not drinking.", "alcohol-use"),
        ("Wt 47 kg, afebrile.", "weight-loss"),
        ("TSH normal.", "low-tsh"),
        ("A loud rushing noise in my left ear.", "noise-exposure"),
        ("A loud rushing noise in my left ear.", "pulse-sound-in-ears"),
        ("Creatinine 187. Does she need dialysis?", "kidney-failure-history"),
        ("Cough, no respiratory distress.", "breathing-trouble-from-birth"),
        ("My son has had a tummy bug for two days.", "recent-gastroenteritis"),
        ("Fell off a ladder. No LOC.", "loss-of-consciousness-after-injury"),
    ],
)
def test_what_has_not_the_words_of_a_finding_tells_nothing_of_it(
    starter_graph: KnowledgeGraph, case: str, finding: str
) -> None:
    assert told(starter_graph, case, finding) == "nothing"


@pytest.mark.parametrize(
    ("case", "finding"),
    [
        ("She swallowed 16 paracetamol at once.", "paracetamol-overdose-taken"),
        ("He took his whole pack of paracetamol.", "paracetamol-overdose-taken"),
        ("There is a firm round lump on my wrist.", "wrist-smooth-lump"),
        ("She keeps falling.", "falls"),
        ("She is anxious and on edge.", "anxiety"),
        ("I wake up drenched at night.", "night-sweats"),
        ("体重下降5公斤。", "weight-loss"),
        ("Years of work at noisy machines, exposed to loud noise.", "noise-exposure"),
        ("A whooshing noise in time with my pulse.", "pulse-sound-in-ears"),
        ("She is on dialysis.", "kidney-failure-history"),
        ("He had a tummy bug last month.", "recent-gastroenteritis"),
        ("Woman of 44 with dry eyes and mouth for a year.", "dry-mouth"),
    ],
)
def test_what_has_them_tells_of_it(starter_graph: KnowledgeGraph, case: str, finding: str) -> None:
    assert told(starter_graph, case, finding) is True


@pytest.mark.parametrize(
    ("case", "finding", "present"),
    [
        ("Suspicious of everybody for months, but no voices.", "loss-of-voice", "nothing"),
        ("Suspicious of everybody for months, but no voices.", "hearing-voices", False),
        ("She has had no voice since the concert.", "loss-of-voice", True),
        ("He denies hearing voices or seeing things that are not there.", "visual-hallucinations", False),
        ("My breast is tender. There is no lump that I can feel.", "lump-in-throat", "nothing"),
        ("My breast is tender. There is no lump that I can feel.", "abdominal-mass", "nothing"),
        ("I cannot feel any lump in my testicle.", "painless-testicular-lump", False),
        ("He taps the door again and again and avoids touching handles.", "compulsive-rituals", True),
        ("He taps the door again and again and avoids touching handles.", "avoidance-of-places", "nothing"),
        ("Since the attacks she avoids crowded places.", "avoidance-of-places", True),
        ("I bring up my lunch most days.", "vomiting", True),
        ("I bring up green phlegm.", "vomiting", "nothing"),
        ("It hurts to have a poo.", "pain-on-passing-stool", True),
        ("There is no pain on opening my bowels.", "pain-on-passing-stool", False),
        ("解大便时疼。", "pain-on-passing-stool", True),
        ("No difficulty passing urine.", "urinary-frequency", "nothing"),
        ("No difficulty passing urine.", "urinary-retention", False),
        ("She hasn't stopped smoking.", "smoking", True),
        ("She hasn't stopped smoking.", "smoking-stopped", "nothing"),
        ("他一直没有戒烟。", "smoking", True),
        ("Allergies: morphine (nausea).", "nausea", "nothing"),
        ("No fever, swollen knee R, warm.", "joint-swelling", True),
        ("No fever, swollen knee R, warm.", "fever", False),
        ("Known migraine. The headache is one-sided.", "migraine-aura", "nothing"),
        ("Known migraine. The headache is one-sided.", "migraine-history", True),
        ("A pregnancy test is negative and she feels well.", "positive-pregnancy-test", False),
        ("The core biopsy came back as benign.", "malignant-biopsy", False),
        ("The core biopsy came back as cancer.", "malignant-biopsy", True),
        ("Vomiting, abdomen distended, BNO 4/7.", "constipation", True),
        ("He had non-bilious vomiting after each feed.", "bilious-vomiting", "nothing"),
        ("Fine crackles at both bases.", "crackles", "nothing"),
        ("RUQ pain after meals.", "right-iliac-fossa-pain", "nothing"),
        ("Her feet are cold when everyone else is warm, and she is constipated.", "constipation", True),
        ("My wife and I are both itching at night.", "itching-worse-at-night", True),
        ("Red eye without discharge.", "vaginal-discharge", "nothing"),
        ("A cough for a week. No pain.", "flank-pain", "nothing"),
        ("His knee jerks are brisk.", "reduced-reflexes", "nothing"),
        ("He keeps scratching his bottom at bedtime.", "anal-itching", True),
        ("A hard lump in her breast that does not move.", "hard-fixed-lump", True),
        ("Allergies: morphine (nausea).", "opioid-use", "nothing"),
        ("My calf is swollen since I flew back from Thailand.", "back-pain", "nothing"),
        ("My back is sore since I flew back from Thailand.", "back-pain", True),
        ("Off my food and my bowels moved this morning.", "constipation", False),
        ("Takes vitamin D. Aching legs.", "low-vitamin-d", "nothing"),
        ("Vitamin D was low.", "low-vitamin-d", True),
        ("No hallucinations. She imagined she saw children in the garden.", "visual-hallucinations", False),
        ("He imagines he sees spiders on the wall.", "visual-hallucinations", True),
    ],
)
def test_what_plain_words_say_and_deny(
    starter_graph: KnowledgeGraph, case: str, finding: str, present: bool | str
) -> None:
    assert told(starter_graph, case, finding) == present


@pytest.mark.parametrize(
    ("case", "finding"),
    [
        ("Lungs: clear.", "crackles"),
        ("Lungs: clear.", "wheeze"),
        ("HS I+II+0.", "heart-murmur"),
        ("PEARL.", "unequal-pupils"),
        ("Fundi NAD.", "papilloedema"),
        ("Light touch intact.", "numbness"),
        ("UL/LL power 5/5.", "limb-weakness"),
        ("Moving all four limbs.", "limb-weakness"),
        ("Abdo SNT.", "abdominal-tenderness"),
        ("AF flat.", "bulging-fontanelle"),
        ("Her tongue is pink.", "cyanosis"),
        ("She makes plenty of wet nappies.", "fewer-wet-nappies"),
    ],
)
def test_what_notes_find_as_it_should_be_is_denied(starter_graph: KnowledgeGraph, case: str, finding: str) -> None:
    assert told(starter_graph, case, finding) is False


@pytest.mark.parametrize(
    ("case", "finding"),
    [
        ("Neck supple.", "neck-stiffness"),
        ("Light touch intact.", "photophobia"),
        ("BS present.", "absent-bowel-sounds"),
        ("Foot pulses present.", "absent-foot-pulses"),
        ("AF soft.", "arrhythmia-history"),
        ("Speech: normal rate.", "slurred-speech"),
        ("EtOH rarely.", "heavy-drinking"),
        ("My knee is swollen. It is just sore.", "painful-eye"),
        ("Nobody fell. No LOC.", "loss-of-consciousness-after-injury"),
        ("My toes are going numb.", "toe-numbness"),
        ("Echo: moderate mitral regurgitation.", "acid-regurgitation"),
        ("I am warm while everybody else is freezing.", "cold-intolerance"),
        ("My hearing is good.", "hearing-loss"),
        ("3y2m M. HR 116.", "fast-heart-rate"),
        ("Born at 32/40.", "late-pregnancy"),
    ],
)
def test_what_notes_do_not_tell_is_not_stated(starter_graph: KnowledgeGraph, case: str, finding: str) -> None:
    assert told(starter_graph, case, finding) is not True


def test_spots_that_do_not_blanch_are_petechiae(starter_graph: KnowledgeGraph) -> None:
    assert told(starter_graph, "Skin: non-blanching spots on trunk.", "petechiae") is True
