"""`sentbench.compare`: two models, or two systems' result files, outside a checkout."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sentbench
from harness.report.pages.compare import differences_of
from tests.faults.small_project import write_stsb
from tests.sentbench.test_encoders import letters
from tests.support import tiny

SCORES = Path(__file__).parents[2] / "reports/scores"


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_stsb(tmp_path / "data/stsb")
    monkeypatch.setenv("SENTBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def noise(texts: list[str]) -> np.ndarray:
    return np.random.default_rng(len(texts)).normal(size=(len(texts), 8))


def test_two_models_are_compared_over_the_same_pairs(empty: Path) -> None:
    found = sentbench.compare(letters, noise, "STSB")
    frame = found.frame
    assert list(frame["task"]) == ["STSB", "Mean"]
    row = frame.iloc[0]
    assert row["difference"] == pytest.approx(row["first"] - row["second"])
    assert row["low"] < row["difference"] < row["high"]
    assert "letters" in str(found)
    assert r"\toprule" in found.to_latex()
    assert sentbench.compare(letters, letters, "STSB").found.tally["equal"] == 1


def test_results_are_compared_over_seeds_with_wider_intervals_for_more_tasks(empty: Path) -> None:
    for system in ("simcse-small", "pcl-small"):
        for path in SCORES.glob(f"{system}__*.json"):
            (empty / system).mkdir(exist_ok=True)
            shutil.copy(path, empty / system)
    found = sentbench.compare("simcse-small", "pcl-small")
    plain = {"STSB": (-1.53, 4.58), "STS13-part": (1.62, 3.39)}  # README, not corrected
    frame = found.frame.set_index("task")
    assert len(frame) == 7
    for task, (low, high) in plain.items():
        assert 100 * frame.loc[task, "low"] < low < high < 100 * frame.loc[task, "high"]
    first = sorted(Path("simcse-small").iterdir())[:1]
    assert set(sentbench.compare(first, "pcl-small").frame["outcome"]) == {"inconclusive"}


def test_the_command_compares_folders(empty: Path, printed: Callable[..., str]) -> None:
    for seed in (1, 2):
        backbone = tiny.write_backbone(empty / f"bert{seed}", seed=seed)
        tiny.sentence_encoder(backbone).save(empty / f"model{seed}")
    said = printed("compare", "model1", "model2", "--tasks", "STSB")
    assert "model1" in said
    assert "95 % intervals of the difference, of all tasks together" in said


def test_a_plot_has_every_difference_at_its_place_with_its_interval(empty: Path) -> None:
    found = sentbench.compare(letters, noise, "STSB")
    drawn = differences_of(found.found)
    for row, (_, values) in zip(drawn.rows, found.frame.iterrows(), strict=True):
        assert row["name"] == values["task"]
        assert row["value"] == pytest.approx(100 * values["difference"])
    (first, *_) = drawn.rows
    assert (first["low"], first["high"]) == pytest.approx(tuple(100 * found.frame.loc[0, ["low", "high"]]))
    picture = found.plot("a.svg")
    assert Path("a.svg").read_text() == picture == picture._repr_svg_()
    assert picture.startswith("<svg")
    Path("notes.txt").write_text("mine")
    with pytest.raises(sentbench.InputError, match=r"notes.txt: holds something else than a drawing"):
        found.plot("notes.txt")
    assert Path("notes.txt").read_text() == "mine"
