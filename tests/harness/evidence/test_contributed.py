"""Contributed results: listed, or refused with one line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.evidence.contributed import Contributed, check_contributed
from harness.evidence.schema import ResultFile
from harness.io.files import write_record
from tests.support.results import raw_result

KEY = "simcse__tiny__s7"
NAMES = ("STS12", "STS13", "STS14", "STS15")
DECLARED = {
    name: value for name, value in raw_result(KEY, seed=7)["run"].items() if name not in ("key", "identity")
}


def scores(*values: float, metric: str = "spearman") -> list[dict[str, Any]]:
    given = dict(zip(NAMES, values, strict=False))
    names = {"metric": metric, "setting": "all", "selection": "best-dev"}
    return [{"task": task, **names, "value": value, "n": 9} for task, value in given.items()]


def raw(key: str = KEY, **changes: Any) -> dict[str, Any]:
    """Returns another contributor's result: other weights and scores than OURS."""
    seed = int(key.rpartition("s")[2])
    given = {"scores": scores(0.71, 0.72, 0.73, 0.74), "encoder_sha256": f"theirs {seed}", **changes}
    return raw_result(key, **{"seed": seed, **given})


OURS = ResultFile.model_validate(
    raw_result("simcse__tiny__s0", scores(0.61, 0.62, 0.63, 0.64), encoder_sha256="ours")
)


def declared(key: str) -> dict[str, object] | None:
    """Returns the settings of every seed of the only system in the recipes."""
    system, _, seed = key.rpartition("__s")
    return {**DECLARED, "seed": int(seed)} if system == "simcse__tiny" else None


def put(folder: Path, content: dict[str, Any], *, name: str = "") -> Path:
    """Writes a result file as the evaluation writes it, with who ran it next to it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "contributor.yaml").write_text("by: My lab\nlink: https://example.org/lab\n")
    path = folder / (name or f"{content['run']['key']}.json")
    write_record(path, content)
    return path


def checked(folder: Path) -> tuple[list[Contributed], list[str]]:
    return check_contributed(folder, ours=[OURS], declared=declared)


def test_a_result_of_another_seed_is_listed_with_who_ran_it(tmp_path: Path) -> None:
    path = put(tmp_path / "lab", raw())
    (tmp_path / "README.md").write_text("How to contribute.")
    ((contribution,), problems) = checked(tmp_path)
    assert problems == []
    assert (contribution.path, contribution.contributor.by, contribution.contributor.link) == (
        path,
        "My lab",
        "https://example.org/lab",
    )
    assert contribution.result.scores[0].value == 0.71


def test_without_the_folder_there_are_no_contributed_results(tmp_path: Path) -> None:
    assert checked(tmp_path / "none") == ([], [])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (raw("pcl__tiny__s7"), "no recipe declares 'pcl__tiny__s7'"),
        (raw(recipe="other"), "recipe 'other', expected 'r'"),
        (raw(seed=8), "seed 8, expected 7"),
        (raw(method="pcl"), "method 'pcl', expected 'simcse'"),
        (raw(scores=scores(1.2)), "spearman of 1.2, expected -1 to 1"),
        (raw(scores=scores(-0.1, metric="accuracy")), "accuracy of -0.1, expected 0 to 1"),
        ({**raw(), "schema": 2}, "result schema 2, expected 1"),
        ({**raw(), "more": 1}, "more"),
        (raw(encoder_sha256="ours"), "a copy of simcse__tiny__s0: the weights are the same"),
        (raw(scores=scores(0.61, 0.62, 0.63, 0.64)), "a copy of simcse__tiny__s0: 4 of 4 scores"),
        (raw(scores=scores(0.61, 0.62, 0.63, 0.99)), "a copy of simcse__tiny__s0: 3 of 4 scores"),
    ],
)
def test_results_of_undeclared_runs_and_copies_of_ours_are_refused_in_one_line(
    tmp_path: Path, content: dict[str, Any], message: str
) -> None:
    path = put(tmp_path / "lab", content)
    good, (problem,) = checked(tmp_path)
    assert good == []
    assert problem.startswith(f"{path}: ")
    assert message in problem
    assert "\n" not in problem


def test_half_of_the_scores_may_equal_another_runs(tmp_path: Path) -> None:
    put(tmp_path / "lab", raw(scores=scores(0.61, 0.62, 0.73, 0.74)))
    assert [len(actual) for actual in checked(tmp_path)] == [1, 0]


def test_accuracies_that_are_equal_make_no_copy_where_correlations_differ(tmp_path: Path) -> None:
    """Two honest runs may both have 9 of 10 examples right."""
    equal = scores(0.9, 0.9, 0.9, metric="accuracy")
    ours = ResultFile.model_validate(raw("simcse__tiny__s0", scores=[*scores(0.61), *equal]))
    put(tmp_path / "lab", raw(scores=[*scores(0.71), *equal]))
    actual, problems = check_contributed(tmp_path, ours=[ours], declared=declared)
    assert (len(actual), problems) == (1, [])
    (tmp_path / "lab" / f"{KEY}.json").unlink()
    put(tmp_path / "lab", raw(scores=equal))
    only = ResultFile.model_validate(raw("simcse__tiny__s0", scores=equal))
    _, (problem,) = check_contributed(tmp_path, ours=[only], declared=declared)
    assert "3 of 3 scores are the same" in problem


def test_a_copy_of_another_contributors_result_is_refused_and_names_it(tmp_path: Path) -> None:
    first = put(tmp_path / "a-lab", raw())
    put(tmp_path / "b-lab", raw("simcse__tiny__s8"))
    good, (problem,) = checked(tmp_path)
    assert [contribution.path for contribution in good] == [first]
    assert f"b-lab/simcse__tiny__s8.json: a copy of {first}" in problem


def damaged(path: Path) -> None:
    actual = json.loads(path.read_text())
    actual["scores"][0]["value"] = 0.99
    path.write_text(json.dumps(actual))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damaged, "checksum mismatch"),
        (lambda path: path.write_text("[]"), "not a JSON object"),
        (lambda path: path.rename(path.with_name("simcse__tiny__s9.json")), "holds the run"),
        (lambda path: path.rename(path.with_suffix(".txt")), "result files RUN.json only"),
        (lambda path: (path.unlink(), path.mkdir()), "result files RUN.json only"),
        (lambda path: path.with_name("contributor.yaml").unlink(), "add it, with `by` and `link`"),
        (lambda path: path.with_name("contributor.yaml").write_text("by: A lab\n"), "link"),
        (lambda path: path.with_name("contributor.yaml").write_text("by: A\nlink: ftp://a\n"), "link"),
        (lambda path: path.with_name("contributor.yaml").write_text("by: <b>\nlink: https://a\n"), "by"),
        (lambda path: path.rename(path.parents[1] / path.name), "expected a folder for each contributor"),
    ],
)
def test_damage_is_one_line_and_other_contributors_are_listed(
    tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    other = put(tmp_path / "z-lab", raw("simcse__tiny__s8", scores=scores(0.5, 0.51)))
    damage(put(tmp_path / "lab", raw()))
    good, (problem,) = checked(tmp_path)
    assert [contribution.path for contribution in good] == [other]
    assert message in problem
    assert "\n" not in problem
