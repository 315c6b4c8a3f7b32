"""The reader of YAML files: refusals in one line with file, line and key."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import Field

from harness.errors import InputError
from harness.io.declarations import (
    DeclaredModel,
    Name,
    read_declaration,
    read_declarations,
    read_record,
)
from harness.io.yaml_files import read_yaml

ROOT = Path(__file__).parents[3]


class Toy(DeclaredModel):
    rate: float
    names: list[Name] = Field(default_factory=list)
    inner: dict[Name, float] = Field(default_factory=dict)


def complaint(path: Path, content: str | bytes) -> str:
    """Returns the one line with which a file of this content is refused."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        read_declaration(path, Toy)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"rate: \xff\n", ": byte 6 is not UTF-8"),
        ("rate: !!python/name:os.system 1\n", ": line 1: not YAML"),
        ("", ": its top level is null, expected keys"),
        ("rate: 3e-5\n", ': rate is "3e-5": input should be a valid number; write 3.0e-5'),
        ("rate: .nan\n", ": rate is NaN: input should be a finite number"),
        ("{}\n", ": rate: missing required key"),
        ("rate: 1.0\nrtae: 1.0\n", ": unknown key rtae"),
        ("rate: 1.0\nnames: [../../x]\n", ': names.0 is "../../x": expected a name of lower-case letters'),
        ("rate: 1.0\ninner: {../x: 1.0}\n", ': key "../x" of inner: expected a name of lower-case letters'),
    ],
)
def test_a_file_that_is_off_is_refused_with_its_place(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    assert message in complaint(tmp_path / "toy.yaml", content)


def test_a_merged_key_may_be_given_again_but_an_own_one_not(tmp_path: Path) -> None:
    path = tmp_path / "toy.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: {<<: *a}\n")
    assert read_yaml(path) == {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}, "c": {"x": 1, "y": 2}}
    path.write_text("a: &a {x: 1}\nb: {<<: *a, x: 3, x: 4}\n")
    with pytest.raises(InputError, match=r"line 2: not YAML .key 'x' appears twice"):
        read_yaml(path)


def test_values_by_name_and_records_are_read_with_the_same_words(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text("b: {rate: 1.0}\na: {rate: 2.0}\n")
    actual = read_declarations(tmp_path / "two.yaml", Toy)
    assert {name: toy.rate for name, toy in actual.items()} == {"b": 1.0, "a": 2.0}
    (tmp_path / "r.json").write_text('{"rate": "1"}')
    with pytest.raises(InputError, match="rate is"):
        read_record(tmp_path / "r.json", Toy)


def test_no_module_reads_yaml_but_the_reader() -> None:
    calls = re.compile(r"yaml\.(safe_)?load\(|CSafeLoader")
    actual = [
        path.relative_to(ROOT).as_posix()
        for room in ("harness", "methods", "benchmarks")
        for path in (ROOT / room).rglob("*.py")
        if calls.search(path.read_text(encoding="utf-8"))
    ]
    assert actual == ["harness/io/yaml_files.py"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  simcse-small__words-50d__s0:", "  ../../../../x:", 'key "../../../../x" of runs'),
        ("backbone: backbones/minilm-l2", "backbone: backbones/../../x", "backbone is"),
        ("parent: data/wiki-small", "parent: harness/cli.py", "parent is"),
        ("  selection-senteval:\n", "  ../x:\n", 'key "../x" of reads'),
    ],
)
def test_a_plan_that_leads_out_of_the_project_is_refused_by_every_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: Callable[..., str],
    old: str,
    new: str,
    message: str,
) -> None:
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    assert old in text
    inside = tmp_path / "a/b/c/d/project"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    Path("params.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    for command in ("stage entries", "list runs", "stage train ../../../../x --out y"):
        assert message in refused(*command.split())
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["params.yaml"]
