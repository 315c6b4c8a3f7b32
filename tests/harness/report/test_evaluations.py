"""The table of one or several evaluated models, in each format."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.evidence.statistics import Interval
from harness.report.formats.evaluations import (
    OUTPUT_ENDINGS,
    Evaluation,
    check_table,
    read_evaluation,
    table_in,
    to_json,
    to_text,
)
from harness.report.formats.scores import ScoreLine

FIRST = Evaluation(
    "a_b",
    (
        ScoreLine("STSB", "spearman", "all", 0.81234, 1379, Interval(0.79, 0.83)),
        ScoreLine("STSB", "pearson", "all", 0.8, 1379),
        ScoreLine("STS12", "spearman", "subset:x", 0.1, 9),
        ScoreLine("STS12", "spearman", "all", 0.7, 3108, Interval(0.68, 0.72)),
        ScoreLine("MR", "accuracy", "10-fold", 0.9, 10662),
        ScoreLine("geometry", "uniformity", "all", -2.5, 100),
        ScoreLine("Avg. sts", "spearman", "average", 0.75617, 2, Interval(0.74, 0.77)),
    ),
)
SECOND = Evaluation("bm25", (ScoreLine("TRECQA", "map", "all", 0.5, 68),))
FOOT = (
    "scores x 100, but alignment, uniformity, anisotropy as they are; 95 % bootstrap intervals over the "
    "pairs; raw text"
)


def table(ending: str, *evaluations: Evaluation) -> str:
    return table_in(ending, evaluations, text="raw", note="raw text")


def test_several_models_are_rows_of_headline_scores_and_averages() -> None:
    plain = Evaluation(FIRST.model, [replace(line, interval=None) for line in FIRST.lines])
    heads, first, second, _, _ = to_text([plain, SECOND], "raw text").splitlines()
    titles = ["model", "STSB", "STS12", "MR", "accuracy", "geometry", "uniformity", "Avg.", "sts"]
    assert heads.split() == [*titles, "TRECQA", "map"]
    assert first.split() == ["a_b", "81.23", "70.00", "90.00", "-2.5000", "75.62", "–"]
    assert second.split() == ["bm25", *"–––––", "50.00"]


def test_with_intervals_several_models_are_columns() -> None:
    heads, *tasks, last, _, foot = to_text([FIRST, SECOND], "raw text").splitlines()
    assert heads.split() == ["task", "a_b", "bm25"]
    assert tasks[0].split() == ["STSB", "81.23", "(79.00", "to", "83.00)", "–"]
    assert tasks[-1].split() == ["Avg.", "sts", "75.62", "(74.00", "to", "77.00)", "–"]
    assert last.split() == ["TRECQA", "map", "–", "50.00"]
    assert foot == FOOT


def test_one_model_is_a_line_per_score() -> None:
    lines = to_text([FIRST], "").splitlines()
    assert lines[1].split() == ["STSB", "spearman", "all", "81.23", "79.00", "to", "83.00", "1,379"]
    average = lines[-3].split()
    assert average == ["Avg.", "sts", "spearman", "average", "75.62", "74.00", "to", "77.00", "2", "tasks"]


def test_markdown_and_latex_have_the_cells_of_the_terminal_with_their_signs_escaped() -> None:
    _, _, heads, rule, first, second, _, foot, *_ = table(".md", FIRST, SECOND).split("\n")
    assert heads.count("|") == rule.count("|") == first.count("|") == second.count("|") == 8
    assert first.startswith("| a\\_b | 81.23 (79.00 to 83.00) | 70.00 (68.00 to 72.00) | 90.00 |")
    assert foot == FOOT
    tex = table(".tex", FIRST, SECOND).splitlines()
    assert tex[1:4] == [f"% {FOOT}", r"\begin{tabular}{lrrrrrr}", r"\toprule"]
    assert tex[6].startswith(r"a\_b & 81.23 (79.00 to 83.00) & ")
    assert tex[7].endswith(r" & 50.00 \\")


def test_csv_and_json_have_every_score_in_raw_units() -> None:
    rows = list(csv.DictReader(io.StringIO(table(".csv", FIRST, SECOND))))
    scores = json.loads(table(".json", FIRST, SECOND))["scores"]
    assert len(rows) == len(scores) == 8
    for row, score in zip(rows, scores, strict=True):
        ends = score.get("interval", ("", ""))
        assert row == {
            **{name: str(score[name]) for name in ("model", "task", "metric", "setting", "value", "n")},
            "low": str(ends[0]),
            "high": str(ends[1]),
        }
    assert scores[0]["interval"] == [0.79, 0.83]
    assert scores[6]["setting"] == "average"


@pytest.mark.parametrize("ending", OUTPUT_ENDINGS)
def test_a_table_replaces_a_table_of_the_command_and_no_other_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    assert check_table(path) == path
    path.write_text(table(ending, FIRST))
    assert check_table(path) == path
    path.write_text('{"mine": 1}')
    with pytest.raises(InputError, match="exists and is not an output of this command"):
        check_table(path)


@pytest.mark.parametrize("name", ["table", "table.txt", "table.xlsx", "table.csv.gz"])
def test_another_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"expected a name that ends in \.csv, \.json, \.md, \.tex"):
        check_table(tmp_path / name)


def test_a_file_of_one_model_is_read_without_its_averages(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(table(".json", FIRST))
    assert read_evaluation(path) == ("a_b", "raw", [*FIRST.lines[:-1]])
    path.write_text(table(".json", FIRST, SECOND))
    with pytest.raises(InputError, match="has scores of a_b, bm25, expected one model"):
        read_evaluation(path)
    path.write_text(json.dumps({**to_json([FIRST], text="raw"), "text": "other"}))
    with pytest.raises(InputError, match="text"):
        read_evaluation(path)
