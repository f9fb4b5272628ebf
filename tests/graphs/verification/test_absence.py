"""A statement that says what the documents lack needs no citation, and is told from a claim about the world."""

from __future__ import annotations

import pytest

from graphs.verification.absence import says_absent, without_absence

ABSENT = [
    "None of these documents compares acupuncture with tablets.",
    "No document gives the rate of relapse.",
    "None of the trials found reports pain after a year.",
    "The documents do not say how long the rash lasts.",
    "The documents found give no figures for men.",
    "The retrieved sources don't directly compare the two creams.",
    "These passages say nothing about children under two.",
    "The evidence found does not cover twins.",
    "No trial was found comparing the two.",
    "The two creams are not compared in these documents.",
    "Nothing in the documents addresses travel.",
    "The sources are silent on driving.",
    "这些资料未给出复发率。",
    "现有资料没有直接比较两种药膏。",
    "检索到的文献均未提及双胎。",
    "未检索到关于驾驶的研究。",
    "没有资料说明疗程多长。",
    "两种药膏的疗效在所查资料中未比较。",
    "资料没有把10天和14天分开说。",
    "No yearly rate is given for small lumps.",
]
CLAIMS = [
    "The documents do not show that acupuncture helps.",
    "No evidence suggests that cream causes cancer.",
    "There is no evidence of harm.",
    "Trials have not found a difference.",
    "The documents give no dose, but 5 mg is usual.",
    "The documents give no dose; 5 mg is usual.",
    "The documents do not compare them and cream is safe.",
    "The documents do not name a dose, so start low.",
    "None of the patients had a rash.",
    "No study has shown a benefit.",
    "The documents do not mention it. Cream is safe.",
    "Cream is not given to children in the documents of the ministry.",
    "资料未给出剂量，但通常为5毫克。",
    "现有证据未显示有害。",
    "未检索到证据表明其致癌。",
    "资料未提及剂量，建议从小剂量开始。",
    "患者没有发热。",
    "No antibiotics are given for a cold.",
    "",
]


@pytest.mark.parametrize("text", ABSENT)
def test_what_documents_lack_is_an_absence(text: str) -> None:
    assert says_absent(text)


@pytest.mark.parametrize("text", CLAIMS)
def test_what_is_claimed_beside_or_by_them_is_none(text: str) -> None:
    assert not says_absent(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It slows decline a little; the documents give no figure.", "It slows decline a little"),
        ("It is worse after months, without saying how much.", "It is worse after months."),
        ("Fits overlap, but no rash or agitation is told.", "Fits overlap."),
        ("Sepsis is possible, though fever is not mentioned.", "Sepsis is possible."),
        ("Croup is treated without giving antibiotics.", "Croup is treated without giving antibiotics."),  # a claim
        ("No deaths were reported.", "No deaths were reported."),  # a result
        ("The documents do not say.", "The documents do not say."),
    ],
)
def test_what_is_not_told_is_left_out_of_what_must_be_borne_out(text: str, left: str) -> None:
    assert without_absence(text) == left
