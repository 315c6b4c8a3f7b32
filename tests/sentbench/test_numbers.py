"""`sentbench.results`, `published` and `verify`: numbers on record as tables."""

from pathlib import Path

import pytest

import sentbench
from harness.results.store import COLUMNS
from sentbench.numbers import PUBLISHED_COLUMNS

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests/harness/report/recorded/scores"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is no checkout."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_results_are_a_row_a_score() -> None:
    frame = sentbench.results(RECORDED)
    assert list(frame.columns) == COLUMNS
    assert frame["key"].nunique() == 4
    assert frame["value"].between(-10, 1).all()


def test_results_without_a_folder_are_those_of_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sentbench.InputError, match="the table of results needs a checkout"):
        sentbench.results()
    monkeypatch.chdir(ROOT)
    assert sentbench.results()["key"].nunique() == len(list((ROOT / "reports/scores").glob("*.json")))


def test_published_numbers_are_those_reported() -> None:
    frame = sentbench.published("pcl/table2")
    assert tuple(frame.columns) == PUBLISHED_COLUMNS
    row = frame[(frame["system"] == "simcse") & (frame["backbone"] == "bert-base-uncased")]
    assert row.set_index("column")["value"]["Avg"] == 76.25
    whole = sentbench.published()
    assert whole["value"].notna().all()
    assert set(whole["table"]) > {"pcl/table2", "una/table1", "sct/table1"}
    assert len(whole[whole["table"] == "pcl/table2"]) == len(frame)


def test_verify_finds_what_the_command_finds() -> None:
    (found,) = sentbench.verify("una/table1", "BERT-base UNA", "Avg")
    assert (found.reported.value, found.verdict, found.values) == (76.14, "authors only", ())
    assert sentbench.describe(found).splitlines()[1].startswith("reported   76.14")
    assert len(sentbench.verify("pcl/table2", "SimCSE", "Avg")) == 3
