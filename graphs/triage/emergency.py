"""Red flags of an emergency: open rules (concepts and guards), numbers, and likeness to written examples."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from graphs.triage.contract import RedFlag
from graphs.triage.guards import Guarded, guarded
from graphs.triage.head import emergency_in, may_be_emergency
from graphs.triage.readings import alarms
from tools.text.abbreviations import write_out
from tools.text.language import HAN

ROOM = Path(__file__).parent
CONCEPTS = ("concepts.yaml", "concepts_more.yaml")
RULES = "red_flags.yaml"
GAP = {"en": r"[^.;:!?,\n()]{0,45}?", "zh": r"[^。；！？,，;!?、\n]{0,12}?"}  # ours: "…", a few words of one clause
LATIN = re.compile(r"[A-Za-z]{3}")
UNNAMED = "emergency"  # code of one that is like examples of several kinds
QUOTED = 80  # ours: characters of a message that are told where it is like an example


class Rule(NamedTuple):
    """One sign of an emergency: what it is called and told by language, and the combinations that show it."""

    code: str
    name: dict[str, str]
    advice: dict[str, str]
    when: tuple[tuple[tuple[str, ...], ...], ...]


class Rules(NamedTuple):
    """Compiled concepts by language, the rules, every emergency by its code, and the code of each kind of example."""

    concepts: dict[str, dict[str, re.Pattern[str]]]
    rules: tuple[Rule, ...]
    named: dict[str, Rule]
    exemplars: dict[str, str]


class Reading:
    """What one message describes: each concept is looked for once, when a rule first asks for it."""

    def __init__(self, text: str, *, exam: bool = False) -> None:
        self.text = plain(text)
        self.guards: list[Guarded] = guarded(self.text, exam=exam)
        self.languages = [k for k, seen in (("en", LATIN.search(text)), ("zh", HAN.search(text))) if seen]
        self._known: dict[str, tuple[int, int] | None] = {}

    def find(self, concept: str) -> tuple[int, int] | None:
        """The characters of the first place that describes a concept as present now."""
        if concept not in self._known:
            self._known[concept] = self._search(concept)
        return self._known[concept]

    def _search(self, concept: str) -> tuple[int, int] | None:
        patterns = load_rules().concepts[concept]
        for language in self.languages:
            for match in patterns[language].finditer(self.text):
                if not any(g.start <= match.start() < g.end for g in self.guards):
                    return match.span()
        return None


def red_flags(text: str, language: str, *, exam: bool = False) -> tuple[RedFlag, ...]:
    """The emergencies that a message shows, worded in ``language``. ``exam``: a multiple-choice question.

    What rules or numbers show comes first; likeness to examples is asked where they show nothing.
    """
    shown = described(text, language, exam=exam)
    like = None if shown or exam else emergency_in(text)
    if like is None:
        return shown
    rule = load_rules().named[load_rules().exemplars.get(like.kind, UNNAMED)]
    return (_flag(rule, language, f"“{text.strip()[:QUOTED]}”"),)


def described(text: str, language: str, *, exam: bool = False) -> tuple[RedFlag, ...]:
    """The emergencies that numbers show, and rules where the trained head does not speak against a long text."""
    written, rules = write_out(plain(text)), load_rules()
    reading = Reading(written.text, exam=exam)
    found: dict[str, RedFlag] = {}

    def tell(rule: Rule, spans: list[tuple[int, int]]) -> None:
        told = sorted({written.source(a, b) for a, b in spans})
        found.setdefault(rule.code, _flag(rule, language, "; ".join(f"“{text[a:b].strip()}”" for a, b in told)))

    for rule in rules.rules if exam or may_be_emergency(text) else ():
        spans = next((s for s in (_spans(line, reading) for line in rule.when) if s), None)
        if spans:
            tell(rule, spans)
    if not exam:
        for alarm in alarms(reading.text, reading.guards, lambda concept: reading.find(concept) is not None):
            tell(rules.named[alarm.code], alarm.spans)
    return tuple(found.values())


def _flag(rule: Rule, language: str, quotes: str) -> RedFlag:
    mark = "：" if language == "zh" else ": "
    return RedFlag(code=rule.code, seen=rule.name[language] + mark + quotes, advice=rule.advice[language])


def _spans(line: tuple[tuple[str, ...], ...], reading: Reading) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for item in line:
        seen = next((s for s in (reading.find(concept) for concept in item) if s is not None), None)
        if seen is None:
            return []
        spans.append(seen)
    return spans


def plain(text: str) -> str:
    """The text with one kind of apostrophe and of space, of the same length; a wrapped line is no end of a clause."""
    text = text.replace("’", "'").replace("‘", "'").replace("\t", " ")
    return re.sub(r"\n(?=[ ]*[a-z(])", " ", text)


@lru_cache(maxsize=1)
def load_rules() -> Rules:
    """The concepts and rules of this room's YAML files, compiled. KeyError: a rule names an unknown concept."""
    raw = {name: body for file in CONCEPTS for name, body in _yaml(file).items()}
    concepts = {name: {lang: _compile(body[lang], lang) for lang in GAP} for name, body in raw.items()}
    data = _yaml(RULES)
    rules = tuple(_rule(entry, data["advice"]) for entry in data["rules"])
    others = (_rule(entry, data["advice"]) for entry in data["named"])
    named = {rule.code: rule for rule in (*rules, *others)}
    unknown = {c for r in rules for line in r.when for item in line for c in item} - concepts.keys()
    if unknown:
        raise KeyError(f"red_flags.yaml names unknown concepts: {', '.join(sorted(unknown))}")
    return Rules(concepts, rules, named, data["exemplars"])


def _rule(entry: dict[str, Any], advice: dict[str, dict[str, str]]) -> Rule:
    return Rule(
        code=entry["code"],
        name={"en": entry["en"], "zh": entry["zh"]},
        advice=advice[entry["advice"]],
        when=tuple(tuple(tuple(item.split("|")) for item in line) for line in entry.get("when", ())),
    )


def _compile(patterns: list[str], language: str) -> re.Pattern[str]:
    start = r"\b" if language == "en" else ""
    return re.compile(start + "(?:" + "|".join(p.replace("…", GAP[language]) for p in patterns) + ")", re.IGNORECASE)


def _yaml(name: str) -> dict[str, Any]:
    import yaml

    content: dict[str, Any] = yaml.safe_load((ROOM / name).read_text(encoding="utf-8"))
    return content
