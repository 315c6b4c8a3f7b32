"""Output of the check of portable arithmetic for equal and different bits."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.portability import __main__ as portability
from benchmarks.portability import records
from benchmarks.portability.computing import OPERATORS, operators
from benchmarks.portability.records import RecordedResults, as_markdown, differing

REFERENCE = "a processor, family 1, model 2"
EQUAL = {"operator sum": "a", "operator exp": "b", "losses x": "c"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


def records_of(**others: dict[str, str]) -> RecordedResults:
    known = RecordedResults(REFERENCE, "code", None)
    for processor, results in {REFERENCE: EQUAL, **others}.items():
        known.add(processor, results)
    return known


def test_results_are_counted_by_kind_and_those_that_differ_are_named() -> None:
    other = {"operator sum": "a", "losses other": "c"}
    known = records_of(EPYC=other, Haswell=EQUAL | {"operator exp": "another"}, Milan=EQUAL)
    assert differing(known) == ["EPYC: losses other differs", "Haswell: operator exp differs"]
    text = as_markdown(known)
    assert "| EPYC | 1 of 1, 1 not run | 0 of 1, 1 not run |" in text
    assert "| Milan | 2 of 2 | 1 of 1 |" in text


def test_records_of_earlier_code_are_separate_and_compared_with_each_other(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    former = RecordedResults(REFERENCE, "former code", file)
    former.add(REFERENCE, EQUAL)
    former.add("Haswell", EQUAL)
    former.add("Milan", EQUAL | {"operator exp": "another"})
    known = RecordedResults(REFERENCE, "code", file)
    text = as_markdown(known)
    assert f"| {REFERENCE} | not run | not run |" in text
    assert "No result of the present code is on record." in text
    assert (
        f"| Haswell | 2 of 2 | 1 of 1 |\n| Milan | 1 of 2 | 1 of 1 |\n| {REFERENCE} | 2 of 2 | 1 of 1 |"
        in text
    )
    known.add(REFERENCE, EQUAL)
    known.add("Haswell", EQUAL)
    assert list(known.earlier()) == ["Milan"]


def test_the_record_names_the_machine_that_others_are_compared_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The text that is made of the record alone is the one that was written with it."""
    monkeypatch.setattr(records, "code_that_computes", lambda: "code")
    records.KEPT.parent.mkdir()
    measured = RecordedResults(REFERENCE, "code", records.KEPT)
    for processor, results in {"Milan": EQUAL | {"operator exp": "another"}, REFERENCE: EQUAL}.items():
        measured.add(processor, results)
    assert as_markdown(records.recorded()) == as_markdown(measured)
    assert differing(records.recorded()) == ["Milan: operator exp differs"]


@pytest.mark.parametrize(("exp", "code"), [("b", 0), ("another", 1)])
def test_this_machine_is_first_and_the_exit_code_says_whether_bits_differ(
    exp: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, started = {REFERENCE: EQUAL, "Haswell": EQUAL | {"operator exp": exp}}, []

    def run(processor: str, keys: Sequence[str], known: RecordedResults) -> str:
        started.append(processor)
        known.add(processor, results[processor])
        return processor

    monkeypatch.setattr(portability, "run", run)
    named = {"processor": "a processor", "model": "family 1, model 2"}
    monkeypatch.setattr("benchmarks.runner.machine", lambda device: named)
    monkeypatch.setattr(portability, "code_that_computes", lambda: "code")
    monkeypatch.setattr("harness.plan.params_file.read_params", lambda: None)
    monkeypatch.setattr("harness.check.first_losses.measured_runs", lambda params: ["x"])
    monkeypatch.setattr(portability.shutil, "which", lambda _: "qemu")
    assert portability.main(["--processors", "Haswell"]) == code
    assert started == [REFERENCE, REFERENCE, "Haswell", "Haswell"]
    assert ("Haswell: operator exp differs" in records.REPORT.read_text()) == bool(code)


@pytest.mark.slow
def test_another_processor_is_emulated_and_this_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The emulator is a script that records its options and runs the command after them."""
    emulator = tmp_path / "qemu-x86_64"
    emulator.write_text('#!/bin/sh\necho "$1 $2" > options\nshift 2\nexec "$@"\n')
    emulator.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    known = RecordedResults(REFERENCE, "code", None)
    portability.run(REFERENCE, [OPERATORS], known)
    assert not Path("options").exists()
    portability.run("Haswell", [OPERATORS], known)
    assert Path("options").read_text() == "-cpu Haswell\n"
    expected = {f"operator {name}": digest for name, digest in operators().items()}
    assert known.results(REFERENCE) == known.results("Haswell") == expected


def test_known_results_are_not_computed_again() -> None:
    known = records_of(Haswell={"operator sum": "a", "losses y": "c"})
    assert known.lacking(REFERENCE, [OPERATORS, "x", "y"]) == ["y"]
    assert known.lacking("Haswell", [OPERATORS, "x", "y"]) == [OPERATORS, "x"]
    assert RecordedResults(REFERENCE, "code", None).lacking(REFERENCE, [OPERATORS]) == [OPERATORS]


def test_results_of_other_code_are_known_where_this_machine_has_the_same(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    old = RecordedResults(REFERENCE, "old code", file)
    old.add(REFERENCE, {"losses a": "1", "losses b": "1"})
    old.add("Haswell", {"losses a": "1", "losses b": "1"})
    new = RecordedResults(REFERENCE, "new code", file)
    assert new.results(REFERENCE) == {}, "this machine shows what today's code gives"
    new.add(REFERENCE, {"losses a": "1", "losses b": "2"})
    assert new.results("Haswell") == {"losses a": "1"}
    new.add("Haswell", {"losses b": "3"})
    assert differing(new) == ["Haswell: losses b differs"]
