"""A few pages of plain medicine, small enough to build a question index of in a moment."""

from __future__ import annotations

from tools.questions.contract import Answer, Question, SourceDocument

GOUT = """## Overview
Gout is a painful arthritis caused by crystals of uric acid in a joint. The big toe is affected most often.
## Treatment
Attacks are treated with colchicine or a short course of an anti-inflammatory medicine. Allopurinol lowers uric acid \
and prevents further attacks.
## When to seek help
See a doctor the same day if a hot joint comes with fever."""
CROUP = """## Overview
Croup is a swelling around the voice box of young children, mostly after a cold. It causes a barking cough and noisy \
breathing.
## Treatment
A single dose of dexamethasone eases breathing within hours. Antibiotics do not help.
## When to seek help
Call an ambulance if the child is drawing in the chest at rest."""
SCURVY = """## Overview
Scurvy is caused by a lack of vitamin C. Gums bleed, wounds heal slowly and bruises appear.
## Treatment
Scurvy is treated with vitamin C by mouth for three months. Most people recover fully.
## Prevention
Fresh fruit and vegetables prevent scurvy."""
PAGES = {"gout": ("Gout", GOUT), "croup": ("Croup", CROUP), "scurvy": ("Scurvy", SCURVY)}


def pages(*names: str) -> list[SourceDocument]:
    """The pages of these names, all without one."""
    return [
        SourceDocument(id=f"own:{name}", title=PAGES[name][0], text=PAGES[name][1], date=f"202{number}-01-01")
        for number, name in enumerate(names or PAGES)
    ]


def question(text: str, document: str, support: float) -> Question:
    return Question(
        text=text, answers=(Answer(document=f"own:{document}", start=0, end=9, support=support),), writer="t"
    )
