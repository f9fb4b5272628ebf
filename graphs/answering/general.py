"""Background beside an answer: a model writes on what is open while the answer is written, and it is told apart.

No statement can rest on it. What stayed open when the answer was there stands under it as general knowledge; so does
what was written for a question that nothing found answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphs.answering.choice import own_words
from graphs.answering.contract import AnswerView, Draft
from graphs.answering.notices import notice
from graphs.answering.prose import plain_text
from graphs.answering.sources import open_points
from graphs.judging.orders import speaks_to_machines
from tools.contract import Severity, unique
from tools.evidence import Evidence, Origin, Statement
from tools.gaps.contract import Generator, Inquiry
from tools.gaps.local import GeneratorLocal
from tools.messages import messages
from tools.notices import noted
from tools.text.references import references_in
from tools.text.sentences import sentences
from tools.text.tokens import tokens

LONGEST = 900  # ours: characters of the background on a need that are shown; the 150 words that are asked for


class BackgroundBeside:
    """Writes on what is open after the choice.

    Args:
        generator: by default nothing is written. points: of them that it writes on, the most important first.
    """

    def __init__(self, generator: Generator | None = None, points: int = 0) -> None:
        self._generator, self._points = generator or GeneratorLocal(), points

    async def write(self, view: AnswerView) -> list[Evidence]:
        """At most one document a point; none on a point about one of the options, which may not be the one that is
        chosen."""
        options = set().union(*own_words(view.question, view.options).values()) if view.options else set()
        open_ = [p.requirement for p in open_points(view) if not options & set(tokens(p.requirement))][: self._points]
        if not open_:
            return []
        inquiry = Inquiry(view.question, kind=view.kind, language=view.language, options=view.options)
        return await self._generator.write(inquiry, open_)


def _need(requirement: str, view: AnswerView) -> str:
    """A need as the reader is told it."""
    told = next((g.told(view.language) for g in view.gaps if g.requirement == requirement), requirement)
    return told or messages(view.language)["gap.question"]


def _within(text: str) -> str:
    """The leading whole sentences of background, on one line, that have room."""
    line = " ".join(text.split())
    said = [(line[span.end : span.end + 1].isspace(), plain_text(span.of(line))) for span in sentences(line)]
    out = ""
    for spaced, sentence in said:
        if len(out) + len(sentence) > LONGEST:
            break
        out += f"{sentence} " if spaced else sentence
    return out.strip()


def with_general(draft: Draft, view: AnswerView, beside: Sequence[Evidence]) -> Draft:
    """The draft with what a model wrote of needs that stayed open, and no statement rests on, as general knowledge.

    It is parametric, and none of it names a publication. Where nothing is answered every need is open.
    """
    wanted = {p.requirement for p in open_points(view)} if draft.left_open is None else set(draft.left_open)
    used = {i for ids in draft.generated.values() for i in ids}
    told: list[Statement] = []
    for item in (*view.background, *beside):
        text = _within(item.text) if item.title in wanted and item.id not in used else ""
        if text and not references_in(text) and not speaks_to_machines(text):
            said = messages(view.language).say("case.general", need=_need(item.title, view), text=text)
            told.append(Statement(text=said, origin=Origin.PARAMETRIC))
    on = unique([_need(item.title, view) for item in beside if item.title in wanted])
    notices = [notice("background_generated", view.language, "; ".join(on))] if on else []
    but = noted("nothing_found", view.language, Severity.WARNING, said="notice.nothing_but_general")
    before = [but if told and n.code == but.code else n for n in draft.notices]
    return draft.model_copy(
        update={
            "statements": (*draft.statements, *told),
            "evidence": (*draft.evidence, *beside),
            "notices": (*before, *notices),
        }
    )
