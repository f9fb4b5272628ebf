"""ICD-10 for the commands and the evaluations: tables built once in the data folder, and linkers over them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agent.knowledge_graph import STARTER_GRAPH
from agent.sessions import Home
from agent.settings import Settings
from tools.files import locked
from tools.icd10 import ICD10, compile_icd10, is_current, load_icd10
from tools.knowledge_graph.loader import content_hash, read_graph

if TYPE_CHECKING:
    from tools.icd10.chinese import ChineseNames
    from tools.icd10.contract import Name, Setting
    from tools.icd10.linking import Linker
    from tools.icd10.names import NamedCodes

TABLE, NAMES, CHINESE = "icd10.json", "icd10-names.json", "icd10-zh.json"


def build_icd10(home: Home, say: Callable[[str], None] = lambda _: None) -> None:
    """Compile the table; what is up to date is left."""
    home.indexes.mkdir(parents=True, exist_ok=True, mode=0o700)
    with locked(home.indexes / "icd10-build"):
        if not is_current(home.indexes / TABLE):
            say("ICD-10 table ...")
            compile_icd10(home.indexes / TABLE)
            load_icd10.cache_clear()


def build_icd10_names(home: Home, say: Callable[[str], None] = lambda _: None) -> None:
    """Compile the names, of a table that is there; what is up to date is left."""
    say("ICD-10 names ...")
    named(home, load_icd10(home.indexes / TABLE))


def named(home: Home, table: ICD10, graph: Path | None = STARTER_GRAPH) -> NamedCodes:
    """The names of the codes and those that a graph gives its diseases; None leaves the graph out."""
    from tools.icd10.names import open_names

    if graph is None:
        return open_names(home.indexes / f"bare-{NAMES}", table)
    return open_names(home.indexes / NAMES, table, content_hash(graph), lambda: graph_names(graph))


def graph_names(graph: Path) -> list[Name]:
    """Every name, English and Chinese, of a graph's diseases that have a code."""
    from tools.icd10.contract import Name

    return [
        Name(d.icd10, name, "alias")
        for d in read_graph(graph).diseases
        if d.icd10
        for name in (d.name, *d.aliases, d.zh, *d.aliases_zh)
    ]


def chinese_names(settings: Settings, home: Home) -> ChineseNames | None:
    """The user's table of Chinese names; None when none is set. Raises InputError for one that cannot be read."""
    if settings.icd10_zh is None:
        return None
    from tools.icd10.chinese import open_chinese

    return open_chinese(settings.icd10_zh, home.indexes / CHINESE)


def open_linker(settings: Settings, home: Home, setting: Setting, chinese: ChineseNames | None) -> Linker:
    """A linker over the data folder's tables, which are built first where they never were."""
    from tools.icd10.linking import Linker

    build_icd10(home)
    table = load_icd10(home.indexes / TABLE)
    return Linker(table, named(home, table, settings.kg_graph or STARTER_GRAPH), setting, chinese)
