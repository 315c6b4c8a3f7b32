"""A launch on this machine: records, failures, and the state after it was killed."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dvc.lock
import pytest

from harness.cli import main
from harness.commands import launch
from tests.harness.launch.toy_pipeline import (
    ROOT,
    repro,
    runs,
    stage,
    wait_for,
    wait_until_gone,
    write_pipeline,
)
from tests.support.yaml_files import load_yaml

Toy = Callable[[dict[str, Any]], Path]
FAN = {
    "last": stage("last", ("b.txt", "c.txt", "d.txt")),
    "d": stage("d", ("a.txt",), "sleep 0.3"),
    "c": stage("c", ("a.txt",)),
    "b": stage("b", ("a.txt",), "sleep 0.6"),
    "a": stage("a"),
}
"""One stage, three that need it and end side by side in the order c, d, b, and one that needs those."""


def test_dvc_lock_has_the_bytes_of_a_serial_repro_which_then_runs_no_stage(toy: Toy, tmp_path: Path) -> None:
    serial, launched = write_pipeline(tmp_path / "serial", FAN), toy(FAN)
    assert sorted(repro(serial)) == sorted(FAN)
    assert main(["launch", "--jobs", "3"]) == 0
    assert (launched / "dvc.lock").read_bytes() == (serial / "dvc.lock").read_bytes()
    assert repro(launched) == []
    assert main(["launch"]) == 0
    assert sorted(runs(launched)) == sorted(FAN)


def test_a_failed_stage_skips_its_dependents_alone_and_the_same_command_repairs_it(
    toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = stage("b", ("a.txt",), "{ test -e repaired || { echo no such luck >&2; exit 3; }; }")
    toy({**FAN, "b": failing})
    assert main(["launch", "--jobs", "2"]) == 1
    shown = capsys.readouterr().err
    assert "failed: b: exit code 3: no such luck (log: .cache/launch/b.log)" in shown
    assert "1 failed; 1 stages were not run" in shown
    assert sorted(runs(Path())) == ["a", "b", "c", "d"]
    Path("repaired").touch()
    assert main(["launch"]) == 0
    assert runs(Path())[4:] == ["b", "last"]


def test_a_stage_that_a_signal_ended_is_tried_again_and_one_that_ended_by_itself_is_not(
    toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = stage("killed", command="{ test $(wc -l < runs.txt) -gt 2 || kill -9 $$; }")
    always = stage("always", ("killed.txt",), "kill -9 $$")
    failing = stage("failing", ("killed.txt",), "false")
    toy({"killed": killed, "always": always, "failing": failing})
    assert main(["launch", "--retries", "2", "--jobs", "1"]) == 1
    assert Counter(runs(Path())) == {"killed": 3, "always": 3, "failing": 1}
    assert "failed: always: ended by signal 9" in capsys.readouterr().err
    log = Path(".cache/launch/killed.log").read_text()
    assert [line.split()[2] for line in log.splitlines() if line.startswith("== attempt")] == ["1", "2", "3"]


def test_a_stage_without_its_output_or_its_dependency_fails_with_one_line(
    toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = {"cmd": "true", "deps": ["source.txt"], "outs": ["nothing.txt"]}
    toy({"empty": empty, "hungry": stage("hungry", ("absent.txt",))})
    assert main(["launch"]) == 1
    failures = [line for line in capsys.readouterr().err.splitlines() if line.startswith("failed: ")]
    assert len(failures) == 2
    assert "absent.txt" in "".join(failures)


def test_a_dependency_that_is_edited_while_the_stage_runs_is_not_recorded(
    toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    toy({"edited": stage("edited", command="{ test -e later || echo more >> source.txt; }")})
    assert main(["launch"]) == 1
    assert "source.txt: changed while the stage ran, so it is not recorded" in capsys.readouterr().err
    assert not Path("dvc.lock").exists()
    Path("later").touch()
    assert main(["launch"]) == 0
    assert runs(Path()) == ["edited", "edited"]


def test_outputs_in_the_run_cache_are_restored(toy: Toy) -> None:
    toy(FAN)
    assert main(["launch"]) == 0
    lock = Path("dvc.lock").read_bytes()
    for name in ("dvc.lock", "c.txt", "last.txt"):
        Path(name).unlink()
    assert main(["launch"]) == 0
    assert len(runs(Path())) == len(FAN)
    assert Path("dvc.lock").read_bytes() == lock
    assert Path("last.txt").read_text() == "words\n" * 3


def test_scores_outside_the_cache_are_restored_because_they_are_plots(toy: Toy) -> None:
    """The stage `evaluate` declares its scores so; as plain outputs they would be made again."""
    scored = {**stage("scored"), "plots": [{"scored.txt": {"cache": False}}]}
    del scored["outs"]
    toy({"scored": scored, "plain": {**stage("plain"), "outs": [{"plain.txt": {"cache": False}}]}})
    assert main(["launch"]) == 0
    Path("dvc.lock").unlink()
    assert main(["launch"]) == 0
    assert sorted(runs(Path())) == ["plain", "plain", "scored"]
    assert Path("scored.txt").read_text() == "words\n"
    evaluate = load_yaml((ROOT / "dvc.yaml").read_text())["stages"]["evaluate"]["do"]
    assert "${item.outputs}/scores/${key}.json" in {next(iter(out)) for out in evaluate["plots"]}


@pytest.mark.thorough
def test_a_lock_that_is_held_is_one_line(
    toy: Toy, start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    first = start(toy({"slow": stage("slow", command="sleep 30")}))
    wait_for(Path("runs.txt"))
    monkeypatch.setattr(dvc.lock, "DEFAULT_TIMEOUT", 0.6)
    assert "another `dvc` or `sentbench launch` is running in this project" in refused("launch")
    first.terminate()
    assert first.wait(30) == 143


@pytest.mark.thorough
def test_a_killed_scheduler_leaves_no_process_and_no_run_is_trained_twice(
    toy: Toy, start: Callable[..., Any]
) -> None:
    slow = stage("slow", ("quick.txt",), "echo $$ > process; sleep 60 & echo $! > child; wait")
    folder = toy({"quick": stage("quick"), "slow": slow})
    launch = start(folder)
    wait_for(folder / "child")
    launch.kill()
    launch.wait()
    wait_until_gone(*(int(Path(name).read_text()) for name in ("process", "child")))
    assert not Path("dvc.lock").exists()
    Path("dvc.yaml").write_text(Path("dvc.yaml").read_text().replace("sleep 60", "sleep 0"))
    assert main(["launch"]) == 0
    assert runs(folder) == ["quick", "slow", "slow"]


def test_a_dry_run_lists_the_stages_and_changes_no_file(toy: Toy, printed: Callable[..., str]) -> None:
    toy(FAN)
    assert main(["launch", "c"]) == 0
    before = {path: path.read_bytes() for path in (Path("dvc.lock"), Path("a.txt"), Path("c.txt"))}
    assert printed("launch", "--dry-run") == "3 of 5 stages would run: 1 b, 1 d, 1 last\n"
    assert {path: path.read_bytes() for path in before} == before
    assert runs(Path()) == ["a", "c"]


def test_an_unchanged_output_causes_no_rerun(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    """`hash` reads the code; two stages read a file each of its outputs, another reads both."""
    hashes = {
        "cmd": "mkdir -p h && echo 1 > h/a && echo 1 > h/b",
        "deps": ["source.txt"],
        "outs": ["h/a", "h/b"],
    }
    toy(
        {
            "entries": stage("entries"),
            "fingerprint": hashes,
            "a": stage("a", ("h/a",)),
            "b": stage("b", ("h/b",)),
            "both": stage("both", ("a.txt", "b.txt")),
        }
    )
    assert main(["launch"]) == 0
    Path("source.txt").write_text("other words\n")
    texts = {Path("h/a"): "1\n", Path("h/b"): "1\n"}
    entries = {Path("entries.txt"): "other words\n"}

    def foreseen(pipeline: object) -> dict[str, dict[Path, str]]:
        return {"entries": entries, "fingerprint": texts}

    monkeypatch.setattr(launch, "foreseen", foreseen)
    assert printed("launch", "--dry-run") == "2 of 5 stages would run: 1 entries, 1 fingerprint\n"
    texts[Path("h/b")] = "2\n"
    assert printed("launch", "--dry-run").startswith("4 of 5 stages would run: ")
    assert "1 b, 1 both" in printed("launch", "--dry-run")
