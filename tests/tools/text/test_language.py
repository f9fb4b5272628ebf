"""Which texts are English: what the reader was not trained on is not read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.text.language import is_english, language_of

EXAMPLES = Path(__file__).parents[3] / "tools" / "reading" / "examples"
OTHERS = [
    "Aspirin senkt das Risiko eines Schlaganfalls.",
    "Hilft Metformin bei Diabetes?",
    "Antibiotika verkürzten die Erkältung gegenüber Placebo nicht.",
    "La aspirina reduce el riesgo de ictus en los adultos.",
    "Los antibióticos no acortaron el resfriado.",
    "L'aspirine réduit le risque d'accident vasculaire cérébral.",
    "Les antibiotiques ne sont pas utiles dans le rhume.",
    "L'aspirina riduce il rischio di ictus negli adulti.",
    "A aspirina reduz o risco de acidente vascular cerebral.",
    "Aspirine verlaagt het risico op een beroerte.",
    "Aspirin minskar risken för stroke hos vuxna.",
    "Aspirin nedsætter risikoen for apopleksi og er billigt.",
    "Aspirin reduserer ikke risikoen for hjerneslag.",
    "Aspiriini pienentää aivohalvauksen riskiä, mutta se ei ole vaaraton.",
    "Aspiryna zmniejsza ryzyko udaru u dorosłych.",
    "Aspirin snižuje riziko mrtvice u dospělých.",
    "Aspirina reduce riscul de accident vascular cerebral și este ieftină.",
    "Az aszpirin csökkenti a stroke kockázatát.",
    "Aspirin inme riskini azaltır ve bir hap olarak alınır.",
    "Aspirin mengurangi risiko stroke pada orang dewasa.",
    "Aspirin làm giảm nguy cơ đột quỵ ở người lớn.",
    "Аспирин снижает риск инсульта.",
    "Η ασπιρίνη μειώνει τον κίνδυνο εγκεφαλικού.",
    "الأسبرين يقلل من خطر السكتة الدماغية.",
    "アスピリンは脳卒中のリスクを減らす。",
    "아스피린은 뇌졸중 위험을 줄인다.",
    "阿司匹林可降低中风风险。",
]
ENGLISH = [
    "Aspirin reduced stroke risk significantly.",
    "De novo mutations cause Dravet syndrome.",
    "Clostridioides difficile, Helicobacter pylori and Staphylococcus aureus were grown.",
    "Von Willebrand disease and de Quervain's tenosynovitis are unrelated.",
    "Guillain-Barré syndrome and Sjögren's syndrome were diagnosed.",
    "Ménière disease causes vertigo.",
    "Musculus flexor digitorum profundus inserts distally.",
    "TNF-α and IL-1β rose with β-blockers.",
    "Nil per os from midnight; ibuprofen 400 mg t.d.s.",
    "Smith et al. found lower mortality in vivo than in vitro.",
    "Lupus erythematosus, pemphigus vulgaris, lichen planus",
    "Is amoxicillin safe in glandular fever?",
    "Carcinoma in situ of the cervix uteri was treated by conisation.",
    "",
]


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_not_english_is_told(text: str) -> None:
    assert not is_english(text)


@pytest.mark.parametrize("text", ENGLISH)
def test_english_with_names_and_latin_is_english(text: str) -> None:
    assert is_english(text)
    assert language_of(text) == "en"


def test_no_example_of_the_library_is_taken_for_another_language() -> None:
    rows = [
        json.loads(line) for path in EXAMPLES.glob("library_*.jsonl") for line in path.read_text("utf-8").splitlines()
    ]
    texts = [str(row[key]) for row in rows for key in ("sentence", "question") if key in row]
    assert len(texts) > 1_000
    assert [t for t in texts if not is_english(t)] == []
