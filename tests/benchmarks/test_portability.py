"""What the check of portable arithmetic says of equal and of different bits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import portability
from benchmarks.portability import HERE, Part, as_markdown, differing
from benchmarks.portable_operators import operators
from harness.errors import InputError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portability, "cache", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


EQUAL = {"operator sum": "a", "operator exp": "b", "losses x": "c", "training x: scores": "d"}


def found(**changed: str) -> dict[str, dict[str, str]]:
    return {
        HERE: EQUAL,
        "Haswell": EQUAL | {name.replace("_", " "): value for name, value in changed.items()},
    }


def test_equal_bits_are_counted_by_kind() -> None:
    text = as_markdown(found(), "a processor")
    assert differing(found()) == []
    assert "| Haswell | 2 of 2 | 1 of 1 | 1 of 1 |" in text
    assert "No result differs." in text


def test_a_result_that_differs_or_is_another_is_named() -> None:
    other = found(operator_exp="x")
    other["EPYC"] = {"operator sum": "a", "losses other": "c"}
    assert differing(other) == ["Haswell: operator exp differs", "EPYC: losses other differs"]
    text = as_markdown(other, "a processor")
    assert "| Haswell | 1 of 2 | 1 of 1 | 1 of 1 |" in text
    assert "| EPYC | 1 of 1 | 0 of 1 | not run |" in text
    assert "No result differs." not in text


@pytest.mark.parametrize(("changed", "code"), [({}, 0), ({"operator_sum": "x"}, 1)])
def test_the_exit_code_says_whether_bits_differ(
    changed: dict[str, str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portability, "REPORT", tmp_path / "report.md")
    monkeypatch.setattr(portability, "run", lambda processor, _: found(**changed)[processor])
    monkeypatch.setattr(portability, "parts_of", lambda *, short: [Part("operator")])
    monkeypatch.setattr(portability.shutil, "which", lambda _: "qemu")
    assert portability.main(["--processors", "Haswell", "--trained-on", ""]) == code
    assert ("Haswell: operator sum differs" in (tmp_path / "report.md").read_text()) == bool(code)


def test_after_each_part_the_report_shows_what_is_known_and_long_parts_start_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[tuple[str, str]] = []
    written: list[str] = []

    def run(processor: str, part: Part) -> dict[str, str]:
        started.append((processor, part.kind))
        return {f"{part.kind} a": "1"}

    monkeypatch.setattr(portability, "run", run)
    monkeypatch.setattr(portability, "write_text", lambda _, text: written.append(text))
    kinds = [Part("training"), Part("operator")]
    portability.on_all({"Haswell": kinds, HERE: kinds}, 1, Path("report.md"))
    assert started == [
        (HERE, "operator"),
        (HERE, "training"),
        ("Haswell", "operator"),
        ("Haswell", "training"),
    ]
    assert len(written) == 4
    assert "| Haswell | 1 of 1 | not run | 1 of 1 |" in written[3]


def test_operators_computed_twice_have_the_same_bits_and_differ_from_each_other() -> None:
    first = operators()
    assert operators() == first
    assert len(set(first.values())) == len(first) - 1  # a linear layer gives the same with gradients


def test_another_processor_is_emulated_and_this_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The emulator is a script that runs the command behind its options, and keeps the options."""
    emulator = tmp_path / "qemu-x86_64"
    emulator.write_text('#!/bin/sh\necho "$1 $2" > options\nshift 2\nexec "$@"\n')
    emulator.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    here = portability.run(HERE, Part("operator"))
    assert not Path("options").exists()
    there = portability.run("Haswell", Part("operator"))
    assert Path("options").read_text() == "-cpu Haswell\n"
    assert here == there == {f"operator {k}": v for k, v in operators().items()}


def test_a_process_that_fails_is_one_line() -> None:
    with pytest.raises(
        InputError, match=r"this machine: losses no-such-run: .*reading the plan needs a checkout"
    ):
        portability.run(HERE, Part("losses", "no-such-run"))


def test_what_the_same_code_computed_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(portability, "run", lambda processor, part: started.append(part.keys) or {"a": "1"})
    for keys, code in (("x", "code"), ("x", "code"), ("y", "code"), ("x", "other code")):
        assert portability.kept(HERE, Part("losses", keys), code) == {"a": "1"}
    assert started == ["x", "y", "x"]
