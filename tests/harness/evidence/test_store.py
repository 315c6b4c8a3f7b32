"""Result files: their form, reading, and refusal of invalid ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InputError
from harness.evidence.schema import ResultFile
from harness.evidence.store import SCORE_COLUMNS, read_result, read_results, to_frame, write_result
from tests.support.results import SCORE, raw_result


def raw(key: str = "simcse__tiny__s0", **parts: Any) -> dict[str, Any]:
    return {**raw_result(key), **parts}


def save(folder: Path, content: Any, name: str = "a.json") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return folder / name


def test_a_result_is_written_and_read_back_unchanged(tmp_path: Path) -> None:
    result = read_result(save(tmp_path, raw()))
    for name in ("b.json", "c.json"):
        write_result(tmp_path / name, result)
    assert read_result(tmp_path / "b.json") == result
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "c.json").read_bytes()
    assert isinstance(result, ResultFile)


def test_scores_become_one_long_frame(tmp_path: Path) -> None:
    assert (list(to_frame([]).columns), len(to_frame([]))) == (SCORE_COLUMNS, 0)
    save(tmp_path / "s", raw())
    save(tmp_path / "s", raw("simcse__tiny__s1"), "b.json")
    frame = to_frame(read_results((tmp_path / "s").glob("*.json")))
    assert list(frame.columns) == SCORE_COLUMNS
    assert frame["key"].tolist() == ["simcse__tiny__s0", "simcse__tiny__s1"]
    assert frame["value"].tolist() == [0.75, 0.75]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[" * 200_000, "not JSON"),
        ('{"schema": ' + "1" * 5_000 + "}", "not JSON"),
        (raw(schema=2), "result schema 2, expected 1"),
        (raw(extra=1), "extra"),
        (raw(scores=[{**SCORE, "value": float("nan")}]), "scores.0.value"),
        (raw(scores=[{**SCORE, "n": 0}]), "scores.0.n"),
    ],
    ids=["no JSON", "deep", "long number", "schema", "more", "nan", "no items"],
)
def test_files_that_are_off_are_refused_by_name(tmp_path: Path, content: Any, message: str) -> None:
    path = save(tmp_path, content)
    with pytest.raises(InputError, match=message) as caught:
        read_result(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_score_stated_twice_and_two_files_of_one_run_are_refused(tmp_path: Path) -> None:
    save(tmp_path, raw(scores=[SCORE, SCORE]))
    with pytest.raises(InputError, match=r"STSB spearman \(all, best-dev\) is stated twice"):
        to_frame(read_results(tmp_path.glob("*.json")))
    for name in ("a.json", "b.json"):
        save(tmp_path, raw(), name)
    with pytest.raises(InputError, match="two result files"):
        to_frame(read_results(tmp_path.glob("*.json")))


def test_a_digit_changed_by_hand_or_by_a_disk_is_refused(tmp_path: Path) -> None:
    write_result(tmp_path / "a.json", ResultFile.model_validate(raw()))
    text = (tmp_path / "a.json").read_text()
    assert text.count("0.75") == 1
    (tmp_path / "a.json").write_text(text.replace("0.75", "0.76"))
    with pytest.raises(InputError, match="checksum mismatch"):
        read_result(tmp_path / "a.json")


def test_a_number_is_kept_with_ten_digits_and_a_result_of_ours_states_no_commit(tmp_path: Path) -> None:
    """Further digits depend on the machine's arithmetic; a commit would change every day."""
    content = raw()
    content["scores"][0]["value"] = 0.12345678901234567
    content["provenance"] |= {"git_commit": None, "git_dirty": None, "code_sha256": "0" * 64}
    write_result(tmp_path / "a.json", ResultFile.model_validate(content))
    written = json.loads((tmp_path / "a.json").read_text())
    assert written["scores"][0]["value"] == 0.123456789
    assert not {"git_commit", "git_dirty"} & set(written["provenance"])
    assert read_result(tmp_path / "a.json").provenance.code_sha256 == "0" * 64
