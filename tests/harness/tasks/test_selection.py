"""Selection reads the development pairs of STS-B, and each split its own file."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.tasks import selection
from harness.tasks.interface import Score
from harness.tasks.selection import dev_evaluation
from harness.tasks.sts_sets import read_stsb_split
from tests.harness.tasks.layouts import declared_task, write_sick

DEGREES = {"at 0": 0, "at 10": 10, "at 20": 20, "at 90": 90, "at 180": 180}
SPLITS = {
    "train": [(5, "at 0", "at 180"), (4.5, "at 0", "at 90"), (0, "at 10", "at 20")],
    "dev": [(5, "at 0", "at 10"), (1, "at 0", "at 20"), (3, "at 0", "at 90")],
    "test": [(5, "at 180", "at 180"), (2, "at 90", "at 180"), (1, "at 180", "at 0")],
}
"""Gold scores and texts of each split, whose names are the directions of their vectors."""


class Compass:
    """An encoder that maps a text to the direction in its name, and records the texts."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        turned = np.deg2rad([DEGREES[text] for text in texts])
        return np.stack([np.cos(turned), np.sin(turned)], axis=1)


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


def test_each_split_of_the_raw_stsb_is_read_from_its_own_file(tmp_path: Path) -> None:
    files = {"train": "train", "dev": "validation", "test": "test"}
    for number, file in enumerate(files.values()):
        row = {"sentence1": f"a {file} pair", "sentence2": "b", "score": number}
        (tmp_path / f"{file}.jsonl").write_text(json.dumps(row) + "\n")
    for number, (split, file) in enumerate(files.items()):
        (row,) = read_stsb_split(tmp_path, split, form="raw", source="stsb-raw")
        assert (row.first, row.score) == (f"a {file} pair", number)


def test_a_file_of_stsb_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    """Rows are kept in memory as long as the file is the same, for each text form and source."""
    path = tmp_path / "sts-dev.csv"

    def read(form: str, source: str) -> str:
        (row,) = read_stsb_split(tmp_path, "dev", form=form, source=source)
        return row.first

    for text, tokenised in (("It's A", "it 's a"), ("It's B", "it 's b")):
        new = path.with_suffix(".new")
        new.write_text(f"g\tf\t2014\t0\t2.5\t{text}\tb\n")
        new.replace(path)
        for _ in range(2):
            assert read("raw", "stsb") == text
            assert read("senteval", "stsb") == tokenised
            assert read("senteval", "stsb-senteval") == text


@pytest.mark.parametrize("apart", [10**9, 1_000, 1])
def test_a_file_of_stsb_that_was_edited_in_place_is_read_again(tmp_path: Path, apart: int) -> None:
    """The same file with the same size and another time, by nanoseconds too."""
    path = tmp_path / "sts-dev.csv"
    for number, text in enumerate(("one", "two")):
        with path.open("w") as file:
            file.write(f"g\tf\t2014\t0\t2.5\t{text}\tb\n")
        os.utime(path, ns=(0, 10**18 + apart * number))
        (row,) = read_stsb_split(tmp_path, "dev", form="raw", source="stsb")
        assert row.first == text


def test_sick_is_scored_on_its_test_part(tmp_path: Path) -> None:
    write_sick(tmp_path)
    pairs = declared_task("SICKR", folder=tmp_path).pairs
    assert {pair.first.split()[0] for pair in pairs} == {"SICK_test_annotated.txt"}


def test_a_surprise_of_a_year_has_the_name_of_its_subset(tmp_path: Path) -> None:
    (tmp_path / "STS.input.surprise.OnWN.txt").write_text("a cat\tthe cat\n")
    (tmp_path / "STS.gs.surprise.OnWN.txt").write_text("4.5\n")
    assert list(declared_task("STS13", "senteval", folder=tmp_path).subsets) == ["OnWN"]


def test_training_watches_the_correlation_and_the_geometry_of_the_dev_pairs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dev cosines fall over 10, 20 and 90 degrees, ranks 3 2 1 against gold ranks 3 1 2: Spearman 0.5.

    One pair is above 4, at a squared distance of 2 - 2 cos 10. The four texts of dev are at 0, 10, 20 and 90
    degrees: six pairs, 10, 20, 90, 10, 80 and 70 degrees apart. Train and test pairs would give other values.
    """
    folder = tmp_path / "stsb"
    folder.mkdir()
    for split, pairs in SPLITS.items():
        lines = [f"g\tf\t2014\t1\t{gold}\t{first}\t{second}\n" for gold, first, second in pairs]
        (folder / f"sts-{split}.csv").write_text("".join(lines))
    (folder / "source.json").write_text("{}")
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    compass = Compass()
    actual = dev_evaluation("raw")(compass)
    apart = np.cos(np.deg2rad([10, 20, 90, 10, 80, 70]))
    assert actual == pytest.approx(
        {
            "score": 0.5,
            "alignment": 2 - 2 * np.cos(np.deg2rad(10)),
            "uniformity": np.log(np.exp(4 * apart - 4).mean()),
        }
    )
    dev = {text for _, *texts in SPLITS["dev"] for text in texts}
    assert sorted(compass.asked) == sorted(dev), "selection encodes each text of dev once, and no other"


def test_selection_reads_its_three_measures_among_all_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alignment of pairs above 4, not of those from 4 on; Spearman, not Pearson."""
    names = [
        ("spearman", "all"), ("pearson", "all"), ("alignment", "all"), ("alignment", "at-least-4"),
        ("uniformity", "all"), ("anisotropy", "all"),
    ]  # fmt: skip
    scores = [Score("t", *name, float(number), 2) for number, name in enumerate(names)]
    asked: list[object] = []

    def evaluated(tasks: Sequence[object], encode: object) -> list[Score]:
        asked.append(([task.name for task in tasks], encode))  # type: ignore[attr-defined]
        return scores

    monkeypatch.setattr(selection, "evaluate_tasks", evaluated)
    compass = Compass()
    assert dev_evaluation("raw")(compass) == {"score": 0.0, "alignment": 2.0, "uniformity": 4.0}
    assert asked == [(["STSB-dev", "geometry-dev"], compass.encode)]
