"""`sentbench compare-systems` on recorded scores, with vectors and pairs that the test stores."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from harness.results.embeddings import EmbeddingStore
from harness.tasks.evaluation import unique_texts
from harness.tasks.registry import build_tasks
from tests.faults.small_project import write_stsb

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "tests/harness/report/recorded/scores"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the recorded scores: three seeds of SimCSE and one run of whitening."""
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    shutil.copytree(RECORDED, tmp_path / "reports/scores")
    monkeypatch.delenv("SENTBENCH_DATA", raising=False)
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def random_vectors(seed: int, texts: Sequence[str]) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(len(texts), 8))


def test_two_systems_are_compared_task_by_task(project: Path, printed: Callable[..., str]) -> None:
    shown = printed("compare-systems", "simcse", "whitening")
    told = json.loads(printed("compare-systems", "simcse", "whitening", "--json"))
    assert told["tasks"]
    assert told["won"] + told["lost"] + told["inconclusive"] + told["equal"] == len(told["tasks"])
    assert all(task["paired_seeds"] == 1 and task["over_pairs"] is None for task in told["tasks"])
    for task in told["tasks"]:
        assert f"{100 * task['difference']:+.2f}" in shown


def test_stored_vectors_give_the_interval_over_pairs(project: Path, printed: Callable[..., str]) -> None:
    """Every run gets vectors of its own of STS-B's eight pairs."""
    write_stsb(project / "data/stsb")
    keys = [json.loads(path.read_text())["run"]["key"] for path in Path("reports/scores").glob("*.json")]
    assert len(keys) == 4
    texts = unique_texts(build_tasks(["STSB"], text="senteval"))
    for number, key in enumerate(sorted(keys)):
        vectors = partial(random_vectors, number)
        EmbeddingStore.write(Path("embeddings") / key, texts, vectors, encoder=key, precision="float32")
    command = ["compare-systems", "simcse", "whitening", "--json", "--tasks", "STSB"]
    (task,) = json.loads(printed(*command))["tasks"]
    low, high = task["over_pairs"]
    assert low < high
    assert -2 <= low <= high <= 2
    (bare,) = json.loads(printed(*command, "--no-pairs"))["tasks"]
    assert bare["over_pairs"] is None
    assert bare["difference"] == task["difference"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["simsce", "whitening"], "did you mean simcse"),
        (["simcse", "simcse"], "on both sides"),
        (["simcse", "whitening", "--tasks", "STSBB"], "did you mean STSB"),
        (["simcse", "whitening", "--tasks", "MR"], "no test set in common"),
        (["simcse@bert", "whitening"], "has no results"),
    ],
)
def test_wrong_names_are_one_line(
    project: Path, refused: Callable[..., str], words: list[str], message: str
) -> None:
    assert message in refused("compare-systems", *words)
