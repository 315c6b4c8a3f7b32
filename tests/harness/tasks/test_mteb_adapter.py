"""The bridge to mteb, with encoders made of hashes and data sets of a few pairs."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.check.sanity import random
from harness.errors import InputError
from harness.tasks.mteb_adapter import (
    LOCAL_STS,
    MtebModel,
    identity_of,
    local_sts_task,
    run_mteb,
)
from harness.tasks.sts_sets import sts_task

pytestmark = pytest.mark.thorough
SHA = {"first": "a" * 64, "second": "b" * 64}


class Hashing:
    """Random vectors of a seed; counts how often it is asked."""

    dim = 64

    def __init__(self, seed: int) -> None:
        self.seed, self.calls = seed, 0

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.calls += 1
        return random(self.seed)(texts).astype(np.float32)


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """A folder of local copies with 40 pairs of STS12 of different sentences."""
    folder = tmp_path / "copies" / "sts12-sts"
    folder.mkdir(parents=True)
    rows = [
        {"sentence1": f"left {i}", "sentence2": f"right {i % 7}", "score": (i * 7 % 26) / 5}
        for i in range(40)
    ]
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder.parent


def test_identity_comes_from_the_bytes_of_the_encoder() -> None:
    assert identity_of("my model", SHA["first"]) == ("sentbench/my-model", "a" * 40)
    assert identity_of("same", SHA["first"]) != identity_of("same", SHA["second"])
    assert identity_of("//", SHA["first"])[0] == "sentbench/model"


def test_cosines_are_float64_and_pairwise_is_the_diagonal() -> None:
    model = MtebModel(Hashing(0), name="a/b", revision="r")
    first, second = np.random.default_rng(0).normal(size=(2, 6, 4)).astype(np.float32)
    square = model.similarity(first, second)
    assert square.dtype == np.float64
    np.testing.assert_allclose(np.diag(square), model.similarity_pairwise(first, second), atol=1e-15)
    expected = first[2] @ second[3] / np.linalg.norm(first[2]) / np.linalg.norm(second[3])
    assert square[2, 3] == pytest.approx(expected, abs=1e-6)


def test_changed_local_data_is_scored_anew(copies: Path, tmp_path: Path) -> None:
    encoder = Hashing(0)
    model = MtebModel(encoder, name="a/b", revision="r")
    (before,) = run_mteb(model, ["STS12"], out=tmp_path / "out", local=copies)
    native = sts_task("STS12", "raw", "sts12-raw", folder=copies / "sts12-sts").evaluate(random(0))
    (spearman,) = [score.value for score in native if (score.metric, score.setting) == ("spearman", "all")]
    assert (before.metric, before.value) == ("cosine_spearman", pytest.approx(spearman, abs=1e-6))
    path = copies / "sts12-sts/test.jsonl"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(True)[:20]), encoding="utf-8")
    asked = encoder.calls
    (after,) = run_mteb(model, ["STS12"], out=tmp_path / "out", local=copies)
    assert after.value != before.value
    assert after.data_revision != before.data_revision
    assert encoder.calls > asked


def test_unknown_tasks_and_missing_copies_are_refused(copies: Path, tmp_path: Path) -> None:
    model = MtebModel(Hashing(0), name="a/b", revision="r")
    with pytest.raises(InputError, match="mteb has no task 'STS121'"):
        run_mteb(model, ["STS121"], out=tmp_path)
    with pytest.raises(InputError, match=r"sts13-sts/test\.jsonl: no such file"):
        local_sts_task("STS13", copies)


def test_a_local_copy_belongs_to_its_task() -> None:
    assert LOCAL_STS == {
        "STS12": "sts12-sts",
        "STS13": "sts13-sts",
        "STS14": "sts14-sts",
        "STS15": "sts15-sts",
        "STS16": "sts16-sts",
        "STSBenchmark": "stsbenchmark-sts",
        "SICK-R": "sickr-sts",
    }


@pytest.mark.mirror
def test_mteb_and_native_scores_agree_to_a_hundredth_of_a_point_on_every_set(
    mirror: Path, tmp_path: Path
) -> None:
    """Texts become bags of hashed words, which correlate with gold and tie often: the hard case."""

    class Bags(Hashing):
        def encode(self, texts: Sequence[str]) -> np.ndarray:
            words = {word for text in texts for word in text.lower().split()}
            table = dict(zip(sorted(words), random(0)(sorted(words)), strict=True))
            return np.stack([sum(table[word] for word in text.lower().split()) for text in texts]).astype(
                np.float32
            )

    model = MtebModel(Bags(0), name="a/b", revision="r")
    scores = run_mteb(model, list(LOCAL_STS), out=tmp_path, local=mirror / "mteb")
    assert len(scores) == 7
    # one layout for all seven
    for score, (name, folder) in zip(scores, LOCAL_STS.items(), strict=True):
        task = sts_task("STS12", "raw", "sts12-raw", folder=mirror / "mteb" / folder)
        native = task.evaluate(Bags(0).encode)[0].value
        assert 100 * score.value == pytest.approx(100 * native, abs=0.01), name
