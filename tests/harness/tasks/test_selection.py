"""Selection reads the development pairs of STS-B, and each split its own file."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.tasks import selection
from harness.tasks.interface import Score
from harness.tasks.sts_sets import read_stsb_split
from tests.harness.tasks.layouts import declared_task, write_sick


def test_each_split_of_stsb_is_read_from_its_own_file_and_selection_from_dev(tmp_path: Path) -> None:
    for split in ("train", "dev", "test"):
        line = "\t".join(
            ["main-news", "MSRpar", "2012test", "1", "2.5", f"a {split} pair", "its second text"]
        )
        (tmp_path / f"sts-{split}.csv").write_text(line + "\n")
    for split in ("train", "dev", "test"):
        (row,) = read_stsb_split(tmp_path, split, form="senteval", source="stsb-senteval")
        assert (row.first, row.score) == (f"a {split} pair", 2.5)
    for name, split in {"STSB": "test", "STSB-dev": "dev"}.items():
        assert next(iter(declared_task(name, folder=tmp_path).texts())) == f"a {split} pair"


def test_sick_is_scored_on_its_test_part(tmp_path: Path) -> None:
    write_sick(tmp_path)
    pairs = declared_task("SICKR", folder=tmp_path).pairs
    assert {pair.first.split()[0] for pair in pairs} == {"SICK_test_annotated.txt"}


def test_a_surprise_of_a_year_has_the_name_of_its_subset(tmp_path: Path) -> None:
    (tmp_path / "STS.input.surprise.OnWN.txt").write_text("a cat\tthe cat\n")
    (tmp_path / "STS.gs.surprise.OnWN.txt").write_text("4.5\n")
    assert list(declared_task("STS13", "senteval", folder=tmp_path).subsets) == ["OnWN"]


def test_training_watches_the_correlation_and_the_geometry_over_all_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured = [("spearman", "all", 0.8), ("pearson", "all", 0.7), ("spearman", "mean", 0.6)]
    measured += [("alignment", "all", 0.5), ("uniformity", "all", -2.0)]
    scores = [Score("a", metric, setting, value, 9) for metric, setting, value in measured]
    asked: list[str] = []
    monkeypatch.setattr(selection, "sts_task", lambda name, *given: asked.append(name))
    monkeypatch.setattr(selection, "evaluate_tasks", lambda tasks, encode: scores)
    found = selection.dev_evaluation("senteval")(SimpleNamespace(encode=None))
    assert found == {"score": 0.8, "alignment": 0.5, "uniformity": -2.0}
    assert asked == ["STSB-dev"]
