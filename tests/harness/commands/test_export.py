"""The exported numbers: equal to what they come from, read by `datasets`, equal bytes each time."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import sentbench
from harness.cli import main
from harness.commands.export import CONFIGS, evidence, rows_of
from harness.facts.evidence.ledger import Ledger, Scope, Settings, Study, Summary, load_ledger
from harness.facts.published import load_published
from harness.paths import LEADERBOARDS, PUBLISHED, declared


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "numbers"
    assert main(["export", str(folder)]) == 0
    return folder


def test_a_study_keeps_its_source_its_settings_and_why_it_does_not_count() -> None:
    study = Study(
        system="simcse@bert-base-uncased",
        kind="quoted",
        source="some/code#8",
        settings=Settings(seeds=[1, 42], batch=64),
        scores={"Avg": [76.0, 75.5], "STS12": Summary(mean=68.0, n=2)},
    )
    found = evidence(Ledger((study,), Scope(groups={}, same={}, searched=[])))
    assert found[["column", "run", "seed", "value"]].values.tolist()[:2] == [
        ["Avg", 1, 1, 76.0],
        ["Avg", 2, 42, 75.5],
    ]
    assert set(found["link"]) == {"https://github.com/some/code/issues/8"}
    assert set(found["not_counted"]) == {"quoted"}
    assert set(found["batch"]) == {64}
    assert pd.isna(found.iloc[2]["seed"])
    assert found.iloc[2][["mean", "n"]].tolist() == [68.0, 2]


def test_every_number_of_the_ledger_and_of_the_papers_is_there(exported: Path) -> None:
    ledger = load_ledger(declared(LEADERBOARDS / "evidence"), load_published(declared(PUBLISHED)))
    found = pd.read_parquet(exported / "evidence.parquet")
    numbers = sum(len(rows_of(score)) for study in ledger.studies for score in study.scores.values())
    assert len(found) == numbers >= 1000
    assert set(found["system"]) == {study.system for study in ledger.studies}
    pd.testing.assert_frame_equal(pd.read_parquet(exported / "published.parquet"), sentbench.published())
    assert len(pd.read_parquet(exported / "results.parquet")) >= 1000


def test_datasets_reads_each_table_under_its_name(exported: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    for name in CONFIGS:
        read = datasets.load_dataset(str(exported), name, split="train", cache_dir=str(tmp_path))
        assert read.num_rows == len(pd.read_parquet(exported / f"{name}.parquet"))


def test_the_metadata_name_every_column_and_hash_every_file(exported: Path) -> None:
    said = json.loads((exported / "croissant.json").read_text())
    for file in said["distribution"]:
        assert file["sha256"] == hashlib.sha256((exported / file["contentUrl"]).read_bytes()).hexdigest()
    for table in said["recordSet"]:
        columns = pd.read_parquet(exported / f"{table['@id']}.parquet").columns
        assert [field["@id"] for field in table["field"]] == [f"{table['@id']}/{name}" for name in columns]


def test_a_second_export_replaces_the_first_by_equal_bytes_and_nothing_else(
    exported: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    before = {path.name: path.read_bytes() for path in exported.iterdir()}
    assert main(["export", str(exported)]) == 0
    assert {path.name: path.read_bytes() for path in exported.iterdir()} == before
    (tmp_path / "mine.txt").write_text("x")
    assert str(tmp_path) in refused("export", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
