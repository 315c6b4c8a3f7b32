"""What pages are built of: the sentence pairs behind the scores, and the stamp in the footer."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.assembly.content import pair_sets, stamp_of
from harness.compute.pairs import stored_cosines
from harness.data.sources import source_named
from harness.data.sts import ScoredPair
from harness.plan.entries import read_params
from harness.report.pages.content import Report, Stamp
from harness.results.embeddings import EmbeddingStore
from harness.tasks.registry import build_tasks
from harness.tasks.sts import StsTask
from tests.faults.small_project import write_stsb
from tests.harness.report.made_results import result
from tests.harness.report.shown import show_index
from tests.support.git import git

ROOT = Path(__file__).parents[3]
PICKED = "STS12-part-hard-length:positive=4:negative=2:longer=5:closer=2"
PAIRS = {
    "news": [ScoredPair("a", "b c", 1.0)],
    "images": [ScoredPair("a", "d", 2.0), ScoredPair("b c", "d", 0.5)],
}


def store_of(folder: Path, vectors: Mapping[str, Sequence[float]]) -> EmbeddingStore:
    """A store of vectors by text."""
    matrix = np.array(list(vectors.values()))
    return EmbeddingStore.write(
        folder, list(vectors), lambda _: matrix, encoder=folder.name, precision="float32"
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the eight pairs of a small STS-B."""
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    monkeypatch.delenv("SENTBENCH_DATA", raising=False)
    monkeypatch.setenv("SENTBENCH_PROVIDERS", "embedded")
    monkeypatch.chdir(tmp_path)
    write_stsb(tmp_path / "data/stsb")
    return tmp_path


def test_cosines_are_the_mean_over_the_runs_whose_store_has_every_text(tmp_path: Path) -> None:
    """Run 0 has a along b c, across d: 1, 0, 0. Run 1 has a along d, across b c: 0, 1, 0; mean .5, .5, 0."""
    task = StsTask("T", "stsb", lambda _: PAIRS, folder=tmp_path)
    across, along = [0.0, 2.0], [3.0, 0.0]
    zero = store_of(tmp_path / "zero", {"a": along, "b c": along, "d": across})
    one = store_of(tmp_path / "one", {"a": along, "b c": across, "d": along})
    lacking = store_of(tmp_path / "lacking", {"a": along, "b c": across})
    found = stored_cosines(task, {"both": [zero, one], "part": [one, lacking], "none": [lacking]})
    assert list(found) == ["both", "part"]
    assert found["both"] == pytest.approx([0.5, 0.5, 0.0])
    assert found["part"] == pytest.approx([0.0, 1.0, 0.0])


def test_a_test_set_has_the_cosines_of_its_systems_and_neither_development_set_nor_picked_pairs(
    project: Path,
) -> None:
    """Seed 0 has vectors that are all alike, so every cosine is 1; seed 1 has none and does not count."""
    params = read_params()
    run = next(iter(params.runs.values())).model_copy(
        update={
            "id": "one",
            "backbone": "backbones/b",
            "tasks": ["STSB-dev", "STSB", PICKED],
            "text": "senteval",
        }
    )
    runs = {f"one__b__s{seed}": run.model_copy(update={"seed": seed}) for seed in (0, 1)}
    plan = params.model_copy(update={"runs": runs})
    assert pair_sets(plan) == ()
    texts = [text for task in build_tasks(["STSB", "STSB-dev"], text="senteval") for text in task.texts()]
    store_of(project / "embeddings/one__b__s0", {text: [1.0, 1.0] for text in texts})
    (found,) = pair_sets(plan)
    assert (found.task, found.licence) == ("STSB", source_named("stsb").licence)
    assert found.ids == tuple(f"test {number}" for number in range(1, 9))
    assert len(found.gold) == len(found.words) == len(found.texts) == 8
    assert found.words[0] == sum(len(text.split()) for text in found.texts[0]) / 2
    assert found.cosines == {"one@b": pytest.approx([1.0] * 8)}


def test_a_second_report_of_equal_results_keeps_the_stamp_and_other_results_get_that_of_the_checkout(
    tmp_path: Path,
) -> None:
    """A page is built at one commit and again at the next, as happens when it is committed."""
    page, results = tmp_path / "index.html", [result("a", 0, {("STSB", "all"): 0.5})]
    assert stamp_of(results, page).commit == stamp_of(results, page).date == ""
    git(tmp_path, "init", "-q")
    commits = []
    for _ in range(2):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", "c")
        commits.append(stamp_of(results, tmp_path / "none.html").commit)
        if not page.exists():
            first = stamp_of(results, page)
            page.write_text(show_index(Report("T", "abc", stamp=first)), encoding="utf-8")
    assert len(set(commits)) == 2
    assert stamp_of(results, page) == first == Stamp(first.results, commits[0], first.date)
    assert first.date.count("-") == 2
    changed = [result("a", 0, {("STSB", "all"): 0.6})]
    assert stamp_of(changed, page).commit == commits[1]
