"""Red flags: every emergency of the collection, few false ones, and what does not count."""

from __future__ import annotations

import pytest

from graphs.triage.emergency import by_words, emergencies, is_steady, red_flags, telling
from support.written import rows
from tools.text.language import language_of

BENIGN = (
    "cluster-headache gerd anaemia viral-pharyngitis acute-laryngitis allergic-sinusitis urti acute-bronchitis "
    "acute-otitis-media chronic-rhinosinusitis acute-rhinosinusitis stable-angina localised-oedema inguinal-hernia "
    "bronchiectasis"
).split()


def codes(text: str, language: str = "en", *, exam: bool = False) -> set[str]:
    return {flag.code for flag in red_flags(text, language, exam=exam)}


def test_every_emergency_of_the_collection_is_flagged() -> None:
    missed = [r["id"] for r in rows("emergencies") if r["emergency"] and not codes(r["text"], r["language"])]
    assert missed == []


def test_at_most_one_in_twenty_of_the_others_is_flagged() -> None:
    others = [r for r in rows("emergencies") if not r["emergency"]]
    false = [r["id"] for r in others if codes(r["text"], r["language"])]
    assert len(false) <= 0.05 * len(others), false


def test_benign_cases_are_hardly_ever_flagged() -> None:
    false = [r["disease"] for r in rows("differential") if r["disease"] in BENIGN and codes(r["text"])]
    assert len(false) <= 1, false


@pytest.mark.parametrize("name", ["questions", "decline"])
def test_questions_about_topics_are_not_flagged(name: str) -> None:
    kinds = ("evidence", "no_evidence", "multiple_choice", "small_talk", "out_of_scope")
    topics = [r for r in rows(name) if r["kind"] in kinds]
    false = [r["id"] for r in topics if codes(r["text"], r["language"], exam=r["kind"] == "multiple_choice")]
    assert false == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("72F sudden onset R facial droop and R arm weakness since 0900", "stroke"),
        ("Ate a peanut cookie and now my face is swelling and I can't breathe properly", "anaphylaxis"),
        ("baby 5 weeks old with a temperature of 38.6", "infant"),
        ("my friend texted me that she is going to kill herself", "suicide"),
        ("My daughter drank some weed killer", "poisoning"),
        ("I took 30 sertraline tablets", "poisoning"),
        ("She's 34 weeks pregnant with a terrible headache and flashing lights", "pre_eclampsia"),
        ("a snake bit my ankle ten minutes ago and it is swelling fast", "venom"),
        ("T1DM, vomiting for a day, ketones 4.5, breathing deep and fast", "diabetic_ketoacidosis"),
        ("having chemotherapy and now I have a fever of 38.4", "sepsis"),
        ("back pain and I have lost control of my bladder", "cauda_equina"),
        ("worst headache of my life, came on like a thunderclap an hour ago", "brain_bleed"),
        ("my leg has gone cold, white and numb suddenly", "limb_ischaemia"),
        ("24M collapsed, BP 82/46, generalised urticaria", "shock"),
        ("我胸口剧痛，出冷汗，左胳膊发麻", "heart_attack"),
        ("宝宝两个月，发烧39度", "infant"),
        ("我吞了一整瓶安眠药", "poisoning"),
    ],
)
def test_an_emergency_has_its_code(text: str, code: str) -> None:
    language = "zh" if text[0] >= "\u4e00" else "en"
    assert code in codes(text, language)


@pytest.mark.parametrize(
    "text",
    [
        "What are the symptoms of a heart attack?",
        "I had a heart attack in 2010 and feel fine",
        "No crushing chest pain, no sweating, and it does not go to the arm",
        "Denies chest pain, sweating, arm pain or breathlessness",
        "What should I do if someone has crushing chest pain?",
        "Is suicide more common in winter?",
        "I had suicidal thoughts ten years ago but have been well since",
        "Took two paracetamol at noon and the headache is gone",
        "28 weeks pregnant with heartburn after meals",
        "心梗有哪些前兆？",
        "没有胸痛，没有出冷汗，只是有点累",
    ],
)
def test_denied_past_imagined_and_textbook_signs_are_no_emergency(text: str) -> None:
    assert codes(text, "zh" if text[0] >= "\u4e00" else "en") == set()


def test_what_is_present_counts_beside_what_is_denied_or_past() -> None:
    assert "heart_attack" in codes("No fever, but crushing chest pain since this morning")
    assert "heart_attack" in codes("I had a heart attack in 2010 and now I have crushing chest pain")
    assert codes("He can't breathe")  # the "can't" is the sign, no denial
    assert codes("My mum is unconscious and I can't wake her")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "A woman of 24 has hives, wheeze and low blood pressure 10 minutes after eating peanuts.",
            "anaphylaxis",
        ),
        ("He took about 40 propranolol tablets an hour ago.", "poisoning"),
        ("She swallowed 30 pills in one go.", "poisoning"),
        ("No hives, no wheeze, blood pressure normal after the peanuts.", ""),
        ("Hives on the arms after strawberries, breathing easily.", ""),
        ("She has taken 28 tablets over the last month as prescribed.", ""),
    ],
)
def test_hives_with_wheeze_and_many_tablets_are_told_by_words(text: str, code: str) -> None:
    assert [flag.code for flag in by_words(text, "en")] == ([code] if code else [])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "Sciatica for years. Since last night he can't feel the toilet paper and has not peed.",
            "cauda_equina",
        ),
        ("Hi there. My wife has a bad back and her legs tingle, numb between her legs since noon.", "cauda_equina"),
        ("Numb down below for years after the birth, and a bad back for years.", ""),
        ("Saddle sore after a long ride, back aches.", ""),
        ("Black stools since Friday, he is pale and light-headed.", "severe_bleeding"),
        ("黑便两天，今天头晕出冷汗", "severe_bleeding"),
        ("My stools are black since I take iron, otherwise well.", ""),
        ("No melaena. A bit dizzy today.", ""),
        ("My dad is on apixaban and his poo has been black and tarry since yesterday.", "severe_bleeding"),
        ("Black stools on iron tablets, not on any blood thinner.", ""),
        ("My four year old has had diarrhoea since Monday and is floppy this evening.", "emergency"),
        ("My son walks with a limp since football yesterday.", ""),
    ],
)
def test_a_numb_saddle_and_black_stools_with_faintness_are_told_by_words(text: str, code: str) -> None:
    assert [flag.code for flag in by_words(text, language_of(text))] == ([code] if code else [])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I had my baby 9 days ago and my breast is hard and red, I am shivering with a temp of 38.9.", "infant"),
        ("61M with sudden severe pain low on one side of the belly, vomiting.", "ovarian_torsion"),
        (
            "44F, confused, heart racing after her neck operation, Ca low, cramps of the hands",
            "thyroid_storm",
        ),
    ],
)
def test_none_is_named_that_the_patient_cannot_have_or_that_is_not_sure(text: str, code: str) -> None:
    assert code not in codes(text)


def test_what_numbers_show_is_told_without_a_guess_beside_it() -> None:
    found = codes("67M with rigors and green sputum, RR 30, SpO2 90% on air, BP 88/54")
    assert found == {"shock", "breathing_failure"}


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("孩子两岁，发烧38.9度，精神还行。布洛芬和对乙酰氨基酚交替吃，比只吃一种更好吗？", False),
        ("成人发烧39度，咳嗽，有痰。", False),
        ("孩子发烧39度，抽搐了两分钟，现在叫不醒。", True),
        ("化疗后第十天发烧38.5度。", True),
        ("宝宝2个月，发烧38.6度。", True),
    ],
)
def test_a_chinese_fever_alone_is_no_emergency(text: str, flagged: bool) -> None:
    assert bool(red_flags(text, "zh")) is flagged


def test_a_face_that_dropped_with_its_forehead_is_not_told_by_words_alone() -> None:
    assert [f.code for f in by_words("Her face dropped this morning, the mouth is drooping.", "en")] == ["stroke"]
    assert not by_words("Since this morning her mouth is drooping and the forehead does not move either.", "en")


def test_a_vignette_of_an_examination_is_nobody() -> None:
    text = "A 19-year-old girl has hives all over, is wheezing and feels faint minutes after a bee sting. What now?"
    assert codes(text, exam=True) == set()
    assert "anaphylaxis" in codes(text)
    assert codes("I can't breathe and my tongue is swelling. A) wait B) call an ambulance", exam=True)


@pytest.mark.parametrize("text", ["She is worried.", "She is 80", "ok so what now", "He is sad"])
def test_a_few_words_are_no_emergency_unless_they_say_so_plainly(text: str) -> None:
    assert codes(text) == set()
    assert red_flags(text, "en", alone=False) == ()


def test_a_flag_quotes_the_message_and_advises_in_its_language() -> None:
    english = red_flags("I'm going to kill myself tonight", "en")[0]
    assert "kill myself" in english.seen
    assert "emergency number" in english.advice
    chinese = red_flags("我不想活了", "zh")[0]
    assert "不想活" in chinese.seen
    assert "120" in chinese.advice


@pytest.mark.parametrize(
    "text",
    [
        "24F, haemoptysis 200 ml over 6 h, known cystic fibrosis",
        "A 28-year-old man has coughed up blood twice since last night, about half a cup each time.",
        "28 year old with haemoptysis and breathlessness.",
        "咯血伴呼吸困难",
        "吃抗凝药，今天开始咯血，一次比一次多",
    ],
)
def test_much_blood_coughed_up_or_with_breathlessness_is_an_emergency(text: str) -> None:
    assert "haemoptysis" in codes(text, language_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "coughed blood years ago when I had TB, cured, just asking about a check",
        "He had a massive haemoptysis in 2015, embolised, no bleeding since.",
        "denies haemoptysis, denies night sweats, chronic productive cough, breathless on stairs",
        "A 61-year-old smoker has had a cough for three months, haemoptysis, weight loss and is breathless on hills.",
        "How is massive haemoptysis treated?",
        "痰里有一点血丝三周，人没别的不舒服，想约检查",
    ],
)
def test_a_little_blood_or_that_of_weeks_or_years_ago_is_none(text: str) -> None:
    assert codes(text, language_of(text)) == set()


@pytest.mark.parametrize(
    "text",
    [
        (
            "32-year-old woman with known lupus: three months of fatigue, fever of 37.8, photosensitive rash, "
            "alopecia, arthralgia of the wrists, headache and poor concentration. ANA 1:1280, anti-dsDNA positive, "
            "C3 low, proteinuria 1.2 g/day."
        ),
        "Lupus patient, ANA positive, tired, joint pain.",
    ],
)
def test_lupus_of_months_and_its_serology_are_no_emergency(text: str) -> None:
    assert codes(text) == set()


def test_what_is_grave_or_fresh_within_months_of_illness_is_one() -> None:
    lasting = "Woman of 32 with lupus, three months of fatigue and rash, and since this morning "
    assert "heart_attack" in codes(f"{lasting}crushing chest pain into the left arm.")
    assert not is_steady(f"{lasting}she cannot be woken.")


@pytest.mark.parametrize(
    "beside",
    [
        "He is 63, not 36.",
        "I work in an office and have two cats.",
        "She lives with her sister in a small flat near the river and walks the dog in the morning.",
        "Thank you for reading this long message.",
    ],
)
def test_no_harmless_sentence_takes_a_notice_away(beside: str) -> None:
    grave = [r["text"] for r in rows("emergencies") if r["emergency"] and r["language"] == "en"]
    told = [text for text in grave if text.endswith(".") and codes(text)]
    assert [text for text in told if not codes(f"{text} {beside}")] == []
    assert len(told) > 10


def test_curly_apostrophes_and_wrapped_lines_change_nothing() -> None:
    assert codes("I can’t breathe") == codes("I can't breathe") != set()
    assert "heart_attack" in codes("crushing pain in the middle of\nhis chest going down his left arm")


def test_every_emergency_can_be_told_in_both_languages() -> None:
    for emergency in emergencies().named.values():
        for texts in (emergency.name, emergency.advice):
            assert texts["en"], emergency.code
            assert texts["zh"], emergency.code


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("She has been taking 75 mg aspirin daily.", False),
        ("He is taking 20mg sertraline and sleeps well.", False),
        ("He took 40 paracetamol tablets an hour ago.", True),
        ("She took 30 tablets of 500 mg paracetamol last night.", True),
    ],
)
def test_a_dose_is_no_count_of_tablets(text: str, flagged: bool) -> None:
    assert ("poisoning" in codes(text)) is flagged


@pytest.mark.parametrize(
    "text",
    [
        "我想吃安眠药自杀",
        "我不想活了",
        "I wish I was dead",
        "I don't want to be here any more",
        "My brother says he wants to kill himself",
        "I took 30 ibuprofen an hour ago because I wanted to die",
        "Should I end my life?",
        "My husband keeps saying that the boys are better off without him",
        "She told the midwife her children would be better off without her.",
        "They'd all be better off without me",
        "he feels he can't go on any longer",
        "I hope I never wake up again",
        "She wishes she wouldn't wake up in the morning",
        "there is no reason to go on living",
        "It would be better if I weren't around",
        "他总说家人没有他会更轻松",
        "真希望睡着了就再也不醒",
        "我真的撑不下去了",
    ],
)
def test_a_wish_to_die_is_never_missed(text: str) -> None:
    found = {f.code: f for f in by_words(text, language_of(text))}
    assert not found["suicide"].diagnosed
    assert "findahelpline.com" in found["suicide"].advice


@pytest.mark.parametrize(
    "text",
    [
        "Do antidepressants make people want to die?",
        "She denies any plan to end her life",
        "two years ago I wanted to die, I am fine now",
        "我不想死，只是想知道我的病能不能治",
        "I do not want to die of this cough",
        "I was afraid that I was about to die",
        "My lips tingle and I feel as if I am going to die",
        "I thought I was going to die, it was a panic attack",
        "My knee is better off without the brace",
        "Would she be better off without her gallbladder?",
        "He says he is better off without her since the divorce",
        "I can't go on a plane with this ear",
        "I wish I wouldn't wake up so early every day",
        "I hope I don't wake up with a migraine",
        "She never said that the family would be better off without her",
        "停了没有他的药会更好吗",
        "这个药我坚持不下去",
    ],
)
def test_words_of_death_that_are_no_wish_raise_nothing(text: str) -> None:
    assert by_words(text, language_of(text)) == ()


def test_misspelt_words_reach_the_head_as_they_were_meant() -> None:
    assert codes("one calf is bigger than the other and I have shortness of breth since lunch")
    assert not codes("my brekfast was lovly and I feel fine")


def test_a_notice_quotes_the_words_that_set_it_off_and_not_the_whole_message() -> None:
    text = "My dad works in a bank, he likes gardening, and he has crushing chest pain into the left arm since noon."
    (flag,) = red_flags(text, "en")
    assert "crushing chest pain" in flag.seen
    assert "gardening" not in flag.seen
    (wish,) = by_words("I moved house in May, and now I want to end my life.", "en")
    assert "end my life" in wish.seen
    assert "May" not in wish.seen
    (twisted,) = red_flags("It looks odd. My son of 13 woke with terrible pain in his testicle, being sick.", "en")
    assert "testicle" in twisted.seen
    fallen = telling("My gran fell and isn't awake properly, her lips are not blue but she is grey and sweaty.")
    assert "grey" in fallen
    assert "not blue" not in fallen


@pytest.mark.parametrize(
    "text",
    [
        "79F, takes nine different tablets a day, a bit muddled this week",
        "31 weeks pregnant, it stings when I wee, no bleeding, no fever",
        "怀孕31周，排尿刺痛，没有发热",
        "May he have bisoprolol? He has asthma",
        "He has asthma. Could he take timolol?",
        "throat is raw and there are lumps in my nek, hurts when I swallow",
        "tender glands in the neck, a sore throat, pain on swallowing",
        "喉咙疼，脖子上的淋巴结肿了",
    ],
)
def test_what_only_resembles_an_emergency_raises_none(text: str) -> None:
    assert codes(text, language_of(text)) == set()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("He swallowed eight pills in one go", "poisoning"),
        ("她一口气吃了二十片药", "poisoning"),
        ("She took all of her ten medicines at once and is drowsy", "poisoning"),
        ("31 weeks pregnant, bleeding since noon", "pregnancy_bleeding"),
        ("31 weeks pregnant, it burns when I wee, bad headache and flashing lights", "pre_eclampsia"),
        ("He is having an asthma attack, should I call?", "severe_asthma"),
        ("sore throat, lumps in the neck, drooling", "airway"),
        ("sore throat and swollen glands, noisy breathing, cannot swallow", "airway"),
        ("嗓子疼，脖子肿，流口水", "airway"),
    ],
)
def test_what_such_a_complaint_may_hide_is_told(text: str, code: str) -> None:
    assert code in codes(text, language_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "My aunt is 86 and takes thirteen different tablets. She has been confused since last night.",
        "A man of 81 on eleven regular drugs, muddled since Friday",
        "老人85岁，平时吃十几种药，昨天开始糊涂",
    ],
)
def test_how_many_medicines_are_taken_is_no_poisoning(text: str) -> None:
    assert "poisoning" not in codes(text)
    assert not any("poison" in flag.advice for flag in red_flags(text, language_of(text)))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("68岁女性，胸痛两小时，冷汗淋漓。", "heart_attack"),
        ("男性，59岁，心前区压榨样痛，向左肩放射", "heart_attack"),
        ("19岁男性，发高烧，脖子很僵，怕光", "meningitis"),
    ],
)
def test_a_chinese_message_that_names_the_patient_first_alarms_as_without(text: str, code: str) -> None:
    assert code in codes(text, "zh")


@pytest.mark.parametrize(
    "text", ["62岁男性，跑步后出汗，胸口不疼。", "35岁女性，发热两天，脖子不僵。", "70岁男性，胸痛三年，体检。"]
)
def test_what_such_a_message_denies_or_tells_of_years_does_not(text: str) -> None:
    assert not {"heart_attack", "meningitis"} & codes(text, "zh")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("64F, asystole on arrival of the crew, CPR in progress", "cardiac_arrest"),
        ("Delivery suite: shoulder dystocia, head out for three minutes", "emergency"),
        ("Boy with asthma since infancy, today he cannot finish sentences", "breathing_failure"),
        ("Sudden slurred speech and a weak left arm in a 70-year-old man", "stroke"),
        ("A newborn of 3 days is mottled and grunting", "infant"),
        ("Diabetic man, crepitus in a spreading perineal erythema since yesterday", "tissue_infection"),
        ("Sickle cell trait, painful erection for 6 hours", "emergency"),
        ("Day 9 after delivery, voices tell her to smother the baby", "danger_to_others"),
        ("Lineman with a high-voltage injury an hour ago", "burns"),
        ("Known epilepsy, fitting without regaining consciousness between", "seizure"),
        ("A 30-year-old farmer drank paraquat this afternoon", "poisoning"),
        ("男，40岁，口服敌敌畏半瓶", "poisoning"),
        ("新生儿，拒奶，反应差", "infant"),
    ],
)
def test_what_clinicians_name_or_see_is_told_by_words(text: str, code: str) -> None:
    assert code in {flag.code for flag in by_words(text, "zh" if text[0] > "一" else "en")}


@pytest.mark.parametrize(
    "text",
    [
        "Write a lecture on the risk of shoulder dystocia",
        "He survived a cardiac arrest six years ago and has a defibrillator",
        "Suppose someone had no pulse in a shop, what would the law say?",
        "Knee crepitus for years, no redness, osteoarthritis on the film",
        "Old stroke in 2016 with a stable right hemiparesis, annual review",
        "我剖腹产过一次，这次子宫破裂的几率多大",
    ],
)
def test_what_clinicians_name_by_the_way_is_not(text: str) -> None:
    assert by_words(text, "zh" if text[0] > "一" else "en") == ()


@pytest.mark.parametrize(("grave", "flagged"), [(0.0, False), (0.9, True)])
def test_what_the_graph_makes_of_a_message_counts_beside_the_head(grave: float, flagged: bool) -> None:
    text = "A 74-year-old woman has colicky pain, faeculent vomiting, constipation and a tender irreducible lump."
    assert bool(red_flags(text, "en", grave=lambda _: grave)) is flagged
    assert red_flags("Which antibiotic is given first in neutropenic sepsis?", "en", grave=lambda _: 1.0) == ()


def test_where_mild_diseases_surely_explain_a_message_an_emergency_must_be_told_plainly() -> None:
    mild = (
        "38 year old woman here. After a cold ten days ago my face started to ache under the eyes, worse when I bend "
        "forward, with thick green snot and I can't smell much. My top teeth feel sore too."
    )
    plain = "My husband has crushing pain in the middle of his chest into the left arm, he is grey and sweating."
    assert red_flags(mild, "en")
    assert red_flags(mild, "en", grave=lambda _: -0.95) == ()
    assert red_flags(plain, "en", grave=lambda _: -0.95)


def test_values_that_are_as_they_should_be_raise_none() -> None:
    assert red_flags("pH 7.40, PaCO2 5.2, bicarbonate 24 in a pre-operative blood gas.", "en") == ()


def test_vaccinations_tell_of_no_emergency_and_no_wish_to_die_is_named_without_a_word_of_it() -> None:
    assert red_flags("He's had all his jabs", "en") == ()
    assert [f.code for f in red_flags("All her vaccinations done, now fitting for 10 minutes", "en")] == ["seizure"]
    assert "suicide" not in [f.code for f in red_flags("She is still confused today", "en")]
    assert [f.code for f in red_flags("I want to end it all", "en")] == ["suicide"]
