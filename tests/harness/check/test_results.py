"""`sentbench check --only results`: agreement with the committed results."""

import json
import platform
import shutil
import subprocess
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.evidence.further import collected
from harness.evidence.moved import ScoreChange
from harness.evidence.reproduction import Reproduction, changed_line, explained
from harness.evidence.schema import ResultFile, ScoreName
from harness.evidence.store import read_result, write_result
from harness.io.files import write_record
from harness.paths import stored_vectors
from harness.plan.entries import Params
from harness.plan.params_file import read_params
from harness.plan.stale import StalePlan
from harness.report.formats.markdown import annotation
from tests.support.git import commit, git
from tests.support.plan import small_plan
from tests.support.results import SCORE, raw_result
from tests.support.yaml_files import dump_yaml

ROOT = Path(__file__).parents[3]
TRAINED = [f"simcse-small__words-50d__s{seed}" for seed in range(3)]
UNTRAINED = "pooled-cls-small__words-50d__s0"
pytestmark = pytest.mark.usefixtures("project")
Change = Callable[[dict[str, Any]], None]
EQUAL = "reproduced: all 2 systems agree with the committed results; 4 of 4 runs here are bit-identical\n"


def content(key: str) -> dict[str, Any]:
    """Returns a result: seeds 0, 1 and 2 of the trained system score 50, 51 and 52 points."""
    system, backbone, seed = key.split("__s")[0].split("__")[0], key.split("__")[1], int(key[-1])
    weights = {"encoder_sha256": f"weights of {key}", "arithmetic": "portable"}
    recipe = read_params(ROOT / "params.yaml").runs[key].recipe_hash()
    points = {"value": (50 + seed) / 100}
    scores = [{**SCORE, "metric": name, **points} for name in ("spearman", "pearson")]
    made = raw_result(key, scores, id=system, backbone=backbone, seed=seed, recipe=recipe, **weights)
    made["selection"] |= {"best_step": 0, "last_step": 0} if key == UNTRAINED else {}
    return made


def evaluate(key: str, *changes: Change) -> None:
    """Writes a result like the stage `evaluate`: the scores, and a file of vectors."""
    made = content(key)
    for change in changes:
        change(made)
    write_result(Path(f"reports/scores/{key}.json"), ResultFile.model_validate(made))
    stored_vectors(key).parent.mkdir(exist_ok=True)
    stored_vectors(key).touch()


def score(points: float, metric: str = "spearman") -> Change:
    def change(made: dict[str, Any]) -> None:
        next(entry for entry in made["scores"] if entry["metric"] == metric)["value"] = points / 100

    return change


def provenance(**values: Any) -> Change:
    return lambda made: made["provenance"].update(values)


OTHER_WEIGHTS = provenance(encoder_sha256="other")


@pytest.fixture
def project(committed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the checkout, on a processor of its kind, with the packages of its results."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr("harness.commands.check_results.library_versions", lambda: {"torch": "1"})
    monkeypatch.chdir(shutil.copytree(committed, tmp_path, dirs_exist_ok=True))
    return tmp_path


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with two systems and four runs, whose results were committed and reproduced identically."""
    folder = tmp_path_factory.mktemp("committed")
    params = small_plan()
    params["runs"] = {key: params["runs"][key] for key in (*TRAINED, UNTRAINED)}
    with chdir(folder):
        Path("params.yaml").write_text(dump_yaml(params, sort_keys=False))
        Path("dvc.lock").write_text("schema: '2.0'\n")
        Path(".gitignore").write_text("embeddings\n")
        for key in params["runs"]:
            evaluate(key)
        commit(folder, "results")
    return folder


def shown(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """Returns the output of the command after checking its exit code."""
    assert main(["check", "--only", "results", *words]) == code
    return capsys.readouterr().out


def last_line(text: str) -> str:
    """Returns the last line, which is the answer."""
    return text.splitlines()[-1]


def test_other_last_digits_agree_and_are_reported_with_their_size(capsys: pytest.CaptureFixture[str]) -> None:
    """The mean of seeds 50, 51 and 52.003 is 51.001: it is shown as 51.00."""
    evaluate(TRAINED[2], score(52.003), OTHER_WEIGHTS)
    evaluate(UNTRAINED, score(50.04))
    assert shown(capsys) == (
        "  1 of 2 averages over seeds are equal to the reported digit; the largest difference is 0.04 points "
        "(pooled-cls-small@words-50d STSB)\n"
        "  reason: not recorded: code, data and packages are equal, so the processor or the number of "
        "threads differs\n"
        "  changed files: 2 in reports/scores; `git restore reports` restores them until the next launch\n"
        "  scores with other digits: 2; `--details` lists them\n"
        "reproduced: all 2 systems agree with the committed results; 2 of 4 runs here are bit-identical\n"
    )
    assert (
        f"  equal to rounding: {TRAINED[2]} STSB spearman: 52.003000, committed 52.000000, expected "
        "46.000 to 56.000\n"
    ) in shown(capsys, "--details")


@pytest.mark.parametrize(
    ("trained", "untrained"), [(0.02, -0.04), (-0.02, -0.04), (-0.02, 0.04), (0.02, 0.04)]
)
def test_the_largest_difference_is_the_largest_in_either_direction(
    trained: float, untrained: float, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, key in enumerate(TRAINED):
        evaluate(key, score(50 + number + trained), OTHER_WEIGHTS)
    evaluate(UNTRAINED, score(50 + untrained))
    assert "the largest difference is 0.04 points (pooled-cls-small@words-50d STSB)" in shown(capsys)


def test_a_trained_run_may_move_within_the_band_of_its_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    """Seeds 50, 51, 52: standard deviation 1, so the band is 46 to 56. Seed 1 moves by 3, the mean by 1."""
    evaluate(TRAINED[1], score(54), OTHER_WEIGHTS)
    assert (
        "difference is 1.00 points (simcse-small@words-50d STSB), where the standard deviation over seeds is "
        "1.00\n"
    ) in shown(capsys)


@pytest.mark.parametrize("points", [45.9, 56.1])
def test_a_score_outside_the_band_does_not_agree_and_is_named(
    capsys: pytest.CaptureFixture[str], points: float
) -> None:
    evaluate(TRAINED[1], score(points), OTHER_WEIGHTS)
    lines = shown(capsys, code=1).splitlines()
    assert lines[:2] == [
        "  systems that do not agree: simcse-small@words-50d",
        f"  {TRAINED[1]} STSB spearman: {points:.6f}, committed 51.000000, expected 46.000 to 56.000",
    ]
    assert lines[-1] == (
        "not reproduced: 1 of 2 systems does not agree with the committed results; "
        "3 of 4 runs here are bit-identical"
    )


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
@pytest.mark.parametrize("key", [TRAINED[1], UNTRAINED])
def test_rounding_does_not_explain_another_score_of_the_same_weights(
    capsys: pytest.CaptureFixture[str], key: str, metric: str
) -> None:
    """0.1 points lie within every band, and only training can amplify rounding so far."""
    points = 100 * content(key)["scores"][0]["value"]
    evaluate(key, score(points + 0.04, metric))
    assert last_line(shown(capsys)).startswith("reproduced: all 2 systems agree")
    if key == UNTRAINED:
        evaluate(key, score(points + 0.1, metric), OTHER_WEIGHTS)
        shown(capsys, code=1)
    evaluate(key, score(points + 0.1, metric))
    assert f"  {key} STSB {metric}: {points + 0.1:.6f}, committed" in shown(capsys, code=1)


@pytest.mark.parametrize("change", [OTHER_WEIGHTS, lambda made: made["selection"].update(best_step=4)])
def test_equal_scores_of_another_training_are_not_bit_identical(
    capsys: pytest.CaptureFixture[str], change: Change
) -> None:
    evaluate(TRAINED[0], change)
    text = shown(capsys)
    assert last_line(text).startswith("reproduced: all 2 systems agree")
    assert "3 of 4 runs here are bit-identical\n" in text
    assert "scores with other digits" not in text


def test_a_score_that_is_gone_does_not_agree(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(TRAINED[0], lambda made: made["scores"].pop())
    assert f"  {TRAINED[0]} STSB pearson: missing\n" in shown(capsys, code=1)


@pytest.mark.parametrize("path", ["embeddings", "reports/scores"])
def test_a_run_that_was_not_evaluated_here_is_named(capsys: pytest.CaptureFixture[str], path: str) -> None:
    """Every fresh clone has committed scores; only vectors show that an evaluation took place."""
    if path == "embeddings":
        stored_vectors(TRAINED[1]).unlink()
    else:
        Path(path, f"{TRAINED[1]}.json").unlink()
        git(Path(), "add", ".")
    assert shown(capsys, code=1) == (
        f"  not evaluated here: {TRAINED[1]}\n"
        "not reproduced: 1 of 4 runs not evaluated here; 3 of 4 runs here are bit-identical\n"
    )


def test_in_a_fresh_clone_no_run_is_reproduced_yet(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree("embeddings")
    nothing = "not reproduced: none of 4 runs was evaluated here; run `make reproduce`\n"
    assert shown(capsys, code=1) == nothing


def change_the_plan(key: str) -> Params:
    """Gives one run another temperature in params.yaml, as `plan` does after a change of its recipe."""
    params = small_plan()
    params["runs"] = {name: params["runs"][name] for name in (*TRAINED, UNTRAINED)}
    params["runs"][key]["config"]["temperature"] = 0.06
    Path("params.yaml").write_text(dump_yaml(params, sort_keys=False))
    return read_params()


OUTDATED = (
    "1 of 4 results were made with other settings than params.yaml has for them or for a run that they need: "
    "simcse-small; `sentbench launch` runs them again\n"
)


def test_a_result_of_other_settings_than_the_plan_is_not_reproduced(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The four results equal the committed ones, and one of them belongs to the former plan."""
    change_the_plan(TRAINED[1])
    assert shown(capsys, code=1) == (
        f"  {OUTDATED}"
        "not reproduced: 1 of 4 results are of other settings than the plan's; "
        "3 of 4 runs here are bit-identical\n"
    )
    compared = json.loads(shown(capsys, "--json", code=1))["results"]
    assert compared["outdated"] == [TRAINED[1]]
    assert compared["identical"] == 3
    assert last_line(shown(capsys, "--against", "HEAD", code=1)).startswith("not reproduced: 1 of 4 results")


def test_results_of_other_packages_than_the_installed_ones_are_not_reproduced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three results were computed before an upgrade, the fourth after it; files of others are compared."""
    installed = {"torch": "2", "scipy": "9"}
    monkeypatch.setattr("harness.commands.check_results.library_versions", lambda: installed)
    evaluate(TRAINED[1], provenance(versions=installed))
    assert shown(capsys, code=1) == (
        "  changed files: 1 in reports/scores; `git restore reports` restores them until the next launch\n"
        "  3 of 4 results were computed with torch 1, here is 2, and not measured again; `dvc repro --force` "
        "runs all of them\n"
        "not reproduced: 3 of 4 results are of other packages than the installed ones; 1 of 4 runs here "
        "are bit-identical\n"
    )
    compared = json.loads(shown(capsys, "--json", code=1))
    assert compared["results"]["upgraded"] == [TRAINED[0], TRAINED[2], UNTRAINED]
    assert compared["answer"].startswith("not reproduced: 3 of 4 results")
    shutil.rmtree("embeddings")
    assert last_line(shown(capsys, "--against", "HEAD")).startswith("compared: all 2 systems agree")


def test_a_plan_older_than_its_recipes_is_a_problem_and_an_edited_one_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = StalePlan("params.yaml is older than the recipes: run `sentbench plan small`", edited=False)
    monkeypatch.setattr("harness.commands.check.stale", lambda: old)
    assert shown(capsys, "--format", "github", code=1) == (
        f"{annotation('error', 'sentbench check', old.line)}\n"
        "not reproduced: 1 problem above; all 2 systems agree with the committed results; 4 of 4 runs "
        "here are bit-identical\n"
    )
    monkeypatch.setattr("harness.commands.check.stale", lambda: old._replace(edited=True))
    assert main(["check", "--only", "results"]) == 0
    assert capsys.readouterr() == (EQUAL, f"sentbench: {old.line}\n")


def test_results_that_do_not_agree_are_an_annotation(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(TRAINED[1], score(60), OTHER_WEIGHTS)
    lines = shown(capsys, "--format", "github", code=1).splitlines()
    assert lines[0] == annotation("error", "sentbench check", lines[-1])
    assert lines[-1].startswith("not reproduced: 1 of 2 systems does not agree")


def test_compare_and_report_name_results_of_other_settings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.commands.report.load_recipes", dict)
    monkeypatch.setattr("harness.commands.report.report", lambda params, recipes, strict: 0)
    for words in (["compare", "HEAD", "reports/scores"], ["report"]):
        assert main(words) == 0
        assert "other settings" not in capsys.readouterr().err
    change_the_plan(TRAINED[1])
    for words in (["compare", "HEAD", "reports/scores"], ["report"]):
        assert main(words) == 0
        assert capsys.readouterr().err.endswith(f"sentbench: {OUTDATED}")


def test_runs_of_another_plan_do_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    """A plan with five seeds was run, the results were committed or not, and the plan was reduced again."""
    assert shown(capsys) == EQUAL
    evaluate("simcse-small__words-50d__s3", score(10))
    assert shown(capsys, "--details") == EQUAL
    commit(Path(), "more seeds")
    stored_vectors("simcse-small__words-50d__s3").unlink()
    assert shown(capsys) == EQUAL


def test_without_a_committed_result_the_comparison_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Neither in a commit, nor in a folder without git whose results were replaced."""
    git(Path(), "rm", "-q", "--cached", "-r", "reports")
    git(Path(), "commit", "-qm", "no results")
    why = "this folder has no git commit with results"
    assert shown(capsys) == f"nothing to compare with: {why}\n"
    assert json.loads(shown(capsys, "--json"))["results"] == {"agrees": None, "why": why}
    shutil.rmtree(".git")
    assert "there is no copy of the committed results from `make reproduce`" in shown(capsys)


def test_without_git_the_kept_copy_of_the_committed_results_is_compared_with(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A ZIP of the code: `make reproduce` copies the existing results before it replaces them."""
    shutil.rmtree(".git")
    shutil.rmtree("embeddings")
    assert last_line(shown(capsys, code=1)).startswith("not reproduced: none of 4 runs was evaluated here")
    keep = next(
        line for line in (ROOT / "Makefile").read_text().splitlines() if ".cache/committed ||" in line
    )
    for _ in range(2):
        subprocess.run(["sh", "-c", keep.strip().removeprefix("@")], check=True)
        for key in (*TRAINED, UNTRAINED):
            evaluate(key)
        assert shown(capsys) == EQUAL
        evaluate(TRAINED[1], score(60), OTHER_WEIGHTS)
        assert last_line(shown(capsys, code=1)).startswith("not reproduced: 1 of 2 systems does not agree")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (provenance(device="cuda"), "device is cuda here, cpu in the committed results"),
        (provenance(versions={"torch": "2"}), "torch is 2 here, 1 committed"),
        (provenance(arithmetic="native"), "arithmetic is native here, portable in the committed results"),
        (provenance(data_sha256={"stsb": "x"}), "the data differ from the committed ones"),
        (provenance(code_sha256="x"), "the code differs from the committed one"),
    ],
)
def test_the_reason_is_the_difference_in_provenance(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, change: Change, reason: str
) -> None:
    monkeypatch.setattr("harness.commands.check_results.library_versions", dict)
    evaluate(TRAINED[0], score(50.001), OTHER_WEIGHTS, change)
    assert f"  reason: {reason}" in shown(capsys)


def test_a_changed_plan_whose_run_was_trained_again_is_compared_and_named_as_the_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    recipe = change_the_plan(TRAINED[0]).run(TRAINED[0]).recipe_hash()
    evaluate(TRAINED[0], score(50.001), OTHER_WEIGHTS, lambda made: made["run"].update(recipe=recipe))
    text = shown(capsys)
    assert "  reason: the settings of the plan differ from the committed ones\n" in text
    assert last_line(text).startswith("reproduced: all 2 systems agree")


def test_another_architecture_is_the_reason(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert shown(capsys) == EQUAL
    evaluate(TRAINED[0], score(50.001), OTHER_WEIGHTS)
    Path("dvc.lock").write_text("other\n")
    lines = shown(capsys).splitlines()
    assert "  reason: this machine is aarch64: results are bit-identical on x86-64 only" in lines
    changed = "  changed files: dvc.lock, 1 in reports/scores; `git restore dvc.lock reports` restores them "
    assert f"{changed}until the next launch" in lines
    subprocess.run(changed.split("`")[1].split(), check=True)
    assert shown(capsys) == EQUAL


def test_after_a_change_of_code_the_undo_restores_it_and_launches() -> None:
    changed, sources = ["dvc.lock", "reports/scores/a.json"], ["harness/tasks/sts.py", "recipes/small.yaml"]
    assert changed_line(changed, sources) == (
        "changed files: dvc.lock, 1 in reports/scores; `git restore harness recipes dvc.lock reports && "
        "sentbench launch` undoes them and the changes of harness/tasks/sts.py, recipes/small.yaml"
    )


def test_a_folder_of_scores_can_be_compared_with(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(project / "reports/scores", project / "other")
    evaluate(TRAINED[1], score(60), OTHER_WEIGHTS)
    assert last_line(shown(capsys, "--against", "HEAD", code=1)).startswith("not reproduced: 1 of 2 systems")
    evaluate(TRAINED[1])
    assert shown(capsys, "--against", "other") == EQUAL.replace("the committed results", "other")


def test_files_that_were_only_checked_out_are_compared_and_not_reproduced(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three runs have vectors, the other one only its file; then none has; then one moved."""
    stored_vectors(TRAINED[1]).unlink()
    equal = "compared: all 2 systems agree with HEAD; 4 of 4 runs here are bit-identical; "
    assert shown(capsys, "--against", "HEAD") == f"{equal}3 results evaluated here, 1 files as checked out\n"
    shutil.rmtree("embeddings")
    assert shown(capsys, "--against", "HEAD") == f"{equal}0 results evaluated here, 4 files as checked out\n"
    assert json.loads(shown(capsys, "--against", "HEAD", "--json"))["results"]["not_evaluated"] == [
        *TRAINED,
        UNTRAINED,
    ]
    evaluate(TRAINED[1], score(60), OTHER_WEIGHTS)
    assert last_line(shown(capsys, "--against", "HEAD", code=1)) == (
        "not reproduced: 1 of 2 systems does not agree with HEAD; 3 of 4 runs here are bit-identical; "
        "1 results evaluated here, 3 files as checked out"
    )


@pytest.mark.parametrize("count", [0, 1, 10, 11, 13])
def test_ten_scores_and_ten_runs_are_listed_and_the_others_are_counted(count: int) -> None:
    """Of 20 runs `count` moved, and as many were not evaluated."""
    name = ScoreName("STSB", "spearman", "all", "best-dev")
    keys = [f"run{number:02}" for number in range(20)]
    moved = [ScoreChange(key, name, 50.0, 60.0, None, "moved") for key in keys[:count]]
    compared = Reproduction(
        systems=dict.fromkeys(keys, "a@b"),
        answers={change.run: "moved" for change in moved},
        changes=moved,
        missing=keys[20 - count :],
        averages=None,
        reasons=[],
    )
    more = max(0, count - 10)
    short = explained(compared, [], details=False)
    assert sum(" STSB spearman: " in line for line in short) == min(count, 10)
    expected = [f"  and {more} more scores that do not agree"] if more else []
    assert [line for line in short if "more scores" in line] == expected
    absent = [line for line in short if "not evaluated here" in line]
    assert len(absent) == (count > 0)
    for line in absent:
        assert line.count("run") == min(count, 10)
        assert line.endswith(f" and {more} more") == bool(more)
    full = explained(compared, [], details=True)
    assert sum(" STSB spearman: " in line for line in full) == count
    assert not any(" more" in line for line in full)


def test_further_seeds_that_were_not_trained_here_are_as_committed(
    capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    """Seed 2 becomes a further seed, whose scores are committed beside those of seeds 0 and 1."""
    params = read_params().model_dump()
    params["runs"][TRAINED[2]]["outputs"] = ".further/simcse-small__words-50d"
    params["further"] = {"simcse-small__words-50d": [2]}
    Path("params.yaml").write_text(dump_yaml(params, sort_keys=False))
    results = [read_result(Path(f"reports/scores/{key}.json")) for key in TRAINED]
    record = collected(results[:2], results[2:]).model_dump(mode="json", by_alias=True, exclude_none=True)
    further = Path("reports/further/simcse-small__words-50d.json")
    write_record(further, record)
    Path(f"reports/scores/{TRAINED[2]}.json").unlink()
    stored_vectors(TRAINED[2]).unlink()
    commit(project, "a further seed")
    assert last_line(shown(capsys)) == (
        "reproduced: all 2 systems agree with the committed results; 3 of 3 runs here are bit-identical; "
        "1 further seeds are as committed"
    )
    assert json.loads(shown(capsys, "--json"))["results"]["further"] == {TRAINED[2]: True}
    record["scores"][0]["values"] = [0.6]
    write_record(further, record)
    assert last_line(shown(capsys, code=1)).startswith(
        "not reproduced: 1 further seeds are not as committed; `sentbench launch` trains them; 3 of 3 runs"
    )
    git(project, "restore", "reports")
    evaluate(TRAINED[1], score(60))
    text = last_line(shown(capsys, code=1))
    assert "1 of 2 systems does not agree" in text
    assert "1 further seeds are not as committed" in text  # left out beside a seed that moved
    stored_vectors(TRAINED[2]).touch()
    git(project, "restore", "reports")
    assert last_line(shown(capsys)).endswith("4 of 4 runs here are bit-identical")
    evaluate(TRAINED[1], score(60))
    commit(project, "the first seeds alone")
    text = shown(capsys, code=1)
    assert "left out: the further seeds of simcse-small__words-50d belong to other scores" in text
    assert last_line(text).startswith("not reproduced: 1 problem above")
