"""`sentbench compare` on two commits of a repository made for the test, and on folders."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import main
from tests.support.git import commit
from tests.support.results import copy_recorded


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commit 1 has no scores, commit 2 the recorded ones, commit 3 every SimCSE score lowered by 0.2."""
    (tmp_path / "file").write_text("")
    commit(tmp_path, "nothing")
    scores = tmp_path / "reports/scores"
    copy_recorded(scores)
    commit(tmp_path, "scores")
    paths = sorted(scores.glob("simcse__*.json"))
    assert len(paths) == 3
    for path in paths:
        result = json.loads(path.read_text())
        for score in result["scores"]:
            score["value"] -= 0.2
        path.write_text(json.dumps(result))
    commit(tmp_path, "lower")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_two_revisions_are_compared_as_markdown_and_a_folder_as_json(
    project: Path, printed: Callable[..., str]
) -> None:
    reported = printed("compare", "HEAD~1", "HEAD")
    assert " 0 up and " in reported.splitlines()[0]
    assert "-20.00" in reported
    output = json.loads(printed("compare", "HEAD", "reports/scores", "--json"))
    assert {move["outcome"] for move in output["moves"]} == {"identical"}


def test_another_arithmetic_and_device_are_named_and_one_device_can_be_compared_alone(
    project: Path, printed: Callable[..., str]
) -> None:
    """The recorded results are from before arithmetic was recorded, which was native then."""
    path = min(Path("reports/scores").glob("simcse__*.json"))
    result = json.loads(path.read_text())
    result["provenance"] |= {"arithmetic": "portable", "device": "cuda"}
    path.write_text(json.dumps(result))
    output = printed("compare", "HEAD", "reports/scores")
    assert "The arithmetic of 1 runs: native before, portable after" in output
    assert "evice of 1 runs: cpu before, cuda after" in output
    same = ["compare", "reports/scores", "reports/scores"]
    moves = json.loads(printed(*same, "--device", "cuda", "--json"))["moves"]
    assert len(moves) > 0
    assert {move["system"] for move in moves} == {result["run"]["id"]}


@pytest.mark.parametrize(("fail_on", "code"), [("nothing", 0), ("down", 1), ("moved", 1), ("gone", 1)])
def test_scores_that_went_down_fail_where_that_is_asked_for(
    project: Path, capsys: pytest.CaptureFixture[str], fail_on: str, code: int
) -> None:
    assert main(["compare", "HEAD~1", "HEAD", "--fail-on", fail_on, "--format", "github"]) == code
    *moved, notice = capsys.readouterr().out.splitlines()
    level = "error" if code else "warning"
    assert moved
    assert all(line.startswith(f"::{level} title=simcse@") for line in moved)
    assert all("%3A moved::" in line and "-20.00 points" in line for line in moved)
    assert notice.startswith("::notice title=scores compared::")


def test_scores_that_went_up_or_stayed_fail_no_check_for_lower_ones(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "HEAD", "HEAD~1", "--fail-on", "down"]) == 0
    assert main(["compare", "HEAD", "HEAD~1", "--fail-on", "moved"]) == 1
    assert main(["compare", "HEAD", "HEAD", "--fail-on", "gone"]) == 0
    for path in Path("reports/scores").glob("simcse__*.json"):
        path.unlink()
    assert main(["compare", "HEAD", "reports/scores", "--fail-on", "moved"]) == 0
    assert main(["compare", "HEAD", "reports/scores", "--fail-on", "gone"]) == 1


def scores_of_system(name: str) -> str:
    """Returns a folder with the result files of one system alone."""
    folder = Path("only", name)
    folder.mkdir(parents=True)
    for path in Path("reports/scores").glob(f"{name}__*.json"):
        shutil.copy(path, folder)
    return str(folder)


def test_two_folders_of_one_system_each_are_systems_and_of_the_same_one_are_states(
    project: Path, printed: Callable[..., str]
) -> None:
    simcse, whitening = (scores_of_system(name) for name in ("simcse", "whitening"))
    assert "tasks" in json.loads(printed("compare", simcse, whitening, "--json"))
    assert "moves" in json.loads(printed("compare", simcse, simcse, "--json"))
    assert "moves" in json.loads(printed("compare", simcse, "HEAD", "--json"))
    file, other = (str(min(Path(folder).glob("*.json"))) for folder in (simcse, whitening))
    assert "tasks" in json.loads(printed("compare", file, other, "--json"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["HEAD", "whitening"],
            "HEAD is a state of scores, whitening is a system: expected two of the same kind",
        ),
        (
            ["HEAD~99", "reports/scores"],
            "HEAD~99 is no system with results, file, folder or git revision here",
        ),
        (
            ["some/model", "simcse"],
            "some/model is a model of the hub, as no path here has this name, simcse is a system",
        ),
        (["HEAD", "reports/scores", "--tasks", "STSB"], "--tasks: two states"),
        (["HEAD", "reports/scores", "--no-pairs"], "--no-pairs is for a system"),
        (["HEAD", "reports/scores", "--pooling", "cls"], "--pooling is for a model"),
        (["simcse", "whitening", "--fail-on", "down"], "--fail-on is for a state of scores"),
        (["simcse", "whitening", "--format", "github"], "--format github is for a state of scores"),
    ],
)
def test_two_of_no_kind_and_options_of_another_kind_are_refused(
    project: Path, refused: Callable[..., str], words: list[str], message: str
) -> None:
    assert message in refused("compare", *words)
