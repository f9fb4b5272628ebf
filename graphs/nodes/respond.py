"""The respond node: small talk, the assistant itself and what is out of scope end here, without a medical statement."""

from __future__ import annotations

from typing import Any

from graphs.answering.contract import Draft
from graphs.context import TurnContext
from graphs.nodes.finish import finish
from graphs.nodes.step import Body
from graphs.state import State
from graphs.triage.contract import Kind
from tools.contract import Notice

AGAIN = "again"  # courtesy after something was said
TEXTS = {
    (
        Kind.SMALL_TALK,
        "en",
    ): "Hello. Describe a patient's case or ask a medical question; I will look for evidence.",
    (Kind.SMALL_TALK, "zh"): "您好。请描述病例或提出医学问题，我会查找证据。",
    (AGAIN, "en"): "You can add to the case, ask why, ask what else it could be, or describe another patient.",
    (AGAIN, "zh"): "您可以补充病例、询问理由或其他可能，或描述另一位患者。",
    (Kind.OUT_OF_SCOPE, "en"): "This is outside what I can help with: I answer medical questions from evidence. "
    "Describe a patient's case, or ask about a disease, a test, a treatment or a medicine.",
    (
        Kind.OUT_OF_SCOPE,
        "zh",
    ): "这超出了我的服务范围：我只根据证据回答医学问题。您可以描述病例，或询问疾病、检查、治疗和药物。",
    (
        Kind.ASSISTANT,
        "en",
    ): "I am Anamnesis, a program that looks for medical evidence; I am no doctor, I can be wrong, "
    "and I prescribe nothing. I read a patient's case or a medical question as text, in English or Chinese, and quote "
    "a source for every medical sentence. My sources are a library of monographs, a graph of diseases and findings, "
    "documents that you add, and PubMed where whoever runs me allows it; `anamnesis doctor` lists every address that "
    "is contacted. What you write and what I answer are kept as a session in this installation's data folder or "
    "database until it is deleted (`anamnesis sessions`).",
    (Kind.ASSISTANT, "zh"): "我是Anamnesis，一个查找医学证据的程序；我不是医生，可能出错，也不开处方。"
    "我阅读中文或英文的病例和医学问题，每一句医学内容都注明出处。"
    "来源包括内置的专题文库、疾病与表现的图谱、您添加的文件，以及在允许时检索的PubMed；"
    "`anamnesis doctor`列出所有会联系的地址。"
    "您写的内容和我的回答作为会话保存在本机的数据文件夹或数据库中，直到被删除（`anamnesis sessions`）。",
}


def respond_node() -> Body:
    """The node's body."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        kind = Kind(state["kind"])
        notice = Notice(code=kind.value, text=TEXTS[_said(state, kind), state["language"]])
        draft = Draft(notices=(notice,), abstained=kind is Kind.OUT_OF_SCOPE)
        return {"path": "responded", **finish(state, context, draft, [])}

    return body


def _said(state: State, kind: Kind) -> str:
    """Which text: courtesy is answered otherwise once there is something to go on from."""
    return AGAIN if kind is Kind.SMALL_TALK and state.get("last_answer_key") else kind
