"""`sentbench compare`: the kind of each name, which moves fail, and how they are shown."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.commands import compare
from harness.errors import InputError
from harness.evidence.moved import Band
from harness.evidence.moves import Move, ScoreKey
from harness.evidence.schema import ResultFile
from harness.evidence.store import write_result
from tests.support.results import raw_result


def move(outcome: Any, before: float | None, after: float | None, band: Band | None = None) -> Move:
    key = ScoreKey("pcl", "bert", "STSB", "spearman", "all", "best-dev", "raw")
    return Move(key, before, after, (1, 1), band, outcome, False)


MOVES = {
    "down": move("moved", 0.5, 0.4877),
    "up": move("moved", 0.5, 0.5123, Band(49.5, 50.5)),
    "gone": move("removed", 0.5, None),
    "new": move("added", None, 0.5),
    "same": move("identical", 0.5, 0.5),
    "rounded": move("equal to rounding", 0.5, 0.4999),
    "noise": move("within seed noise", 0.5, 0.49),
}


@pytest.mark.parametrize(
    ("fail_on", "failing"),
    [("nothing", ""), ("down", "down"), ("moved", "down up"), ("gone", "down up gone")],
)
def test_only_the_asked_moves_fail(fail_on: str, failing: str) -> None:
    assert [name for name, made in MOVES.items() if compare.fails(made, fail_on)] == failing.split()


def test_an_annotation_has_the_sign_of_the_change_and_the_level_of_its_failure() -> None:
    lines = compare.annotated([*MOVES.values()], "down")
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning", "::warning", "::notice"]
    for line, shown in zip(lines, ("-1.23 points", "+1.23 points", "is gone"), strict=False):
        assert f"spearman {shown}" in line
        assert "pcl@bert STSB" in line
    assert [("49.50 to 50.50" in line) for line in lines[:3]] == [False, True, False]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with results of `pcl@bert` and, left out by first seeds, of `ct@bert`."""
    monkeypatch.chdir(tmp_path)
    for path in ("reports/scores/pcl__bert-base__s0.json", "reports/further/ct__bert.json"):
        Path(path).parent.mkdir(parents=True)
        Path(path).write_text("{}")
    monkeypatch.setattr(compare, "is_revision", lambda name: name == "v1")
    Path("model").mkdir()
    Path("model/config.json").touch()
    Path("model/a__b__s0.json").touch()
    Path("table.json").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *[(name, "system") for name in ("pcl", "pcl@bert-base", "pcl__bert-base__s0", "ct", "ct@bert")],
        *[("v1", "state"), ("table.json", "results"), ("reports/scores", "results")],
        *[("model", "model"), ("me/model", "model"), ("unknown", "system")],
    ],
)
def test_a_name_is_of_one_kind(folder: Path, name: str, kind: str) -> None:
    assert compare.kind_of(name) == kind
    assert compare.is_recorded(name) is (kind == "system" and name != "unknown")


@pytest.mark.parametrize("name", ["pc", "pcl@roberta", "pcl__roberta__s0", "bert-base"])
def test_a_part_of_a_name_is_not_recorded(folder: Path, name: str) -> None:
    assert not compare.is_recorded(name)
    with pytest.raises(InputError, match="no system with results, file, folder or git revision here"):
        compare.kind_of_both(name, "me/model")


def written(folder: str, *systems: tuple[str, str]) -> str:
    for number, (system, backbone) in enumerate(systems):
        key = f"{system}__{backbone}__s{number}"
        made = raw_result(key, id=system, backbone=backbone, seed=number)
        Path(folder).mkdir(exist_ok=True)
        write_result(Path(folder, f"{key}.json"), ResultFile.model_validate(made))
    return folder


def test_two_folders_are_systems_if_each_is_of_another_one(folder: Path) -> None:
    own = written("own", ("a", "x"), ("a", "x"))
    other, same = written("other", ("b", "x")), written("same", ("a", "x"))
    elsewhere, both = written("elsewhere", ("a", "y")), written("both", ("a", "x"), ("b", "x"))
    assert compare.kind_of_both(own, other) == compare.kind_of_both(own, elsewhere) == "results"
    assert compare.kind_of_both(own, same) == compare.kind_of_both(own, both) == "state"
    assert compare.kind_of_both("v1", own) == compare.kind_of_both(own, "v1") == "state"
    assert compare.kind_of_both("v1", "v1") == "state"
    with pytest.raises(InputError, match="v1 is a state of scores, pcl is a system: expected two of the"):
        compare.kind_of_both("v1", "pcl")


def test_a_change_of_the_machine_is_told_in_every_form(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compare, "results_of", lambda name: [])
    monkeypatch.setattr(compare, "machine_changes", lambda before, after: "device of 2 runs: cpu before")
    arguments: Any = SimpleNamespace(device=None, fail_on="nothing")
    compare.compare_states(("a", "b"), arguments, "text")
    assert capsys.readouterr().out.endswith("\nThe device of 2 runs: cpu before.\n")
    compare.compare_states(("a", "b"), arguments, "json")
    assert json.loads(capsys.readouterr().out)["arithmetic"] == "device of 2 runs: cpu before"
    monkeypatch.setattr(compare, "moves_between", lambda before, after: [MOVES["down"]])
    arguments.fail_on = "down"
    assert [compare.compare_states(("a", "b"), arguments, form) for form in ("text", "json", "github")] == [
        1,
        1,
        1,
    ]


@pytest.mark.parametrize("kind", ["system", "model", "state"])
def test_every_comparison_is_native_and_warns_of_a_stale_plan_where_it_reads_results(
    kind: str, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    """A model of a user's own is encoded by the machine's fastest arithmetic, on the seven STS sets."""
    seen: list[Any] = []
    monkeypatch.setattr(compare, "kind_of_both", lambda first, second: kind)
    monkeypatch.setattr(compare, "compute_with", seen.append)
    monkeypatch.setattr("harness.plan.stale.warn_if_stale", lambda: seen.append("warned"))
    monkeypatch.setattr(compare, "compare_states", lambda *given: 0)
    both = SimpleNamespace(first="a", second="b")
    monkeypatch.setattr("harness.report.assembly.systems.compare_named", lambda *given, **more: both)
    monkeypatch.setattr("harness.report.formats.scores.differences_to_text", lambda both: "table\n")

    class Both(SimpleNamespace):
        def __str__(self) -> str:
            return "table\n"

    def folders(*given: Any, **options: Any) -> Both:
        seen.append(given)
        return Both(differences=both)

    monkeypatch.setattr("sentbench.compare", folders)
    monkeypatch.setattr("sentbench.comparison.is_evaluation", lambda path: True)
    shown = printed("compare", "a", "b")
    assert seen == (["native", ("a", "b", "sts")] if kind == "model" else ["warned"])
    if kind == "model":
        assert shown == "table\nintervals over pairs need the models: `sentbench compare a b`\n"
