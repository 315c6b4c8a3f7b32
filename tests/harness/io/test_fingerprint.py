"""A fingerprint covers all imports of a module in any form, and ignores formatting."""

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.io.fingerprint import CodeBase

CODE = '"""What it is."""\n\nRATE = 0.1\n\n\ndef double(x):\n    """Twice."""\n    return 2 * x\n'

TREE = {
    "own/__init__.py": "",
    "own/start.py": "import json\nfrom own.room import part\nfrom own.room.lazy import late\n",
    "own/room/__init__.py": "from .init import LIMIT\n",
    "own/room/init.py": "LIMIT = 1\n",
    "own/room/part.py": "from . import beside as b\nfrom ..top import v, other\n",
    "own/room/beside.py": "import own.deep.inner\n",
    "own/room/lazy.py": "def late():\n    if True:\n        from own.late import work\n        work()\n",
    "own/late.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from own.types_only import T\n",
    "own/top.py": "try:\n    import own.first as v\nexcept OSError:\n    import own.second as v\nother = 1\n",
    "own/first.py": "import own.start\nv = 1\n",
    "own/second.py": "v = 2\n",
    "own/deep/__init__.py": "",
    "own/deep/inner.py": "from own.border import bring\nfrom own.bordering import x\n",
    "own/border.py": "from own.behind import everything\n",
    "own/behind.py": "",
    "own/bordering.py": "x = 1\n",
    "own/types_only.py": "from own.never import T\n",
    "own/never.py": "",
    "own/room/unused.py": "",
    "json.py": "",
}
"""From `start` on, modules are imported as a name of a package, in a function, by a relative name, with dots,
under `try`, in a circle, for type checkers alone, and across a border."""
IMPORTED = {
    "own/__init__.py", "own/start.py", "own/room/__init__.py", "own/room/init.py", "own/room/part.py",
    "own/room/beside.py", "own/room/lazy.py", "own/late.py", "own/top.py", "own/first.py", "own/second.py",
    "own/deep/__init__.py", "own/deep/inner.py", "own/bordering.py",
}  # fmt: skip


BLOCKS = {
    "if": "if a:\n    {}\n",
    "elif": "if a:\n    a()\nelif b:\n    {}\n",
    "else": "if a:\n    a()\nelse:\n    {}\n",
    "for": "for a in b:\n    {}\n",
    "after for": "for a in b:\n    a()\nelse:\n    {}\n",
    "while": "while a:\n    {}\n",
    "after while": "while a:\n    a()\nelse:\n    {}\n",
    "try": "try:\n    {}\nfinally:\n    a()\n",
    "except": "try:\n    a()\nexcept OSError:\n    {}\n",
    "except group": "try:\n    a()\nexcept* OSError:\n    {}\n",
    "after try": "try:\n    a()\nexcept OSError:\n    a()\nelse:\n    {}\n",
    "finally": "try:\n    a()\nfinally:\n    {}\n",
    "with": "with a:\n    {}\n",
    "match": "match a:\n    case 1:\n        {}\n",
    "last case": "match a:\n    case 1:\n        a()\n    case _:\n        {}\n",
    "function": "def a():\n    {}\n",
    "coroutine": "async def a():\n    async with b:\n        {}\n",
    "class": "class A:\n    def a():\n        {}\n",
}
"""Every kind of statement that has statements inside."""


def write(folder: Path, tree: dict[str, str]) -> CodeBase:
    for name, text in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return CodeBase(folder, ["own"], borders=["own.border"])


def mark(folder: Path, tree: dict[str, str]) -> str:
    return write(folder, tree).fingerprint(["own.start"])


def of_one(folder: Path, code: str) -> str:
    return mark(folder, {"own/start.py": code})


@pytest.mark.parametrize(
    "edited",
    [
        "# a comment\n" + CODE,
        CODE.replace("What it is", "Something else"),
        CODE.replace('    """Twice."""\n', ""),
        CODE.replace("RATE = 0.1\n", 'RATE = 0.1\n"""Text under a constant."""\n'),
        CODE.replace("2 * x", "2*x  # twice"),
        CODE.replace("\n\n\n", "\n\n\n\n\n"),
        CODE + "if TYPE_CHECKING:\n    from typing import Any\n",
        CODE + "if typing.TYPE_CHECKING:\n    from typing import Any\n",
    ],
)
def test_writing_differently_keeps_the_fingerprint(tmp_path: Path, edited: str) -> None:
    assert of_one(tmp_path, edited) == of_one(tmp_path, CODE)


@pytest.mark.parametrize(
    "edited",
    [
        CODE.replace("0.1", "0.2"),
        CODE.replace("2 * x", "x * 2"),
        CODE.replace("double", "twice"),
        CODE + "x = 'text'\n",
        CODE + "if TYPE_CHECKING:\n    pass\nelse:\n    x = 1\n",
        CODE + "if not TYPE_CHECKING:\n    x = 1\n",
        *(CODE + block.format("x = 1") for block in BLOCKS.values()),
    ],
)
def test_saying_something_else_changes_it(tmp_path: Path, edited: str) -> None:
    assert of_one(tmp_path, edited) != of_one(tmp_path, CODE)


ACCENT = "WORD = 'h\u00e4user'\n"


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + ACCENT.encode(),
        b"# -*- coding: latin-1 -*-\n" + ACCENT.encode("latin-1"),
        b"# coding: cp1252\n" + ACCENT.encode("cp1252"),
    ],
    ids=["mark", "latin-1", "cp1252"],
)
def test_a_module_is_read_in_the_encoding_that_it_states(content: bytes, tmp_path: Path) -> None:
    plain = of_one(tmp_path / "plain", ACCENT)
    code = write(tmp_path, {"own/start.py": ""})
    (tmp_path / "own/start.py").write_bytes(content)
    assert code.fingerprint(["own.start"]) == plain


@pytest.mark.parametrize("content", [ACCENT.encode("latin-1"), b"# coding: nothing\nx = 1\n", b"x = 1\0\n"])
def test_a_module_that_python_cannot_read_is_one_line(content: bytes, tmp_path: Path) -> None:
    code = write(tmp_path, {"own/start.py": ""})
    (tmp_path / "own/start.py").write_bytes(content)
    with pytest.raises(InputError, match=r"own/start\.py(:\d+)?: ") as error:
        code.fingerprint(["own.start"])
    assert "\n" not in str(error.value)


def test_the_closure_equals_the_modules_that_python_runs(tmp_path: Path) -> None:
    files = write(tmp_path, TREE).closure(["own.start"])
    assert [path.relative_to(tmp_path).as_posix() for path in files] == sorted(IMPORTED)


@pytest.mark.parametrize(
    "line",
    [
        *["import own.room.unused", "import own.top, own.room.unused", "import own.room.unused, own.top"],
        *["import own.room.unused as a", "import own.top as a, own.room.unused as b"],
        *["from own.room import unused", "from own.room import part, unused as a"],
        *["from own.room.unused import x", "from .room import unused", "from .room.unused import x, y"],
        "from own.room import (\n    part,\n    unused,\n)",
    ],
)
def test_every_module_of_an_import_counts(line: str, tmp_path: Path) -> None:
    tree = {**TREE, "own/start.py": f"{line}\n"}
    before = mark(tmp_path, tree)
    assert mark(tmp_path, {**tree, "own/room/unused.py": "x = 1\n"}) != before


def test_a_module_in_another_package_is_another_one(tmp_path: Path) -> None:
    """Both names stand between the same others, and the importer is the same code."""
    marks = set()
    for package in ("room", "rooms"):
        tree = {f"own/{package}/__init__.py": "", f"own/{package}/part.py": "x = 1\n", "own/__init__.py": ""}
        tree["own/start.py"] = "import importlib\n"
        code = write(tmp_path / package, tree)
        marks.add(code.fingerprint(["own.start", f"own.{package}.part"]))
    assert len(marks) == 2


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_module_that_is_imported_in_a_block_of_any_kind_counts_and_its_docstring_does_not(
    kind: str, tmp_path: Path
) -> None:
    tree = {**TREE, "own/start.py": BLOCKS[kind].format("from own.room import unused")}
    first = write(tmp_path, tree)
    assert "unused.py" in {path.name for path in first.closure(["own.start"])}
    before = mark(tmp_path, tree)
    documented = {**tree, "own/start.py": BLOCKS[kind].format("'words'; from own.room import unused")}
    assert mark(tmp_path, documented) == before
    assert mark(tmp_path, {**tree, "own/room/unused.py": "x = 1\n"}) != before


@pytest.mark.parametrize("name", sorted(TREE))
def test_a_changed_module_changes_only_its_importers(tmp_path: Path, name: str) -> None:
    before = mark(tmp_path, TREE)
    after = mark(tmp_path, {**TREE, name: TREE[name] + "changed = 1\n"})
    assert (after != before) is (name in IMPORTED)


def test_a_renamed_module_changes_it_and_a_readme_does_not(tmp_path: Path) -> None:
    before = mark(tmp_path / "a", TREE)
    assert mark(tmp_path / "a", {"own/README.md": "words"}) == before
    tree = {"own/1st.py" if name == "own/first.py" else name: text for name, text in TREE.items()}
    with pytest.raises(InputError, match=r"own/top\.py names module own\.first, which is not below"):
        mark(tmp_path / "b", tree)
    assert mark(tmp_path / "b", {**tree, "own/first/__init__.py": TREE["own/first.py"]}) != before


def test_the_order_of_files_and_roots_and_the_place_of_the_tree_do_not_count(tmp_path: Path) -> None:
    """The second tree is made in another order, elsewhere, and its modules are met in another order."""
    roots = ["own.start", "own.never", "own.behind"]
    expected = write(tmp_path / "a", TREE).fingerprint(roots)
    other = write(tmp_path / "other" / "place", dict(reversed(TREE.items())))
    other.fingerprint(["own.second", "own.deep.inner", "own.room.lazy"])
    assert other.fingerprint(roots[::-1]) == expected
