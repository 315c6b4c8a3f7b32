"""`sentbench check`: first losses and results, exact in portable arithmetic, and its problems."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.check.first_losses import read_losses
from harness.cli import main
from harness.command_line import parser_of
from harness.commands import check
from harness.commands.check import Findings, check_losses
from harness.io.files import write_record
from harness.io.records import read_object
from harness.paths import FIRST_LOSSES, SCORES
from harness.plan.params_file import read_params
from harness.report.formats.markdown import annotation
from tests.faults.small_project import EVALUATE, RUN, TRAIN, write_project
from tests.support.git import commit

LOSSES_PASS = "first losses: 1 of 1 systems identical"
REPRODUCED = "reproduced: all 1 systems agree with the committed results; 1 of 1 runs here are bit-identical"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of one run, with its committed result and first losses."""
    folder = write_project(tmp_path_factory.mktemp("check") / "project")
    leaderboards = (folder / "leaderboards").resolve()
    (folder / "leaderboards").unlink()
    shutil.move(leaderboards, folder / "leaderboards")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        for words in (TRAIN, EVALUATE, ["check", "--measure"]):
            assert main(words) == 0
        (folder / ".gitignore").write_text("embeddings\nartefacts\n.cache\n")
        commit(folder, "results")
    return folder


@pytest.fixture
def project(evaluated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project, without the check of the scoring, which needs more data."""
    monkeypatch.chdir(shutil.copytree(evaluated, tmp_path / "copy", symlinks=True))
    monkeypatch.setattr("harness.commands.check.scoring_problems", list)
    return tmp_path / "copy"


def change_scores(change: Callable[[dict[str, Any]], None]) -> None:
    path = SCORES / f"{RUN}.json"
    raw = read_object(path, again="")
    change(raw)
    write_record(path, raw)


def moved(points: float) -> Callable[[dict[str, Any]], None]:
    """Returns a change of the last score of a result."""

    def change(raw: dict[str, Any]) -> None:
        raw["scores"][-1]["value"] += points / 100

    return change


def test_the_project_as_it_is_committed_is_reproduced(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        LOSSES_PASS,
        "scoring: 0 encoders differ from their known scores",
        REPRODUCED,
    ]


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_loss_that_differs_in_its_last_digit_is_named(
    project: Path, capsys: pytest.CaptureFixture[str], position: int
) -> None:
    text = FIRST_LOSSES.read_text()
    known = text.partition("[")[2].strip("]\n").split(", ")
    other = f"{float(known[position]) * (1 + 1e-9):.10g}"
    assert other != known[position]
    FIRST_LOSSES.write_text(text.replace(known[position], other))
    assert main(["check", "--only", "losses"]) == 1
    problem, summary = capsys.readouterr().out.splitlines()
    assert problem.startswith(f"{RUN}: first losses {', '.join(known)}, expected ")
    assert problem.endswith(": equal to rounding")
    assert summary == "not reproduced: 1 problem above; first losses: 0 of 1 systems identical"


def test_native_arithmetic_may_round_but_not_more(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.commands.check.is_exact", lambda: False)
    known = FIRST_LOSSES.read_text().partition("[")[2].split(",")[0]
    for share, code in ((1.0001, 0), (1.01, 1)):
        FIRST_LOSSES.write_text(
            FIRST_LOSSES.read_text().replace(known, other := f"{float(known) * share:.10g}")
        )
        known = other
        assert main(["check", "--only", "losses"]) == code
    assert ": moved" in capsys.readouterr().out


def test_the_first_losses_of_a_system_count_for_its_other_seeds(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 1 is not measured: what its system's first seed says holds for it, in either direction."""
    params, second = read_params(), RUN.replace("__s0", "__s1")
    runs = {**params.runs, second: params.runs[RUN].model_copy(update={"seed": 1})}
    plan, losses = params.model_copy(update={"runs": runs}), read_losses(FIRST_LOSSES)
    monkeypatch.setattr("harness.commands.check.measure_runs", lambda plan, keys, ended: {RUN: losses[RUN]})
    findings = Findings()
    assert check_losses(findings, plan) == {RUN: "identical", second: "identical"}
    assert (findings.problems, findings.lines) == ([], [LOSSES_PASS])
    monkeypatch.setattr(
        "harness.commands.check.measure_runs", lambda plan, keys, ended: {RUN: [9.0, 9.0, 9.0]}
    )
    findings = Findings()
    assert check_losses(findings, plan) == {RUN: "moved", second: "moved"}
    (problem,) = findings.problems
    assert problem.startswith(f"{RUN} (and 1 other seeds): first losses 9, 9, 9, expected ")


def test_any_number_of_a_run_that_passes_its_first_losses_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A millionth of a point is below rounding, and portable arithmetic has no rounding differences."""
    change_scores(moved(1e-6))
    assert main(["check", "--only", "results"]) == 0
    assert main(["check"]) == 1
    said = capsys.readouterr().out.splitlines()
    score = read_object(SCORES / f"{RUN}.json", again="")["scores"][-1]
    (line,) = [text for text in said if text.startswith(RUN)]
    assert (
        "passes its first losses, and its result is not identical (equal to rounding): 1 other scores" in line
    )
    assert score["task"] in line
    assert score["metric"] in line


def changed_at(*path: str | int) -> Callable[[dict[str, Any]], None]:
    """Returns a change of one number of a result: by one, or by a millionth of a share or correlation."""

    def change(raw: dict[str, Any]) -> None:
        part = raw
        for name in path[:-1]:
            part = part[name]
        part[path[-1]] += 1 if isinstance(part[path[-1]], int) else 1e-6

    return change


@pytest.mark.parametrize(
    ("path", "named"),
    [
        (("scores", 0, "value"), "1 other scores (STSB spearman)"),
        (("scores", -1, "value"), "1 other scores (STSB pearson)"),
        (("scores", 0, "n"), "1 other scores (STSB spearman)"),
        (("selection", "best_dev"), "0 other scores (none)"),
        (("selection", "last_dev"), "0 other scores (none)"),
        (("selection", "initial_dev"), "0 other scores (none)"),
        (("selection", "last_step"), "0 other scores (none)"),
    ],
)
def test_every_number_of_a_result_is_checked(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    path: tuple[str | int, ...],
    named: str,
) -> None:
    """The first losses pass, because they equal the file."""
    monkeypatch.setattr(
        "harness.commands.check.measure_runs", lambda *given, ended: read_losses(FIRST_LOSSES)
    )
    change_scores(changed_at(*path))
    assert main(["check"]) == 1
    (line,) = [text for text in capsys.readouterr().out.splitlines() if text.startswith(f"{RUN}: ")]
    assert "passes its first losses, and its result is not identical" in line
    assert line.endswith(named)


def test_other_weights_with_equal_scores_are_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change_scores(lambda raw: raw["provenance"].update(encoder_sha256="other"))
    assert main(["check"]) == 1
    assert "is not identical (equal to rounding): 0 other scores (none)" in capsys.readouterr().out


def test_results_of_native_arithmetic_may_round(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change_scores(lambda raw: raw["provenance"].update(arithmetic="native"))
    commit(project, "native")
    change_scores(moved(0.01))
    assert main(["check"]) == 0
    assert "reason: " in capsys.readouterr().out
    change_scores(moved(0.1))
    assert main(["check"]) == 1
    assert "not reproduced: 1 of 1 systems does not agree" in capsys.readouterr().out


def test_a_run_without_first_losses_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FIRST_LOSSES.write_text("another__run__s0: [1.0, 2.0, 3.0]\n")
    assert main(["check", "--only", "losses"]) == 1
    assert f"{RUN}: no first losses; `sentbench check --measure`" in capsys.readouterr().out


def test_a_plan_whose_settings_changed_is_named_before_it_is_trained(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path("params.yaml").read_text()
    temperature = read_params().runs[RUN].config["temperature"]
    changed = text.replace(f"temperature: {temperature}", f"temperature: {1.01 * temperature}")
    assert changed != text
    Path("params.yaml").write_text(changed)
    assert main(["check", "--only", "losses"]) == 1
    assert f"{RUN}: first losses" in capsys.readouterr().out


def test_a_check_is_one_object_or_annotations_with_its_exit_code(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--json"]) == 0
    good = json.loads(capsys.readouterr().out)
    assert (good["problems"], good["first_losses"]) == ([], {RUN: "identical"})
    assert good["results"]["answers"] == {RUN: "identical"}
    change_scores(moved(20))
    assert main(["check", "--json"]) == 1
    bad = json.loads(capsys.readouterr().out)
    assert bad["results"]["moved"] == [RUN.rpartition("__s")[0].replace("__", "@")]
    assert [change["answer"] for change in bad["results"]["changes"]] == ["moved"]
    assert main(["check", "--format", "github"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert annotation("error", "sentbench check", bad["problems"][0]) in lines
    assert lines[-1] == bad["answer"]
    assert lines[-1] == bad["results"]["headline"].replace(": ", ": 1 problem above; ", 1)


def test_results_are_compared_with_another_state(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A moved score that is committed agrees with HEAD, but not with the state before it."""
    shutil.copytree(SCORES, "before")
    change_scores(moved(20))
    only = ["check", "--only", "results"]
    assert main(only) == 1
    commit(project, "all")
    assert main(only) == 0
    shutil.rmtree("embeddings")
    for before in ("before", "HEAD~1"):
        assert main([*only, "--against", before]) == 1
        assert "systems that do not agree" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--json", "--format", "github"], "either --json or --format"),
        (["--measure", "--json"], "--measure takes no --only"),
        (["--only", "results", "--against", "nowhere"], "neither a folder of scores nor a git revision"),
    ],
)
def test_options_of_a_check_that_are_wrong_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["check", *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("form", [[], ["--json"], ["--format", "github"]])
@pytest.mark.parametrize(
    ("agrees", "problems", "code"), [(True, 0, 0), (True, 1, 1), (False, 0, 1), (False, 1, 1)]
)
def test_the_exit_code_is_0_only_if_results_agree_without_a_problem(
    form: list[str], agrees: bool, problems: int, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Findings(["a problem"] * problems, ["the answer"], {}, agrees)
    monkeypatch.setattr(check, "findings_of", lambda arguments: found)
    monkeypatch.setattr(check, "need_checkout", lambda work: None)
    assert check.execute(parser_of("check").parse_args(form)) == code
