"""A launch and DVC: release, locks, writes of dvc.lock, and the order of stages."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dvc
import pytest
import yaml
from dvc.utils.serialize import dumps_yaml, parse_yaml_for_update

from harness.cli import main
from harness.commands.launch import further_stages
from harness.errors import InputError
from harness.launch import pipeline
from harness.launch.pipeline import CHANGED, open_pipeline
from harness.launch.scheduler import priorities, stages_to_run
from harness.plan.params_file import read_params
from tests.harness.launch.toy_pipeline import ROOT, runs, stage, start_launch


def test_with_another_release_of_dvc_its_own_repro_runs_the_same_targets(
    toy: Callable[[dict[str, Any]], Path], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    toy({"a": stage("a"), "b": stage("b", ("a.txt",)), "c": stage("c")})
    monkeypatch.setattr(dvc, "__version__", "3.70.0")
    assert main(["launch", "c", "--dry-run"]) == 0
    assert not runs(Path())
    assert "DVC is 3.70.0, launch knows 3.67: `dvc repro --dry c` runs" in capfd.readouterr().err
    assert main(["launch", "b"]) == 0
    assert runs(Path()) == ["a", "b"]
    assert main(["launch"]) == 0
    assert runs(Path()) == ["a", "b", "c"]


def test_a_launch_of_the_first_seeds_leaves_the_others_and_takes_their_outputs_as_they_are(
    toy: Callable[[dict[str, Any]], Path], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The report reads the outputs of both; after a change of their source only the first runs again."""
    toy(
        {name: stage(name) for name in ("evaluate", "further")}
        | {"report": stage("report", ("evaluate.txt", "further.txt"))}
    )
    monkeypatch.setattr("harness.commands.launch.read_params", lambda: SimpleNamespace(runs={}))
    monkeypatch.setattr("harness.commands.launch.further_stages", lambda params: {"further"})
    assert main(["launch"]) == 0
    lock = Path("dvc.lock").read_text()
    assert sorted(runs(Path())) == ["evaluate", "further", "report"]
    Path("source.txt").write_text("other words\n")
    assert main(["launch", "--first-seeds", "--dry-run"]) == 0
    assert "2 of 2 stages would run" in capfd.readouterr().out
    assert main(["launch", "--first-seeds"]) == 0
    assert runs(Path())[3:] == ["evaluate", "report"]
    assert Path("report.txt").read_text() == "other words\nwords\n"
    entries = [
        parse_yaml_for_update(text, "dvc.lock")["stages"] for text in (lock, Path("dvc.lock").read_text())
    ]
    assert entries[0]["further"] == entries[1]["further"]
    assert main(["launch"]) == 0
    assert runs(Path())[5:] == ["further", "report"]


def test_a_pipeline_tells_which_outputs_its_cache_has_and_its_remotes(
    toy: Callable[[dict[str, Any]], Path],
) -> None:
    folder = toy({"a": stage("a"), "b": stage("b", ("a.txt",))})
    with (folder / ".dvc/config").open("a") as config:
        config.write("['remote \"lab\"']\n    url = /nowhere\n")
    with open_pipeline() as before:
        assert (before.is_recorded("a", {}), before.is_cached("a"), before.remotes) == (False, False, ["lab"])
    assert main(["launch"]) == 0
    with open_pipeline() as after:
        assert after.is_cached("a")
        assert after.is_recorded("a", {Path("source.txt"): "words\n"})
        assert not after.is_recorded("a", {Path("source.txt"): "other words\n"})
        assert after.is_recorded("b", {Path("source.txt"): "other words\n"})  # not read by b
    shutil.rmtree(folder / ".dvc/cache")
    with open_pipeline() as removed:
        assert removed.is_recorded("a", {})
        assert not removed.is_cached("a")


def test_a_target_that_the_first_seeds_leave_out_is_refused(
    toy: Callable[[dict[str, Any]], Path], monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    toy({"evaluate": stage("evaluate"), "further": stage("further")})
    monkeypatch.setattr("harness.commands.launch.read_params", lambda: SimpleNamespace(runs={}))
    monkeypatch.setattr("harness.commands.launch.further_stages", lambda params: {"further"})
    line = refused("launch", "--first-seeds", "evaluate", "further")
    assert line.endswith("further: a further seed, which --first-seeds leaves out")
    assert not runs(Path())


def test_the_further_stages_are_those_of_the_seeds_after_the_first() -> None:
    params = read_params(ROOT / "params.yaml")
    stages = further_stages(params)
    assert len(stages) == 2 * sum(not run.is_first for run in params.runs.values()) + len(params.further)
    assert {"train@simcse-small__words-50d__s3", "evaluate@ct-small__words-50d__s9"} < stages
    assert "further@simcse-small__words-50d" in stages
    assert not [name for name in stages if name.endswith(("__s0", "__s1", "__s2"))]


def test_an_unknown_stage_is_one_line_and_no_stage_runs(
    toy: Callable[[dict[str, Any]], Path], refused: Callable[..., str]
) -> None:
    toy({"a": stage("a")})
    assert "no-such-stage" in refused("launch", "no-such-stage")
    assert not Path("a.txt").exists()


def test_an_unknown_stage_is_answered_with_near_ones(
    toy: Callable[[dict[str, Any]], Path], refused: Callable[..., str]
) -> None:
    toy({"evaluate": stage("evaluate"), "train": stage("train")})
    assert "'evalaute' not found" in (line := refused("launch", "train", "evalaute"))
    assert "(did you mean evaluate?)" in line


def test_a_launch_outside_of_a_checkout_says_where_to_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused("launch").endswith("running stages: run this in a checkout of the project")


@pytest.mark.thorough
def test_code_without_a_git_repository_is_launched_with_its_own_settings_of_dvc(
    toy: Callable[[dict[str, Any]], Path],
) -> None:
    """An archive has no .git, and its .dvc/config does not say that there is none."""
    settings = toy({"a": stage("a")}) / ".dvc/config"
    settings.write_text("[core]\n    analytics = false\n[cache]\n    type = copy\n")
    with open_pipeline() as opened:
        assert stages_to_run(opened, {}) == ["a"]
        assert opened._repo.config["cache"]["type"] == ["copy"]
    process = start_launch(Path())
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert "a:" in Path("dvc.lock").read_text()


def test_the_inputs_of_a_job_are_its_command_and_what_it_reads(
    toy: Callable[[dict[str, Any]], Path],
) -> None:
    """A job on Slurm is adopted by a later launch only with the same inputs."""

    folder = toy({"a": stage("a")})

    def inputs(**changes: Any) -> str:
        (folder / "dvc.yaml").write_text(yaml.safe_dump({"stages": {"a": {**stage("a"), **changes}}}))
        with open_pipeline() as opened:
            return opened.job("a", with_inputs=True).inputs

    first = inputs()
    assert first == inputs() != ""
    assert inputs(cmd="python -c 'pass'") != first
    Path("other.txt").write_text("words\n")
    assert inputs(deps=["other.txt"]) != first
    Path("source.txt").write_text("other words\n")
    assert inputs() != first


@pytest.mark.parametrize("error", [KeyboardInterrupt, InputError, OSError])
def test_stages_that_have_finished_are_recorded_whatever_ends_the_launch(
    error: type[BaseException], toy: Callable[[dict[str, Any]], Path]
) -> None:
    toy({name: stage(name) for name in "ab"})

    def launch() -> None:
        with open_pipeline() as opened:
            opened.begin("a")
            Path("a.txt").write_text("made\n")
            opened.finish("a")
            raise error

    with pytest.raises(error):
        launch()
    assert list(yaml.safe_load(Path("dvc.lock").read_text())["stages"]) == ["a"]


def test_dvc_lock_is_written_now_and_then_and_at_the_end_as_dvc_writes_it(
    toy: Callable[[dict[str, Any]], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands of more than 80 characters, whose lines are broken, and a parameter; c ends before b."""
    now = [1000.0]
    monkeypatch.setattr(pipeline.time, "monotonic", lambda: now[0])
    long = "echo " + " ".join(f"word-{number}" for number in range(30))
    toy({name: {**stage(name, command=long), "params": ["plan"]} for name in "abc"})
    lock, states = Path("dvc.lock"), []
    with open_pipeline() as opened:
        for name in "acb":
            assert opened.begin(name) == CHANGED
            Path(f"{name}.txt").write_text("made\n")
            opened.finish(name)
            if name != "b":
                opened.dump(at_once=False)
            states.append(lock.read_text() if lock.exists() else "")
            now[0] += pipeline.LOCK_PERIOD + 1
    written, (first, second, third) = lock.read_text(), states
    assert first == ""
    assert second == third
    assert written == dumps_yaml(parse_yaml_for_update(written, lock))
    assert list(yaml.safe_load(written)["stages"]) == ["a", "b", "c"]
    assert yaml.safe_load(second)["stages"] == {
        name: entry for name, entry in yaml.safe_load(written)["stages"].items() if name != "b"
    }
    assert yaml.safe_load(written)["stages"]["c"]["params"] == {"params.yaml": {"plan": ["toy"]}}


def test_stages_with_the_longest_chain_behind_them_begin_first() -> None:
    """a is needed by b, b by c, d by none: a begins before d, though d is first in order."""
    ranks = priorities({"d": set(), "a": set(), "b": {"a"}, "c": {"b"}})
    assert sorted(ranks, key=ranks.__getitem__) == ["a", "b", "d", "c"]
