"""YAML with an unclear meaning, or that would mislead a human, is a one-line error."""

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.io.yaml_files import read_yaml

REFUSED = {
    "unfinished flow": "[" * 5000,
    "alias as its own key": "&a {? *a : 1}",
    "long integer": "a: " + "9" * 5000,
    "repeated key": "a: 1\nb: {c: 1, d: 2, c: 3}",
    "tag of Python": "!!python/object/apply:os.system [ls]",
    "two documents": "a: 1\n---\na: 2",
    "no date": "a: 2001-99-99",
}
CONTROLS = {f"\\x{ord(sign):02x}": sign for sign in "\x00\x07\x08\x0d\x1b\x7f\x9b"} | {
    f"\\u{ord(sign):04x}": sign for sign in "\u061c\u200f\u2028\u202a\u202e\u2066\u2069"
}


def refusal(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_yaml(path)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(str(path))
    return message


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_not_one_yaml_document_with_unique_keys_is_one_line(tmp_path: Path, text: str) -> None:
    assert len(refusal(tmp_path / "a.yaml", text)) < 400


def test_a_repeated_key_is_named_with_its_line(tmp_path: Path) -> None:
    assert "line 3: not YAML (key 'a' appears twice)" in refusal(tmp_path / "a.yaml", "a: 1\nb: 2\na: 3\n")


def test_an_own_key_next_to_a_merged_one_counts_once(tmp_path: Path) -> None:
    """The alias is used before its anchor's mapping is built, at a lower level."""
    path = tmp_path / "a.yaml"
    path.write_text("z: &z {x: 1}\nk: {deep: &a {<<: *z, x: 3}}\nb: {<<: *a}\n")
    assert read_yaml(path)["b"] == {"x": 3}
    assert "line 2: not YAML (key 'x' appears twice)" in refusal(
        path, "a: &a {x: 1}\nb: {<<: *a, x: 3, x: 4}\n"
    )


@pytest.mark.parametrize("escape", CONTROLS)
def test_a_control_character_is_refused_at_any_position(tmp_path: Path, escape: str) -> None:
    for text in (f'a: "x{escape}"', f'"{escape}x": 1', f'- ["{escape}"]', f'"{escape}"'):
        assert "character" in refusal(tmp_path / "a.yaml", text)
    refusal(tmp_path / "a.yaml", f"a: x{CONTROLS[escape]}y")


def test_every_valid_declaration_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(
        "\ufeffa: &a [1, 2]\r\nb: *a\r\nc: {<<: {d: 1}, e: 'na\u00efve \u2211 \U0001f600'}\r\n".encode()
    )
    assert read_yaml(path) == {"a": [1, 2], "b": [1, 2], "c": {"d": 1, "e": "na\u00efve \u2211 \U0001f600"}}
    path.write_text('a: "two\\nlines\\tand a tab"')
    assert read_yaml(path) == {"a": "two\nlines\tand a tab"}
