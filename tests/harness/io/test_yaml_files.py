"""YAML that would crash, hang or exhaust a reader, or mislead a human, is a one-line error."""

import resource
import time
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.io.yaml_files import DEEPEST, LONGEST_INTEGER, MOST_VALUES, read_yaml

TEN = ",".join(["x"] * 10)


def bomb(levels: int, *, merged: bool = False) -> str:
    """Returns a text of `levels` lines that stands for 10 ** levels values."""
    lines = [f"a0: &a0 {{{', '.join(f'k{n}: 1' for n in range(10))}}}" if merged else f"a0: &a0 [{TEN}]"]
    for level in range(1, levels):
        tenfold = ",".join([f"*a{level - 1}"] * 10)
        lines.append(f"a{level}: &a{level} " + (f"{{<<: [{tenfold}]}}" if merged else f"[{tenfold}]"))
    return "\n".join(lines)


def chain(length: int) -> str:
    """Returns lists each of which holds the one before, by its name."""
    return "\n".join(f"k{n}: &k{n} [{f'*k{n - 1}' if n else 1}]" for n in range(length))


HOSTILE = {
    "flow": "[" * 200_000,
    "closed flow": "[" * 200_000 + "]" * 200_000,
    "blocks": "- " * 200_000,
    "indented": "\n".join(" " * level + "a:" for level in range(1500)),
    "a little too deep": "a: " + "[" * DEEPEST + "]" * DEEPEST,
    "bomb": bomb(9),
    "bomb in strict mappings": bomb(9, merged=True),
    "chain of aliases": chain(3000),
    "alias in itself, deeper": "a: &a {b: [1, {c: *a}]}",
    "alias as its own key": "&a {? *a : 1}",
    "long integer": "a: " + "9" * (LONGEST_INTEGER + 1),
    "long hexadecimal": "a: 0x" + "f" * 100_000,
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


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_yaml_is_one_line_within_seconds_and_little_memory(tmp_path: Path, text: str) -> None:
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    assert len(refusal(tmp_path / "a.yaml", text)) < 400
    assert time.monotonic() - started < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # KiB


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
    depth = DEEPEST - 2
    path.write_text("a: " + "[" * depth + "]" * depth)
    assert read_yaml(path) is not None
    path.write_text("a: [" + "x," * 20_000 + "]")
    assert len(read_yaml(path)["a"]) == 20_000 < MOST_VALUES
    path.write_text('a: "two\\nlines\\tand a tab"')
    assert read_yaml(path) == {"a": "two\nlines\tand a tab"}
