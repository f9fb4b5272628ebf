"""A Chinese question in the library's English: whole, or not at all."""

import pytest

from tools.knowledge_graph.loader import STARTER, read_graph
from tools.knowledge_graph.names import Names
from tools.library.contract import LibraryHit
from tools.library.document import Document, Window
from tools.library.english import InEnglish


@pytest.fixture(scope="module")
def names() -> Names:
    return Names(read_graph(STARTER))


@pytest.mark.parametrize(
    ("asked", "english"),
    [
        ("肺炎怎么治疗？", "How is pneumonia treated?"),
        ("痛风应该如何预防？", "How should gout be prevented?"),
        ("哮喘的诊断方法有哪些？", "What is the diagnosis and tests of asthma?"),
        ("银屑病需要使用抗生素吗？", "Should antibiotics be used in psoriasis?"),
        ("急性胆囊炎一定要手术吗？", "Does acute cholecystitis need surgery?"),  # "must surgery" is no English
        ("湿疹可以长期用激素药膏吗", "Can steroid cream be used long term in eczema?"),
        ("肺炎怎么治疗？肺炎会传染吗？", "How is pneumonia treated? Is pneumonia infectious?"),
        ("阿司匹林能不能预防卒中", "Can aspirin prevent stroke?"),
        ("水痘发作怎么办？", "What to do about chickenpox attack?"),
        ("急性支气管炎吃抗生素有用吗", "Are antibiotics effective in acute bronchitis?"),
        ("针灸治疗失眠有效吗", "Is acupuncture effective to treat insomnia?"),
        ("房颤可以用阿司匹林代替抗凝药吗", "Can aspirin replace anticoagulants in atrial fibrillation?"),
        ("过敏性休克首选肾上腺素吗", "Is adrenaline the first choice in anaphylactic shock?"),  # not "epinephrine"
        ("维生素D能预防老年人骨折吗", "Can vitamin D prevent fracture in older people?"),
        ("打流感疫苗会得流感吗", "Can influenza vaccine cause influenza?"),
        ("男性会得乳腺癌吗", "Can men get breast cancer?"),
        ("胸片正常能排除肺癌吗", "Can normal chest X-ray exclude lung cancer?"),
        ("痛风停药后会复发吗", "Does gout recur after stop?"),
        ("肺炎都需要治疗吗", "Does pneumonia always need treatment?"),  # not whether any does
        ("睾丸癌能治好吗", "Can testicular cancer be cured?"),
    ],
)
def test_a_question_of_known_words_is_put_into_english(names: Names, asked: str, english: str) -> None:
    assert InEnglish(names.found_in)(asked) == english


@pytest.mark.parametrize(
    "asked",
    [
        "蓝星菇能治疗肺炎吗？",  # a name that no table has must not be left out: another question would be answered
        "肺炎的保险报销比例是多少？",
        "肺炎怎么治疗？蓝星菇有效吗？",
        "How is pneumonia treated?",
        "的吗呢？",
        "",
    ],
)
def test_a_question_with_an_unknown_word_and_one_that_is_no_chinese_are_left(names: Names, asked: str) -> None:
    assert InEnglish(names.found_in)(asked) == ""


def test_a_disease_and_a_word_are_named_as_the_library_names_them(names: Names) -> None:
    in_english = InEnglish(names.found_in, None, {"尖锐湿疣": "Genital warts"}, {"hyperkalaemia"})
    assert in_english("尖锐湿疣会遗传吗") == "Are genital warts hereditary?"
    assert in_english("高钾血症怎么治疗") == "How is hyperkalaemia treated?"


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("避孕套破了怎么补救", True),  # cannot be put into English as a whole
        ("早搏一天3000个严重吗", True),
        ("电脑中病毒了怎么杀毒", False),
        ("公司心脏部门的裁员", False),
        ("How is pneumonia treated?", False),
        ("怎么办", False),
        ("", False),
    ],
)
def test_what_the_tables_know_most_words_of_is_about_medicine(names: Names, text: str, known: bool) -> None:
    assert InEnglish(names.found_in).knows(text) is known


@pytest.mark.parametrize(
    ("text", "language", "left"), [("本院肺炎诊疗规范", "zh", True), ("Pneumonia", "en", False), ("痛风", "zh", False)]
)
def test_what_a_chinese_document_of_ones_own_speaks_of_is_asked_in_chinese(
    names: Names, text: str, language: str, left: bool
) -> None:
    window = Window(start=0, end=len(text), section="")
    document = Document(
        id="own", title="t", text=text, kind="article", language=language, date="2024", review_by="", windows=(window,)
    )
    hit = LibraryHit(document=document, window=window, score=1.0, found=())
    in_english = InEnglish(names.found_in, lambda _query, _limit: {"own": [hit]})
    assert (in_english("肺炎怎么治疗？") == "") is left
