"""`sentbench.results`, `published`, `evidence` and `verify`: numbers on record as tables."""

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import sentbench
from harness.evidence.ledger import load_ledger
from harness.evidence.published import load_published
from harness.evidence.store import SCORE_COLUMNS
from harness.evidence.studies import Study, StudySettings, Summary
from harness.paths import LEADERBOARDS, PUBLISHED, declared
from sentbench.numbers import EVIDENCE_COLUMNS, PUBLISHED_COLUMNS, rows_of_study

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests/harness/report/recorded/scores"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is no checkout."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_results_are_a_row_a_score() -> None:
    frame = sentbench.results(RECORDED)
    assert list(frame.columns) == SCORE_COLUMNS
    assert frame["key"].nunique() == 4
    assert frame["value"].between(-10, 1).all()


def test_results_without_a_folder_are_the_checkouts(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sentbench.InputError, match="the table of results: run this in a checkout"):
        sentbench.results()
    monkeypatch.chdir(ROOT)
    files = (ROOT / "reports/further").glob("*.json")
    further = {
        f"{path.stem}__s{seed['seed']}" for path in files for seed in json.loads(path.read_text())["seeds"]
    }
    first = {path.stem for path in (ROOT / "reports/scores").glob("*.json")}
    assert further
    assert not first & further
    assert {*sentbench.results()["key"]} == first | further


def test_published_numbers_are_those_reported() -> None:
    frame = sentbench.published("pcl/table2")
    assert tuple(frame.columns) == PUBLISHED_COLUMNS
    row = frame[(frame["system"] == "simcse") & (frame["backbone"] == "bert-base-uncased")]
    assert row.set_index("column")["value"]["Avg"] == 76.25
    una = sentbench.published("una/table2")
    points = una[(una["row"] == "una@bert-base-uncased") & (una["column"] == "Avg")]["value"]
    assert points.tolist() == [76.14], "printed as 0.7614"
    whole = sentbench.published()
    assert whole["value"].notna().all()
    assert set(whole["table"]) > {"pcl/table2", "una/table1", "sct/table1"}
    assert len(whole[whole["table"] == "pcl/table2"]) == len(frame)


def test_a_misprinted_number_is_shown_as_it_is_printed() -> None:
    known = load_published(declared(PUBLISHED)).numbers.values()
    printed = {(number.table, number.row, number.column): number.printed for number in known}
    assert any(number.printed != number.value for number in known)
    frame = sentbench.published()
    shown = zip(frame["table"], frame["row"], frame["column"], frame["value"], strict=True)
    assert {(table, row, column): value for table, row, column, value in shown} == printed


def test_verify_returns_the_rows_of_the_command() -> None:
    (judged,) = sentbench.verify("una/table1", "BERT-base UNA", "Avg")
    assert (judged.number.value, judged.text, judged.verdict.by, judged.values) == (
        *(76.14, "authors only", "authors", ()),
    )
    assert sentbench.describe(judged).splitlines()[1].startswith("reported   76.14")
    assert len(sentbench.verify("pcl/table2", "SimCSE", "Avg")) == 3


def test_a_study_keeps_its_source_its_settings_and_why_it_does_not_count() -> None:
    study = Study(
        system="simcse@bert-base-uncased",
        kind="quoted",
        source="some/code#8",
        settings=StudySettings(seeds=[1, 42], batch=64),
        scores={"Avg": [76.0, 75.5], "STS12": Summary(mean=68.0, n=2), "STS13": 80.0},
    )
    first, second, summary, single = rows_of_study(study, by="A lab")
    assert [(row["column"], row["run"], row["seed"], row["value"]) for row in (first, second, single)] == [
        ("Avg", 1, 1, 76.0),
        ("Avg", 2, 42, 75.5),
        ("STS13", 1, 1, 80.0),
    ]
    assert (summary["column"], summary["mean"], summary["n"]) == ("STS12", 68.0, 2)
    assert not {"seed", "value"} & summary.keys()
    for row in (first, second, summary, single):
        assert row["link"] == "https://github.com/some/code/issues/8"
        assert (row["not_counted"], row["batch"], row["by"]) == ("quoted", 64, "A lab")
        assert row.keys() <= set(EVIDENCE_COLUMNS)


def test_why_a_number_does_not_count_is_told_of_its_column() -> None:
    """A study with another SICK-R, and with runs that are stated elsewhere too."""
    study = Study(
        system="simcse@bert-base-uncased",
        kind="re-run",
        source="some/code",
        settings=StudySettings(sick_r_pairs=9927),
        repeats=["STS13"],
        scores={"STS12": 68.0, "STS13": 80.0, "SICKR": 70.0, "Avg": 76.0},
    )
    reasons = {row["column"]: row["not_counted"] for row in rows_of_study(study, by="A lab")}
    other = "SICK-R of 9,927 pairs"
    assert reasons == {"STS12": "", "STS13": "counted in another study", "SICKR": other, "Avg": other}


def test_evidence_has_every_number_of_the_ledger() -> None:
    ledger = load_ledger(declared(LEADERBOARDS / "evidence"), load_published(declared(PUBLISHED)))
    scores = [score for study in ledger.studies for score in study.scores.values()]
    frame = sentbench.evidence()
    assert tuple(frame.columns) == EVIDENCE_COLUMNS
    assert len(frame) == sum(len(score) if isinstance(score, list) else 1 for score in scores) >= 1000
    assert set(frame["system"]) == {study.system for study in ledger.studies}
    of_simcse = sentbench.evidence("simcse@bert-base-uncased")
    assert len(of_simcse) == (frame["system"] == "simcse@bert-base-uncased").sum() > 0
    with pytest.raises(sentbench.InputError, match="simcse@bert-base-uncased"):
        sentbench.evidence("simcse@bert-base-uncase")


@pytest.mark.parametrize(
    "table", [lambda: sentbench.results(RECORDED), sentbench.published, sentbench.evidence]
)
def test_a_table_is_written_to_parquet_and_read_back(
    tmp_path: Path, table: Callable[[], pd.DataFrame]
) -> None:
    frame = table()
    frame.to_parquet(tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "table.parquet"), frame)
