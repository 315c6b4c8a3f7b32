"""The bridge to mteb, with encoders made of hashes and data sets of a few pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.check.sanity import random
from harness.tasks.mteb_adapter import LOCAL_STS, as_mteb_model, run_mteb
from harness.tasks.sts_sets import sts_task
from tests.harness.commands.test_mteb import copies

__all__ = ["copies"]


class Hashing:
    """Random vectors of a seed; counts how often it is asked."""

    dim = 64

    def __init__(self, seed: int) -> None:
        self.seed, self.calls = seed, 0

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.calls += 1
        return random(self.seed)(texts).astype(np.float32)


def test_cosines_are_float64_and_pairwise_is_the_diagonal() -> None:
    model = as_mteb_model(Hashing(0), name="a/b", revision="r")
    first, second = np.random.default_rng(0).normal(size=(2, 6, 4)).astype(np.float32)
    square = model.similarity(first, second)
    assert square.dtype == np.float64
    np.testing.assert_allclose(np.diag(square), model.similarity_pairwise(first, second), atol=1e-15)
    expected = first[2] @ second[3] / np.linalg.norm(first[2]) / np.linalg.norm(second[3])
    assert square[2, 3] == pytest.approx(expected, abs=1e-6)


def test_changed_local_data_is_scored_anew(copies: Path, tmp_path: Path) -> None:
    encoder = Hashing(0)
    model = as_mteb_model(encoder, name="a/b", revision="r")
    (before,) = run_mteb(model, ["STS12"], out=tmp_path / "out", local=copies.parent)
    path = copies / "test.jsonl"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(True)[:20]), encoding="utf-8")
    asked = encoder.calls
    (after,) = run_mteb(model, ["STS12"], out=tmp_path / "out", local=copies.parent)
    assert after.value != before.value
    assert after.data_revision != before.data_revision
    assert encoder.calls > asked


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

    model = as_mteb_model(Bags(0), name="a/b", revision="r")
    scores = run_mteb(model, list(LOCAL_STS), out=tmp_path, local=mirror / "mteb")
    assert len(scores) == 7
    # one layout for all seven
    for score, (name, folder) in zip(scores, LOCAL_STS.items(), strict=True):
        task = sts_task("STS12", "raw", "sts12-raw", folder=mirror / "mteb" / folder)
        native = task.evaluate(Bags(0).encode)[0].value
        assert 100 * score.value == pytest.approx(100 * native, abs=0.01), name
