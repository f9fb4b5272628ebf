"""Reads the events of a trace one after the other; an event that is damaged is named and costs no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import ValidationError

from agent.trace_page.happened import Event, Happened, ModelRun, StepRun, ToolRun
from graphs.completeness.contract import GateDecision
from graphs.differential_filter.contract import Verdict
from graphs.kads.contract import Selection

NODES = {  # the node that a role's model calls are made in
    "triage": "triage",
    "gate": "completeness_gate",
    "research": "research",
    "query_plan": "tools",
    "summary": "tools",
    "gaps": "tools",
    "background": "tools",
    "selection": "kads_selector",
    "filter": "differential_filter",
    "answer": "answer",
    "report": "report",
    "verification": "verify",
}
TOLD_BY = {  # what tools record while they run: the tools that record it
    "literature_search": ("search_literature", "fill_knowledge_gaps"),
    "searched_ahead": ("search_literature",),
    "passages": ("retrieve_passages",),
    "differential": ("lookup_differential",),
    "rare_diseases": ("lookup_differential",),
    "question_search": ("find_answered_question",),
    "gaps": ("fill_knowledge_gaps",),
}


class _Reading:
    """Reads events one after the other."""

    def __init__(self, run: str) -> None:
        self.out = Happened(run=run)
        self._open: dict[str, float] = {}
        self._planned: list[Event] = []
        self._told: list[Event] = []
        self._idle = 0.0
        self._last = 0.0
        self._on: dict[str, Callable[[Event], None]] = {
            "run": self._run,
            "step_started": self._step_started,
            "step_finished": self._step_finished,
            "planned": self._planned.append,
            "tool": self._tool,
            "model": self._model,
            "triage": self._triage,
            "gate": self._gate,
            "selection": self._selection,
            "filter": self._filter,
            "left_out": self._left_out,
            "judged_locally": self._locally,
            "model_budget": self._budget,
            "configuration": self._configuration,
            "answered": self._answered,
        }

    def read(self, event: Event) -> None:
        """Take in an event; one that lacks what it must have is named, and costs no other."""
        kind = event["kind"]
        if kind == "damaged_line":
            self.out.damaged.append(f"line {event['line']} of the trace is damaged")
            return
        if kind in TOLD_BY:
            self._told.append(event)
        try:
            self._on.get(kind, _nothing)(event)
        except (ValidationError, KeyError, TypeError, ValueError, AttributeError):
            self.out.damaged.append(f"an event of kind {str(kind)[:40]} is damaged")
        at = event.get("at")
        if isinstance(at, int | float):
            self._last = max(self._last, float(at))

    def end(self) -> Happened:
        """What never ended was cut off."""
        for step, started in self._open.items():
            self.out.steps.append(StepRun(step=step, started=started, cut_off=True))
        self.out.steps.sort(key=lambda s: s.started)
        return self.out

    def _since(self, event: Event, seconds: float = 0.0) -> float:
        return round(max(float(event["at"]) - self._idle - seconds - self.out.at, 0.0), 4)

    def _run(self, event: Event) -> None:
        if not self.out.at:
            self.out.at = float(event["at"])
            return
        self._idle += max(float(event["at"]) - self._last, 0.0)
        self.out.resumed.append(self._since(event))
        for step in self._open:  # what was under way is done again
            self.out.steps.append(StepRun(step=step, started=self._open[step], cut_off=True))
        self._open = {}

    def _step_started(self, event: Event) -> None:
        self._open[event["step"]] = self._since(event)

    def _step_finished(self, event: Event) -> None:
        started = self._since(event, event["seconds"])
        self.out.steps.append(StepRun.model_validate({**event, "started": self._open.pop(event["step"], started)}))

    def _tool(self, event: Event) -> None:
        same = [p for p in self._planned if (p["tool"], p["arguments"]) == (event["tool"], event["arguments"])]
        told = [t for t in self._told if event["tool"] in TOLD_BY[t["kind"]]]
        self._told = [t for t in self._told if t not in told]
        why = {"reason": same[0]["reason"], "by": same[0]["by"]} if same else {}
        started = self._since(event, event["seconds"])
        self.out.tools.append(ToolRun.model_validate({**event, **why, "started": started, "told": told}))

    def _model(self, event: Event) -> None:
        seconds = float(event.get("seconds", 0.0))
        made = {**event, "seconds": seconds, "started": self._since(event, seconds)}
        step = NODES.get(str(event["role"])) or next(reversed(self._open), "tools")
        self.out.models.append(ModelRun.model_validate({**made, "step": step}))

    def _triage(self, event: Event) -> None:
        self.out.triage = event

    def _gate(self, event: Event) -> None:
        self.out.gate = GateDecision.model_validate({k: v for k, v in event.items() if k in GateDecision.model_fields})

    def _selection(self, event: Event) -> None:
        self.out.selection = Selection.model_validate({k: v for k, v in event.items() if k in Selection.model_fields})

    def _filter(self, event: Event) -> None:
        self.out.verdicts = [Verdict.model_validate(v) for v in event["verdicts"]]

    def _left_out(self, event: Event) -> None:
        self.out.left_out += [str(s) for s in event["statements"]]

    def _locally(self, event: Event) -> None:
        self.out.locally.append(f"{event['role']} judged locally: {event['why']}")

    def _budget(self, event: Event) -> None:
        self.out.locally.append(f"{event['role']} not asked: budget spent ({', '.join(event['spent'])})")

    def _configuration(self, event: Event) -> None:
        self.out.configuration = str(event["name"])

    def _answered(self, event: Event) -> None:
        del event
        self.out.answered = True


def happened(run: str, events: Iterable[Event]) -> Happened:
    """A run out of its events; what is damaged is named in ``damaged``."""
    reading = _Reading(run)
    for event in events:
        reading.read(event)
    return reading.end()


def _nothing(event: Event) -> None:
    del event
