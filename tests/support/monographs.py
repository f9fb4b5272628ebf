"""What docs/knowledge-format.md asks of a monograph of the starter library."""

from __future__ import annotations

from tools.library.monograph import CONFUSED, Monograph, paragraphs, unusable

# docs/knowledge-format.md (ours): sections by kind, words of a body, questions of a monograph
SECTIONS = {
    "condition": ("Overview", "Presentation", "Diagnosis", CONFUSED, "Treatment", "When to seek help"),
    "evidence": (
        "Question",
        "Short answer",
        "What the evidence shows",
        "Who it applies to",
        "Uncertainty",
        "What to do in practice",
    ),
    "presentation": (
        "Overview",
        "Must not miss",
        "Common causes",
        "Ask and examine",
        "First tests",
        "When to seek help",
    ),
}
MIN_WORDS, MAX_WORDS = 250, 700
MIN_QUESTIONS = 5


def check_monograph(monograph: Monograph, name: str) -> list[str]:
    """Everything that docs/knowledge-format.md asks of a monograph and this one does not do, in words."""
    front = monograph.front
    problems = unusable(monograph, name)
    words = len(" ".join(p.of(monograph.text) for p in paragraphs(monograph.text)).split())
    if not MIN_WORDS <= words <= MAX_WORDS:
        problems.append(f"the body has {words} words, not {MIN_WORDS} to {MAX_WORDS}")
    if len(front.questions) < MIN_QUESTIONS:
        problems.append(f"there are {len(front.questions)} questions, fewer than {MIN_QUESTIONS}")
    if len({q.q for q in front.questions}) < len(front.questions):
        problems.append("a question stands twice")
    if front.review_by <= front.written:
        problems.append("the review date is not after the date of writing")
    titles = tuple(s.title for s in monograph.sections)
    if titles != SECTIONS.get(front.kind, titles):
        problems.append(f"the sections are {', '.join(titles)}")
    return problems
