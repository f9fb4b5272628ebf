"""The checks of published configurations: what is asked, what is seen, and how it is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.configurations.loading import configurations
from agent.settings import Settings
from evals.contract import Item, Reply, TaskContext
from evals.tasks import methods
from evals.tasks.methods.check import Asked, Bench, Check, Places, Row, Seen, documents
from graphs.answering.contract import Answer

PLACES = Places(Path("data"), Path("mirror"), Path("texts"))


def looked(check: Check, texts: list[str], bench: Bench) -> list[tuple[Item, Reply]]:
    rows = [Row(str(n), text) for n, text in enumerate(texts)]
    items = [Item(f"{check.name}/{r.id}", check.name, (r.text,), check.what, Asked(check, r, PLACES)) for r in rows]
    return [(item, Reply(told=bench.give(item))) for item in items]


def test_every_check_belongs_to_a_configuration_and_has_a_name_of_its_own() -> None:
    names = [c.name for c in methods.CHECKS]
    assert len(set(names)) == len(names)
    assert {n.partition(".")[0].replace("_", "-") for n in names} <= set(configurations())


def test_a_row_that_says_nothing_is_not_counted_and_a_check_without_rows_is_told(tmp_path: Path) -> None:
    def look(bench: Bench, row: Row) -> Seen | None:
        return None if row.text == "?" else Seen(row.text == "yes", row.text)

    one, none = (Check(f"cometa.{name}", "says yes", lambda _: [], look) for name in ("one", "none"))
    bench, context = Bench(Settings(home=tmp_path)), TaskContext(tmp_path, 9, 0, Settings(home=tmp_path))
    told = [*looked(one, ["yes", "no", "?", "yes"], bench), *looked(none, ["?"], bench)]
    (figure,) = methods.counted(context, told)
    assert (figure.name, round(figure.value, 1), figure.n) == ("methods.cometa.one", 66.7, 3)
    assert figure.ci95 is not None
    assert list(context.not_run) == ["cometa.none"]
    assert [methods.judge(item, reply).right for item, reply in told] == [True, False, True, True, True]


def test_a_row_is_asked_of_a_configuration_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    answer = Answer(question="q", kind="evidence", language="en", abstained=True)

    class Sittings:
        def hold(self, item: Item) -> Any:
            asked.append(item.id)
            return type("Held", (), {"reply": Reply(answers=(answer,)), "events": ((),)})

    bench = Bench(Settings(home=tmp_path))
    monkeypatch.setattr(bench, "_opened", lambda config: (None, Sittings(), None))
    turns = [bench.turn(config, Row("1", "q")) for config in ("cometa", "cometa", "cometa:d1")]
    assert asked == ["cometa/1", "cometa:d1/1"]
    assert (turns[0].brought(), turns[0].selected, turns[0].cited) == ([], [], [])


def test_documents_are_told_once_and_in_order() -> None:
    assert documents(["pubmed:2@0-4", "pubmed:1", "pubmed:2@9-12"]) == ["pubmed:2", "pubmed:1"]
