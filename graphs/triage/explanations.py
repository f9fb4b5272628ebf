"""Questions about what was said: ``why?``, ``why not X?``, ``what else could it be?``, ``how sure are you?``. All ours.

They are answered from the session, so triage only says which aspect is asked for and of which disease.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from graphs.triage.contract import Aspect, Explain, Kind, SessionView

Diseases = Callable[[str], Sequence[str]]
"""Ids of the graph's diseases that a text names, in order."""

LEAD = (
    r"^\W*(?:(?:and|but|so|ok|okay|hm+|sorry|then|thanks|please|well|back to (?:my|the|this) (?:patient|case|problem)|"
    r"(?:for|about|in) (?:my|the|this) (?:patient|case))\b[\s,:;.-]*)*"
)
LEAD_ZH = (
    r"^\W*(?:(?:那么?|请问|所以|好的?|回到(?:刚才)?(?:的)?(?:病人|病例|患者)|(?:对于?)?这个(?:病人|病例|患者))"
    r"[\s，,：:]*)*"
)
CASE_AGAIN = re.compile(
    r"\b(?:back to|(?:for|about|in)) (?:my|the|this) (?:patient|case|problem)\b|回到|这个(?:病人|病例|患者)",
    re.IGNORECASE,
)
THINK = r"(?:think|say|believe|conclude|suspect|rank|put|suggest|favou?r|prefer|chose|choose|pick)"


def _of(english: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"{LEAD}(?:{english})[\s?.!]*$|{LEAD_ZH}(?:{chinese})[\s?？。！呢呀啊]*$", re.IGNORECASE)


# In this order: the first that matches tells the aspect.
FORMS: tuple[tuple[Aspect, re.Pattern[str]], ...] = (
    (
        Aspect.AGAINST,
        _of(
            r"(?:what|does anything|is there anything|which findings?) (?:that )?(?:speaks?|argues?|"
            r"counts?|is|goes|are) "
            r"against (?:it|this|that)(?: diagnosis)?|what (?:doesn't|does not) fit|what else (?:doesn't|"
            r"does not) fit",
            r"(?:有)?(?:什么|哪些)(?:表现|证据)?不支持(?:这个诊断|它)?|哪里不(?:符合|支持)|(?:有)?什么不符合的?",
        ),
    ),
    (
        Aspect.APART,
        _of(
            r"(?:what|which \w+|how) (?:would|could|can|do|does|will) (?:i |we |you |one )?(?:tell|set|keep) "
            r"(?:them|these|the two|it|those) apart(?: from .{2,40})?|how (?:do|can|would) (?:i|we|you|one) "
            r"(?:distinguish|differentiate|discriminate)(?: between)? (?:them|these|the two|it)|"
            r"what distinguishes them|"
            r"(?:what|which) (?:is|are) the differences?(?: between (?:them|these|the two))?",
            r"(?:怎么|如何|怎样)(?:区分|鉴别|区别)(?:它们|这些|两者|这几个|这两个)?|(?:它们|两者)?有什么区别",
        ),
    ),
    (
        Aspect.ELSE,
        _of(
            r"(?:so )?(?:what|who knows what) else(?: (?:(?:could|might|can|may) (?:it|this|that) be|"
            r"is (?:likely|possible)|"
            r"(?:do|would) you (?:consider|think of)|fits|should (?:i|we) (?:consider|think of)))?|"
            r"(?:could|can|might|may) (?:it|this|that) be (?:anything|something) else|"
            r"(?:is there |are there )?(?:anything|something) else (?:(?:it|this|that) (?:could|might|"
            r"can|may) be|possible|"
            r"to consider)|anything else|"
            r"(?:(?:any|are there(?: any)?|is there an?|what (?:are|is)) )?(?:the |other |more |alternative )*"
            r"(?:possibilit(?:y|ies)|differentials?|differential diagnos[ei]s|diagnoses|"
            r"alternative diagnos[ei]s|ddx?)|"
            r"what are the alternatives|other causes|are there (?:any )?other (?:possible )?causes",
            r"还(?:有)?(?:可能)?(?:是|会是|有)?(?:什么|哪些|别的|其他)?(?:可能(?:性|的?诊断)?|病|疾病|"
            r"诊断|情况)?(?:是什么|有哪些)?"
            r"(?:吗)?|还有(?:什么|哪些)?(?:可能|其他可能)(?:是什么|的)?(?:病|性|诊断)?|还(?:可能|"
            r"会)(?:是|有)(?:什么|哪些|别的)(?:病|可能)?|"
            r"(?:有没有|有)(?:别的|其他)(?:的)?可能(?:性)?(?:吗)?|鉴别诊断(?:是什么|有哪些)?|别的可能(?:性)?",
        ),
    ),
    (
        Aspect.SURE,
        _of(
            r"how (?:sure|certain|confident|likely|probable)(?: (?:are you|is (?:it|this|that)|you are))?"
            r"(?: (?:of|about) (?:it|this|that))?|"
            r"are you (?:really |quite |absolutely )?(?:sure|certain|confident)(?: (?:of|about) (?:it|this|that))?|"
            r"what(?:'s| is) (?:the|your) (?:confidence|certainty|probability)|really",
            r"(?:你)?(?:有)?多(?:大|少)(?:的)?(?:把握|可能(?:性)?|信心)|(?:你)?(?:有)?多(?:确定|肯定)|"
            r"(?:你)?(?:确定|肯定|有把握)吗|"
            r"可能性(?:有)?多大|真的吗",
        ),
    ),
    (
        Aspect.ASK,
        _of(
            r"what (?:else )?(?:should|can|could|shall|must|do) (?:i|we) (?:need to )?(?:still )?(?:ask|"
            r"find out|clarify)"
            r"(?: (?:him|her|them|the patient|about|next))*|which questions? (?:should|shall|do|can) (?:i|we) "
            r"(?:need to )?(?:still )?ask(?: (?:him|her|them|the patient|next))*|what (?:is|"
            r"are) (?:the )?(?:next|best) "
            r"questions?|what (?:else )?do you (?:need|want) to know|what (?:information )?is missing",
            r"(?:我)?(?:还)?(?:应该|该|要|需要)?(?:再)?问(?:病人|患者|他|她)?(?:什么|哪些)(?:问题)?|"
            r"还(?:缺|需要)(?:什么|哪些)(?:信息|资料)?",
        ),
    ),
    (
        Aspect.QUESTION,
        _of(
            r"why (?:do|are|did|would|should) (?:you|we|i) (?:want to know|need to know|ask(?:ing|ed)?(?: me)?)"
            r"(?: (?:that|this|it|so|about (?:that|this|it)|(?:that|this) question))*|"
            r"why (?:that|this) question|why (?:does|would) (?:that|this|it) matter|"
            r"what (?:is|was) (?:that|this|the|your) question (?:good )?for|what for",
            r"(?:你)?(?:为什么|为何|干嘛|干吗)(?:要|会|想)?问(?:我)?(?:这个|这|那个)?(?:问题)?|"
            r"问这个(?:问题)?(?:干什么|做什么|有什么用|干嘛|的目的是什么)|这个问题有什么(?:用|意义)",
        ),
    ),
    (
        Aspect.SUMMARY,
        _of(
            r"(?:please |can you |could you )*(?:summari[sz]e|sum up|recap)(?: (?:it|this|that|please|"
            r"the case|everything|"
            r"all|so far|for me|what (?:we|you) (?:have|know)))*|(?:a |the |give me a )*summary(?: please| so far)*|"
            r"what (?:do we|do you) know(?: so far)?|where (?:are we|do we stand)",
            r"(?:请)?(?:你)?(?:帮我)?(?:总结|小结|概括|归纳)(?:一下)?(?:病例|病情|吧)?",
        ),
    ),
    (
        Aspect.SOURCES,
        _of(
            r"(?:and )?(?:what|which|where) (?:is|are) (?:the|your) (?:evidence|sources?|"
            r"references?)(?: for (?:it|this|that))?|"
            r"(?:your |the |any )?(?:evidence|sources?|references?)|"
            r"what (?:is|are) (?:it|this|that) based on|says who",
            r"(?:有)?(?:什么|哪些)?(?:证据|依据|来源|出处|参考文献)(?:是什么|在哪(?:里)?|有哪些)?|"
            r"(?:证据|依据|来源)(?:呢)?",
        ),
    ),
    (
        Aspect.WHY,
        _of(
            rf"why(?: (?:is|do|would|did|should) (?:that|this|it|you|so)(?: (?:so|{THINK})(?: (?:so|that|"
            rf"this|it))?)?| so)?|"
            rf"how (?:come|so)|how (?:do|did|can) you (?:know|{THINK}|reach|arrive at|get to|"
            rf"tell)(?: (?:that|this|it|so|"
            r"(?:that |this |the )?(?:conclusion|diagnosis)))*|what makes you (?:think|say|believe|"
            r"so sure)(?: (?:so|that|"
            r"this|it))*|(?:please |can you |could you )*(?:explain|justify|elaborate|show)(?: (?:it|"
            r"this|that|why|yourself|"
            r"(?:your|the) (?:reasoning|answer|diagnosis|ranking|thinking|logic)|please|more|how))*|"
            r"(?:what(?:'s| is|are)? )?(?:your |the )?(?:reasons?|reasoning|rationale|logic)|"
            r"on what grounds|based on what|"
            r"what (?:speaks|argues|counts) for (?:it|this|that)|what (?:supports|fits) (?:it|this|that)",
            r"为什么(?:呢|这么(?:说|认为|想|判断)|会这样(?:认为|说)?|这样(?:说|认为))?|为何(?:这么说)?|"
            r"(?:你)?(?:怎么|如何)(?:知道|判断|得出|看出来)(?:的)?"
            r"(?:这个)?(?:结论|诊断)?(?:的)?|(?:请)?(?:你)?(?:解释|说明)(?:一下)?(?:理由|原因|为什么)?|"
            r"理由(?:是什么)?|"
            r"(?:诊断)?(?:依据|根据)(?:是什么|呢)|凭什么",
        ),
    ),
)
# With a disease in the question.
WHY_NOT_X = re.compile(
    rf"{LEAD}(?:why(?: (?:is it|isn't it|is this|is that|couldn't it be|can't it be|wouldn't it be|did you))?"
    r"(?: (?:not|rule out|reject|exclude))?|why (?:isn't|couldn't|can't|wouldn't) (?:it|this|that)(?: be)?|"
    r"what (?:speaks|argues|counts) against|what about|how about|"
    r"(?:could|might|can|may) (?:it|this|that) (?:also |still |not )?be|couldn't (?:it|this|that) be|"
    r"is (?:it|this|that) (?:not|possibly)|have you (?:considered|thought of|ruled out)|"
    r"(?:did you|can you|can we|do we) (?:consider|rule out|exclude)|what speaks for|how likely is|"
    r"how (?:sure|certain) are you (?:that it(?:'s| is)|of|about))\s+"
    rf"(?:an? |the |it being |it's |it is )?(?P<about>[\w' -]{{2,60}}?)[\s?.!]*$|"
    rf"{LEAD_ZH}(?:为什么(?:不(?:是|考虑|会是|可能是)|是|考虑)?|怎么不是|(?:会|能)不会是|会不会是|"
    rf"(?:有没有|有)?可能是|不(?:会)?是|"
    r"排除了?|考虑过?|是不是)(?P<about_zh>[\u4e00-\u9fffA-Za-z0-9 -]{2,16}?)(?:吗|呢|么)?[\s?？。]*$",
    re.IGNORECASE,
)
LONGEST = 16  # words; ours: a longer message tells more than it asks


def read_explanation(text: str, session: SessionView, diseases: Diseases | None = None) -> Explain | None:
    """What a message asks to have explained; None when it asks something else.

    ``why not X?`` counts only when X is a disease of the graph or of the session's differential, so that
    ``why not antibiotics?`` stays a question of evidence.
    """
    if len(text.split()) > LONGEST:
        return None
    after_evidence = session.kind in (Kind.EVIDENCE, Kind.MULTIPLE_CHOICE) and not session.about_case
    of_case = bool(session.case) and (not after_evidence or CASE_AGAIN.search(text) is not None)
    for aspect, form in FORMS:
        if form.match(text):
            if aspect is Aspect.ELSE and not session.case and session.question:
                return None  # goes on from the question of evidence before
            always = aspect in (Aspect.ELSE, Aspect.ASK, Aspect.AGAINST, Aspect.APART, Aspect.SUMMARY)
            return Explain(aspect=aspect, of_case=of_case or (always and bool(session.case)))
    match = WHY_NOT_X.match(text)
    if match is None or not session.case or diseases is None:
        return None
    about = match["about"] or match["about_zh"] or ""
    named = diseases(about)
    return Explain(aspect=Aspect.WHY, of_case=True, about=named[0], named=about.strip()) if named else None
