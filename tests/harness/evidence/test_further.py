"""Further seeds: written and read back unchanged, and counted only beside the first seeds they belong to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.evidence.further import collected, read_further, read_recorded
from harness.evidence.schema import ResultFile
from harness.evidence.store import write_result
from harness.io.files import write_record
from harness.stages.further import RECORD, run
from harness.stages.inputs import StageInputs
from tests.support.results import NAME, raw_result

SYSTEM = "simcse__tiny"
FIRST, FURTHER = (0, 1), (3, 2, 10)


def result(seed: int, **changes: Any) -> ResultFile:
    """A result whose two scores, weights and identity depend on the seed."""
    scores = [
        {**NAME, "value": 0.5 + seed / 100, "n": 9},
        {**NAME, "setting": "mean", "value": 0.3 + seed / 70, "n": 4},
    ]
    own = {"seed": seed, "identity": f"i{seed}", "encoder_sha256": f"w{seed}"}
    return ResultFile.model_validate(raw_result(f"{SYSTEM}__s{seed}", scores, **own | changes))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two first seeds and three further ones of a system, and a run of another system."""
    monkeypatch.chdir(tmp_path)
    for seed in FIRST:
        write_result(Path(f"reports/scores/{SYSTEM}__s{seed}.json"), result(seed))
    other = result(0).run.model_copy(update={"id": "pcl", "key": "pcl__tiny__s0"})
    write_result(Path("reports/scores/pcl__tiny__s0.json"), result(0).model_copy(update={"run": other}))
    for seed in FURTHER:
        write_result(Path(f"kept/{SYSTEM}__s{seed}.json"), result(seed))
    paths = [*Path("reports/scores").glob(f"{SYSTEM}__s*.json")]
    paths += [Path(f"kept/{SYSTEM}__s{seed}.json") for seed in FURTHER]
    Path("made").mkdir()
    run(StageInputs([*FURTHER], {path.stem: path for path in paths}, Path("made")))
    Path("reports/further").mkdir()
    Path("made", RECORD).rename(f"reports/further/{SYSTEM}.json")
    return tmp_path


def seeds_of(results: list[ResultFile]) -> list[int]:
    return [result.run.seed for result in results if result.run.id == "simcse"]


def test_further_seeds_are_read_back_as_they_were_evaluated(project: Path) -> None:
    recorded = read_recorded()
    assert not recorded.left_out
    assert seeds_of(recorded.results) == [0, 1, 2, 3, 10]
    assert [seed.seed for seed in read_further(Path(f"reports/further/{SYSTEM}.json")).seeds] == [2, 3, 10]
    assert [entry for entry in recorded.results if entry.run.id == "simcse"] == [
        json_form(result(seed)) for seed in (0, 1, 2, 3, 10)
    ]
    assert [entry.run.key for entry in read_recorded(systems=["pcl"]).results] == ["pcl__tiny__s0"]
    kept = read_recorded(kept=lambda run, score: score.setting == "mean").results
    assert {score.setting for entry in kept for score in entry.scores} == {"mean"}
    assert seeds_of(kept) == [0, 1, 2, 3, 10]


def json_form(entry: ResultFile) -> ResultFile:
    """Returns a result as it is read from a file, with ten significant digits."""
    path = Path("one.json")
    write_result(path, entry)
    return ResultFile.model_validate(
        {key: value for key, value in json.loads(path.read_text()).items() if key != "digest"}
    )


MOVES: dict[str, Callable[[ResultFile], ResultFile]] = {
    "the last digit of a score": lambda old: old.model_copy(
        update={
            "scores": [
                old.scores[0].model_copy(update={"value": old.scores[0].value + 1e-9}),
                *old.scores[1:],
            ]
        }
    ),
    "a score that is gone": lambda old: old.model_copy(update={"scores": old.scores[:1]}),
    "the recipe": lambda old: old.model_copy(update={"run": old.run.model_copy(update={"recipe": "s"})}),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
@pytest.mark.parametrize("seed", FIRST)
def test_they_are_left_out_beside_first_seeds_that_moved(
    project: Path, move: Callable[[ResultFile], ResultFile], seed: int
) -> None:
    path = Path(f"reports/scores/{SYSTEM}__s{seed}.json")
    write_result(path, move(result(seed)))
    recorded = read_recorded()
    assert recorded.left_out == [SYSTEM]
    assert seeds_of(recorded.results) == [0, 1]


def test_they_are_left_out_without_one_of_the_first_seeds(project: Path) -> None:
    Path(f"reports/scores/{SYSTEM}__s1.json").unlink()
    assert (read_recorded().left_out, seeds_of(read_recorded().results)) == ([SYSTEM], [0])


def test_other_code_packages_and_weights_with_equal_scores_keep_them(project: Path) -> None:
    for seed in FIRST:
        same = result(seed, versions={"torch": "2"}, git_commit="d", encoder_sha256="w", identity="j")
        write_result(Path(f"reports/scores/{SYSTEM}__s{seed}.json"), same)
    assert not read_recorded().left_out
    assert seeds_of(read_recorded().results) == [0, 1, 2, 3, 10]


def test_a_seed_that_is_also_one_of_the_first_is_refused(project: Path) -> None:
    write_result(Path(f"reports/scores/{SYSTEM}__s2.json"), result(2))
    with pytest.raises(InputError, match=f"run '{SYSTEM}__s2' has two result files"):
        read_recorded()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: result(4, recipe="s"), "settings are not those of"),
        (lambda: result(4, variant="negated"), "settings are not those of"),
        (lambda: MOVES["a score that is gone"](result(4)), "scores are not those of"),
    ],
)
def test_seeds_of_other_settings_or_scores_are_not_collected(
    other: Callable[[], ResultFile], message: str
) -> None:
    with pytest.raises(InputError, match=f"{SYSTEM}__s4: its {message} {SYSTEM}__s2; evaluate it again"):
        collected([result(0)], [result(2), other()])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda raw: raw["scores"][0]["values"].pop(), "a score of STSB has 2 values, expected 3"),
        (lambda raw: raw["seeds"].append(raw["seeds"][0]), "a seed is stated twice"),
        (lambda raw: raw.update(schema=2), "schema 2, expected 1; delete it and run `sentbench launch`"),
        (lambda raw: raw.update(more=1), "more"),
        (lambda raw: raw["first"].clear(), "first"),
    ],
)
def test_a_damaged_file_is_one_line(project: Path, damage: Callable[[Any], Any], message: str) -> None:
    path = Path(f"reports/further/{SYSTEM}.json")
    raw = json.loads(path.read_text())
    damage(raw)
    write_record(path, raw)
    with pytest.raises(InputError) as refused:
        read_further(path)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_edited_score_is_noticed(project: Path) -> None:
    path = Path(f"reports/further/{SYSTEM}.json")
    path.write_text(path.read_text().replace("0.52", "0.62"))
    with pytest.raises(InputError, match="checksum mismatch"):
        read_recorded()
