"""What `dev bench house` counts of a small house."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from evals.bench.house import BLOCK, Watch, imported_once, repeated_blocks, sources

FILES = {
    "tools/__init__.py": "",
    "tools/alone.py": "def add(a, b):\n    return a + b\n",
    "tools/shared.py": "ONE = 1\n",
    "tools/first.py": "from tools.alone import add\nfrom tools import shared\n",
    "tools/second.py": "def late():\n    from tools.shared import ONE\n    return ONE\n",
}


def test_a_module_that_one_other_imports_is_counted_and_a_shared_one_is_not() -> None:
    trees = {name: ast.parse(text) for name, text in FILES.items()}
    assert imported_once(trees) == 1
    trees["tools/second.py"] = ast.parse("from tools.alone import add\n")
    assert imported_once(trees) == 1  # now `shared` is


def test_a_block_that_stands_in_two_files_is_counted_wherever_it_is_indented() -> None:
    block = [f"value_{n} = compute({n})" for n in range(BLOCK)]
    texts = {"a.py": "\n".join(block), "b.py": "if True:\n" + "\n".join(f"    {line}" for line in block)}
    assert repeated_blocks(texts) == 1
    assert repeated_blocks({"a.py": texts["a.py"], "b.py": "\n".join(block[1:])}) == 0
    names = "from tools.shared import (\n" + "\n".join(f"    name_{n}," for n in range(BLOCK)) + "\n)\n"
    assert repeated_blocks({"a.py": names, "b.py": names}) == 0  # an import of many lines is an import


def test_files_and_functions_that_run_are_those_of_the_rooms(tmp_path: Path) -> None:
    for name, text in {**FILES, "other/outside.py": "def away():\n    return 1\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert sorted(sources(tmp_path)) == sorted(FILES)
    rooms: dict[str, dict[str, object]] = {}
    for name in ("tools/alone.py", "other/outside.py"):
        rooms[name] = {}
        exec(compile((tmp_path / name).read_text(), tmp_path / name, "exec"), rooms[name])  # noqa: S102 written above
    before = sys.getprofile()
    watch = Watch(tmp_path)
    try:
        ran = watch.ran(lambda: (rooms["tools/alone.py"]["add"](1, 2), rooms["other/outside.py"]["away"]()))  # type: ignore[operator]
    finally:
        watch.stop()
        sys.setprofile(before)
    assert ran == (1, 1)
